//! Scatters: the root has a block for each rank.

pub mod binomial;
pub mod linear;
