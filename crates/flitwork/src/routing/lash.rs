//! LASH: a shortest path on any network, with the pairs of routers in layers of virtual channels, each free of cycles.
//!
//! T. Skeie, O. Lysne and I. Theiss, "Layered shortest path (LASH) routing in irregular system area networks", IPDPS
//! 2002 workshops. All packets from one router to another take one shortest path and keep to one layer. The pairs are
//! looked at by destination, then by source, both ascending: a pair goes to the lowest layer in which its path closes
//! no cycle of channel dependencies with the paths already there. Most networks need few layers; a ring needs two.
//!
//! Where several ports lead on a shortest path, destinations are dealt out evenly ([`super::port_table::Spread`]).

use super::acyclic::Acyclic;
use super::hop_by_hop::{At, Head, HopByHop};
use super::kind::{AnyOptions, Network};
use super::port_table::{PortTable, Spread, check_size, distances, no_path, with_terminals};
use super::scheme::{Choice, Division, MOST_SETS, Trip};
use super::{AtSource, Routing};
use crate::error::Result;
use crate::topology::{End, Fabric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Options of LASH: none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LashOptions {}

impl AnyOptions for LashOptions {
    fn resolve(&mut self, network: &Network) -> Result<()> {
        check_size(network.fabric)?;
        check_paths(network.fabric)
    }

    fn routing(&self, network: &Network) -> Routing {
        match network.fabric.routers() {
            1 => Routing::AtSource(AtSource::one_router()),
            _ => Routing::HopByHop(Arc::new(Lash::new(network.fabric))),
        }
    }

    fn representative(&self, _network: &Network, _level: usize) -> Option<(Fabric, Arc<dyn HopByHop>)> {
        None
    }
}

/// Shortest paths in layers.
#[derive(Debug)]
pub struct Lash {
    routers: u32,
    table: PortTable,
    layers: u8,
    /// The layer of each pair, by `destination * routers + source`.
    layer: Vec<u8>,
}

impl Lash {
    /// For a network in which all routers with terminals are joined. A pair for which there is no number of a layer
    /// left is in the last one: the check for deadlock then finds the cycle.
    pub fn new(fabric: &Fabric) -> Self {
        let table = shortest(fabric);
        let routers = fabric.routers();
        let mut layers: Vec<Acyclic> = Vec::new();
        let mut layer = vec![0; routers as usize * routers as usize];
        let mut path = Vec::new();
        for dst in with_terminals(fabric) {
            for src in with_terminals(fabric).filter(|&src| src != dst) {
                walk(fabric, &table, (src, dst), &mut path);
                let found = layers.iter_mut().position(|layer| layer.add(fabric, &path));
                let number = found.unwrap_or(layers.len()).min(MOST_SETS as usize - 1);
                if number == layers.len() {
                    let mut new = Acyclic::new(fabric);
                    new.add(fabric, &path);
                    layers.push(new);
                }
                layer[dst as usize * routers as usize + src as usize] = number as u8;
            }
        }
        Lash { routers, table, layers: layers.len().max(1) as u8, layer }
    }

    fn layer(&self, src: u32, dst: u32) -> u8 {
        self.layer[dst as usize * self.routers as usize + src as usize]
    }

    fn head(&self, src: u32, dst: u32) -> Head {
        let trip = Trip { mode: self.layer(src, dst), ..Trip::default() };
        Head { to: dst, label: 0, trip }
    }
}

/// Refuses routers with terminals that no path joins.
fn check_paths(fabric: &Fabric) -> Result<()> {
    let mut hops = Vec::new();
    for dst in with_terminals(fabric) {
        distances(fabric, dst, &mut hops, |_, _| true);
        if let Some(src) = with_terminals(fabric).find(|&src| hops[src as usize] == u32::MAX) {
            return Err(no_path(fabric, src, dst));
        }
    }
    Ok(())
}

/// Shortest paths, destinations dealt out evenly.
fn shortest(fabric: &Fabric) -> PortTable {
    let mut table = PortTable::empty(fabric.routers());
    let (mut spread, mut hops) = (Spread::new(fabric), Vec::new());
    for dst in with_terminals(fabric) {
        distances(fabric, dst, &mut hops, |_, _| true);
        let terminals = fabric.terminals_at(dst).len() as u64;
        let mut column = table.towards(dst);
        for router in (0..fabric.routers()).filter(|&router| router != dst && hops[router as usize] != u32::MAX) {
            let nearer = |port: usize| {
                let peer = fabric.peer(router, port);
                peer.is_some_and(|(far, _)| hops[far as usize].checked_add(1) == Some(hops[router as usize]))
            };
            if let Some(port) = spread.deal(router, terminals, nearer) {
                column.set(router, port);
            }
        }
    }
    table
}

/// The channels from `src` to `dst`: router and output port.
fn walk(fabric: &Fabric, table: &PortTable, (src, dst): (u32, u32), path: &mut Vec<(u32, usize)>) {
    path.clear();
    let mut at = src;
    while let Some(port) = table.next(at, dst).map(usize::from) {
        path.push((at, port));
        let Some((far, _)) = fabric.peer(at, port) else { return };
        at = far;
    }
}

impl HopByHop for Lash {
    fn division(&self) -> Division {
        Division::Equal(self.layers)
    }

    fn start(&self, src: End, dst: End, _bits: u64) -> Head {
        self.head(src.router, dst.router)
    }

    fn starts(&self, src: u32, dst: u32) -> Vec<Head> {
        vec![self.head(src, dst)]
    }

    fn forget(&self, at: &mut At, _head: &mut Head) {
        (at.port, at.set) = (None, None);
    }

    fn choice(&self, at: &At, head: &Head) -> Choice {
        let ports = self.table.next(at.router, head.to).map_or(0, |port| 1 << port);
        Choice { ports, set: head.trip.mode, ..Choice::default() }
    }

    fn is_fixed(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::{Buffers, Finding, find_cycle};
    use crate::topology::{Channel, Graph};

    fn ring(n: u32) -> Fabric {
        let channels = (0..n).flat_map(|r| Channel::cable((r, 0), ((r + 1) % n, 1), 0)).collect();
        let graph = Graph { terminals: vec![1; n as usize], channels, classes: vec!["any".into()], drawing: None };
        Fabric::of_graph(&graph).unwrap()
    }

    /// As the paper has it of rings.
    #[test]
    fn a_ring_needs_two_layers() {
        for n in [5, 6, 8, 33] {
            let fabric = ring(n);
            let lash = Lash::new(&fabric);
            assert_eq!(lash.division(), Division::Equal(2), "{n}");
            assert_eq!(find_cycle(&fabric, &lash, Buffers::Shared, false), Finding::Free, "{n}");
        }
        assert_eq!(Lash::new(&ring(3)).division(), Division::Equal(1));
    }

    #[test]
    fn parallel_cables_share_the_destinations() {
        // Two routers, three cables, six terminals behind routers beyond.
        let star = (0..6).flat_map(|i| Channel::cable((1, 3 + i as usize), (2 + i, 0), 0));
        let cables = (0..3).flat_map(|i| Channel::cable((0, i), (1, i), 0));
        let mut terminals = vec![1; 8];
        terminals[1] = 0;
        let graph =
            Graph { terminals, channels: cables.chain(star).collect(), classes: vec!["any".into()], drawing: None };
        let fabric = Fabric::of_graph(&graph).unwrap();
        let lash = Lash::new(&fabric);
        let ports: Vec<_> = (2..8).map(|dst| lash.table.next(0, dst).unwrap()).collect();
        assert_eq!(ports, [0, 1, 2, 0, 1, 2]);
    }
}
