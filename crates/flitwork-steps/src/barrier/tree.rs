//! Tree: signals go up a binomial tree to rank 0, and down again, as a reduction and a broadcast do.

pub use crate::allreduce::reduce_broadcast::{step, steps};
