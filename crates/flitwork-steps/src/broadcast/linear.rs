//! The root posts a message to each rank, root + 1 first, and waits for all.

use crate::{Blocks, Step, World, star};

pub use star::steps;

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    star::out(world, rank, step, |_| Blocks::run(0, 1, 1))
}
