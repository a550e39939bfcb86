//! Every route of every packet, followed choice by choice: which channels wait for which.
//!
//! The routes to one destination after another: packets to different destinations have nothing in common but channels.
//! Of a packet is remembered what its later choices depend on ([`HopByHop::forget`]); where two packets differ in
//! nothing else they are one.

use super::channel_graph::{ChannelGraph, Node};
use super::hop_by_hop::{At, Channel, Head, HopByHop, Rank};
use super::{Buffers, Limits};
use crate::topology::Fabric;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The number of the set with the VC of both halves; packets that came by it count as those of the second half, set 1.
const MIDDLE: u8 = 2;

/// Destinations, where the routes to all are too many.
const SOME: usize = 32;

/// Memory of one place while the routes to its destination are followed \[bytes].
const PLACE_BYTES: u64 = 200;

/// A packet somewhere on its route to a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    at: u32,
    head: Head,
    /// Input port and set that it came by.
    entered: Option<(u8, u8)>,
}

/// What follows the routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// A packet at a router, for another one, has no choice.
    Stuck(u32, u32),
    /// There is too much of it.
    TooMuch,
}

/// The graph, and what its named nodes are; `None`: a packet between its first and its second walk.
pub(super) struct Dependencies {
    pub graph: ChannelGraph,
    pub names: Vec<Option<Channel>>,
}

impl Dependencies {
    /// Whether every channel leads to channels of a higher rank, and to nothing else.
    pub fn ascend(&self, rank: &Rank) -> bool {
        let rank_of = |node: u32| self.names[node as usize].map(rank);
        (0..self.names.len() as u32).all(|node| {
            self.graph.behind(node).all(|next| match next {
                Node::Named(next) => rank_of(node).zip(rank_of(next)).is_some_and(|(here, there)| here < there),
                Node::Passage(_) => false,
            })
        })
    }
}

/// Which routes are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Routes {
    All,
    /// Those to some destinations, which are spread evenly over the network.
    Some,
}

/// Follows routes; refused where that takes more than `limits`.
pub(super) fn dependencies(
    fabric: &Fabric,
    routing: &dyn HopByHop,
    (buffers, shares): (Buffers, bool),
    limits: Limits,
    routes: Routes,
) -> Result<Dependencies, Stop> {
    let mut walker = Walker::new(fabric, routing, (buffers, shares), limits);
    match routes {
        Routes::All => walker.walk_all()?,
        Routes::Some => walker.walk_some()?,
    }
    Ok(Dependencies { graph: walker.graph, names: walker.names })
}

/// A packet that has come to the end of its first walk, and may go on to any router.
#[derive(Debug, Clone, Copy)]
struct Turning {
    node: u32,
    place: Place,
}

struct Walker<'a> {
    fabric: &'a Fabric,
    routing: &'a dyn HopByHop,
    buffers: Buffers,
    shares: bool,
    limits: Limits,
    graph: ChannelGraph,
    names: Vec<Option<Channel>>,
    nodes: HashMap<Channel, u32, Quick>,
    turning: Vec<Turning>,
    turning_of: HashMap<Place, u32, Quick>,
    /// All places of all destinations.
    followed: u64,
    now: ToOne,
}

/// The routes to one destination.
#[derive(Default)]
struct ToOne {
    places: Vec<Place>,
    number: HashMap<Place, u32, Quick>,
    /// Channels that lead to a place, and may be held there.
    arrivals: Vec<(u32, u32)>,
    /// What packets wait for at each place, and where they go from there without holding another channel: up to where
    /// the list of each place ends.
    waits: Vec<Node>,
    ends: Vec<u32>,
}

type Quick = BuildHasherDefault<QuickHasher>;

impl<'a> Walker<'a> {
    fn new(fabric: &'a Fabric, routing: &'a dyn HopByHop, (buffers, shares): (Buffers, bool), limits: Limits) -> Self {
        Walker {
            fabric,
            routing,
            buffers,
            shares,
            limits,
            graph: ChannelGraph::default(),
            names: Vec::new(),
            nodes: HashMap::default(),
            turning: Vec::new(),
            turning_of: HashMap::default(),
            followed: 0,
            now: ToOne::default(),
        }
    }

    /// The routers with terminals.
    fn ends(&self) -> Vec<u32> {
        (0..self.fabric.routers()).filter(|&router| !self.fabric.terminals_at(router).is_empty()).collect()
    }

    fn walk_all(&mut self) -> Result<(), Stop> {
        let ends = self.ends();
        let pairs = ends.len() as u64 * ends.len() as u64;
        if pairs > self.limits.places || u64::from(self.fabric.routers()) * PLACE_BYTES > self.limits.memory_bytes {
            return Err(Stop::TooMuch);
        }
        if self.routing.turns_anywhere() {
            (0..self.fabric.routers()).try_for_each(|via| self.walk_to(via, &ends, true))?;
        }
        // From the one in the middle on: what the routes to it take, all others may take.
        let middle = ends.len() / 2;
        for (i, &dst) in ends[middle..].iter().chain(&ends[..middle]).enumerate() {
            let before = self.followed;
            self.walk_to(dst, &ends, false)?;
            if i == 0 && (self.followed - before).saturating_mul(ends.len() as u64) > self.limits.places {
                return Err(Stop::TooMuch);
            }
        }
        Ok(())
    }

    fn walk_some(&mut self) -> Result<(), Stop> {
        let ends = self.ends();
        let some = || ends.iter().step_by(ends.len().div_ceil(SOME));
        if self.routing.turns_anywhere() {
            some().try_for_each(|&via| self.walk_to(via, &ends, true))?;
        }
        some().try_for_each(|&dst| self.walk_to(dst, &ends, false))
    }

    /// Whether packets may still hold what they held before an adaptive hop.
    fn holds_on(&self) -> bool {
        self.buffers == Buffers::OnePacket
    }

    /// All routes to a router; `first`: the first walks of packets that turn there to any destination.
    fn walk_to(&mut self, dst: u32, ends: &[u32], first: bool) -> Result<(), Stop> {
        let ToOne { places, number, arrivals, waits, ends: lists } = &mut self.now;
        places.clear();
        number.clear();
        arrivals.clear();
        waits.clear();
        lists.clear();
        for &at in ends.iter().filter(|&&at| at != dst) {
            let heads = if first { self.routing.first_walks(at, dst) } else { self.routing.starts(at, dst) };
            for head in heads {
                self.enter(Place { at, head, entered: None }, (dst, first), |_, _| {});
            }
        }
        if !first {
            for i in 0..self.turning.len() {
                let Turning { node, place } = self.turning[i];
                self.enter(place, (dst, false), |walker, to| walker.now.arrivals.push((node, to)));
            }
        }
        let mut next = 0;
        while let Some(&place) = self.now.places.get(next) {
            self.go_on(&place, (dst, first))?;
            self.now.ends.push(self.now.waits.len() as u32);
            next += 1;
            self.check_size()?;
        }
        self.followed += next as u64;
        self.link();
        Ok(())
    }

    fn check_size(&self) -> Result<(), Stop> {
        let here = self.now.places.len() as u64;
        let bytes = self.graph.bytes() + PLACE_BYTES * here + 64 * self.names.len() as u64;
        let fits =
            bytes <= self.limits.memory_bytes && self.followed + here <= self.limits.places && self.graph.has_numbers();
        if fits { Ok(()) } else { Err(Stop::TooMuch) }
    }

    /// A packet comes to the front at a router: where it may go from there, whatever its random bits say.
    fn enter(&mut self, place: Place, (dst, first): (u32, bool), mut arrives: impl FnMut(&mut Self, u32)) {
        if first && place.at == dst && place.entered.is_some() {
            let node = self.turning_node(place);
            return arrives(self, node | TURNS);
        }
        let mut seen: Option<Head> = None;
        for bits in 0..1u64 << self.routing.bits_on_entering() {
            // Those of the start and those of a second walk.
            let mut head = place.head;
            self.routing.enter(place.at, dst, &mut head, &|| bits | bits << 8);
            if head.to == place.at || seen == Some(head) {
                continue;
            }
            seen = Some(head);
            let mut at = At { router: place.at, port: place.entered.map(|c| c.0), set: place.entered.map(|c| c.1) };
            self.routing.forget(&mut at, &mut head);
            let place = Place { at: place.at, head, entered: at.port.zip(at.set) };
            let places = &mut self.now.places;
            let number = *self.now.number.entry(place).or_insert_with(|| {
                places.push(place);
                places.len() as u32 - 1
            });
            arrives(self, number);
        }
    }

    /// Everything that a packet may do next.
    fn go_on(&mut self, place: &Place, to: (u32, bool)) -> Result<(), Stop> {
        let at = At { router: place.at, port: place.entered.map(|c| c.0), set: place.entered.map(|c| c.1) };
        let choice = self.routing.choice(&at, &place.head);
        if choice.ports == 0 && choice.escape.is_none() {
            return Err(Stop::Stuck(place.at, to.0));
        }
        let has_escape = choice.escape.is_some() && self.buffers != Buffers::Shared;
        // Where two routes are compared, the one or the other.
        let decisions = if choice.nonminimal.is_some() { &[true, false][..] } else { &[false] };
        for choice in decisions.iter().map(|&nonminimal| choice.decided(nonminimal)) {
            let mut ports = choice.ports | u64::from(choice.sideways);
            while ports != 0 {
                let port = ports.trailing_zeros() as usize;
                ports &= ports - 1;
                let mut head = place.head;
                head.trip.crossed += choice.counted(port);
                if choice.ports >> port & 1 == 0 {
                    head.trip.misroutes -= 1;
                }
                self.hop((place.at, port as u8, choice.set_of(port)), head, to, !has_escape);
                if self.shares {
                    self.hop((place.at, port as u8, MIDDLE), head, to, self.buffers == Buffers::Shared);
                }
            }
        }
        if let Some((port, set)) = choice.escape {
            self.hop((place.at, port, set), place.head, to, true);
        }
        Ok(())
    }

    /// A packet takes a channel. `may_wait`: packets may wait for it and hold it; if not, they can always ask for
    /// another one.
    fn hop(&mut self, channel: Channel, head: Head, to: (u32, bool), may_wait: bool) {
        let Some((next, input)) = self.fabric.peer(channel.0, channel.1 as usize) else { return };
        let set = if self.shares { channel.2.min(1) } else { channel.2 };
        let place = Place { at: next, head, entered: Some((input as u8, set)) };
        if may_wait {
            let node = self.node(channel);
            self.now.waits.push(Node::Named(node));
            self.enter(place, to, |walker, place| walker.now.arrivals.push((node, place)));
        } else {
            let holds_on = self.holds_on();
            self.enter(place, to, |walker, place| {
                if holds_on {
                    walker.now.waits.push(Node::Passage(place));
                }
            });
        }
    }

    fn node(&mut self, channel: Channel) -> u32 {
        let (graph, names) = (&mut self.graph, &mut self.names);
        *self.nodes.entry(channel).or_insert_with(|| {
            names.push(Some(channel));
            graph.name()
        })
    }

    /// The number of the turning point at the end of a first walk.
    fn turning_node(&mut self, place: Place) -> u32 {
        let mut at = At { router: place.at, port: place.entered.map(|c| c.0), set: place.entered.map(|c| c.1) };
        let mut head = place.head;
        self.routing.forget(&mut at, &mut head);
        // The channel that it came by stays: what it holds is known by that.
        let place = Place { head, ..place };
        let (graph, names, turning) = (&mut self.graph, &mut self.names, &mut self.turning);
        *self.turning_of.entry(place).or_insert_with(|| {
            names.push(None);
            let node = graph.name();
            turning.push(Turning { node, place });
            node
        })
    }

    /// The edges that the routes to a destination make.
    fn link(&mut self) {
        let ToOne { arrivals, waits, ends, .. } = &self.now;
        let passed = |to: &Node| matches!(to, Node::Passage(_));
        if !waits.iter().any(passed) {
            for &(channel, place) in arrivals {
                if place & TURNS != 0 {
                    self.graph.lead(channel, Node::Named(place & !TURNS));
                    continue;
                }
                let first = (place as usize).checked_sub(1).map_or(0, |before| ends[before] as usize);
                waits[first..ends[place as usize] as usize].iter().for_each(|&to| self.graph.lead(channel, to));
            }
            return;
        }
        let base = self.graph.passages();
        let node =
            |place: u32| if place & TURNS == 0 { Node::Passage(base + place) } else { Node::Named(place & !TURNS) };
        let mut first = 0;
        for &end in ends {
            self.graph.pass(waits[first..end as usize].iter().map(|&to| match to {
                Node::Passage(place) => node(place),
                channel => channel,
            }));
            first = end as usize;
        }
        arrivals.iter().for_each(|&(channel, place)| self.graph.lead(channel, node(place)));
    }
}

/// Not the number of a place, but that of a turning point.
const TURNS: u32 = 1 << 30;

/// A hash of small numbers, by multiplication.
#[derive(Default)]
struct QuickHasher(u64);

impl QuickHasher {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for QuickHasher {
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.add(byte.into()));
    }
    fn write_u8(&mut self, word: u8) {
        self.add(word.into());
    }
    fn write_u32(&mut self, word: u32) {
        self.add(word.into());
    }
    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }
    fn write_usize(&mut self, word: usize) {
        self.add(word as u64);
    }
    fn write_isize(&mut self, word: isize) {
        self.add(word as u64);
    }
}
