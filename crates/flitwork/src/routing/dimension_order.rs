//! Dimension-order routing: finish one dimension before the next, always along a shortest route.
//!
//! All that a packet needs on its route is decided at its source and carried in a [`Header`]: for each dimension the
//! direction, and the dateline class. The class follows Dally and Seitz, fixed on entering the ring: a packet whose
//! route in this dimension crosses the wrap channel uses class 1 for the whole dimension, any other class 0. With
//! shortest routes no ring of channels of one class can close, because no packet of class 0 crosses the wrap channel
//! and no packet of class 1 walks on as far as to meet its own beginning (`deadlock.rs` checks it for the sizes at
//! hand).
//!
//! The textbook's scheme (Dally and Towles 2004, section 14.2.3) changes class at the dateline: a packet uses class 0
//! until it takes the wrap channel, class 1 on that channel and behind it, and class 0 again in the next dimension.

use super::kind::{Context, Options, check_tie, parity, resolve_order};
use super::{AtSource, Crossings, Scheme};
use crate::error::Result;
use crate::topology::{Coords, Grid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Options of dimension order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DimensionOrderOptions {
    /// Dimensions in the order in which they are walked. Default (empty): 0, 1, 2, ...
    #[serde(default)]
    pub order: Vec<usize>,
    /// What to do at half a ring of even length. Default: parity.
    #[serde(default = "parity")]
    pub tie: Tie,
    /// How virtual channels are divided where a dimension wraps. Default: entered.
    #[serde(default)]
    pub classes: DatelineClasses,
}

/// How dimension order divides the virtual channels where a dimension wraps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DatelineClasses {
    /// Two classes, fixed on entering a ring: whether the route along it crosses the dateline.
    #[default]
    Entered,
    /// One more set than wrapped dimensions: by the number of datelines crossed so far.
    Crossed,
    /// Two classes, anew in each dimension: class 0 until the route crosses the dateline, class 1 from that channel on.
    AtDateline,
}

impl Default for DimensionOrderOptions {
    fn default() -> Self {
        DimensionOrderOptions { order: Vec::new(), tie: Tie::Parity, classes: DatelineClasses::Entered }
    }
}

impl Options for DimensionOrderOptions {
    fn resolve(&mut self, context: &Context) -> Result<()> {
        resolve_order(&mut self.order, context.grid)?;
        if self.classes == DatelineClasses::Crossed { check_tie(self.tie) } else { Ok(()) }
    }

    fn scheme(&self, context: &Context) -> Arc<dyn Scheme> {
        Arc::new(Crossings::new(context.grid, DimensionOrder::of(&self.order, self.tie, context.grid)))
    }

    fn plain(&self, context: &Context) -> Option<AtSource> {
        let plain = || AtSource::dimension_order(context.grid, DimensionOrder::of(&self.order, self.tie, context.grid));
        match self.classes {
            DatelineClasses::Entered => Some(plain()),
            DatelineClasses::AtDateline => Some(plain().with_classes_at_datelines()),
            DatelineClasses::Crossed => None,
        }
    }
}

/// Which direction a packet takes when the two directions round a ring are equally long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tie {
    /// Always the plus direction.
    Plus,
    /// Plus if the source's coordinate in this dimension plus the sum of the other relative coordinates is even.
    Parity,
    /// Either, by a fair random bit for each packet and dimension.
    Random,
    /// The message is cut into two packets, one in each direction.
    Split,
    /// The direction that the message names: those of a timetable do.
    ByMessage,
}

impl Tie {
    /// Whether a packet carries the direction that it takes, as a bit for each dimension; else its source and
    /// destination say it.
    pub fn is_carried(self) -> bool {
        matches!(self, Tie::Random | Tie::ByMessage)
    }

    /// What it is called in a specification.
    pub fn name(self) -> &'static str {
        match self {
            Tie::Plus => "plus",
            Tie::Parity => "parity",
            Tie::Random => "random",
            Tie::Split => "split",
            Tie::ByMessage => "by_message",
        }
    }
}

/// What a packet carries: one bit a dimension in each field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Header {
    /// Bit `d` is set where the packet walks dimension `d` in the minus direction.
    pub minus: u8,
    /// Bit `d` is set where its route in dimension `d` crosses the wrap channel: the dateline class.
    pub wraps: u8,
}

/// Dimension-order routing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DimensionOrder {
    /// Dimensions in the order in which they are walked; a permutation of `0..dims`.
    pub order: Vec<usize>,
    /// What to do at half a ring of even length.
    pub tie: Tie,
}

impl DimensionOrder {
    /// In the given order, 0, 1, 2, ... if it is empty.
    pub fn of(order: &[usize], tie: Tie, grid: &Grid) -> Self {
        let order = if order.is_empty() { (0..grid.dims()).collect() } else { order.to_vec() };
        DimensionOrder { order, tie }
    }

    /// The header of a packet from router `src` to `dst`. `tie_bits` is asked for bit `d` of a tie in dimension `d`:
    /// pass random bits under [`Tie::Random`], those of the message under [`Tie::ByMessage`], and all zeros, then all
    /// ones, for the two packets under [`Tie::Split`].
    pub fn header(&self, grid: &Grid, src: &Coords, dst: &Coords, tie_bits: u8) -> Header {
        self.header_and_hops(grid, src, dst, tie_bits).0
    }

    /// The header, and the number of channels on the route.
    #[inline]
    pub fn header_and_hops(&self, grid: &Grid, src: &Coords, dst: &Coords, tie_bits: u8) -> (Header, u32) {
        let mut h = Header::default();
        let mut hops = 0;
        for (d, ((&ring, &s), &t)) in grid.rings().iter().zip(src).zip(dst).enumerate() {
            let straight = s.abs_diff(t);
            let around = ring - straight;
            let (minus, wraps) = if straight == around {
                self.at_a_tie(grid, src, dst, d, tie_bits)
            } else {
                ((t < s) != (straight > around), straight > around)
            };
            hops += straight.min(around);
            h.minus |= u8::from(minus) << d;
            h.wraps |= u8::from(wraps) << d;
        }
        (h, hops)
    }

    /// Whether a packet walks dimension `d` in the minus direction, and whether it crosses the wrap channel, where both
    /// directions are equally long.
    #[inline]
    pub(super) fn at_a_tie(&self, grid: &Grid, src: &Coords, dst: &Coords, d: usize, tie_bits: u8) -> (bool, bool) {
        let minus = match self.tie {
            Tie::Plus => false,
            Tie::Random | Tie::ByMessage | Tie::Split => tie_bits >> d & 1 == 1,
            Tie::Parity => self.parity(grid, src, dst, d),
        };
        let wraps = minus == (dst[d] > src[d]);
        ((dst[d] < src[d]) != wraps, wraps)
    }

    /// Whether some dimension of the route from `src` to `dst` is a tie.
    pub fn has_tie(&self, grid: &Grid, src: &Coords, dst: &Coords) -> bool {
        (0..grid.dims()).any(|d| {
            let (plus, minus) = (grid.distance(d, src[d], dst[d], true), grid.distance(d, src[d], dst[d], false));
            plus == minus && src[d] != dst[d]
        })
    }

    /// The dimension that a packet from `src` to `dst` walks first; `None` if it stays where it is.
    pub fn first_dimension(&self, src: &Coords, dst: &Coords) -> Option<usize> {
        self.order.iter().copied().find(|&d| src[d] != dst[d])
    }

    /// The parity rule: minus iff `src_d + sum of the other relative coordinates` is odd.
    #[inline]
    fn parity(&self, grid: &Grid, src: &Coords, dst: &Coords, d: usize) -> bool {
        let others: u32 =
            (0..grid.dims()).filter(|&e| e != d).map(|e| (dst[e] + grid.size(e) - src[e]) % grid.size(e)).sum();
        (src[d] + others) % 2 == 1
    }

    /// The channels of a packet with header `h`, in order: (router, output port, dateline class).
    pub fn path(&self, grid: &Grid, src: &Coords, dst: &Coords, h: Header) -> Vec<(u32, usize, u8)> {
        let mut path = Vec::new();
        let mut at = *src;
        for &d in &self.order {
            let minus = h.minus >> d & 1;
            let class = h.wraps >> d & 1;
            while at[d] != dst[d] {
                path.push((grid.id(&at), 2 * d + minus as usize, class));
                let a = grid.size(d);
                at[d] = if minus == 1 { (at[d] + a - 1) % a } else { (at[d] + 1) % a };
            }
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dor(n: usize, tie: Tie) -> DimensionOrder {
        DimensionOrder { order: (0..n).collect(), tie }
    }

    #[test]
    fn ways_are_shortest_and_arrive() {
        for grid in [Grid::torus(&[5, 4]), Grid::mesh(&[4, 3]), Grid::new(&[3, 4, 2], &[true, false, true], true)] {
            let dor = dor(grid.dims(), Tie::Parity);
            for s in 0..grid.routers() {
                for t in 0..grid.routers() {
                    let (cs, ct) = (grid.coords(s), grid.coords(t));
                    let path = dor.path(&grid, &cs, &ct, dor.header(&grid, &cs, &ct, 0));
                    let hops: u32 = (0..grid.dims())
                        .map(|d| {
                            [true, false]
                                .into_iter()
                                .filter_map(|plus| grid.distance(d, cs[d], ct[d], plus))
                                .min()
                                .unwrap()
                        })
                        .sum();
                    assert_eq!(path.len() as u32, hops);
                    let mut at = s;
                    for (router, port, _) in path {
                        assert_eq!(router, at);
                        at = grid.neighbour(at, port).unwrap();
                    }
                    assert_eq!(at, t);
                }
            }
        }
    }

    #[test]
    fn parity_balances_the_two_directions() {
        let grid = Grid::torus(&[8, 8]);
        let dor = dor(2, Tie::Parity);
        let minus = (0..64)
            .filter(|&s| {
                let c = grid.coords(s);
                let t = [(c[0] + 4) % 8, c[1], 0, 0, 0, 0];
                dor.header(&grid, &c, &t, 0).minus & 1 == 1
            })
            .count();
        assert_eq!(minus, 32);
    }

    #[test]
    fn the_class_says_whether_the_way_wraps() {
        let grid = Grid::torus(&[5]);
        let dor = dor(1, Tie::Plus);
        let h = |s: u32, t: u32| dor.header(&grid, &grid.coords(s), &grid.coords(t), 0);
        assert_eq!(h(3, 0), Header { minus: 0, wraps: 1 });
        assert_eq!(h(1, 4), Header { minus: 1, wraps: 1 });
        assert_eq!(h(1, 3), Header { minus: 0, wraps: 0 });
    }
}
