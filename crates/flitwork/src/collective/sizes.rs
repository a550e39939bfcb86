//! How long a message is: the sizes of its blocks are added up first and divided into flits then.

use crate::schedule::Units;
use flitwork_steps::{Blocks, Collective, Operation, World};
use std::sync::Arc;

/// A length as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Length {
    /// Flits.
    Flits(u64),
    /// Bytes.
    Bytes {
        /// The length \[bytes].
        bytes: u64,
        /// What a flit carries.
        units: Units,
    },
    /// Of an all-to-all: the bytes of the block of each pair.
    Pairs {
        /// Those of the block `from * ranks + to` \[bytes].
        bytes: Arc<[u64]>,
        /// What a flit carries.
        units: Units,
    },
}

/// The sizes of all blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes {
    /// What is divided among the pieces of a vector, or the size of each block.
    total: u64,
    /// Pieces of the vector; 0 where each block has the size `total`. The first `total % pieces` are longer by 1.
    pieces: u64,
    /// What a flit carries, where sizes are in bytes.
    units: Option<Units>,
    /// The size of each block, where they are given one by one.
    given: Option<Arc<[u64]>>,
}

impl Sizes {
    /// The message sizes of an algorithm, where a block, or the vector, has this length.
    pub fn of(collective: &Collective, world: &World, length: Length) -> Self {
        match collective.operation {
            Operation::Barrier => Sizes::each(Length::Flits(0)),
            operation if operation.has_vector() => Sizes::split(length, u64::from(collective.pieces(world))),
            _ => Sizes::each(length),
        }
    }

    /// Every block has this length.
    pub fn each(length: Length) -> Self {
        Sizes::split(length, 0)
    }

    /// A vector of this length is divided into so many pieces, as equal as can be: the first are longer by a byte, or a
    /// flit.
    pub fn split(length: Length, pieces: u64) -> Self {
        let (total, units, given) = match length {
            Length::Flits(flits) => (flits, None, None),
            Length::Bytes { bytes, units } => (bytes, Some(units), None),
            Length::Pairs { bytes, units } => (0, Some(units), Some(bytes)),
        };
        Sizes { total, pieces, units, given }
    }

    /// The flits of a message. One without data is 1 flit: its arrival is a signal.
    pub fn flits(&self, blocks: &Blocks) -> u64 {
        let amount = self.amount(blocks);
        self.units.and_then(|units| units.flits(amount)).unwrap_or(amount).max(1)
    }

    /// The length of a message [bytes, or flits where these were given].
    pub fn amount(&self, blocks: &Blocks) -> u64 {
        if let Some(given) = &self.given {
            return blocks.list().into_iter().map(|block| given[block as usize]).sum();
        }
        if self.pieces == 0 {
            return blocks.count() * self.total;
        }
        match *blocks {
            Blocks::Run { first, count, .. } if first + count <= self.pieces => {
                self.start(first + count) - self.start(first)
            }
            Blocks::Run { first, count, of } if of == self.pieces => {
                self.total - self.start(first) + self.start(first + count - self.pieces)
            }
            _ => blocks.list().into_iter().map(|piece| self.start(piece + 1) - self.start(piece)).sum(),
        }
    }

    /// Whether each block has a size of its own.
    pub fn differ(&self) -> bool {
        self.given.is_some()
    }

    /// Where a piece begins in the vector.
    fn start(&self, piece: u64) -> u64 {
        piece * (self.total / self.pieces) + piece.min(self.total % self.pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up_to_the_vector_around_its_end_too() {
        for total in [0, 1, 7, 10, 64, 1001] {
            for pieces in 1..9u64 {
                let sizes = Sizes::split(Length::Flits(total), pieces);
                let amount = |first, count| sizes.amount(&Blocks::Run { first, count, of: pieces });
                let each: Vec<u64> = (0..pieces).map(|piece| amount(piece, 1)).collect();
                assert_eq!(each.iter().sum::<u64>(), total);
                assert!(each.iter().max().unwrap() - each.iter().min().unwrap() <= 1);
                for first in 0..pieces {
                    for count in 0..=pieces {
                        let listed: u64 = (first..first + count).map(|piece| each[(piece % pieces) as usize]).sum();
                        assert_eq!(amount(first, count), listed, "{first} {count} of {pieces}");
                    }
                }
            }
        }
    }

    #[test]
    fn bytes_are_added_up_before_they_are_divided() {
        let sizes = Sizes::each(Length::Bytes { bytes: 10, units: Units::new(Some(16), None).unwrap() });
        let flits = [0, 1, 3, 8].map(|count| sizes.flits(&Blocks::run(0, count, 8)));
        assert_eq!(flits, [1, 1, 2, 5]);
    }
}
