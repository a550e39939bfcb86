//! Minimal adaptive routing with an escape network that is not left again.
//!
//! All minimal directions on the adaptive virtual channels, and the dimension-order way on the escape channels (one on a mesh,
//! two dateline classes on a torus). A packet that has taken an escape channel stays in the escape network up to its destination, so
//! only the escape channels' own dependencies matter. As BookSim 2's `min_adapt` does it, the default is to ask for everything at
//! once (W. J. Dally and B. Towles, Principles and Practices of Interconnection Networks, 2004, section 14.2).
//! With [`Productive::First`] the adaptive channels are those of one direction alone: what BookSim 2 runs under that name.

use super::scheme::{Choice, Division, Place, Scheme, Start, Trip, port_of, productive, still_crosses};
use super::{DimensionOrder, Productive, Selection, classes, tie_starts};
use crate::topology::{Coords, Grid};

/// Minimal adaptive routing.
#[derive(Debug, Clone)]
pub struct MinAdapt {
    /// The way of the escape network.
    pub order: DimensionOrder,
    /// Which port is asked for.
    pub selection: Selection,
    /// Which directions the adaptive channels lead in.
    pub productive: Productive,
    escapes: u8,
}

impl MinAdapt {
    /// For a network.
    pub fn new(grid: &Grid, order: DimensionOrder, selection: Selection, productive: Productive) -> Self {
        MinAdapt { order, selection, productive, escapes: classes(grid) }
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

    fn fixed_way(&self) -> Option<&DimensionOrder> {
        (self.productive == Productive::First).then_some(&self.order)
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
        let first = port_of(header, d);
        let ports = match self.productive {
            _ if escaped.is_some() => 0,
            Productive::All => productive(grid, header, at, to),
            Productive::First => 1 << first,
        };
        Choice { ports, set: self.escapes, escape: Some((first as u8, class)), ..Choice::default() }
    }

    fn selection(&self) -> Selection {
        self.selection
    }
}
