//! The flattened butterfly or k-ary n-flat: J. Kim, W. J. Dally and D. Abts, "Flattened butterfly: a cost-efficient
//! topology for high-radix networks", ISCA 2007.
//!
//! The routers in a row of a k-ary n-fly become one router: `k^(n-1)` routers in `n - 1` dimensions, each with k
//! terminals and a cable to every router that differs from it in one dimension. It is a [`HyperX`] of equal sizes.

use super::cables::{MOST_PORTS, most_routers, refuse};
use super::hyperx::MOST_DIMENSIONS;
use super::kind::Topology;
use super::{Fabric, HyperX};
use crate::error::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A k-ary n-flat: a flattened butterfly of `n - 1` dimensions of k routers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlattenedButterfly {
    /// Routers along each dimension, k: 2 to 64. A router has at most 64 ports, with those of its terminals.
    #[schemars(range(min = 2, max = MOST_PORTS))]
    pub k: u32,
    /// Stages of the butterfly that is flattened, n: 2 to 18. There are `n - 1` dimensions and `k^(n-1)` routers.
    #[schemars(range(min = 2, max = MOST_DIMENSIONS + 1))]
    pub n: u32,
    /// Terminals at each router, at least 1. Default: k.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1))]
    pub terminals_per_router: Option<u32>,
}

impl Topology for FlattenedButterfly {
    fn fabric(&self) -> Result<Fabric> {
        let &FlattenedButterfly { k, n, terminals_per_router } = self;
        if !(2..=MOST_DIMENSIONS as u32 + 1).contains(&n) {
            return refuse("n", n, format!("2 to {} stages", MOST_DIMENSIONS + 1), "");
        }
        let terminals = terminals_per_router.unwrap_or(k);
        // Whether there is room for the terminals: for one if their number is said, which is looked at next.
        let fits = |k: u32| {
            let channels = (n - 1) * (k - 1);
            let room = channels + if terminals_per_router.is_some() { 1 } else { k } <= MOST_PORTS;
            room && u64::from(k).pow(n - 1) <= u64::from(most_routers(channels))
        };
        // Large numbers are not raised to powers.
        let most = (2..=MOST_PORTS).take_while(|&k| fits(k)).last().unwrap_or(1);
        if !(2..=most).contains(&k) {
            let expected = format!("2 to {most}: a router has at most {MOST_PORTS} ports, and a network 2^22 channels");
            return refuse("k", k, expected, "use a smaller k or n");
        }
        let size = vec![k; n as usize - 1];
        HyperX { size, width: Vec::new(), terminals_per_router: terminals }.fabric()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(k: u32, n: u32, terminals_per_router: Option<u32>) -> Result<Fabric> {
        FlattenedButterfly { k, n, terminals_per_router }.fabric()
    }

    #[test]
    fn its_size_follows_from_k_and_n() {
        for (k, n) in [(2, 2), (4, 2), (2, 4), (3, 3), (32, 2), (16, 3), (2, 18)] {
            let fabric = flat(k, n, None).unwrap();
            assert_eq!((fabric.routers(), fabric.terminals()), (k.pow(n - 1), k.pow(n)), "{k}-ary {n}-flat");
            assert_eq!(fabric.network_ports() as u32, (n - 1) * (k - 1));
        }
        assert_eq!(flat(3, 3, Some(1)).unwrap().terminals(), 9);
    }

    #[test]
    fn numbers_that_make_no_network_are_named() {
        let refused = |k, n, terminals| flat(k, n, terminals).unwrap_err().to_string();
        for (error, expected) in [
            (refused(1, 2, None), "k = 1: expected 2 to 32"),
            (refused(33, 2, None), "k = 33: expected 2 to 32"),
            (refused(65, 2, Some(1)), "k = 65: expected 2 to 64"),
            (refused(u32::MAX, 18, None), "k = 4294967295: expected 2 to 2"),
            (refused(0, 3, None), "k = 0: expected 2 to 22"),
            (refused(4, 1, None), "n = 1: expected 2 to 18 stages"),
            (refused(4, u32::MAX, None), "n = 4294967295: expected 2 to 18 stages"),
            (refused(4, 3, Some(59)), "terminals_per_router = 59: expected 1 to 58"),
            (refused(4, 3, Some(0)), "terminals_per_router = 0: expected 1 to 58"),
        ] {
            assert!(error.starts_with(&format!("network.topology.{expected}")), "{error}");
        }
    }
}
