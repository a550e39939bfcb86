//! Timetables: from text and back, and the search for them.

use crate::data::Table;
use crate::detached::{until_stopped, without_gil};
use crate::errors;
use crate::plan::Plan;
use flitwork::synthesis::{
    Order, PairOrder, Progress, bound_cycles, pair_bound_cycles, synthesise as search, synthesise_pairs as search_pairs,
};
use flitwork::timetable::{PairTimetable, Timetable};
use flitwork::traffic::{Attached, Table as Numbers};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

fn table(timetable: Timetable) -> Table {
    Table { attached: Attached::new(Numbers::Timetable(Arc::new(timetable))) }
}

fn table_by_pairs(timetable: PairTimetable) -> Table {
    Table { attached: Attached::new(Numbers::PairTimetable(Arc::new(timetable))) }
}

/// Whether the text is that of a timetable by pairs: these have no sizes.
fn is_by_pairs(text: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Kind {
        terminals: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_str::<Kind>(text).is_ok_and(|kind| kind.terminals.is_some())
}

/// A timetable from JSON; `path` is that of the field that has it.
#[pyfunction]
pub fn timetable(py: Python<'_>, text: String, path: String) -> PyResult<Table> {
    let read = without_gil(py, move || match is_by_pairs(&text) {
        true => PairTimetable::from_json(&text, &path).map(table_by_pairs),
        false => Timetable::from_json(&text, &path).map(table),
    })?;
    read.map_err(|e| errors::to_python(py, &e))
}

/// A timetable as JSON.
#[pyfunction]
pub fn timetable_json(table: &Table) -> PyResult<String> {
    match table.attached.table() {
        Some(Numbers::Timetable(timetable)) => Ok(timetable.to_json()),
        Some(Numbers::PairTimetable(timetable)) => Ok(timetable.to_json()),
        _ => Err(PyValueError::new_err("this table is no timetable")),
    }
}

/// Sizes, cycles of a hop and of both ends, flits of a message and of a packet.
type Target = (Option<Vec<u32>>, u32, u32, u64, u32);

/// What a timetable for the messages of a plan has to fit: sizes of its torus (`None`: a timetable by pairs), cycles of
/// a hop, of injection and ejection, flits of a message and of a packet. The plan is that of an all-to-all whose
/// messages are equally long.
#[pyfunction]
pub fn synthesis_target(py: Python<'_>, plan: &Plan) -> PyResult<Target> {
    let target = flitwork::synthesis_target(&plan.plan).map_err(|e| errors::to_python(py, &e))?;
    Ok((target.sizes, target.hop_cycles, target.ends_cycles, target.message_flits, target.packet_flits))
}

/// The time that the messages of so many flits take by a timetable alone on the network of a plan, without what
/// injection and ejection add \[cycles].
#[pyfunction]
pub fn timetable_length(py: Python<'_>, table: &Table, plan: &Plan, message_flits: u64) -> PyResult<u64> {
    match table.attached.table() {
        Some(Numbers::Timetable(timetable)) => Ok(timetable.length_cycles(message_flits)),
        Some(Numbers::PairTimetable(timetable)) => {
            let (timetable, plan) = (Arc::clone(timetable), Arc::clone(&plan.plan));
            let length = move || Ok(timetable.length_cycles(&plan.fixed_routes()?, message_flits));
            without_gil(py, length)?.map_err(|e: flitwork::Error| errors::to_python(py, &e))
        }
        _ => Err(PyValueError::new_err("this table is no timetable")),
    }
}

/// What a search has come to: steps done, and the best period so far (0: none).
type Seen = Arc<(AtomicU64, AtomicU64)>;

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
    searched(py, progress, move |look| Ok((table(search(&order, look)?), bound_cycles(&order)?)))
}

/// Searches for a timetable by pairs for the network of a plan, as [`synthesise`].
#[pyfunction]
pub fn synthesise_pairs(
    py: Python<'_>,
    plan: &Plan,
    block_flits: u32,
    seed: u64,
    budget_steps: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Table, u64, u64, bool)> {
    let plan = Arc::clone(&plan.plan);
    searched(py, progress, move |look| {
        let (routes, radices) = (plan.fixed_routes()?, plan.terminal_radices());
        let order = PairOrder { routes: &routes, block_flits, radices, seed, budget_steps };
        Ok((table_by_pairs(search_pairs(&order, look)?), pair_bound_cycles(&order)?))
    })
}

/// Does a search in a thread of its own, tells `progress`, and stops where that or a signal says so.
fn searched(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    search: impl FnOnce(&mut dyn FnMut(Progress) -> bool) -> flitwork::Result<(Table, u64)> + Send + 'static,
) -> PyResult<(Table, u64, u64, bool)> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen: Seen = Arc::default();
    let (stopped, noted) = (stop.clone(), seen.clone());
    let work = move || {
        search(&mut |now: Progress| {
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
    let (found, bound) = found.map_err(|e| errors::to_python(py, &e))?;
    Ok((found, bound, last.0.load(Ordering::Relaxed), interrupted))
}
