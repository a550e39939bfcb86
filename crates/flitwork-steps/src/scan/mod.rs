//! Prefix sums: each rank gets the sum of the vectors of all ranks up to itself.

pub mod linear;
pub mod recursive_doubling;
