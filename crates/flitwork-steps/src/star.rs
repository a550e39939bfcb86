//! The star around the root: a message between the root and each other rank, that of rank root + 1 first.

use super::blocks::Blocks;
use super::step::Step;
use super::world::World;

/// Number of steps: one for each other rank.
pub fn steps(world: &World) -> u32 {
    world.ranks - 1
}

/// Step `step` of data that goes out: the root posts all messages and then waits. `blocks` is what goes to a rank.
pub fn out(world: &World, rank: u32, step: u32, blocks: impl Fn(u32) -> Blocks) -> Step {
    let to = world.after(world.root, step + 1);
    match rank {
        rank if rank == world.root => Step::send(to, blocks(to)).waiting(is_last(world, step)),
        rank if rank == to => Step::receive(world.root, blocks(to)),
        _ => Step::default(),
    }
}

/// Step `step` of data that comes in: everybody sends at once, and the root waits for all. `blocks` is what comes from
/// a rank.
pub fn into(world: &World, rank: u32, step: u32, blocks: impl Fn(u32) -> Blocks) -> Step {
    let from = world.after(world.root, step + 1);
    match rank {
        rank if rank == world.root => Step::receive(from, blocks(from)).waiting(is_last(world, step)),
        rank if rank == from => Step::send(world.root, blocks(from)),
        _ => Step::default(),
    }
}

fn is_last(world: &World, step: u32) -> bool {
    step + 1 == steps(world)
}
