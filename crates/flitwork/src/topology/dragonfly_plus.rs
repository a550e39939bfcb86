//! Dragonfly+: A. Shpiner, Z. Haramaty, S. Eliad, V. Zdornov, B. Gafni and E. Zahavi, "Dragonfly+: low cost topology
//! for scaling datacenters", HiPINEB 2017; known as Megafly as well: M. Flajslik, E. Borch and M. A. Parker, "Megafly:
//! a topology for exascale systems", ISC 2018.
//!
//! In each group, every leaf router, with terminals, has a cable to every spine router, with `h` global channels.
//! Global channel `k` of a group, from 0, is that of spine `floor(k / h)`; it leads to the group that comes
//! `k mod (g - 1)`-th when the others are counted upwards from group 0. If a group has more global channels than there
//! are other groups, each pair of groups has as many as all pairs can have, and the rest are left out. So far it is as
//! in a [`super::Dragonfly`].
//!
//! Routers are numbered by group, leaves before spines. A shortest path leads up, through a global channel and down: it
//! is free of deadlock with one virtual channel.

use super::cables::{Cables, MOST_PORTS, check_terminals, drawing, in_group, most_routers, refuse};
use super::kind::{Topology, one};
use super::{Channel, Fabric, Graph, other};
use crate::error::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Classes of channels: from leaf to spine, from spine to leaf, between groups.
const CLASSES: [&str; 3] = ["up", "down", "global"];
const UP: usize = 0;
const DOWN: usize = 1;
const GLOBAL: usize = 2;

/// A Dragonfly+ (Megafly): groups of leaf and spine routers, the spines joined to other groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DragonflyPlus {
    /// Leaf routers in each group: 1 to 63.
    #[schemars(range(min = 1, max = MOST_PORTS - 1))]
    pub leaves_per_group: u32,
    /// Spine routers in each group: 1 to 63. Each has a cable to every leaf router of its group.
    #[schemars(range(min = 1, max = MOST_PORTS - 1))]
    pub spines_per_group: u32,
    /// Global channels of each spine router, h: 1 to 63. With the leaves of its group it has at most 64 ports.
    #[schemars(range(min = 1, max = MOST_PORTS - 1))]
    pub global_channels_per_spine: u32,
    /// Groups, g: 2 to s h + 1, where s is the number of spines in a group. Default: s h + 1, the most there can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 2))]
    pub groups: Option<u32>,
    /// Terminals at each leaf router, at least 1. Spine routers have none. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub terminals_per_leaf: u32,
}

impl Topology for DragonflyPlus {
    fn fabric(&self) -> Result<Fabric> {
        let groups = self.checked_groups()?;
        let (leaves, spines) = (self.leaves_per_group, self.spines_per_group);
        let size = leaves + spines;
        let channels = self.cabled(groups);
        let terminals = |router: u32| if router % size < leaves { self.terminals_per_leaf } else { 0 };
        // Leaves in a row outside, spines in a row inside.
        let place = |router: u32| {
            let within = router % size;
            let (out, i, of) = if within < leaves { (0.75, within, leaves) } else { (-0.75, within - leaves, spines) };
            let along = f64::from(i) - f64::from(of - 1) / 2.0;
            in_group(router / size, groups, f64::from(leaves.max(spines)) + 1.5, [out, along])
        };
        let note = "groups on a circle, spines inside; terminals are not drawn";
        Fabric::of_graph(&Graph {
            terminals: (0..groups * size).map(terminals).collect(),
            classes: CLASSES.map(str::to_string).to_vec(),
            drawing: drawing(groups * size, place, &channels, note),
            channels,
        })
    }
}

impl DragonflyPlus {
    /// The number of groups of numbers that make sense.
    fn checked_groups(&self) -> Result<u32> {
        let &DragonflyPlus { leaves_per_group: leaves, spines_per_group: spines, .. } = self;
        let h = self.global_channels_per_spine;
        for (field, routers) in [("leaves_per_group", leaves), ("spines_per_group", spines)] {
            if !(1..MOST_PORTS).contains(&routers) {
                return refuse(field, routers, format!("1 to {} routers", MOST_PORTS - 1), "");
            }
        }
        if !(1..=MOST_PORTS - leaves).contains(&h) {
            let most = MOST_PORTS - leaves;
            let expected = format!("1 to {most}: a router has at most {MOST_PORTS} ports, {leaves} of them to leaves");
            return refuse("global_channels_per_spine", h, expected, "");
        }
        check_terminals("terminals_per_leaf", self.terminals_per_leaf, spines)?;
        let most = spines * h + 1;
        let groups = self.groups.unwrap_or(most);
        if !(2..=most).contains(&groups) {
            let expected = format!("2 to {most}: a group has {} global channels", most - 1);
            return refuse("groups", groups, expected, "");
        }
        let fit = most_routers(spines.max(leaves + h)) / (leaves + spines);
        if groups > fit {
            return refuse("groups", groups, format!("2 to {fit} groups of this size"), "use fewer groups");
        }
        Ok(groups)
    }

    /// The channels. Local cables are laid first, then global ones in the order of their numbers, so that the k-th
    /// global channel of a group has the next free port.
    fn cabled(&self, groups: u32) -> Vec<Channel> {
        let &DragonflyPlus { leaves_per_group: leaves, spines_per_group: spines, .. } = self;
        let (h, size) = (self.global_channels_per_spine, leaves + spines);
        let mut cables = Cables::new(groups * size);
        for first in (0..groups).map(|group| group * size) {
            for (leaf, spine) in (0..leaves).flat_map(|leaf| (0..spines).map(move |spine| (leaf, spine))) {
                cables.lay_of(first + leaf, first + leaves + spine, [UP, DOWN]);
            }
        }
        for copy in 0..spines * h / (groups - 1) {
            let spine = |group: u32, to: u32| group * size + leaves + (copy * (groups - 1) + other(group, to)) / h;
            for (high, low) in (0..groups).flat_map(|high| (0..high).map(move |low| (high, low))) {
                cables.lay(spine(low, high), spine(high, low), GLOBAL);
            }
        }
        cables.channels()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plus(leaves: u32, spines: u32, h: u32, groups: Option<u32>, terminals_per_leaf: u32) -> Result<Fabric> {
        DragonflyPlus {
            leaves_per_group: leaves,
            spines_per_group: spines,
            global_channels_per_spine: h,
            groups,
            terminals_per_leaf,
        }
        .fabric()
    }

    #[test]
    fn leaves_and_spines_are_joined_and_so_are_any_two_groups() {
        for (leaves, spines, h, groups, copies) in
            [(2, 2, 2, 5, 1), (3, 2, 4, 5, 2), (1, 1, 4, 3, 2), (4, 3, 1, 2, 3), (2, 4, 3, 6, 2)]
        {
            let fabric = plus(leaves, spines, h, Some(groups), 2).unwrap();
            let size = leaves + spines;
            assert_eq!((fabric.routers(), fabric.terminals()), (groups * size, groups * leaves * 2));
            let mut between = vec![0; (groups * groups) as usize];
            for (router, port) in fabric.channels() {
                let (far, input) = fabric.peer(router, port).unwrap();
                assert_eq!(fabric.peer(far, input), Some((router, port)));
                let is_leaf = [router, far].map(|router| router % size < leaves);
                let class = match is_leaf {
                    [true, false] => "up",
                    [false, true] => "down",
                    [false, false] => "global",
                    [true, true] => panic!("two leaves"),
                };
                assert_eq!(fabric.classes()[fabric.class_of(router, port)], class);
                assert_eq!(class == "global", router / size != far / size);
                between[(router / size * groups + far / size) as usize] += 1;
            }
            for (pair, &found) in between.iter().enumerate() {
                let same = pair as u32 / groups == pair as u32 % groups;
                assert_eq!(found, if same { 2 * leaves * spines } else { copies }, "{leaves} {spines} {h} {groups}");
            }
        }
    }

    /// As in the dragonfly: of global channel k of group 1, by spine k / h.
    #[test]
    fn global_channels_are_in_their_order() {
        let fabric = plus(3, 2, 2, None, 1).unwrap();
        let groups = |spine: u32| (3..5).map(move |port| (5 + 3 + spine, port));
        let far = |(router, port): (u32, usize)| fabric.peer(router, port).unwrap().0 / 5;
        assert_eq!(groups(0).map(far).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(groups(1).map(far).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(fabric.drawing().unwrap().segments.len(), fabric.channels().count());
    }

    #[test]
    fn numbers_that_make_no_network_are_named() {
        let refused =
            |leaves, spines, h, groups, terminals| plus(leaves, spines, h, groups, terminals).unwrap_err().to_string();
        for (error, expected) in [
            (refused(0, 2, 1, None, 1), "leaves_per_group = 0: expected 1 to 63 routers"),
            (refused(64, 2, 1, None, 1), "leaves_per_group = 64: expected 1 to 63 routers"),
            (refused(2, u32::MAX, 1, None, 1), "spines_per_group = 4294967295: expected 1 to 63 routers"),
            (refused(4, 2, 0, None, 1), "global_channels_per_spine = 0: expected 1 to 60"),
            (refused(4, 2, 61, None, 1), "global_channels_per_spine = 61: expected 1 to 60"),
            (refused(4, 2, 1, None, 0), "terminals_per_leaf = 0: expected 1 to 62"),
            (refused(4, 2, 1, None, 63), "terminals_per_leaf = 63: expected 1 to 62"),
            (refused(4, 2, 3, Some(1), 1), "groups = 1: expected 2 to 7"),
            (refused(4, 2, 3, Some(8), 1), "groups = 8: expected 2 to 7"),
            (refused(2, 62, 62, None, 1), "groups = 3845: expected 2 to 1024 groups of this size"),
        ] {
            assert!(error.starts_with(&format!("network.topology.{expected}")), "{error}");
        }
    }
}
