//! The highest accepted load of an open loop, on the average over all terminals, however much is offered.
//!
//! A network may accept more in all than what it can carry of everybody alike: a source whose packets meet few others
//! goes on when those that share a channel get less and less. But a source that sends a share `w` of its flits over a
//! channel puts `w x` on it when it sends `x`, and a channel carries one flit a cycle, an injection or ejection port,
//! too. How much all together can send at most is a linear program.

use super::packing::Packing;
use super::uniform::channels_of_ring;
use super::{Flow, even};
use crate::routing::{Routing, Tie};
use crate::topology::{Fabric, Grid};

/// Channels of routes that are walked at most; of traffic that takes more only the terminals are looked at.
const MOST_STEPS: u64 = 10_000_000;

/// Coordinates of a line whose channels are looked at one by one; of a longer one the middle, or all together.
const LONGEST_LINE: u32 = 256;

/// The highest mean accepted load of flows [flits/cycle/terminal]: the shares of a source are 1 together, in ascending
/// order of sources. A source without a flow sends nothing.
///
/// Where routes are drawn, flows and ties count with their expectation: it holds in the long run.
pub fn accepted_load(fabric: &Fabric, routing: &Routing, flows: &[Flow], nic_ports: u32) -> f64 {
    let terminals = fabric.terminals() as usize;
    let ports = f64::from(nic_ports);
    let mut most = vec![0.0; terminals];
    let mut received: Vec<Vec<(u32, f64)>> = vec![Vec::new(); terminals];
    for flow in flows.iter().filter(|flow| flow.flits > 0.0) {
        most[flow.from as usize] = ports;
        add(&mut received[flow.to as usize], flow.from, flow.flits);
    }
    let mut packing = Packing::new(most);
    received.into_iter().for_each(|weights| packing.share(weights, ports));
    if flows.len() as f64 * (fabric.mean_hops() + 1.0) <= MOST_STEPS as f64 {
        share_channels(&mut packing, fabric, routing, flows);
    }
    packing.most_in_all() / terminals as f64
}

/// Adds to what a source, of which nothing behind it has been added, takes of something.
fn add(weights: &mut Vec<(u32, f64)>, source: u32, weight: f64) {
    match weights.last_mut() {
        Some((last, sum)) if *last == source => *sum += weight,
        _ => weights.push((source, weight)),
    }
}

/// What the channels can carry: one by one where routes are fixed, in groups where they are not.
fn share_channels(packing: &mut Packing, fabric: &Fabric, routing: &Routing, flows: &[Flow]) {
    let flows = flows.iter().filter(|flow| flow.flits > 0.0);
    if !routing.is_fixed() {
        let mut groups = even::Groups::new(fabric);
        let mut shared = vec![Vec::new(); groups.len()];
        let mut hops = vec![0.0; groups.len()];
        for flow in flows {
            groups.add(&mut hops, fabric.router_of(flow.from), fabric.router_of(flow.to), flow.flits);
            for (hops, weights) in hops.iter_mut().zip(&mut shared).filter(|(hops, _)| **hops > 0.0) {
                add(weights, flow.from, std::mem::take(hops));
            }
        }
        for (weights, &width) in shared.into_iter().zip(groups.widths()).filter(|(weights, _)| !weights.is_empty()) {
            packing.share(weights, width);
        }
        return;
    }
    let ports = fabric.network_ports();
    let mut shared = vec![Vec::new(); fabric.routers() as usize * ports];
    let draws = routing.fixed_order().is_some_and(|order| matches!(order.tie, Tie::Random | Tie::Split));
    for flow in flows {
        let halves = [(0, flow.plus_flits), (u64::MAX, flow.flits - flow.plus_flits)];
        let whole = [(0, flow.flits), (0, 0.0)];
        for (bits, flits) in if draws { halves } else { whole }.into_iter().filter(|half| half.1 > 0.0) {
            for (router, port, _) in routing.path(fabric, fabric.end(flow.from), fabric.end(flow.to), bits) {
                let cycles = f64::from(fabric.cycles_per_flit(router, port));
                add(&mut shared[router as usize * ports + port], flow.from, flits * cycles);
            }
        }
    }
    shared.into_iter().filter(|weights| !weights.is_empty()).for_each(|weights| packing.share(weights, 1.0));
}

/// The highest mean accepted load of uniform random traffic [flits/cycle/terminal].
pub fn uniform_accepted_load(fabric: &Fabric, routing: &Routing, include_self: bool, nic_ports: u32) -> f64 {
    let terminals = fabric.terminals();
    let destinations = f64::from(terminals) - if include_self { 0.0 } else { 1.0 };
    let pairs = u64::from(terminals) * u64::from(terminals);
    if let Some(grid) = fabric.grid() {
        return accepted_on_grid(grid, routing, fabric.most_terminals(), destinations, nic_ports);
    }
    if pairs > MOST_STEPS {
        return f64::from(nic_ports);
    }
    let to = |from: u32| (0..terminals).filter(move |&to| include_self || to != from);
    let flow = |from, to| Flow::even((from, to, 1.0 / destinations.max(1.0)));
    let flows: Vec<Flow> = (0..terminals).flat_map(|from| to(from).map(move |to| flow(from, to))).collect();
    accepted_load(fabric, routing, &flows, nic_ports)
}

/// Of uniform traffic on a grid: dimension by dimension, all its lines together. What a source puts on them depends on
/// its coordinate alone.
fn accepted_on_grid(
    grid: &Grid,
    routing: &Routing,
    terminals_per_router: u32,
    destinations: f64,
    nic_ports: u32,
) -> f64 {
    let terminals = f64::from(grid.routers()) * f64::from(terminals_per_router);
    let of_dimension = |d: usize| {
        let a = grid.size(d);
        // Sources of each coordinate, and how often a packet goes to one of them.
        let each = terminals / f64::from(a);
        let share = each / destinations.max(1.0);
        let lines = f64::from(grid.routers() / a);
        let mut packing = Packing::new(vec![each * f64::from(nic_ports); a as usize]);
        for (weights, channels) in shared_by_line(grid, routing, d) {
            let weights = weights.into_iter().map(|(from, pairs)| (from, pairs * share)).collect();
            packing.share(weights, channels * lines);
        }
        packing.most_in_all() / terminals
    };
    (0..grid.dims()).map(of_dimension).fold(f64::from(nic_ports), f64::min)
}

/// What the coordinates of one line of dimension `d` share if each sends one flit to every other, and how many channels
/// there are for it: (coordinate, flits over these channels). Where the dimension does not wrap, whatever goes across
/// needs the one channel there.
fn shared_by_line(grid: &Grid, routing: &Routing, d: usize) -> Vec<(Vec<(u32, f64)>, f64)> {
    let a = grid.size(d);
    if !grid.wraps(d) {
        let cuts = (1..a).filter(|&cut| a <= LONGEST_LINE || cut == a / 2);
        let both = |cut: u32| {
            let (below, above) = (f64::from(cut), f64::from(a - cut));
            [(0..cut).map(|from| (from, above)).collect(), (cut..a).map(|from| (from, below)).collect()]
        };
        return cuts.flat_map(both).map(|weights| (weights, 1.0)).collect();
    }
    match routing.fixed_order().filter(|_| a <= LONGEST_LINE) {
        Some(order) => channels_of_ring(grid, order.tie, d).into_iter().map(|weights| (weights, 1.0)).collect(),
        None => {
            let hops = |from: u32| (0..a).map(|to| even::shortest(grid, d, from, to)).sum::<f64>();
            let channels = even::channels(grid)[d] * f64::from(a) / f64::from(grid.routers());
            vec![((0..a).map(|from| (from, hops(from))).collect(), channels)]
        }
    }
}
