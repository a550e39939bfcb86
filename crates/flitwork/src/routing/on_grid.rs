//! Routings that think in coordinates, for those who ask in routers.

use super::hop_by_hop::{At, Head, HopByHop};
use super::scheme::{Choice, CongestionSpread, Division, Place, Scheme, Start};
use super::{DimensionOrder, Selection};
use crate::topology::{Coords, End, Grid};
use crate::unchecked;
use std::sync::{Arc, OnceLock};

/// A grid with the coordinates of its routers at hand. They are looked up as soon as the first is asked for: a network
/// may be planned that no memory holds.
#[derive(Debug, Clone)]
pub(super) struct Map {
    pub grid: Grid,
    coords: OnceLock<Arc<[Coords]>>,
}

impl Map {
    pub fn new(grid: &Grid) -> Self {
        Map { grid: grid.clone(), coords: OnceLock::new() }
    }

    /// The coordinates of all routers.
    #[inline]
    fn all(&self) -> &[Coords] {
        self.coords.get_or_init(|| (0..self.grid.routers()).map(|r| self.grid.coords(r)).collect())
    }

    /// The coordinates of two routers.
    #[inline]
    pub fn at_both(&self, a: u32, b: u32) -> [&Coords; 2] {
        let all = self.all();
        [unchecked::at(all, a as usize), unchecked::at(all, b as usize)]
    }

    /// The coordinates of a router.
    #[inline]
    pub fn at(&self, router: u32) -> &Coords {
        &self.all()[router as usize]
    }
}

/// A scheme of a grid.
#[derive(Debug, Clone)]
pub struct OnGrid {
    map: Map,
    scheme: Arc<dyn Scheme>,
}

impl OnGrid {
    /// A scheme that was made for this grid.
    pub fn new(grid: &Grid, scheme: Arc<dyn Scheme>) -> Self {
        OnGrid { map: Map::new(grid), scheme }
    }

    /// What a router asks of it for each head ([`HopByHop::next`]), for whoever calls it without dispatch.
    #[inline(always)]
    pub fn next_choice(&self, at: &At, dst: u32, head: &mut Head, bits: &dyn Fn() -> u64) -> Option<Choice> {
        let coords = self.map.all();
        let of = |router: u32| unchecked::at(coords, router as usize);
        let (here, to) = (of(at.router), of(head.to));
        let mut start = Start { to: *to, trip: head.trip };
        self.scheme.enter(&self.map.grid, here, of(dst), &mut start, bits);
        head.trip = start.trip;
        if start.to != *to {
            head.to = self.map.grid.id(&start.to);
        }
        if head.to == at.router {
            return None;
        }
        Some(self.scheme.choice(&self.map.grid, &Place { at: *here, port: at.port, set: at.set }, &start))
    }

    #[inline]
    fn head(&self, start: &Start) -> Head {
        Head { to: self.map.grid.id(&start.to), label: 0, trip: start.trip }
    }
}

impl HopByHop for OnGrid {
    fn division(&self) -> Division {
        self.scheme.division()
    }

    fn start(&self, src: End, dst: End, bits: u64) -> Head {
        self.head(&self.scheme.start(&self.map.grid, self.map.at(src.router), self.map.at(dst.router), bits))
    }

    fn starts(&self, src: u32, dst: u32) -> Vec<Head> {
        let starts = self.scheme.starts(&self.map.grid, self.map.at(src), self.map.at(dst));
        starts.iter().map(|start| self.head(start)).collect()
    }

    fn enter(&self, at: u32, dst: u32, head: &mut Head, bits: &dyn Fn() -> u64) {
        let to = self.map.at(head.to);
        let mut start = Start { to: *to, trip: head.trip };
        self.scheme.enter(&self.map.grid, self.map.at(at), self.map.at(dst), &mut start, bits);
        head.trip = start.trip;
        if start.to != *to {
            head.to = self.map.grid.id(&start.to);
        }
    }

    fn bits_on_entering(&self) -> u32 {
        self.scheme.bits_on_entering(&self.map.grid)
    }

    fn turns_anywhere(&self) -> bool {
        self.scheme.turns_anywhere()
    }

    fn first_walks(&self, src: u32, via: u32) -> Vec<Head> {
        let starts = self.scheme.first_walks(&self.map.grid, self.map.at(src), self.map.at(via));
        starts.iter().map(|start| self.head(start)).collect()
    }

    fn forget(&self, at: &mut At, head: &mut Head) {
        let mut place = Place { at: *self.map.at(at.router), port: at.port, set: at.set };
        let mut start = Start { to: *self.map.at(head.to), trip: head.trip };
        self.scheme.forget(&self.map.grid, &mut place, &mut start);
        (at.port, at.set, head.trip) = (place.port, place.set, start.trip);
    }

    fn choice(&self, at: &At, head: &Head) -> Choice {
        let place = Place { at: *self.map.at(at.router), port: at.port, set: at.set };
        self.scheme.choice(&self.map.grid, &place, &Start { to: *self.map.at(head.to), trip: head.trip })
    }

    // The default looks everything up twice.
    fn next(&self, at: &At, dst: u32, head: &mut Head, bits: &dyn Fn() -> u64) -> Option<Choice> {
        self.next_choice(at, dst, head, bits)
    }

    fn on_grid(&self) -> Option<&OnGrid> {
        Some(self)
    }

    fn most_ports(&self) -> usize {
        self.map.grid.dims() + 1
    }

    fn fixed_order(&self) -> Option<&DimensionOrder> {
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

/// A smaller grid on which the search for deadlocks has the same verdict, for grids that are too large for it. Each
/// level is smaller than the one before, from 0; `None`: there is none.
///
/// Four routers at a time are taken out of long dimensions: the parity of half a ring decides which routers send which
/// way at a tie. The tests compare verdicts on all rows and rings, and on random rectangles and boxes, of up to 12
/// routers a dimension.
pub fn representative(grid: &Grid, level: usize) -> Option<Grid> {
    // Not shorter: rings of 3 and 4 have other verdicts than those of 7 and 8.
    let most = *[8].get(level)?;
    let size = |&a: &u32| if a <= most { a } else { most - (most + 4 - a % 4) % 4 };
    let sizes: Vec<u32> = grid.sizes().iter().map(size).collect();
    let wraps: Vec<bool> = (0..grid.dims()).map(|d| grid.wraps(d)).collect();
    Some(Grid::new(&sizes, &wraps, grid.ring2_single()))
}
