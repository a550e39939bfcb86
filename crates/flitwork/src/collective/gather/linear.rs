//! Everybody sends to the root at once.

use crate::collective::{Blocks, Step, World};

pub fn steps(world: &World) -> u32 {
    world.ranks - 1
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let from = world.after(world.root, step + 1);
    let block = || Blocks::run(from, 1, world.ranks);
    match rank {
        rank if rank == world.root => Step::receive(from, block()).waiting(step + 2 == world.ranks),
        rank if rank == from => Step::send(world.root, block()),
        _ => Step::default(),
    }
}
