//! Valiant's routing of any network: a shortest path to a random router with terminals, and another one on from there.
//!
//! L. G. Valiant, "A scheme for fast parallel communication", SIAM J. Computing 11(2), 1982. The intermediate router
//! may be that of the source or of the destination; every pattern loads the channels at most like two times uniform
//! traffic.
//!
//! Paths are the lowest ports on shortest paths where these cannot deadlock, as on a HyperX, where they walk the
//! dimensions in order; elsewhere those of LASH, in its layers. Each walk has a set of virtual channels for every
//! layer, and a packet never returns from the sets of its second walk to those of the first.

use super::Routing;
use super::hop_by_hop::{At, Head, HopByHop};
use super::kind::{AnyOptions, Network};
use super::lash::Lash;
use super::port_table::{at_work, check, with_terminals};
use super::scheme::{Choice, Division, MOST_SETS, Trip};
use crate::error::Result;
use crate::mix::{draw_below, mix};
use crate::topology::{End, Fabric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Options of Valiant's routing of any network: none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphValiantOptions {}

impl AnyOptions for GraphValiantOptions {
    fn resolve(&mut self, network: &Network) -> Result<()> {
        check(network.fabric)
    }

    fn routing(&self, network: &Network) -> Result<Routing> {
        Ok(at_work(network.fabric, GraphValiant::new(network.fabric)?))
    }

    fn representative(&self, _network: &Network, _level: usize) -> Option<(Fabric, Arc<dyn HopByHop>)> {
        None
    }
}

/// The walk of a packet to its intermediate router.
const FIRST: u8 = 0;
/// Its walk to the destination.
const SECOND: u8 = 1;

/// Two shortest paths. The label of a packet is the set of its walk, its mode which of the two walks it is on.
#[derive(Debug)]
pub struct GraphValiant {
    paths: Lash,
    /// Routers with terminals, ascending.
    ends: Vec<u32>,
}

impl GraphValiant {
    /// For a network in which all routers with terminals are joined.
    ///
    /// # Errors
    /// More layers of paths than there are numbers for.
    pub fn new(fabric: &Fabric) -> Result<Self> {
        let paths = Lash::fewest_layers(fabric)?;
        let most = MOST_SETS / 2;
        if u32::from(paths.layers()) > most {
            return Err(fabric.too_large(format!("paths that need at most {most} layers"), ""));
        }
        Ok(GraphValiant { paths, ends: with_terminals(fabric).collect() })
    }

    /// The intermediate router that `bits` draw.
    pub(super) fn draw(&self, bits: u64) -> u32 {
        self.ends[draw_below(mix(bits), self.ends.len() as u64) as usize]
    }

    /// The set of a walk.
    pub(super) fn set(&self, walk: u8, from: u32, to: u32) -> u8 {
        walk * self.paths.layers() + self.paths.layer(from, to)
    }

    /// A packet on its way to the intermediate router.
    pub(super) fn first(&self, via: u32, set: u8) -> Head {
        Head { to: via, label: set.into(), trip: Trip { mode: FIRST, ..Trip::default() } }
    }

    /// A packet that goes to its destination in a set.
    pub(super) fn straight(&self, dst: u32, set: u8) -> Head {
        Head { to: dst, label: set.into(), trip: Trip { mode: SECOND, ..Trip::default() } }
    }

    /// The port of `router` on the way to another one with terminals.
    pub(super) fn port(&self, router: u32, to: u32) -> Option<u8> {
        self.paths.next(router, to)
    }
}

impl HopByHop for GraphValiant {
    fn division(&self) -> Division {
        Division::Equal(2 * self.paths.layers())
    }

    fn start(&self, src: End, dst: End, bits: u64) -> Head {
        let via = self.draw(bits);
        let mut head = self.first(via, self.set(FIRST, src.router, via));
        self.enter(src.router, dst.router, &mut head, &|| bits);
        head
    }

    fn starts(&self, src: u32, dst: u32) -> Vec<Head> {
        vec![self.straight(dst, self.set(SECOND, src, dst))]
    }

    fn turns_anywhere(&self) -> bool {
        true
    }

    fn first_walks(&self, src: u32, via: u32) -> Vec<Head> {
        match self.ends.binary_search(&via) {
            Ok(_) => vec![self.first(via, self.set(FIRST, src, via))],
            Err(_) => Vec::new(),
        }
    }

    fn forget(&self, at: &mut At, head: &mut Head) {
        (at.port, at.set) = (None, None);
        if head.trip.mode == FIRST && at.router == head.to {
            head.label = 0;
        }
    }

    fn enter(&self, at: u32, dst: u32, head: &mut Head, _bits: &dyn Fn() -> u64) {
        if head.trip.mode == FIRST && head.to == at {
            *head = self.straight(dst, self.set(SECOND, at, dst));
        }
    }

    fn choice(&self, at: &At, head: &Head) -> Choice {
        let ports = self.port(at.router, head.to).map_or(0, |port| 1 << port);
        Choice { ports, set: head.label as u8, ..Choice::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::{Buffers, Finding, find_cycle};
    use crate::topology::{random, ring};

    #[test]
    fn no_packets_wait_for_each_other_in_a_cycle() {
        for fabric in [ring(3), ring(8)].into_iter().chain((0..40).map(random)) {
            let routing = GraphValiant::new(&fabric).unwrap();
            assert_eq!(find_cycle(&fabric, &routing, Buffers::Shared, false), Finding::Free);
        }
    }

    #[test]
    fn packets_turn_at_every_router_with_terminals_and_arrive() {
        for fabric in (0..20).map(random) {
            let routing = Routing::HopByHop(Arc::new(GraphValiant::new(&fabric).unwrap()));
            let n = fabric.terminals();
            let mut longest = 0;
            for (src, dst) in (0..n).flat_map(|src| (0..n).map(move |dst| (src, dst))) {
                let (from, to) = (fabric.end(src), fabric.end(dst));
                for bits in 0..20 {
                    let path = routing.path(&fabric, from, to, bits);
                    let last = path.last().map_or(from.router, |&(at, port, _)| fabric.peer(at, port).unwrap().0);
                    assert_eq!(last, to.router);
                    assert!(path.is_sorted_by_key(|hop| hop.2), "{path:?}");
                    longest = longest.max(path.len());
                }
            }
            assert!(n < 2 || longest > 0);
        }
    }
}
