//! Rabenseifner's: a reduce-scatter by recursive halving, then the pieces are gathered up a binomial tree. For long
//! vectors.
//!
//! The vector is cut into a piece for each rank of the largest power of two; those in excess hand over first and have
//! no piece ([`Fold`]). Rabenseifner, ICCS 2004.

use crate::fold::{Fold, Phase};
use crate::reduce_scatter::recursive_halving::halve;
use crate::tree::{self, Edge};
use crate::{Blocks, Step, World};

pub use crate::allreduce::rabenseifner::pieces;

/// The steps that come before the gathering.
fn scattering(fold: &Fold) -> u32 {
    fold.members.ilog2() + u32::from(fold.excess > 0)
}

pub fn steps(world: &World) -> u32 {
    scattering(&Fold::of(world)) + world.bits()
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let fold = Fold::of(world);
    let blocks = |first, count| Blocks::run(first, count, fold.members);
    if let Some(step) = step.checked_sub(scattering(&fold)) {
        return tree::up(world, rank, step, |edge| gathered(world, &fold, edge));
    }
    match fold.phase(step, scattering(&fold)) {
        Phase::Before => fold.hand_over(rank, blocks(0, fold.members)),
        Phase::Step(step) => halve(&fold, rank, step, blocks),
        Phase::After => Step::default(),
    }
}

/// The pieces of the members below an edge; where there is none, the message says only that.
fn gathered(world: &World, fold: &Fold, edge: Edge) -> Blocks {
    let end = edge.child + edge.below;
    let (first, behind) = (fold.members_before(edge.child), fold.members_before(end.min(world.ranks)));
    let around = fold.members_before(end.saturating_sub(world.ranks));
    Blocks::run(first, behind - first + around, fold.members)
}
