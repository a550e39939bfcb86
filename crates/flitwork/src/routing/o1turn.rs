//! O1TURN: dimension order, forwards or backwards, by a fair coin for each packet.
//!
//! D. Seo, A. Ali, W.-T. Lim, N. Rafique and M. Thottethodi, "Near-optimal worst-case throughput routing for two-dimensional mesh
//! networks", ISCA 2005: half of the packets walk x first, half y first, each half on virtual channels of its own. In more
//! than two dimensions the second half walks the dimensions in the opposite order.

use super::kind::{Context, Options, check_tie, parity, resolve_order};
use super::scheme::{Choice, Division, Place, Scheme, Start, Trip, port_of};
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
    /// What to do at half a ring of even length; not split. Default: parity.
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
        let scheme = O1Turn::new(context.grid, order);
        Arc::new(if context.shared_middle_vc { scheme.with_shared_middle() } else { scheme })
    }
}

/// O1TURN routing.
#[derive(Debug, Clone)]
pub struct O1Turn {
    forwards: DimensionOrder,
    backwards: DimensionOrder,
    classes: u8,
    division: Division,
}

/// The random bit that decides the order; lower ones decide ties.
const ORDER_BIT: u32 = 16;

impl O1Turn {
    /// For a network; `order` is that of one half.
    pub fn new(grid: &Grid, order: DimensionOrder) -> Self {
        let backwards = DimensionOrder { order: order.order.iter().rev().copied().collect(), tie: order.tie };
        let classes = classes(grid);
        O1Turn { forwards: order, backwards, classes, division: Division::Equal(2 * classes) }
    }

    /// With a middle VC, if their number is odd, for both orders, where nothing but the order divides the VCs. Each router then tells
    /// the order by the VC that a packet came by, as BookSim 2 does: one that came by the middle VC goes on backwards.
    pub fn with_shared_middle(self) -> Self {
        let division = if self.classes == 1 { Division::Overlapping } else { self.division };
        O1Turn { division, ..self }
    }

    /// Whether a packet walks forwards (0) or backwards (1) from here.
    fn mode(&self, place: &Place, drawn: u8) -> u8 {
        match (self.division, place.set) {
            (Division::Overlapping, Some(set)) => set,
            _ => drawn,
        }
    }
}

impl Scheme for O1Turn {
    fn division(&self) -> Division {
        self.division
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

    fn choice(&self, grid: &Grid, place: &Place, start: &Start) -> Choice {
        let trip = &start.trip;
        let mode = self.mode(place, trip.mode);
        let order = if mode == 0 { &self.forwards } else { &self.backwards };
        match order.first_dimension(&place.at, &start.to) {
            Some(d) => {
                let set = mode * self.classes + class_of(grid, trip.header, d);
                Choice::one(port_of(trip.header, d), set, false)
            }
            None => Choice::default(),
        }
    }
}
