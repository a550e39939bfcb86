//! What any routing needs, however it spreads the load: the channels of a group together carry at least the shortest
//! routes.
//!
//! The groups are the dimensions of a grid. In a fat tree the channels that lead up from a subtree are a group, and
//! those that lead down to it are one: whatever leaves the subtree needs one of them. Of any other network all channels
//! are one group.

use super::{ChannelClassLoad, Saturation};
use crate::topology::{Coords, Fabric, Grid, MAX_DIMS, Shape, Tree};

use std::ops::Range;

/// Groups of channels, each of which carries a part of every shortest route.
pub(super) struct Groups<'a> {
    fabric: &'a Fabric,
    /// Width of all channels of each group [flits/cycle], how many they are, and the groups of each class.
    channels: Vec<f64>,
    counts: Vec<f64>,
    of_class: Vec<Range<usize>>,
    distances: Distances<'a>,
}

/// How far routers are apart.
enum Distances<'a> {
    Grid {
        grid: &'a Grid,
        coords: Vec<Coords>,
    },
    Tree(&'a Tree),
    /// Hops from each source that was asked for to all routers.
    Graph(Vec<Vec<u32>>),
}

impl<'a> Groups<'a> {
    pub fn new(fabric: &'a Fabric) -> Self {
        let mut groups = Self::of_shape(fabric);
        groups.counts = match fabric.slow_channel() {
            // Only of a graph, whose channels are one group.
            Some(_) => vec![fabric.channels().count() as f64; groups.len()],
            None => groups.channels.clone(),
        };
        groups
    }

    fn of_shape(fabric: &'a Fabric) -> Self {
        let counts = Vec::new();
        match fabric.shape() {
            Shape::Grid(grid) => Groups {
                fabric,
                channels: channels(grid),
                counts,
                of_class: (0..grid.network_ports()).map(|port| port / 2..port / 2 + 1).collect(),
                distances: Distances::Grid { grid, coords: (0..grid.routers()).map(|r| grid.coords(r)).collect() },
            },
            Shape::Tree(tree) => {
                // Class by class: from or to each subtree of the level.
                let (mut channels, mut of_class) = (Vec::new(), Vec::new());
                for level in (1..tree.levels()).flat_map(|level| [level; 2]) {
                    let width = f64::from(tree.copies(level) * tree.parents(level));
                    of_class.push(channels.len()..channels.len() + subtrees(tree, level));
                    channels.extend(std::iter::repeat_n(width, subtrees(tree, level)));
                }
                Groups { fabric, channels, counts, of_class, distances: Distances::Tree(tree) }
            }
            Shape::Groups(_) | Shape::Graph => Groups {
                fabric,
                channels: vec![fabric.channels().map(|(r, p)| 1.0 / f64::from(fabric.cycles_per_flit(r, p))).sum()],
                counts,
                of_class: vec![0..1; fabric.classes().len()],
                distances: Distances::Graph(vec![Vec::new(); fabric.routers() as usize]),
            },
        }
    }

    /// Of the groups of its class, the number of the one that a channel belongs to.
    fn subtree(&self, router: u32, port: usize) -> usize {
        let Distances::Tree(tree) = &self.distances else { return 0 };
        let here = tree.place(router);
        if port < tree.parents(here.level) as usize {
            return here.position as usize;
        }
        self.fabric.peer(router, port).map_or(0, |(child, _)| tree.place(child).position as usize)
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.channels.len()
    }

    /// Adds a message to the flits times hops of each group.
    pub fn add(&mut self, flit_hops: &mut [f64], src: u32, dst: u32, flits: f64) {
        match &mut self.distances {
            Distances::Grid { grid, coords } => {
                let (from, to) = (&coords[src as usize], &coords[dst as usize]);
                flit_hops.iter_mut().enumerate().for_each(|(d, sum)| *sum += shortest(grid, d, from[d], to[d]) * flits);
            }
            Distances::Tree(tree) => {
                let (from, to) = (src * tree.children(1), dst * tree.children(1));
                for level in 1..tree.meeting_level(from, to) {
                    let below = tree.terminals_below(level);
                    let (up, down) = (&self.of_class[2 * level - 2], &self.of_class[2 * level - 1]);
                    flit_hops[up.start + (from / below) as usize] += flits;
                    flit_hops[down.start + (to / below) as usize] += flits;
                }
            }
            Distances::Graph(hops) => {
                let hops = &mut hops[src as usize];
                if hops.is_empty() {
                    *hops = hops_from(self.fabric, src);
                }
                flit_hops[0] += f64::from(hops[dst as usize]) * flits;
            }
        }
    }

    /// Width of all channels of each group [flits/cycle].
    pub fn widths(&self) -> &[f64] {
        &self.channels
    }

    /// The cycles that the channels of some group need at least: each carries its first flit in one.
    pub fn least_cycles(&self, flit_hops: &[f64]) -> f64 {
        let of_group = |group: usize| {
            let (flits, count) = (flit_hops[group], self.counts[group]);
            if flits <= count { flits / count.max(1.0) } else { 1.0 + (flits - count) / self.channels[group] }
        };
        (0..self.len()).map(of_group).fold(0.0, f64::max)
    }

    /// The load of the channels of a group if it spreads its load evenly.
    fn load(&self, flit_hops: &[f64], group: usize) -> f64 {
        if self.channels[group] == 0.0 { 0.0 } else { flit_hops[group] / self.channels[group] }
    }

    /// The load of the most loaded channels of each class if each group spreads its load evenly.
    pub fn class_loads(&self, flit_hops: &[f64]) -> Vec<f64> {
        let most = |groups: &Range<usize>| groups.clone().map(|group| self.load(flit_hops, group)).fold(0.0, f64::max);
        self.of_class.iter().map(most).collect()
    }

    /// Flits of each channel if each group is loaded evenly, by `router * ports + port`.
    pub fn channel_flits(&self, flit_hops: &[f64]) -> Vec<f64> {
        let fabric = self.fabric;
        let mut loads = vec![0.0; fabric.routers() as usize * fabric.network_ports()];
        for (router, port) in fabric.channels() {
            let groups = &self.of_class[fabric.class_of(router, port)];
            let group = groups.start + self.subtree(router, port);
            loads[router as usize * fabric.network_ports() + port] = self.load(flit_hops, group);
        }
        loads
    }
}

/// Subtrees with routers of this level at their tops.
fn subtrees(tree: &Tree, level: usize) -> usize {
    (tree.routers_of(level) / tree.copies(level)) as usize
}

/// Channels from a router to every other on a shortest route.
fn hops_from(fabric: &Fabric, src: u32) -> Vec<u32> {
    let mut hops = vec![u32::MAX; fabric.routers() as usize];
    hops[src as usize] = 0;
    let mut reached = vec![src];
    let mut next = 0;
    while next < reached.len() {
        let at = reached[next];
        next += 1;
        for port in 0..fabric.network_ports() {
            let Some((far, _)) = fabric.peer(at, port) else { continue };
            if hops[far as usize] == u32::MAX {
                hops[far as usize] = hops[at as usize] + 1;
                reached.push(far);
            }
        }
    }
    // Whoever cannot be reached gets nothing.
    hops.into_iter().map(|h| if h == u32::MAX { 0 } else { h }).collect()
}

/// Hops of the shortest route in dimension `d`.
pub(super) fn shortest(grid: &Grid, d: usize, from: u32, to: u32) -> f64 {
    let both = [true, false].map(|plus| grid.distance(d, from, to, plus));
    f64::from(both.into_iter().flatten().min().unwrap_or(0))
}

/// Channels of each dimension, both directions.
pub(super) fn channels(grid: &Grid) -> Vec<f64> {
    (0..grid.dims())
        .map(|d| {
            let of = |r: u32| (0..2).filter(|side| grid.neighbour(r, 2 * d + side).is_some()).count();
            // The channels of one line, times the lines.
            let line = (0..grid.size(d)).map(|c| {
                let mut at = [0; MAX_DIMS];
                at[d] = c;
                of(grid.id(&at))
            });
            line.sum::<usize>() as f64 * f64::from(grid.routers() / grid.size(d))
        })
        .collect()
}

/// The even loads of uniform traffic on a grid with so many terminals at each router.
pub(super) fn uniform(fabric: &Fabric, grid: &Grid, terminals_per_router: u32, include_self: bool) -> Saturation {
    let terminals = f64::from(grid.routers()) * f64::from(terminals_per_router);
    let destinations = if include_self { terminals } else { (terminals - 1.0).max(1.0) };
    let sum = |d: usize| {
        let a = grid.size(d);
        let pairs = (0..a).flat_map(|from| (0..a).map(move |to| (from, to)));
        let line: f64 = pairs.map(|(from, to)| shortest(grid, d, from, to)).sum();
        // Every pair of coordinates stands for as many pairs of terminals as the other coordinates allow.
        let others = terminals / f64::from(a);
        line * others * others / destinations
    };
    let flit_hops: Vec<f64> = (0..grid.dims()).map(sum).collect();
    let loads = Groups::new(fabric).class_loads(&flit_hops);
    Saturation::of(ChannelClassLoad::named(fabric, loads))
}

#[cfg(test)]
mod tests {
    use super::super::{Flow, flow_loads, uniform_saturation};
    use super::*;
    use crate::bound::tests::adaptive;

    /// The permutations of Yokota et al. have mean distance n / 2, so an ideal adaptive routing reaches 8 / n on an n x
    /// n torus, as it does with uniform traffic.
    #[test]
    fn ideal_adaptive_routing_reaches_the_load_of_uniform_traffic() {
        let (fabric, routing) = adaptive(Grid::torus(&[32, 32]), 1);
        let transpose: Vec<_> = (0..1024).map(|i| Flow::even((i, i % 32 * 32 + i / 32, 1.0))).collect();
        let complement: Vec<_> = (0..1024).map(|i| Flow::even((i, 1023 - i, 1.0))).collect();
        for flows in [transpose, complement] {
            let load = flow_loads(&fabric, &routing, flows).channels.load_flits_per_cycle;
            assert!((load - 0.25).abs() < 1e-12);
        }
        assert!((uniform_saturation(&fabric, &routing, true).load_flits_per_cycle - 0.25).abs() < 1e-12);
    }

    #[test]
    fn uniform_traffic_is_the_sum_of_its_flows() {
        for grid in [Grid::mesh(&[5, 3]), Grid::torus(&[4, 3, 2])] {
            let (fabric, routing) = adaptive(grid, 2);
            let n = fabric.terminals();
            let share = 1.0 / f64::from(n);
            let flows: Vec<_> = (0..n).flat_map(|s| (0..n).map(move |t| Flow::even((s, t, share)))).collect();
            let by_flows = flow_loads(&fabric, &routing, flows).channels;
            let uniform = uniform_saturation(&fabric, &routing, true);
            assert!((by_flows.load_flits_per_cycle / uniform.load_flits_per_cycle - 1.0).abs() < 1e-9);
        }
    }
}
