//! The root posts a message to each rank, root + 1 first, and waits for all.

use crate::collective::{Blocks, Step, World};

pub fn steps(world: &World) -> u32 {
    world.ranks - 1
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let to = world.after(world.root, step + 1);
    let vector = || Blocks::run(0, 1, 1);
    match rank {
        rank if rank == world.root => Step::send(to, vector()).waiting(step + 2 == world.ranks),
        rank if rank == to => Step::receive(world.root, vector()),
        _ => Step::default(),
    }
}
