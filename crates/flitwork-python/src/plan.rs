//! A plan, and what can be done with it.

use crate::{arrays, errors, tables::json_text};
use flitwork::bound::{Placement, routed_link_loads};
use flitwork::measure::SimulationResult;
use flitwork::schedule::{Schedule, check_exchange};
use flitwork::{Error, Progress, Workload};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;
use std::time::{Duration, Instant};

/// Time between two looks at Python's signals and the caller's progress function.
const LOOK: Duration = Duration::from_millis(50);

/// A validated simulation.
#[pyclass(frozen, module = "flitwork._core")]
pub struct Plan {
    plan: flitwork::Plan,
}

#[pymethods]
impl Plan {
    /// Resolves and validates a specification (JSON).
    #[new]
    fn new(py: Python<'_>, spec: &str) -> PyResult<Self> {
        let plan = py.detach(|| flitwork::spec::from_json(spec).and_then(|spec| flitwork::Plan::new(&spec)));
        Ok(Plan { plan: plan.map_err(|e| errors::to_python(py, &e))? })
    }

    /// The resolved specification and what follows from it, as JSON.
    #[getter]
    fn json(&self) -> String {
        self.plan.to_json()
    }

    /// Fingerprint of the resolved specification and the version.
    #[getter]
    fn hash(&self) -> String {
        self.plan.hash()
    }

    /// What no run of this plan can beat, as JSON: of a schedule its completion time, of traffic the load.
    fn bound(&self, py: Python<'_>) -> PyResult<String> {
        let bound = py.detach(|| flitwork::plan_bound(&self.plan)).map_err(|e| errors::to_python(py, &e))?;
        json_text(&bound)
    }

    /// Checks that the schedule exchanges every pair exactly once, and adds up the loads of its channels by phase; JSON.
    fn check(&self, py: Python<'_>) -> PyResult<String> {
        let (schedule, packet_flits) = self.schedule()?;
        let report = py.detach(|| check_exchange(schedule)).map_err(|e| errors::to_python(py, &e))?;
        let plan = &self.plan;
        let placement = Placement::blocks(&plan.grid, plan.params.concentration as u32);
        let group = Some(plan.params.controllers as u32);
        let loads = py.detach(|| {
            routed_link_loads(&plan.grid, &plan.routing, schedule, &placement.router_of, packet_flits, group)
        });

        json_text(&json!({ "exchange": report, "loads": loads }))
    }

    /// The messages of the schedule in order of (sender, send order): columns `from`, `to`, `flits`, `phase`.
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut columns: [Vec<u32>; 4] = Default::default();
        for (from, to, flits, phase) in self.schedule()?.0.messages() {
            columns.iter_mut().zip([from, to, flits, phase]).for_each(|(column, value)| column.push(value));
        }
        let table = PyDict::new(py);
        for (name, column) in ["from", "to", "flits", "phase"].into_iter().zip(columns) {
            table.set_item(name, column.into_pyarray(py))?;
        }
        Ok(table)
    }

    /// The way of a packet between two routers: the routers, the output ports and the sets of virtual channels that it
    /// takes, in order. Where chance decides it is the way of all coins 0 (the plus direction of a tie); where the routing is
    /// adaptive, the lowest of the minimal ports is taken each time.
    #[allow(clippy::type_complexity)]
    fn path<'py>(
        &self,
        py: Python<'py>,
        source: u32,
        destination: u32,
    ) -> PyResult<(Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>)> {
        let (grid, routing) = (&self.plan.grid, &self.plan.routing);
        if let Some(bad) = [source, destination].into_iter().find(|&r| r >= grid.routers()) {
            let error = Error::config("router", bad, format!("0 to {}", grid.routers() - 1), "");
            return Err(errors::to_python(py, &error));
        }
        let way = routing.path(grid, source, destination);
        let column = |of: fn(&(u32, usize, u8)) -> u32| way.iter().map(of).collect::<Vec<u32>>().into_pyarray(py);
        Ok((column(|hop| hop.0), column(|hop| hop.1 as u32), column(|hop| u32::from(hop.2))))
    }

    /// Runs the plan without the GIL. `progress(cycle, done, total)` is called about 20 times a second; where it returns
    /// `False`, or a signal arrives, the run stops with `KeyboardInterrupt`.
    ///
    /// Returns the summary as JSON and the long columns as arrays.
    #[pyo3(signature = (progress=None))]
    fn simulate<'py>(&self, py: Python<'py>, progress: Option<Py<PyAny>>) -> PyResult<(String, Bound<'py, PyDict>)> {
        let mut result = self.run(py, progress.as_ref())?;
        let columns = arrays::take_columns(py, &mut result)?;
        Ok((json_text(&result)?, columns))
    }

    fn __repr__(&self) -> String {
        format!("<flitwork plan {}>", &self.plan.hash()[..12])
    }
}

impl Plan {
    /// The schedule and its longest packet [flits].
    fn schedule(&self) -> PyResult<(&Schedule, u32)> {
        match &self.plan.workload {
            Workload::Closed { schedule, packet_flits } => Ok((schedule, *packet_flits)),
            Workload::Open(_) => Err(Python::attach(|py| {
                let expected = "a workload that is a schedule, such as all_to_all";
                errors::to_python(py, &Error::config("workload.kind", "uniform", expected, ""))
            })),
        }
    }

    fn run(&self, py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<SimulationResult> {
        let mut raised: Option<PyErr> = None;
        let mut last = Instant::now();
        let result = py.detach(|| {
            flitwork::simulate(&self.plan, &mut |now| {
                if last.elapsed() < LOOK {
                    return true;
                }
                last = Instant::now();
                look(progress, &now).unwrap_or_else(|error| {
                    raised = Some(error);
                    false
                })
            })
        });
        match (result, raised) {
            (Err(Error::Interrupted { .. }), Some(error)) => Err(error),
            (result, _) => result.map_err(|e| errors::to_python(py, &e)),
        }
    }
}

/// Lets Python see its signals and the caller its progress; false where the caller wants to stop.
fn look(progress: Option<&Py<PyAny>>, now: &Progress) -> PyResult<bool> {
    Python::attach(|py| {
        py.check_signals()?;
        let Some(progress) = progress else { return Ok(true) };
        let answer = progress.call1(py, (now.cycle, now.packets_done, now.packets_total))?;
        Ok(answer.is_none(py) || answer.is_truthy(py)?)
    })
}
