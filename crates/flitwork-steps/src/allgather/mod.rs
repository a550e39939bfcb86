//! Allgathers: a block of each rank goes to all.

pub mod bruck;
pub mod recursive_doubling;
pub mod ring;
