//! Traffic patterns: where each terminal sends to.
//!
//! A pattern is a file with a struct of what users write and a rule for where it is defined and what its destinations
//! are, and one row in `kind.rs`. The specification, the lists, the reference page and the conformance test follow.

mod bits;
mod destinations;
mod hotspot;
mod kind;
mod permutation;
mod random;
mod rule;
mod shift;
mod transpose;
mod uniform;
mod weights;

pub use bits::{BitComplement, BitReverse, BitRotation, Shuffle};
pub use destinations::Destinations;
pub use hotspot::Hotspot;
pub(crate) use kind::PATTERNS;
pub use kind::Pattern;
pub use permutation::Permutation;
pub use random::{RandomPairs, RandomPermutation, RandomSelection};
pub use shift::{Neighbour, Shift, Tornado};
pub use transpose::Transpose;
pub use uniform::Uniform;
pub use weights::Weights;

#[cfg(test)]
mod tests;
