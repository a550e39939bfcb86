//! The operations: which blocks each rank has at first, and which it must have at the end.

use super::blocks::Blocks;
use super::world::World;
use std::ops::Range;
#[cfg(feature = "schema")]
use {
    schemars::JsonSchema,
    serde::{Deserialize, Serialize},
};

/// A collective operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema), serde(rename_all = "snake_case"))]
pub enum Operation {
    /// Every rank has a block for every other: `MPI_Alltoall`.
    AllToAll,
    /// The vector of the root goes to all: `MPI_Bcast`.
    Broadcast,
    /// The root has a block for each rank: `MPI_Scatter`.
    Scatter,
    /// A block of each rank goes to the root: `MPI_Gather`.
    Gather,
    /// A block of each rank goes to all: `MPI_Allgather`.
    Allgather,
    /// The vectors of all are added up; each rank gets one block of the sum: `MPI_Reduce_scatter_block`.
    ReduceScatter,
    /// The vectors of all are added up at the root: `MPI_Reduce`.
    Reduce,
    /// The vectors of all are added up, and all get the sum: `MPI_Allreduce`.
    Allreduce,
    /// Each rank gets the sum of the vectors of all ranks up to itself: `MPI_Scan`, and `MPI_Exscan`, whose messages
    /// are the same.
    Scan,
    /// Nobody goes on before all have come: `MPI_Barrier`.
    Barrier,
}

impl Operation {
    /// All operations.
    pub const ALL: [Operation; 10] = [
        Operation::AllToAll,
        Operation::Broadcast,
        Operation::Scatter,
        Operation::Gather,
        Operation::Allgather,
        Operation::ReduceScatter,
        Operation::Reduce,
        Operation::Allreduce,
        Operation::Scan,
        Operation::Barrier,
    ];

    /// The name of the operation in specifications.
    pub fn name(self) -> &'static str {
        match self {
            Operation::AllToAll => "all_to_all",
            Operation::Broadcast => "broadcast",
            Operation::Scatter => "scatter",
            Operation::Gather => "gather",
            Operation::Allgather => "allgather",
            Operation::ReduceScatter => "reduce_scatter",
            Operation::Reduce => "reduce",
            Operation::Allreduce => "allreduce",
            Operation::Scan => "scan",
            Operation::Barrier => "barrier",
        }
    }

    /// Whether the length of a message is that of the whole vector, which algorithms divide into pieces. Else it is
    /// that of a block.
    pub fn has_vector(self) -> bool {
        matches!(self, Operation::Broadcast | Operation::Reduce | Operation::Allreduce | Operation::Scan)
    }

    /// Whether the operation moves any data.
    pub fn has_data(self) -> bool {
        self != Operation::Barrier
    }

    /// Whether data of several ranks becomes one (a barrier adds up who has come).
    pub fn adds(self) -> bool {
        use Operation::{Allreduce, Barrier, Reduce, ReduceScatter, Scan};
        matches!(self, ReduceScatter | Reduce | Allreduce | Scan | Barrier)
    }

    /// The ranks whose contributions are in what `rank` has at the end, where data is added up.
    pub fn contributors(self, world: &World, rank: u32) -> Range<u32> {
        if self == Operation::Scan { 0..rank + 1 } else { 0..world.ranks }
    }

    /// The blocks that a rank has at first. Where data is added up, what it has is its own contribution to them.
    pub fn first(self, world: &World, pieces: u32, rank: u32) -> Blocks {
        let ranks = world.ranks;
        let all_at_root = |all| if rank == world.root { Blocks::run(0, all, all) } else { Blocks::run(0, 0, all) };
        match self {
            Operation::AllToAll => Blocks::Run { first: world.pair(rank, 0), count: u64::from(ranks), of: u64::MAX },
            Operation::Broadcast => all_at_root(pieces),
            Operation::Scatter => all_at_root(ranks),
            Operation::Gather | Operation::Allgather => Blocks::run(rank, 1, ranks),
            Operation::ReduceScatter => Blocks::run(0, ranks, ranks),
            Operation::Reduce | Operation::Allreduce | Operation::Scan | Operation::Barrier => {
                Blocks::run(0, pieces, pieces)
            }
        }
    }

    /// The blocks that a rank must have at the end, where data is added up with the contributions of
    /// [`Operation::contributors`].
    pub fn last(self, world: &World, pieces: u32, rank: u32) -> Vec<u64> {
        let ranks = u64::from(world.ranks);
        let pieces = u64::from(pieces);
        match self {
            Operation::AllToAll => (0..world.ranks).map(|from| world.pair(from, rank)).collect(),
            Operation::Scatter | Operation::ReduceScatter => vec![u64::from(rank)],
            Operation::Gather | Operation::Reduce if rank != world.root => Vec::new(),
            Operation::Gather | Operation::Allgather => (0..ranks).collect(),
            Operation::Broadcast | Operation::Reduce | Operation::Allreduce | Operation::Scan | Operation::Barrier => {
                (0..pieces).collect()
            }
        }
    }
}
