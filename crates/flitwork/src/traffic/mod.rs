//! Open-loop traffic: which packets terminals create, regardless of how the network copes.

mod uniform;

pub use uniform::Uniform;
pub(crate) use uniform::{Source, terminal_rng};
