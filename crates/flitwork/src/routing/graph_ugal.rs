//! UGAL on any network: a packet takes a shortest path, or that of Valiant's routing where the queue is shorter there.
//!
//! A. Singh, "Load-balanced routing in interconnection networks", PhD thesis, Stanford University, 2005. With what the
//! source router knows of its own output ports (UGAL-L): the queue of a port, times the channels of the route by it.
//! The packet decides once, when it first asks for a virtual channel at its source router.
//!
//! Paths and virtual channels are those of [`super::GraphValiantOptions`]. Of the packets on shortest paths one half
//! uses the sets of the first walk, the other half those of the second, as their random bits say.

use super::Routing;
use super::graph_valiant::GraphValiant;
use super::hop_by_hop::{At, Head, HopByHop};
use super::kind::{AnyOptions, Network};
use super::port_table::{at_work, check};
use super::scheme::{Choice, Division};
use crate::error::Result;
use crate::topology::{End, Fabric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of UGAL on any network.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphUgalOptions {
    /// Head start of the shortest path \[flits]: a packet takes the other route only if the queue of the shortest path,
    /// times its channels, exceeds the queue of the other route, times its channels, by more. A larger bias keeps more
    /// packets on shortest paths. Default: 0.
    #[serde(default)]
    pub bias_flits: u32,
}

impl AnyOptions for GraphUgalOptions {
    fn resolve(&mut self, network: &Network) -> Result<()> {
        check(network.fabric)
    }

    fn routing(&self, network: &Network) -> Result<Routing> {
        Ok(at_work(network.fabric, GraphUgal::new(network.fabric, self.bias_flits)?))
    }
}

/// By a shortest path, or by another router.
#[derive(Debug)]
pub struct GraphUgal {
    valiant: GraphValiant,
    fabric: Fabric,
    bias_flits: u32,
}

/// What a packet has to decide: the router that it may go by, the set of its walk there, and the set of its shortest
/// path. It travels in the label: a number of 15 bits and two bytes. Labels of packets that have nothing to decide are
/// below 256.
#[derive(Debug, Clone, Copy)]
struct Open {
    via: u32,
    other_set: u8,
    set: u8,
}

impl Open {
    fn label(self) -> u32 {
        (self.via + 1) << 16 | u32::from(self.other_set) << 8 | u32::from(self.set)
    }

    fn of(label: u32) -> Option<Self> {
        let via = (label >> 16).checked_sub(1)?;
        Some(Open { via, other_set: (label >> 8) as u8, set: label as u8 })
    }
}

impl GraphUgal {
    /// For a network in which all routers with terminals are joined.
    ///
    /// # Errors
    /// More layers of paths than there are numbers for.
    pub fn new(fabric: &Fabric, bias_flits: u32) -> Result<Self> {
        Ok(GraphUgal { valiant: GraphValiant::new(fabric)?, fabric: fabric.clone(), bias_flits })
    }

    /// Channels of the path from one router to another.
    fn channels(&self, mut at: u32, to: u32) -> u32 {
        let mut channels = 0;
        while let Some((far, _)) = self.valiant.port(at, to).and_then(|port| self.fabric.peer(at, port.into())) {
            (at, channels) = (far, channels + 1);
        }
        channels
    }

    /// What a packet still has to decide.
    fn open(head: &Head) -> Option<Open> {
        Open::of(head.label)
    }
}

impl HopByHop for GraphUgal {
    fn division(&self) -> Division {
        self.valiant.division()
    }

    fn start(&self, src: End, dst: End, bits: u64) -> Head {
        let (src, dst) = (src.router, dst.router);
        let set = self.valiant.set((bits >> 16 & 1) as u8, src, dst);
        let head = self.valiant.straight(dst, set);
        let via = self.valiant.draw(bits);
        if via == src || via == dst {
            return head;
        }
        let open = Open { via, other_set: self.valiant.set(0, src, via), set };
        Head { label: open.label(), ..head }
    }

    fn starts(&self, src: u32, dst: u32) -> Vec<Head> {
        [0, 1].map(|walk| self.valiant.straight(dst, self.valiant.set(walk, src, dst))).to_vec()
    }

    fn turns_anywhere(&self) -> bool {
        true
    }

    fn first_walks(&self, src: u32, via: u32) -> Vec<Head> {
        self.valiant.first_walks(src, via)
    }

    fn forget(&self, at: &mut At, head: &mut Head) {
        self.valiant.forget(at, head);
    }

    fn enter(&self, at: u32, dst: u32, head: &mut Head, bits: &dyn Fn() -> u64) {
        if let (Some(open), 1..) = (Self::open(head), head.trip.crossed) {
            *head = self.valiant.first(open.via, open.other_set);
        }
        self.valiant.enter(at, dst, head, bits);
    }

    fn choice(&self, at: &At, head: &Head) -> Choice {
        let shortest = self.valiant.choice(at, head);
        let Some(open) = Self::open(head).filter(|_| at.port.is_none()) else { return shortest };
        match self.valiant.port(at.router, open.via) {
            Some(other) if shortest.ports != 1 << other => {
                Choice { ports: shortest.ports | 1 << other, nonminimal: Some((other, open.other_set)), ..shortest }
            }
            _ => shortest,
        }
    }

    fn lengths(&self, at: u32, head: &Head) -> [u32; 2] {
        let shortest = self.channels(at, head.to);
        let other = Self::open(head).map(|open| self.channels(at, open.via) + self.channels(open.via, head.to));
        [shortest, other.unwrap_or(shortest)]
    }

    fn bias_flits(&self) -> Option<u32> {
        Some(self.bias_flits)
    }

    fn most_ports(&self) -> usize {
        2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::{Buffers, Finding, find_cycle};
    use crate::topology::{random, ring};

    #[test]
    fn no_packets_wait_for_each_other_in_a_cycle() {
        for fabric in [ring(3), ring(8)].into_iter().chain((0..40).map(random)) {
            let routing = GraphUgal::new(&fabric, 0).unwrap();
            assert_eq!(find_cycle(&fabric, &routing, Buffers::Shared, false), Finding::Free);
        }
    }

    /// In a ring of eight the other way round, or not.
    #[test]
    fn a_packet_decides_at_its_source_alone() {
        let fabric = ring(8);
        let routing = GraphUgal::new(&fabric, 0).unwrap();
        let head = Head { label: Open { via: 6, other_set: 1, set: 3 }.label(), ..routing.starts(0, 2)[0] };
        let (source, later) = (At { router: 0, port: None, set: None }, At { router: 1, port: Some(0), set: Some(3) });
        let choice = routing.choice(&source, &head);
        let (other, set) = choice.nonminimal.unwrap();
        assert_eq!((choice.ports.count_ones(), choice.set, set), (2, 3, 1));
        assert_eq!(routing.lengths(0, &head), [2, 2 + 4]);
        assert_eq!(routing.choice(&later, &head).nonminimal, None);
        // Taken, it leads to router 6, and on from there in the sets of the second walk.
        let mut taken = head;
        taken.trip.crossed = choice.counted(other.into());
        routing.enter(7, 2, &mut taken, &|| 0);
        assert_eq!((taken.to, taken.label), (6, 1));
        routing.enter(6, 2, &mut taken, &|| 0);
        assert_eq!((taken.to, taken.label >= 2), (2, true));
    }
}
