//! Reductions to a root: the vectors of all are added up there.

pub mod binomial;
pub mod linear;
pub mod rabenseifner;
