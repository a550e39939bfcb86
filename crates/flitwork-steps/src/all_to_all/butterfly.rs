//! Butterfly: in each step a rank exchanges, with the rank that differs in one bit, all blocks whose destination
//! differs in it.
//!
//! Ranks are a power of two; half of the blocks move in each of `log2 P` steps. Bits go up or down.

use crate::{BitOrder, BlockReading, BlockSet, Blocks, Step, Transfer, World};

pub fn steps(world: &World) -> u32 {
    world.bits()
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let bits = world.bits();
    let (bit, done) = match world.order {
        BitOrder::Ascending => (1 << step, (1 << step) - 1),
        BitOrder::Descending => (1 << (bits - 1 - step), world.ranks - (1 << (bits - step))),
    };
    let peer = rank ^ bit;
    let blocks = |at| match world.blocks {
        BlockReading::A2a => Blocks::set(Crossing { world: world.clone(), at, bit, done }),
        BlockReading::Doubling => Blocks::set(Gathered { at, done }),
    };
    Step::exchange(Transfer::new(peer, blocks(rank)), Transfer::new(peer, blocks(peer)))
}

/// The blocks that differ in `bit`, after the bits `done` have been exchanged.
#[derive(Debug)]
struct Crossing {
    world: World,
    at: u32,
    bit: u32,
    done: u32,
}

impl BlockSet for Crossing {
    fn count(&self) -> u64 {
        u64::from(self.world.ranks / 2)
    }

    fn list(&self) -> Vec<u64> {
        let block = |differs: u32| {
            let from = self.at ^ (differs & self.done);
            self.world.pair(from, from ^ differs)
        };
        (0..self.world.ranks).filter(|differs| differs & self.bit != 0).map(block).collect()
    }
}

/// One block of each rank that differs in the bits `done` only.
#[derive(Debug)]
struct Gathered {
    at: u32,
    done: u32,
}

impl BlockSet for Gathered {
    fn count(&self) -> u64 {
        1 << self.done.count_ones()
    }

    fn list(&self) -> Vec<u64> {
        // All subsets of the bits, ascending.
        let mut subset = 0u32;
        let mut blocks = Vec::new();
        loop {
            blocks.push(u64::from(self.at ^ subset));
            subset = subset.wrapping_sub(self.done) & self.done;
            if subset == 0 {
                return blocks;
            }
        }
    }
}
