//! GOAL programs, and runs of them on the ideal machine.

use crate::data::Table;
use crate::detached::{with_signals, without_gil};
use crate::errors;
use flitwork::schedule::GoalKind;
use flitwork::spec::LogGopsSpec;
use flitwork::traffic::Attached;
use flitwork::{Rules, run_goal};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A GOAL program.
#[pyclass(frozen, module = "flitwork._core")]
pub struct Goal {
    goal: Arc<flitwork::schedule::Goal>,
    name: String,
}

/// Finish times, messages, events, and whether the rules were those of LogGOPSim.
type IdealRun<'py> = (Bound<'py, PyArray1<u64>>, u64, u64, bool);

/// What makes it again: the function, and what it is called with.
type Pickled<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, String));

impl Goal {
    /// A program with a name.
    pub fn new(goal: flitwork::schedule::Goal, name: String) -> Self {
        Goal { goal: Arc::new(goal), name }
    }
}

#[pymethods]
impl Goal {
    /// The program in a file, text or binary; `name` is what errors call it.
    #[staticmethod]
    fn read(py: Python<'_>, data: &[u8], name: String) -> PyResult<Self> {
        let (data, called) = (data.to_vec(), name.clone());
        let read = without_gil(py, move || flitwork::schedule::Goal::read(&data, &called))?;
        Ok(Goal { goal: Arc::new(read.map_err(|e| errors::to_python(py, &e))?), name })
    }

    /// What it is called.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Number of ranks.
    #[getter]
    fn ranks(&self) -> u32 {
        self.goal.ranks()
    }

    /// Number of operations.
    #[getter]
    fn operations(&self) -> usize {
        self.goal.operations()
    }

    /// Number of messages.
    #[getter]
    fn messages(&self) -> usize {
        self.goal.ops().iter().filter(|op| op.kind == GoalKind::Send).count()
    }

    /// Number of dependencies.
    #[getter]
    fn dependencies(&self) -> usize {
        self.goal.dependencies()
    }

    /// The program as a file, text or binary.
    fn to_bytes<'py>(&self, py: Python<'py>, binary: bool) -> PyResult<Bound<'py, PyBytes>> {
        let goal = Arc::clone(&self.goal);
        let bytes = without_gil(py, move || if binary { goal.to_binary() } else { goal.to_text().into_bytes() })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Executes it on the ideal machine with these parameters (JSON).
    fn loggops<'py>(&self, py: Python<'py>, parameters: &str) -> PyResult<IdealRun<'py>> {
        let spec = LogGopsSpec::from_json(parameters).map_err(|e| errors::to_python(py, &e))?;
        let (goal, name) = (Arc::clone(&self.goal), self.name.clone());
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let work = move || run_goal(&goal, &spec, &name, &mut |_| !stopped.load(Ordering::Relaxed));
        let done = with_signals(py, work, |_| Ok(()), || stop.store(true, Ordering::Relaxed))?;
        let result = done.map_err(|e| errors::to_python(py, &e))?;
        let as_loggopsim = result.rules == Rules::LogGopSim;
        Ok((result.finish_ns.into_pyarray(py), result.messages, result.events, as_loggopsim))
    }

    /// The program as a schedule in bytes and ns, for networks with routers.
    fn schedule(&self, py: Python<'_>) -> PyResult<Table> {
        let (goal, name) = (Arc::clone(&self.goal), self.name.clone());
        let made = without_gil(py, move || {
            let schedule = goal.to_schedule(&name)?;
            flitwork::schedule::check_form(&schedule)?;
            Ok(Attached::new(flitwork::traffic::Table::Schedule(schedule)))
        })?;
        Ok(Table { attached: made.map_err(|e| errors::to_python(py, &e))? })
    }

    fn __eq__(&self, other: &Goal) -> bool {
        self.goal == other.goal
    }

    fn __hash__(&self) -> usize {
        self.goal.operations()
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        let goal = this.get();
        Ok((this.get_type().getattr("read")?, (goal.to_bytes(this.py(), true)?, goal.name.clone())))
    }
}

/// Checks the parameters of the ideal machine (JSON); all of them, with the defaults, as JSON.
#[pyfunction]
pub fn check_loggops(py: Python<'_>, parameters: &str) -> PyResult<String> {
    LogGopsSpec::from_json(parameters).map(|spec| spec.to_json()).map_err(|e| errors::to_python(py, &e))
}
