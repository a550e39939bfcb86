//! HyperX: J. H. Ahn, N. Binkert, A. Davis, M. McLaren and R. S. Schreiber, "HyperX: topology, routing, and packaging
//! of efficient large-scale networks", SC 2009.
//!
//! Routers stand in an array of L dimensions, numbered as those of a grid. Two routers that differ in one coordinate
//! are joined by `K_d` cables, where `d` is that dimension. Hypercubes (all sizes 2), full meshes (one dimension) and
//! flattened butterflies are among them.
//!
//! Ports are ordered by dimension, then by the coordinate that they lead to, then by cable. So the lowest port on a
//! shortest path is that of dimension order, which is free of deadlock with one virtual channel.

use super::cables::{self, Cables, check_terminals, checked_routers, refuse};
use super::kind::{Topology, one};
use super::{Channel, DIMENSION_NAMES, Fabric, Graph, drawing};
use crate::error::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most dimensions: a hypercube of more has too many channels.
pub(super) const MOST_DIMENSIONS: usize = 17;
/// Most channels of a router: one port is for a terminal.
const MOST_DEGREE: u32 = cables::MOST_PORTS - 1;
/// How far the ends of a row are from the line through its middle in a drawing.
const BEND: f64 = 0.35;
/// Space between the planes of three dimensions in a drawing.
const GAP: f64 = 1.6;

/// HyperX: routers in rows and columns, each joined to all others of its row in every dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HyperX {
    /// Routers along each dimension, S_1 to S_L: 1 to 17 sizes, each at least 2. A router has at most 63 channels.
    #[schemars(length(min = 1, max = MOST_DIMENSIONS), inner(range(min = 2, max = MOST_DEGREE + 1)))]
    pub size: Vec<u32>,
    /// Cables between each two routers of a row, K_1 to K_L, one number per dimension, each at least 1. Default: 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(range(min = 1, max = MOST_DEGREE)))]
    pub width: Vec<u32>,
    /// Terminals at each router, T: at least 1. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub terminals_per_router: u32,
}

impl Topology for HyperX {
    fn fabric(&self) -> Result<Fabric> {
        let routers = self.checked()?;
        let channels = self.cabled(routers);
        Fabric::of_graph(&Graph {
            terminals: vec![self.terminals_per_router; routers as usize],
            classes: (0..self.size.len()).map(dimension_name).collect(),
            drawing: self.drawing(routers, &channels),
            channels,
        })
    }
}

impl HyperX {
    /// The number of routers of sizes that make sense.
    fn checked(&self) -> Result<u32> {
        let HyperX { size, width, .. } = self;
        let written = format!("{size:?}");
        if !(1..=MOST_DIMENSIONS).contains(&size.len()) {
            return refuse("size", written, format!("1 to {MOST_DIMENSIONS} sizes"), "");
        }
        if let Some(d) = size.iter().position(|&s| !(2..=MOST_DEGREE + 1).contains(&s)) {
            return refuse(&format!("size[{d}]"), size[d], format!("2 to {} routers", MOST_DEGREE + 1), "");
        }
        if !width.is_empty() && width.len() != size.len() {
            return refuse("width", format!("{width:?}"), format!("{} entries, one per dimension", size.len()), "");
        }
        if let Some(d) = width.iter().position(|k| !(1..=MOST_DEGREE).contains(k)) {
            return refuse(&format!("width[{d}]"), width[d], format!("1 to {MOST_DEGREE} cables"), "");
        }
        let degree: u32 = (0..size.len()).map(|d| self.width(d) * (size[d] - 1)).sum();
        if degree > MOST_DEGREE {
            let expected = format!("at most {MOST_DEGREE} channels of a router; these sizes and widths need {degree}");
            return refuse("size", written, expected, "");
        }
        let routers = size.iter().try_fold(1u64, |product, &s| product.checked_mul(s.into()));
        let routers = checked_routers("size", written, routers, degree)?;
        check_terminals("terminals_per_router", self.terminals_per_router, degree)?;
        Ok(routers)
    }

    /// Cables between each two routers of a row of dimension `d`.
    fn width(&self, d: usize) -> u32 {
        self.width.get(d).copied().unwrap_or(1)
    }

    /// The channels. Cables of a row are laid in the order of their higher end, then of their lower end; so the ports
    /// of each router are in the order of the other ends.
    fn cabled(&self, routers: u32) -> Vec<Channel> {
        let mut cables = Cables::new(routers);
        let mut stride = 1;
        for (d, &size) in self.size.iter().enumerate() {
            for router in 0..routers {
                for below in (1..=router / stride % size).rev() {
                    (0..self.width(d)).for_each(|_| cables.lay(router, router - below * stride, d));
                }
            }
            stride *= size;
        }
        cables.channels()
    }

    /// One dimension on a circle; two in rows and columns that are bent, so that no cable hides another; three in
    /// planes side by side.
    fn drawing(&self, routers: u32, channels: &[Channel]) -> Option<super::Drawing> {
        let size = &self.size;
        match size.len() {
            1 => cables::drawing(routers, |router| drawing::on_circle(router, routers), channels, ""),
            2 | 3 => {
                // From -1 at one end of a row to 1 at the other.
                let across = |at: u32, d: usize| f64::from(2 * at) / f64::from(size[d] - 1) - 1.0;
                let place = |router: u32| {
                    let (x, y, plane) = (router % size[0], router / size[0] % size[1], router / size[0] / size[1]);
                    let bent = |at: u32, d: usize| BEND * across(at, d).powi(2);
                    let aside = f64::from(plane) * (f64::from(size[0]) - 1.0 + BEND + GAP);
                    [f64::from(x) + bent(y, 1) + aside, f64::from(y) + bent(x, 0)]
                };
                let drawn: Vec<Channel> = channels.iter().filter(|channel| channel.class < 2).copied().collect();
                let note = if size.len() < 3 { "" } else { "planes of z side by side, channels in z are not drawn" };
                cables::drawing(routers, place, &drawn, note)
            }
            _ => None,
        }
    }
}

/// What a dimension is called.
fn dimension_name(d: usize) -> String {
    DIMENSION_NAMES.get(d).map_or_else(|| format!("x{}", d + 1), char::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hyperx(size: &[u32], width: &[u32], terminals_per_router: u32) -> HyperX {
        HyperX { size: size.to_vec(), width: width.to_vec(), terminals_per_router }
    }

    #[test]
    fn ports_go_by_dimension_then_coordinate_then_cable() {
        let fabric = hyperx(&[3, 4], &[1, 2], 5).fabric().unwrap();
        assert_eq!((fabric.routers(), fabric.terminals(), fabric.network_ports()), (12, 60, 8));
        // Router 4 is at [1, 1].
        let peers: Vec<u32> = (0..8).map(|port| fabric.peer(4, port).unwrap().0).collect();
        assert_eq!(peers, [3, 5, 1, 1, 7, 7, 10, 10]);
        assert_eq!((0..8).map(|port| fabric.class_of(4, port)).collect::<Vec<_>>(), [0, 0, 1, 1, 1, 1, 1, 1]);
        assert_eq!(fabric.classes(), ["x", "y"]);
        for (router, port) in fabric.channels() {
            let (far, input) = fabric.peer(router, port).unwrap();
            assert_eq!(fabric.peer(far, input), Some((router, port)));
        }
    }

    #[test]
    fn up_to_three_dimensions_are_drawn() {
        for (size, segments) in [(vec![5], 20), (vec![3, 4], 60), (vec![2, 3, 4], 24 * 3)] {
            let drawing = hyperx(&size, &[], 1).fabric().unwrap().drawing().unwrap();
            assert_eq!(drawing.segments.len(), segments, "{size:?}");
        }
        let fabric = hyperx(&[2; 8], &[], 1).fabric().unwrap();
        assert_eq!((fabric.drawing(), fabric.classes()[7].as_str()), (None, "x8"));
    }

    #[test]
    fn sizes_that_make_no_network_are_named() {
        let refused =
            |size: &[u32], width: &[u32], terminals| hyperx(size, width, terminals).fabric().unwrap_err().to_string();
        for (error, expected) in [
            (refused(&[], &[], 1), "size = []: expected 1 to 17 sizes"),
            (
                refused(&[2; 18], &[], 1),
                "size = [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]: expected 1 to 17",
            ),
            (refused(&[4, 1], &[], 1), "size[1] = 1: expected 2 to 64 routers"),
            (refused(&[u32::MAX], &[], 1), "size[0] = 4294967295: expected 2 to 64 routers"),
            (refused(&[3, 3], &[1], 1), "width = [1]: expected 2 entries, one per dimension"),
            (refused(&[3, 3], &[1, 0], 1), "width[1] = 0: expected 1 to 63 cables"),
            (refused(&[64, 2], &[], 1), "size = [64, 2]: expected at most 63 channels of a router"),
            (refused(&[22, 22], &[2, 2], 1), "size = [22, 22]: expected at most 63 channels of a router"),
            (refused(&[12; 5], &[], 1), "size = [12, 12, 12, 12, 12]: expected at most 76260 routers with 55 channels"),
            (refused(&[2; 17], &[], 48), "terminals_per_router = 48: expected 1 to 47"),
            (refused(&[3, 3], &[], 0), "terminals_per_router = 0: expected 1 to 60"),
        ] {
            let expected = format!("network.topology.{expected}");
            assert!(error.starts_with(&expected), "{error}");
        }
    }
}
