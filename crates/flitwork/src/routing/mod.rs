//! Routing: which channels, and which sets of virtual channels, a packet may take.
//!
//! A routing is a file with its options, their checks and its [`Scheme`], and a row in `kind.rs`. The other files are common to
//! all: what a scheme is, whether it can deadlock, how one of several ports is chosen.

mod cross_line;
mod crossings;
mod deadlock;
mod dependencies;
mod dimension_order;
mod duato;
mod kind;
mod min_adapt;
mod o1turn;
mod scheme;
mod selection;
mod two_phase;

pub use cross_line::{CrossLine, CrossLineOptions};
pub use crossings::Crossings;
pub use deadlock::check_deadlock_free;
pub use dependencies::{Buffers, Finding, find_cycle};
pub use dimension_order::{DatelineClasses, DimensionOrder, DimensionOrderOptions, Header, Tie};
pub use duato::{Duato, DuatoMisroutingOptions, DuatoOptions};
pub(crate) use kind::ROUTINGS;
pub use kind::{Context, RoutingSpec};
pub use min_adapt::{MinAdapt, MinAdaptOptions};
pub use o1turn::{O1Turn, O1TurnOptions};
pub use scheme::{Choice, Division, News, Place, Scheme, Start, Trip, datelines};
pub use selection::{AdaptiveTie, Information, Productive, Selection};
pub use two_phase::{Intermediate, RommOptions, TwoPhase, ValiantOptions};

use crate::topology::{Coords, Grid};
use std::sync::Arc;

/// Most virtual channels of a port.
pub(crate) const MAX_VCS: u32 = 640;

/// The routing of a network.
#[derive(Debug, Clone)]
pub enum Routing {
    /// One dimension after the other, classes fixed on entering a ring: all decided at the source.
    DimensionOrder(DimensionOrder),
    /// Anything else.
    Scheme(Arc<dyn Scheme>),
}

impl Routing {
    /// Plain dimension order, if that is what it is.
    pub fn dimension_order(&self) -> Option<&DimensionOrder> {
        match self {
            Routing::DimensionOrder(order) => Some(order),
            Routing::Scheme(_) => None,
        }
    }

    /// The dimension order that all packets walk in, if they do.
    pub fn fixed_way(&self) -> Option<&DimensionOrder> {
        match self {
            Routing::DimensionOrder(order) => Some(order),
            Routing::Scheme(scheme) => scheme.fixed_way(),
        }
    }

    /// Whether packets are cut in two at a tie.
    pub fn splits(&self) -> bool {
        self.dimension_order().is_some_and(|order| order.tie == Tie::Split)
    }

    /// How a packet starts from router `src` to `dst`, and the number of hops that are known then: all of them under plain
    /// dimension order, none otherwise. `coins` decide ties under plain dimension order, `bits` all else.
    #[inline]
    pub fn start(
        &self,
        grid: &Grid,
        src: &Coords,
        dst: &Coords,
        coins: u8,
        bits: impl FnOnce() -> u64,
    ) -> (Start, u32) {
        match self {
            Routing::DimensionOrder(order) => {
                let (header, hops) = order.header_and_hops(grid, src, dst, coins);
                (Start { to: *dst, trip: Trip { header, ..Trip::default() } }, hops)
            }
            Routing::Scheme(scheme) => (scheme.start(grid, src, dst, bits()), 0),
        }
    }

    /// The way of a packet between two routers: (router, output port, set or class of VCs) of each hop. All coins are 0, and of
    /// several minimal ports the lowest is taken.
    pub fn path(&self, grid: &Grid, src: u32, dst: u32) -> Vec<(u32, usize, u8)> {
        let (from, to) = (grid.coords(src), grid.coords(dst));
        let scheme = match self {
            Routing::DimensionOrder(order) => return order.path(grid, &from, &to, order.header(grid, &from, &to, 0)),
            Routing::Scheme(scheme) => scheme,
        };
        let mut start = scheme.start(grid, &from, &to, 0);
        let (mut at, mut came, mut way) = (src, None::<(u8, u8)>, Vec::new());
        loop {
            let here = grid.coords(at);
            scheme.enter(grid, &here, &to, &mut start, &|| 0);
            let place = Place { at: here, port: came.map(|c| c.0), set: came.map(|c| c.1) };
            let choice = scheme.choice(grid, &place, &start);
            let (port, set) = match (choice.ports, choice.escape) {
                (0, None) => return way,
                (0, Some((port, set))) => (port as usize, set),
                (ports, _) => {
                    let port = ports.trailing_zeros() as usize;
                    (port, choice.set_of(port))
                }
            };
            start.trip.crossed += (choice.crossing >> port & 1) as u8;
            way.push((at, port, set));
            let Some(next) = grid.neighbour(at, port) else { return way };
            (at, came) = (next, Some((port as u8 ^ 1, set)));
        }
    }

    /// The scheme, if it is not plain dimension order.
    pub fn scheme(&self) -> Option<&Arc<dyn Scheme>> {
        match self {
            Routing::DimensionOrder(_) => None,
            Routing::Scheme(scheme) => Some(scheme),
        }
    }
}

/// Dateline classes that dimension order needs: two where a dimension wraps.
fn classes(grid: &Grid) -> u8 {
    1 + u8::from(datelines(grid) > 0)
}

/// The dateline class of a walk in dimension `d`, fixed on entering the ring.
fn class_of(grid: &Grid, header: Header, d: usize) -> u8 {
    if grid.wraps(d) { header.wraps >> d & 1 } else { 0 }
}

/// Every start of a scheme that leaves nothing but ties to chance.
fn tie_starts(scheme: &dyn Scheme, order: &DimensionOrder, grid: &Grid, src: &Coords, dst: &Coords) -> Vec<Start> {
    let coins = if order.tie == Tie::Random { 1 << grid.dims() } else { 1u64 };
    let mut starts: Vec<Start> = Vec::new();
    for coins in 0..coins {
        let start = scheme.start(grid, src, dst, coins);
        if !starts.contains(&start) {
            starts.push(start);
        }
    }
    starts
}

#[cfg(test)]
mod tests;
