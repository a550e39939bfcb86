//! Timetables: from text and back, and the search for them.

use crate::data::Table;
use crate::detached::{until_stopped, without_gil};
use crate::errors;
use crate::plan::Plan;
use flitwork::synthesis::{Order, Progress, bound_cycles, synthesise as search};
use flitwork::timetable::Timetable;
use flitwork::traffic::{Attached, Table as Numbers};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

fn table(timetable: Timetable) -> Table {
    Table { attached: Attached::new(Numbers::Timetable(Arc::new(timetable))) }
}

/// A timetable from JSON; `path` is that of the field that has it.
#[pyfunction]
pub fn timetable(py: Python<'_>, text: String, path: String) -> PyResult<Table> {
    let read = without_gil(py, move || Timetable::from_json(&text, &path).map(table))?;
    read.map_err(|e| errors::to_python(py, &e))
}

/// A timetable as JSON.
#[pyfunction]
pub fn timetable_json(table: &Table) -> PyResult<String> {
    match table.attached.table() {
        Some(Numbers::Timetable(timetable)) => Ok(timetable.to_json()),
        _ => Err(PyValueError::new_err("this table is no timetable")),
    }
}

/// What a timetable for the messages of a plan has to fit: sizes of its torus, cycles of a hop, flits of a message and
/// of a packet. The plan is that of an all-to-all whose messages are equally long.
#[pyfunction]
pub fn synthesis_target(py: Python<'_>, plan: &Plan) -> PyResult<(Vec<u32>, u32, u64, u32)> {
    flitwork::synthesis_target(&plan.plan).map_err(|e| errors::to_python(py, &e))
}

/// The time that the messages of so many flits take by a timetable alone, without what injection and ejection add
/// \[cycles].
#[pyfunction]
pub fn timetable_length(table: &Table, message_flits: u64) -> PyResult<u64> {
    match table.attached.table() {
        Some(Numbers::Timetable(timetable)) => Ok(timetable.length_cycles(message_flits)),
        _ => Err(PyValueError::new_err("this table is no timetable")),
    }
}

/// Searches for a timetable of a torus: `sizes`, cycles of a hop, flits of a block, seed and steps at most.
/// `progress(steps, period)` is called many times a second with the steps done and the best period so far (0: none),
/// and returns whether to go on. The timetable found, the shortest period that ports and channels allow \[cycles], the
/// steps done, and whether the search was interrupted.
#[pyfunction]
pub fn synthesise(
    py: Python<'_>,
    sizes: Vec<u32>,
    hop_cycles: u32,
    block_flits: u32,
    seed: u64,
    budget_steps: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Table, u64, u64, bool)> {
    let order = Order { sizes, hop_cycles, block_flits, seed, budget_steps };
    let bound = bound_cycles(&order).map_err(|e| errors::to_python(py, &e))?;
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
    let (stopped, noted) = (stop.clone(), seen.clone());
    let work = move || {
        search(&order, &mut |now: Progress| {
            noted.0.store(now.steps, Ordering::Relaxed);
            noted.1.store(now.period_cycles.unwrap_or(0), Ordering::Relaxed);
            !stopped.load(Ordering::Relaxed)
        })
    };
    let asked = stop.clone();
    let last = seen.clone();
    let look = move |py: Python<'_>| {
        let Some(progress) = &progress else { return Ok(()) };
        let state = (seen.0.load(Ordering::Relaxed), seen.1.load(Ordering::Relaxed));
        if !progress.call1(py, state)?.is_truthy(py)? {
            asked.store(true, Ordering::Relaxed);
        }
        Ok(())
    };
    let (found, raised) = until_stopped(py, work, look, move || stop.store(true, Ordering::Relaxed))?;
    let interrupted = raised.is_some();
    if let Some(other) = raised.filter(|raised| !raised.is_instance_of::<PyKeyboardInterrupt>(py)) {
        return Err(other);
    }
    let found = found.map_err(|e| errors::to_python(py, &e))?;
    Ok((table(found), bound, last.0.load(Ordering::Relaxed), interrupted))
}
