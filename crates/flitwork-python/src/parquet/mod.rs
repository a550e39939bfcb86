//! Tables in Parquet files: columns go to Python as NumPy arrays and come from there.
//!
//! The crate `parquet` of Apache Arrow decodes and encodes; this module names the kinds of columns, and turns values
//! with their levels into arrays. `python/flitwork/base/parquet.py` makes data frames of them.

mod claims;
mod kinds;
mod read;
mod write;

pub use read::ParquetFile;
pub use write::{ParquetWriter, parquet_bytes};

use ::parquet::errors::ParquetError;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use std::io;

/// What goes wrong with a file, for Python: an `OSError` that knows its number, or a `ValueError`. `column` is the one
/// at fault.
fn raised(py: Python<'_>, error: ParquetError, column: Option<&str>) -> PyErr {
    let text = match error {
        ParquetError::External(error) => match error.downcast_ref::<io::Error>() {
            Some(failed) if failed.raw_os_error().is_some() => return os_error(py, failed),
            _ => error.to_string(),
        },
        ParquetError::General(text) | ParquetError::NYI(text) | ParquetError::EOF(text) => text,
        other => other.to_string(),
    };
    PyValueError::new_err(match column {
        Some(column) => format!("column {column}: {text}"),
        None => text,
    })
}

/// `error` with its number: Python chooses the class by it, such as `FileNotFoundError`.
fn os_error(py: Python<'_>, error: &io::Error) -> PyErr {
    let described = |number: i32| -> PyResult<PyErr> {
        let text: String = py.import("os")?.call_method1("strerror", (number,))?.extract()?;
        Ok(PyOSError::new_err((number, text)))
    };
    match error.raw_os_error() {
        Some(number) => described(number).unwrap_or_else(|failure| failure),
        None => PyOSError::new_err(error.to_string()),
    }
}
