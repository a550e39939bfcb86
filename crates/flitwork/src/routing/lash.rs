//! LASH: a shortest path on any network, with the pairs of routers in layers of virtual channels, each free of cycles.
//!
//! T. Skeie, O. Lysne and I. Theiss, "Layered shortest path (LASH) routing in irregular system area networks", IPDPS
//! 2002 workshops. All packets from one router to another take one shortest path and keep to one layer. The pairs are
//! looked at by destination, then by source, both ascending: a pair goes to the lowest layer in which its path closes
//! no cycle of channel dependencies with the paths already there. Most networks need few layers; a ring needs two.
//!
//! The first layers then hold most pairs, and their virtual channels most packets. So all pairs are looked at once
//! more: a pair moves to the layer with the least load in which its path closes no cycle, if that layer then has less
//! load than its own one had. The load of a layer is the sum over its pairs of terminals of the channels of their
//! paths. J. Domke, T. Hoefler and W. E. Nagel, "Deadlock-free oblivious routing for arbitrary topologies", IPDPS
//! 2011, spread paths over their layers for the same reason.
//!
//! Of several shortest paths it is one over little used channels ([`PortTable::balanced`]).

use super::Routing;
use super::acyclic::Acyclic;
use super::hop_by_hop::{At, Head, HopByHop};
use super::kind::{AnyOptions, Network};
use super::port_table::{PortTable, at_work, check, with_terminals};
use super::scheme::{Choice, Division, MOST_SETS, Trip};
use crate::error::Result;
use crate::topology::{End, Fabric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of LASH: none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LashOptions {}

impl AnyOptions for LashOptions {
    fn resolve(&mut self, network: &Network) -> Result<()> {
        check(network.fabric)
    }

    fn routing(&self, network: &Network) -> Result<Routing> {
        Ok(at_work(network.fabric, Lash::new(network.fabric)?))
    }
}

/// Shortest paths in layers.
#[derive(Debug)]
pub struct Lash {
    routers: u32,
    table: PortTable,
    layers: u8,
    /// The layer of each pair, by `destination * routers + source`; empty where all are in layer 0.
    layer: Vec<u8>,
}

impl Lash {
    /// For a network in which all routers with terminals are joined.
    ///
    /// # Errors
    /// More layers than there are numbers.
    pub fn new(fabric: &Fabric) -> Result<Self> {
        Lash::within(fabric, MOST_SETS).ok_or_else(|| {
            let hint = "use routing kind = \"up_down\"";
            fabric.too_large(format!("paths that need at most {MOST_SETS} layers"), hint)
        })
    }

    /// The same; `None` where it takes more layers than `most`, which is found without looking at all pairs.
    pub(super) fn within(fabric: &Fabric, most: u32) -> Option<Self> {
        let FirstFit { mut lash, mut layers, mut loads } = FirstFit::new(fabric, most)?;
        let mut order: Vec<usize> = (0..layers.len()).collect();
        let mut path = Vec::new();
        for pair in pairs(fabric) {
            walk(fabric, &lash.table, pair, &mut path);
            let (own, more) = (usize::from(lash.layer(pair.0, pair.1)), load(fabric, pair, &path));
            order.sort_by_key(|&layer| (loads[layer], layer));
            let mut lighter = order.iter().copied().take_while(|&layer| loads[layer] + more < loads[own]);
            if let Some(found) = lighter.find(|&layer| layers[layer].add(fabric, &path)) {
                loads[own] -= more;
                loads[found] += more;
                lash.put(pair, found);
            }
        }
        Some(lash)
    }

    /// Whether it takes no more layers than `most`.
    pub(super) fn fits(fabric: &Fabric, most: u32) -> bool {
        FirstFit::new(fabric, most).is_some()
    }

    fn put(&mut self, (src, dst): (u32, u32), layer: usize) {
        self.layer[dst as usize * self.routers as usize + src as usize] = layer as u8;
    }

    /// The paths of a table that cannot deadlock in one layer.
    pub(super) fn in_one_layer(fabric: &Fabric, table: PortTable) -> Self {
        Lash { routers: fabric.routers(), table, layers: 1, layer: Vec::new() }
    }

    /// Layers of virtual channels.
    pub(super) fn layers(&self) -> u8 {
        self.layers
    }

    /// The port of `router` on the way to `dst`; `None` where there is no way, and at the destination.
    pub(super) fn next(&self, router: u32, dst: u32) -> Option<u8> {
        self.table.next(router, dst)
    }

    /// The layer of packets from `src` to `dst`.
    pub(super) fn layer(&self, src: u32, dst: u32) -> u8 {
        self.layer.get(dst as usize * self.routers as usize + src as usize).copied().unwrap_or(0)
    }

    fn head(&self, src: u32, dst: u32) -> Head {
        let trip = Trip { mode: self.layer(src, dst), ..Trip::default() };
        Head { to: dst, label: 0, trip }
    }
}

/// Each pair in the lowest layer in which its path closes no cycle.
struct FirstFit {
    lash: Lash,
    layers: Vec<Acyclic>,
    /// Of each layer.
    loads: Vec<u64>,
}

impl FirstFit {
    /// `None` where it takes more layers than `most`.
    fn new(fabric: &Fabric, most: u32) -> Option<Self> {
        let routers = fabric.routers();
        let layer = vec![0; routers as usize * routers as usize];
        let lash = Lash { routers, table: PortTable::balanced(fabric), layers: 1, layer };
        let mut fit = FirstFit { lash, layers: Vec::new(), loads: Vec::new() };
        let mut path = Vec::new();
        for pair in pairs(fabric) {
            walk(fabric, &fit.lash.table, pair, &mut path);
            let found = fit.layers.iter_mut().position(|layer| layer.add(fabric, &path));
            let number = found.unwrap_or(fit.layers.len());
            if number == fit.layers.len() {
                if number == most as usize {
                    return None;
                }
                let mut new = Acyclic::new(fabric);
                new.add(fabric, &path);
                fit.layers.push(new);
                fit.loads.push(0);
            }
            fit.loads[number] += load(fabric, pair, &path);
            fit.lash.put(pair, number);
        }
        fit.lash.layers = fit.layers.len().max(1) as u8;
        Some(fit)
    }
}

/// All pairs of different routers with terminals, by destination, then by source.
fn pairs(fabric: &Fabric) -> impl Iterator<Item = (u32, u32)> {
    let to = move |dst: u32| with_terminals(fabric).filter(move |&src| src != dst).map(move |src| (src, dst));
    with_terminals(fabric).flat_map(to)
}

/// What a pair of routers adds to the load of its layer.
fn load(fabric: &Fabric, (src, dst): (u32, u32), path: &[(u32, usize)]) -> u64 {
    path.len() as u64 * (fabric.terminals_at(src).len() * fabric.terminals_at(dst).len()) as u64
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
    use crate::topology::{RandomRegular, TopologySpec, graph, ring};

    /// As the paper has it of rings.
    #[test]
    fn a_ring_needs_two_layers() {
        for n in [5, 6, 8, 33] {
            let fabric = ring(n);
            let lash = Lash::new(&fabric).unwrap();
            assert_eq!(lash.division(), Division::Equal(2), "{n}");
            assert_eq!(find_cycle(&fabric, &lash, Buffers::Shared, false), Finding::Free, "{n}");
        }
        assert_eq!(Lash::new(&ring(3)).unwrap().division(), Division::Equal(1));
    }

    #[test]
    fn layers_have_about_the_same_load() {
        for (routers, degree) in [(64, 6), (48, 4), (30, 3)] {
            let topology = RandomRegular { routers, degree, seed: 1, terminals_per_router: 1 };
            let fabric = TopologySpec::RandomRegular(topology).fabric().unwrap();
            let lash = Lash::new(&fabric).unwrap();
            let (mut loads, mut path) = (vec![0; usize::from(lash.layers)], Vec::new());
            for (src, dst) in (0..routers).flat_map(|src| (0..routers).map(move |dst| (src, dst))) {
                walk(&fabric, &lash.table, (src, dst), &mut path);
                loads[usize::from(lash.layer(src, dst))] += path.len();
            }
            let (least, most) = (loads.iter().min().unwrap(), loads.iter().max().unwrap());
            assert!(loads.len() > 2 && most - least <= most / 20, "{loads:?}");
            assert_eq!(find_cycle(&fabric, &lash, Buffers::Shared, false), Finding::Free);
        }
    }

    #[test]
    fn parallel_cables_share_the_destinations() {
        // Two routers, three cables, six terminals behind routers beyond.
        let cables = [[0, 1]; 3].into_iter().chain((2..8).map(|router| [1, router]));
        let fabric = graph(&cables.collect::<Vec<_>>(), &[1, 0, 1, 1, 1, 1, 1, 1]);
        let lash = Lash::new(&fabric).unwrap();
        let ports: Vec<_> = (2..8).map(|dst| lash.table.next(0, dst).unwrap()).collect();
        assert_eq!(ports, [0, 1, 2, 0, 1, 2]);
    }
}
