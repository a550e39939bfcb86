//! Barriers: nobody goes on before all have come.

pub mod dissemination;
pub mod tree;
