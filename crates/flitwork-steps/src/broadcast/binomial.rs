//! Binomial tree: in each step everybody who has the vector sends it to one who has not.

use crate::tree;
use crate::{Blocks, Step, World};

pub fn steps(world: &World) -> u32 {
    world.bits()
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    tree::down(world, rank, step, |_| Blocks::run(0, 1, 1))
}
