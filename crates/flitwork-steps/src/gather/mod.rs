//! Gathers: a block of each rank goes to the root.

pub mod binomial;
pub mod linear;
