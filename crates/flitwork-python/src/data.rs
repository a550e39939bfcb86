//! Tables of numbers that come with a specification.

use crate::detached::without_gil;
use crate::errors;
use crate::operations::Operations;
use crate::tables::json_text;
use flitwork::Error;
use flitwork::host::check_complete;
use flitwork::schedule::{DetourColumns, Detours, Schedule, SizeUnit, TimeUnit};
use flitwork::traffic::{Attached, Matrix, Trace, TraceColumns};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
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

    /// A schedule. `in_units`: whether sizes are in bytes, and times in ns.
    #[staticmethod]
    fn schedule(
        py: Python<'_>,
        name: String,
        in_units: (bool, bool),
        operations: PyRef<'_, Operations>,
    ) -> PyResult<Self> {
        let columns = Arc::clone(&operations.columns);
        of(py, move || {
            let sizes = if in_units.0 { SizeUnit::Bytes } else { SizeUnit::Flits };
            let times = if in_units.1 { TimeUnit::Ns } else { TimeUnit::Cycles };
            Schedule::from_columns(name, (sizes, times), &columns).map(flitwork::traffic::Table::Schedule)
        })
    }

    /// The operations of a schedule.
    fn operations(&self, py: Python<'_>) -> PyResult<Operations> {
        let schedule = self.as_schedule()?.clone();
        let columns = without_gil(py, move || schedule.to_columns())?;
        Ok(Operations { columns: Arc::new(columns) })
    }

    /// The name of a schedule.
    #[getter]
    fn name(&self) -> PyResult<&str> {
        Ok(self.as_schedule()?.name())
    }

    /// The ranks of a schedule.
    #[getter]
    fn ranks(&self) -> PyResult<u32> {
        Ok(self.as_schedule()?.ranks())
    }

    /// Of a schedule: whether sizes are in bytes, and times in ns.
    #[getter]
    fn in_units(&self) -> PyResult<(bool, bool)> {
        let schedule = self.as_schedule()?;
        Ok((schedule.sizes() == SizeUnit::Bytes, schedule.times() == TimeUnit::Ns))
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

/// The table that `make` makes, without the GIL.
fn of(
    py: Python<'_>,
    make: impl FnOnce() -> Result<flitwork::traffic::Table, Error> + Send + 'static,
) -> PyResult<Table> {
    let made = without_gil(py, move || make().map(Attached::new))?;
    Ok(Table { attached: made.map_err(|e| errors::to_python(py, &e))? })
}
