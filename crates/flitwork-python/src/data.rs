//! Tables of numbers that come with a specification.

use crate::detached::without_gil;
use crate::errors;
use flitwork::Error;
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

/// The table that `make` makes, without the GIL.
fn of(
    py: Python<'_>,
    make: impl FnOnce() -> Result<flitwork::traffic::Table, Error> + Send + 'static,
) -> PyResult<Table> {
    let made = without_gil(py, move || make().map(Attached::new))?;
    Ok(Table { attached: made.map_err(|e| errors::to_python(py, &e))? })
}
