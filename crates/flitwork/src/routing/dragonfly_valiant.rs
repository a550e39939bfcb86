//! Valiant's routing of a dragonfly: minimally to a random other group, and minimally on from there.
//!
//! L. G. Valiant, "A scheme for fast parallel communication", SIAM J. Computing 11(2), 1982; of dragonflies J. Kim, W.
//! J. Dally, S. Scott and D. Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008, section 4.1: the
//! intermediate group spreads traffic between two groups over all global channels. Packets within a group, and those of
//! two groups that are alone, go minimally.
//!
//! A packet uses the first of three sets of virtual channels up to the intermediate group, the second from there to the
//! group of its destination, the third within that. So local and global channels depend on each other in one order.

use super::Routing;
use super::dragonfly_minimal::DragonflyMinimal;
use super::hop_by_hop::{At, Head, HopByHop};
use super::kind::{AnyOptions, Network};
use super::scheme::{Choice, Division, Trip};
use crate::error::Result;
use crate::mix::{draw_below, mix};
use crate::topology::{Dragonfly, End, Fabric, Shape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Options of Valiant's routing of a dragonfly: none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DragonflyValiantOptions {}

impl AnyOptions for DragonflyValiantOptions {
    fn resolve(&mut self, network: &Network) -> Result<()> {
        network.fabric.needs_groups("network.routing.kind", "dragonfly_valiant").map(|_| ())
    }

    fn routing(&self, network: &Network) -> Result<Routing> {
        Ok(Routing::HopByHop(Arc::new(DragonflyValiant::new(network.fabric))))
    }

    fn representative(&self, network: &Network, level: usize) -> Option<(Fabric, Arc<dyn HopByHop>)> {
        let (&Shape::Groups(size), 0) = (network.fabric.shape(), level) else { return None };
        let small = Dragonfly::small(size.min(4)).fabric().ok()?;
        let routing = Arc::new(DragonflyValiant::new(&small));
        Some((small, routing))
    }
}

/// Two minimal walks.
#[derive(Debug)]
pub struct DragonflyValiant {
    minimal: DragonflyMinimal,
    /// Routers of a group.
    size: u32,
    groups: u32,
}

impl DragonflyValiant {
    /// For a dragonfly; in any other network every router is a group.
    pub fn new(fabric: &Fabric) -> Self {
        let size = if let Shape::Groups(size) = fabric.shape() { *size } else { 1 };
        DragonflyValiant { minimal: DragonflyMinimal::new(fabric), size, groups: fabric.routers() / size }
    }

    /// The head of a packet that goes by the `i`-th of the groups other than those of its ends; by none where there is
    /// no `i`. The label is 1 more than the group.
    fn head(&self, src: u32, dst: u32, i: Option<u32>) -> Head {
        let (first, second) = {
            let (a, b) = (src / self.size, dst / self.size);
            (a.min(b), a.max(b))
        };
        let label = i.map_or(0, |i| {
            let group = i + u32::from(i >= first);
            1 + group + u32::from(group >= second)
        });
        Head { to: dst, label, trip: Trip::default() }
    }

    /// The port of a packet at a router that it does not go to.
    pub(super) fn port(&self, at: u32, head: &Head) -> u8 {
        let to = if head.label == 0 { head.to } else { (head.label - 1) * self.size + head.to % self.size };
        self.minimal.port(at, to)
    }

    /// How many groups a packet may go by.
    fn choices(&self, src: u32, dst: u32) -> u32 {
        if src / self.size == dst / self.size { 0 } else { self.groups - 2 }
    }
}

impl HopByHop for DragonflyValiant {
    fn division(&self) -> Division {
        Division::Equal(if self.size == 1 { 2 } else { 3 })
    }

    fn start(&self, src: End, dst: End, bits: u64) -> Head {
        let choices = self.choices(src.router, dst.router);
        let drawn = (choices > 0).then(|| draw_below(mix(bits), u64::from(choices)) as u32);
        self.head(src.router, dst.router, drawn)
    }

    fn starts(&self, src: u32, dst: u32) -> Vec<Head> {
        match self.choices(src, dst) {
            0 => vec![self.head(src, dst, None)],
            choices => (0..choices).map(|i| self.head(src, dst, Some(i))).collect(),
        }
    }

    fn forget(&self, at: &mut At, _head: &mut Head) {
        (at.port, at.set) = (at.port.map(|_| 0), at.set.map(|_| 0));
    }

    fn enter(&self, at: u32, _dst: u32, head: &mut Head, _bits: &dyn Fn() -> u64) {
        if head.label == at / self.size + 1 {
            (head.label, head.trip.mode) = (0, 1);
        }
    }

    fn choice(&self, at: &At, head: &Head) -> Choice {
        let came_over = at.port.is_some() && at.router / self.size == head.to / self.size;
        // Where groups are of one router there is no channel within them.
        let set = if came_over { 2 } else { head.trip.mode };
        Choice { ports: 1 << self.port(at.router, head), set, ..Choice::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::{Buffers, Finding, find_cycle};

    #[test]
    fn packets_go_by_a_group_of_neither_end_and_arrive() {
        for (routers, global, groups) in [(4, 2, None), (1, 6, None), (2, 1, None), (3, 2, Some(4)), (2, 2, Some(2))] {
            let fabric = Dragonfly::of(routers, global, groups).fabric().unwrap();
            let routing = Routing::HopByHop(Arc::new(DragonflyValiant::new(&fabric)));
            let n = fabric.terminals();
            for (src, dst) in (0..n).flat_map(|src| (0..n).map(move |dst| (src, dst))) {
                let path = routing.path(&fabric, fabric.end(src), fabric.end(dst), u64::from(src * n + dst) << 32);
                let global = |&&(router, port, _): &&(u32, usize, u8)| {
                    fabric.peer(router, port).unwrap().0 / routers != router / routers
                };
                let last = path.last().map_or(src, |&(router, port, _)| fabric.peer(router, port).unwrap().0);
                let apart = src / routers != dst / routers;
                let others = apart && fabric.routers() / routers > 2;
                assert_eq!(last, dst);
                assert_eq!(path.iter().filter(global).count(), usize::from(apart) + usize::from(others));
                assert!(path.len() <= 5 && path.is_sorted_by_key(|hop| hop.2));
            }
        }
    }

    /// Where the small dragonfly is free, so is the one that it stands for.
    #[test]
    fn no_packets_wait_for_each_other_in_a_cycle() {
        for (routers, global, groups) in [(1, 6, None), (2, 1, None), (2, 3, Some(4)), (3, 2, None), (4, 2, None)] {
            let fabric = Dragonfly::of(routers, global, groups).fabric().unwrap();
            for fabric in [fabric, Dragonfly::small(routers.min(4)).fabric().unwrap()] {
                let found = find_cycle(&fabric, &DragonflyValiant::new(&fabric), Buffers::Shared, false);
                assert_eq!(found, Finding::Free, "{routers}, {global}, {groups:?}");
            }
        }
    }
}
