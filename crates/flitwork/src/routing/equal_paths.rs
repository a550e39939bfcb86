//! All shortest paths of a network, of which a number in the head of each packet picks one: what equal-cost multi-path
//! routing ([`super::EcmpOptions`]) and packet spraying ([`super::SprayOptions`]) share.
//!
//! A router knows the output ports on a shortest path to each destination. It mixes the number of the packet with its
//! own number and takes one of them, so that packets with the same number take the same path, and routers choose
//! independently of each other.
//!
//! Where all shortest paths together close no cycle of dependencies, as in trees, packets use all virtual channels;
//! elsewhere a set for each channel walked, as under [`super::HopClassesOptions`].

use super::Routing;
use super::hop_by_hop::{At, GoesBy, Head, HopByHop, Rank};
use super::kind::Network;
use super::port_table::{at_work, distances, leads_nearer, longest_path, with_terminals};
use super::scheme::{Choice, Division, MOST_SETS, Trip, too_long};
use super::{Buffers, Finding, find_cycle};
use crate::error::Result;
use crate::mix::{draw_below, mix};
use crate::topology::{End, Fabric};
use std::collections::HashMap;

/// What the number of a packet is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pick {
    /// Its two terminals, with this seed.
    Pair(u64),
    /// Its random bits.
    Packet,
}

/// The label of a head that stands for packets with any number.
const ANY: u32 = u32::MAX;

/// All shortest paths, and how a packet picks one.
#[derive(Debug)]
pub(super) struct EqualPaths {
    pick: Pick,
    /// Sets of virtual channels.
    sets: u8,
    routers: u32,
    /// Sets of ports that occur, a bit each.
    ports: Vec<u64>,
    /// Which of them it is, by `destination * routers + router`.
    index: Vec<u32>,
}

impl EqualPaths {
    /// The routing of a network in which all routers with terminals are joined.
    pub fn routing(network: &Network, pick: Pick) -> Result<Routing> {
        Ok(at_work(network.fabric, EqualPaths::new(network.fabric, pick)?))
    }

    fn new(fabric: &Fabric, pick: Pick) -> Result<Self> {
        let mut paths = EqualPaths::in_one_set(fabric, pick);
        if find_cycle(fabric, &paths, Buffers::Shared, false) != Finding::Free {
            let hops = longest_path(fabric);
            if hops > MOST_SETS {
                return Err(fabric.too_large(too_long(hops), "use a smaller network, or another routing"));
            }
            paths.sets = hops as u8;
        }
        Ok(paths)
    }

    fn in_one_set(fabric: &Fabric, pick: Pick) -> Self {
        let routers = fabric.routers();
        let (mut ports, mut known) = (vec![0], HashMap::from([(0, 0)]));
        let mut index = vec![0; routers as usize * routers as usize];
        let mut hops = Vec::new();
        for dst in with_terminals(fabric) {
            for &at in &distances(fabric, dst, &mut hops, |_, _| true)[1..] {
                let nearer = (0..fabric.network_ports()).filter(|&port| leads_nearer(fabric, &hops, (at, port)));
                let set = nearer.fold(0u64, |set, port| set | 1 << port);
                index[dst as usize * routers as usize + at as usize] = *known.entry(set).or_insert_with(|| {
                    ports.push(set);
                    ports.len() as u32 - 1
                });
            }
        }
        EqualPaths { pick, sets: 1, routers, ports, index }
    }

    /// The ports of `router` on a shortest path to `dst`, a bit each.
    #[inline]
    fn ports(&self, router: u32, dst: u32) -> u64 {
        self.ports[self.index[dst as usize * self.routers as usize + router as usize] as usize]
    }

    fn head(dst: u32, label: u32) -> Head {
        Head { to: dst, label, trip: Trip::default() }
    }
}

/// The port of several that packets with a number take at a router.
#[inline]
fn picked(ports: u64, label: u32, router: u32) -> u64 {
    if ports & ports.wrapping_sub(1) == 0 {
        return ports;
    }
    let drawn = mix(u64::from(label) << 32 | u64::from(router));
    let mut left = ports;
    for _ in 0..draw_below(drawn, u64::from(ports.count_ones())) {
        left &= left - 1;
    }
    left & left.wrapping_neg()
}

impl HopByHop for EqualPaths {
    fn division(&self) -> Division {
        Division::Equal(self.sets)
    }

    fn start(&self, src: End, dst: End, bits: u64) -> Head {
        let number = match self.pick {
            Pick::Pair(seed) => mix(mix(seed) ^ (u64::from(src.terminal) << 32 | u64::from(dst.terminal))),
            Pick::Packet => mix(bits),
        };
        // The upper half without its first bit: it is not ANY.
        EqualPaths::head(dst.router, (number >> 33) as u32)
    }

    fn starts(&self, _src: u32, dst: u32) -> Vec<Head> {
        vec![EqualPaths::head(dst, ANY)]
    }

    fn rank<'a>(&'a self, _fabric: &'a Fabric) -> Option<Box<Rank<'a>>> {
        if self.sets > 1 { Some(Box::new(|(_, _, set)| set.into())) } else { None }
    }

    fn forget(&self, at: &mut At, _head: &mut Head) {
        at.port = at.port.map(|_| 0);
        if self.sets == 1 {
            (at.port, at.set) = (None, None);
        }
    }

    fn choice(&self, at: &At, head: &Head) -> Choice {
        let all = self.ports(at.router, head.to);
        let ports = if head.label == ANY { all } else { picked(all, head.label, at.router) };
        let set = if self.sets == 1 { 0 } else { at.set.map_or(0, |set| set + 1).min(self.sets - 1) };
        Choice { ports, set, ..Choice::default() }
    }

    fn is_fixed(&self) -> bool {
        self.pick != Pick::Packet
    }

    fn goes_by(&self) -> GoesBy {
        GoesBy::Pair
    }

    fn requests_one_port(&self) -> bool {
        self.sets == 1
    }
}

/// Options that make a routing of equal paths.
macro_rules! picks_equal_paths {
    ($Options:ty, $pick:expr) => {
        impl super::kind::AnyOptions for $Options {
            fn resolve(&mut self, network: &super::kind::Network) -> crate::error::Result<()> {
                super::port_table::check(network.fabric)
            }

            fn routing(&self, network: &super::kind::Network) -> crate::error::Result<super::Routing> {
                let pick: fn(&$Options) -> Pick = $pick;
                super::equal_paths::EqualPaths::routing(network, pick(self))
            }
        }
    };
}

pub(super) use picks_equal_paths;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{graph, random, ring};
    use std::sync::Arc;

    /// Two leaves below four spines, three terminals at each leaf.
    fn two_leaves() -> Fabric {
        let cables: Vec<[u32; 2]> = (2..6).flat_map(|spine| [[0, spine], [1, spine]]).collect();
        graph(&cables, &[3, 3, 0, 0, 0, 0])
    }

    fn path(fabric: &Fabric, pick: Pick, (src, dst): (u32, u32), bits: u64) -> Vec<(u32, usize, u8)> {
        let routing = Routing::HopByHop(Arc::new(EqualPaths::new(fabric, pick).unwrap()));
        routing.path(fabric, fabric.end(src), fabric.end(dst), bits)
    }

    #[test]
    fn no_packets_wait_for_each_other_in_a_cycle() {
        for fabric in [two_leaves(), ring(3), ring(8)].into_iter().chain((0..40).map(random)) {
            let routing = EqualPaths::new(&fabric, Pick::Packet).unwrap();
            assert_eq!(find_cycle(&fabric, &routing, Buffers::Shared, false), Finding::Free);
        }
        assert_eq!(EqualPaths::new(&two_leaves(), Pick::Packet).unwrap().sets, 1);
        assert_eq!(EqualPaths::new(&ring(8), Pick::Packet).unwrap().sets, 4);
    }

    #[test]
    fn packets_of_a_pair_take_one_path_and_pairs_and_packets_differ() {
        let fabric = two_leaves();
        let spine = |pick, pair, bits| path(&fabric, pick, pair, bits)[0].1;
        let pairs = || (0..3).flat_map(|src| (3..6).map(move |dst| (src, dst)));
        let of_pairs: Vec<usize> = pairs().map(|pair| spine(Pick::Pair(1), pair, 5)).collect();
        assert_eq!(of_pairs, pairs().map(|pair| spine(Pick::Pair(1), pair, 6)).collect::<Vec<_>>());
        assert_ne!(of_pairs, pairs().map(|pair| spine(Pick::Pair(2), pair, 5)).collect::<Vec<_>>());
        let mut used = [0; 4];
        (0..4000).for_each(|bits| used[spine(Pick::Packet, (0, 3), bits)] += 1);
        // A quarter each; the standard deviation is 27.
        assert!(used.iter().all(|&n| (900..1100).contains(&n)), "{used:?}");
    }

    #[test]
    fn paths_are_shortest() {
        for fabric in (0..20).map(random) {
            let mut hops = Vec::new();
            for (src, dst) in (0..fabric.terminals()).flat_map(|a| (0..fabric.terminals()).map(move |b| (a, b))) {
                let [from, to] = [src, dst].map(|terminal| fabric.end(terminal).router);
                distances(&fabric, to, &mut hops, |_, _| true);
                for bits in 0..4 {
                    assert_eq!(path(&fabric, Pick::Packet, (src, dst), bits).len() as u32, hops[from as usize]);
                }
            }
        }
    }
}
