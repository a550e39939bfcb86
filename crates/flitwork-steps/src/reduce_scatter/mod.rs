//! Reduce-scatters: the vectors of all are added up; each rank gets one block of the sum.

pub mod pairwise;
pub mod recursive_halving;
pub mod reduce_then_scatter;
pub mod ring;
