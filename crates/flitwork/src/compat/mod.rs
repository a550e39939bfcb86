//! What another simulator runs and no hardware would be built to do: the table `network.router.compat`.
//!
//! Everything here is off by default and apart from the model's own rules, so that those stay simple. A routing under
//! such a rule is a scheme around the routing's own; a stage that takes a batch at a time exists only where it is asked
//! for. `flitwork booksim` writes this table. docs/booksim.md says why BookSim 2 behaves so.

mod batch_stage;
mod min_adapt;
mod options;
mod shared_middle;

pub(crate) use batch_stage::BatchStage;
pub use options::{AdaptiveTie, CompatSpec, Productive};

#[cfg(test)]
pub(crate) mod tests;
