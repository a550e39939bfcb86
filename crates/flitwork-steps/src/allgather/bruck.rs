//! Bruck's concatenation algorithm: in round k a rank gets what the ranks at the distances `d * radix^k` behind it
//! have.
//!
//! Any number of ranks and any radix. Bruck et al., IEEE TPDS 8 (11), 1997.

use crate::digits;
use crate::{Blocks, Step, Transfer, World};

pub use crate::digits::steps;

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let digit = digits::digit(world, step);
    let (to, from) = (world.before(rank, digit.distance()), world.after(rank, digit.distance()));
    let count = digit.place.min(world.ranks - digit.distance());
    let has = |at| Blocks::run(at, count, world.ranks);
    Step::exchange(Transfer::new(to, has(rank)), Transfer::new(from, has(from))).waiting(digit.ends_round)
}
