//! Is dimension-order routing free of deadlock here? The channel dependency graph of Dally and Seitz, checked ring by
//! ring.
//!
//! W. J. Dally and C. L. Seitz, "Deadlock-free message routing in multiprocessor interconnection networks", IEEE Trans.
//! Computers C-36(5), 1987: routing is free of deadlock if the graph whose nodes are the channels (here: a channel and
//! a class of its virtual channels) and whose edges are the pairs that some packet uses one after the other has no
//! cycle.
//!
//! Why it is enough to look at one ring for each dimension and direction:
//! * Every packet walks the dimensions in the same order, so edges between dimensions only ever lead forward in that
//!   order: a cycle stays within one dimension.
//! * Within a dimension a packet neither turns round nor changes its other coordinates: a cycle stays within the
//!   channels of one direction of one ring.
//! * All rings of a dimension are translates of each other, and on each of them every pair (coordinate on entering,
//!   coordinate on leaving) occurs: the packets of a pair of routers that differ in this dimension only already make it
//!   so. Under [`Tie::Parity`] the direction of a tie also depends on the other relative coordinates; as soon as one
//!   other dimension has two routers, both directions occur on every ring.
//! * A packet keeps its class for the whole dimension, or changes from class 0 to class 1 at the dateline and never
//!   back. Every edge of a cycle therefore leads from a channel to the next one of the same ring, direction and class,
//!   and the only possible cycle is the whole ring: it exists if none of these edges is missing.

use super::{AtSource, DimensionOrder, Tie};
use crate::topology::{DIMENSION_NAMES, Grid};

/// How the virtual channels of a ring are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RingClasses {
    /// They are not: every packet uses class 0.
    One,
    /// By whether the route crosses the wrap channel ([`super::Header::wraps`]).
    Entered,
    /// Class 0 before the wrap channel, class 1 from it on.
    AtDateline,
}

impl RingClasses {
    /// The classes of a routing with two of them.
    pub fn of(routing: &AtSource) -> Self {
        if routing.changes_at_datelines() { RingClasses::AtDateline } else { RingClasses::Entered }
    }
}

/// Checks that no channels can wait for each other in a circle; the error is such a circle, channel by channel.
///
/// Time grows with the sum of the sizes.
pub fn check_deadlock_free(grid: &Grid, routing: &DimensionOrder, classes: RingClasses) -> Result<(), Vec<String>> {
    for d in 0..grid.dims() {
        let ring = Ring::new(grid, routing, d);
        for minus in [false, true] {
            for class in 0..if classes == RingClasses::One { 1 } else { 2 } {
                if ring.closes(minus, class, classes) {
                    return Err(circle(grid, d, minus, class));
                }
            }
        }
    }
    Ok(())
}

/// What the packets of one ring do.
struct Ring {
    /// Routers along the ring.
    size: u32,
    /// Longest route \[hops] that starts at each coordinate, by (direction, wrap bit):
    /// `longest[minus][wraps][coordinate]`.
    longest: [[Vec<u32>; 2]; 2],
}

impl Ring {
    /// The ring of dimension `d` through router 0, alone.
    fn new(grid: &Grid, routing: &DimensionOrder, d: usize) -> Self {
        let size = grid.size(d);
        let alone = Grid::new(&[size], &[grid.wraps(d)], grid.ring2_single());
        let others = (0..grid.dims()).any(|e| e != d && grid.size(e) > 1);
        // With other dimensions about, parity sends some packets of a pair in one direction and some in the other: as
        // chance does.
        let tie = if routing.tie == Tie::Parity && others { Tie::Random } else { routing.tie };
        let routing = DimensionOrder { order: vec![0], tie };
        let none = || vec![0; size as usize];
        let mut longest = [[none(), none()], [none(), none()]];
        for from in 0..size {
            for to in farthest(size, from) {
                let (src, dst) = (alone.coords(from), alone.coords(to));
                for tie_bits in [0, 1] {
                    let h = routing.header(&alone, &src, &dst, tie_bits);
                    let hops = alone.distance(0, from, to, h.minus == 0).unwrap_or(0);
                    let entry = &mut longest[h.minus as usize][h.wraps as usize][from as usize];
                    *entry = hops.max(*entry);
                }
            }
        }
        Ring { size, longest }
    }

    /// Whether the dependencies of one direction and class go all the way round.
    fn closes(&self, minus: bool, class: u32, classes: RingClasses) -> bool {
        // Some packet goes on from the channel that leaves coordinate i to the next one: as many as the changes up to i
        // add up to, on the ring rolled out twice.
        let size = self.size as usize;
        let mut change = vec![0i64; 2 * size + 1];
        for wraps in 0..2 {
            if classes == RingClasses::Entered && wraps != class {
                continue;
            }
            for from in 0..self.size {
                let hops = self.longest[minus as usize][wraps as usize][from as usize];
                // The channels of this class: all, or those before the wrap channel, or those from it on.
                let before = if minus { from } else { self.size - 1 - from }.min(hops);
                let (from, hops) = match (classes, class) {
                    (RingClasses::AtDateline, 0) => (from, before),
                    (RingClasses::AtDateline, _) => (if minus { 0 } else { self.size - 1 }, hops - before),
                    _ => (from, hops),
                };
                let dependencies = hops.saturating_sub(1);
                let first = if minus { self.size + from + 1 - dependencies } else { from };
                change[first as usize] += 1;
                change[(first + dependencies) as usize] -= 1;
            }
        }
        let mut here = 0;
        let mut depends = vec![false; size];
        for (i, step) in change[..2 * size].iter().enumerate() {
            here += step;
            depends[i % size] |= here > 0;
        }
        depends.iter().all(|&d| d)
    }
}

/// Coordinates among which are those at the ends of the longest routes from `from`, in either direction, with and
/// without the wrap channel. Routes are shortest: whoever is nearer in the same direction is reached in that direction,
/// so a longest route ends at an end of the row, or half a ring away, or one hop less where half a ring is a tie that
/// goes in the other direction.
fn farthest(size: u32, from: u32) -> [u32; 6] {
    let half_ring_hops = [size / 2, size.saturating_sub(1) / 2];
    let [plus, plus_less] = half_ring_hops.map(|hops| (from + hops) % size);
    let [minus, minus_less] = half_ring_hops.map(|hops| (from + size - hops) % size);
    [0, size - 1, plus, plus_less, minus, minus_less]
}

/// The channels of the ring of dimension `d` through router 0, in the order in which they wait for each other.
fn circle(grid: &Grid, d: usize, minus: bool, class: u32) -> Vec<String> {
    let a = grid.size(d);
    let mut at = [0; crate::topology::MAX_DIMS];
    (0..a)
        .map(|i| {
            at[d] = if minus { (a - i) % a } else { i };
            let sign = if minus { '-' } else { '+' };
            format!("router {} {sign}{} class {class}", grid.id(&at), DIMENSION_NAMES[d])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIES: [Tie; 4] = [Tie::Plus, Tie::Parity, Tie::Random, Tie::Split];

    fn dor(dims: usize, tie: Tie) -> DimensionOrder {
        DimensionOrder { order: (0..dims).collect(), tie }
    }

    /// The whole graph of a small grid, from the paths themselves: whether it has a cycle.
    fn full_graph_has_cycle(grid: &Grid, routing: &DimensionOrder, classes: RingClasses) -> bool {
        let plain = AtSource::dimension_order(grid, routing.clone());
        let routing = if classes == RingClasses::AtDateline { plain.with_classes_at_datelines() } else { plain };
        let node = |(router, port, class): (u32, usize, u8)| {
            let class = if classes == RingClasses::One { 0 } else { class as usize };
            (router as usize * grid.network_ports() + port) * 2 + class
        };
        let nodes = grid.routers() as usize * grid.network_ports() * 2;
        let mut next = vec![std::collections::BTreeSet::new(); nodes];
        let mut waits = vec![0; nodes];
        for s in 0..grid.routers() {
            for t in 0..grid.routers() {
                for tie_bits in 0..1 << grid.dims() {
                    let path = routing.path(s, t, tie_bits);
                    for w in path.windows(2) {
                        if next[node(w[0])].insert(node(w[1])) {
                            waits[node(w[1])] += 1;
                        }
                    }
                }
            }
        }
        // Remove channels that nothing leads to until none is left (no cycle) or the rest waits in circles.
        let mut free: Vec<usize> = (0..nodes).filter(|&n| waits[n] == 0).collect();
        let mut removed = 0;
        while let Some(n) = free.pop() {
            removed += 1;
            for &m in &next[n] {
                waits[m] -= 1;
                if waits[m] == 0 {
                    free.push(m);
                }
            }
        }
        removed < nodes
    }

    #[test]
    fn two_classes_free_a_torus_of_any_size() {
        for tie in TIES {
            for a in 1..=17 {
                for grid in [Grid::torus(&[a]), Grid::torus(&[a, a]), Grid::torus(&[a, 3, 4])] {
                    for classes in [RingClasses::Entered, RingClasses::AtDateline] {
                        let found = check_deadlock_free(&grid, &dor(grid.dims(), tie), classes);
                        assert_eq!(found, Ok(()), "{grid:?} {tie:?} {classes:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn one_class_is_not_enough_from_rings_of_four() {
        for tie in TIES {
            for a in 1..=17 {
                let free = check_deadlock_free(&Grid::torus(&[a, 3]), &dor(2, tie), RingClasses::One).is_ok();
                assert_eq!(free, a < 4, "{a} {tie:?}");
            }
        }
    }

    #[test]
    fn a_lone_ring_of_four_is_spared_by_parity() {
        // Only even coordinates go two hops to plus, so their routes do not chain.
        assert!(check_deadlock_free(&Grid::torus(&[4]), &dor(1, Tie::Parity), RingClasses::One).is_ok());
        assert!(check_deadlock_free(&Grid::torus(&[5]), &dor(1, Tie::Parity), RingClasses::One).is_err());
        assert!(check_deadlock_free(&Grid::torus(&[6]), &dor(1, Tie::Parity), RingClasses::One).is_err());
    }

    #[test]
    fn a_mesh_needs_one_class() {
        for a in 1..=17 {
            assert!(check_deadlock_free(&Grid::mesh(&[a, a]), &dor(2, Tie::Plus), RingClasses::One).is_ok());
        }
        assert!(
            check_deadlock_free(&Grid::new(&[4, 9], &[false, true], false), &dor(2, Tie::Plus), RingClasses::One)
                .is_err()
        );
        assert!(
            check_deadlock_free(&Grid::new(&[2, 9], &[true, false], true), &dor(2, Tie::Plus), RingClasses::One)
                .is_ok()
        );
    }

    #[test]
    fn one_ring_tells_the_same_as_the_whole_graph() {
        for sizes in [&[2, 3][..], &[4, 2], &[5, 4], &[3, 6], &[4], &[6], &[3, 4, 2]] {
            for wrap in [true, false] {
                let grid = Grid::new(sizes, &vec![wrap; sizes.len()], false);
                for tie in TIES {
                    for classes in [RingClasses::One, RingClasses::Entered, RingClasses::AtDateline] {
                        let routing = dor(grid.dims(), tie);
                        assert_eq!(
                            check_deadlock_free(&grid, &routing, classes).is_err(),
                            full_graph_has_cycle(&grid, &routing, classes),
                            "{grid:?} {tie:?} {classes:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_circle_is_named() {
        let circle = check_deadlock_free(&Grid::torus(&[3, 4]), &dor(2, Tie::Plus), RingClasses::One).unwrap_err();
        assert_eq!(circle[0], "router 0 +y class 0");
        assert_eq!(circle[3], "router 9 +y class 0");
        assert_eq!(circle.len(), 4);
    }

    #[test]
    fn long_rings_are_quick() {
        for grid in [Grid::torus(&[1 << 20]), Grid::mesh(&[1 << 20])] {
            assert!(check_deadlock_free(&grid, &dor(1, Tie::Random), RingClasses::Entered).is_ok());
        }
    }

    #[test]
    fn no_way_is_longer_than_to_the_farthest() {
        for (size, tie) in (1..=17).flat_map(|size| TIES.map(|tie| (size, tie))) {
            for grid in [Grid::torus(&[size]), Grid::mesh(&[size]), Grid::new(&[size], &[true], true)] {
                for (from, tie_bits) in (0..size).flat_map(|from| [(from, 0), (from, 1)]) {
                    let longest = |to: &mut dyn Iterator<Item = u32>| {
                        let mut longest = [[0; 2]; 2];
                        for to in to {
                            let (src, dst) = (grid.coords(from), grid.coords(to));
                            let (h, hops) = dor(1, tie).header_and_hops(&grid, &src, &dst, tie_bits);
                            let entry = &mut longest[h.minus as usize][h.wraps as usize];
                            *entry = hops.max(*entry);
                        }
                        longest
                    };
                    assert_eq!(longest(&mut farthest(size, from).into_iter()), longest(&mut (0..size)), "{grid:?}");
                }
            }
        }
    }
}
