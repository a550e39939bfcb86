//! Ring: a reduce-scatter around the ring, then an allgather around it; the vector is cut into a piece for each rank.
//!
//! Least volume of all, 2 (P - 1) / P vectors a rank. Patarasuk and Yuan, JPDC 69 (2), 2009.

use crate::{Step, World, allgather, reduce_scatter};

pub fn steps(world: &World) -> u32 {
    2 * (world.ranks - 1)
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    match step.checked_sub(world.ranks - 1) {
        None => reduce_scatter::ring::step(world, rank, step),
        Some(step) => allgather::ring::step(world, rank, step),
    }
}
