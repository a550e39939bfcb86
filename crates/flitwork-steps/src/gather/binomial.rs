//! Binomial tree: a rank collects the blocks of those below it and sends them up together.

use crate::tree;
use crate::{Step, World};

pub fn steps(world: &World) -> u32 {
    world.bits()
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    tree::up(world, rank, step, |edge| edge.subtree(world))
}
