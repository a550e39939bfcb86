//! Recursive doubling: in step k ranks that differ in bit k exchange all that they have. Ranks are a power of two.

use crate::{Blocks, Step, Transfer, World};

pub fn steps(world: &World) -> u32 {
    world.bits()
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let length = 1 << step;
    let peer = rank ^ length;
    let has = |at: u32| Blocks::run(at & !(length - 1), length, world.ranks);
    Step::exchange(Transfer::new(peer, has(rank)), Transfer::new(peer, has(peer)))
}
