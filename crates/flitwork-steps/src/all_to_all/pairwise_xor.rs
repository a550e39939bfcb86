//! Pairwise exchange: in step i rank r exchanges with rank r XOR i. Ranks are a power of two.

use crate::{Blocks, Step, Transfer, World};

pub fn steps(world: &World) -> u32 {
    world.ranks - 1
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let peer = rank ^ (step + 1);
    let block = |from, to| Transfer::new(peer, Blocks::one(world.pair(from, to)));
    Step::exchange(block(rank, peer), block(peer, rank))
}
