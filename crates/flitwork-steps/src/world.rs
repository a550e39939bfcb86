//! What a step function knows besides its rank and its step.

use super::all_to_all::Destinations;
use super::servers::Servers;
use std::sync::Arc;
#[cfg(feature = "schema")]
use {
    schemars::JsonSchema,
    serde::{Deserialize, Serialize},
};

/// What an all-to-all of few steps carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema), serde(rename_all = "snake_case"))]
pub enum BlockReading {
    /// All blocks whose way leads over the partner: about half of all in each step (radix 2). A complete all-to-all.
    #[default]
    A2a,
    /// Twice as many blocks in each step as in the one before, beginning with one: the volume of an allgather. It moves
    /// one block of each rank to all others; papers that say only "the message doubles" can be read so.
    Doubling,
}

/// In which order the bits of a rank are exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema), serde(rename_all = "snake_case"))]
pub enum BitOrder {
    /// Nearest partner first: distances 1, 2, 4, ...
    #[default]
    Ascending,
    /// Farthest partner first.
    Descending,
}

/// The ranks that take part, and the parameters of the algorithm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct World {
    /// Number of ranks, at least 2.
    pub ranks: u32,
    /// Rank from which, or at which, data is spread or collected.
    pub root: u32,
    /// Base of the numbers by whose digits ranks proceed, at least 2.
    pub radix: u32,
    /// What an all-to-all of few steps carries.
    pub blocks: BlockReading,
    /// In which order bits are exchanged.
    pub order: BitOrder,
    /// Leaders on each server.
    pub leaders: u32,
    /// The destinations by coordinates, of algorithms that go by them.
    pub destinations: Option<Arc<Destinations>>,
    /// Which ranks share a server.
    pub servers: Arc<Servers>,
}

impl World {
    /// A world of `ranks` ranks, each on a server of its own, with the defaults of all parameters.
    pub fn of(ranks: u32) -> Self {
        World::on(Servers::one_each(ranks))
    }

    /// The ranks of these servers, with the defaults of all parameters.
    pub fn on(servers: Servers) -> Self {
        World {
            ranks: servers.ranks(),
            root: 0,
            radix: 2,
            blocks: BlockReading::default(),
            order: BitOrder::default(),
            leaders: servers.common_divisor(2),
            destinations: None,
            servers: Arc::new(servers),
        }
    }

    /// The rank that is `distance` behind `rank`, around the end.
    pub fn after(&self, rank: u32, distance: u32) -> u32 {
        ((u64::from(rank) + u64::from(distance)) % u64::from(self.ranks)) as u32
    }

    /// The rank that is `distance` before `rank`, around the start.
    pub fn before(&self, rank: u32, distance: u32) -> u32 {
        self.after(rank, self.ranks - distance % self.ranks)
    }

    /// How far `rank` is behind the root.
    pub fn from_root(&self, rank: u32) -> u32 {
        self.before(rank, self.root)
    }

    /// The smallest number of bits in which all ranks can be written.
    pub fn bits(&self) -> u32 {
        self.ranks.next_power_of_two().trailing_zeros()
    }

    /// The block that goes from one rank to another in an all-to-all.
    pub fn pair(&self, from: u32, to: u32) -> u64 {
        u64::from(from) * u64::from(self.ranks) + u64::from(to)
    }
}
