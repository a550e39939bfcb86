//! Ring: everybody passes on to the next rank what came from the one before, its own block first.

use crate::{Blocks, Step, Transfer, World};

pub fn steps(world: &World) -> u32 {
    world.ranks - 1
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let (to, from) = (world.after(rank, 1), world.before(rank, 1));
    let passed = |at| Blocks::run(world.before(at, step), 1, world.ranks);
    Step::exchange(Transfer::new(to, passed(rank)), Transfer::new(from, passed(from)))
}
