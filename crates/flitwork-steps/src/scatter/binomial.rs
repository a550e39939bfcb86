//! Binomial tree: a rank sends half of the blocks that it has to the rank below which they belong.

use crate::tree;
use crate::{Step, World};

pub fn steps(world: &World) -> u32 {
    world.bits()
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    tree::down(world, rank, step, |edge| edge.subtree(world))
}
