//! Collective communication: algorithms that build a [`crate::schedule::Schedule`].
//!
//! An algorithm is written once; it is simulated, bounded, drawn and exported from the schedule it builds.

pub mod all_to_all;

pub use all_to_all::{AllToAllOptions, Sync, all_to_all, goes_by_rank, relative_order};
