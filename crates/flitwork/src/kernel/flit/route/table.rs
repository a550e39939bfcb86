//! Routes that are decided at the source, as the kernel follows them for each head: compare keys, look a field up.
//!
//! The key of a router is one word of fields ([`crate::routing::Keys`]). The lowest bit in which the keys of a router
//! and a destination differ gives the next field; field `f` has the output ports `2 f` and `2 f + 1`, and the packet's
//! header says which of them, and the class of virtual channels.

use crate::routing::{AtSource, Keys, Routing};
use crate::unchecked::{at, prefetch};
use std::ops::Range;

/// Tables for next-hop look-up.
#[derive(Debug)]
pub(crate) struct RouteTable {
    /// From the first router of this part of the network on.
    keys: Keys,
    /// The keys of all routers, where this is a part of a network.
    all: Option<Box<[u64]>>,
    /// For each router of this part, the output ports behind which packets have dateline class 1, as bits; empty unless
    /// packets change class at datelines.
    datelines: Box<[u16]>,
}

impl RouteTable {
    /// The table of a routing; where each router decides, a router's key is its number. `part`: only these go on from
    /// here.
    pub fn of(routers: u32, routing: &Routing, part: Option<Range<usize>>) -> Self {
        let numbers = || Keys { of_router: (0..u64::from(routers)).collect(), field_of_bit: [0; 64] };
        let mut keys = routing.at_source().map_or_else(numbers, AtSource::keys);
        let mut datelines = routing.at_source().map_or_else(Vec::new, AtSource::dateline_ports);
        if let Some(router_range) = part.clone().filter(|_| !datelines.is_empty()) {
            datelines = datelines[router_range].to_vec();
        }
        let all = part.map(|router_range| {
            let router_range = keys.of_router[router_range].to_vec();
            std::mem::replace(&mut keys.of_router, router_range).into_boxed_slice()
        });
        RouteTable { keys, all, datelines: datelines.into_boxed_slice() }
    }

    /// The key of each router.
    #[inline]
    pub fn keys(&self) -> &[u64] {
        self.all.as_deref().unwrap_or(&self.keys.of_router)
    }

    /// Prefetches the key of a router.
    #[inline(always)]
    pub fn prefetch_key(&self, router: usize) {
        prefetch(at(&self.keys.of_router, router));
    }

    /// The output ports of a router, a bit each, from whose channels on a packet has dateline class 1; `None` where no
    /// channel of the network changes classes.
    #[inline(always)]
    pub fn datelines(&self, router: usize) -> Option<u16> {
        self.datelines.get(router).copied()
    }

    /// The field to go on in from `router` towards `key`; `None` at the destination.
    #[inline(always)]
    pub fn next_field(&self, router: usize, key: u64) -> Option<usize> {
        let differ = at(&self.keys.of_router, router) ^ key;
        if differ == 0 {
            return None;
        }
        Some(self.keys.field_of_bit[differ.trailing_zeros() as usize & 63] as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::{DimensionOrder, Tie};
    use crate::topology::Grid;

    #[test]
    fn walks_the_same_way_as_the_routing() {
        let grid = Grid::new(&[5, 1, 4, 3], &[true, true, false, true], false);
        let routing = DimensionOrder { order: vec![2, 0, 3, 1], tie: Tie::Plus };
        let table = RouteTable::of(grid.routers(), &Routing::dimension_order(&grid, routing.clone()), None);
        for s in 0..grid.routers() {
            for t in 0..grid.routers() {
                let (cs, ct) = (grid.coords(s), grid.coords(t));
                let header = routing.header(&grid, &cs, &ct, 0);
                let mut at = s;
                for (router, port, _) in routing.path(&grid, &cs, &ct, header) {
                    assert_eq!(router, at);
                    let d = table.next_field(at as usize, table.keys()[t as usize]).unwrap();
                    assert_eq!(port, 2 * d + (header.minus >> d & 1) as usize);
                    at = grid.neighbour(at, port).unwrap();
                }
                assert_eq!(table.next_field(at as usize, table.keys()[t as usize]), None);
            }
        }
    }
}
