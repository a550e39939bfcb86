//! Minimal adaptive routing with an escape network that is not left again.
//!
//! All minimal directions on the adaptive virtual channels, and the dimension-order route on the escape channels (one
//! on a mesh, two dateline classes on a torus). A packet that has taken an escape channel stays in the escape network
//! up to its destination, so only the escape channels' own dependencies matter. As BookSim 2's `min_adapt` does it, the
//! default is to ask for everything at once (W. J. Dally and B. Towles, Principles and Practices of Interconnection
//! Networks, 2004, section 14.2).

use super::kind::{Context, Options, check_tie, parity, resolve_order};
use super::scheme::{
    Choice, Division, Place, Scheme, Start, Trip, forget_all_but_directions, port_of, productive, still_crosses,
};
use super::{DimensionOrder, Selection, Tie, classes, tie_starts};
use crate::error::Result;
use crate::topology::{Coords, Grid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Options of minimal adaptive routing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MinAdaptOptions {
    /// Dimensions in the order in which the escape network walks them. Default (empty): 0, 1, 2, ...
    #[serde(default)]
    pub order: Vec<usize>,
    /// What to do at half a ring of even length; not split or by_message. Default: parity.
    #[serde(default = "parity")]
    pub tie: Tie,
    /// Which of several ports a packet asks for. Default: all.
    #[serde(default = "all")]
    pub selection: Selection,
}

fn all() -> Selection {
    Selection::All
}

impl Options for MinAdaptOptions {
    fn resolve(&mut self, context: &Context) -> Result<()> {
        resolve_order(&mut self.order, context.grid)?;
        check_tie(self.tie)
    }

    fn scheme(&self, context: &Context) -> Arc<dyn Scheme> {
        Arc::new(self.min_adapt(context.grid))
    }
}

impl MinAdaptOptions {
    /// The scheme of options that are resolved.
    pub fn min_adapt(&self, grid: &Grid) -> MinAdapt {
        MinAdapt::new(grid, DimensionOrder::of(&self.order, self.tie, grid), self.selection)
    }

    /// Escape channels of a port.
    pub fn escapes(&self, grid: &Grid) -> u32 {
        classes(grid).into()
    }
}

/// Minimal adaptive routing.
#[derive(Debug, Clone)]
pub struct MinAdapt {
    /// The route of the escape network.
    pub order: DimensionOrder,
    /// Which port is asked for.
    pub selection: Selection,
    /// Escape channels of a port.
    pub(crate) escapes: u8,
}

impl MinAdapt {
    /// For a network.
    pub fn new(grid: &Grid, order: DimensionOrder, selection: Selection) -> Self {
        MinAdapt { order, selection, escapes: classes(grid) }
    }
}

impl Scheme for MinAdapt {
    fn division(&self) -> Division {
        Division::Escape(self.escapes)
    }

    fn start(&self, grid: &Grid, src: &Coords, dst: &Coords, bits: u64) -> Start {
        let header = self.order.header(grid, src, dst, bits as u8);
        Start { to: *dst, trip: Trip { header, ..Trip::default() } }
    }

    fn starts(&self, grid: &Grid, src: &Coords, dst: &Coords) -> Vec<Start> {
        tie_starts(self, &self.order, grid, src, dst)
    }

    fn forget(&self, grid: &Grid, place: &mut Place, start: &mut Start) {
        // Of the port that it came by matters the dimension, and that only in the escape network.
        let came = place.port.zip(place.set).filter(|&(_, set)| set < self.escapes);
        forget_all_but_directions(grid, place, start);
        (place.port, place.set) = (came.map(|(port, _)| port & !1), came.map(|(_, set)| set));
    }

    fn choice(&self, grid: &Grid, place: &Place, start: &Start) -> Choice {
        let (at, to, header) = (&place.at, &start.to, start.trip.header);
        let Some(d) = self.order.first_dimension(at, to) else { return Choice::default() };
        let escaped = place.set.filter(|&set| set < self.escapes);
        // The class is fixed on entering a ring, or on entering the escape network within one.
        let class = match (escaped, place.port) {
            (Some(set), Some(port)) if port as usize / 2 == d => set,
            _ => u8::from(self.escapes > 1 && grid.wraps(d) && still_crosses(header, at, to, d)),
        };
        let ports = if escaped.is_some() { 0 } else { productive(grid, header, at, to) };
        Choice { ports, set: self.escapes, escape: Some((port_of(header, d) as u8, class)), ..Choice::default() }
    }

    fn selection(&self) -> Selection {
        self.selection
    }
}
