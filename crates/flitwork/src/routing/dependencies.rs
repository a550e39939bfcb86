//! Is a routing free of deadlock? The channel dependency graph of Dally and Seitz, and Duato's extension of it, walked through.
//!
//! Nodes are the sets of virtual channels of each channel. Every route that any packet may take is followed, choice by choice:
//! * Without an escape network (Dally and Seitz 1987): an edge from each channel to whatever the packet may ask for behind it.
//!   No cycle, no deadlock.
//! * With one (J. Duato 1993): only escape channels are nodes. A packet must be able to ask for one wherever it is. Under
//!   wormhole switching a packet may hold an escape channel while it goes on through adaptive ones, so an edge also leads from an
//!   escape channel to the next one that it may ask for after any number of adaptive hops (the extended dependencies). Under
//!   virtual cut-through a packet that moves on leaves nothing behind, and only direct dependencies count.
//! * An escape network helps only those who can ask for it. Where a buffer may hold flits of several packets and need not have
//!   room for a whole one, a head may wait for credits of an adaptive channel that it was given, or behind the tail of another
//!   packet, and cannot ask. Then adaptive channels are nodes like all others ([`Buffers::Shared`]).
//! * A VC of two halves ([`super::Division::Overlapping`]) is an adaptive channel next to those of one half alone, which all
//!   packets of that half can ask for: a node of its own where buffers are shared, else none.
//!
//! That takes time with the cube of the number of routers, and with its fourth power where packets go through another router,
//! so a large network may be represented by a small one, as its shape allows ([`super::representative`]). Where even that is too
//! much there is no answer ([`Finding::Unknown`]).

use super::hop_by_hop::{At, Head, HopByHop};
use crate::topology::Fabric;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What the buffer of a VC may hold, which decides what a packet can wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffers {
    /// Whole packets: a packet that may move on will leave nothing behind (virtual cut-through).
    WholePackets,
    /// Flits of one packet at a time: its head is at the front until it moves on (wormhole, each VC reused when it is empty).
    OnePacket,
    /// Flits of several packets (wormhole).
    Shared,
}

/// A set of VCs of a channel: (router, output port, set).
type Node = (u32, u8, u8);

/// The number of the set with the VC of both halves; packets that came by it count as those of the second half, set 1.
const MIDDLE: u8 = 2;

/// A packet somewhere on its route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Walk {
    at: u32,
    dst: u32,
    head: Head,
    /// Input port and set that it came by.
    entered: Option<(u8, u8)>,
    /// The last node that it may still hold.
    held: Option<Node>,
}

/// What was found out about a scheme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// It is free of deadlock.
    Free,
    /// Channels that can wait for each other in a cycle, or a packet that can get nowhere.
    Cycle(Vec<String>),
    /// There are more places at which packets may be than can be followed.
    Unknown,
}

/// Whether channels can wait for each other in a cycle under a routing.
///
/// `shares`: the routing has two halves, and there is a VC that belongs to both.
pub fn find_cycle(fabric: &Fabric, routing: &dyn HopByHop, buffers: Buffers, shares: bool) -> Finding {
    let name = |(router, port, set): Node| format!("{} set {set}", fabric.channel_name(router, port.into()));
    match (Explorer { shares, ..Explorer::new(fabric, routing, buffers) }).explore() {
        Ok(edges) => cycle(&edges).map_or(Finding::Free, |nodes| Finding::Cycle(nodes.into_iter().map(name).collect())),
        Err(Stop::Stuck(packet)) => Finding::Cycle(vec![packet]),
        Err(Stop::TooMany) => Finding::Unknown,
    }
}

/// Whether the graph of a network, not cut down, has a cycle.
#[cfg(test)]
pub(super) fn whole_graph_has_cycle(fabric: &Fabric, routing: &dyn HopByHop, buffers: Buffers) -> bool {
    Explorer::new(fabric, routing, buffers).explore().map_or(true, |edges| cycle(&edges).is_some())
}

/// Most states of packets that are followed: some gigabyte, some ten seconds.
const MOST_WALKS: usize = 8_000_000;

/// Why not every route was followed to its end.
enum Stop {
    Stuck(String),
    TooMany,
}

/// Follows every route.
struct Explorer<'a> {
    fabric: &'a Fabric,
    routing: &'a dyn HopByHop,
    buffers: Buffers,
    shares: bool,
    seen: HashSet<Walk>,
    open: Vec<Walk>,
    edges: BTreeMap<Node, BTreeSet<Node>>,
}

impl<'a> Explorer<'a> {
    fn new(fabric: &'a Fabric, routing: &'a dyn HopByHop, buffers: Buffers) -> Self {
        let (seen, open, edges) = (HashSet::new(), Vec::new(), BTreeMap::new());
        Explorer { fabric, routing, buffers, shares: false, seen, open, edges }
    }

    fn explore(mut self) -> Result<BTreeMap<Node, BTreeSet<Node>>, Stop> {
        let busy = |router: &u32| !self.fabric.terminals_at(*router).is_empty();
        let ends: Vec<u32> = (0..self.fabric.routers()).filter(busy).collect();
        if ends.len().pow(2) > MOST_WALKS {
            return Err(Stop::TooMany);
        }
        for (&at, &dst) in ends.iter().flat_map(|s| ends.iter().map(move |t| (s, t))) {
            for head in self.routing.starts(at, dst) {
                self.visit(Walk { at, dst, head, entered: None, held: None });
            }
            if self.seen.len() > MOST_WALKS {
                return Err(Stop::TooMany);
            }
        }
        while let Some(walk) = self.open.pop() {
            self.go_on(walk)?;
            if self.seen.len() > MOST_WALKS {
                return Err(Stop::TooMany);
            }
        }
        Ok(self.edges)
    }

    fn visit(&mut self, walk: Walk) {
        if self.seen.insert(walk) {
            self.open.push(walk);
        }
    }

    /// Everything that a packet may do next.
    fn go_on(&mut self, walk: Walk) -> Result<(), Stop> {
        let mut entered: Vec<Head> = Vec::new();
        // Whatever the random bits say: those of the start and those of a second walk.
        for bits in 0..1u64 << self.routing.bits_on_entering() {
            let mut head = walk.head;
            self.routing.enter(walk.at, walk.dst, &mut head, &|| bits | bits << 8);
            if walk.at != head.to && !entered.contains(&head) {
                entered.push(head);
            }
        }
        entered.into_iter().try_for_each(|head| self.go_on_from(&walk, head))
    }

    fn go_on_from(&mut self, walk: &Walk, head: Head) -> Result<(), Stop> {
        let at = At { router: walk.at, port: walk.entered.map(|c| c.0), set: walk.entered.map(|c| c.1) };
        let choice = self.routing.choice(&at, &head);
        if choice.ports == 0 && choice.escape.is_none() {
            let (at, dst) = (self.fabric.router_name(walk.at), self.fabric.router_name(walk.dst));
            return Err(Stop::Stuck(format!("a packet at {at} for {dst} can go nowhere")));
        }
        let has_escape = choice.escape.is_some() && self.buffers != Buffers::Shared;
        let walk = Walk { head, ..*walk };
        let ports = choice.ports | u64::from(choice.sideways);
        for port in (0..self.fabric.network_ports()).filter(|&q| ports >> q & 1 == 1) {
            let mut trip = head.trip;
            trip.crossed += (u64::from(choice.crossing) >> port & 1) as u8;
            if choice.ports >> port & 1 == 0 {
                trip.misroutes -= 1;
            }
            self.hop(&walk, port as u8, choice.set_of(port), trip, !has_escape, !has_escape);
            if self.shares {
                let node = self.buffers == Buffers::Shared;
                self.hop(&walk, port as u8, MIDDLE, trip, node, node);
            }
        }
        if let Some((port, set)) = choice.escape {
            self.hop(&walk, port, set, head.trip, true, true);
        }
        Ok(())
    }

    /// A packet takes a channel. `node`: whether the channel is one of the graph's; `holds`: whether it may be held on.
    fn hop(&mut self, walk: &Walk, port: u8, set: u8, trip: super::Trip, node: bool, holds: bool) {
        let Some((next, input)) = self.fabric.peer(walk.at, port as usize) else { return };
        let channel = (walk.at, port, set);
        if let (true, Some(held)) = (node, walk.held) {
            self.edges.entry(held).or_default().insert(channel);
        }
        let held = if holds {
            Some(channel)
        } else if self.buffers == Buffers::WholePackets {
            None
        } else {
            walk.held
        };
        let set = if self.shares { set.min(1) } else { set };
        let head = Head { trip, ..walk.head };
        self.visit(Walk { at: next, head, entered: Some((input as u8, set)), held, ..*walk });
    }
}

/// Some cycle of a graph.
fn cycle(edges: &BTreeMap<Node, BTreeSet<Node>>) -> Option<Vec<Node>> {
    let mut done = HashSet::new();
    let none = BTreeSet::new();
    for &start in edges.keys() {
        let mut path = vec![(start, edges.get(&start).unwrap_or(&none).iter())];
        while let Some((at, next)) = path.last_mut() {
            match next.next() {
                None => {
                    done.insert(*at);
                    path.pop();
                }
                Some(n) if done.contains(n) => {}
                Some(n) => {
                    if let Some(from) = path.iter().position(|(node, _)| node == n) {
                        return Some(path[from..].iter().map(|(node, _)| *node).collect());
                    }
                    path.push((*n, edges.get(n).unwrap_or(&none).iter()));
                }
            }
        }
    }
    None
}
