//! What the network asks of a routing that decides hop by hop, in routers and ports.
//!
//! Asked when a packet starts and when it comes to the front of a buffer, and told nothing else: a routing never looks
//! at the state of the network. What is free, and which of several ports is taken, is the router's business
//! ([`super::Selection`]).

use super::scheme::{Choice, CongestionSpread, Division, Trip};
use super::{DimensionOrder, OnGrid, Selection, TreeSteps};
use crate::topology::{End, Fabric};

/// What the head of a packet carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Head {
    /// The router that it walks to: its destination, or an intermediate one.
    pub to: u32,
    /// A number that the routing gives it at its source, for routes that differ between terminals of the same routers;
    /// else 0.
    pub label: u32,
    /// The routing header of the packet.
    pub trip: Trip,
}

/// A set of VCs of a channel: (router, output port, set).
pub type Channel = (u32, u8, u8);

/// The rank of each channel.
pub type Rank<'a> = dyn Fn(Channel) -> u64 + 'a;

/// What tells the routes of packets apart, besides the routers at both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoesBy {
    /// Nothing else.
    Routers,
    /// The source terminal.
    Source,
    /// The destination terminal.
    Destination,
    /// Both terminals.
    Pair,
}

/// Where a packet is when it is asked for its choice.
#[derive(Debug, Clone, Copy)]
pub struct At {
    /// The router.
    pub router: u32,
    /// The input port that it came by; `None` from a terminal.
    pub port: Option<u8>,
    /// The set of its input VC; `None` from a terminal.
    pub set: Option<u8>,
}

/// A routing that decides at each router.
pub trait HopByHop: std::fmt::Debug + Send + Sync {
    /// How the VCs are divided.
    fn division(&self) -> Division;

    /// How a packet from `src` to `dst` starts; `bits` are random.
    fn start(&self, src: End, dst: End, bits: u64) -> Head;

    /// Every head with which a packet from a terminal of router `src` to one of router `dst` may start.
    fn starts(&self, src: u32, dst: u32) -> Vec<Head>;

    /// Whether a packet may first walk to any router, whatever its destination, and turn there.
    fn turns_anywhere(&self) -> bool {
        false
    }

    /// Every head with which a packet from a terminal of router `src` may start its first walk, to another router
    /// `via`. They are not among the `starts`.
    fn first_walks(&self, _src: u32, _via: u32) -> Vec<Head> {
        Vec::new()
    }

    /// Ranks of channels that grow along every route by the very construction of the routing: then no cycle can close,
    /// however large the network is. `None`: nothing is known before the routes are followed.
    fn rank<'a>(&'a self, _fabric: &'a Fabric) -> Option<Box<Rank<'a>>> {
        None
    }

    /// Takes out of a packet that has come to the front of a buffer what none of its later choices depends on. The
    /// search for deadlocks then has fewer packets to tell apart.
    fn forget(&self, _at: &mut At, _head: &mut Head) {}

    /// A packet comes to the front of a buffer at router `at`: brings its head up to date. `bits` gives those of its
    /// start; it is asked only where they are needed, because this runs for every packet in every router.
    fn enter(&self, _at: u32, _dst: u32, _head: &mut Head, _bits: &dyn Fn() -> u64) {}

    /// How many of the lowest bits [`HopByHop::enter`] looks at, from bit 0 or from bit 8.
    fn bits_on_entering(&self) -> u32 {
        0
    }

    /// What a packet at a router other than its destination may ask for, whatever its random bits.
    fn choice(&self, at: &At, head: &Head) -> Choice;

    /// Both at once, as a router asks: what a packet that comes to the front asks for, or some of it; `None` at its
    /// destination.
    fn next(&self, at: &At, dst: u32, head: &mut Head, bits: &dyn Fn() -> u64) -> Option<Choice> {
        self.enter(at.router, dst, head, bits);
        (head.to != at.router).then(|| self.choice(at, head))
    }

    /// The scheme of a grid, if it is one: routers then ask it without dispatch.
    fn on_grid(&self) -> Option<&OnGrid> {
        None
    }

    /// All steps, if it is a routing of trees: routers then look them up without dispatch.
    fn tree_steps(&self) -> Option<&TreeSteps> {
        None
    }

    /// Most ports with VCs that a choice names.
    fn most_ports(&self) -> usize {
        1
    }

    /// Whether a choice is one port each time, the same for all packets of two routers but for random bits at the
    /// start.
    fn is_fixed(&self) -> bool {
        self.fixed_order().is_some()
    }

    /// The dimension order that every packet walks in, if it does.
    fn fixed_order(&self) -> Option<&DimensionOrder> {
        None
    }

    /// Whether a packet asks for one port each time, with all virtual channels, and its head stays as it is. It then
    /// asks as if its route had been decided at the source, and routers need keep nothing for it.
    fn requests_one_port(&self) -> bool {
        false
    }

    /// Besides the routers, what all packets have in common that take the same route, if routes are fixed.
    fn goes_by(&self) -> GoesBy {
        GoesBy::Routers
    }

    /// Which of several ports with a VC to give a packet asks for.
    fn selection(&self) -> Selection {
        Selection::MostCredits
    }

    /// What it knows of the network beyond its own output ports.
    fn congestion_spread(&self) -> Option<CongestionSpread> {
        None
    }

    /// Channels from router `at` to the destination, by the minimal port of a choice and by the one that is not
    /// ([`Choice::nonminimal`]), of a packet with this head.
    fn lengths(&self, _at: u32, _head: &Head) -> [u32; 2] {
        [1, 1]
    }

    /// Whether the queues that are compared may be those of other routers ([`HopByHop::watched`]).
    fn watches_other_routers(&self) -> bool {
        false
    }

    /// Where they may, the channels whose queues stand for the routes by the minimal port of a choice and by the one
    /// that is not, of a packet with this head at router `at`: router and output port.
    fn watched(&self, at: u32, _head: &Head) -> [(u32, u8); 2] {
        [(at, 0); 2]
    }

    /// Where choices have a port that is not minimal and queues are compared: what is added to the queue of that port,
    /// times the channels of its route \[flits].
    fn bias_flits(&self) -> Option<u32> {
        None
    }

    /// Cycles that a packet waits before it asks for a port that leads away.
    fn patience_cycles(&self) -> u32 {
        0
    }
}
