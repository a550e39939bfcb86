//! UGAL on a dragonfly: a packet goes minimally, or by a random other group where the queue is shorter there.
//!
//! A. Singh, "Load-balanced routing in interconnection networks", PhD thesis, Stanford University, 2005; of dragonflies
//! J. Kim, W. J. Dally, S. Scott and D. Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008,
//! section 4.2. With what the source router knows of its own output ports (UGAL-L): the queue of a port, times the
//! channels of the route by it. Or with the queues of the global channels of both routes, wherever in the group their
//! routers are (UGAL-G): what no router knows, to compare with. The packet decides once, when it first asks for a
//! virtual channel at its source router; with progressive adaptive routing (PAR) once more, if it went minimally so
//! far, at the next router of its group: N. Jiang, J. Kim and W. J. Dally, "Indirect adaptive routing on large scale
//! interconnection networks", ISCA 2009, section 3.3.
//!
//! Virtual channels are those of [`super::DragonflyValiantOptions`]. PAR has a set before them, for the local channel
//! of a packet on its minimal route out of its group: behind it there may be another local one.

use super::Routing;
use super::dragonfly_valiant::DragonflyValiant;
use super::hop_by_hop::{At, Head, HopByHop};
use super::kind::{AnyOptions, Network};
use super::scheme::{Choice, Division};
use crate::error::Result;
use crate::topology::{Dragonfly, End, Fabric, Shape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Options of UGAL on a dragonfly.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DragonflyUgalOptions {
    /// Head start of the minimal route \[flits]: a packet takes the other route only if the queue of the minimal route,
    /// times its channels, exceeds the queue of the other route, times its channels, by more. A larger bias keeps more
    /// packets on minimal routes. Default: 0.
    pub bias_flits: u32,
    /// Progressive adaptive routing (PAR): a packet on its minimal route decides again at the second router of its
    /// group. Needs a fourth set of virtual channels. Default: false.
    pub progressive: bool,
    /// UGAL-G: the queues that are compared are those of the global channels by which the routes leave the group of the
    /// source, also at other routers. No router knows these at once: a limit to compare with. Without it, the queues
    /// of the router's own ports (UGAL-L). Default: false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("default" = false))]
    pub global_queues: bool,
}

impl AnyOptions for DragonflyUgalOptions {
    fn resolve(&mut self, network: &Network) -> Result<()> {
        network.fabric.needs_groups("network.routing.kind", "dragonfly_ugal").map(|_| ())
    }

    fn routing(&self, network: &Network) -> Result<Routing> {
        Ok(Routing::HopByHop(Arc::new(DragonflyUgal::new(network.fabric, self))))
    }

    fn representative(&self, network: &Network, level: usize) -> Option<(Fabric, Arc<dyn HopByHop>)> {
        let (&Shape::Groups(size), 0) = (network.fabric.shape(), level) else { return None };
        let small = Dragonfly::small(size.min(4)).fabric().ok()?;
        let routing = Arc::new(DragonflyUgal::new(&small, self));
        Some((small, routing))
    }
}

/// Minimally, or by another group.
#[derive(Debug)]
pub struct DragonflyUgal {
    valiant: DragonflyValiant,
    fabric: Fabric,
    options: DragonflyUgalOptions,
    /// Routers of a group.
    size: u32,
}

impl DragonflyUgal {
    /// For a dragonfly; in any other network every router is a group.
    pub fn new(fabric: &Fabric, options: &DragonflyUgalOptions) -> Self {
        let size = if let Shape::Groups(size) = fabric.shape() { *size } else { 1 };
        DragonflyUgal { valiant: DragonflyValiant::new(fabric), fabric: fabric.clone(), options: options.clone(), size }
    }

    /// Whether a packet may leave its minimal route here.
    fn decides(&self, at: &At, head: &Head) -> bool {
        let in_its_group = self.options.progressive && at.router / self.size != head.to / self.size;
        head.label != 0 && (at.port.is_none() || in_its_group)
    }

    /// The channel of Valiant's routing; progressive, behind the set for the first local channel.
    fn by_valiant(&self, at: &At, head: &Head) -> Choice {
        let choice = self.valiant.choice(at, head);
        Choice { set: choice.set + u8::from(self.options.progressive), ..choice }
    }

    /// The channel of the minimal route. Progressive, the local one out of the source router to another group has a set
    /// of its own, because another local channel may follow.
    fn minimal(&self, at: &At, head: &Head) -> Choice {
        let choice = self.by_valiant(at, &Self::minimally(head));
        let leaves_group = at.router / self.size != head.to / self.size;
        // The lowest ports are the local ones.
        let local = choice.ports.trailing_zeros() + 1 < self.size;
        let set = if self.options.progressive && at.port.is_none() && leaves_group && local { 0 } else { choice.set };
        Choice { set, ..choice }
    }

    /// The channels that a packet walks from a router: router and output port.
    fn walk(&self, mut at: u32, mut head: Head) -> impl Iterator<Item = (u32, u8)> + '_ {
        std::iter::from_fn(move || {
            self.valiant.enter(at, head.to, &mut head, &|| 0);
            let channel = (at != head.to).then(|| (at, self.valiant.port(at, &head)))?;
            at = self.fabric.peer(at, channel.1.into())?.0;
            Some(channel)
        })
    }

    /// The first global channel of a packet's walk from a router; where it has none, its first channel.
    fn way_out(&self, at: u32, head: Head) -> (u32, u8) {
        // The lowest ports are the local ones.
        let global = |channel: &(u32, u8)| u32::from(channel.1) + 1 >= self.size;
        let first = || self.walk(at, head).next();
        self.walk(at, head).find(global).or_else(first).unwrap_or((at, 0))
    }

    /// The same packet, gone minimally.
    fn minimally(head: &Head) -> Head {
        Head { label: 0, ..*head }
    }

    /// Whether a packet has taken the port that is not minimal.
    fn took_other(head: &Head) -> bool {
        head.trip.crossed > 0
    }
}

impl HopByHop for DragonflyUgal {
    fn division(&self) -> Division {
        let sets = if self.size == 1 { 2 } else { 3 };
        Division::Equal(sets + u8::from(self.options.progressive))
    }

    fn start(&self, src: End, dst: End, bits: u64) -> Head {
        self.valiant.start(src, dst, bits)
    }

    fn starts(&self, src: u32, dst: u32) -> Vec<Head> {
        self.valiant.starts(src, dst)
    }

    fn forget(&self, at: &mut At, head: &mut Head) {
        if !Self::took_other(head) && !self.decides(at, head) {
            head.label = 0;
        }
        self.valiant.forget(at, head);
    }

    fn enter(&self, at: u32, dst: u32, head: &mut Head, bits: &dyn Fn() -> u64) {
        if Self::took_other(head) {
            self.valiant.enter(at, dst, head, bits);
        }
    }

    fn choice(&self, at: &At, head: &Head) -> Choice {
        if Self::took_other(head) {
            return self.by_valiant(at, head);
        }
        let minimal = self.minimal(at, head);
        if !self.decides(at, head) {
            return minimal;
        }
        let other = self.by_valiant(at, head);
        // Where both routes begin with one port, its queue says nothing; those behind it do.
        let part_behind = self.options.global_queues && minimal.set == other.set;
        if minimal.ports == other.ports && !part_behind {
            return minimal;
        }
        let nonminimal = Some((other.ports.trailing_zeros() as u8, other.set));
        Choice { ports: minimal.ports | other.ports, nonminimal, ..minimal }
    }

    fn lengths(&self, at: u32, head: &Head) -> [u32; 2] {
        [Self::minimally(head), *head].map(|head| self.walk(at, head).count() as u32)
    }

    fn watches_other_routers(&self) -> bool {
        self.options.global_queues
    }

    fn watched(&self, at: u32, head: &Head) -> [(u32, u8); 2] {
        [Self::minimally(head), *head].map(|head| self.way_out(at, head))
    }

    fn bias_flits(&self) -> Option<u32> {
        Some(self.options.bias_flits)
    }

    fn most_ports(&self) -> usize {
        2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::{Buffers, Finding, find_cycle};

    #[test]
    fn no_packets_wait_for_each_other_in_a_cycle() {
        for (routers, global, groups) in [(1, 6, None), (2, 1, None), (2, 3, Some(4)), (3, 2, None), (4, 2, None)] {
            let fabric = Dragonfly::of(routers, global, groups).fabric().unwrap();
            for fabric in [fabric, Dragonfly::small(routers.min(4)).fabric().unwrap()] {
                for progressive in [false, true] {
                    let options = DragonflyUgalOptions { progressive, ..DragonflyUgalOptions::default() };
                    let found = find_cycle(&fabric, &DragonflyUgal::new(&fabric, &options), Buffers::Shared, false);
                    assert_eq!(found, Finding::Free, "{routers}, {global}, {groups:?}, {progressive}");
                }
            }
        }
    }

    #[test]
    fn both_routes_are_as_long_as_they_are() {
        let fabric = Dragonfly::of(4, 2, None).fabric().unwrap();
        let routing = DragonflyUgal::new(&fabric, &DragonflyUgalOptions::default());
        let mut chosen = 0;
        for (src, dst) in (0..36).flat_map(|src| (0..36).map(move |dst| (src, dst))).filter(|(src, dst)| src != dst) {
            for head in routing.starts(src, dst) {
                let [minimal, other] = routing.lengths(src, &head);
                let at = At { router: src, port: None, set: None };
                // By another group there may be two global channels and no others: shorter than three channels.
                assert!((1..=3).contains(&minimal) && (1..=5).contains(&other), "{src} -> {dst}");
                assert!(head.label != 0 || minimal == other);
                chosen += u32::from(routing.choice(&at, &head).nonminimal.is_some());
            }
        }
        assert!(chosen > 1_000);
    }

    /// UGAL-G: each route has the channel watched by which it leaves the group, to the group that it goes to first.
    #[test]
    fn global_queues_are_those_of_the_channels_out_of_the_group() {
        let fabric = Dragonfly::of(4, 2, None).fabric().unwrap();
        let options = DragonflyUgalOptions { global_queues: true, ..DragonflyUgalOptions::default() };
        let routing = DragonflyUgal::new(&fabric, &options);
        let group = |router: u32| router / 4;
        for (src, dst) in (0..36).flat_map(|src| (0..36).map(move |dst| (src, dst))).filter(|(src, dst)| src != dst) {
            for head in routing.starts(src, dst) {
                let [minimal, other] = routing.watched(src, &head).map(|(router, port)| {
                    assert_eq!(group(router), group(src));
                    group(fabric.peer(router, port.into()).unwrap().0)
                });
                assert_eq!(minimal, group(dst), "{src} -> {dst}");
                assert_eq!(other, if head.label == 0 { minimal } else { head.label - 1 }, "{src} -> {dst}");
            }
        }
    }

    /// PAR: the way out of the group leads by a router that has it in its hand once more.
    #[test]
    fn a_packet_decides_once_more_in_its_group() {
        let fabric = Dragonfly::of(4, 2, None).fabric().unwrap();
        let options = DragonflyUgalOptions { progressive: true, ..DragonflyUgalOptions::default() };
        let routing = DragonflyUgal::new(&fabric, &options);
        let mut again = 0;
        for (src, dst) in (0..4).flat_map(|src| (4..36).map(move |dst| (src, dst))) {
            for head in routing.starts(src, dst) {
                let choice = routing.choice(&At { router: src, port: None, set: None }, &head);
                let minimal = choice.ports & !choice.nonminimal.map_or(0, |(port, _)| 1 << port);
                let (next, input) = fabric.peer(src, minimal.trailing_zeros() as usize).unwrap();
                if next == dst {
                    continue;
                }
                let at = At { router: next, port: Some(input as u8), set: Some(choice.set) };
                let later = routing.choice(&at, &head);
                assert_eq!(choice.set, u8::from(next >= 4), "the first local channel has a set of its own");
                assert!(choice.nonminimal.is_none_or(|(_, set)| set == 1));
                match next < 4 {
                    true => again += u32::from(later.nonminimal.is_some_and(|(_, set)| set == 1)),
                    false => assert_eq!(later.nonminimal, None),
                }
            }
        }
        assert!(again > 100, "{again}");
    }
}
