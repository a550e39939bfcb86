//! Recursive doubling: in step k ranks that differ in bit k exchange their sums, whole vectors each time. For short
//! vectors.
//!
//! Where ranks are no power of two, those in excess hand over first and get the sum last ([`Fold`]).

use crate::fold::{Fold, Phase};
use crate::{Blocks, Step, Transfer, World};

fn doublings(fold: &Fold) -> u32 {
    fold.members.ilog2()
}

pub fn steps(world: &World) -> u32 {
    let fold = Fold::of(world);
    fold.steps(doublings(&fold))
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let fold = Fold::of(world);
    let vector = || Blocks::run(0, 1, 1);
    match (fold.phase(step, doublings(&fold)), fold.member(rank)) {
        (Phase::Before, _) => fold.hand_over(rank, vector()),
        (Phase::After, _) => fold.hand_back(rank, |_| vector()),
        (Phase::Step(_), None) => Step::default(),
        (Phase::Step(step), Some(member)) => {
            let peer = fold.rank(member ^ (1 << step));
            Step::exchange(Transfer::new(peer, vector()), Transfer::new(peer, vector())).adding()
        }
    }
}
