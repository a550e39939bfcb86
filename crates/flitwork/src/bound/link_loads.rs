//! The load of every channel under dimension-order routing, in total and phase by phase.
//!
//! Every message is followed along its way: exact on any grid, wrap and placement. At a tie that is drawn by a coin, half of the
//! message is counted each way, which is the expectation. Under the split rule each packet sends its odd flit to plus, as the
//! terminals do.

use super::stretches::Stretches;
use crate::routing::{DimensionOrder, Tie};
use crate::schedule::Schedule;
use crate::topology::{Coords, Grid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Load of the channels of one dimension and direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassLoad {
    /// Dimension.
    pub dimension: usize,
    /// Direction: 1 or -1.
    pub sign: i8,
    /// Load of the most loaded channel [flits].
    pub max_flits: f64,
}

impl ClassLoad {
    /// The classes of the output ports, in their order, given the largest load of each [flits].
    pub(super) fn of_ports(max_flits: impl IntoIterator<Item = f64>) -> Vec<ClassLoad> {
        let class = |(port, max_flits): (usize, f64)| {
            let sign = if port.is_multiple_of(2) { 1 } else { -1 };
            ClassLoad { dimension: port / 2, sign, max_flits }
        };
        max_flits.into_iter().enumerate().map(class).collect()
    }

    /// The largest load of all [flits].
    pub(super) fn largest(classes: &[ClassLoad]) -> f64 {
        classes.iter().map(|c| c.max_flits).fold(0.0, f64::max)
    }
}

/// Loads of one phase: of a group of consecutive message indices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseLoad {
    /// Number of the group: message index / controllers.
    pub group: u32,
    /// Load of the most loaded channel [flits].
    pub max_flits: f64,
    /// The same by dimension and direction, as in [`LinkLoads::classes`] [flits].
    pub class_max_flits: Vec<f64>,
}

/// Loads of all channels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkLoads {
    /// Load of output port `p` of router `r` at index `r * 2 * dims + p`; 0 where there is no channel [flits].
    pub channel_flits: Vec<f64>,
    /// Load of the most loaded channel [flits].
    pub max_flits: f64,
    /// The same by dimension and direction: +x, -x, +y, ...
    pub classes: Vec<ClassLoad>,
    /// Phases in order, if they were asked for.
    pub phases: Vec<PhaseLoad>,
    /// Sum over the phases of [`PhaseLoad::max_flits`], 0 if they were not asked for [flits].
    pub phase_sum_flits: f64,
}

/// The loads of all messages of a schedule; rank `r` is at router `router_of[r]`.
///
/// Messages are sent as packets of at most `packet_flits` flits, 0 for one packet a message; only split ties depend on it.
/// With `group` the loads of each group of that many (at least 1) consecutive message indices are found as well.
pub fn link_loads(
    grid: &Grid,
    routing: &DimensionOrder,
    schedule: &Schedule,
    router_of: &[u32],
    packet_flits: u32,
    group: Option<u32>,
) -> LinkLoads {
    let ports = grid.network_ports();
    let mut walker = Walker::new(grid, routing, packet_flits);
    let mut total = vec![0; walker.changes.len()];
    let mut phases = Vec::new();
    let mut messages: Vec<(u32, u32, u32, u32)> = schedule
        .messages()
        .map(|(from, to, flits, phase)| (phase / group.unwrap_or(1).max(1), from, to, flits))
        .collect();
    if group.is_some() {
        messages.sort_unstable_by_key(|&(phase, from, ..)| (phase, from));
    }
    let same_phase = |a: &(u32, u32, u32, u32), b: &(u32, u32, u32, u32)| group.is_none() || a.0 == b.0;
    for chunk in messages.chunk_by(same_phase) {
        for &(_, from, to, flits) in chunk {
            walker.walk(router_of[from as usize], router_of[to as usize], flits);
        }
        walker.stretches.add_up(&mut walker.changes);
        total.iter_mut().zip(&walker.changes).for_each(|(t, l)| *t += l);
        if group.is_some() {
            let class_max_flits = class_maxima(&walker.changes, ports);
            let max_flits = class_max_flits.iter().copied().fold(0.0, f64::max);
            phases.push(PhaseLoad { group: chunk[0].0, max_flits, class_max_flits });
        }
        walker.changes.fill(0);
    }
    let classes = ClassLoad::of_ports(class_maxima(&total, ports));
    LinkLoads {
        channel_flits: total.iter().map(|&h| flits(h)).collect(),
        max_flits: ClassLoad::largest(&classes),
        classes,
        phase_sum_flits: phases.iter().map(|p| p.max_flits).sum(),
        phases,
    }
}

/// Flits of a number of half flits.
fn flits(halves: i64) -> f64 {
    halves as f64 / 2.0
}

/// Largest load of each output port over all routers [flits].
fn class_maxima(loads: &[i64], ports: usize) -> Vec<f64> {
    let mut maxima = vec![0; ports];
    for router in loads.chunks(ports) {
        maxima.iter_mut().zip(router).for_each(|(m, l)| *m = (*l).max(*m));
    }
    maxima.into_iter().map(flits).collect()
}

/// Adds messages to the channels on their way.
struct Walker<'a> {
    grid: &'a Grid,
    routing: &'a DimensionOrder,
    /// Longest packet, 0 for the whole message [flits].
    packet_flits: u32,
    coords: Vec<Coords>,
    stretches: Stretches,
    /// Changes of the loads of channels [half flits].
    changes: Vec<i64>,
}

impl<'a> Walker<'a> {
    fn new(grid: &'a Grid, routing: &'a DimensionOrder, packet_flits: u32) -> Self {
        Walker {
            grid,
            routing,
            packet_flits,
            coords: (0..grid.routers()).map(|r| grid.coords(r)).collect(),
            stretches: Stretches::new(grid),
            changes: vec![0; grid.routers() as usize * grid.network_ports()],
        }
    }

    fn walk(&mut self, src: u32, dst: u32, flits: u32) {
        let (from, to) = (self.coords[src as usize], self.coords[dst as usize]);
        // The two outcomes of every coin: they differ in the dimensions that are tied and left to chance or split.
        let heads = self.routing.header(self.grid, &from, &to, 0).minus;
        let tails = self.routing.header(self.grid, &from, &to, u8::MAX).minus;
        let shares = self.shares(flits);
        let mut at = src;
        for i in 0..self.routing.order.len() {
            let d = self.routing.order[i];
            let mut end = at;
            for (header, halves) in [heads, tails].into_iter().zip(shares) {
                let way = (d, header >> d & 1 == 1);
                end = self.stretches.add(&mut self.changes, at, way, (from[d], to[d]), halves);
            }
            at = end;
        }
    }

    /// What goes with all coins 0 and all coins 1 [half flits].
    fn shares(&self, flits: u32) -> [i64; 2] {
        let flits = i64::from(flits);
        if self.routing.tie != Tie::Split {
            return [flits; 2];
        }
        let packet = if self.packet_flits == 0 { flits.max(1) } else { i64::from(self.packet_flits) };
        // The larger half of each packet goes with coins 0.
        let heads = flits / packet * ((packet + 1) / 2) + (flits % packet + 1) / 2;
        [2 * heads, 2 * (flits - heads)]
    }
}
