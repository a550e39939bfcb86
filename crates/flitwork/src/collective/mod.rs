//! Collective communication: what each rank sends and receives, step by step.
//!
//! An algorithm is a *step function* of (world, rank, step): pure, small, and without a network ([`Collective`], one row of
//! [`COLLECTIVES`] each). The schedule that is simulated and bounded ([`schedule`]), the proof that every block ends where the
//! operation promises ([`prove`]) and what rank programs do with real data are made from it, so there is nothing to keep in step by hand.
//!
//! A world knows which ranks share a terminal ([`Servers`]); algorithms may go by it.
//!
//! The all-to-alls that go by the coordinates of a grid are orders of destinations. With rules of keeping in step they stand apart
//! ([`all_to_all()`]); as collectives they are step functions like the others.

pub mod all_to_all;
mod allgather;
mod allreduce;
mod barrier;
mod blocks;
mod broadcast;
mod digits;
mod fold;
mod gather;
mod operation;
mod placement;
mod program;
mod reduce;
mod reduce_scatter;
mod scan;
mod scatter;
mod servers;
mod sizes;
mod slots;
mod star;
mod step;
mod table;
mod tree;
mod world;

pub use all_to_all::{AllToAllOptions, Destinations, Sync, all_to_all, goes_by_rank, relative_order};
pub use blocks::{BlockSet, Blocks};
pub use operation::Operation;
pub use placement::{PlacementReport, prove};
pub use program::{Between, schedule};
pub use servers::Servers;
pub use sizes::{Length, Sizes};
pub use step::{Step, Transfer};
pub use table::{COLLECTIVES, Collective, Needs, Ranks, find};
pub use world::{BitOrder, BlockReading, World};

#[cfg(test)]
mod server_tests;
#[cfg(test)]
mod tests;
