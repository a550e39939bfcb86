//! Bruck's index algorithm, for any number of ranks and any radix.
//!
//! A block has to go `j = (to - from) mod P` ranks forward. Round k moves it by its digit k in base `radix`: in step d
//! of the round a rank sends all blocks whose digit is d to the rank at the distance `d * radix^k`. So there are
//! `log P` rounds, and a step carries `#{j < P: digit k of j is d}` blocks. Bruck et al., IEEE TPDS 8 (11), 1997.

use crate::digits::{self, Digit};
use crate::{BlockReading, BlockSet, Blocks, Step, Transfer, World};

pub use crate::digits::steps;

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let digit = digits::digit(world, step);
    let (to, from) = (world.after(rank, digit.distance()), world.before(rank, digit.distance()));
    let blocks = |at| match world.blocks {
        BlockReading::A2a => Blocks::set(Moved { world: world.clone(), at, digit }),
        BlockReading::Doubling => gathered(world, at, digit),
    };
    Step::exchange(Transfer::new(to, blocks(rank)), Transfer::new(from, blocks(from))).waiting(digit.ends_round)
}

/// The blocks with a digit that is moved now; all lower digits have been.
#[derive(Debug)]
struct Moved {
    world: World,
    at: u32,
    digit: Digit,
}

impl BlockSet for Moved {
    fn count(&self) -> u64 {
        digits::count(&self.world, self.digit)
    }

    fn list(&self) -> Vec<u64> {
        let Moved { world, at, digit } = self;
        let has = |distance: &u32| distance / digit.place % world.radix == digit.value;
        let block = |distance: u32| {
            let from = world.before(*at, distance % digit.place);
            world.pair(from, world.after(from, distance))
        };
        (0..world.ranks).filter(has).map(block).collect()
    }
}

/// The blocks of the ranks behind which a rank comes, as far as it has them: `radix^k` before round k.
fn gathered(world: &World, at: u32, digit: Digit) -> Blocks {
    let count = digit.place.min(world.ranks - digit.distance());
    Blocks::run(world.before(at, count - 1), count, world.ranks)
}
