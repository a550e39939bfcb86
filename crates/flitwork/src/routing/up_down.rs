//! Up*/down* on any network: channels towards a root first, then channels away from it, with one virtual channel.
//!
//! M. D. Schroeder et al., "Autonet: a high-speed, self-configuring local area network using point-to-point links",
//! IEEE J. Selected Areas in Communications 9(8), 1991. A channel leads up if its far end is nearer to the root, or as
//! near and of a lower number; all others lead down. A path goes up as far as it does and then down, never up again, so
//! no cycle of dependencies can close. Paths are the shortest of this kind, which may be longer than those of the
//! network, and the channels at the root carry more than others: that is the price of needing no virtual channels.
//!
//! Where several ports lead on such a path, destinations are dealt out evenly ([`super::port_table::Spread`]).

use super::Routing;
use super::hop_by_hop::{At, Head, HopByHop, Rank};
use super::kind::{AnyOptions, Network};
use super::port_table::{PortTable, Spread, at_work, check_size, distances, leads_nearer, with_terminals};
use super::scheme::{Choice, Division};
use crate::error::{Error, Result};
use crate::topology::{End, Fabric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of up*/down*.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpDownOptions {
    /// Number of the root router. Default: a router in the middle of a longest shortest path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    pub root: Option<u32>,
}

impl AnyOptions for UpDownOptions {
    fn resolve(&mut self, network: &Network) -> Result<()> {
        let (fabric, routers) = (network.fabric, network.fabric.routers());
        check_size(fabric)?;
        let root = self.root.unwrap_or_else(|| middle(fabric));
        if root >= routers {
            let expected = format!("a router from 0 to {}", routers - 1);
            return Err(Error::config("network.routing.root", root, expected, ""));
        }
        self.root = Some(root);
        Ok(())
    }

    fn routing(&self, network: &Network) -> Result<Routing> {
        Ok(at_work(network.fabric, UpDown::new(network.fabric, self.root.unwrap_or(0))?))
    }
}

/// Up, then down.
#[derive(Debug)]
pub struct UpDown {
    /// Ports of packets that may still go up.
    first: PortTable,
    /// Ports of packets that went down.
    then: PortTable,
    ports: usize,
    /// Whether the channel before each input port leads down, by `router * ports + port`.
    from_above: Vec<bool>,
    /// Place of each router in the order from the root down.
    depth: Vec<u32>,
}

impl UpDown {
    /// For a network and a root.
    ///
    /// # Errors
    /// Routers with terminals that no such path joins.
    pub fn new(fabric: &Fabric, root: u32) -> Result<Self> {
        let (routers, ports) = (fabric.routers(), fabric.network_ports());
        let mut levels = Vec::new();
        distances(fabric, root, &mut levels, |_, _| true);
        let mut from_root: Vec<u32> = (0..routers).collect();
        from_root.sort_unstable_by_key(|&router| (levels[router as usize], router));
        let mut depth = vec![0; routers as usize];
        from_root.iter().zip(0..).for_each(|(&router, place)| depth[router as usize] = place);
        let leads_down = |from: u32, port: usize| {
            fabric.peer(from, port).is_some_and(|(to, _)| depth[to as usize] > depth[from as usize])
        };
        let mut spread = Spread::new(fabric);
        let (mut first, mut then) = (PortTable::empty(routers), PortTable::empty(routers));
        let mut down = Vec::new();
        for dst in with_terminals(fabric) {
            let terminals = fabric.terminals_at(dst).len() as u64;
            distances(fabric, dst, &mut down, leads_down);
            let any = with_up(fabric, &down, (&from_root, &depth));
            if let Some(src) = with_terminals(fabric).find(|&src| any[src as usize] == u32::MAX) {
                return Err(no_path(fabric, (src, dst), root));
            }
            let (mut first, mut then) = (first.towards(dst), then.towards(dst));
            for router in (0..routers).filter(|&router| router != dst) {
                let by_any = |port: usize| match leads_down(router, port) {
                    // Down from here, and on down.
                    true => fabric
                        .peer(router, port)
                        .is_some_and(|(to, _)| down[to as usize].checked_add(1) == Some(any[router as usize])),
                    false => leads_nearer(fabric, &any, (router, port)),
                };
                let by_down = |port: usize| leads_down(router, port) && leads_nearer(fabric, &down, (router, port));
                spread.deal(router, terminals, by_any).into_iter().for_each(|port| first.set(router, port));
                spread.deal(router, terminals, by_down).into_iter().for_each(|port| then.set(router, port));
            }
        }
        let input =
            |router: u32, port: usize| fabric.feeder(router, port).is_some_and(|(from, out)| leads_down(from, out));
        let from_above = (0..routers).flat_map(|router| (0..ports).map(move |port| (router, port)));
        let from_above = from_above.map(|(router, port)| input(router, port)).collect();
        Ok(UpDown { first, then, ports, from_above, depth })
    }

    fn went_down(&self, at: &At) -> bool {
        at.port.is_some_and(|port| self.from_above[at.router as usize * self.ports + usize::from(port)])
    }
}

/// Channels from each router on a path that goes up and then down, of those that only go down. `from_root`: the routers
/// in the order from the root down, and the place of each in it.
fn with_up(fabric: &Fabric, down: &[u32], (from_root, depth): (&[u32], &[u32])) -> Vec<u32> {
    let mut any = down.to_vec();
    // Channels up lead to routers that come before, so these are known first.
    for &router in from_root {
        let up = (0..fabric.network_ports()).filter_map(|port| fabric.peer(router, port));
        let up = up.filter(|&(to, _)| depth[to as usize] < depth[router as usize]);
        let nearest = up.map(|(to, _)| any[to as usize]).min();
        let hops = &mut any[router as usize];
        *hops = nearest.map_or(*hops, |nearest| (*hops).min(nearest.saturating_add(1)));
    }
    any
}

/// A router in the middle of a path between two routers that are far apart: the farthest from the farthest from router
/// 0. Of several that are as far the lowest number counts.
fn middle(fabric: &Fabric) -> u32 {
    let mut hops = Vec::new();
    let mut farthest_from = |router: u32| {
        distances(fabric, router, &mut hops, |_, _| true);
        let reached = (0..fabric.routers()).filter(|&other| hops[other as usize] != u32::MAX);
        let far = reached.max_by_key(|&other| (hops[other as usize], u32::MAX - other)).unwrap_or(router);
        (far, hops.clone())
    };
    let one_end = farthest_from(0).0;
    let (other_end, to_one) = farthest_from(one_end);
    let to_other = farthest_from(other_end).1;
    let length = to_one[other_end as usize];
    let between = |&router: &u32| {
        let (one, other) = (to_one[router as usize], to_other[router as usize]);
        one == length / 2 && one.saturating_add(other) == length
    };
    (0..fabric.routers()).find(between).unwrap_or(one_end)
}

fn no_path(fabric: &Fabric, (src, dst): (u32, u32), root: u32) -> Error {
    let value = format!("no path up and then down from {} to {}", fabric.router_name(src), fabric.router_name(dst));
    let expected = format!("a path between all routers with terminals; the root is router {root}");
    Error::config(
        "network.routing.kind",
        "up_down",
        format!("{expected}: {value}"),
        "use another root, or kind = \"lash\"",
    )
}

impl HopByHop for UpDown {
    fn division(&self) -> Division {
        Division::Equal(1)
    }

    fn start(&self, src: End, dst: End, bits: u64) -> Head {
        self.first.start(src, dst, bits)
    }

    fn starts(&self, src: u32, dst: u32) -> Vec<Head> {
        self.first.starts(src, dst)
    }

    /// Channels up, the nearer to the root their far end the later; then those down, the other way round.
    fn rank<'a>(&'a self, fabric: &'a Fabric) -> Option<Box<Rank<'a>>> {
        let depth = |router: u32| u64::from(self.depth[router as usize]);
        let routers = self.depth.len() as u64;
        Some(Box::new(move |(router, port, _)| match fabric.peer(router, port.into()) {
            Some((to, _)) if depth(to) > depth(router) => routers + depth(to),
            Some((to, _)) => routers - 1 - depth(to),
            // A channel that is not there leads nowhere.
            None => u64::MAX,
        }))
    }

    fn forget(&self, at: &mut At, _head: &mut Head) {
        at.port = at.port.filter(|_| self.went_down(at));
        at.set = at.port.map(|_| 0);
    }

    fn choice(&self, at: &At, head: &Head) -> Choice {
        if self.went_down(at) { self.then.choice(at, head) } else { self.first.choice(at, head) }
    }

    fn is_fixed(&self) -> bool {
        true
    }

    fn requests_one_port(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::{Buffers, Finding, find_cycle};
    use std::sync::Arc;

    fn graph(cables: &[[u32; 2]]) -> Fabric {
        crate::topology::graph(cables, &[])
    }

    fn path(fabric: &Fabric, root: u32, src: u32, dst: u32) -> Vec<u32> {
        let routing = Routing::HopByHop(Arc::new(UpDown::new(fabric, root).unwrap()));
        let path = routing.path(fabric, fabric.end(src), fabric.end(dst), 0);
        path.into_iter().map(|(router, port, _)| fabric.peer(router, port).unwrap().0).collect()
    }

    /// A ring of six with its root at router 0: router 3 is the bottom, and no packet goes through it.
    #[test]
    fn nothing_goes_down_and_up_again() {
        let ring = crate::topology::ring(6);
        assert_eq!(path(&ring, 0, 2, 4), [1, 0, 5, 4]);
        assert_eq!(path(&ring, 0, 2, 3), [3]);
        assert_eq!(path(&ring, 0, 1, 3), [2, 3]);
        let routing = UpDown::new(&ring, 0).unwrap();
        assert_eq!(find_cycle(&ring, &routing, Buffers::Shared, false), Finding::Free);
    }

    #[test]
    fn the_root_is_in_the_middle() {
        assert_eq!(middle(&graph(&[[0, 1], [1, 2], [2, 3], [3, 4]])), 2);
        // A star whose centre is router 4.
        assert_eq!(middle(&graph(&[[0, 4], [1, 4], [2, 4], [3, 4]])), 4);
    }

    #[test]
    fn a_root_that_is_not_there_is_named() {
        let fabric = graph(&[[0, 1]]);
        let error = UpDownOptions { root: Some(2) }.resolve(&Network { fabric: &fabric }).unwrap_err().to_string();
        assert!(error.starts_with("network.routing.root = 2: expected a router from 0 to 1"), "{error}");
    }
}
