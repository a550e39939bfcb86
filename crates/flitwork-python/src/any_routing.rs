//! The search for what no routing beats.

use crate::detached::search;
use crate::errors;
use crate::plan::Plan;
use flitwork::bound::SearchProgress;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// What the channels need for a plan whatever the routing: a table with `proved_cycles`, `reached_cycles`, `steps`,
/// `interrupted`, `loads_are_known` (whether the bound of the plan has the loads of its routing), and by channel
/// (ascending by router and port) `weights` and `flits`. `progress(steps, proved_cycles, reached_cycles)` is called
/// many times a second, and returns whether to go on.
#[pyfunction]
pub fn any_routing<'py>(
    py: Python<'py>,
    plan: &Plan,
    gap: f64,
    most_steps: u32,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let loads_are_known = flitwork::loads_are_known(&plan.plan);
    let plan = Arc::clone(&plan.plan);
    let searched = search(py, progress, move |note| {
        let mut look = |now: SearchProgress| note((now.steps, now.proved_cycles, now.reached_cycles));
        flitwork::plan_any_routing(&plan, gap, most_steps, &mut look)
    })?;
    let found = searched.found.map_err(|e| errors::to_python(py, &e))?;
    let table = PyDict::new(py);
    table.set_item("proved_cycles", found.proved_cycles)?;
    table.set_item("reached_cycles", found.reached_cycles)?;
    table.set_item("steps", found.steps)?;
    table.set_item("interrupted", searched.stopped)?;
    table.set_item("loads_are_known", loads_are_known)?;
    table.set_item("weights", found.weights.into_pyarray(py))?;
    table.set_item("flits", found.flits.into_pyarray(py))?;
    Ok(table)
}
