//! The table of algorithms: a file and a row each.

use super::all_to_all::Destinations;
use super::all_to_all::{
    aggregation, birkhoff, bruck, butterfly, by_number, coordinates, hierarchical, multi_leader, node_aware,
    pairwise_shift, pairwise_xor, simple_spread, two_level_ring, xor_spread,
};
use super::operation::Operation;
use super::step::Step;
use super::world::{BlockReading, World};
use super::{allgather, allreduce, barrier, broadcast, gather, reduce, reduce_scatter, scan, scatter};
use crate::RankGrid;
use crate::error::{Error, Result};
use std::sync::Arc;

/// For which numbers of ranks an algorithm is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranks {
    /// From 2 on.
    Any,
    /// Powers of two; for others there is the algorithm of this name.
    PowerOfTwo {
        /// What to take instead.
        otherwise: &'static str,
    },
    /// Those of a grid, one at each router, in their order; for others there is the algorithm of this name.
    OfGrid {
        /// What to take instead.
        otherwise: &'static str,
    },
}

/// What an algorithm needs that no number of ranks can say.
#[derive(Debug, Clone, Copy)]
pub struct Needs {
    /// In words.
    pub in_words: &'static str,
    /// Refuses worlds that do not have it.
    pub check: fn(&World) -> Result<()>,
}

impl Ranks {
    /// The algorithm that takes the place of one that is not defined.
    pub fn otherwise(self) -> Option<&'static str> {
        match self {
            Ranks::Any => None,
            Ranks::PowerOfTwo { otherwise } | Ranks::OfGrid { otherwise } => Some(otherwise),
        }
    }

    /// In words.
    pub fn in_words(self) -> &'static str {
        match self {
            Ranks::Any => "2 ranks or more",
            Ranks::PowerOfTwo { .. } => "a power of two of ranks",
            Ranks::OfGrid { .. } => "one rank at each router of a grid",
        }
    }
}

/// An algorithm for a collective operation: a row of [`COLLECTIVES`].
#[derive(Debug, Clone, Copy)]
pub struct Collective {
    /// The operation that the algorithm carries out.
    pub operation: Operation,
    /// Name in configurations and tables; unique within its operation.
    pub name: &'static str,
    /// How the algorithm works, in one line.
    pub summary: &'static str,
    /// The fields of a specification that it takes besides the length of messages.
    pub parameters: &'static [&'static str],
    /// For which numbers of ranks it is defined.
    pub ranks: Ranks,
    /// Whether the algorithm depends on which ranks share a server.
    pub knows_servers: bool,
    /// Whether each block of an all-to-all goes from its source to its destination as a message of its own.
    pub direct: bool,
    /// What else worlds must have, beside the number of ranks.
    pub needs: Option<Needs>,
    /// Where the algorithm was published; empty for common knowledge.
    pub paper: &'static str,
    /// Whether whatever a rank sends is the sum of consecutive ranks: then the order of ranks can be kept where adding
    /// does not commute.
    pub in_order: fn(&World) -> bool,
    /// Into how many pieces it cuts a vector; nothing where blocks are not cut.
    pub pieces: Option<fn(&World) -> u32>,
    /// Number of steps.
    pub steps: fn(&World) -> u32,
    /// What a rank does in a step.
    pub step: fn(&World, u32, u32) -> Step,
}

const BRUCK: &str = "Bruck et al., IEEE TPDS 8 (11), 1997";
const NARUSE: &str = "Naruse, Nakashima, Sumimoto, Kumon: All-to-all Algorithm for Multi-core PC Cluster Systems, 2010";
const KINKEAD: &str = "Kinkead, Wesley, Schonbein, DeBonis, Dosanjh, Bienz, SC Workshops 2025";
const THAKUR: &str = "Thakur, Rabenseifner, Gropp, IJHPCA 19 (1), 2005";
const WHOLE: Option<fn(&World) -> u32> = Some(|_| 1);
const ALWAYS: fn(&World) -> bool = |_| true;
/// Up a tree that stands at rank 0: below another root ranks go around the end.
const FROM_RANK_0: fn(&World) -> bool = |world| world.root == 0;
const PIECE_A_RANK: Option<fn(&World) -> u32> = Some(|world| world.ranks);

/// A row with the usual values of what most rows share.
const fn row(
    operation: Operation,
    name: &'static str,
    summary: &'static str,
    steps: fn(&World) -> u32,
    step: fn(&World, u32, u32) -> Step,
) -> Collective {
    Collective {
        operation,
        name,
        summary,
        parameters: &[],
        ranks: Ranks::Any,
        knows_servers: false,
        direct: false,
        needs: None,
        paper: "",
        in_order: |_| false,
        pieces: None,
        steps,
        step,
    }
}

/// An all-to-all that knows servers.
const fn by_servers(
    name: &'static str,
    summary: &'static str,
    paper: &'static str,
    steps: fn(&World) -> u32,
    step: fn(&World, u32, u32) -> Step,
) -> Collective {
    let plain = row(Operation::AllToAll, name, summary, steps, step);
    Collective { parameters: &["sizes"], knows_servers: true, paper, ..plain }
}

/// All algorithms, by operation.
#[rustfmt::skip]
pub static COLLECTIVES: &[Collective] = &[
    Collective {
        parameters: &["sizes"], direct: true, ranks: Ranks::PowerOfTwo { otherwise: "pairwise_shift" },
        ..row(Operation::AllToAll, "pairwise_xor", "step i exchanges with rank me XOR i, one after the other",
            pairwise_xor::steps, pairwise_xor::step)
    },
    Collective {
        parameters: &["sizes"], direct: true,
        ..row(Operation::AllToAll, "pairwise_shift",
            "ring: step i sends to me + i and receives from me - i, one after the other",
            pairwise_shift::steps, pairwise_shift::step)
    },
    Collective {
        parameters: &["sizes"], direct: true, paper: "Takaue et al., IPSJ SIG Technical Report 2010-HPC-126 (15), 2010",
        ..row(Operation::AllToAll, "simple_spread", "all messages posted at once, to me + 1 first",
            pairwise_shift::steps, simple_spread::step)
    },
    Collective {
        parameters: &["sizes"], direct: true,
        ..row(Operation::AllToAll, "by_number", "all messages posted at once, to rank 0 first: all ranks send to the same one",
            by_number::steps, by_number::step)
    },
    Collective {
        parameters: &["sizes"], direct: true, ranks: Ranks::PowerOfTwo { otherwise: "simple_spread" },
        ..row(Operation::AllToAll, "xor_spread", "all messages posted at once, to me XOR 1 first",
            pairwise_xor::steps, xor_spread::step)
    },
    Collective {
        parameters: &["radix", "blocks", "sizes"], paper: BRUCK,
        ..row(Operation::AllToAll, "bruck", "a round for each digit of the distance to the destination",
            bruck::steps, bruck::step)
    },
    Collective {
        parameters: &["order", "blocks", "sizes"], ranks: Ranks::PowerOfTwo { otherwise: "bruck" },
        ..row(Operation::AllToAll, "butterfly", "a step for each bit of the destination, with the rank that differs in it",
            butterfly::steps, butterfly::step)
    },
    Collective {
        parameters: &["sizes"], direct: true, ranks: Ranks::OfGrid { otherwise: "simple_spread" },
        paper: "Takaue et al., IPSJ SIG Technical Report 2010-HPC-126 (15), 2010",
        ..row(Operation::AllToAll, "a2at", "all messages posted at once, in the order of A2AT: all channels loaded equally",
            coordinates::steps, coordinates::step)
    },
    Collective {
        parameters: &["sizes"], direct: true, ranks: Ranks::OfGrid { otherwise: "simple_spread" },
        paper: "Takaue et al., IPSJ SIG Technical Report 2010-HPC-126 (15), 2010",
        ..row(Operation::AllToAll, "a2and", "all messages posted at once, the relative coordinates counted up",
            coordinates::steps, coordinates::step)
    },
    Collective {
        direct: true,
        ..by_servers("two_level_ring", "a ring of servers, in each of its steps a ring of the ranks of two servers", NARUSE,
            two_level_ring::steps, two_level_ring::step)
    },
    Collective {
        direct: true, needs: Some(birkhoff::NEEDS),
        ..by_servers("birkhoff", "servers of different sizes send to one at a time, as short as the largest can",
            "our generalisation of the 2-Level Ring; compare Sanders, Traeff, Euro-Par 2002", birkhoff::steps, birkhoff::step)
    },
    by_servers("aggregation", "a server's blocks for one rank are collected first and sent as one message",
        "Kumar, Mamidala, Panda, CAC workshop at IPDPS 2008", aggregation::steps, aggregation::step),
    by_servers("hierarchical", "a leader of each server collects all, leaders exchange, and hand out what came", KINKEAD,
        hierarchical::steps, hierarchical::step),
    Collective {
        parameters: &["leaders", "sizes"], needs: Some(multi_leader::NEEDS),
        ..by_servers("multi_leader", "the same with several leaders on each server", KINKEAD,
            multi_leader::steps, multi_leader::step)
    },
    by_servers("node_aware", "a rank's blocks for a server go as one message to one rank there, which hands them on", KINKEAD,
        node_aware::steps, node_aware::step),
    Collective {
        parameters: &["root"], pieces: WHOLE,
        ..row(Operation::Broadcast, "binomial", "whole vectors down a binomial tree",
            broadcast::binomial::steps, broadcast::binomial::step)
    },
    Collective {
        parameters: &["root"], pieces: PIECE_A_RANK, paper: "Barnett et al. (InterCom), SHPCC 1994",
        ..row(Operation::Broadcast, "van_de_geijn", "a binomial scatter, then a ring allgather",
            broadcast::van_de_geijn::steps, broadcast::van_de_geijn::step)
    },
    Collective {
        parameters: &["root"], pieces: WHOLE,
        ..row(Operation::Broadcast, "linear", "a message from the root to each rank",
            broadcast::linear::steps, broadcast::linear::step)
    },
    Collective {
        parameters: &["root"],
        ..row(Operation::Scatter, "binomial", "blocks down a binomial tree",
            scatter::binomial::steps, scatter::binomial::step)
    },
    Collective {
        parameters: &["root"],
        ..row(Operation::Scatter, "linear", "a message from the root to each rank",
            scatter::linear::steps, scatter::linear::step)
    },
    Collective {
        parameters: &["root"],
        ..row(Operation::Gather, "binomial", "blocks up a binomial tree",
            gather::binomial::steps, gather::binomial::step)
    },
    Collective {
        parameters: &["root"],
        ..row(Operation::Gather, "linear", "a message from each rank to the root",
            gather::linear::steps, gather::linear::step)
    },
    row(Operation::Allgather, "ring", "blocks around the ring",
        allgather::ring::steps, allgather::ring::step),
    Collective {
        ranks: Ranks::PowerOfTwo { otherwise: "bruck" }, paper: THAKUR,
        ..row(Operation::Allgather, "recursive_doubling", "step k exchanges all with the rank that differs in bit k",
            allgather::recursive_doubling::steps, allgather::recursive_doubling::step)
    },
    Collective {
        parameters: &["radix"], paper: BRUCK,
        ..row(Operation::Allgather, "bruck", "round k gets what the ranks at the distances d * radix^k have",
            allgather::bruck::steps, allgather::bruck::step)
    },
    row(Operation::ReduceScatter, "ring", "partial sums around the ring",
        reduce_scatter::ring::steps, reduce_scatter::ring::step),
    Collective {
        paper: THAKUR,
        ..row(Operation::ReduceScatter, "recursive_halving", "halves exchange what belongs to the other half",
            reduce_scatter::recursive_halving::steps, reduce_scatter::recursive_halving::step)
    },
    Collective {
        in_order: ALWAYS, paper: THAKUR,
        ..row(Operation::ReduceScatter, "pairwise", "step i sends to me + i what is for it, one after the other",
            reduce_scatter::pairwise::steps, reduce_scatter::pairwise::step)
    },
    Collective {
        in_order: ALWAYS,
        ..row(Operation::ReduceScatter, "reduce_then_scatter", "a binomial reduction to rank 0, then a binomial scatter",
            reduce_scatter::reduce_then_scatter::steps, reduce_scatter::reduce_then_scatter::step)
    },
    Collective {
        parameters: &["root"], pieces: WHOLE, in_order: FROM_RANK_0,
        ..row(Operation::Reduce, "binomial", "whole sums up a binomial tree",
            reduce::binomial::steps, reduce::binomial::step)
    },
    Collective {
        parameters: &["root"], pieces: WHOLE, in_order: ALWAYS,
        ..row(Operation::Reduce, "linear", "a message from each rank to the root",
            reduce::linear::steps, reduce::linear::step)
    },
    Collective {
        parameters: &["root"], pieces: Some(reduce::rabenseifner::pieces), paper: "Rabenseifner, ICCS 2004",
        ..row(Operation::Reduce, "rabenseifner", "recursive halving, then a binomial gather",
            reduce::rabenseifner::steps, reduce::rabenseifner::step)
    },
    Collective {
        pieces: WHOLE, in_order: ALWAYS, paper: THAKUR,
        ..row(Operation::Allreduce, "recursive_doubling", "step k exchanges whole sums with the rank that differs in bit k",
            allreduce::recursive_doubling::steps, allreduce::recursive_doubling::step)
    },
    Collective {
        pieces: PIECE_A_RANK, paper: "Patarasuk, Yuan, JPDC 69 (2), 2009",
        ..row(Operation::Allreduce, "ring", "a ring reduce-scatter, then a ring allgather",
            allreduce::ring::steps, allreduce::ring::step)
    },
    Collective {
        pieces: Some(allreduce::rabenseifner::pieces), paper: "Rabenseifner, ICCS 2004",
        ..row(Operation::Allreduce, "rabenseifner", "recursive halving, then recursive doubling",
            allreduce::rabenseifner::steps, allreduce::rabenseifner::step)
    },
    Collective {
        pieces: WHOLE, in_order: ALWAYS,
        ..row(Operation::Allreduce, "reduce_broadcast", "a binomial reduction to rank 0, then a binomial broadcast",
            allreduce::reduce_broadcast::steps, allreduce::reduce_broadcast::step)
    },
    Collective {
        pieces: WHOLE, in_order: ALWAYS, paper: "Hillis, Steele, CACM 29 (12), 1986",
        ..row(Operation::Scan, "recursive_doubling", "step k hands the sum to the rank 2^k places on",
            scan::recursive_doubling::steps, scan::recursive_doubling::step)
    },
    Collective {
        pieces: WHOLE, in_order: ALWAYS,
        ..row(Operation::Scan, "linear", "the sum goes from rank to rank", scan::linear::steps, scan::linear::step)
    },
    Collective {
        parameters: &["radix"], pieces: WHOLE, paper: "Hensgen, Finkel, Manber, IJPP 17 (1), 1988",
        ..row(Operation::Barrier, "dissemination", "round k tells the ranks at the distances d * radix^k",
            barrier::dissemination::steps, barrier::dissemination::step)
    },
    Collective {
        pieces: WHOLE, in_order: ALWAYS,
        ..row(Operation::Barrier, "tree", "signals up a binomial tree to rank 0, and down again",
            barrier::tree::steps, barrier::tree::step)
    },
];

/// The algorithm called `name` for an operation; the error names those that there are.
pub fn find(operation: Operation, name: &str) -> Result<&'static Collective> {
    let of_operation = || COLLECTIVES.iter().filter(|row| row.operation == operation);
    if let Some(row) = of_operation().find(|row| row.name == name) {
        return Ok(row);
    }
    let names: Vec<&'static str> = of_operation().map(|row| row.name).collect();
    let expected = format!("an algorithm for {}: {}", operation.name(), names.join(", "));
    Err(Error::unknown(name, expected, names))
}

impl Collective {
    /// Whether the algorithm is defined for these ranks and parameters.
    ///
    /// # Errors
    /// [`Error`] names what is not, and what to take instead.
    pub fn check(&self, world: &World) -> Result<()> {
        let &World { ranks, root, radix, .. } = world;
        if ranks < 2 {
            let hint = "use a larger network, or more host.ranks_per_terminal";
            return Err(Error::config("workload", format!("{ranks} rank"), "at least 2 ranks", hint));
        }
        match self.ranks {
            Ranks::PowerOfTwo { otherwise } if !ranks.is_power_of_two() => {
                let expected =
                    format!("another algorithm for {ranks} ranks: {} is defined for a power of two", self.name);
                return Err(Error::config("workload.algorithm", self.name, expected, format!("use {otherwise}")));
            }
            Ranks::OfGrid { otherwise } if world.destinations.as_ref().is_none_or(|all| all.ranks() != ranks) => {
                let expected = format!("another algorithm: {} is defined for {}", self.name, self.ranks.in_words());
                return Err(Error::config("workload.algorithm", self.name, expected, format!("use {otherwise}")));
            }
            Ranks::PowerOfTwo { .. } | Ranks::OfGrid { .. } | Ranks::Any => {}
        }
        if root >= ranks {
            return Err(Error::config("workload.root", root, format!("a rank, 0 to {}", ranks - 1), ""));
        }
        if radix < 2 {
            return Err(Error::config("workload.radix", radix, "at least 2", "2 has the fewest messages in all"));
        }
        self.needs.map_or(Ok(()), |needs| (needs.check)(world))
    }

    /// What a world of these ranks needs to know beyond them: the destinations of algorithms that go by the coordinates
    /// of a grid, where `grid` has one rank at each router.
    ///
    /// # Errors
    /// As [`Destinations::of`].
    pub fn destinations(&self, grid: Option<&RankGrid>) -> Result<Option<Arc<Destinations>>> {
        match (self.ranks, grid) {
            (Ranks::OfGrid { .. }, Some(grid)) => Ok(Some(Arc::new(Destinations::of(self.name, grid)?))),
            _ => Ok(None),
        }
    }

    /// The operation whose promise it keeps: its own, but an allgather where blocks are [`BlockReading::Doubling`].
    pub fn promises(&self, world: &World) -> Operation {
        let doubles = self.parameters.contains(&"blocks") && world.blocks == BlockReading::Doubling;
        if doubles { Operation::Allgather } else { self.operation }
    }

    /// For which worlds it is defined, in words.
    pub fn defined_on(&self) -> &'static str {
        self.needs.map_or(self.ranks.in_words(), |needs| needs.in_words)
    }

    /// What of its world it goes by, in a word.
    pub fn goes_by(&self) -> &'static str {
        match self.ranks {
            _ if self.knows_servers => "servers",
            Ranks::OfGrid { .. } => "coordinates",
            Ranks::Any | Ranks::PowerOfTwo { .. } => "ranks",
        }
    }

    /// How many pieces or blocks data consists of where they are numbered by one number.
    pub fn pieces(&self, world: &World) -> u32 {
        self.pieces.map_or(world.ranks, |pieces| pieces(world))
    }
}
