//! Tables of numbers that come with a specification.

use crate::detached::without_gil;
use crate::errors;
use crate::tables::json_text;
use flitwork::Error;
use flitwork::host::check_complete;
use flitwork::schedule::{ANY, DetourColumns, Detours, OpKind, Schedule, ScheduleColumns, SizeUnit, TimeUnit};
use flitwork::traffic::{Attached, Matrix, Trace, TraceColumns};
use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::Arc;

/// Numbers that are too many for JSON; a specification names them by `sha256`.
#[pyclass(frozen, module = "flitwork._core")]
pub struct Table {
    pub attached: Attached,
}

#[pymethods]
impl Table {
    /// A traffic matrix: rows are sources, columns destinations.
    #[staticmethod]
    fn matrix(py: Python<'_>, weights: PyReadonlyArray2<'_, f64>) -> PyResult<Self> {
        let columns = weights.as_array().ncols();
        let weights: Vec<f64> = weights.as_array().iter().copied().collect();
        of(py, move || Matrix::dense(&weights, columns).map(|m| flitwork::traffic::Table::Matrix(Arc::new(m))))
    }

    /// A trace, a packet a row; cycles do not fall.
    #[staticmethod]
    fn trace(
        py: Python<'_>,
        cycle: PyReadonlyArray1<'_, i64>,
        source: PyReadonlyArray1<'_, i64>,
        destination: PyReadonlyArray1<'_, i64>,
        flits: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Self> {
        let columns = [cycle, source, destination, flits].map(|column| column.as_array().to_vec());
        of(py, move || {
            let [cycle, source, destination, flits] = &columns;
            Trace::new(&TraceColumns { cycle, source, destination, flits })
                .map(|trace| flitwork::traffic::Table::Trace(Arc::new(trace)))
        })
    }

    /// Detours of ranks, one a row.
    #[staticmethod]
    fn detours(
        py: Python<'_>,
        rank: PyReadonlyArray1<'_, i64>,
        start: PyReadonlyArray1<'_, i64>,
        duration: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Self> {
        let columns = [rank, start, duration].map(|column| column.as_array().to_vec());
        of(py, move || {
            let [rank, start, duration] = &columns;
            Detours::new(&DetourColumns { rank, start, duration })
                .map(|detours| flitwork::traffic::Table::Detours(Arc::new(detours)))
        })
    }

    /// A schedule: the operations of rank 0, then those of rank 1, each a row; `operations` of each rank,
    /// `dependencies` of each operation, `via` which network each goes by (or nothing). `in_units`: whether sizes are
    /// in bytes, and times in ns.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)]
    fn schedule(
        py: Python<'_>,
        name: String,
        in_units: (bool, bool),
        operations: Vec<u64>,
        kind: Vec<u8>,
        peer: Vec<u32>,
        amount: Vec<u64>,
        tag: Vec<u32>,
        step: Vec<u32>,
        via: Vec<u8>,
        dependencies: Vec<u32>,
        after: Vec<u32>,
    ) -> PyResult<Self> {
        of(py, move || {
            let sizes = if in_units.0 { SizeUnit::Bytes } else { SizeUnit::Flits };
            let times = if in_units.1 { TimeUnit::Ns } else { TimeUnit::Cycles };
            let columns = ScheduleColumns {
                operations: &operations,
                kind: &kind,
                peer: &peer,
                amount: &amount,
                tag: &tag,
                step: &step,
                via: &via,
                dependencies: &dependencies,
                after: &after,
            };
            Schedule::from_columns(name, (sizes, times), &columns).map(flitwork::traffic::Table::Schedule)
        })
    }

    /// Of a schedule: its name, ranks, whether it is in bytes and in ns, and its operations as columns.
    fn operations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let schedule = self.as_schedule()?;
        let found = PyDict::new(py);
        found.set_item("name", schedule.name())?;
        found.set_item("ranks", schedule.ranks())?;
        found.set_item("in_units", (schedule.sizes() == SizeUnit::Bytes, schedule.times() == TimeUnit::Ns))?;
        let rows = Rows::of(schedule);
        found.set_item("rank", rows.rank.into_pyarray(py))?;
        found.set_item("kind", rows.kind.into_pyarray(py))?;
        found.set_item("peer", rows.peer.into_pyarray(py))?;
        found.set_item("amount", rows.amount.into_pyarray(py))?;
        found.set_item("tag", rows.tag.into_pyarray(py))?;
        found.set_item("step", rows.step.into_pyarray(py))?;
        found.set_item("via", rows.via.into_pyarray(py))?;
        found.set_item("after", rows.after)?;
        Ok(found)
    }

    /// Checks a schedule: sends and receives match, and every rank can finish. What it amounts to, as JSON.
    fn check(&self, py: Python<'_>) -> PyResult<String> {
        let schedule = self.as_schedule()?.clone();
        let report = without_gil(py, move || check_complete(&schedule))?;
        json_text(&report.map_err(|e| errors::to_python(py, &e))?)
    }

    /// What `to_bytes` wrote.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let data = data.to_vec();
        let read = without_gil(py, move || flitwork::traffic::Table::from_bytes(&data).map(Attached::new))?;
        let attached =
            read.ok_or_else(|| PyValueError::new_err("these bytes are no table of this version of flitwork"))?;
        Ok(Table { attached })
    }

    /// SHA-256 of the contents.
    #[getter]
    fn sha256(&self) -> &str {
        &self.attached.sha256
    }

    /// Rows of the table.
    #[getter]
    fn rows(&self) -> u64 {
        self.attached.rows
    }

    /// The contents as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = self.attached.table().map_or_else(Vec::new, flitwork::traffic::Table::to_bytes);
        PyBytes::new(py, &bytes)
    }

    fn __eq__(&self, other: &Table) -> bool {
        self.attached == other.attached
    }

    fn __hash__(&self) -> u64 {
        u64::from_str_radix(&self.attached.sha256[..16], 16).unwrap_or_default()
    }

    fn __copy__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __deepcopy__(this: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        this
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((this.get_type().getattr("from_bytes")?, (this.get().to_bytes(this.py()),)))
    }

    fn __repr__(&self) -> String {
        format!("<table {}: {} rows>", &self.attached.sha256[..12], self.attached.rows)
    }
}

impl Table {
    fn as_schedule(&self) -> PyResult<&Schedule> {
        match self.attached.table() {
            Some(flitwork::traffic::Table::Schedule(schedule)) => Ok(schedule),
            _ => Err(PyValueError::new_err("this table is no schedule")),
        }
    }
}

/// The operations of a schedule as columns, one row an operation.
#[derive(Default)]
struct Rows {
    rank: Vec<u32>,
    kind: Vec<u8>,
    peer: Vec<i64>,
    amount: Vec<u64>,
    tag: Vec<i64>,
    step: Vec<u32>,
    via: Vec<u8>,
    after: Vec<Vec<u32>>,
}

impl Rows {
    fn of(schedule: &Schedule) -> Self {
        let mut rows = Rows::default();
        let number = |value: u32| if value == ANY { -1 } else { i64::from(value) };
        for rank in 0..schedule.ranks() {
            for op in schedule.operations(rank) {
                let (kind, peer, amount, tag) = match op.kind {
                    OpKind::Send { to, size, tag } => (0, i64::from(to), size, number(tag)),
                    OpKind::Receive { from, size, tag } => (1, number(from), size, number(tag)),
                    OpKind::Compute { time } => (2, 0, time, 0),
                    OpKind::Wait => (3, 0, 0, 0),
                    OpKind::Task { time, cpu } => (4, i64::from(cpu), time, 0),
                    OpKind::Started => (5, 0, 0, 0),
                    OpKind::WaitUntil { time } => (6, 0, time, 0),
                };
                rows.rank.push(rank);
                rows.kind.push(kind);
                rows.peer.push(peer);
                rows.amount.push(amount);
                rows.tag.push(tag);
                rows.step.push(op.step);
                rows.via.push(op.via.code());
                rows.after.push(op.after.iter().collect());
            }
        }
        rows
    }
}

/// The table that `make` makes, without the GIL.
fn of(
    py: Python<'_>,
    make: impl FnOnce() -> Result<flitwork::traffic::Table, Error> + Send + 'static,
) -> PyResult<Table> {
    let made = without_gil(py, move || make().map(Attached::new))?;
    Ok(Table { attached: made.map_err(|e| errors::to_python(py, &e))? })
}
