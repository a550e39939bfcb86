//! Timetables: from text and back, and the search for them.

use crate::data::Table;
use crate::detached::{search, without_gil};
use crate::errors;
use crate::plan::Plan;
use flitwork::synthesis::Progress;
use flitwork::timetable::{PairTimetable, Timetable};
use flitwork::traffic::{Attached, Table as Numbers};
use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

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

/// To whom each terminal sends, in the order of its times: a row for each terminal.
#[pyfunction]
pub fn timetable_order<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let rows: Vec<Vec<u32>> = match table.attached.table() {
        Some(Numbers::Timetable(timetable)) => {
            let timetable = Arc::clone(timetable);
            without_gil(py, move || (0..timetable.nodes() as u32).map(|node| timetable.destinations(node)).collect())?
        }
        Some(Numbers::PairTimetable(timetable)) => {
            let timetable = Arc::clone(timetable);
            without_gil(py, move || (0..timetable.terminals).map(|from| timetable.destinations(from)).collect())?
        }
        _ => return Err(PyValueError::new_err("this table is no timetable")),
    };
    Ok(PyArray2::from_vec2(py, &rows)?)
}

/// The timetable found, the shortest period that ports and channels allow for blocks of its length, its time from start
/// to end \[cycles], the length of a message \[flits], the steps done, and whether the search was interrupted.
type Found = (Table, u64, u64, u64, u64, bool);

/// Searches for a timetable for the messages of a plan, which is that of an all-to-all whose messages are equally long:
/// seed and steps at most. `progress(block, steps, period)` is called many times a second with the length of the blocks
/// that are tried, the steps done and the best period of these blocks so far (0: none), and returns whether to go on.
#[pyfunction]
pub fn find_timetable(
    py: Python<'_>,
    plan: &Plan,
    seed: u64,
    budget_steps: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Found> {
    let plan = Arc::clone(&plan.plan);
    let searched = search(py, progress, move |note| {
        let mut steps = 0;
        let found = plan.find_timetable((seed, budget_steps), &mut |block, now: Progress| {
            steps = now.steps;
            note((block, now.steps, now.period_cycles.unwrap_or(0)))
        });
        found.map(|found| (found, steps))
    })?;
    let (found, steps) = searched.found.map_err(|e| errors::to_python(py, &e))?;
    let table = Table { attached: Attached::new(found.table) };
    Ok((table, found.least_period_cycles, found.length_cycles, found.message_flits, steps, searched.interrupted))
}
