//! Which blocks a message carries, said so that counting them takes no time and listing them is possible.
//!
//! A block is a number whose meaning the operation defines ([`super::Operation`]): a pair of ranks, a rank, or a piece
//! of a vector.

use std::fmt;
use std::sync::Arc;

/// The blocks of a message, in the order in which they lie in it.
#[derive(Debug, Clone)]
pub enum Blocks {
    /// The blocks `first`, `first + 1`, ..., `count` of them, modulo `of`.
    Run {
        /// First block, below `of`.
        first: u64,
        /// How many, at most `of`.
        count: u64,
        /// The block behind the last is block 0 again.
        of: u64,
    },
    /// A set that is not a run.
    Set(Arc<dyn BlockSet>),
}

/// Blocks that an algorithm describes by itself.
pub trait BlockSet: fmt::Debug + Send + Sync {
    /// How many blocks, without listing them.
    fn count(&self) -> u64;

    /// The blocks in the order in which they lie in the message.
    fn list(&self) -> Vec<u64>;
}

impl Blocks {
    /// The set of one block.
    pub fn one(block: u64) -> Self {
        Blocks::Run { first: block, count: 1, of: u64::MAX }
    }

    /// `count` blocks from block `first` on, modulo `of`.
    pub fn run(first: u32, count: u32, of: u32) -> Self {
        Blocks::Run { first: u64::from(first), count: u64::from(count), of: u64::from(of) }
    }

    /// A set that is not a run.
    pub fn set(set: impl BlockSet + 'static) -> Self {
        Blocks::Set(Arc::new(set))
    }

    /// Whether two messages carry the same, as far as it can be seen without listing them.
    pub fn is_same(&self, other: &Blocks) -> bool {
        match (self, other) {
            (Blocks::Run { first: a, count: b, of: c }, Blocks::Run { first: x, count: y, of: z }) => {
                (a, b, c) == (x, y, z)
            }
            (Blocks::Set(one), Blocks::Set(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// How many blocks.
    pub fn count(&self) -> u64 {
        match self {
            Blocks::Run { count, .. } => *count,
            Blocks::Set(set) => set.count(),
        }
    }

    /// The blocks in the order in which they lie in the message.
    pub fn list(&self) -> Vec<u64> {
        match *self {
            Blocks::Run { first, count, of } => (first..first + count).map(|block| block % of).collect(),
            Blocks::Set(ref set) => set.list(),
        }
    }
}
