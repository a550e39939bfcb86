//! Rabenseifner's: a reduce-scatter by recursive halving, then an allgather by recursive doubling. For long vectors.
//!
//! The vector is cut into a piece for each rank of the largest power of two; those in excess hand over first and get
//! the sum last ([`Fold`]). Rabenseifner, ICCS 2004.

use crate::fold::{Fold, Phase};
use crate::reduce_scatter::recursive_halving::halve;
use crate::{Blocks, Step, Transfer, World};

pub fn pieces(world: &World) -> u32 {
    Fold::of(world).members
}

fn halvings(fold: &Fold) -> u32 {
    fold.members.ilog2()
}

pub fn steps(world: &World) -> u32 {
    let fold = Fold::of(world);
    fold.steps(2 * halvings(&fold))
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let fold = Fold::of(world);
    let blocks = |first, count| Blocks::run(first, count, fold.members);
    match fold.phase(step, 2 * halvings(&fold)) {
        Phase::Before => fold.hand_over(rank, blocks(0, fold.members)),
        Phase::After => fold.hand_back(rank, |_| blocks(0, fold.members)),
        Phase::Step(step) => match step.checked_sub(halvings(&fold)) {
            None => halve(&fold, rank, step, blocks),
            Some(step) => double(&fold, rank, step, blocks),
        },
    }
}

/// Members that differ in bit `step` exchange all sums that they have.
fn double(fold: &Fold, rank: u32, step: u32, blocks: impl Fn(u32, u32) -> Blocks) -> Step {
    let Some(member) = fold.member(rank) else { return Step::default() };
    let length = 1 << step;
    let peer = member ^ length;
    let has = |member: u32| blocks(member & !(length - 1), length);
    let to = fold.rank(peer);
    Step::exchange(Transfer::new(to, has(peer ^ length)), Transfer::new(to, has(peer)))
}
