//! A shortest path on any network, with a set of virtual channels for each channel walked: a packet uses set `k` on its
//! channel number `k`, from 0.
//!
//! P. M. Merlin and P. J. Schweitzer, "Deadlock avoidance in store-and-forward networks - I", IEEE Trans.
//! Communications 28(3), 1980. Each dependency leads to a higher set, so no cycle can close on any network. There are
//! as many sets as the longest route has channels. Of several shortest paths a packet takes one over little used
//! channels ([`PortTable::balanced`]). On a grid it is [`super::StructuredPoolOptions`] that does the same in dimension
//! order.

use super::hop_by_hop::{At, Head, HopByHop, Rank};
use super::kind::{AnyOptions, Network};
use super::port_table::{at_work, check, longest_path};
use super::scheme::{Choice, Division, MOST_SETS, too_long};
use super::{PortTable, Routing};
use crate::error::Result;
use crate::topology::{End, Fabric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of shortest paths with classes by hops: none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HopClassesOptions {}

impl AnyOptions for HopClassesOptions {
    fn resolve(&mut self, network: &Network) -> Result<()> {
        check(network.fabric)?;
        match longest_path(network.fabric) {
            hops if hops <= MOST_SETS => Ok(()),
            hops => Err(network.fabric.too_large(too_long(hops), "use a smaller network, or another routing")),
        }
    }

    fn routing(&self, network: &Network) -> Result<Routing> {
        Ok(at_work(network.fabric, HopClasses::new(network.fabric)))
    }
}

/// Shortest paths, buffers by channels walked.
#[derive(Debug)]
pub struct HopClasses {
    table: PortTable,
    sets: u8,
}

impl HopClasses {
    /// For a network whose longest route has at most 255 channels.
    pub fn new(fabric: &Fabric) -> Self {
        let sets = longest_path(fabric).clamp(1, MOST_SETS) as u8;
        HopClasses { table: PortTable::balanced(fabric), sets }
    }
}

impl HopByHop for HopClasses {
    fn division(&self) -> Division {
        Division::Equal(self.sets)
    }

    fn start(&self, src: End, dst: End, bits: u64) -> Head {
        self.table.start(src, dst, bits)
    }

    fn starts(&self, src: u32, dst: u32) -> Vec<Head> {
        self.table.starts(src, dst)
    }

    fn rank<'a>(&'a self, _fabric: &'a Fabric) -> Option<Box<Rank<'a>>> {
        Some(Box::new(|(_, _, set)| set.into()))
    }

    fn forget(&self, at: &mut At, _head: &mut Head) {
        at.port = at.port.map(|_| 0);
    }

    fn choice(&self, at: &At, head: &Head) -> Choice {
        let set = at.set.map_or(0, |set| set + 1).min(self.sets - 1);
        Choice { ports: self.table.next(at.router, head.to).map_or(0, |port| 1 << port), set, ..Choice::default() }
    }

    fn is_fixed(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::{Buffers, Finding, find_cycle};
    use crate::topology::ring;

    /// Where shortest paths alone can deadlock, a set for each channel walked keeps them free of it.
    #[test]
    fn a_ring_is_free_of_deadlock() {
        for n in [5, 8] {
            let fabric = ring(n);
            let routing = HopClasses::new(&fabric);
            assert_eq!(routing.division(), Division::Equal((n / 2) as u8));
            assert_eq!(find_cycle(&fabric, &routing, Buffers::Shared, false), Finding::Free);
            let Finding::Cycle(_) = find_cycle(&fabric, &PortTable::shortest(&fabric), Buffers::Shared, false) else {
                panic!("no cycle without sets")
            };
        }
    }

    #[test]
    fn a_route_that_is_too_long_is_named() {
        let error = HopClassesOptions {}.resolve(&Network { fabric: &ring(512) }).unwrap_err().to_string();
        assert!(
            error.contains("expected routes of at most 255 channels, a set of buffers each; these have 256"),
            "{error}"
        );
    }
}
