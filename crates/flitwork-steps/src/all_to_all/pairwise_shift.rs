//! Ring, or pairwise exchange by shifts: in step i rank r sends to r + i and receives from r - i.

use crate::{Blocks, Step, Transfer, World};

pub fn steps(world: &World) -> u32 {
    world.ranks - 1
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let (to, from) = (world.after(rank, step + 1), world.before(rank, step + 1));
    let send = Transfer::new(to, Blocks::one(world.pair(rank, to)));
    let receive = Transfer::new(from, Blocks::one(world.pair(from, rank)));
    Step::exchange(send, receive)
}
