//! Kernels: the ways to advance the one model. Only what is here runs per cycle.

pub(crate) mod flit;
