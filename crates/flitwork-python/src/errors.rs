//! Errors of the simulator as the exceptions of `flitwork.base.errors`.

use flitwork::Error;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// The Python exception for `error`.
pub fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    raised(py, error).unwrap_or_else(|failure| failure)
}

fn raised(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let module = py.import("flitwork.base.errors")?;
    let exception = match error {
        Error::Config { path, value, expected, hint } => {
            module.getattr("ConfigError")?.call1((path, value, expected, hint))?
        }
        Error::Deadlock { .. } => module.getattr("DeadlockError")?.call1((error.to_string(),))?,
        Error::CycleLimit { .. } => module.getattr("SimulationError")?.call1((error.to_string(),))?,
        Error::Schedule { .. } => module.getattr("ScheduleError")?.call1((error.to_string(),))?,
        Error::Interrupted { .. } => return Ok(PyKeyboardInterrupt::new_err(error.to_string())),
    };
    Ok(PyErr::from_value(exception))
}
