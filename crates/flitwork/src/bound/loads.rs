//! What messages put on channels: one implementation for schedules, traffic and traces.
//!
//! Messages are added one by one; how each is spread over the channels depends on what is known of its route:
//! * Dimension order on a grid walks straight stretches, which are added up at the end ([`Stretches`]).
//! * Under any routing that leaves no choice of ports the route is walked channel by channel.
//! * Under an adaptive routing nobody knows before the run. What it needs at least is spread evenly: a packet whose source and
//!   destination lie `h` hops apart in a dimension of a grid crosses at least `h` channels of it, whatever route it takes, so the
//!   sum over all packets, divided by the number of channels of the dimension, bounds the load of the most loaded channel.
//!   Where there are no dimensions, the same holds of all channels together.

use super::stretches::Stretches;
use super::{ClassLoad, even};
use crate::routing::{DimensionOrder, Routing};
use crate::topology::{Coords, Fabric, Grid};

/// The loads of messages.
pub(super) struct ChannelLoads<'a> {
    fabric: &'a Fabric,
    spread: Spread<'a>,
    /// Of this phase, and of all before [flits]: by `router * ports + port`; where loads are even, flits times hops of each group of
    /// channels.
    now: Vec<f64>,
    before: Vec<f64>,
}

/// How messages are spread over channels.
enum Spread<'a> {
    Straight { grid: &'a Grid, order: &'a DimensionOrder, coords: Vec<Coords>, stretches: Stretches },
    Even(even::Groups<'a>),
}

impl<'a> ChannelLoads<'a> {
    /// Of no messages.
    pub fn new(fabric: &'a Fabric, routing: &'a Routing) -> Self {
        let channels = fabric.routers() as usize * fabric.network_ports();
        let (spread, entries) = match (fabric.grid(), routing.fixed_way()) {
            (Some(grid), Some(order)) => {
                let coords = (0..grid.routers()).map(|r| grid.coords(r)).collect();
                (Spread::Straight { grid, order, coords, stretches: Stretches::new(grid) }, channels)
            }
            _ => {
                let groups = even::Groups::new(fabric);
                let entries = groups.len();
                (Spread::Even(groups), entries)
            }
        };
        ChannelLoads { fabric, spread, now: vec![0.0; entries], before: vec![0.0; entries] }
    }

    /// Adds what goes from router `src` to `dst` with all random bits 0, and with all of them 1 [flits].
    pub fn add(&mut self, src: u32, dst: u32, [zeros, ones]: [f64; 2]) {
        match &mut self.spread {
            Spread::Straight { grid, order, coords, stretches } => {
                let (from, to) = (&coords[src as usize], &coords[dst as usize]);
                let header = order.header(grid, from, to, 0).minus;
                let other = order.header(grid, from, to, u8::MAX).minus;
                let parts = if header == other {
                    [(header, zeros + ones), (other, 0.0)]
                } else {
                    [(header, zeros), (other, ones)]
                };
                for (minus, flits) in parts.into_iter().filter(|part| part.1 != 0.0) {
                    let mut at = src;
                    for &d in &order.order {
                        let direction = (d, minus >> d & 1 == 1);
                        at = stretches.add(&mut self.now, at, direction, (from[d], to[d]), flits);
                    }
                }
            }
            Spread::Even(groups) => groups.add(&mut self.now, src, dst, zeros + ones),
        }
    }

    /// The end of a phase: the largest load of each class of channels in it [flits].
    pub fn end_phase(&mut self) -> Vec<f64> {
        if let Spread::Straight { stretches, .. } = &self.spread {
            stretches.add_up(&mut self.now);
        }
        let largest = self.class_maxima(&self.now);
        self.before.iter_mut().zip(&self.now).for_each(|(before, now)| *before += now);
        self.now.fill(0.0);
        largest
    }

    /// The largest load of each class over all phases that have ended [flits].
    pub fn classes(&self) -> Vec<ClassLoad> {
        let loads = self.class_maxima(&self.before);
        let named = self.fabric.classes().iter().zip(loads);
        named.map(|(class, max_flits)| ClassLoad { class: class.clone(), max_flits }).collect()
    }

    /// The load of each channel over all phases that have ended, by `router * ports + port` [flits].
    pub fn channel_flits(&self) -> Vec<f64> {
        match &self.spread {
            Spread::Even(groups) => groups.channel_flits(&self.before),
            Spread::Straight { .. } => self.before.clone(),
        }
    }

    fn class_maxima(&self, loads: &[f64]) -> Vec<f64> {
        if let Spread::Even(groups) = &self.spread {
            return groups.class_loads(loads);
        }
        let mut largest = vec![0.0f64; self.fabric.classes().len()];
        let ports = self.fabric.network_ports();
        for (router, loads) in loads.chunks(ports.max(1)).enumerate() {
            for (port, &load) in loads.iter().enumerate() {
                let class = &mut largest[self.fabric.class_of(router as u32, port)];
                *class = load.max(*class);
            }
        }
        largest
    }
}
