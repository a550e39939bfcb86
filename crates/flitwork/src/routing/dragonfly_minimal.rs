//! Minimal routing of a dragonfly: within a group by the channel between two routers; else to a router of the group
//! with a global channel to that of the destination, over it, and there to the destination.
//!
//! J. Kim, W. J. Dally, S. Scott and D. Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008,
//! section 4.1. Other shortest paths may lead through a third group; these do not. Packets that have come by a global
//! channel use the second of two sets of virtual channels, so none waits for one that waits for it.

use super::Routing;
use super::hop_by_hop::{At, Head, HopByHop};
use super::kind::{AnyOptions, Network};
use super::scheme::{Choice, Division, Trip};
use crate::error::Result;
use crate::topology::{Dragonfly, End, Fabric, Shape, other};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Options of minimal routing of a dragonfly: none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DragonflyMinimalOptions {}

impl AnyOptions for DragonflyMinimalOptions {
    fn resolve(&mut self, network: &Network) -> Result<()> {
        network.fabric.needs_groups("network.routing.kind", "dragonfly_minimal").map(|_| ())
    }

    fn routing(&self, network: &Network) -> Result<Routing> {
        Ok(Routing::HopByHop(Arc::new(DragonflyMinimal::new(network.fabric))))
    }

    fn representative(&self, network: &Network, level: usize) -> Option<(Fabric, Arc<dyn HopByHop>)> {
        // A local channel, a global one and another local one are all that a route can have, however many there are to
        // choose from.
        let (&Shape::Groups(size), 0) = (network.fabric.shape(), level) else { return None };
        let small = Dragonfly::small(size.min(4)).fabric().ok()?;
        let routing = Arc::new(DragonflyMinimal::new(&small));
        Some((small, routing))
    }
}

/// The way out of each group.
#[derive(Debug)]
pub struct DragonflyMinimal {
    /// Routers of a group.
    size: u32,
    groups: u32,
    /// Routers with a channel from one group to another, ascending, by `from * groups + to`.
    gates: Vec<Vec<u32>>,
    /// The lowest port of each router to each group, by `router * groups + group`; [`NONE`] where it has none.
    ports: Vec<u8>,
}

/// No port.
const NONE: u8 = u8::MAX;

impl DragonflyMinimal {
    /// For a dragonfly; in any other network every router is a group.
    pub fn new(fabric: &Fabric) -> Self {
        let size = if let Shape::Groups(size) = fabric.shape() { *size } else { 1 };
        let groups = fabric.routers() / size;
        let mut gates = vec![Vec::new(); (groups * groups) as usize];
        let mut ports = vec![NONE; (fabric.routers() * groups) as usize];
        for (router, port) in fabric.channels() {
            let Some(to) = fabric.peer(router, port).map(|(far, _)| far / size).filter(|&to| to != router / size)
            else {
                continue;
            };
            let lowest = &mut ports[(router * groups + to) as usize];
            if *lowest == NONE {
                gates[(router / size * groups + to) as usize].push(router);
            }
            *lowest = (*lowest).min(port as u8);
        }
        gates.iter_mut().for_each(|routers| routers.sort_unstable());
        DragonflyMinimal { size, groups, gates, ports }
    }

    /// The port of `router` to another of its group.
    fn local(&self, router: u32, to: u32) -> u8 {
        other(router % self.size, to % self.size) as u8
    }

    /// The port of `router` on the way to another router.
    pub(super) fn port(&self, router: u32, to: u32) -> u8 {
        let (here, there) = (router / self.size, to / self.size);
        if here == there {
            return self.local(router, to);
        }
        match self.ports[(router * self.groups + there) as usize] {
            NONE => {
                let gates = &self.gates[(here * self.groups + there) as usize];
                // Where several lead there, packets are spread over them by their destination.
                self.local(router, gates[to as usize % gates.len()])
            }
            port => port,
        }
    }
}

impl HopByHop for DragonflyMinimal {
    fn division(&self) -> Division {
        Division::Equal(if self.size == 1 { 1 } else { 2 })
    }

    fn start(&self, _src: End, dst: End, _bits: u64) -> Head {
        Head { to: dst.router, label: 0, trip: Trip::default() }
    }

    fn starts(&self, _src: u32, dst: u32) -> Vec<Head> {
        vec![Head { to: dst, label: 0, trip: Trip::default() }]
    }

    fn forget(&self, at: &mut At, _head: &mut Head) {
        (at.port, at.set) = (at.port.map(|_| 0), at.set.map(|_| 0));
    }

    fn choice(&self, at: &At, head: &Head) -> Choice {
        let came_over = at.port.is_some() && at.router / self.size == head.to / self.size;
        Choice { ports: 1 << self.port(at.router, head.to), set: u8::from(came_over), ..Choice::default() }
    }

    fn is_fixed(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::{Buffers, Finding, find_cycle};

    /// The same routes with one set.
    #[derive(Debug)]
    struct OneSet(DragonflyMinimal);

    impl HopByHop for OneSet {
        fn division(&self) -> Division {
            Division::Equal(1)
        }
        fn start(&self, src: End, dst: End, bits: u64) -> Head {
            self.0.start(src, dst, bits)
        }
        fn starts(&self, src: u32, dst: u32) -> Vec<Head> {
            self.0.starts(src, dst)
        }
        fn choice(&self, at: &At, head: &Head) -> Choice {
            Choice { set: 0, ..self.0.choice(at, head) }
        }
    }

    /// Where the small dragonfly is free, so is the one that it stands for. With one set only those are in which hardly
    /// a packet walks twice in groups; of these the small one may say too much.
    #[test]
    fn a_small_dragonfly_stands_for_larger_ones() {
        let mut waiting = 0;
        for (routers, global, groups) in [(1, 6, 7), (2, 1, 3), (2, 3, 4), (3, 2, 7), (4, 2, 9), (6, 1, 7), (5, 3, 6)] {
            let fabric = Dragonfly::of(routers, global, Some(groups)).fabric().unwrap();
            let verdict = |fabric: &Fabric, one_set: bool| {
                let routing = DragonflyMinimal::new(fabric);
                let found = match one_set {
                    true => find_cycle(fabric, &OneSet(routing), Buffers::Shared, false),
                    false => find_cycle(fabric, &routing, Buffers::Shared, false),
                };
                found == Finding::Free
            };
            let small = Dragonfly::small(routers.min(4)).fabric().unwrap();
            assert!(verdict(&fabric, false) && verdict(&small, false), "{routers}, {global}, {groups}");
            assert_eq!(verdict(&small, true), routers == 1, "{routers}, {global}, {groups}");
            assert!(verdict(&fabric, true) || !verdict(&small, true), "{routers}, {global}, {groups}");
            waiting += u32::from(!verdict(&fabric, true));
        }
        assert!(waiting >= 4, "with one set only {waiting} can deadlock");
    }
}
