//! All blocks are added up at rank 0, up a binomial tree, and scattered from there down the same.

use crate::{Blocks, Step, World, scatter, tree};

pub fn steps(world: &World) -> u32 {
    2 * world.bits()
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    match step.checked_sub(world.bits()) {
        None => tree::up(world, rank, step, |_| Blocks::run(0, world.ranks, world.ranks)).adding(),
        Some(step) => scatter::binomial::step(world, rank, step),
    }
}
