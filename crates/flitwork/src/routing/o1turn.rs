//! O1TURN: dimension order, forwards or backwards, by a random bit for each packet.
//!
//! D. Seo, A. Ali, W.-T. Lim, N. Rafique and M. Thottethodi, "Near-optimal worst-case throughput routing for
//! two-dimensional mesh networks", ISCA 2005: half of the packets walk x first, half y first, each half on virtual
//! channels of its own. In more than two dimensions the second half walks the dimensions in the opposite order.

use super::kind::{Context, Options, check_tie, parity, resolve_order};
use super::scheme::{Choice, Division, Place, Scheme, Start, Trip, forget_walked, port_of};
use super::{DimensionOrder, Tie, class_of, classes, tie_starts};
use crate::error::Result;
use crate::topology::{Coords, Grid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Options of O1TURN.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct O1TurnOptions {
    /// Dimensions in the order of the forward half. Default (empty): 0, 1, 2, ...
    #[serde(default)]
    pub order: Vec<usize>,
    /// What to do at half a ring of even length; not split or by_message. Default: parity.
    #[serde(default = "parity")]
    pub tie: Tie,
}

impl Options for O1TurnOptions {
    fn resolve(&mut self, context: &Context) -> Result<()> {
        resolve_order(&mut self.order, context.grid)?;
        check_tie(self.tie)
    }

    fn scheme(&self, context: &Context) -> Arc<dyn Scheme> {
        let order = DimensionOrder::of(&self.order, self.tie, context.grid);
        Arc::new(O1Turn::new(context.grid, order))
    }
}

/// O1TURN routing.
#[derive(Debug, Clone)]
pub struct O1Turn {
    forwards: DimensionOrder,
    backwards: DimensionOrder,
    classes: u8,
}

/// The random bit that decides the order; lower ones decide ties.
const ORDER_BIT: u32 = 16;

impl O1Turn {
    /// For a network; `order` is that of one half.
    pub fn new(grid: &Grid, order: DimensionOrder) -> Self {
        let backwards = DimensionOrder { order: order.order.iter().rev().copied().collect(), tie: order.tie };
        O1Turn { forwards: order, backwards, classes: classes(grid) }
    }
}

impl Scheme for O1Turn {
    fn division(&self) -> Division {
        Division::Equal(2 * self.classes)
    }

    fn start(&self, grid: &Grid, src: &Coords, dst: &Coords, bits: u64) -> Start {
        let header = self.forwards.header(grid, src, dst, bits as u8);
        let mode = (bits >> ORDER_BIT & 1) as u8;
        Start { to: *dst, trip: Trip { header, mode, ..Trip::default() } }
    }

    fn starts(&self, grid: &Grid, src: &Coords, dst: &Coords) -> Vec<Start> {
        let forwards = tie_starts(self, &self.forwards, grid, src, dst);
        let backwards = forwards.iter().map(|s| Start { trip: Trip { mode: 1, ..s.trip }, ..*s });
        forwards.iter().copied().chain(backwards).collect()
    }

    fn forget(&self, grid: &Grid, place: &mut Place, start: &mut Start) {
        (place.port, place.set) = (None, None);
        forget_walked(grid, &place.at, &start.to, &mut start.trip.header);
    }

    fn choice(&self, grid: &Grid, place: &Place, start: &Start) -> Choice {
        let trip = &start.trip;
        let order = if trip.mode == 0 { &self.forwards } else { &self.backwards };
        match order.first_dimension(&place.at, &start.to) {
            Some(d) => {
                let set = trip.mode * self.classes + class_of(grid, trip.header, d);
                Choice::one(port_of(trip.header, d), set, false)
            }
            None => Choice::default(),
        }
    }
}
