//! Collective communication: what each rank sends and receives, step by step.
//!
//! An algorithm is a *step function* of (world, rank, step): pure, small, and without a network ([`Collective`], one
//! row of [`COLLECTIVES`] each). Whatever runs an algorithm is made from it: the schedules of the simulator, rank
//! programs, and the MPI library. So there is nothing to keep in step by hand.
//!
//! A world knows which ranks share a terminal ([`Servers`]); algorithms may go by it.
//!
//! The all-to-alls that go by the coordinates of a grid are orders of destinations ([`all_to_all`]); as collectives
//! they are step functions like the others.
//!
//! The crate depends on nothing.

pub mod all_to_all;
mod allgather;
mod allreduce;
mod barrier;
mod blocks;
mod broadcast;
pub mod c_interface;
mod digits;
mod error;
mod exchange;
mod fold;
mod gather;
mod grid;
mod operation;
mod reduce;
mod reduce_scatter;
mod scan;
mod scatter;
mod servers;
mod slots;
mod star;
mod step;
mod table;
mod tree;
mod world;

pub use all_to_all::Destinations;
pub use blocks::{BlockSet, Blocks};
pub use error::{Error, Result};
pub use exchange::{Exchange, names as exchanges};
pub use grid::{Coords, MAX_DIMS, RankGrid};
pub use operation::Operation;
pub use servers::Servers;
pub use slots::{Slot, Slots};
pub use step::{Step, Transfer};
pub use table::{COLLECTIVES, Collective, Needs, Ranks, find};
pub use world::{BitOrder, BlockReading, World};
