//! Open-loop traffic: which packets terminals create, regardless of how the network copes.

mod bernoulli;
mod pattern;

pub use bernoulli::OpenLoop;
pub(crate) use bernoulli::{Source, terminal_rng};
pub use pattern::{Destinations, Pattern};
