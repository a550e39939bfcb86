//! The dragonfly: J. Kim, W. J. Dally, S. Scott and D. Abts, "Technology-driven, highly-scalable dragonfly topology",
//! ISCA 2008.
//!
//! Routers form groups. Every router of a group has a channel to every other, and `h` global channels to other groups.
//! Global channel `k` of a group, from 0, is the one of router `floor(k / h)`; it leads to group number `k mod (g - 1)`
//! of the others, in the order of the arrangement. Where a group has more global channels than there are other groups,
//! each pair of groups has as many as all pairs can have, and the rest are left out.
//!
//! Arrangements are those that E. Hastings, D. Rincon-Cruz, M. Spehlmann, S. Meyers, A. Xu, D. P. Bunde and V. J. Leung
//! compare: "Comparing global link arrangements for Dragonfly networks", IEEE CLUSTER 2015.

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
    /// In which order the global channels of a group, from its first router on, lead to the other groups. Default:
    /// absolute.
    #[serde(default, skip_serializing_if = "Arrangement::is_absolute")]
    pub arrangement: Arrangement,
}

/// In which order the global channels of a group lead to the other groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrangement {
    /// By their numbers, upwards from group 0.
    #[default]
    Absolute,
    /// Upwards from the group's own number, and on from group 0 behind the last.
    Relative,
    /// The next group, the one before, the next but one, and so on to both sides.
    Circulant,
}

impl Arrangement {
    fn is_absolute(&self) -> bool {
        *self == Arrangement::Absolute
    }

    /// The number of the global channel from one of `groups` to another one, of one to each.
    fn channel(self, from: u32, to: u32, groups: u32) -> u32 {
        let up = (to + groups - from) % groups;
        match self {
            Arrangement::Absolute => other(from, to),
            Arrangement::Relative => up - 1,
            Arrangement::Circulant if 2 * up <= groups => 2 * (up - 1),
            Arrangement::Circulant => 2 * (groups - up) - 1,
        }
    }
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
            arrangement: Arrangement::Absolute,
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
        let &Dragonfly { routers_per_group: a, global_channels_per_router: h, arrangement, .. } = self;
        let latency_cycles = self.global_latency_cycles;
        let copies = a * h / (groups - 1);
        let end = move |group: u32, to: u32, copy: u32| {
            let k = copy * (groups - 1) + arrangement.channel(group, to, groups);
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

    /// Of nine groups of four routers, the groups that those of group 2 are joined to.
    #[test]
    fn arrangements_order_the_other_groups() {
        let of_group_2 = |arrangement: Arrangement| -> Vec<u32> {
            let fabric = Dragonfly { arrangement, ..dragonfly(4, 2, 1, None) }.fabric().unwrap();
            let channels = (8..12).flat_map(|router| [3, 4].map(|port| (router, port)));
            channels.map(|(router, port)| fabric.peer(router, port).unwrap().0 / 4).collect()
        };
        assert_eq!(of_group_2(Arrangement::Absolute), [0, 1, 3, 4, 5, 6, 7, 8]);
        assert_eq!(of_group_2(Arrangement::Relative), [3, 4, 5, 6, 7, 8, 0, 1]);
        assert_eq!(of_group_2(Arrangement::Circulant), [3, 1, 4, 0, 5, 8, 6, 7]);
        for arrangement in [Arrangement::Relative, Arrangement::Circulant] {
            for groups in [2, 3, 4, 7, 8] {
                let fabric = Dragonfly { arrangement, ..dragonfly(4, 2, 1, Some(groups)) }.fabric().unwrap();
                let copies = 8 / (groups - 1);
                for (pair, &found) in between(&fabric, 4, groups).iter().enumerate() {
                    let same = pair as u32 / groups == pair as u32 % groups;
                    assert_eq!(found, if same { 12 } else { copies }, "{arrangement:?}, {groups} groups");
                }
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
