//! A2A, SimpleSpread: `for i = 1..P-1: send((me + i) mod P)`.
//!
//! Takaue et al. 2010, section 2.1. It knows nothing of the topology. As a collective: all receives and sends are
//! posted, then one wait for all of them.

use super::pairwise_shift;
use crate::{Step, World};

/// The steps of the ring, of which only the last waits: for all.
pub fn step(world: &World, rank: u32, step: u32) -> Step {
    pairwise_shift::step(world, rank, step).waiting(step + 2 == world.ranks)
}

/// Rank offsets in order, for `ranks` ranks.
pub fn order(ranks: u32) -> Vec<u32> {
    (1..ranks).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_offset_once() {
        assert_eq!(super::order(4), [1, 2, 3]);
    }
}
