//! The dragonfly: J. Kim, W. J. Dally, S. Scott and D. Abts, "Technology-driven, highly-scalable dragonfly topology",
//! ISCA 2008.
//!
//! Routers form groups. Every router of a group has a channel to every other, and `h` global channels to other groups.
//! Global channel `k` of a group, from 0, is the one of router `floor(k / h)`; it leads to the group that comes
//! `k mod (g - 1)`-th when the others are counted upwards from group 0. Where a group has more global channels than
//! there are other groups, each pair of groups has as many as all pairs can have, and the rest are left out.

use super::fabric::{self, MOST_CHANNEL_CYCLES};
use super::kind::{Topology, one};
use super::{Channel, Drawing, Fabric, Graph, Segment};
use crate::error::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// Most ports of a router.
const MOST_PORTS: u32 = fabric::MOST_PORTS as u32;
/// Most routers that are drawn.
const MOST_DRAWN: u32 = 4096;

/// A dragonfly: groups of routers that are joined each to each, and groups that are joined each to each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dragonfly {
    /// Routers in each group, a: 1 to 64.
    #[schemars(range(min = 1, max = MOST_PORTS))]
    pub routers_per_group: u32,
    /// Global channels of each router, h: 1 to 63.
    #[schemars(range(min = 1, max = MOST_PORTS - 1))]
    pub global_channels_per_router: u32,
    /// Groups, g: 2 to a h + 1. Default: a h + 1, the most there can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 2))]
    pub groups: Option<u32>,
    /// Terminals at each router, p: at least 1. Default: 1.
    #[serde(default = "one")]
    pub terminals_per_router: u32,
    /// Latency of global channels \[cycles], 0 to 10000. Default: that of `network.channel.latency_cycles`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(max = MOST_CHANNEL_CYCLES))]
    pub global_latency_cycles: Option<u32>,
}

impl Dragonfly {
    /// One terminal at each router.
    pub(crate) fn of(routers_per_group: u32, global_channels_per_router: u32, groups: Option<u32>) -> Self {
        Dragonfly {
            routers_per_group,
            global_channels_per_router,
            groups,
            terminals_per_router: one(),
            global_latency_cycles: None,
        }
    }

    /// The smallest with groups of so many routers in which packets choose among several other groups.
    pub(crate) fn small(routers_per_group: u32) -> Self {
        Dragonfly::of(routers_per_group, 4u32.div_ceil(routers_per_group), None)
    }

    /// The routers, channels and terminals of the network.
    ///
    /// # Errors
    /// [`crate::Error::Config`] with the path of a field that makes no sense.
    pub fn fabric(&self) -> Result<Fabric> {
        Topology::fabric(self)
    }
}

impl Topology for Dragonfly {
    fn fabric(&self) -> Result<Fabric> {
        let groups = self.checked()?;
        let (a, routers) = (self.routers_per_group, groups * self.routers_per_group);
        let local = (0..groups).flat_map(|group| self.local(group * a));
        let global = (0..groups).flat_map(|group| self.global(group, groups));
        let channels: Vec<Channel> = local.chain(global).collect();
        let graph = Graph {
            terminals: vec![self.terminals_per_router; routers as usize],
            classes: vec!["local".to_string(), "global".to_string()],
            drawing: (routers <= MOST_DRAWN).then(|| drawing(groups, a, &channels)),
            channels,
        };
        Fabric::of_groups(a, &graph)
    }
}

impl Dragonfly {
    /// The number of groups of numbers that make sense.
    fn checked(&self) -> Result<u32> {
        let &Dragonfly { routers_per_group: a, global_channels_per_router: h, terminals_per_router: p, .. } = self;
        let fault = |field: &str, value: u32, expected: String| {
            Err(Error::config(format!("network.topology.{field}"), value, expected, ""))
        };
        if !(1..=MOST_PORTS).contains(&a) {
            return fault("routers_per_group", a, format!("1 to {MOST_PORTS}"));
        }
        let left = MOST_PORTS - (a - 1);
        if h == 0 || h >= left {
            let expected =
                format!("1 to {}: a router has at most {MOST_PORTS} ports, {} of them local", left - 1, a - 1);
            return fault("global_channels_per_router", h, expected);
        }
        if p == 0 || p > left - h {
            let expected =
                format!("1 to {}: a router has at most {MOST_PORTS} ports, {} of them to others", left - h, a - 1 + h);
            return fault("terminals_per_router", p, expected);
        }
        if let Some(latency) = self.global_latency_cycles.filter(|&latency| latency > MOST_CHANNEL_CYCLES) {
            return fault("global_latency_cycles", latency, format!("0 to {MOST_CHANNEL_CYCLES}"));
        }
        let most = a * h + 1;
        let groups = self.groups.unwrap_or(most);
        if !(2..=most).contains(&groups) {
            return fault("groups", groups, format!("2 to {most}: a group has {} global channels", a * h));
        }
        Ok(groups)
    }

    /// The channels within the group whose first router is `first`: local port `q` leads to the `q`-th of the other
    /// routers.
    fn local(&self, first: u32) -> impl Iterator<Item = Channel> + use<> {
        let a = self.routers_per_group;
        (0..a).flat_map(move |x| (0..x).map(move |y| (x, y))).flat_map(move |(x, y)| {
            Channel::cable((first + x, other(x, y) as usize), (first + y, other(y, x) as usize), 0)
        })
    }

    /// The global channels from `group` to those with higher numbers, and back.
    fn global(&self, group: u32, groups: u32) -> impl Iterator<Item = Channel> + use<> {
        let (a, h, latency_cycles) =
            (self.routers_per_group, self.global_channels_per_router, self.global_latency_cycles);
        let copies = a * h / (groups - 1);
        let end = move |group: u32, to: u32, copy: u32| {
            let k = copy * (groups - 1) + other(group, to);
            (group * a + k / h, (a - 1 + k % h) as usize)
        };
        let pairs = (group + 1..groups).flat_map(move |to| (0..copies).map(move |copy| (to, copy)));
        pairs.flat_map(move |(to, copy)| {
            let cable = Channel::cable(end(group, to, copy), end(to, group, copy), 1);
            cable.map(|channel| Channel { latency_cycles, ..channel })
        })
    }
}

/// Which of the others `to` is, seen from `from`, counted from 0. Of two routers of a group that is the local port from
/// one to the other.
pub(crate) fn other(from: u32, to: u32) -> u32 {
    if to < from { to } else { to - 1 }
}

/// Groups stand on a circle, and the routers of each on a smaller one.
fn drawing(groups: u32, a: u32, channels: &[Channel]) -> Drawing {
    let on_circle = |i: u32, of: u32, apart: f64| {
        let radius = if of == 1 { 0.0 } else { apart / 2.0 / (TAU / 2.0 / f64::from(of)).sin() };
        let (y, x) = (TAU * f64::from(i) / f64::from(of)).sin_cos();
        [radius * x, radius * y]
    };
    // One unit between neighbours in a group, and two between groups.
    let width = if a == 1 { 0.0 } else { 1.0 / (TAU / 2.0 / f64::from(a)).sin() };
    let routers: Vec<[f64; 2]> = (0..groups * a)
        .map(|router| {
            let (group, within) = (on_circle(router / a, groups, width + 2.0), on_circle(router % a, a, 1.0));
            [group[0] + within[0], group[1] + within[1]]
        })
        .collect();
    let segment = |channel: &Channel| {
        let place = |(router, _): (u32, usize)| routers[router as usize];
        Segment::of_cable((channel.from.0, channel.from.1 as u32), place(channel.from), place(channel.to))
    };
    let segments = channels.iter().map(segment).collect();
    let note = "groups on a circle; terminals are not drawn".to_string();
    Drawing { routers, segments, note, ..Drawing::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dragonfly(a: u32, h: u32, p: u32, groups: Option<u32>) -> Dragonfly {
        Dragonfly { terminals_per_router: p, ..Dragonfly::of(a, h, groups) }
    }

    /// Channels from group to group, by pair.
    fn between(fabric: &Fabric, a: u32, groups: u32) -> Vec<u32> {
        let mut counts = vec![0; (groups * groups) as usize];
        for (router, port) in fabric.channels() {
            let (far, _) = fabric.peer(router, port).unwrap();
            counts[(router / a * groups + far / a) as usize] += 1;
        }
        counts
    }

    #[test]
    fn every_two_groups_and_every_two_routers_of_one_are_joined() {
        for (a, h, groups, copies) in
            [(4, 2, 9, 1), (2, 1, 3, 1), (4, 2, 3, 4), (3, 2, 4, 2), (1, 3, 4, 1), (4, 1, 4, 1)]
        {
            let fabric = dragonfly(a, h, 2, Some(groups)).fabric().unwrap();
            assert_eq!((fabric.routers(), fabric.terminals()), (a * groups, 2 * a * groups));
            for (pair, &found) in between(&fabric, a, groups).iter().enumerate() {
                let same = pair as u32 / groups == pair as u32 % groups;
                assert_eq!(found, if same { a * (a - 1) } else { copies }, "a = {a}, h = {h}, {groups} groups");
            }
        }
    }

    #[test]
    fn there_are_as_many_groups_as_can_be_unless_said() {
        let fabric = dragonfly(4, 2, 2, None).fabric().unwrap();
        assert_eq!((fabric.routers(), fabric.terminals(), fabric.network_ports()), (36, 72, 5));
        assert_eq!(fabric.drawing().unwrap().segments.len(), fabric.channels().count());
    }

    #[test]
    fn a_number_that_makes_no_dragonfly_is_named() {
        let refused = |a, h, p, groups| dragonfly(a, h, p, groups).fabric().unwrap_err().to_string();
        for (error, expected) in [
            (refused(0, 1, 1, None), "network.topology.routers_per_group = 0: expected 1 to 64"),
            (refused(4, 0, 1, None), "network.topology.global_channels_per_router = 0: expected 1 to 60"),
            (refused(4, 61, 1, None), "network.topology.global_channels_per_router = 61: expected 1 to 60"),
            (refused(4, 2, 0, None), "network.topology.terminals_per_router = 0: expected 1 to 59"),
            (refused(4, 2, 60, None), "network.topology.terminals_per_router = 60: expected 1 to 59"),
            (refused(4, 2, 1, Some(1)), "network.topology.groups = 1: expected 2 to 9"),
            (refused(4, 2, 1, Some(10)), "network.topology.groups = 10: expected 2 to 9"),
        ] {
            assert!(error.starts_with(expected), "{error}");
        }
        let far = Dragonfly { global_latency_cycles: Some(10_001), ..dragonfly(4, 2, 1, None) };
        assert!(far.fabric().unwrap_err().to_string().starts_with("network.topology.global_latency_cycles = 10001"));
    }
}
