//! Two halves of an odd number of virtual channels that share the middle one: `shared_middle_vc = true`.
//!
//! BookSim 2 divides by `vcs / 2` from both ends. A packet on the middle channel counts as one of the second half.
//! Under O1TURN each router tells the order of dimensions by the channel that a packet came by, so one on the middle
//! channel goes on backwards.

use crate::routing::{Choice, CongestionSpread, DimensionOrder, Division, Place, Scheme, Selection, Start};
use crate::topology::{Coords, Grid};
use std::sync::Arc;

/// A scheme of two equal sets, with halves that overlap instead.
#[derive(Debug)]
pub(super) struct SharedMiddle {
    scheme: Arc<dyn Scheme>,
    /// Whether the mode of a packet is the half of the channel that it came by.
    mode_is_half: bool,
}

impl SharedMiddle {
    pub fn new(scheme: Arc<dyn Scheme>, mode_is_half: bool) -> Self {
        SharedMiddle { scheme, mode_is_half }
    }
}

impl Scheme for SharedMiddle {
    fn division(&self) -> Division {
        Division::Overlapping
    }

    fn start(&self, grid: &Grid, src: &Coords, dst: &Coords, bits: u64) -> Start {
        self.scheme.start(grid, src, dst, bits)
    }

    fn starts(&self, grid: &Grid, src: &Coords, dst: &Coords) -> Vec<Start> {
        self.scheme.starts(grid, src, dst)
    }

    fn turns_anywhere(&self) -> bool {
        self.scheme.turns_anywhere()
    }

    fn first_walks(&self, grid: &Grid, src: &Coords, via: &Coords) -> Vec<Start> {
        self.scheme.first_walks(grid, src, via)
    }

    fn forget(&self, grid: &Grid, place: &mut Place, start: &mut Start) {
        let half = place.set.filter(|_| self.mode_is_half);
        self.scheme.forget(grid, place, start);
        if half.is_some() {
            (place.port, place.set) = (Some(0), half);
        }
    }

    fn bits_on_entering(&self, grid: &Grid) -> u32 {
        self.scheme.bits_on_entering(grid)
    }

    fn enter(&self, grid: &Grid, at: &Coords, dst: &Coords, start: &mut Start, bits: &dyn Fn() -> u64) {
        self.scheme.enter(grid, at, dst, start, bits);
    }

    fn choice(&self, grid: &Grid, place: &Place, start: &Start) -> Choice {
        let mut start = *start;
        if let (true, Some(half)) = (self.mode_is_half, place.set) {
            start.trip.mode = half;
        }
        self.scheme.choice(grid, place, &start)
    }

    fn fixed_route(&self) -> Option<&DimensionOrder> {
        self.scheme.fixed_route()
    }

    fn selection(&self) -> Selection {
        self.scheme.selection()
    }

    fn congestion_spread(&self) -> Option<CongestionSpread> {
        self.scheme.congestion_spread()
    }

    fn patience_cycles(&self) -> u32 {
        self.scheme.patience_cycles()
    }
}
