//! Collective communication: schedules of the step functions of [`flitwork_steps`], and the proof that they are right.
//!
//! An algorithm is a *step function* of (world, rank, step): pure, small, and without a network ([`Collective`], one
//! row of [`COLLECTIVES`] each). The schedule that is simulated and bounded ([`schedule`]), the proof that every block
//! ends where the operation promises ([`prove`]), what rank programs do with real data and what the MPI library does
//! are made from it, so there is nothing to keep in step by hand.
//!
//! The all-to-alls that go by the coordinates of a grid are orders of destinations. With rules of keeping in step they
//! stand apart ([`all_to_all()`]); as collectives they are step functions like the others.

pub mod all_to_all;
mod placement;
mod program;
mod sizes;

pub use all_to_all::{AllToAllOptions, Sync, all_to_all, goes_by_rank, relative_order};
pub use flitwork_steps::{
    BitOrder, BlockReading, BlockSet, Blocks, COLLECTIVES, Collective, Destinations, Exchange, Needs, Operation,
    RankGrid, Ranks, Servers, Step, Transfer, World, exchanges,
};
pub use placement::{PlacementReport, prove};
pub use program::{Between, schedule};
pub use sizes::{Length, Sizes};

use crate::error::Result;

/// The algorithm called `name` for an operation.
///
/// # Errors
/// [`crate::Error::Config`] names those that there are, and suggests the nearest.
pub fn find(operation: Operation, name: &str) -> Result<&'static Collective> {
    Ok(flitwork_steps::find(operation, name)?)
}

#[cfg(test)]
mod server_tests;
#[cfg(test)]
mod tests;
