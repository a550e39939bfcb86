//! Broadcasts: the vector of the root goes to all.

pub mod binomial;
pub mod linear;
pub mod van_de_geijn;
