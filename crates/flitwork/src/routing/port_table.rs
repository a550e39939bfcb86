//! The next output port of every router for every destination, and the ways to fill such a table.
//!
//! All packets between two routers take the route of the table: [`PortTable::shortest`] has the lowest port on a
//! shortest path. [`PortTable::balanced`] has, of all shortest paths, those over the least used channels, as SSSP
//! routing does: T. Hoefler, T. Schneider and A. Lumsdaine, "Optimized routing for large-scale InfiniBand networks",
//! HOTI 2009. [`Spread`] deals the destinations out to the ports of each router alone.

use super::hop_by_hop::{At, Head, HopByHop};
use super::scheme::{Choice, Division, Trip};
use super::{AtSource, Routing};
use crate::error::{Error, Result};
use crate::topology::{End, Fabric};
use std::sync::Arc;

/// Most routers: the table has an entry for every pair.
pub(super) const MOST_ROUTERS: u32 = 16_384;

/// No port.
const NONE: u8 = u8::MAX;

/// The next port of every router for every destination router.
#[derive(Debug)]
pub struct PortTable {
    routers: u32,
    /// By `destination * routers + router`.
    ports: Vec<u8>,
}

impl PortTable {
    /// A table without ports.
    pub(super) fn empty(routers: u32) -> Self {
        PortTable { routers, ports: vec![NONE; routers as usize * routers as usize] }
    }

    /// The lowest port on a shortest path.
    pub fn shortest(fabric: &Fabric) -> Self {
        let mut table = PortTable::empty(fabric.routers());
        let mut hops = Vec::new();
        for dst in 0..fabric.routers() {
            distances(fabric, dst, &mut hops, |_, _| true);
            let mut column = table.towards(dst);
            for router in 0..fabric.routers() {
                let port = (0..fabric.network_ports()).find(|&port| leads_nearer(fabric, &hops, (router, port)));
                port.into_iter().for_each(|port| column.set(router, port));
            }
        }
        table
    }

    /// Shortest paths that share the channels: the time that a channel takes for a flit from each terminal to each
    /// other one is its load. Destinations are looked at one after the other, twice. Each gets, without what it adds
    /// itself, the shortest paths with the least sum of the fourth powers of the loads, of equal ones those by the
    /// lowest ports.
    pub fn balanced(fabric: &Fabric) -> Self {
        let mut table = PortTable::empty(fabric.routers());
        let mut loads = Loads::new(fabric);
        let (mut hops, mut costs) = (Vec::new(), vec![0u128; fabric.routers() as usize]);
        for pass in 0..PASSES {
            for dst in with_terminals(fabric) {
                let reached = distances(fabric, dst, &mut hops, |_, _| true);
                let nearest_first = &reached[1..];
                if pass > 0 {
                    loads.change(fabric, (&table, dst), nearest_first, u64::wrapping_sub);
                }
                costs[dst as usize] = 0;
                let mut column = table.towards(dst);
                for &at in nearest_first {
                    let cost = |port: usize| {
                        let (far, _) = fabric.peer(at, port)?;
                        Some((costs[far as usize].saturating_add(loads.cost(at, port)), port))
                    };
                    let nearer = |&port: &usize| leads_nearer(fabric, &hops, (at, port));
                    let least = (0..fabric.network_ports()).filter(nearer).filter_map(cost).min();
                    if let Some((cost, port)) = least {
                        costs[at as usize] = cost;
                        column.set(at, port);
                    }
                }
                loads.change(fabric, (&table, dst), nearest_first, u64::wrapping_add);
            }
        }
        table
    }

    /// The ports of all routers for one destination.
    pub(super) fn towards(&mut self, dst: u32) -> Column<'_> {
        let routers = self.routers as usize;
        Column(&mut self.ports[dst as usize * routers..][..routers])
    }

    /// The port of `router` on the way to `dst`; `None` where there is no way, and at the destination.
    #[inline]
    pub(super) fn next(&self, router: u32, dst: u32) -> Option<u8> {
        let port = self.ports[dst as usize * self.routers as usize + router as usize];
        (port != NONE).then_some(port)
    }
}

/// The ports of all routers for one destination.
pub(super) struct Column<'a>(&'a mut [u8]);

impl Column<'_> {
    /// Sets the port of a router.
    pub(super) fn set(&mut self, router: u32, port: usize) {
        self.0[router as usize] = port as u8;
    }
}

/// How often each destination is looked at.
const PASSES: usize = 2;

/// Cycles that each channel takes for a flit between all terminals, by `router * ports + port`.
struct Loads {
    ports: usize,
    cycles: Vec<u64>,
    /// What each router sends on, of its own and of others.
    flows: Vec<u64>,
}

impl Loads {
    fn new(fabric: &Fabric) -> Self {
        let (ports, routers) = (fabric.network_ports(), fabric.routers() as usize);
        Loads { ports, cycles: vec![0; routers * ports], flows: vec![0; routers] }
    }

    fn cost(&self, router: u32, port: usize) -> u128 {
        u128::from(self.cycles[router as usize * self.ports + port]).saturating_pow(4)
    }

    /// Adds or takes away what the routes of a table to one destination need. The routers on them are given, nearest
    /// first.
    fn change(
        &mut self,
        fabric: &Fabric,
        (table, dst): (&PortTable, u32),
        nearest_first: &[u32],
        by: fn(u64, u64) -> u64,
    ) {
        let terminals = |router: u32| fabric.terminals_at(router).len() as u64;
        nearest_first.iter().for_each(|&at| self.flows[at as usize] = terminals(at));
        for &at in nearest_first.iter().rev() {
            let Some(port) = table.next(at, dst).map(usize::from) else { continue };
            let flow = self.flows[at as usize];
            let load = &mut self.cycles[at as usize * self.ports + port];
            *load = by(*load, flow * terminals(dst) * u64::from(fabric.cycles_per_flit(at, port)));
            if let Some((far, _)) = fabric.peer(at, port) {
                self.flows[far as usize] += flow;
            }
        }
    }
}

/// Deals destinations out to ports: of several ports for a destination the one that has the fewest terminals so far,
/// the lowest of them.
pub(super) struct Spread {
    ports: usize,
    /// Terminals behind each port so far, by `router * ports + port`.
    dealt: Vec<u64>,
}

impl Spread {
    /// Nothing is dealt out yet.
    pub(super) fn new(fabric: &Fabric) -> Self {
        let ports = fabric.network_ports();
        Spread { ports, dealt: vec![0; fabric.routers() as usize * ports] }
    }

    /// The port of `router` for a destination with `terminals`, of those that `leads` accepts.
    pub(super) fn deal(&mut self, router: u32, terminals: u64, leads: impl Fn(usize) -> bool) -> Option<usize> {
        let first = router as usize * self.ports;
        let port = (0..self.ports).filter(|&port| leads(port)).min_by_key(|&port| (self.dealt[first + port], port))?;
        self.dealt[first + port] += terminals;
        Some(port)
    }
}

/// Channels from each router to `dst` on a shortest path, `u32::MAX` where there is none; of the channels into a router
/// that `counts` accepts, which are named by router and output port. Returned are the routers from which there is one,
/// `dst` included, nearest first.
pub(super) fn distances(
    fabric: &Fabric,
    dst: u32,
    hops: &mut Vec<u32>,
    counts: impl Fn(u32, usize) -> bool,
) -> Vec<u32> {
    hops.clear();
    hops.resize(fabric.routers() as usize, u32::MAX);
    hops[dst as usize] = 0;
    let mut reached = vec![dst];
    let mut next = 0;
    while let Some(&at) = reached.get(next) {
        next += 1;
        for (feeder, port) in (0..fabric.network_ports()).filter_map(|port| fabric.feeder(at, port)) {
            if hops[feeder as usize] == u32::MAX && counts(feeder, port) {
                hops[feeder as usize] = hops[at as usize] + 1;
                reached.push(feeder);
            }
        }
    }
    reached
}

/// Channels of the longest of the shortest paths between routers with terminals, of a network in which all are joined.
pub(super) fn longest_path(fabric: &Fabric) -> u32 {
    let mut hops = Vec::new();
    let mut farthest = |dst: u32| {
        distances(fabric, dst, &mut hops, |_, _| true);
        with_terminals(fabric).map(|src| hops[src as usize]).max()
    };
    with_terminals(fabric).filter_map(&mut farthest).max().unwrap_or(0)
}

/// The routers with terminals.
pub(super) fn with_terminals(fabric: &Fabric) -> impl Iterator<Item = u32> {
    (0..fabric.routers()).filter(|&router| !fabric.terminals_at(router).is_empty())
}

/// Whether a channel leads to a router with one channel less to go, by the `hops` of each.
pub(super) fn leads_nearer(fabric: &Fabric, hops: &[u32], (router, port): (u32, usize)) -> bool {
    let here = hops[router as usize];
    let far = fabric.peer(router, port).map(|(far, _)| hops[far as usize]);
    here != u32::MAX && far.is_some_and(|far| far.checked_add(1) == Some(here))
}

/// Refuses a network with more routers than a table may have.
pub(super) fn check_size(fabric: &Fabric) -> Result<()> {
    if fabric.routers() <= MOST_ROUTERS {
        return Ok(());
    }
    let hint = "use a smaller network, or a routing that knows its shape";
    Err(fabric.too_large(format!("at most {MOST_ROUTERS} routers for a table of routes"), hint))
}

/// Refuses such a network, and one with routers with terminals that no path joins.
pub(super) fn check(fabric: &Fabric) -> Result<()> {
    check_size(fabric)?;
    if let Some((src, dst)) = fabric.without_path() {
        let value = format!("no path from {} to {}", fabric.router_name(src), fabric.router_name(dst));
        return Err(Error::config("network.topology", value, "a path between all routers with terminals", ""));
    }
    Ok(())
}

/// A routing at work; in a network of one router nothing is to be decided.
pub(super) fn at_work(fabric: &Fabric, routing: impl HopByHop + 'static) -> Routing {
    match fabric.routers() {
        1 => Routing::AtSource(AtSource::one_router()),
        _ => Routing::HopByHop(Arc::new(routing)),
    }
}

/// A table at work: one port for each destination, all virtual channels.
impl HopByHop for PortTable {
    fn division(&self) -> Division {
        Division::Equal(1)
    }

    fn start(&self, _src: End, dst: End, _bits: u64) -> Head {
        Head { to: dst.router, label: 0, trip: Trip::default() }
    }

    fn starts(&self, _src: u32, dst: u32) -> Vec<Head> {
        vec![Head { to: dst, label: 0, trip: Trip::default() }]
    }

    fn forget(&self, at: &mut At, _head: &mut Head) {
        (at.port, at.set) = (None, None);
    }

    fn choice(&self, at: &At, head: &Head) -> Choice {
        // The last resort is all there is: it may be any of 64 ports.
        Choice { escape: self.next(at.router, head.to).map(|port| (port, 0)), ..Choice::default() }
    }

    fn is_fixed(&self) -> bool {
        true
    }

    fn requests_one_port(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Buffers, Finding, Lash, UpDown, find_cycle};
    use super::*;
    use crate::topology::{random, ring};

    /// The busiest channel of all terminals to all, of a table.
    fn busiest(fabric: &Fabric, table: &PortTable) -> u64 {
        let mut loads = std::collections::HashMap::new();
        for (src, dst) in with_terminals(fabric).flat_map(|src| with_terminals(fabric).map(move |dst| (src, dst))) {
            let (mut at, mut channels) = (src, 0);
            while let Some(port) = table.next(at, dst).map(usize::from) {
                let pairs = (fabric.terminals_at(src).len() * fabric.terminals_at(dst).len()) as u64;
                *loads.entry((at, port)).or_insert(0) += pairs * u64::from(fabric.cycles_per_flit(at, port));
                (at, channels) = (fabric.peer(at, port).unwrap().0, channels + 1);
            }
            let mut hops = Vec::new();
            distances(fabric, dst, &mut hops, |_, _| true);
            assert!(at == dst && channels == hops[src as usize], "{src} -> {dst}");
        }
        loads.into_values().max().unwrap_or(0)
    }

    #[test]
    fn balanced_paths_are_shortest_and_use_the_channels_more_evenly() {
        let (mut better, mut worse) = (0, 0);
        for seed in 0..60 {
            let fabric = random(seed);
            let (lowest, balanced) = (PortTable::shortest(&fabric), PortTable::balanced(&fabric));
            let [lowest, balanced] = [lowest, balanced].map(|table| busiest(&fabric, &table));
            better += u32::from(balanced < lowest);
            worse += u32::from(balanced > lowest);
        }
        assert!(better > 30 && worse <= 3, "{better} better, {worse} worse");
        // Both ways round a ring of even length are as long: half of the pairs that are opposite go each way.
        let fabric = ring(8);
        assert_eq!([PortTable::shortest(&fabric), PortTable::balanced(&fabric)].map(|t| busiest(&fabric, &t)), [10, 9]);
    }

    #[test]
    fn neither_layers_nor_up_and_down_can_deadlock() {
        for seed in 0..60 {
            let fabric = random(seed);
            let lash = Lash::new(&fabric).unwrap();
            assert_eq!(find_cycle(&fabric, &lash, Buffers::Shared, false), Finding::Free, "lash, {seed}");
            for root in [0, fabric.routers() - 1] {
                let up_down = UpDown::new(&fabric, root).unwrap();
                assert_eq!(find_cycle(&fabric, &up_down, Buffers::Shared, false), Finding::Free, "up_down, {seed}");
            }
        }
    }
}
