//! Hierarchical: the ranks of a server send all to a leader, leaders exchange, and each hands out what came.
//!
//! It is the exchange of leaders ([`super::multi_leader`]) with one on each server.

use super::multi_leader::{step_of, steps_of};
use crate::{Step, World};

pub fn steps(world: &World) -> u32 {
    steps_of(world, 1)
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    step_of(world, 1, rank, step)
}
