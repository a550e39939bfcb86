//! Dimension-order routing as the kernel does it for each head: compare packed coordinates, look a dimension up.
//!
//! The coordinates of a router are packed into one word, the dimension walked first in the lowest bits. The lowest bit in
//! which a router and a destination differ tells the dimension to walk next; the packet's header tells direction and class.

use crate::routing::{DimensionOrder, Routing};
use crate::topology::{Coords, Grid};
use crate::unchecked::at;

/// Tables for next-hop look-up.
#[derive(Debug)]
pub(crate) struct RouteTable {
    /// Packed coordinates of each router.
    keys: Vec<u64>,
    /// Dimension to which a bit of a packed coordinate belongs.
    dimension_of_bit: [u8; 64],
}

impl RouteTable {
    /// The table of a routing; where the way is decided hop by hop, a router's key is its number.
    pub fn of(grid: &Grid, routing: &Routing) -> Self {
        match routing {
            Routing::DimensionOrder(order) => RouteTable::new(grid, order),
            Routing::Scheme(_) => {
                RouteTable { keys: (0..u64::from(grid.routers())).collect(), dimension_of_bit: [0; 64] }
            }
        }
    }

    fn new(grid: &Grid, routing: &DimensionOrder) -> Self {
        let mut dimension_of_bit = [0; 64];
        let mut shift = [0u32; crate::topology::MAX_DIMS];
        let mut bit = 0;
        for &d in &routing.order {
            shift[d] = bit;
            // At most 30 bits for the routers, rounded up once a dimension: 36 in all.
            let width = 32 - (grid.size(d) - 1).leading_zeros();
            dimension_of_bit[bit as usize..(bit + width) as usize].fill(d as u8);
            bit += width;
        }
        let pack = |c: &Coords| (0..grid.dims()).fold(0, |key, d| key | u64::from(c[d]) << shift[d]);
        RouteTable { keys: (0..grid.routers()).map(|r| pack(&grid.coords(r))).collect(), dimension_of_bit }
    }

    /// Packed coordinates of each router.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// The dimension to walk next from `router` towards `key`; `None` at the destination.
    #[inline(always)]
    pub fn next_dimension(&self, router: usize, key: u64) -> Option<usize> {
        let differ = at(&self.keys, router) ^ key;
        if differ == 0 {
            return None;
        }
        Some(self.dimension_of_bit[differ.trailing_zeros() as usize & 63] as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::Tie;

    #[test]
    fn walks_the_same_way_as_the_routing() {
        let grid = Grid::new(&[5, 1, 4, 3], &[true, true, false, true], false);
        let routing = DimensionOrder { order: vec![2, 0, 3, 1], tie: Tie::Plus };
        let table = RouteTable::new(&grid, &routing);
        for s in 0..grid.routers() {
            for t in 0..grid.routers() {
                let (cs, ct) = (grid.coords(s), grid.coords(t));
                let header = routing.header(&grid, &cs, &ct, 0);
                let mut at = s;
                for (router, port, _) in routing.path(&grid, &cs, &ct, header) {
                    assert_eq!(router, at);
                    let d = table.next_dimension(at as usize, table.keys()[t as usize]).unwrap();
                    assert_eq!(port, 2 * d + (header.minus >> d & 1) as usize);
                    at = grid.neighbour(at, port).unwrap();
                }
                assert_eq!(table.next_dimension(at as usize, table.keys()[t as usize]), None);
            }
        }
    }
}
