//! Valiant's routing of any network: a shortest path to a random router with terminals, and another one on from there.
//!
//! L. G. Valiant, "A scheme for fast parallel communication", SIAM J. Computing 11(2), 1982. The intermediate router
//! may be that of the source or of the destination; every pattern loads the channels at most like two times uniform
//! traffic.
//!
//! Paths are the lowest ports on shortest paths where these cannot deadlock, as on a HyperX, where they walk the
//! dimensions in order; elsewhere those of LASH, in its layers. Each walk has a set of virtual channels for every
//! layer, and a packet never returns from the sets of its second walk to those of the first. Where the layers are more
//! than the channels of the longest path, as on large random networks, there is a set for each channel walked instead,
//! as under [`super::HopClassesOptions`].

use super::Routing;
use super::hop_by_hop::{At, Head, HopByHop};
use super::kind::{AnyOptions, Network};
use super::lash::Lash;
use super::port_table::{PortTable, at_work, check, longest_path, with_terminals};
use super::scheme::{Choice, Division, MOST_SETS, Trip};
use super::{Buffers, Finding, find_cycle};
use crate::error::Result;
use crate::mix::{draw_below, mix};
use crate::topology::{End, Fabric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
}

/// The walk of a packet to its intermediate router.
const FIRST: u8 = 0;
/// Its walk to the destination.
const SECOND: u8 = 1;

/// The paths of both walks, and what keeps them free of deadlock.
#[derive(Debug)]
enum Paths {
    /// Pairs of routers in layers.
    Layers(Lash),
    /// A set for each channel walked, of at most so many a walk.
    Hops(PortTable, u8),
}

impl Paths {
    /// Those with the fewest sets.
    fn of(fabric: &Fabric) -> Result<Self> {
        let table = PortTable::shortest(fabric);
        if find_cycle(fabric, &table, Buffers::Shared, false) == Finding::Free {
            return Ok(Paths::Layers(Lash::in_one_layer(fabric, table)));
        }
        let (hops, most) = (longest_path(fabric), MOST_SETS / 2);
        match Lash::within(fabric, hops.min(most)) {
            Some(lash) => Ok(Paths::Layers(lash)),
            None if hops <= most => Ok(Paths::Hops(PortTable::balanced(fabric), hops as u8)),
            None => Err(fabric.too_large(format!("shortest paths of at most {most} channels"), "")),
        }
    }

    /// Sets of a walk.
    fn sets(&self) -> u8 {
        match self {
            Paths::Layers(lash) => lash.layers(),
            Paths::Hops(_, sets) => *sets,
        }
    }
}

/// Two shortest paths. The label of a packet is the set of its walk, or the first one of it; its mode which of the two
/// walks it is on.
#[derive(Debug)]
pub struct GraphValiant {
    paths: Paths,
    /// Routers with terminals, ascending.
    ends: Vec<u32>,
}

impl GraphValiant {
    /// For a network in which all routers with terminals are joined.
    ///
    /// # Errors
    /// Paths that need more sets than there are numbers for.
    pub fn new(fabric: &Fabric) -> Result<Self> {
        Ok(GraphValiant { paths: Paths::of(fabric)?, ends: with_terminals(fabric).collect() })
    }

    /// The intermediate router that `bits` draw.
    pub(super) fn draw(&self, bits: u64) -> u32 {
        self.ends[draw_below(mix(bits), self.ends.len() as u64) as usize]
    }

    /// The set of a walk, or the first one of it.
    pub(super) fn set(&self, walk: u8, from: u32, to: u32) -> u8 {
        let within = match &self.paths {
            Paths::Layers(lash) => lash.layer(from, to),
            Paths::Hops(..) => 0,
        };
        walk * self.paths.sets() + within
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
        match &self.paths {
            Paths::Layers(lash) => lash.next(router, to),
            Paths::Hops(table, _) => table.next(router, to),
        }
    }
}

impl HopByHop for GraphValiant {
    fn division(&self) -> Division {
        Division::Equal(2 * self.paths.sets())
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
        let by_hops = matches!(self.paths, Paths::Hops(..));
        if head.trip.mode == FIRST && at.router == head.to || by_hops && at.set.is_some() {
            head.label = 0;
        }
        at.port = at.port.filter(|_| by_hops).map(|_| 0);
        at.set = at.set.filter(|_| by_hops);
    }

    fn enter(&self, at: u32, dst: u32, head: &mut Head, _bits: &dyn Fn() -> u64) {
        if head.trip.mode == FIRST && head.to == at {
            *head = self.straight(dst, self.set(SECOND, at, dst));
        }
    }

    fn choice(&self, at: &At, head: &Head) -> Choice {
        let ports = self.port(at.router, head.to).map_or(0, |port| 1 << port);
        let set = match (&self.paths, at.set) {
            (Paths::Hops(_, sets), Some(before)) => (before + 1).min(2 * sets - 1),
            _ => head.label as u8,
        };
        Choice { ports, set, ..Choice::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::{Buffers, Finding, find_cycle};
    use crate::topology::{random, ring};
    use std::sync::Arc;

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
