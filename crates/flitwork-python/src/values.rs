//! What a plan says, as plain values of Python.

use flitwork::PlanBound;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList};
use serde::Serialize;

/// A value as tables, lists, text and numbers.
pub fn plain<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    pythonize::pythonize(py, value).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// What no run can beat, as a table: its `kind`, then the fields of [`PlanBound`] in their order. What is infinite is
/// nothing.
pub fn bound<'py>(py: Python<'py>, bound: &PlanBound) -> PyResult<Bound<'py, PyDict>> {
    let table = plain(py, bound)?.cast_into::<PyDict>()?;
    drop_infinite(&table)?;
    Ok(table)
}

fn drop_infinite(table: &Bound<'_, PyDict>) -> PyResult<()> {
    for (name, value) in table.copy()? {
        if value.cast::<PyFloat>().is_ok_and(|number| !number.value().is_finite()) {
            table.set_item(name, None::<f64>)?;
        } else if let Ok(inner) = value.cast::<PyDict>() {
            drop_infinite(inner)?;
        } else if let Ok(list) = value.cast::<PyList>() {
            list.iter().filter_map(|one| one.cast_into().ok()).try_for_each(|one| drop_infinite(&one))?;
        }
    }
    Ok(())
}
