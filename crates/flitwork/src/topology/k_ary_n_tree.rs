//! The k-ary n-tree: F. Petrini and M. Vanneschi, "k-ary n-trees: high performance networks for massively parallel
//! architectures", IPPS 1997. It is XGFT(n; k, ..., k; 1, k, ..., k): `k^n` terminals, `n` levels of `k^(n-1)` routers,
//! and as much bandwidth on every level as the terminals have.

use super::kind::Topology;
use super::tree::{MOST_LEVELS, MOST_PORTS};
use super::{Fabric, Tree};
use crate::error::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A k-ary n-tree: every router has k children and, below the top, k parents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KAryNTree {
    /// Children of each router, and parents of each below the top: 1 to 32, to 64 where there is one level.
    #[schemars(range(min = 1, max = MOST_PORTS))]
    pub k: u32,
    /// Levels of routers, n: 1 to 16. There are `k^n` terminals, at most 2^20.
    #[schemars(range(min = 1, max = MOST_LEVELS))]
    pub levels: u32,
}

impl Topology for KAryNTree {
    fn fabric(&self) -> Result<Fabric> {
        let &KAryNTree { k, levels } = self;
        if !(1..=MOST_LEVELS as u32).contains(&levels) {
            let expected = format!("1 to {MOST_LEVELS} levels");
            return Err(Error::config("network.topology.levels", levels, expected, ""));
        }
        let most = if levels == 1 { MOST_PORTS } else { MOST_PORTS / 2 };
        if !(1..=most).contains(&u64::from(k)) {
            let expected = format!("1 to {most}: a router has at most {MOST_PORTS} ports");
            return Err(Error::config("network.topology.k", k, expected, ""));
        }
        let parents: Vec<u32> = std::iter::once(1).chain(std::iter::repeat(k)).take(levels as usize).collect();
        let tree = Tree::checked(&vec![k; levels as usize], &parents).map_err(|_| {
            let (value, expected) = (format!("{levels} with k = {k}"), "at most 2^20 terminals, and 2^23 ports in all");
            Error::config("network.topology.levels", value, expected, "use fewer levels, or a smaller k")
        })?;
        tree.fabric()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_size_follows_from_k_and_n() {
        for (k, levels) in [(4, 2), (2, 4), (3, 3), (1, 2), (7, 1)] {
            let fabric = KAryNTree { k, levels }.fabric().unwrap();
            assert_eq!(fabric.terminals(), k.pow(levels));
            assert_eq!(fabric.routers(), levels * k.pow(levels - 1));
            assert_eq!(fabric.channels().count() as u32, 2 * (levels - 1) * k.pow(levels));
        }
    }

    #[test]
    fn numbers_that_make_no_tree_are_named() {
        let refused = |k, levels| KAryNTree { k, levels }.fabric().unwrap_err().to_string();
        assert!(refused(0, 2).starts_with("network.topology.k = 0: expected 1 to 32"), "{}", refused(0, 2));
        assert!(refused(33, 2).starts_with("network.topology.k = 33: expected 1 to 32"));
        assert!(refused(65, 1).starts_with("network.topology.k = 65: expected 1 to 64"));
        assert!(refused(4, 0).starts_with("network.topology.levels = 0: expected 1 to 16 levels"));
        assert!(refused(32, 5).starts_with("network.topology.levels = 5 with k = 32: expected at most 2^20 terminals"));
    }
}
