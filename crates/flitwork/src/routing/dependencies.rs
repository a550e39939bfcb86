//! Is a routing free of deadlock? The channel dependency graph of Dally and Seitz, and Duato's extension of it.
//!
//! Nodes are the sets of virtual channels of each channel. Every route that any packet may take is followed, choice by
//! choice:
//! * Without an escape network (Dally and Seitz 1987): an edge from each channel to whatever the packet may ask for
//!   behind it. No cycle, no deadlock.
//! * With one (J. Duato 1993): only escape channels are nodes. A packet must be able to ask for one wherever it is.
//!   Under wormhole switching a packet may hold an escape channel while it goes on through adaptive ones, so an edge
//!   also leads from an escape channel to the next one that it may ask for after any number of adaptive hops (the
//!   extended dependencies). Under virtual cut-through a packet that moves on leaves nothing behind, and only direct
//!   dependencies count.
//! * An escape network helps only those who can ask for it. Where a buffer may hold flits of several packets and need
//!   not have room for a whole one, a head may wait for credits of an adaptive channel that it was given, or behind the
//!   tail of another packet, and cannot ask. Then adaptive channels are nodes like all others ([`Buffers::Shared`]).
//! * A VC of two halves ([`super::Division::Overlapping`]) is an adaptive channel next to those of one half alone,
//!   which all packets of that half can ask for: a node of its own where buffers are shared, else none.
//!
//! The graph is that of the network itself. Its time and memory grow with the square of the number of routers, under
//! ROMM with the routers on all shortest routes besides. Where that is too much, a routing may rank its channels by its
//! construction ([`HopByHop::rank`]): routes along which ranks grow close no cycle. Otherwise there is no answer
//! ([`Finding::Unknown`]); a smaller network may then have the same one ([`super::representative`]).

use super::hop_by_hop::{Channel, HopByHop};
use super::walks::{Routes, Stop, dependencies};
use crate::topology::Fabric;

/// What the buffer of a VC may hold, which decides what a packet can wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffers {
    /// Whole packets: a packet that may move on will leave nothing behind (virtual cut-through).
    WholePackets,
    /// Flits of one packet at a time: its head is at the front until it moves on (wormhole, each VC reused when it is
    /// empty).
    OnePacket,
    /// Flits of several packets (wormhole).
    Shared,
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
    let limits = Limits { memory_bytes: 2_000_000_000, places: Limits::MOST_PLACES };
    find_cycle_within(fabric, routing, (buffers, shares), limits)
}

/// How far the search goes.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Memory that it may take \[bytes].
    pub memory_bytes: u64,
    /// Places of packets that it may follow; a million takes about a second.
    pub places: u64,
}

impl Limits {
    /// Places that are followed in a network for which a smaller one stands: some seconds.
    pub const PLACES: u64 = 1 << 23;
    /// Places that are followed in one that nothing stands for: a quarter of a minute.
    pub const MOST_PLACES: u64 = 1 << 24;
}

/// Finds a cycle of dependencies like [`find_cycle`], within limits.
pub fn find_cycle_within(fabric: &Fabric, routing: &dyn HopByHop, rules: (Buffers, bool), limits: Limits) -> Finding {
    let found = match dependencies(fabric, routing, rules, limits, Routes::All) {
        Ok(found) => found,
        Err(Stop::TooMuch) => return by_rank(fabric, routing, rules, limits),
        Err(Stop::Stuck(at, dst)) => {
            let (at, dst) = (fabric.router_name(at), fabric.router_name(dst));
            return Finding::Cycle(vec![format!("a packet at {at} for {dst} can go nowhere")]);
        }
    };
    let name = |(router, port, set): Channel| format!("{} set {set}", fabric.channel_name(router, port.into()));
    match found.graph.cycle() {
        None => Finding::Free,
        Some(cycle) => {
            let channels = cycle.into_iter().filter_map(|node| found.names[node as usize]);
            let names: Vec<String> = channels.map(name).collect();
            let round_for_ever = || vec!["a packet can go round for ever".to_string()];
            Finding::Cycle(if names.is_empty() { round_for_ever() } else { names })
        }
    }
}

/// The verdict on a network with too many routes, where the routing ranks its channels ([`HopByHop::rank`]): routes
/// along which ranks grow close no cycle. That they do grow is seen on the routes to some destinations.
fn by_rank(fabric: &Fabric, routing: &dyn HopByHop, rules: (Buffers, bool), limits: Limits) -> Finding {
    let Some(rank) = routing.rank(fabric) else { return Finding::Unknown };
    match dependencies(fabric, routing, rules, Limits { places: u64::MAX, ..limits }, Routes::Some) {
        Ok(found) if found.ascend(&rank) => Finding::Free,
        _ => Finding::Unknown,
    }
}
