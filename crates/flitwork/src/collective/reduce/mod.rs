//! Reductions to a root: the vectors of all are added up there.

pub mod binomial;
