//! Numbers that are too many for a specification in JSON: they come with it, and it names them by their digest.

use super::{Matrix, Trace};
use crate::error::{Error, Result};
use crate::schedule::{Detours, Schedule};
use crate::timetable::{PairTimetable, Timetable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// A table of numbers. Its parts are shared, so that copies cost nothing.
#[derive(Debug, Clone)]
pub enum Table {
    /// A traffic matrix.
    Matrix(Arc<Matrix>),
    /// A trace.
    Trace(Arc<Trace>),
    /// A stored schedule.
    Schedule(Schedule),
    /// Detours of ranks.
    Detours(Arc<Detours>),
    /// A timetable.
    Timetable(Arc<Timetable>),
    /// A timetable by pairs.
    PairTimetable(Arc<PairTimetable>),
}

impl Table {
    /// What is in it, in a fixed form, piece by piece.
    fn write(&self, sink: &mut dyn FnMut(&[u8])) {
        match self {
            Table::Matrix(matrix) => {
                sink(b"matrix");
                sink(&matrix.to_bytes());
            }
            Table::Trace(trace) => {
                sink(b"trace");
                trace.write(sink);
            }
            Table::Schedule(schedule) => {
                sink(b"schedule");
                schedule.write(sink);
            }
            Table::Detours(detours) => {
                sink(b"detours");
                sink(&detours.to_bytes());
            }
            Table::Timetable(timetable) => {
                sink(b"timetable");
                sink(timetable.to_json().as_bytes());
            }
            Table::PairTimetable(timetable) => {
                sink(b"pair-timetable");
                sink(timetable.to_json().as_bytes());
            }
        }
    }

    /// What is in it, in a fixed form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut |piece| bytes.extend_from_slice(piece));
        bytes
    }

    /// What [`Table::to_bytes`] wrote; `None` of all else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Table> {
        if let Some(matrix) = bytes.strip_prefix(b"matrix") {
            return Matrix::from_bytes(matrix).map(Arc::new).map(Table::Matrix);
        }
        if let Some(schedule) = bytes.strip_prefix(b"schedule") {
            return Schedule::from_bytes(schedule).map(Table::Schedule);
        }
        if let Some(timetable) = bytes.strip_prefix(b"timetable") {
            let text = std::str::from_utf8(timetable).ok()?;
            return Timetable::from_json(text, "timetable").ok().map(Arc::new).map(Table::Timetable);
        }
        if let Some(timetable) = bytes.strip_prefix(b"pair-timetable") {
            let text = std::str::from_utf8(timetable).ok()?;
            return PairTimetable::from_json(text, "timetable").ok().map(Arc::new).map(Table::PairTimetable);
        }
        if let Some(detours) = bytes.strip_prefix(b"detours") {
            return Detours::from_bytes(detours).map(Arc::new).map(Table::Detours);
        }
        Trace::from_bytes(bytes.strip_prefix(b"trace")?).map(Arc::new).map(Table::Trace)
    }

    /// How many rows it has.
    pub fn rows(&self) -> u64 {
        match self {
            Table::Matrix(matrix) => matrix.size() as u64,
            Table::Trace(trace) => trace.packets() as u64,
            Table::Schedule(schedule) => schedule.stored_rows().0,
            Table::Detours(detours) => detours.rows(),
            Table::Timetable(timetable) => timetable.entries.len() as u64,
            Table::PairTimetable(timetable) => u64::from(timetable.terminals),
        }
    }

    /// Bytes in memory.
    fn memory_bytes(&self) -> u64 {
        match self {
            Table::Matrix(matrix) => matrix.memory_bytes(),
            Table::Trace(trace) => trace.memory_bytes(),
            Table::Schedule(schedule) => schedule.memory_bytes(),
            Table::Detours(detours) => detours.memory_bytes(),
            Table::Timetable(timetable) => timetable.memory_bytes(),
            Table::PairTimetable(timetable) => timetable.memory_bytes(),
        }
    }
}

/// A table that comes with the specification; in JSON it is the digest of its contents. The command line and the Python
/// package read it from a `file`, or take arrays.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attached {
    /// SHA-256 of the contents.
    pub sha256: String,
    /// Rows of the table.
    pub rows: u64,
    #[serde(skip)]
    table: Option<Table>,
}

/// What has the same digest is the same.
impl PartialEq for Attached {
    fn eq(&self, other: &Self) -> bool {
        self.sha256 == other.sha256
    }
}

impl Eq for Attached {}

impl Attached {
    /// A table, ready for a specification.
    pub fn new(table: Table) -> Self {
        let mut hasher = Sha256::new();
        table.write(&mut |piece| hasher.update(piece));
        let sha256 = hasher.finalize().iter().map(|b| format!("{b:02x}")).collect();
        Attached { sha256, rows: table.rows(), table: Some(table) }
    }

    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        self.sha256.is_empty()
    }

    /// The contents, if they are here.
    pub fn table(&self) -> Option<&Table> {
        self.table.as_ref()
    }

    /// Takes the contents from the one of `tables` that is named.
    pub(crate) fn fill(&mut self, tables: &[Attached]) {
        if let Some(found) = tables.iter().find(|table| **table == *self) {
            *self = found.clone();
        }
    }

    /// Bytes in memory.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.table.as_ref().map_or(0, Table::memory_bytes)
    }

    /// The traffic matrix; `path` is the field's.
    pub(crate) fn matrix(&self, path: &str) -> Result<&Arc<Matrix>> {
        match &self.table {
            Some(Table::Matrix(matrix)) => Ok(matrix),
            _ => Err(self.missing(path, "a matrix of weights")),
        }
    }

    /// The trace; `path` is the field's.
    pub(crate) fn trace(&self, path: &str) -> Result<&Arc<Trace>> {
        match &self.table {
            Some(Table::Trace(trace)) => Ok(trace),
            _ => Err(self.missing(path, "a trace: rows of cycle, source, destination, flits")),
        }
    }

    /// The schedule; `path` is the field's.
    pub(crate) fn schedule(&self, path: &str) -> Result<&Schedule> {
        match &self.table {
            Some(Table::Schedule(schedule)) => Ok(schedule),
            _ => Err(self.missing(path, "a schedule: the operations of each rank")),
        }
    }

    /// The detours; `path` is the field's.
    pub(crate) fn detours(&self, path: &str) -> Result<&Arc<Detours>> {
        match &self.table {
            Some(Table::Detours(detours)) => Ok(detours),
            _ => Err(self.missing(path, "detours: rows of rank, start_cycles, duration_cycles")),
        }
    }

    /// The timetable; `path` is the field's.
    pub(crate) fn timetable(&self, path: &str) -> Result<&Arc<Timetable>> {
        match &self.table {
            Some(Table::Timetable(timetable)) => Ok(timetable),
            _ => Err(self.missing(path, "a timetable: when each node sends to which relative vector")),
        }
    }

    /// The timetable by pairs, if it is one.
    pub(crate) fn pair_timetable(&self) -> Option<&Arc<PairTimetable>> {
        match &self.table {
            Some(Table::PairTimetable(timetable)) => Some(timetable),
            _ => None,
        }
    }

    fn missing(&self, path: &str, what: &str) -> Error {
        if self.is_empty() {
            return Error::config(path, "nothing", what, "give the numbers, or a file");
        }
        Error::config(path, &self.sha256, format!("{what}, beside the specification that names it"), "")
    }
}

/// Refuses a file: this crate reads none.
pub(crate) fn no_file(path: &str, file: &str, field: &str) -> Result<()> {
    if file.is_empty() {
        return Ok(());
    }
    let expected = format!("the numbers in {field}: files are read before a plan is made");
    Err(Error::config(format!("{path}.file"), file, expected, "the command line reads them"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attached(weights: [f64; 4]) -> Attached {
        Attached::new(Table::Matrix(Arc::new(Matrix::dense(&weights, 2).unwrap())))
    }

    #[test]
    fn a_table_is_named_by_its_contents() {
        let (a, b) = (attached([0.0, 1.0, 1.0, 0.0]), attached([0.0, 1.0, 2.0, 0.0]));
        assert_ne!(a, b);
        assert_eq!((a.sha256.len(), a.rows), (64, 2));
        let mut named: Attached = serde_json::from_str(&serde_json::to_string(&a).unwrap()).unwrap();
        let error = named.matrix("p").unwrap_err().to_string();
        assert!(error.contains("expected a matrix of weights, beside the specification"), "{error}");
        named.fill(&[b, a.clone()]);
        assert_eq!(named.matrix("p").unwrap(), a.matrix("p").unwrap());
    }

    #[test]
    fn a_table_survives_its_bytes() {
        let a = attached([0.0, 1.0, 1.0, 0.0]);
        let bytes = a.table().unwrap().to_bytes();
        assert_eq!(Attached::new(Table::from_bytes(&bytes).unwrap()), a);
        assert!(Table::from_bytes(&bytes[1..]).is_none());
        let size = |rows: u64| [b"matrix".as_slice(), &rows.to_le_bytes()].concat();
        assert!([u64::MAX >> 3, u64::MAX, 1].iter().all(|&rows| Table::from_bytes(&size(rows)).is_none()));
    }
}
