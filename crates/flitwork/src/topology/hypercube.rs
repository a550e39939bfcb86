//! The hypercube or binary n-cube: `2^n` routers, each with a cable to every router whose number differs in one bit.
//!
//! It is a mesh of two routers in each dimension, so everything that works on meshes works here. Dimension-order
//! routing is the e-cube routing of H. Sullivan and T. R. Bashkow, "A large scale, homogeneous, fully distributed
//! parallel machine", ISCA 1977.

use super::cables::refuse;
use super::kind::{Topology, one};
use super::{Fabric, Grid, MAX_DIMS};
use crate::error::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A hypercube: routers whose numbers differ in one bit are joined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hypercube {
    /// Dimensions, n: 1 to 6. There are `2^n` routers. For more dimensions use `hyperx` with `size = [2, 2, ...]`.
    #[schemars(range(min = 1, max = MAX_DIMS))]
    pub dimensions: u32,
    /// Terminals at each router, at least 1. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub terminals_per_router: u32,
}

impl Topology for Hypercube {
    fn fabric(&self) -> Result<Fabric> {
        let dimensions = self.dimensions;
        if !(1..=MAX_DIMS as u32).contains(&dimensions) {
            let hint = "for more dimensions use hyperx with size = [2, 2, ...]";
            return refuse("dimensions", dimensions, format!("1 to {MAX_DIMS} dimensions"), hint);
        }
        Fabric::of_grid(Grid::mesh(&vec![2; dimensions as usize]), self.terminals_per_router)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_differ_in_one_bit() {
        for dimensions in 1..=MAX_DIMS as u32 {
            let fabric = Hypercube { dimensions, terminals_per_router: 3 }.fabric().unwrap();
            assert_eq!((fabric.routers(), fabric.terminals()), (1 << dimensions, 3 << dimensions));
            for router in 0..fabric.routers() {
                let peers = (0..fabric.network_ports()).filter_map(|port| fabric.peer(router, port));
                let bits: Vec<u32> = peers.map(|(far, _)| far ^ router).collect();
                assert_eq!(bits, (0..dimensions).map(|d| 1 << d).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_number_that_makes_no_hypercube_is_named() {
        let refused = |dimensions, terminals_per_router| {
            Hypercube { dimensions, terminals_per_router }.fabric().unwrap_err().to_string()
        };
        for (error, expected) in [
            (refused(0, 1), "network.topology.dimensions = 0: expected 1 to 6 dimensions"),
            (refused(7, 1), "network.topology.dimensions = 7: expected 1 to 6 dimensions"),
            (refused(u32::MAX, 1), "network.topology.dimensions = 4294967295: expected 1 to 6"),
            (refused(6, 0), "network.topology.terminals_per_router = 0: expected 1 to 52"),
            (refused(6, 53), "network.topology.terminals_per_router = 53: expected 1 to 52"),
        ] {
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
