//! What any routing needs, however it spreads the load: the channels of a dimension together carry at least the shortest ways.
//!
//! A packet whose source and destination lie `h` hops apart in a dimension crosses at least `h` channels of that dimension, whatever
//! way it takes. The sum over all packets, divided by the number of channels of the dimension, is a lower bound on the load of
//! the most loaded channel: that of a routing which spreads the load evenly.

use super::flows::Ends;
use super::{ClassLoad, Flow, FlowLoads, LinkLoads, PhaseLoad, Saturation};
use crate::schedule::Schedule;
use crate::topology::{Coords, Grid};

/// Hops of the shortest way in dimension `d`.
fn shortest(grid: &Grid, d: usize, from: u32, to: u32) -> f64 {
    let ways = [true, false].map(|plus| grid.distance(d, from, to, plus));
    f64::from(ways.into_iter().flatten().min().unwrap_or(0))
}

/// Hops of the shortest way in each dimension.
fn hops(grid: &Grid, from: &Coords, to: &Coords) -> impl Iterator<Item = f64> {
    (0..grid.dims()).map(move |d| shortest(grid, d, from[d], to[d]))
}

/// Channels of each dimension, both directions.
fn channels(grid: &Grid) -> Vec<f64> {
    (0..grid.dims())
        .map(|d| {
            let of = |r: u32| (0..2).filter(|side| grid.neighbour(r, 2 * d + side).is_some()).count();
            // The channels of one line, times the lines.
            let line = (0..grid.size(d)).map(|c| {
                let mut at = [0; crate::topology::MAX_DIMS];
                at[d] = c;
                of(grid.id(&at))
            });
            line.sum::<usize>() as f64 * f64::from(grid.routers() / grid.size(d))
        })
        .collect()
}

/// The even load of each output port, by dimension and direction, of so many flits times hops in each dimension.
fn classes(flit_hops: &[f64], channels: &[f64]) -> Vec<ClassLoad> {
    let load = |d: usize| if channels[d] > 0.0 { flit_hops[d] / channels[d] } else { 0.0 };
    ClassLoad::of_ports((0..2 * flit_hops.len()).map(|port| load(port / 2)))
}

/// The loads of a schedule's messages if they were spread evenly over the channels of each dimension; phases as in
/// [`super::link_loads`].
pub fn even_link_loads(grid: &Grid, schedule: &Schedule, router_of: &[u32], group: Option<u32>) -> LinkLoads {
    let channels = channels(grid);
    let coords: Vec<Coords> = (0..grid.routers()).map(|r| grid.coords(r)).collect();
    let mut total = vec![0.0; grid.dims()];
    let mut phases: std::collections::BTreeMap<u32, Vec<f64>> = std::collections::BTreeMap::new();
    for (from, to, flits, index) in schedule.messages() {
        let (from, to) = (&coords[router_of[from as usize] as usize], &coords[router_of[to as usize] as usize]);
        let phase = group.map(|g| phases.entry(index / g.max(1)).or_insert_with(|| vec![0.0; grid.dims()]));
        let mut phase = phase;
        for (d, h) in hops(grid, from, to).enumerate() {
            total[d] += h * f64::from(flits);
            if let Some(phase) = &mut phase {
                phase[d] += h * f64::from(flits);
            }
        }
    }
    let classes_of_all = classes(&total, &channels);
    let phases: Vec<PhaseLoad> = phases
        .into_iter()
        .map(|(group, flit_hops)| {
            let classes = classes(&flit_hops, &channels);
            let max_flits = ClassLoad::largest(&classes);
            PhaseLoad { group, max_flits, class_max_flits: classes.iter().map(|c| c.max_flits).collect() }
        })
        .collect();
    let of_port = |(router, port): (u32, usize)| {
        if grid.neighbour(router, port).is_some() { classes_of_all[port].max_flits } else { 0.0 }
    };
    let ports = (0..grid.routers()).flat_map(|r| (0..grid.network_ports()).map(move |port| (r, port)));
    LinkLoads {
        channel_flits: ports.map(of_port).collect(),
        max_flits: ClassLoad::largest(&classes_of_all),
        phase_sum_flits: phases.iter().map(|p| p.max_flits).sum(),
        classes: classes_of_all,
        phases,
    }
}

/// The loads of flows if they were spread evenly over the channels of each dimension.
pub fn even_flow_loads(grid: &Grid, terminals_per_router: u32, flows: impl IntoIterator<Item = Flow>) -> FlowLoads {
    let mut flit_hops = vec![0.0; grid.dims()];
    let mut ends = Ends::new(grid.routers() * terminals_per_router);
    for flow in flows {
        ends.add(&flow);
        let (src, dst) = (grid.coords(flow.from / terminals_per_router), grid.coords(flow.to / terminals_per_router));
        hops(grid, &src, &dst).enumerate().for_each(|(d, h)| flit_hops[d] += h * flow.flits);
    }
    FlowLoads::new(saturation(grid, &flit_hops), ends)
}

/// The even loads of uniform traffic.
pub fn even_uniform_saturation(grid: &Grid, terminals_per_router: u32, include_self: bool) -> Saturation {
    let terminals = f64::from(grid.routers() * terminals_per_router);
    let destinations = if include_self { terminals } else { (terminals - 1.0).max(1.0) };
    let mut flit_hops = vec![0.0; grid.dims()];
    for (d, sum) in flit_hops.iter_mut().enumerate() {
        let a = grid.size(d);
        let line: f64 = (0..a)
            .flat_map(|from| (0..a).map(move |to| (from, to)))
            .map(|(from, to)| shortest(grid, d, from, to))
            .sum();
        // Every pair of coordinates stands for as many pairs of terminals as the other coordinates allow.
        let others = terminals / f64::from(a);
        *sum = line * others * others / destinations;
    }
    saturation(grid, &flit_hops)
}

fn saturation(grid: &Grid, flit_hops: &[f64]) -> Saturation {
    let classes = classes(flit_hops, &channels(grid));
    Saturation { load_flits_per_cycle: 1.0 / ClassLoad::largest(&classes), classes }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The permutations of Yokota et al. have mean distance n / 2, so an ideal adaptive routing reaches 8 / n on an n x n torus, as
    /// it does with uniform traffic.
    #[test]
    fn ideal_adaptive_routing_reaches_the_load_of_uniform_traffic() {
        let grid = Grid::torus(&[32, 32]);
        let transpose: Vec<_> = (0..1024).map(|i| Flow::even((i, i % 32 * 32 + i / 32, 1.0))).collect();
        let complement: Vec<_> = (0..1024).map(|i| Flow::even((i, 1023 - i, 1.0))).collect();
        for flows in [transpose, complement] {
            assert!((even_flow_loads(&grid, 1, flows).channels.load_flits_per_cycle - 0.25).abs() < 1e-12);
        }
        assert!((even_uniform_saturation(&grid, 1, true).load_flits_per_cycle - 0.25).abs() < 1e-12);
    }

    #[test]
    fn uniform_traffic_is_the_sum_of_its_flows() {
        for grid in [Grid::mesh(&[5, 3]), Grid::torus(&[4, 3, 2])] {
            let n = 2 * grid.routers();
            let share = 1.0 / f64::from(n);
            let flows: Vec<_> = (0..n).flat_map(|s| (0..n).map(move |t| Flow::even((s, t, share)))).collect();
            let by_flows = even_flow_loads(&grid, 2, flows).channels;
            let uniform = even_uniform_saturation(&grid, 2, true);
            assert!((by_flows.load_flits_per_cycle / uniform.load_flits_per_cycle - 1.0).abs() < 1e-9);
        }
    }
}
