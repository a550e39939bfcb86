//! Binomial tree: a rank adds up the vectors of those below it and sends the sum up.

use crate::tree;
use crate::{Blocks, Step, World};

pub fn steps(world: &World) -> u32 {
    world.bits()
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    tree::up(world, rank, step, |_| Blocks::run(0, 1, 1)).adding()
}
