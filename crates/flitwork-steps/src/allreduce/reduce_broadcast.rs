//! A reduction to rank 0 up a binomial tree, then a broadcast down the same.

use crate::{Step, World, broadcast, reduce};

pub fn steps(world: &World) -> u32 {
    2 * world.bits()
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    match step.checked_sub(world.bits()) {
        None => reduce::binomial::step(world, rank, step),
        Some(step) => broadcast::binomial::step(world, rank, step),
    }
}
