//! Linear: the sum goes from rank to rank.

use crate::{Blocks, Step, World};

pub fn steps(world: &World) -> u32 {
    world.ranks - 1
}

pub fn step(_world: &World, rank: u32, step: u32) -> Step {
    let vector = Blocks::run(0, 1, 1);
    match rank {
        rank if rank == step => Step::send(rank + 1, vector),
        rank if rank == step + 1 => Step::receive(rank - 1, vector).adding(),
        _ => Step::default(),
    }
}
