//! What can be asked without a plan: the schema and the tables of components.

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

/// Every component that can be named in a specification, by table, as JSON.
#[pyfunction]
pub fn components() -> String {
    flitwork::components_json()
}
