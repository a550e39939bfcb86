//! Recursive halving: ranks that are half of the group apart exchange the half of the sums that belongs to the other;
//! then each half goes on by itself.
//!
//! Where ranks are no power of two, those in excess hand over first and get their block last ([`Fold`]). Thakur,
//! Rabenseifner, Gropp, IJHPCA 19 (1), 2005.

use crate::fold::{Fold, Phase};
use crate::{Blocks, Step, Transfer, World};

fn halvings(fold: &Fold) -> u32 {
    fold.members.ilog2()
}

pub fn steps(world: &World) -> u32 {
    let fold = Fold::of(world);
    fold.steps(halvings(&fold))
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let fold = Fold::of(world);
    // A member stands for its own block and that of the rank whose data it has.
    let blocks = |first: u32, count: u32| {
        let (first, end) = (fold.first_rank(first), fold.first_rank(first + count));
        Blocks::run(first, end - first, world.ranks)
    };
    match fold.phase(step, halvings(&fold)) {
        Phase::Before => fold.hand_over(rank, Blocks::run(0, world.ranks, world.ranks)),
        Phase::Step(step) => halve(&fold, rank, step, blocks),
        Phase::After => fold.hand_back(rank, |to| Blocks::run(to, 1, world.ranks)),
    }
}

/// Step `step` of the members: `blocks(first, count)` belong to so many members from `first` on.
pub fn halve(fold: &Fold, rank: u32, step: u32, blocks: impl Fn(u32, u32) -> Blocks) -> Step {
    let Some(member) = fold.member(rank) else { return Step::default() };
    let half = fold.members >> (step + 1);
    let peer = member ^ half;
    let of_half_with = |member: u32| blocks(member & !(half - 1), half);
    let to = fold.rank(peer);
    Step::exchange(Transfer::new(to, of_half_with(peer)), Transfer::new(to, of_half_with(member))).adding()
}
