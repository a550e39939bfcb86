//! A simulation that a caller advances, and whose ranks it tells what to do.

use crate::detached::without_gil;
use crate::operations::{Row, no_flit_bytes};
use crate::plan::{Plan, Watch};
use crate::{arrays, errors, operations, tables::json_text, topology};
use flitwork::measure::FlitTally;
use flitwork::schedule::ANY;
use flitwork::{Error, Pause};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two looks at Python's signals.
const LOOK: Duration = Duration::from_millis(50);

/// A simulation in progress.
#[pyclass(frozen, module = "flitwork._core")]
pub struct Simulation {
    /// The one that it goes on as, where it was extended.
    plan: Mutex<Arc<flitwork::Plan>>,
    /// Nothing once it has given its result.
    running: Mutex<Option<flitwork::Simulation>>,
    /// When signals were looked at last: in the steps of a caller that advances it by less than that, too.
    looked: Mutex<Instant>,
}

#[pymethods]
impl Simulation {
    /// A simulation of a plan, before its first cycle. With `tally` it counts traffic by terminal, and the caller
    /// decides when it ends; with `flits` it also counts when each flit leaves and arrives.
    #[new]
    #[pyo3(signature = (plan, tally=false, flits=false))]
    fn new(py: Python<'_>, plan: &Plan, tally: bool, flits: bool) -> PyResult<Self> {
        let plan = plan.shared();
        let of = Arc::clone(&plan);
        let made = without_gil(py, move || flitwork::Simulation::new(&of))?;
        let mut simulation = made.map_err(|e| errors::to_python(py, &e))?;
        if tally {
            simulation.keep_tally();
            simulation.leave_end_to_caller();
        }
        if flits {
            simulation.keep_flit_times();
        }
        Ok(Simulation {
            plan: Mutex::new(plan),
            running: Mutex::new(Some(simulation)),
            looked: Mutex::new(Instant::now()),
        })
    }

    /// The current cycle.
    #[getter]
    fn now(&self) -> PyResult<u64> {
        self.with(|simulation| Ok(simulation.now()))
    }

    /// The terminal of each rank.
    #[getter]
    fn placement(&self) -> Vec<u32> {
        self.plan().placement.terminal_of().to_vec()
    }

    /// The software times of the host in cycles, for whoever drives the ranks: when each starts (empty: all at once),
    /// what a send and what a receive costs.
    #[getter]
    fn software(&self) -> (Vec<u64>, u64, u64) {
        let delays = &self.plan().delays;
        (delays.starts.clone(), delays.send, delays.receive)
    }

    /// Cycles that a rank takes to copy messages of these sizes that it has received together.
    fn copied(&self, bytes: Vec<u64>) -> PyResult<u64> {
        let plan = self.plan();
        let flits = bytes.into_iter().map(|bytes| plan.units.flits(bytes).ok_or_else(no_flit_bytes));
        Ok(plan.delays.copied(flits.collect::<PyResult<Vec<_>>>()?))
    }

    /// Ranks that ask what to do next, in the order in which they began to.
    #[getter]
    fn asking(&self) -> PyResult<Vec<u32>> {
        self.with(|simulation| Ok(simulation.requests().collect()))
    }

    /// Simulates all cycles before `until` (all, without it), without the GIL. Says why it paused: `asked`, `reached`
    /// or `ended`. `progress(cycle, done, total)` is called about 20 times a second; where it returns `False` the run
    /// stops with `KeyboardInterrupt`.
    #[pyo3(signature = (until=None, progress=None))]
    fn advance(&self, py: Python<'_>, until: Option<u64>, progress: Option<Py<PyAny>>) -> PyResult<&'static str> {
        let (mut raised, watch) = (None, Watch::default());
        let advanced = py.detach(|| {
            self.with(|simulation| {
                let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(simulation.advance(until.unwrap_or(u64::MAX), &mut |now| {
                    if looked.elapsed() < LOOK {
                        return true;
                    }
                    *looked = Instant::now();
                    watch.note(now);
                    let told = |py: Python<'_>| py.check_signals().and_then(|()| watch.tell(py, progress.as_ref()));
                    raised = Python::attach(told).err();
                    watch.goes_on() && raised.is_none()
                }))
            })
        })?;
        match (raised, advanced) {
            (Some(raised), _) => Err(raised),
            (None, Ok(Pause::Request)) => Ok("asked"),
            (None, Ok(Pause::Reached)) => Ok("reached"),
            (None, Ok(Pause::Ended)) => Ok("ended"),
            (None, Err(error)) => Err(errors::to_python(py, &error)),
        }
    }

    /// Tells a rank that asks what it does next; with nothing it is at its end.
    fn give(&self, rank: u32, operations: Vec<Row>) -> PyResult<()> {
        let plan = self.plan();
        self.with(|simulation| operations::supply(simulation, (rank, operations), &plan.units))
    }

    /// Answers ranks that ask, then goes on as [`Simulation::advance`]: why it paused, in which cycle, the ranks that
    /// ask, and the sends and receives that have completed since the last call: rank, operation, cycle, of a receive
    /// sender and send operation.
    #[pyo3(signature = (answers, progress=None))]
    fn turn(
        &self,
        py: Python<'_>,
        answers: Vec<operations::Answer>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(&'static str, u64, Vec<u32>, Vec<operations::Completed>)> {
        let plan = self.plan();
        self.with(|simulation| {
            simulation.note_completions();
            answers.into_iter().try_for_each(|answer| operations::supply(simulation, answer, &plan.units))
        })?;
        let paused = self.advance(py, None, progress)?;
        self.with(|simulation| {
            let completed = simulation.take_completions().into_iter().map(operations::completed).collect();
            Ok((paused, simulation.now(), simulation.requests().collect(), completed))
        })
    }

    /// The message that a receive of a rank would take now: sender and send operation. No rank, or tag: any.
    fn probe(&self, rank: u32, source: Option<u32>, tag: Option<u32>, context: u32) -> PyResult<Option<(u32, u32)>> {
        self.with(|simulation| Ok(simulation.probe(rank, source.unwrap_or(ANY), tag.unwrap_or(ANY), context)))
    }

    /// Takes back a receive that has no message; whether it could be.
    fn cancel(&self, rank: u32, operation: u32) -> PyResult<bool> {
        self.with(|simulation| Ok(simulation.cancel(rank, operation)))
    }

    /// What has been counted of the traffic before the current cycle, by name: numbers, and lists with an entry for
    /// each terminal.
    #[getter]
    fn tally<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tally = self.with(|simulation| Ok(simulation.tally()))?;
        let of = PyDict::new(py);
        let Some(tally) = tally else { return Ok(of) };
        let (sum, least, most) = tally.late_network_latency_cycles;
        for (name, number) in [
            ("packets", tally.packets),
            ("flits", tally.flits),
            ("packet_latency_cycles", tally.packet_latency_cycles),
            ("measured_packets", tally.measured_packets),
            ("measured_packet_latency_cycles", tally.measured_packet_latency_cycles),
            ("under_way_flits", tally.under_way_flits),
            ("under_way_created_cycles", tally.under_way_created),
            ("late_packets", tally.late_packets),
            ("late_network_latency_cycles", sum),
            ("late_network_latency_min_cycles", least),
            ("late_network_latency_max_cycles", most),
        ] {
            of.set_item(name, number)?;
        }
        if let Some(FlitTally { latency, fragmentation }) = tally.of_flits {
            for (name, spread) in [("flit_latency_cycles", latency), ("fragmentation_cycles", fragmentation)] {
                of.set_item(name, (spread.count, spread.sum, spread.least, spread.most))?;
            }
        }
        of.set_item("injected_packets", tally.injected_packets)?;
        of.set_item("injected_flits", tally.injected_flits)?;
        of.set_item("accepted_packets", tally.accepted_packets)?;
        Ok(of)
    }

    /// Ends the run before its current cycle, and with it the measurement; its workload may be `complete`.
    #[pyo3(signature = (*, complete = false))]
    fn stop(&self, py: Python<'_>, complete: bool) -> PyResult<()> {
        self.with(|simulation| simulation.stop(complete).map_err(|e| errors::to_python(py, &e)))
    }

    /// Goes on as a simulation of a plan that measures longer; it must be at the end of its measurement.
    fn extend(&self, py: Python<'_>, plan: &Plan) -> PyResult<()> {
        let longer = plan.shared();
        self.with(|simulation| simulation.extend(&longer).map_err(|e| errors::to_python(py, &e)))?;
        *self.plan.lock().unwrap_or_else(PoisonError::into_inner) = longer;
        Ok(())
    }

    /// The cycle in which each rank has completed an operation last.
    fn last_cycles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        self.with(|simulation| Ok(simulation.last_cycles())).map(|cycles| cycles.into_pyarray(py))
    }

    /// The packets that have arrived since the last call, in the order of their arrival, as columns; nothing where none
    /// has. For plans with `record.to_file`.
    fn take_packets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let packets = self.with(|simulation| Ok(simulation.take_packets()))?;
        let columns = PyDict::new(py);
        arrays::packet_columns(&columns, &packets)?;
        Ok(columns)
    }

    /// Ends the simulation: the summary as JSON and the long columns as arrays. Without `arrays` of the columns only
    /// `ejected_flits`, as a list, for those who need no NumPy.
    #[pyo3(signature = (arrays=true))]
    fn finish<'py>(&self, py: Python<'py>, arrays: bool) -> PyResult<(String, Bound<'py, PyDict>)> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let simulation = running.ok_or_else(|| errors::to_python(py, &over()))?;
        let mut result = py.detach(|| simulation.into_result());
        if !arrays {
            let columns = PyDict::new(py);
            columns.set_item("ejected_flits", std::mem::take(&mut result.ejected_flits))?;
            arrays::drop_columns(&mut result);
            return Ok((json_text(&result)?, columns));
        }
        let columns = arrays::take_columns(py, &mut result)?;
        topology::set_channels(&columns, "channels.", &self.plan().fabric)?;
        Ok((json_text(&result)?, columns))
    }
}

impl Simulation {
    fn plan(&self) -> Arc<flitwork::Plan> {
        Arc::clone(&self.plan.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn with<T>(&self, work: impl FnOnce(&mut flitwork::Simulation) -> PyResult<T>) -> PyResult<T> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        match running.as_mut() {
            Some(simulation) => work(simulation),
            None => Err(Python::attach(|py| errors::to_python(py, &over()))),
        }
    }
}

fn over() -> Error {
    Error::config("simulation", "over", "a simulation that has not given its result", "make a new one")
}
