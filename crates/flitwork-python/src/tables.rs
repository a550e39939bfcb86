//! What can be asked without a plan: the schema and the tables of components.

use crate::errors;
use flitwork::measure::STALL_REASONS;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

/// `value` as JSON text.
pub fn json_text(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// The JSON Schema of a specification.
#[pyfunction]
pub fn schema() -> String {
    flitwork::spec::schema_json()
}

/// Checks one table of a specification (JSON) on its own, as it would be checked in its place: `network.router`.
#[pyfunction]
pub fn check_table(py: Python<'_>, path: &str, table: &str) -> PyResult<()> {
    flitwork::spec::check_table(path, table).map_err(|e| errors::to_python(py, &e))
}

/// The table `network` of a specification (JSON), with the numbers of its routers and terminals in the place of their
/// names.
#[pyfunction]
pub fn number_names(py: Python<'_>, network: &str) -> PyResult<String> {
    let mut table = serde_json::from_str(network).map_err(|error| PyValueError::new_err(error.to_string()))?;
    flitwork::spec::number_names(&mut table).map_err(|e| errors::to_python(py, &e))?;
    Ok(table.to_string())
}

/// Every component that can be named in a specification, by table, as JSON.
#[pyfunction]
pub fn components() -> String {
    flitwork::components_json()
}

/// Two-sided quantile of Student's t for a confidence between 0 and 1; infinite without degrees of freedom.
#[pyfunction]
pub fn student_t(confidence: f64, freedom: usize) -> f64 {
    flitwork::measure::student_t(confidence, freedom)
}

/// The reasons for a flit to stand still, in the order of their counters.
#[pyfunction]
pub fn stall_reasons() -> PyResult<String> {
    json_text(&STALL_REASONS)
}

/// Memory that this process may use, three quarters of what there is \[bytes], and what limits it.
#[pyfunction]
pub fn usable_memory() -> (u64, &'static str) {
    let usable = flitwork::usable();
    (usable.bytes, usable.of)
}
