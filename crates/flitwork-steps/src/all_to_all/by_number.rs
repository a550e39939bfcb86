//! All ranks send to rank 0, then all to rank 1, and so on: the total exchange of a program that counts destinations by
//! their numbers.
//!
//! All messages are posted, then one wait for all of them. The receivers are a hot spot, one after the other.

use crate::{Blocks, Step, Transfer, World};

/// A step for each message: of the messages to one rank that of the rank behind it comes first.
pub fn steps(world: &World) -> u32 {
    world.ranks.saturating_mul(world.ranks - 1)
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let to = step / (world.ranks - 1);
    let from = world.after(to, step % (world.ranks - 1) + 1);
    let transfer = |peer| Some(Transfer::new(peer, Blocks::one(world.pair(from, to))));
    let none = Step { waits: step + 1 == steps(world), ..Step::default() };
    match rank {
        rank if rank == from => Step { send: transfer(to), ..none },
        rank if rank == to => Step { receive: transfer(from), ..none },
        _ => none,
    }
}
