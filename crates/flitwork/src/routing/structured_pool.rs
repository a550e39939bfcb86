//! Dimension order with a structured buffer pool: a packet uses buffers of set `k` on its channel number `k`, from 0.
//!
//! P. M. Merlin and P. J. Schweitzer, "Deadlock avoidance in store-and-forward networks - I", IEEE Trans.
//! Communications 28(3), 1980. Each dependency leads to a higher set, so routes may be any, longer ones in one
//! direction, too. There are as many sets as the longest route has channels.

use super::kind::{Context, Options, check_tie, parity, resolve_order};
use super::scheme::{
    Choice, Division, MOST_SETS, Place, Scheme, Start, Trip, forget_all_but_directions, port_of, too_long,
};
use super::{DimensionOrder, Header, Tie, tie_starts};
use crate::error::{Error, Result};
use crate::topology::{Coords, Grid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Options of a structured buffer pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StructuredPoolOptions {
    /// Dimensions in the order in which they are walked. Default (empty): 0, 1, 2, ...
    #[serde(default)]
    pub order: Vec<usize>,
    /// What to do at half a ring of even length; not split or by_message. Default: parity.
    #[serde(default = "parity")]
    pub tie: Tie,
    /// In which directions packets walk rings. Default: shortest.
    #[serde(default)]
    pub ways: RingDirections,
}

/// In which directions packets walk rings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RingDirections {
    /// In that of the shortest route.
    #[default]
    Shortest,
    /// Towards plus alone, however far it is.
    Plus,
}

impl Options for StructuredPoolOptions {
    fn resolve(&mut self, context: &Context) -> Result<()> {
        resolve_order(&mut self.order, context.grid)?;
        check_tie(self.tie)?;
        match longest_route(context.grid, self.ways) {
            hops if hops <= MOST_SETS => Ok(()),
            hops => {
                let expected = too_long(hops);
                let hint = "use a smaller grid, or kind = \"dimension_order\"";
                Err(Error::config("network.routing.kind", "structured_pool", expected, hint))
            }
        }
    }

    fn scheme(&self, context: &Context) -> Arc<dyn Scheme> {
        let order = DimensionOrder::of(&self.order, self.tie, context.grid);
        Arc::new(StructuredPool { order, ways: self.ways, sets: longest_route(context.grid, self.ways).max(1) as u8 })
    }
}

/// Channels of the longest route.
fn longest_route(grid: &Grid, ways: RingDirections) -> u32 {
    let of = |d: usize| match ways {
        RingDirections::Shortest if grid.is_ring(d) => grid.size(d) / 2,
        RingDirections::Shortest | RingDirections::Plus => grid.size(d) - 1,
    };
    (0..grid.dims()).map(of).sum()
}

/// Dimension order, buffers by channels walked.
#[derive(Debug, Clone)]
struct StructuredPool {
    order: DimensionOrder,
    ways: RingDirections,
    sets: u8,
}

impl StructuredPool {
    fn header(&self, grid: &Grid, src: &Coords, dst: &Coords, bits: u8) -> Header {
        let mut header = self.order.header(grid, src, dst, bits);
        if self.ways == RingDirections::Plus {
            for d in (0..grid.dims()).filter(|&d| grid.is_ring(d)) {
                header.minus &= !(1 << d);
                header.wraps = header.wraps & !(1 << d) | u8::from(dst[d] < src[d]) << d;
            }
        }
        header
    }
}

impl Scheme for StructuredPool {
    fn division(&self) -> Division {
        Division::Equal(self.sets)
    }

    fn start(&self, grid: &Grid, src: &Coords, dst: &Coords, bits: u64) -> Start {
        let header = self.header(grid, src, dst, bits as u8);
        Start { to: *dst, trip: Trip { header, ..Trip::default() } }
    }

    fn starts(&self, grid: &Grid, src: &Coords, dst: &Coords) -> Vec<Start> {
        match self.ways {
            RingDirections::Shortest => tie_starts(self, &self.order, grid, src, dst),
            RingDirections::Plus => vec![self.start(grid, src, dst, 0)],
        }
    }

    fn fixed_route(&self) -> Option<&DimensionOrder> {
        (self.ways == RingDirections::Shortest).then_some(&self.order)
    }

    fn forget(&self, grid: &Grid, place: &mut Place, start: &mut Start) {
        let set = place.set;
        forget_all_but_directions(grid, place, start);
        (place.port, place.set) = (set.map(|_| 0), set);
    }

    fn choice(&self, _grid: &Grid, place: &Place, start: &Start) -> Choice {
        match self.order.first_dimension(&place.at, &start.to) {
            Some(d) => {
                let walked = place.set.map_or(0, |set| set + 1);
                Choice::one(port_of(start.trip.header, d), walked.min(self.sets - 1), false)
            }
            None => Choice::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_way_is_as_long_as_the_ring() {
        let grid = Grid::torus(&[8, 2]);
        assert_eq!(
            (longest_route(&grid, RingDirections::Shortest), longest_route(&grid, RingDirections::Plus)),
            (5, 8)
        );
        let order = DimensionOrder::of(&[], Tie::Parity, &grid);
        let pool = StructuredPool { order, ways: RingDirections::Plus, sets: 8 };
        let (from, to) = (grid.coords(1), grid.coords(0));
        assert_eq!(pool.header(&grid, &from, &to, 0), Header { minus: 0, wraps: 1 });
        assert_eq!(pool.header(&grid, &to, &from, 0), Header { minus: 0, wraps: 0 });
    }
}
