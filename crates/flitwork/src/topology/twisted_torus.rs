//! Twisted tori: a channel that wraps in one dimension leads to a router that is moved in others.
//!
//! J. M. Cámara, M. Moretó, E. Vallejo, R. Beivide, J. Miguel-Alonso, C. Martínez and J. Navaridas, "Twisted torus
//! topologies for enhanced interconnection networks", IEEE Trans. Parallel and Distributed Systems 21(12), 2010. TPU v4
//! machines have such networks: N. Jouppi et al., ISCA 2023. In a torus of k x 2k, k x k x 2k or k x 2k x 2k routers,
//! wrapping in a dimension of k routers adds k to the coordinates in all dimensions of 2k routers. That is the default
//! twist. C. Camarero, C. Martínez and R. Beivide, "Symmetric interconnection networks from cubic crystal lattices",
//! 2013, call the networks in three dimensions face-centred and body-centred cubic.
//!
//! In general, coordinates name points of a lattice. The points `c` and `c + size[d] e_d - twist[d]` are the same
//! router for each dimension `d` with its unit vector `e_d`. As dimensions must not twist each other in a circle, each
//! router has exactly one name with all coordinates in range, and all routers see the same network. Ports are those of
//! a grid.

use super::cables::{MOST_ROUTERS, check_terminals, checked_routers, refuse};
use super::kind::{Topology, one};
use super::{Channel, DIMENSION_NAMES, Drawing, Fabric, Graph, Grid, MAX_DIMS};
use crate::error::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most routers that are drawn.
const MOST_DRAWN: u32 = 4096;

/// A twisted torus: channels that wrap in one dimension lead to other coordinates in the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TwistedTorus {
    /// Routers along each dimension: 2 to 6 sizes, each at least 2.
    #[schemars(length(min = 2, max = MAX_DIMS), inner(range(min = 2, max = MOST_ROUTERS / 2)))]
    pub size: Vec<u32>,
    /// One row per dimension, with one number per dimension: row d is added to the coordinates of a channel that wraps
    /// in dimension d in the plus direction, and subtracted in the minus direction. Entry d of row d is 0, and each
    /// entry is less than the size of its dimension. Default: where sizes are k and 2k in two or three dimensions,
    /// wrapping in a dimension of size k adds k in each dimension of size 2k.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub twist: Vec<Vec<u32>>,
    /// Terminals at each router, at least 1. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub terminals_per_router: u32,
}

impl Topology for TwistedTorus {
    fn fabric(&self) -> Result<Fabric> {
        let routers = self.checked_routers()?;
        let lattice = self.lattice()?;
        let ports = 2 * self.size.len();
        check_terminals("terminals_per_router", self.terminals_per_router, ports as u32)?;
        let ends = (0..routers).flat_map(|router| (0..ports).map(move |port| (router, port)));
        let channel =
            |(router, port): (u32, usize)| Channel::new((router, port), (lattice.far(router, port), port ^ 1), port);
        let class = |port: usize| format!("{}{}", ["+", "-"][port % 2], DIMENSION_NAMES[port / 2]);
        Fabric::of_graph(&Graph {
            terminals: vec![self.terminals_per_router; routers as usize],
            channels: ends.map(channel).collect(),
            classes: (0..ports).map(class).collect(),
            drawing: (routers <= MOST_DRAWN).then(|| lattice.drawing()).flatten(),
        })
    }
}

impl TwistedTorus {
    /// The number of routers of sizes that make sense.
    fn checked_routers(&self) -> Result<u32> {
        let size = &self.size;
        if !(2..=MAX_DIMS).contains(&size.len()) {
            return refuse("size", format!("{size:?}"), format!("2 to {MAX_DIMS} sizes"), "");
        }
        if let Some(d) = size.iter().position(|&s| !(2..=MOST_ROUTERS / 2).contains(&s)) {
            return refuse(&format!("size[{d}]"), size[d], format!("2 to {} routers", MOST_ROUTERS / 2), "");
        }
        let routers = size.iter().try_fold(1u64, |product, &s| product.checked_mul(s.into()));
        checked_routers("size", format!("{size:?}"), routers, 2 * size.len() as u32)
    }

    /// Where channels lead, of a twist that makes sense.
    fn lattice(&self) -> Result<Lattice> {
        let (size, dims) = (self.size.clone(), self.size.len());
        let twist = if self.twist.is_empty() { self.default_twist()? } else { self.twist.clone() };
        let written = format!("{twist:?}");
        if twist.len() != dims || twist.iter().any(|row| row.len() != dims) {
            return refuse("twist", written, format!("{dims} rows of {dims} numbers, as size has {dims} entries"), "");
        }
        for (d, e) in (0..dims).flat_map(|d| (0..dims).map(move |e| (d, e))) {
            let (by, path) = (twist[d][e], format!("twist[{d}][{e}]"));
            if d == e && by != 0 {
                return refuse(&path, by, "0: a dimension does not twist itself", "");
            }
            if by >= size[e] {
                return refuse(&path, by, format!("0 to {}: less than size[{e}]", size[e] - 1), "");
            }
        }
        // Each dimension before those that it moves.
        let mut order: Vec<usize> = Vec::new();
        while order.len() < dims {
            let is_moved = |e: usize| (0..dims).any(|d| !order.contains(&d) && twist[d][e] != 0);
            let Some(next) = (0..dims).find(|&e| !order.contains(&e) && !is_moved(e)) else {
                let expected = "dimensions that do not twist each other in a circle";
                return refuse("twist", written, expected, "set entries to 0");
            };
            order.push(next);
        }
        Ok(Lattice { size, twist, order })
    }

    /// The twist of a torus whose sizes are k and 2k.
    fn default_twist(&self) -> Result<Vec<Vec<u32>>> {
        let size = &self.size;
        let k = size.iter().copied().min().unwrap_or(0);
        let are_k_and_2k = size.iter().all(|&s| s == k || s == 2 * k) && size.contains(&(2 * k));
        if size.len() > 3 || !are_k_and_2k {
            let (value, expected) = (format!("{size:?} without a twist"), "k x 2k, k x k x 2k or k x 2k x 2k routers");
            return refuse("size", value, expected, "for other sizes set network.topology.twist");
        }
        let row = |&wrapped: &u32| size.iter().map(|&s| if wrapped < s { k } else { 0 }).collect();
        Ok(size.iter().map(row).collect())
    }
}

/// The routers of a twisted torus as points of a lattice.
struct Lattice {
    size: Vec<u32>,
    twist: Vec<Vec<u32>>,
    /// The dimensions, each before those that it moves.
    order: Vec<usize>,
}

impl Lattice {
    /// The router at the far end of a channel.
    fn far(&self, router: u32, port: usize) -> u32 {
        let mut rest = router;
        let mut at = [0i64; MAX_DIMS];
        for (x, size) in at.iter_mut().zip(&self.size) {
            *x = (rest % size).into();
            rest /= size;
        }
        at[port / 2] += if port.is_multiple_of(2) { 1 } else { -1 };
        for &d in &self.order {
            let wraps = at[d].div_euclid(self.size[d].into());
            at[d] = at[d].rem_euclid(self.size[d].into());
            for (x, &by) in at.iter_mut().zip(&self.twist[d]) {
                *x += wraps * i64::from(by);
            }
        }
        self.size.iter().zip(at).rev().fold(0, |id, (size, x)| id * size + x as u32)
    }

    /// That of the torus, with each stub before a router named by the channel that arrives there.
    fn drawing(&self) -> Option<Drawing> {
        let torus = Grid::torus(&self.size);
        let mut drawing = Drawing::of_grid(&torus)?;
        let mut last = None;
        for segment in &mut drawing.segments {
            let channel = (segment.router, segment.port);
            // The second of two segments is the stub at the far end.
            if last == Some(channel)
                && let Some(far) = torus.neighbour(channel.0, channel.1 as usize)
            {
                segment.router = self.far(far, channel.1 as usize ^ 1);
            }
            last = Some(channel);
        }
        let apart = if drawing.note.is_empty() { "" } else { "; " };
        drawing.note = format!("channels that wrap are twisted{apart}{}", drawing.note);
        Some(drawing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn twisted(size: &[u32], twist: &[&[u32]]) -> Result<Fabric> {
        let twist = twist.iter().map(|row| row.to_vec()).collect();
        TwistedTorus { size: size.to_vec(), twist, terminals_per_router: 1 }.fabric()
    }

    #[test]
    fn wrapping_in_the_short_dimension_moves_half_way_along_the_long_one() {
        for (size, router, far) in [
            (vec![4, 8], 3 + 4 * 2, 4 * 6),
            (vec![4, 8], 3 + 4 * 6, 4 * 2),
            (vec![8, 4], 5 + 8 * 3, 1),
            (vec![4, 4, 8], 3 + 4 * (2 + 4 * 5), 4 * (2 + 4)),
            (vec![4, 8, 8], 3 + 4 * (7 + 8 * 2), 4 * (3 + 8 * 6)),
        ] {
            let fabric = twisted(&size, &[]).unwrap();
            let port = if size[0] > size[1] { 2 } else { 0 };
            assert_eq!(fabric.peer(router, port), Some((far, port + 1)), "{size:?} {router}");
            assert_eq!(fabric.peer(far, port + 1), Some((router, port)));
        }
        // The long dimension wraps as in a torus, and within the grid nothing is moved.
        let fabric = twisted(&[4, 8], &[]).unwrap();
        assert_eq!((fabric.peer(2 + 4 * 7, 2), fabric.peer(2, 0)), (Some((2, 3)), Some((3, 1))));
        assert_eq!(fabric.classes(), ["+x", "-x", "+y", "-y"]);
    }

    #[test]
    fn a_dimension_that_is_moved_past_its_end_moves_others() {
        let fabric = twisted(&[3, 4, 5], &[&[0, 3, 0], &[0, 0, 2], &[0, 0, 0]]).unwrap();
        // From [2, 2, 1] over [3, 2, 1] to [0, 5, 1], which is [0, 1, 3].
        assert_eq!(fabric.peer(2 + 3 * (2 + 4), 0), Some((3 * (1 + 4 * 3), 1)));
    }

    #[test]
    fn a_twist_of_nothing_is_a_torus() {
        for size in [vec![3, 4], vec![2, 3, 4]] {
            let none = vec![0; size.len()];
            let fabric = twisted(&size, &vec![none.as_slice(); size.len()]).unwrap();
            let torus = Fabric::of_grid(Grid::torus(&size), 1).unwrap();
            for (router, port) in torus.channels() {
                assert_eq!(fabric.peer(router, port), torus.peer(router, port));
            }
            assert_eq!(fabric.drawing().unwrap().segments, torus.drawing().unwrap().segments);
        }
    }

    #[test]
    fn stubs_belong_to_the_channel_that_arrives() {
        let drawing = twisted(&[4, 8], &[]).unwrap().drawing().unwrap();
        let stubs: Vec<_> = drawing.segments.iter().filter(|s| (s.router, s.port) == (3 + 4 * 2, 0)).collect();
        assert_eq!((stubs.len(), stubs[1].to[0], stubs[1].to[1].round()), (2, 0.0, 6.0));
        assert_eq!(drawing.note, "channels that wrap are twisted");
        assert!(twisted(&[2; 4], &[[0; 4].as_slice(); 4]).unwrap().drawing().is_none());
    }

    #[test]
    fn what_makes_no_twisted_torus_is_named() {
        let refused = |size: &[u32], twist: &[&[u32]]| twisted(size, twist).unwrap_err().to_string();
        for (error, expected) in [
            (refused(&[8], &[]), "size = [8]: expected 2 to 6 sizes"),
            (refused(&[1, 2], &[]), "size[0] = 1: expected 2 to 500000 routers"),
            (refused(&[4, u32::MAX], &[]), "size[1] = 4294967295: expected 2 to 500000 routers"),
            (refused(&[1000, 2000], &[]), "size = [1000, 2000]: expected at most 1000000 routers with 4 channels"),
            (refused(&[500_000; 6], &[]), "size = [500000, 500000, 500000, 500000, 500000, 500000]: expected at most"),
            (refused(&[4, 4], &[]), "size = [4, 4] without a twist: expected k x 2k, k x k x 2k or k x 2k x 2k"),
            (refused(&[4, 12], &[]), "size = [4, 12] without a twist: expected k x 2k"),
            (refused(&[2, 2, 4, 4], &[]), "size = [2, 2, 4, 4] without a twist: expected k x 2k"),
            (refused(&[4, 8], &[&[0, 1]]), "twist = [[0, 1]]: expected 2 rows of 2 numbers"),
            (refused(&[4, 8], &[&[0, 1], &[0]]), "twist = [[0, 1], [0]]: expected 2 rows of 2 numbers"),
            (refused(&[4, 8], &[&[1, 1], &[0, 0]]), "twist[0][0] = 1: expected 0: a dimension does not twist itself"),
            (refused(&[4, 8], &[&[0, 8], &[0, 0]]), "twist[0][1] = 8: expected 0 to 7: less than size[1]"),
            (refused(&[4, 8], &[&[0, 1], &[1, 0]]), "twist = [[0, 1], [1, 0]]: expected dimensions that do not twist"),
        ] {
            assert!(error.starts_with(&format!("network.topology.{expected}")), "{error}");
        }
        let crowded = TwistedTorus { size: vec![4, 8], twist: Vec::new(), terminals_per_router: 61 };
        let error = crowded.fabric().unwrap_err().to_string();
        assert!(error.starts_with("network.topology.terminals_per_router = 61: expected 1 to 60"), "{error}");
    }
}
