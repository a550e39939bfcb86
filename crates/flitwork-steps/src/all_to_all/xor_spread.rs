//! The pairwise exchange with all messages posted at once: to rank me XOR 1 first, then me XOR 2, ... Ranks are a power
//! of two.

use super::pairwise_xor;
use crate::{Step, World};

/// The steps of the pairwise exchange, of which only the last waits: for all.
pub fn step(world: &World, rank: u32, step: u32) -> Step {
    pairwise_xor::step(world, rank, step).waiting(step + 2 == world.ranks)
}
