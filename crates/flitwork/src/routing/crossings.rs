//! Dimension order with a set of virtual channels for each number of datelines crossed.
//!
//! T. Yokota, K. Ootsu and T. Baba's `do`: a packet uses set `k` after it has crossed `k` datelines, the wrap channel
//! itself counted. An `n`-dimensional torus needs `n + 1` sets. Every dependency leads to the same ring further from
//! its dateline, to a later dimension, or to a higher set.

use super::scheme::{
    Choice, Division, Place, Scheme, Start, Trip, crosses, datelines, forget_all_but_directions, port_of,
};
use super::{DimensionOrder, tie_starts};
use crate::topology::{Coords, Grid};

/// Dimension order, virtual channels by datelines crossed.
#[derive(Debug, Clone)]
pub struct Crossings {
    /// The route.
    pub order: DimensionOrder,
    sets: u8,
}

impl Crossings {
    /// For a network.
    pub fn new(grid: &Grid, order: DimensionOrder) -> Self {
        Crossings { order, sets: datelines(grid) + 1 }
    }
}

impl Scheme for Crossings {
    fn division(&self) -> Division {
        Division::Equal(self.sets)
    }

    fn start(&self, grid: &Grid, src: &Coords, dst: &Coords, bits: u64) -> Start {
        let header = self.order.header(grid, src, dst, bits as u8);
        Start { to: *dst, trip: Trip { header, ..Trip::default() } }
    }

    fn starts(&self, grid: &Grid, src: &Coords, dst: &Coords) -> Vec<Start> {
        tie_starts(self, &self.order, grid, src, dst)
    }

    fn fixed_route(&self) -> Option<&DimensionOrder> {
        Some(&self.order)
    }

    fn forget(&self, grid: &Grid, place: &mut Place, start: &mut Start) {
        forget_all_but_directions(grid, place, start);
    }

    fn choice(&self, grid: &Grid, place: &Place, start: &Start) -> Choice {
        match self.order.first_dimension(&place.at, &start.to) {
            Some(d) => {
                let port = port_of(start.trip.header, d);
                Choice::one(port, start.trip.crossed, crosses(grid, &place.at, port))
            }
            None => Choice::default(),
        }
    }
}
