//! How algorithms for a power of two serve any number of ranks: the first ranks in excess hand their data to a
//! neighbour, sit out, and get the result from it (Thakur, Rabenseifner, Gropp, IJHPCA 19 (1), 2005, section 4.5).
//!
//! Of the first `2 * excess` ranks the odd ones take part, for themselves and the even rank before them. Those that
//! take part are numbered again, in their order.

use super::blocks::Blocks;
use super::step::Step;
use super::world::World;

/// Who takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fold {
    /// Number of ranks that take part: the largest power of two of ranks.
    pub members: u32,
    /// Ranks that sit out.
    pub excess: u32,
}

/// What a step is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Those who sit out hand over their data.
    Before,
    /// Step of the algorithm itself.
    Step(u32),
    /// Those who sit out get the result.
    After,
}

impl Fold {
    pub fn of(world: &World) -> Self {
        let members = 1 << world.ranks.ilog2();
        Fold { members, excess: world.ranks - members }
    }

    /// All steps, where the algorithm itself has so many.
    pub fn steps(&self, inner: u32) -> u32 {
        inner + if self.excess > 0 { 2 } else { 0 }
    }

    /// What step `step` is for.
    pub fn phase(&self, step: u32, inner: u32) -> Phase {
        match step {
            step if self.excess == 0 => Phase::Step(step),
            0 => Phase::Before,
            step if step <= inner => Phase::Step(step - 1),
            _ => Phase::After,
        }
    }

    /// The number among the members; none for those that sit out.
    pub fn member(&self, rank: u32) -> Option<u32> {
        match rank {
            rank if rank >= 2 * self.excess => Some(rank - self.excess),
            rank if rank % 2 == 1 => Some(rank / 2),
            _ => None,
        }
    }

    /// The rank of a member.
    pub fn rank(&self, member: u32) -> u32 {
        if member < self.excess { 2 * member + 1 } else { member + self.excess }
    }

    /// How many ranks below this one take part.
    pub fn members_before(&self, rank: u32) -> u32 {
        if rank < 2 * self.excess { rank / 2 } else { rank - self.excess }
    }

    /// The first of the ranks for which a member stands: of itself, or of the one before it. Behind the last member:
    /// all ranks.
    pub fn first_rank(&self, member: u32) -> u32 {
        member + member.min(self.excess)
    }

    /// The step in which ranks that sit out hand over `blocks`.
    pub fn hand_over(&self, rank: u32, blocks: Blocks) -> Step {
        match rank {
            rank if rank >= 2 * self.excess => Step::default(),
            rank if rank % 2 == 1 => Step::receive(rank - 1, blocks).adding(),
            rank => Step::send(rank + 1, blocks),
        }
    }

    /// The step in which ranks that sit out receive what `blocks` says for them.
    pub fn hand_back(&self, rank: u32, blocks: impl Fn(u32) -> Blocks) -> Step {
        match rank {
            rank if rank >= 2 * self.excess => Step::default(),
            rank if rank % 2 == 1 => Step::send(rank - 1, blocks(rank - 1)),
            rank => Step::receive(rank + 1, blocks(rank)),
        }
    }
}
