//! The search for what no routing beats.

use crate::detached::until_stopped;
use crate::errors;
use crate::plan::Plan;
use flitwork::bound::SearchProgress;
use numpy::IntoPyArray;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// What the channels need for a plan whatever the routing: a table with `proved_cycles`, `reached_cycles`, `steps`,
/// `interrupted`, and by channel (ascending by router and port) `weights` and `flits`. `progress(steps, proved_cycles,
/// reached_cycles)` is called many times a second, and returns whether to go on.
#[pyfunction]
pub fn any_routing<'py>(
    py: Python<'py>,
    plan: &Plan,
    gap: f64,
    most_steps: u32,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let plan = Arc::clone(&plan.plan);
    let stop = Arc::new(AtomicBool::new(false));
    let seen: Arc<Mutex<Option<SearchProgress>>> = Arc::default();
    let (stopped, noted) = (stop.clone(), seen.clone());
    let work = move || {
        flitwork::plan_any_routing(&plan, gap, most_steps, &mut |now| {
            *noted.lock().expect("no thread panicked") = Some(now);
            !stopped.load(Ordering::Relaxed)
        })
    };
    let asked = stop.clone();
    let look = move |py: Python<'_>| {
        let now = *seen.lock().expect("no thread panicked");
        let Some((progress, now)) = progress.as_ref().zip(now) else { return Ok(()) };
        if !progress.call1(py, (now.steps, now.proved_cycles, now.reached_cycles))?.is_truthy(py)? {
            asked.store(true, Ordering::Relaxed);
        }
        Ok(())
    };
    let telling = stop.clone();
    let (found, raised) = until_stopped(py, work, look, move || telling.store(true, Ordering::Relaxed))?;
    if let Some(other) = raised.filter(|raised| !raised.is_instance_of::<PyKeyboardInterrupt>(py)) {
        return Err(other);
    }
    let found = found.map_err(|e| errors::to_python(py, &e))?;
    let table = PyDict::new(py);
    table.set_item("proved_cycles", found.proved_cycles)?;
    table.set_item("reached_cycles", found.reached_cycles)?;
    table.set_item("steps", found.steps)?;
    table.set_item("interrupted", stop.load(Ordering::Relaxed))?;
    table.set_item("weights", found.weights.into_pyarray(py))?;
    table.set_item("flits", found.flits.into_pyarray(py))?;
    Ok(table)
}
