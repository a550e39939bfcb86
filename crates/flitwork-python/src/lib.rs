//! The compiled half of the Python package: conversions only. Specifications, summaries and reports cross as JSON, long
//! columns as NumPy arrays, plans and their bounds as values.

mod any_routing;
mod arrays;
mod collective;
mod data;
mod detached;
mod errors;
mod goal;
mod mpi_library;
mod operations;
mod parquet;
mod plan;
mod simulation;
mod tables;
mod timetable;
mod topology;
mod values;

use pyo3::prelude::*;

/// The simulator. Use it through the package `flitwork`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::any_routing::any_routing;
    #[pymodule_export]
    use crate::collective::{CollectiveSteps, all_to_alls};
    #[pymodule_export]
    use crate::data::Table;
    #[pymodule_export]
    use crate::goal::{Goal, check_loggops};
    #[pymodule_export]
    use crate::mpi_library::mpi_library_files;
    #[pymodule_export]
    use crate::operations::{Kind, Operations, message_networks, operation_kinds};
    #[pymodule_export]
    use crate::parquet::{ParquetFile, ParquetWriter, parquet_bytes};
    #[pymodule_export]
    use crate::plan::Plan;
    #[pymodule_export]
    use crate::simulation::Simulation;
    #[pymodule_export]
    use crate::tables::{check_table, components, number_names, schema, stall_reasons, student_t, usable_memory};
    #[pymodule_export]
    use crate::timetable::{find_timetable, timetable, timetable_json, timetable_order};
    #[pymodule_export]
    use crate::topology::{channels, default_routing, drawing, terminals, uniform_capacity};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
