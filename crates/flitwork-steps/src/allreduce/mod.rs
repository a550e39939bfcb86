//! Allreduces: the vectors of all are added up, and all get the sum.

pub mod rabenseifner;
pub mod recursive_doubling;
pub mod reduce_broadcast;
pub mod ring;
