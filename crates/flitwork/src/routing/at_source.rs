//! Routings that decide everything at the source: plain dimension order, and a network of one router, where nothing is
//! to decide.
//!
//! A packet then carries the *key* of its destination. The key of a router is made of fields; in the lowest field in
//! which the keys of a router and a destination differ, the packet goes on: by output port `2 f` of field `f`, or by
//! `2 f + 1` where its header says so, in one of two classes of virtual channels, as its header says too.

use super::hop_by_hop::Head;
use super::on_grid::Map;
use super::scheme::{Trip, crosses, crossing};
use super::{DimensionOrder, Header, Tie};
use crate::topology::{Coords, Grid, MAX_DIMS};
use crate::unchecked::at;

/// A routing that decides at the source.
#[derive(Debug, Clone)]
pub struct AtSource {
    /// The grid and the order of dimensions; `None` in a network of one router.
    walk: Option<(Map, DimensionOrder)>,
    /// Dimensions, as bits, in which a packet that walks towards minus has the opposite class: none, but for another
    /// simulator's rule.
    opposite: u8,
    /// Packets change from class 0 to class 1 at the dateline of each dimension; else the class is fixed on entering
    /// the ring.
    at_datelines: bool,
    /// Headers by distance; `None` where that would be a long table.
    headers: Option<HeaderTable>,
}

/// What dimension order makes of how far a packet has to go in each dimension, looked up. What it makes of ties it is
/// asked.
#[derive(Debug, Clone)]
struct HeaderTable {
    /// For each dimension and each difference of coordinates: the hops in the lowest 32 bits, then a byte with the bit
    /// of the dimension in `minus`, one with that in `wraps`, and one with it where there is a tie.
    entries: Vec<u64>,
    /// The entry of each dimension for the difference 0.
    middle: [u32; MAX_DIMS],
    dims: usize,
}

impl HeaderTable {
    /// Most entries of a table.
    const MOST: usize = 1 << 12;

    fn new(grid: &Grid) -> Option<Self> {
        let dims = grid.dims();
        if (0..dims).map(|d| 2 * grid.size(d) as usize).sum::<usize>() > Self::MOST {
            return None;
        }
        let mut headers = HeaderTable { entries: Vec::new(), middle: [0; MAX_DIMS], dims };
        for (d, &ring) in grid.rings().iter().enumerate().take(dims) {
            let farthest = i64::from(grid.size(d)) - 1;
            headers.middle[d] = headers.entries.len() as u32 + farthest as u32;
            headers.entries.extend((-farthest..=farthest).map(|difference| {
                let straight = difference.unsigned_abs();
                let around = u64::from(ring) - straight;
                let (wraps, tie) = (straight > around, straight == around);
                let minus = (difference < 0) != wraps;
                let known = u64::from(minus) << (32 + d) | u64::from(wraps) << (40 + d);
                straight.min(around) | if tie { 1 << (48 + d) } else { known }
            }));
        }
        Some(headers)
    }

    /// [`DimensionOrder::header_and_hops`].
    #[inline(always)]
    fn header_and_hops(
        &self,
        order: &DimensionOrder,
        grid: &Grid,
        src: &Coords,
        dst: &Coords,
        bits: u8,
    ) -> (Header, u32) {
        let mut sum = 0;
        // An index loop: adaptors of iterators took five times the instructions.
        for d in 0..self.dims.min(MAX_DIMS) {
            sum += at(&self.entries, self.middle[d].wrapping_add(dst[d]).wrapping_sub(src[d]) as usize);
        }
        let mut header = Header { minus: (sum >> 32) as u8, wraps: (sum >> 40) as u8 };
        let mut ties = (sum >> 48) as u8;
        while ties != 0 {
            let d = ties.trailing_zeros() as usize;
            ties &= ties - 1;
            let (minus, wraps) = order.at_a_tie(grid, src, dst, d, bits);
            header.minus |= u8::from(minus) << d;
            header.wraps |= u8::from(wraps) << d;
        }
        (header, sum as u32)
    }
}

/// The keys of routers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    /// The key of each router.
    pub of_router: Vec<u64>,
    /// The field to which a bit of a key belongs.
    pub field_of_bit: [u8; 64],
}

impl AtSource {
    /// Dimension order on a grid.
    pub fn dimension_order(grid: &Grid, order: DimensionOrder) -> Self {
        AtSource {
            walk: Some((Map::new(grid), order)),
            opposite: 0,
            at_datelines: false,
            headers: HeaderTable::new(grid),
        }
    }

    /// In a network of one router.
    pub fn one_router() -> Self {
        AtSource { walk: None, opposite: 0, at_datelines: false, headers: None }
    }

    /// This routing with the opposite class, in each dimension with a dateline, for packets that walk it towards minus.
    #[must_use]
    pub fn with_opposite_minus_classes(self) -> Self {
        let dimensions = self.walk.as_ref().map_or(0, |(map, _)| {
            (0..map.grid.dims()).filter(|&d| map.grid.has_dateline(d)).fold(0, |dimensions, d| dimensions | 1 << d)
        });
        AtSource { opposite: dimensions, ..self }
    }

    /// This routing, but packets change class at the dateline: class 0 until the route crosses it, class 1 from that
    /// channel on.
    #[must_use]
    pub fn with_classes_at_datelines(self) -> Self {
        AtSource { at_datelines: true, ..self }
    }

    /// Whether packets change class at the dateline of a dimension.
    pub fn changes_at_datelines(&self) -> bool {
        self.at_datelines
    }

    /// The class of virtual channels of a packet in each dimension when it starts, as bits; it keeps them unless it
    /// changes class at datelines.
    #[inline]
    pub fn classes(&self, header: Header) -> u8 {
        if self.at_datelines {
            return 0;
        }
        header.wraps ^ header.minus & self.opposite
    }

    /// For each router, the output ports, as bits, behind which packets have class 1; empty unless packets change class
    /// at datelines.
    pub fn dateline_ports(&self) -> Vec<u16> {
        let Some((Map { grid, .. }, _)) = self.walk.as_ref().filter(|_| self.at_datelines) else { return Vec::new() };
        let all = (1u64 << grid.network_ports()) - 1;
        (0..grid.routers()).map(|router| crossing(grid, &grid.coords(router), all)).collect()
    }

    /// The dimension order, unless there is one router.
    pub fn order(&self) -> Option<&DimensionOrder> {
        self.walk.as_ref().map(|(_, order)| order)
    }

    /// How a packet from router `src` to router `dst` starts, and the number of its hops. `bits` decide ties.
    #[inline(always)]
    pub fn start(&self, src: u32, dst: u32, bits: u8) -> (Head, u32) {
        let Some((map, order)) = &self.walk else { return (Head { to: dst, label: 0, trip: Trip::default() }, 0) };
        let [from, to] = map.at_both(src, dst);
        let (header, hops) = match &self.headers {
            Some(headers) => headers.header_and_hops(order, &map.grid, from, to, bits),
            None => order.header_and_hops(&map.grid, from, to, bits),
        };
        (Head { to: dst, label: 0, trip: Trip { header, ..Trip::default() } }, hops)
    }

    /// Whether packets are cut in two at a tie.
    pub fn splits(&self) -> bool {
        self.order().is_some_and(|order| order.tie == Tie::Split)
    }

    /// Whether there is a tie on the route of a packet.
    pub fn has_tie(&self, src: u32, dst: u32) -> bool {
        self.walk.as_ref().is_some_and(|(map, order)| order.has_tie(&map.grid, map.at(src), map.at(dst)))
    }

    /// The field of the key in which a packet goes on first; `None` at its destination.
    pub fn first_field(&self, src: u32, dst: u32) -> Option<usize> {
        let (map, order) = self.walk.as_ref()?;
        order.first_dimension(map.at(src), map.at(dst))
    }

    /// Output ports, as bits, whose virtual channels are divided into two classes.
    pub fn ports_with_classes(&self) -> u64 {
        let Some((map, _)) = &self.walk else { return 0 };
        let ports = (0..map.grid.network_ports()).filter(|port| map.grid.has_dateline(port / 2));
        ports.fold(0, |ports, port| ports | 1 << port)
    }

    /// The keys of all routers: coordinates, the dimension that is walked first in the lowest bits.
    pub fn keys(&self) -> Keys {
        let mut field_of_bit = [0; 64];
        let Some((map, order)) = &self.walk else { return Keys { of_router: vec![0], field_of_bit } };
        let grid = &map.grid;
        let mut shift = [0u32; MAX_DIMS];
        let mut bit = 0;
        for &d in &order.order {
            shift[d] = bit;
            // At most 30 bits for the routers, rounded up once a dimension: 36 in all.
            let width = 32 - (grid.size(d) - 1).leading_zeros();
            field_of_bit[bit as usize..(bit + width) as usize].fill(d as u8);
            bit += width;
        }
        let pack = |c: &Coords| (0..grid.dims()).fold(0, |key, d| key | u64::from(c[d]) << shift[d]);
        Keys { of_router: (0..grid.routers()).map(|r| pack(&grid.coords(r))).collect(), field_of_bit }
    }

    /// The channels of a packet, in order: router, output port, class of virtual channels.
    pub(super) fn path(&self, src: u32, dst: u32, bits: u8) -> Vec<(u32, usize, u8)> {
        let Some((map, order)) = &self.walk else { return Vec::new() };
        let (from, to) = (map.at(src), map.at(dst));
        let header = order.header(&map.grid, from, to, bits);
        let mut path = order.path(&map.grid, from, to, Header { wraps: self.classes(header), ..header });
        if self.at_datelines {
            let mut crossed = 0u64;
            for (router, port, class) in &mut path {
                crossed |= u64::from(crosses(&map.grid, map.at(*router), *port)) << (*port / 2);
                *class = (crossed >> (*port / 2) & 1) as u8;
            }
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_by_distance_are_those_of_the_order() {
        for grid in [Grid::torus(&[5, 4, 2]), Grid::mesh(&[4, 1, 3]), Grid::new(&[3, 4, 2], &[true, false, true], true)]
        {
            for (tie, bits) in [(Tie::Parity, 0), (Tie::Plus, 0), (Tie::Random, 5), (Tie::Split, 255)] {
                let order = DimensionOrder::of(&[2, 0, 1], tie, &grid);
                let routing = AtSource::dimension_order(&grid, order.clone());
                for (s, t) in (0..grid.routers()).flat_map(|s| (0..grid.routers()).map(move |t| (s, t))) {
                    let (header, hops) = order.header_and_hops(&grid, &grid.coords(s), &grid.coords(t), bits);
                    let (head, counted) = routing.start(s, t, bits);
                    assert_eq!((head.trip.header, counted), (header, hops), "{s} to {t}");
                }
            }
        }
        assert!(HeaderTable::new(&Grid::mesh(&[5000])).is_none());
    }
}
