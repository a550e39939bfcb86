//! Is a routing free of deadlock? The channel dependency graph of Dally and Seitz, and Duato's extension of it, walked through.
//!
//! Nodes are the sets of virtual channels of each channel. Every way that any packet may take is followed, choice by choice:
//! * Without an escape network (Dally and Seitz 1987): an edge from each channel to whatever the packet may ask for behind it.
//!   No cycle, no deadlock.
//! * With one (J. Duato 1993): only escape channels are nodes. A packet must be able to ask for one wherever it is. Under
//!   wormhole switching a packet may hold an escape channel while it goes on through adaptive ones, so an edge also leads from an
//!   escape channel to the next one that it may ask for after any number of adaptive hops (the extended dependencies). Under
//!   virtual cut-through a packet that moves on leaves nothing behind, and only direct dependencies count.
//! * An escape network helps only those who can ask for it. Where a buffer may hold flits of several packets and need not have
//!   room for a whole one, a head may wait for credits of an adaptive channel that it was given, or behind the tail of another
//!   packet, and cannot ask. Then adaptive channels are nodes like all others ([`Buffers::Shared`]).
//! * A VC of two halves ([`super::Division::Overlapping`]) is an adaptive channel beside those of one half alone, which all
//!   packets of that half can ask for: a node of its own where buffers are shared, else none.
//!
//! That takes time with the cube of the number of routers, and with its fourth power where packets go by way of another router,
//! so a large network is represented by a small one: each dimension is cut down to 4 or 5 routers (3 or 4 in more than two
//! dimensions), odd stays odd and even stays even. A ring of four already has all that a longer one can depend on: packets that
//! turn into it, pass through, tie, and cross its dateline. The tests look at longer ones. With many dimensions even that is too
//! much; then there is no answer ([`Finding::Unknown`]).

use super::scheme::{Place, Scheme, Start};
use crate::topology::{Coords, DIMENSION_NAMES, Grid};
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

/// A packet somewhere on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Walk {
    at: Coords,
    dst: Coords,
    to: Coords,
    trip: super::Trip,
    /// Input port and set that it came by.
    came: Option<(u8, u8)>,
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

/// Whether channels can wait for each other in a cycle under a scheme.
///
/// `shares`: the scheme has two halves, and there is a VC that belongs to both.
pub fn find_cycle(
    grid: &Grid,
    make: impl Fn(&Grid) -> std::sync::Arc<dyn Scheme>,
    buffers: Buffers,
    shares: bool,
) -> Finding {
    let small = smaller(grid);
    let scheme = make(&small);
    match (Explorer { shares, ..Explorer::new(&small, scheme.as_ref(), buffers) }).explore() {
        Ok(edges) => cycle(&edges)
            .map_or(Finding::Free, |nodes| Finding::Cycle(nodes.into_iter().map(|node| name(&small, node)).collect())),
        Err(Stop::Stuck(packet)) => Finding::Cycle(vec![packet]),
        Err(Stop::TooMany) => Finding::Unknown,
    }
}

/// A network of the same shape with short dimensions.
fn smaller(grid: &Grid) -> Grid {
    let least = if grid.dims() > 2 { 3 } else { 4 };
    let size = |&a: &u32| a.min(least + (a + least) % 2);
    let sizes: Vec<u32> = grid.sizes().iter().map(size).collect();
    let wraps: Vec<bool> = (0..grid.dims()).map(|d| grid.wraps(d)).collect();
    Grid::new(&sizes, &wraps, grid.ring2_single())
}

/// Whether the graph of a network, not cut down, has a cycle.
#[cfg(test)]
pub(super) fn whole_graph_has_cycle(grid: &Grid, scheme: &dyn Scheme, buffers: Buffers) -> bool {
    Explorer::new(grid, scheme, buffers).explore().map_or(true, |edges| cycle(&edges).is_some())
}

/// Most states of packets that are followed: some gigabyte, some ten seconds.
const MOST_WALKS: usize = 8_000_000;

/// Why not every way was followed to its end.
enum Stop {
    Stuck(String),
    TooMany,
}

/// Follows every way.
struct Explorer<'a> {
    grid: &'a Grid,
    scheme: &'a dyn Scheme,
    buffers: Buffers,
    shares: bool,
    seen: HashSet<Walk>,
    open: Vec<Walk>,
    edges: BTreeMap<Node, BTreeSet<Node>>,
}

impl<'a> Explorer<'a> {
    fn new(grid: &'a Grid, scheme: &'a dyn Scheme, buffers: Buffers) -> Self {
        let (seen, open, edges) = (HashSet::new(), Vec::new(), BTreeMap::new());
        Explorer { grid, scheme, buffers, shares: false, seen, open, edges }
    }

    fn explore(mut self) -> Result<BTreeMap<Node, BTreeSet<Node>>, Stop> {
        if (self.grid.routers() as usize).pow(2) > MOST_WALKS {
            return Err(Stop::TooMany);
        }
        for (s, t) in (0..self.grid.routers()).flat_map(|s| (0..self.grid.routers()).map(move |t| (s, t))) {
            let (at, dst) = (self.grid.coords(s), self.grid.coords(t));
            for start in self.scheme.starts(self.grid, &at, &dst) {
                self.visit(Walk { at, dst, to: start.to, trip: start.trip, came: None, held: None });
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
        let mut entered: Vec<Start> = Vec::new();
        // Whatever the coins say: those of the start and those of a second walk.
        for coins in 0..1u64 << self.grid.dims() {
            let mut start = Start { to: walk.to, trip: walk.trip };
            self.scheme.enter(self.grid, &walk.at, &walk.dst, &mut start, &|| coins | coins << 8);
            if walk.at != start.to && !entered.contains(&start) {
                entered.push(start);
            }
        }
        entered.into_iter().try_for_each(|start| self.go_on_from(&walk, start))
    }

    fn go_on_from(&mut self, walk: &Walk, start: Start) -> Result<(), Stop> {
        let place = Place { at: walk.at, port: walk.came.map(|c| c.0), set: walk.came.map(|c| c.1) };
        let choice = self.scheme.choice(self.grid, &place, &start);
        if choice.ports == 0 && choice.escape.is_none() {
            let dims = self.grid.dims();
            let (at, dst) = (&walk.at[..dims], &walk.dst[..dims]);
            return Err(Stop::Stuck(format!("a packet at router {at:?} for {dst:?} can go nowhere")));
        }
        let has_escape = choice.escape.is_some() && self.buffers != Buffers::Shared;
        let walk = Walk { to: start.to, trip: start.trip, ..*walk };
        for port in (0..self.grid.network_ports()).filter(|&q| (choice.ports | choice.sideways) >> q & 1 == 1) {
            let mut trip = walk.trip;
            trip.crossed += (choice.crossing >> port & 1) as u8;
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
            self.hop(&walk, port, set, walk.trip, true, true);
        }
        Ok(())
    }

    /// A packet takes a channel. `node`: whether the channel is one of the graph's; `holds`: whether it may be held on.
    fn hop(&mut self, walk: &Walk, port: u8, set: u8, trip: super::Trip, node: bool, holds: bool) {
        let router = self.grid.id(&walk.at);
        let Some(next) = self.grid.neighbour(router, port as usize) else { return };
        let channel = (router, port, set);
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
        self.visit(Walk { at: self.grid.coords(next), trip, came: Some((port ^ 1, set)), held, ..*walk });
    }
}

/// Some cycle of a graph.
fn cycle(edges: &BTreeMap<Node, BTreeSet<Node>>) -> Option<Vec<Node>> {
    let mut done = HashSet::new();
    let none = BTreeSet::new();
    for &start in edges.keys() {
        let mut way = vec![(start, edges.get(&start).unwrap_or(&none).iter())];
        while let Some((at, next)) = way.last_mut() {
            match next.next() {
                None => {
                    done.insert(*at);
                    way.pop();
                }
                Some(n) if done.contains(n) => {}
                Some(n) => {
                    if let Some(from) = way.iter().position(|(node, _)| node == n) {
                        return Some(way[from..].iter().map(|(node, _)| *node).collect());
                    }
                    way.push((*n, edges.get(n).unwrap_or(&none).iter()));
                }
            }
        }
    }
    None
}

fn name(grid: &Grid, (router, port, set): Node) -> String {
    let sign = if port % 2 == 0 { '+' } else { '-' };
    let dimension = DIMENSION_NAMES[port as usize / 2];
    format!("router {:?} {sign}{dimension} set {set}", &grid.coords(router)[..grid.dims()])
}
