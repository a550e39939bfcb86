//! What a routing answers for each head: which output ports, and which sets of virtual channels, a packet may ask for.
//!
//! Plain dimension order is decided once, at the source ([`super::DimensionOrder`]). Every other routing is a
//! [`Scheme`]: asked when a packet starts, when it comes to the front of a buffer, and told nothing else. A scheme
//! never looks at the state of the network; what is free, and which of several ports is taken, is the router's business
//! ([`super::Selection`]).
//!
//! The virtual channels of every network port are divided into *sets* ([`Division`]), numbered from 0; a scheme names
//! sets, not channels.

use super::{DimensionOrder, Header, Information, Selection};
use crate::topology::{Coords, Grid};
use std::ops::Range;

/// What a packet carries along besides its destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Trip {
    /// Directions and dateline classes towards the router that it walks to now.
    pub header: Header,
    /// Datelines crossed so far; counted by the router.
    pub crossed: u8,
    /// What the scheme makes of it: a phase, an order of dimensions, a virtual network.
    pub mode: u8,
    /// Hops away from the destination that it may still make; counted down by the router.
    pub misroutes: u8,
}

/// A packet about to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Start {
    /// Where the packet walks to first: its destination, or an intermediate router.
    pub to: Coords,
    /// The routing header of the packet.
    pub trip: Trip,
}

/// What a packet may ask for at a router. Output ports are bits, `2 * dimension + (1 if minus)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Choice {
    /// Ports that lead towards the destination; on a grid the lowest 16.
    pub ports: u64,
    /// The set of VCs for them.
    pub set: u8,
    /// The ports among `ports` that use the next set instead, because their channel crosses a dateline; the router
    /// counts the crossing.
    pub crossing: u16,
    /// Port and set to ask for when none of `ports` has a VC to give: the escape channel.
    pub escape: Option<(u8, u8)>,
    /// Ports that lead away from the destination, with `set`: only if nothing else has a VC to give.
    pub sideways: u16,
    /// Of two `ports`, the one on the longer route, and the set for it: the router compares the queues behind both, and
    /// counts in [`Trip::crossed`] that a packet took this one.
    pub nonminimal: Option<(u8, u8)>,
}

impl Choice {
    /// A choice of one port and one set.
    pub fn one(port: usize, set: u8, crosses: bool) -> Self {
        let crossing = if crosses { 1 << port } else { 0 };
        Choice { ports: 1 << port, set, crossing, ..Choice::default() }
    }

    /// What the router counts in [`Trip::crossed`] of a packet that takes one of `ports`.
    #[inline]
    pub fn counted(&self, port: usize) -> u8 {
        (u64::from(self.crossing) >> port & 1) as u8 + u8::from(self.is_nonminimal(port))
    }

    /// Whether a port is that on the longer route.
    #[inline]
    pub fn is_nonminimal(&self, port: usize) -> bool {
        self.nonminimal.is_some_and(|(other, _)| usize::from(other) == port)
    }

    /// What is left of it when a packet has decided: the port that is not minimal, or all others. Both may be the same
    /// port, where the routes part later.
    pub fn decided(&self, nonminimal: bool) -> Choice {
        match self.nonminimal {
            Some((port, _)) if nonminimal => Choice { ports: 1 << port, ..*self },
            Some((port, _)) => {
                let others = self.ports & !(1 << port);
                Choice { ports: if others == 0 { self.ports } else { others }, nonminimal: None, ..*self }
            }
            None => *self,
        }
    }

    /// The set of VCs behind one of `ports` other than [`Choice::nonminimal`].
    #[inline]
    pub fn minimal_set_of(&self, port: usize) -> u8 {
        self.set + (u64::from(self.crossing) >> port & 1) as u8
    }

    /// The set of VCs behind one of `ports`.
    #[inline]
    pub fn set_of(&self, port: usize) -> u8 {
        match self.nonminimal {
            Some((other, set)) if usize::from(other) == port => set,
            _ => self.minimal_set_of(port),
        }
    }
}

/// Where a packet is when it is asked for its choice.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The router.
    pub at: Coords,
    /// The input port that it came by; `None` from a terminal.
    pub port: Option<u8>,
    /// The set of its input VC; `None` from a terminal.
    pub set: Option<u8>,
}

/// How the VCs of a port are divided into sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Division {
    /// So many sets of equal size; where the number of VCs is no multiple, later sets are larger by one.
    Equal(u8),
    /// Two halves; of an odd number of VCs the middle one belongs to both, and a packet that came by it counts as one
    /// of the second.
    Overlapping,
    /// So many sets of one VC each for escape, and one set of all the others.
    Escape(u8),
    /// So many sets of one VC each for escape, and one set of the VCs `first..end`. Network ports leave all others
    /// idle; packets may be injected and ejected on them.
    EscapeAndSome {
        /// Escape sets.
        escapes: u8,
        /// First VC of the last set.
        first: u32,
        /// The one behind its last.
        end: u32,
    },
}

/// Most sets: their numbers are bytes.
pub(super) const MOST_SETS: u32 = 255;

/// What is expected of routes that use a set for each of their channels, where the longest has too many.
pub(super) fn too_long(hops: u32) -> String {
    format!("routes of at most {MOST_SETS} channels, a set of buffers each; these have {hops}")
}

impl Division {
    /// Least number of VCs a port.
    pub fn least_vcs(self) -> u32 {
        match self {
            Division::Equal(sets) => u32::from(sets),
            Division::Overlapping => 2,
            Division::Escape(sets) => u32::from(sets) + 1,
            Division::EscapeAndSome { end, .. } => end,
        }
    }

    /// The VCs of each set, of `vcs` (at least [`Division::least_vcs`]).
    pub fn sets(self, vcs: u32) -> Vec<Range<u32>> {
        match self {
            Division::Equal(n) => {
                let n = u32::from(n);
                (0..n).map(|i| i * vcs / n..(i + 1) * vcs / n).collect()
            }
            Division::Overlapping => vec![0..vcs - vcs / 2, vcs / 2..vcs],
            Division::Escape(n) => {
                let n = u32::from(n);
                (0..n).map(|i| i..i + 1).chain(std::iter::once(n..vcs)).collect()
            }
            Division::EscapeAndSome { escapes, first, end } => {
                (0..u32::from(escapes)).map(|i| i..i + 1).chain(std::iter::once(first..end)).collect()
            }
        }
    }
}

/// How congestion information spreads: what routers know of the queues of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CongestionSpread {
    /// How far a router sees.
    pub information: Information,
    /// Time that congestion information takes for each hop \[cycles].
    pub delay_cycles: u32,
}

impl CongestionSpread {
    /// Cycles that are remembered, a power of two: information from the far end of the longest dimension is as old as
    /// that.
    pub fn cycles_kept(self, grid: &Grid) -> u64 {
        let farthest = grid.sizes().iter().copied().max().unwrap_or(1);
        (u64::from(farthest * self.delay_cycles) + 1).next_power_of_two()
    }
}

/// A routing other than plain dimension order.
pub trait Scheme: std::fmt::Debug + Send + Sync {
    /// How the VCs are divided.
    fn division(&self) -> Division;

    /// How a packet from `src` to `dst` starts; `bits` are random.
    fn start(&self, grid: &Grid, src: &Coords, dst: &Coords, bits: u64) -> Start;

    /// Whether a packet may first walk to any router, whatever its destination, and turn there.
    fn turns_anywhere(&self) -> bool {
        false
    }

    /// Every start of a first walk from `src` to another router `via`, where a packet turns to any destination.
    fn first_walks(&self, _grid: &Grid, _src: &Coords, _via: &Coords) -> Vec<Start> {
        Vec::new()
    }

    /// Every start that a packet from `src` to `dst` may have, first walks to other routers where it turns to any
    /// destination left out.
    fn starts(&self, grid: &Grid, src: &Coords, dst: &Coords) -> Vec<Start>;

    /// Takes out of a packet that has come to the front of a buffer what none of its later choices depends on.
    fn forget(&self, _grid: &Grid, _place: &mut Place, _start: &mut Start) {}

    /// How many of the lowest bits [`Scheme::enter`] looks at, from bit 0 or from bit 8.
    fn bits_on_entering(&self, _grid: &Grid) -> u32 {
        0
    }

    /// A packet comes to the front of a buffer at `at`: brings `to` and `trip` up to date. `bits` gives those of its
    /// start; it is asked only where they are needed, because this runs for every packet in every router.
    fn enter(&self, _grid: &Grid, _at: &Coords, _dst: &Coords, _start: &mut Start, _bits: &dyn Fn() -> u64) {}

    /// What a packet at a router other than its destination may ask for.
    fn choice(&self, grid: &Grid, place: &Place, start: &Start) -> Choice;

    /// The dimension order that every packet walks in, if there is no other route: loads of channels are known then.
    fn fixed_route(&self) -> Option<&DimensionOrder> {
        None
    }

    /// Which of several ports with a VC to give a packet asks for.
    fn selection(&self) -> Selection {
        Selection::MostCredits
    }

    /// How congestion information reaches a router; `None`: a router knows only its own output ports.
    fn congestion_spread(&self) -> Option<CongestionSpread> {
        None
    }

    /// Cycles that a packet waits before it asks for a port that leads away.
    fn patience_cycles(&self) -> u32 {
        0
    }
}

/// Whether the channel of output `port` of the router at `at` is a wrap channel: whether it crosses a dateline.
#[inline]
pub fn crosses(grid: &Grid, at: &Coords, port: usize) -> bool {
    let d = port / 2;
    grid.wraps(d) && at[d] == if port.is_multiple_of(2) { grid.size(d) - 1 } else { 0 }
}

/// Number of wrapped dimensions: the most datelines that a shortest route crosses.
pub fn datelines(grid: &Grid) -> u8 {
    (0..grid.dims()).filter(|&d| grid.has_dateline(d)).count() as u8
}

/// Whether the rest of a route in dimension `d`, in the direction of `header`, still crosses its dateline.
#[inline]
pub fn still_crosses(header: Header, at: &Coords, to: &Coords, d: usize) -> bool {
    if header.minus >> d & 1 == 1 { at[d] < to[d] } else { at[d] > to[d] }
}

/// The port by which `header` walks dimension `d`.
#[inline]
pub fn port_of(header: Header, d: usize) -> usize {
    2 * d + (header.minus >> d & 1) as usize
}

/// Takes out of `header` the directions, and what it crosses, in the dimensions that are walked to their end.
pub(super) fn forget_walked(grid: &Grid, at: &Coords, to: &Coords, header: &mut Header) {
    let left = (0..grid.dims()).filter(|&d| at[d] != to[d]).fold(0, |left, d| left | 1 << d);
    header.minus &= left;
    header.wraps &= left;
}

/// The same of a packet to which only directions matter, wherever it came from.
pub(super) fn forget_all_but_directions(grid: &Grid, place: &mut Place, start: &mut Start) {
    (place.port, place.set) = (None, None);
    forget_walked(grid, &place.at, &start.to, &mut start.trip.header);
    start.trip.header.wraps = 0;
}

/// The ports of all dimensions in which `at` and `to` differ, as bits.
#[inline]
pub fn productive(grid: &Grid, header: Header, at: &Coords, to: &Coords) -> u64 {
    (0..grid.dims()).filter(|&d| at[d] != to[d]).fold(0, |ports, d| ports | 1 << port_of(header, d))
}

/// The ports among `ports` whose channel crosses a dateline.
#[inline]
pub fn crossing(grid: &Grid, at: &Coords, ports: u64) -> u16 {
    let (mut left, mut found) = (ports, 0);
    while left != 0 {
        let port = left.trailing_zeros();
        left &= left - 1;
        found |= u16::from(crosses(grid, at, port as usize)) << port;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_cover_all_vcs_once() {
        for vcs in 6..20 {
            for division in [Division::Equal(4), Division::Equal(6), Division::Escape(3)] {
                let sets = division.sets(vcs);
                assert!(sets.iter().all(|s| !s.is_empty()));
                assert_eq!(sets.concat_vcs(), (0..vcs).collect::<Vec<_>>());
            }
        }
    }

    trait Concat {
        fn concat_vcs(&self) -> Vec<u32>;
    }

    impl Concat for Vec<Range<u32>> {
        fn concat_vcs(&self) -> Vec<u32> {
            self.iter().flat_map(Clone::clone).collect()
        }
    }
}
