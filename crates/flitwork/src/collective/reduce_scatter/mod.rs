//! Reduce-scatters: the vectors of all are added up; each rank gets one block of the sum.

pub mod recursive_halving;
pub mod ring;
