//! Cross-Line: minimal adaptive, by what the routers of a row and a column tell each other about their queues.
//!
//! After T. Yokota et al.'s use of it ("a routing algorithm that uses global information"); the original paper could
//! not be found, so this follows what its users say of it, and its six virtual channels on a two-dimensional torus are
//! explained by the virtual networks of D. H. Linder and J. C. Harden, "An adaptive and fault tolerant wormhole routing
//! strategy for k-ary n-cubes", IEEE Trans. Computers 40(1), 1991: `2^(n-1)` virtual networks, each with `n + 1`
//! levels.
//!
//! * The virtual network is given by the directions in all dimensions but the first; where there is nothing to walk,
//!   the parity of the source decides. The level is the number of datelines crossed so far, the wrap channel itself
//!   counted. Then the complete minimal adaptive dependency graph has no cycle, and no escape channel is needed.
//! * A router knows the queue behind each output port of the routers on its row and its column: flits in the buffers at
//!   the other end, as seen by credits, over their capacity, in steps of 1/15. This congestion information travels one
//!   hop a cycle. A packet that can go on in several dimensions prefers the port with the smallest mean over the
//!   routers that it would pass in that dimension, ties to the larger remaining distance, then to the lower dimension.
//!   It takes another one if the preferred one has no virtual channel to give.

use super::kind::{Context, Options, check_tie, one, parity};
use super::scheme::{
    Choice, CongestionSpread, Division, Place, Scheme, Start, Trip, crossing, datelines, forget_all_but_directions,
    productive,
};
use super::{DimensionOrder, Information, Selection, Tie, tie_starts};
use crate::error::{Error, Result};
use crate::topology::{Coords, Grid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Most cycles that congestion information may take for a hop.
const MAX_DELAY_CYCLES: u32 = 16;

/// Options of Cross-Line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CrossLineOptions {
    /// What to do at half a ring of even length; not split or by_message. Default: parity.
    #[serde(default = "parity")]
    pub tie: Tie,
    /// What a router knows: cross, local, none. Default: cross.
    #[serde(default)]
    pub information: Information,
    /// Time that congestion information takes for each hop \[cycles], 0 to 16. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(max = MAX_DELAY_CYCLES))]
    pub news_delay_cycles: u32,
}

impl Options for CrossLineOptions {
    fn resolve(&mut self, _context: &Context) -> Result<()> {
        check_tie(self.tie)?;
        if self.news_delay_cycles <= MAX_DELAY_CYCLES {
            return Ok(());
        }
        let expected = format!("0 to {MAX_DELAY_CYCLES} cycles");
        Err(Error::config("network.routing.news_delay_cycles", self.news_delay_cycles, expected, ""))
    }

    fn scheme(&self, context: &Context) -> Arc<dyn Scheme> {
        let order = DimensionOrder::of(&[], self.tie, context.grid);
        Arc::new(CrossLine::new(context.grid, order, self.information, self.news_delay_cycles))
    }
}

/// Cross-Line routing.
#[derive(Debug, Clone)]
pub struct CrossLine {
    /// Directions, with the rule for ties.
    pub order: DimensionOrder,
    /// What a router knows.
    pub information: Information,
    /// Time that congestion information takes for each hop \[cycles].
    pub news_delay_cycles: u32,
    levels: u8,
    networks: u8,
}

impl CrossLine {
    /// For a network.
    pub fn new(grid: &Grid, order: DimensionOrder, information: Information, news_delay_cycles: u32) -> Self {
        CrossLine {
            order,
            information,
            news_delay_cycles,
            levels: datelines(grid) + 1,
            networks: 1 << (grid.dims() - 1),
        }
    }

    /// The virtual network of a packet: one bit for each dimension but the first.
    fn network(&self, grid: &Grid, src: &Coords, dst: &Coords, minus: u8) -> u8 {
        let parity = (src.iter().sum::<u32>() & 1) as u8;
        (1..grid.dims()).fold(0, |n, d| {
            let bit = if src[d] == dst[d] { parity } else { minus >> d & 1 };
            n | bit << (d - 1)
        })
    }
}

impl Scheme for CrossLine {
    fn division(&self) -> Division {
        Division::Equal(self.networks * self.levels)
    }

    fn start(&self, grid: &Grid, src: &Coords, dst: &Coords, bits: u64) -> Start {
        let header = self.order.header(grid, src, dst, bits as u8);
        let mode = self.network(grid, src, dst, header.minus);
        Start { to: *dst, trip: Trip { header, mode, ..Trip::default() } }
    }

    fn starts(&self, grid: &Grid, src: &Coords, dst: &Coords) -> Vec<Start> {
        tie_starts(self, &self.order, grid, src, dst)
    }

    fn forget(&self, grid: &Grid, place: &mut Place, start: &mut Start) {
        forget_all_but_directions(grid, place, start);
    }

    fn choice(&self, grid: &Grid, place: &Place, start: &Start) -> Choice {
        let trip = &start.trip;
        let ports = productive(grid, trip.header, &place.at, &start.to);
        Choice {
            ports,
            set: trip.mode * self.levels + trip.crossed,
            crossing: crossing(grid, &place.at, ports),
            ..Choice::default()
        }
    }

    fn selection(&self) -> Selection {
        if self.information == Information::None { Selection::Random } else { Selection::MostCredits }
    }

    fn congestion_spread(&self) -> Option<CongestionSpread> {
        (self.information != Information::None)
            .then_some(CongestionSpread { information: self.information, delay_cycles: self.news_delay_cycles })
    }
}
