//! Two walks in dimension order, through a random intermediate router: Valiant's routing and ROMM.
//!
//! * L. G. Valiant, "A scheme for fast parallel communication", SIAM J. Computing 11(2), 1982: the intermediate router
//!   is any router, source and destination included. Every pattern loads the channels like two times uniform traffic.
//! * T. Nesson and S. L. Johnsson, "ROMM routing on mesh and torus networks", SPAA 1995: it lies on a shortest route,
//!   in the box that source and destination span; in each dimension every position between the two is equally likely.
//!
//! The two walks use different sets of virtual channels, each divided into two dateline classes where a dimension
//! wraps.

use super::kind::{Context, Options, check_tie, parity, resolve_order};
use super::scheme::{Choice, Division, Place, Scheme, Start, Trip, forget_walked, port_of, still_crosses};
use super::{DimensionOrder, Header, Tie, class_of, classes};
use crate::error::Result;
use crate::mix::{draw_below, mix};
use crate::topology::{Coords, Grid, MAX_DIMS};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::Arc;

/// Options of Valiant's routing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValiantOptions {
    /// Dimensions in the order in which they are walked. Default (empty): 0, 1, 2, ...
    #[serde(default)]
    pub order: Vec<usize>,
    /// What to do at half a ring of even length; not split or by_message. Default: parity.
    #[serde(default = "parity")]
    pub tie: Tie,
}

impl Options for ValiantOptions {
    fn resolve(&mut self, context: &Context) -> Result<()> {
        resolve_order(&mut self.order, context.grid)?;
        check_tie(self.tie)
    }

    fn scheme(&self, context: &Context) -> Arc<dyn Scheme> {
        let order = DimensionOrder::of(&self.order, self.tie, context.grid);
        Arc::new(TwoPhase::new(context.grid, order, Intermediate::Anywhere))
    }
}

/// Options of ROMM.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RommOptions {
    /// Dimensions in the order in which they are walked. Default (empty): 0, 1, 2, ...
    #[serde(default)]
    pub order: Vec<usize>,
    /// What to do at half a ring of even length; not split or by_message. Default: parity.
    #[serde(default = "parity")]
    pub tie: Tie,
}

impl Options for RommOptions {
    fn resolve(&mut self, context: &Context) -> Result<()> {
        resolve_order(&mut self.order, context.grid)?;
        check_tie(self.tie)
    }

    fn scheme(&self, context: &Context) -> Arc<dyn Scheme> {
        let order = DimensionOrder::of(&self.order, self.tie, context.grid);
        Arc::new(TwoPhase::new(context.grid, order, Intermediate::OnTheWay))
    }
}

/// Where the intermediate router lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intermediate {
    /// Anywhere (Valiant).
    Anywhere,
    /// On a shortest route (ROMM).
    OnTheWay,
}

/// Routing through an intermediate router.
#[derive(Debug, Clone)]
pub struct TwoPhase {
    /// The route of each walk.
    pub order: DimensionOrder,
    /// Where the first walk ends.
    pub intermediate: Intermediate,
    classes: u8,
}

impl TwoPhase {
    /// For a network.
    pub fn new(grid: &Grid, order: DimensionOrder, intermediate: Intermediate) -> Self {
        TwoPhase { order, intermediate, classes: classes(grid) }
    }

    /// All random bits that decide ties differently, on both walks.
    fn tie_bits(&self, grid: &Grid) -> impl Iterator<Item = u64> + use<> {
        let combinations = if self.order.tie == Tie::Random { 1 << grid.dims() } else { 1u64 };
        (0..combinations).map(|bits| bits | bits << 8)
    }

    /// The start of a packet that goes through `via`.
    fn start_by(&self, grid: &Grid, src: &Coords, dst: &Coords, via: Coords, bits: u64) -> Start {
        let mut start = Start { to: via, trip: Trip::default() };
        start.trip.header = match self.intermediate {
            Intermediate::Anywhere => self.order.header(grid, src, &via, bits as u8),
            // The direction is that of the whole route, also where the first walk alone would be a tie.
            Intermediate::OnTheWay => along(grid, self.order.header(grid, src, dst, bits as u8).minus, src, &via),
        };
        self.enter(grid, src, dst, &mut start, &|| bits);
        start
    }

    /// The router `steps[d]` hops along each dimension of the route of `header`.
    fn between(&self, grid: &Grid, src: &Coords, header: Header, steps: &Coords) -> Coords {
        let mut via = *src;
        for d in 0..grid.dims() {
            let a = grid.size(d);
            let step = steps[d] % a;
            via[d] = if header.minus >> d & 1 == 1 { (src[d] + a - step) % a } else { (src[d] + step) % a };
        }
        via
    }

    /// Hops in each dimension of the route of `header` from `src` to `dst`.
    fn hops(&self, grid: &Grid, src: &Coords, dst: &Coords, header: Header) -> Coords {
        let mut hops = [0; MAX_DIMS];
        for (d, h) in hops.iter_mut().enumerate().take(grid.dims()) {
            *h = grid.distance(d, src[d], dst[d], header.minus >> d & 1 == 0).unwrap_or(0);
        }
        hops
    }
}

/// The header of a route from `from` to `to` whose directions are given.
fn along(grid: &Grid, minus: u8, from: &Coords, to: &Coords) -> Header {
    let without = Header { minus, wraps: 0 };
    let wraps = (0..grid.dims()).fold(0, |wraps, d| wraps | u8::from(still_crosses(without, from, to, d)) << d);
    Header { minus, wraps }
}

impl Scheme for TwoPhase {
    fn division(&self) -> Division {
        Division::Equal(2 * self.classes)
    }

    fn start(&self, grid: &Grid, src: &Coords, dst: &Coords, bits: u64) -> Start {
        let via = match self.intermediate {
            Intermediate::Anywhere => grid.coords(draw_below(mix(bits), u64::from(grid.routers())) as u32),
            Intermediate::OnTheWay => {
                let header = self.order.header(grid, src, dst, bits as u8);
                let mut steps = self.hops(grid, src, dst, header);
                for (d, step) in steps.iter_mut().enumerate() {
                    *step = draw_below(mix(bits ^ (d as u64 + 1)), u64::from(*step) + 1) as u32;
                }
                self.between(grid, src, header, &steps)
            }
        };
        self.start_by(grid, src, dst, via, bits)
    }

    fn turns_anywhere(&self) -> bool {
        self.intermediate == Intermediate::Anywhere
    }

    fn first_walks(&self, grid: &Grid, src: &Coords, via: &Coords) -> Vec<Start> {
        self.tie_bits(grid).map(|bits| self.start_by(grid, src, via, *via, bits)).collect()
    }

    fn starts(&self, grid: &Grid, src: &Coords, dst: &Coords) -> Vec<Start> {
        let mut starts = HashSet::new();
        for bits in self.tie_bits(grid) {
            if self.intermediate == Intermediate::Anywhere {
                starts.insert(self.start_by(grid, src, dst, *src, bits));
                continue;
            }
            let header = self.order.header(grid, src, dst, bits as u8);
            let most = self.hops(grid, src, dst, header);
            let mut steps = [0; MAX_DIMS];
            loop {
                starts.insert(self.start_by(grid, src, dst, self.between(grid, src, header, &steps), bits));
                let Some(d) = (0..grid.dims()).find(|&d| steps[d] < most[d]) else { break };
                steps[d] += 1;
                steps[..d].fill(0);
            }
        }
        starts.into_iter().collect()
    }

    fn forget(&self, grid: &Grid, place: &mut Place, start: &mut Start) {
        (place.port, place.set) = (None, None);
        let minus = start.trip.header.minus;
        forget_walked(grid, &place.at, &start.to, &mut start.trip.header);
        if self.intermediate == Intermediate::OnTheWay && start.trip.mode == 0 {
            // The second walk has the directions of the whole route.
            start.trip.header.minus = minus;
        }
    }

    fn bits_on_entering(&self, grid: &Grid) -> u32 {
        let draws = self.intermediate == Intermediate::Anywhere && self.order.tie == Tie::Random;
        if draws { grid.dims() as u32 } else { 0 }
    }

    fn enter(&self, grid: &Grid, at: &Coords, dst: &Coords, start: &mut Start, bits: &dyn Fn() -> u64) {
        if start.trip.mode == 0 && *at == start.to {
            start.to = *dst;
            start.trip.mode = 1;
            start.trip.header = match self.intermediate {
                Intermediate::Anywhere => self.order.header(grid, at, dst, (bits() >> 8) as u8),
                Intermediate::OnTheWay => along(grid, start.trip.header.minus, at, dst),
            };
        }
    }

    fn choice(&self, grid: &Grid, place: &Place, start: &Start) -> Choice {
        let trip = &start.trip;
        match self.order.first_dimension(&place.at, &start.to) {
            Some(d) => {
                let set = trip.mode * self.classes + class_of(grid, trip.header, d);
                Choice::one(port_of(trip.header, d), set, false)
            }
            None => Choice::default(),
        }
    }
}
