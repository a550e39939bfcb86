//! Dissemination: in round k everybody tells the ranks at the distances `d * radix^k`, d = 1 .. radix - 1; any number
//! of ranks.
//!
//! After round k a rank has heard of the `radix^(k+1)` ranks before it. Hensgen, Finkel, Manber, IJPP 17 (1), 1988.

use crate::digits;
use crate::{Blocks, Step, Transfer, World};

pub use crate::digits::steps;

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let digit = digits::digit(world, step);
    let (to, from) = (world.after(rank, digit.distance()), world.before(rank, digit.distance()));
    let signal = || Blocks::run(0, 1, 1);
    Step::exchange(Transfer::new(to, signal()), Transfer::new(from, signal())).adding().waiting(digit.ends_round)
}
