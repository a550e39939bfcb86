//! Pairwise: in step i a rank sends to the rank i places on what it has for it, and gets from the rank i places back
//! what that has for it.

use crate::{Blocks, Step, Transfer, World};

pub fn steps(world: &World) -> u32 {
    world.ranks - 1
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let (to, from) = (world.after(rank, step + 1), world.before(rank, step + 1));
    let block_of = |rank| Blocks::run(rank, 1, world.ranks);
    Step::exchange(Transfer::new(to, block_of(to)), Transfer::new(from, block_of(rank))).adding()
}
