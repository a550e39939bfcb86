//! Saturation of uniform random traffic.
//!
//! W. J. Dally and B. Towles, *Principles and Practices of Interconnection Networks*, 2004, section 3.3: the accepted
//! load is at most 1 / (largest channel load per unit of offered load).
//!
//! Under dimension-order routing one ring for each dimension suffices, and the result is exact on any grid. A packet
//! that walks dimension `d` has the destination's coordinates in the dimensions before (in routing order) and the
//! source's in those after. Both are uniform and independent of source and destination coordinate in `d`, so all rings
//! of the dimension are used alike: a channel has `terminals / a_d^2` times the number of pairs (source coordinate,
//! destination coordinate) whose route it lies on, divided by the `P / a_d` rings.

use crate::routing::{DimensionOrder, GoesBy, Routing, Tie};
use crate::topology::{End, Fabric, Grid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::loads::LoadAccumulator;
use super::{ChannelClassLoad, even};

/// Where uniform random traffic saturates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Saturation {
    /// Largest load that the channels between routers can accept [flits/cycle/terminal]; infinite where there are none.
    /// The terminals have limits of their own.
    pub load_flits_per_cycle: f64,
    /// Largest channel load of each class of channels at 1 flit/cycle/terminal [flits/cycle].
    pub classes: Vec<ChannelClassLoad>,
}

impl Saturation {
    /// Where the loads of the classes at 1 flit/cycle/terminal are these.
    pub(super) fn of(classes: Vec<ChannelClassLoad>) -> Self {
        Saturation { load_flits_per_cycle: 1.0 / ChannelClassLoad::largest(&classes), classes }
    }
}

/// The saturation bound of uniform random traffic; with `include_self` a terminal may draw itself as destination.
///
/// Split ties are taken as halves. Packets of an odd length load the plus direction more (one of 1 flit is not split at
/// all): the bound stands, but is less tight.
pub fn uniform_saturation(fabric: &Fabric, routing: &Routing, include_self: bool) -> Saturation {
    match (fabric.grid(), routing.fixed_order()) {
        (Some(grid), Some(order)) => of_rings(fabric, grid, order, include_self),
        (Some(grid), None) if !routing.is_fixed() => even::uniform(fabric, grid, fabric.most_terminals(), include_self),
        _ => of_pairs(fabric, routing, include_self),
    }
}

/// On any network: the flows between all pairs of routers, or of a router and a terminal where routes differ between
/// terminals.
fn of_pairs(fabric: &Fabric, routing: &Routing, include_self: bool) -> Saturation {
    let destinations = f64::from(fabric.terminals()) - if include_self { 0.0 } else { 1.0 };
    let goes_by = routing.goes_by();
    // One terminal of each router with the number of those that it stands for, or all of them.
    let ends = |each: bool| -> Vec<(End, f64)> {
        let of_router = |router: u32| {
            let all = fabric.terminals_at(router);
            let alike = if each { 1 } else { all.len().max(1) };
            all.step_by(alike).map(move |terminal| (End { router, terminal }, alike as f64))
        };
        (0..fabric.routers()).flat_map(of_router).collect()
    };
    let by = |end: GoesBy| goes_by == end || goes_by == GoesBy::Pair;
    let (sources, sinks) = (ends(by(GoesBy::Source)), ends(by(GoesBy::Destination)));
    let mut loads = LoadAccumulator::new(fabric, routing);
    for &(src, sent_by) in &sources {
        for &(dst, received_by) in sinks.iter().filter(|sink| sink.0.router != src.router) {
            let flits = sent_by * received_by / destinations.max(1.0);
            loads.add(src, dst, [flits / 2.0; 2]);
        }
    }
    loads.end_phase();
    Saturation::of(loads.classes())
}

/// On a grid under dimension order: ring by ring.
fn of_rings(fabric: &Fabric, grid: &Grid, routing: &DimensionOrder, include_self: bool) -> Saturation {
    let terminals_per_router = fabric.most_terminals();
    let terminals = f64::from(grid.routers()) * f64::from(terminals_per_router);
    // Without the packets to oneself, which use no channel, all others are drawn that much more often.
    let others = if include_self || terminals <= 1.0 { 1.0 } else { terminals / (terminals - 1.0) };
    let mut loads = Vec::new();
    for d in 0..grid.dims() {
        let per_pair = f64::from(terminals_per_router) / f64::from(grid.size(d)) * others;
        loads.extend(busiest_channels(grid, routing.tie, d).map(|pairs| pairs * per_pair));
    }
    Saturation::of(ChannelClassLoad::named(fabric, loads))
}

/// Share of the packets between two coordinates of dimension `d` that go to plus; of those to oneself none goes
/// anywhere.
fn to_plus(grid: &Grid, tie: Tie, d: usize, from: u32, to: u32) -> f64 {
    match (grid.distance(d, from, to, true), grid.distance(d, from, to, false)) {
        (Some(p), Some(m)) if p == m => tied_to_plus(grid, tie, d, from),
        (Some(p), Some(m)) => f64::from(u8::from(p < m)),
        (p, _) => f64::from(u8::from(p.is_some())),
    }
}

/// Most pairs of coordinates whose route lies on one channel of a ring of dimension `d`, in the plus and minus
/// direction.
fn busiest_channels(grid: &Grid, tie: Tie, d: usize) -> [f64; 2] {
    let a = grid.size(d);
    // Changes of the load from one channel to the next, on the ring rolled out twice.
    let mut change = [vec![0.0; 2 * a as usize + 1], vec![0.0; 2 * a as usize + 1]];
    for from in 0..a {
        for to in (0..a).filter(|&to| to != from) {
            let to_plus = to_plus(grid, tie, d, from, to);
            // Channel i joins coordinates i and i + 1, in either direction.
            let mut add = |direction: usize, first: u32, hops: u32, share: f64| {
                change[direction][first as usize] += share;
                change[direction][(first + hops) as usize] -= share;
            };
            if let Some(hops) = grid.distance(d, from, to, true) {
                add(0, from, hops, to_plus);
            }
            if let Some(hops) = grid.distance(d, from, to, false) {
                add(1, to, hops, 1.0 - to_plus);
            }
        }
    }
    change.map(|change| {
        let mut loads = vec![0.0; a as usize];
        let mut load = 0.0;
        for (i, step) in change.iter().enumerate() {
            load += step;
            loads[i % a as usize] += load;
        }
        loads.into_iter().fold(0.0, f64::max)
    })
}

/// What each coordinate puts on each channel of a ring of dimension `d` if it sends one flit to every other.
pub(super) fn channels_of_ring(grid: &Grid, tie: Tie, d: usize) -> Vec<Vec<(u32, f64)>> {
    let a = grid.size(d);
    let mut channels = vec![Vec::new(); 2 * a as usize];
    for from in 0..a {
        let mut sent = vec![0.0; 2 * a as usize];
        for to in (0..a).filter(|&to| to != from) {
            let to_plus = to_plus(grid, tie, d, from, to);
            for hop in 0..grid.distance(d, from, to, true).filter(|_| to_plus > 0.0).unwrap_or(0) {
                sent[((from + hop) % a) as usize] += to_plus;
            }
            for hop in 0..grid.distance(d, from, to, false).filter(|_| to_plus < 1.0).unwrap_or(0) {
                sent[(a + (to + hop) % a) as usize] += 1.0 - to_plus;
            }
        }
        for (channel, flits) in channels.iter_mut().zip(sent).filter(|(_, flits)| *flits > 0.0) {
            channel.push((from, flits));
        }
    }
    channels.retain(|channel| !channel.is_empty());
    channels
}

/// Share of the packets from coordinate `from` to the opposite one that go to plus.
fn tied_to_plus(grid: &Grid, tie: Tie, d: usize, from: u32) -> f64 {
    match tie {
        Tie::Plus => 1.0,
        Tie::Random | Tie::ByMessage | Tie::Split => 0.5,
        Tie::Parity => {
            // How often the sum of the other relative coordinates is even: each is uniform over 0..a, so the mean of
            // (-1)^sum is 0 if one a is even, else the product of all 1 / a.
            let others = (0..grid.dims()).filter(|&e| e != d).map(|e| grid.size(e));
            let mean: f64 = others.map(|a| if a % 2 == 0 { 0.0 } else { 1.0 / f64::from(a) }).product();
            let sign = if from.is_multiple_of(2) { 1.0 } else { -1.0 };
            (1.0 + sign * mean) / 2.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::channel_loads;
    use super::super::tests::dor;
    use super::*;
    use crate::collective::{AllToAllOptions, Sync, all_to_all};
    use crate::schedule::Placement;

    fn saturation(grid: &Grid, tie: Tie) -> f64 {
        let (fabric, routing) = dor(grid, 1, (0..grid.dims()).collect(), tie);
        uniform_saturation(&fabric, &routing, true).load_flits_per_cycle
    }

    #[test]
    fn closed_forms() {
        for n in [4u32, 6, 8, 16, 32] {
            assert!((saturation(&Grid::torus(&[n, n]), Tie::Random) - 8.0 / f64::from(n)).abs() < 1e-12);
            assert!((saturation(&Grid::torus(&[n, n]), Tie::Parity) - 8.0 / f64::from(n)).abs() < 1e-12);
            assert!((saturation(&Grid::mesh(&[n, n]), Tie::Plus) - 4.0 / f64::from(n)).abs() < 1e-12);
            // Ties always to plus: that direction has (n + 2) / n of the balanced load.
            assert!((saturation(&Grid::torus(&[n, n]), Tie::Plus) - 8.0 / f64::from(n + 2)).abs() < 1e-12);
        }
        for n in [3, 5, 11] {
            let want = 8.0 * f64::from(n) / f64::from(n * n - 1);
            assert!((saturation(&Grid::torus(&[n, n]), Tie::Plus) - want).abs() < 1e-12);
        }
        assert_eq!(saturation(&Grid::torus(&[1, 1]), Tie::Plus), f64::INFINITY);
    }

    #[test]
    fn four_terminals_a_router_saturate_at_a_quarter() {
        let grid = Grid::torus(&[8, 8]);
        let (fabric, routing) = dor(&grid, 4, vec![0, 1], Tie::Split);
        let load = uniform_saturation(&fabric, &routing, true).load_flits_per_cycle;
        assert!((load - 0.25).abs() < 1e-12);
    }

    /// One message a pair is uniform traffic without packets to oneself.
    #[test]
    fn rings_tell_the_same_as_all_pairs() {
        let options = AllToAllOptions { message_flits: 2, sync: Sync::Async, nic_ports: 1 };
        for sizes in [&[5][..], &[6], &[4, 3], &[6, 4], &[2, 5], &[3, 4, 6], &[2, 3, 2], &[4, 1, 4]] {
            for wrap in 0..1 << sizes.len() {
                let wrap: Vec<bool> = (0..sizes.len()).map(|d| wrap >> d & 1 == 1).collect();
                for tie in [Tie::Plus, Tie::Parity, Tie::Random, Tie::Split] {
                    for single in [false, true] {
                        let grid = Grid::new(sizes, &wrap, single);
                        let (fabric, routing) = dor(&grid, 1, (0..sizes.len()).rev().collect(), tie);
                        let s = all_to_all("a2a", &grid, &options).unwrap();
                        let place = Placement::one_each(fabric.terminals());
                        let loads = channel_loads(&fabric, &routing, &s, &place, 0, None);
                        let all = uniform_saturation(&fabric, &routing, false);
                        let peers = f64::from(grid.routers() - 1);
                        for (pairs, ring) in loads.classes.iter().zip(&all.classes) {
                            assert!((pairs.max_flits / 2.0 / peers - ring.max_flits).abs() < 1e-12, "{grid:?} {tie:?}");
                        }
                    }
                }
            }
        }
    }
}
