//! The sources of the MPI library, which is compiled with the mpicc of whoever uses it.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Each file by its path below `mpi/`.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/mpi_library_files.rs"));

/// The files from which the MPI library is compiled, by their paths.
#[pyfunction]
pub fn mpi_library_files(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let files = PyDict::new(py);
    for (name, contents) in FILES {
        files.set_item(name, PyBytes::new(py, contents))?;
    }
    Ok(files)
}
