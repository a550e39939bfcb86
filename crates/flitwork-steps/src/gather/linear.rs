//! Everybody sends to the root at once.

use crate::{Blocks, Step, World, star};

pub use star::steps;

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    star::into(world, rank, step, |from| Blocks::run(from, 1, world.ranks))
}
