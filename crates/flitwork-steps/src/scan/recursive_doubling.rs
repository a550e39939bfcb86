//! Recursive doubling: in step k a rank hands the sum that it has to the rank 2^k places on.
//!
//! Hillis and Steele, Communications of the ACM 29 (12), 1986.

use crate::{Blocks, Step, Transfer, World};

pub fn steps(world: &World) -> u32 {
    world.bits()
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let distance = 1 << step;
    let vector = || Blocks::run(0, 1, 1);
    let send = (rank + distance < world.ranks).then(|| Transfer::new(rank + distance, vector()));
    let receive = rank.checked_sub(distance).map(|from| Transfer::new(from, vector()));
    Step { send, receive, adds: true, waits: true }
}
