//! All-to-all: every rank sends one message to every other, in the order of a named algorithm.
//!
//! An algorithm is one row of [`ALGORITHMS`]: all it says is in which order a rank addresses the others, relative to
//! itself. The order is the same on every rank, so the messages of one index move every rank's data by the same vector.
//!
//! The all-to-alls that are step functions of the rank (pairwise exchange, Bruck, butterfly) or of the rank and its
//! server stand beside them, a file each; their rows are in [`super::COLLECTIVES`].

mod a2and;
mod a2at;
pub(super) mod aggregation;
pub(super) mod birkhoff;
pub(super) mod bruck;
pub(super) mod butterfly;
pub(super) mod by_number;
pub(super) mod coordinates;
pub(super) mod hierarchical;
pub(super) mod multi_leader;
pub(super) mod node_aware;
pub(super) mod pairwise_shift;
pub(super) mod pairwise_xor;
pub(super) mod simple_spread;
pub(super) mod two_level_ring;
mod within;
pub(super) mod xor_spread;

pub use coordinates::Destinations;

use crate::error::Error;
use crate::{MAX_DIMS, RankGrid};

/// Destination relative to the sender, one signed coordinate a dimension \[hops], 0 past the last: coordinate `d` of
/// the destination is `(own + offset[d]) mod size[d]`, on a mesh too.
pub type Offset = [i32; MAX_DIMS];

/// Order in which a rank addresses the others.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Order {
    /// Rank `me + offset` modulo the number of ranks.
    Ranks(Vec<u32>),
    /// Relative coordinates.
    Coordinates(Vec<Offset>),
}

impl Order {
    /// How many ranks are addressed.
    fn len(&self) -> usize {
        match self {
            Order::Ranks(offsets) => offsets.len(),
            Order::Coordinates(offsets) => offsets.len(),
        }
    }
}

/// An algorithm for all-to-all.
#[derive(Debug)]
pub struct Algorithm {
    /// Name in configurations and tables.
    pub name: &'static str,
    /// What the algorithm does, in one line.
    pub summary: &'static str,
    /// Where the algorithm was published.
    pub paper: &'static str,
    /// The grids on which the algorithm is defined, in words.
    pub defined_on: &'static str,
    is_defined_on: fn(&RankGrid) -> bool,
    order: fn(&RankGrid) -> Order,
}

/// All algorithms, by name.
pub static ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "a2a",
        summary: "SimpleSpread: rank me + 1, me + 2, ...",
        paper: "Takaue et al., IPSJ SIG Technical Report 2010-HPC-126 (15), 2010, section 2.1",
        defined_on: "any grid of at least 2 routers",
        is_defined_on: at_least_two,
        order: |grid| Order::Ranks(simple_spread::order(grid.ranks())),
    },
    Algorithm {
        name: "a2and",
        summary: "the relative coordinates counted up, last dimension fastest",
        paper: "Takaue et al., IPSJ SIG Technical Report 2010-HPC-126 (15), 2010, section 2.2",
        defined_on: "any grid of at least 2 routers",
        is_defined_on: at_least_two,
        order: |grid| Order::Coordinates(a2and::order(grid.sizes())),
    },
    Algorithm {
        name: "a2and_x_inner",
        summary: "the same with the loops inside out: first dimension fastest",
        paper: "another reading of Takaue et al., IPSJ SIG Technical Report 2010-HPC-126 (15), 2010, section 2.2",
        defined_on: "any grid of at least 2 routers",
        is_defined_on: at_least_two,
        order: |grid| Order::Coordinates(a2and::inside_out(grid.sizes())),
    },
    Algorithm {
        name: "a2at",
        summary: "vectors that load all channels equally, one symmetric orbit after the other",
        paper: "Takaue et al., IPSJ SIG Technical Report 2010-HPC-126 (15), 2010, section 2.3 (odd squares); generalised here",
        defined_on: "any grid of at least 2 routers",
        is_defined_on: at_least_two,
        order: |grid| Order::Coordinates(a2at::order(grid)),
    },
];

fn at_least_two(grid: &RankGrid) -> bool {
    grid.ranks() >= 2
}

/// Whether algorithm `name` counts ranks alone and knows nothing of the network.
pub fn goes_by_rank(name: &str) -> Result<bool, Error> {
    Ok(matches!(find(name)?.order_on(&RankGrid::mesh(&[2]))?, Order::Ranks(_)))
}

/// The destinations of algorithm `name` relative to the sender, in the order in which they are addressed.
///
/// `a2a` counts ranks, not coordinates; on a grid of more than one dimension it has no such vectors and is refused.
pub fn relative_order(name: &str, grid: &RankGrid) -> Result<Vec<Offset>, Error> {
    match find(name)?.order_on(grid)? {
        Order::Coordinates(offsets) => Ok(offsets),
        Order::Ranks(offsets) => match (0..grid.dims()).filter(|&d| grid.size(d) > 1).collect::<Vec<_>>()[..] {
            [d] => Ok(offsets
                .iter()
                .map(|&o| {
                    let mut v = [0; MAX_DIMS];
                    v[d] = o as i32;
                    v
                })
                .collect()),
            _ => Err(Error::config(
                "workload.algorithm",
                name,
                "an algorithm that addresses by relative coordinates",
                "a2and and a2at do; a2a addresses by rank",
            )),
        },
    }
}

impl Algorithm {
    fn order_on(&self, grid: &RankGrid) -> Result<Order, Error> {
        if (self.is_defined_on)(grid) {
            return Ok((self.order)(grid));
        }
        let sizes: Vec<String> = grid.sizes().iter().map(u32::to_string).collect();
        let expected = format!("{} for {}", self.defined_on, self.name);
        Err(Error::config("network.topology.size", sizes.join("x"), expected, ""))
    }
}

/// The algorithm called `name`; the error suggests the nearest name.
pub fn find(name: &str) -> Result<&'static Algorithm, Error> {
    if let Some(algorithm) = ALGORITHMS.iter().find(|a| a.name == name) {
        return Ok(algorithm);
    }
    let names: Vec<&'static str> = ALGORITHMS.iter().map(|a| a.name).collect();
    Err(Error::unknown(name, format!("one of {}", names.join(", ")), names))
}

#[cfg(test)]
mod tests;
