//! The table of algorithms: a file and a row each.

use super::all_to_all::{bruck, butterfly, pairwise_shift, pairwise_xor, simple_spread};
use super::operation::Operation;
use super::step::Step;
use super::world::{BlockReading, World};
use super::{allgather, allreduce, barrier, broadcast, gather, reduce, reduce_scatter, scatter};
use crate::error::{Error, Result, did_you_mean};

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
}

/// An algorithm for a collective operation: a row of [`COLLECTIVES`].
#[derive(Debug, Clone, Copy)]
pub struct Collective {
    /// What it does.
    pub operation: Operation,
    /// Name in configurations and tables; unique within its operation.
    pub name: &'static str,
    /// How it does it, in one line.
    pub summary: &'static str,
    /// The fields of a specification that it takes besides the length of messages.
    pub parameters: &'static [&'static str],
    /// For which numbers of ranks it is defined.
    pub ranks: Ranks,
    /// Where it was published; empty for common knowledge.
    pub paper: &'static str,
    /// Into how many pieces it cuts a vector; nothing where blocks are not cut.
    pub pieces: Option<fn(&World) -> u32>,
    /// Number of steps.
    pub steps: fn(&World) -> u32,
    /// What a rank does in a step.
    pub step: fn(&World, u32, u32) -> Step,
}

const BRUCK: &str = "Bruck et al., IEEE TPDS 8 (11), 1997";
const THAKUR: &str = "Thakur, Rabenseifner, Gropp, IJHPCA 19 (1), 2005";
const WHOLE: Option<fn(&World) -> u32> = Some(|_| 1);
const PIECE_A_RANK: Option<fn(&World) -> u32> = Some(|world| world.ranks);

/// A row with the usual values of what most rows share.
const fn row(
    operation: Operation,
    name: &'static str,
    summary: &'static str,
    steps: fn(&World) -> u32,
    step: fn(&World, u32, u32) -> Step,
) -> Collective {
    Collective { operation, name, summary, parameters: &[], ranks: Ranks::Any, paper: "", pieces: None, steps, step }
}

/// All algorithms, by operation.
#[rustfmt::skip]
pub static COLLECTIVES: &[Collective] = &[
    Collective {
        parameters: &["sizes"], ranks: Ranks::PowerOfTwo { otherwise: "pairwise_shift" },
        ..row(Operation::AllToAll, "pairwise_xor", "step i exchanges with rank me XOR i, one after the other",
            pairwise_xor::steps, pairwise_xor::step)
    },
    Collective {
        parameters: &["sizes"],
        ..row(Operation::AllToAll, "pairwise_shift",
            "ring: step i sends to me + i and receives from me - i, one after the other",
            pairwise_shift::steps, pairwise_shift::step)
    },
    Collective {
        parameters: &["sizes"], paper: "Takaue et al., IPSJ SIG Technical Report 2010-HPC-126 (15), 2010",
        ..row(Operation::AllToAll, "simple_spread", "all messages posted at once, to me + 1 first",
            pairwise_shift::steps, simple_spread::step)
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
        parameters: &["root"], pieces: WHOLE,
        ..row(Operation::Reduce, "binomial", "whole sums up a binomial tree",
            reduce::binomial::steps, reduce::binomial::step)
    },
    Collective {
        pieces: WHOLE, paper: THAKUR,
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
        parameters: &["radix"], pieces: WHOLE, paper: "Hensgen, Finkel, Manber, IJPP 17 (1), 1988",
        ..row(Operation::Barrier, "dissemination", "round k tells the ranks at the distances d * radix^k",
            barrier::dissemination::steps, barrier::dissemination::step)
    },
];

/// The algorithm called `name` for an operation; the error names those that there are.
pub fn find(operation: Operation, name: &str) -> Result<&'static Collective> {
    let of_operation = || COLLECTIVES.iter().filter(|row| row.operation == operation);
    if let Some(row) = of_operation().find(|row| row.name == name) {
        return Ok(row);
    }
    let names: Vec<&str> = of_operation().map(|row| row.name).collect();
    let hint = did_you_mean(&name.to_lowercase(), &names);
    let expected = format!("an algorithm for {}: {}", operation.name(), names.join(", "));
    Err(Error::config("workload.algorithm", name, expected, hint))
}

impl Collective {
    /// Whether it is defined for these ranks and parameters.
    ///
    /// # Errors
    /// [`Error::Config`] names what is not, and what to take instead.
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
            Ranks::PowerOfTwo { .. } | Ranks::Any => {}
        }
        if root >= ranks {
            return Err(Error::config("workload.root", root, format!("a rank, 0 to {}", ranks - 1), ""));
        }
        if radix < 2 {
            return Err(Error::config("workload.radix", radix, "at least 2", "2 has the fewest messages in all"));
        }
        Ok(())
    }

    /// The operation whose promise it keeps: its own, but an allgather where blocks are [`BlockReading::Doubling`].
    pub fn promises(&self, world: &World) -> Operation {
        let doubles = self.parameters.contains(&"blocks") && world.blocks == BlockReading::Doubling;
        if doubles { Operation::Allgather } else { self.operation }
    }

    /// How many pieces or blocks data consists of where they are numbered by one number.
    pub(super) fn pieces(&self, world: &World) -> u32 {
        self.pieces.map_or(world.ranks, |pieces| pieces(world))
    }
}
