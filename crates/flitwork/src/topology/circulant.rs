//! Circulant networks: rings with chords. Router `i` has a cable to router `i + s` for every stride `s`, modulo the
//! number of routers. Known as well as chordal rings, distributed loop networks and multi-loop networks: J.-C. Bermond,
//! F. Comellas and D. F. Hsu, "Distributed loop computer networks: a survey", J. Parallel and Distributed Computing
//! 24(1), 1995.
//!
//! Port `2j` leads by the j-th stride ahead, port `2j + 1` by the same stride back. A stride of exactly half of the
//! routers joins each pair by one cable, which has the last port: all routers see the same network.

use super::cables::{MOST_PORTS, MOST_ROUTERS, check_terminals, checked_routers, drawing, refuse};
use super::drawing::on_circle;
use super::kind::{Topology, one};
use super::{Channel, Fabric, Graph};
use crate::error::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most strides: a router has at most 63 channels, two a stride, or one.
const MOST_STRIDES: u32 = MOST_PORTS / 2;

/// A circulant network: a ring with chords of the same strides at every router.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Circulant {
    /// Routers, 2 to 1000000.
    #[schemars(range(min = 2, max = MOST_ROUTERS))]
    pub routers: u32,
    /// Strides, all different, each from 1 to half the number of routers: router i has cables to routers i + s and
    /// i - s for every stride s. Together they must reach every router.
    #[schemars(length(min = 1, max = MOST_STRIDES), inner(range(min = 1)))]
    pub strides: Vec<u32>,
    /// Terminals at each router, at least 1. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub terminals_per_router: u32,
}

impl Topology for Circulant {
    fn fabric(&self) -> Result<Fabric> {
        self.check()?;
        let routers = self.routers;
        let channels: Vec<Channel> = (0..self.strides.len()).flat_map(|class| self.of_stride(class)).collect();
        Fabric::of_graph(&Graph {
            terminals: vec![self.terminals_per_router; routers as usize],
            classes: self.strides.iter().map(|stride| format!("stride_{stride}")).collect(),
            drawing: drawing(routers, |router| on_circle(router, routers), &channels, ""),
            channels,
        })
    }
}

impl Circulant {
    fn check(&self) -> Result<()> {
        let Circulant { routers, strides, .. } = self;
        let written = format!("{strides:?}");
        if !(2..=MOST_ROUTERS).contains(routers) {
            return refuse("routers", routers, format!("2 to {MOST_ROUTERS} routers"), "");
        }
        if !(1..=MOST_STRIDES as usize).contains(&strides.len()) {
            return refuse("strides", written, format!("1 to {MOST_STRIDES} strides"), "");
        }
        for (i, &stride) in strides.iter().enumerate() {
            let path = format!("strides[{i}]");
            if !(1..=routers / 2).contains(&stride) {
                return refuse(&path, stride, format!("1 to {}, half the number of routers", routers / 2), "");
            }
            if let Some(first) = strides[..i].iter().position(|&other| other == stride) {
                return refuse(&path, stride, format!("different strides; strides[{first}] is the same"), "");
            }
        }
        let factor = strides.iter().fold(*routers, |a, &b| common_factor(a, b));
        if factor > 1 {
            let expected = format!("strides that reach every router; these and {routers} are multiples of {factor}");
            return refuse("strides", written, expected, "add the stride 1");
        }
        let degree: u32 = strides.iter().map(|&stride| if self.is_half(stride) { 1 } else { 2 }).sum();
        if degree >= MOST_PORTS {
            let expected = format!("at most {} channels of a router; these strides need {degree}", MOST_PORTS - 1);
            return refuse("strides", written, expected, "use fewer strides");
        }
        checked_routers("routers", routers, Some((*routers).into()), degree)?;
        check_terminals("terminals_per_router", self.terminals_per_router, degree)
    }

    /// Whether a stride joins each two routers by one cable.
    fn is_half(&self, stride: u32) -> bool {
        stride == self.routers - stride
    }

    /// The channels of the stride with this index.
    fn of_stride(&self, class: usize) -> impl Iterator<Item = Channel> + use<> {
        let (routers, stride) = (self.routers, self.strides[class]);
        let is_half = self.is_half(stride);
        // The stride of a half comes last.
        let halves_before = self.strides[..class].iter().any(|&other| self.is_half(other));
        let ahead = match (is_half, halves_before) {
            (true, _) => 2 * self.strides.len() - 2,
            (false, true) => 2 * class - 2,
            (false, false) => 2 * class,
        };
        let back = if is_half { ahead } else { ahead + 1 };
        (0..if is_half { stride } else { routers })
            .flat_map(move |router| Channel::cable((router, ahead), ((router + stride) % routers, back), class))
    }
}

/// The greatest common divisor.
fn common_factor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_factor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circulant(routers: u32, strides: &[u32], terminals_per_router: u32) -> Circulant {
        Circulant { routers, strides: strides.to_vec(), terminals_per_router }
    }

    #[test]
    fn all_routers_see_the_same_strides() {
        for (routers, strides, degree) in
            [(2, vec![1], 1), (5, vec![1, 2], 4), (8, vec![4, 1, 3], 5), (12, vec![3, 4, 6], 5), (9, vec![2], 2)]
        {
            let fabric = circulant(routers, &strides, 2).fabric().unwrap();
            assert_eq!((fabric.routers(), fabric.terminals()), (routers, 2 * routers));
            assert_eq!(fabric.network_ports(), degree);
            for (router, port) in fabric.channels() {
                let (far, input) = fabric.peer(router, port).unwrap();
                let ahead = (far + routers - router) % routers;
                let (at_0, input_0) = fabric.peer(0, port).unwrap();
                assert_eq!((ahead, input), (at_0, input_0), "{routers} {strides:?} {router} {port}");
                assert_eq!(fabric.peer(far, input), Some((router, port)));
                let stride = strides[fabric.class_of(router, port)];
                assert!(ahead == stride || ahead == routers - stride);
            }
        }
        assert_eq!(circulant(5, &[1, 2], 1).fabric().unwrap().classes(), ["stride_1", "stride_2"]);
    }

    #[test]
    fn numbers_that_make_no_network_are_named() {
        let refused = |routers, strides: &[u32], terminals| {
            circulant(routers, strides, terminals).fabric().unwrap_err().to_string()
        };
        let many: Vec<u32> = (1..=32).collect();
        for (error, expected) in [
            (refused(1, &[1], 1), "routers = 1: expected 2 to 1000000"),
            (refused(u32::MAX, &[1], 1), "routers = 4294967295: expected 2 to 1000000"),
            (refused(9, &[], 1), "strides = []: expected 1 to 32 strides"),
            (refused(9, &[1, 5], 1), "strides[1] = 5: expected 1 to 4, half the number of routers"),
            (refused(9, &[0], 1), "strides[0] = 0: expected 1 to 4"),
            (refused(9, &[2, 1, 2], 1), "strides[2] = 2: expected different strides; strides[0] is the same"),
            (refused(12, &[2, 6], 1), "strides = [2, 6]: expected strides that reach every router; these and 12"),
            (refused(65, &many, 1), "strides = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10"),
            (refused(1_000_000, &many[..4], 1), "routers = 1000000: expected at most 524288 routers with 8 channels"),
            (refused(64, &many, 2), "terminals_per_router = 2: expected 1 to 1"),
            (refused(9, &[1], 0), "terminals_per_router = 0: expected 1 to 62"),
        ] {
            assert!(error.starts_with(&format!("network.topology.{expected}")), "{error}");
        }
    }
}
