//! What messages put on channels: one implementation for schedules, traffic and traces.
//!
//! Messages are added one by one; how each is spread over the channels depends on what is known of its route:
//! * Dimension order on a grid walks straight stretches, which are added up at the end ([`Stretches`]).
//! * Under any routing that leaves no choice of ports the route is walked channel by channel.
//! * Under an adaptive routing nobody knows before the run. What it needs at least is spread evenly: a packet whose
//!   source and destination lie `h` hops apart in a dimension of a grid crosses at least `h` channels of it, whatever
//!   route it takes, so the sum over all packets, divided by the number of channels of the dimension, bounds the load
//!   of the most loaded channel. In a fat tree the same holds of the channels up from each subtree, and of those down
//!   to it; of any other network of all channels together.

use super::stretches::Stretches;
use super::{ChannelClassLoad, even};
use crate::routing::{DimensionOrder, Routing};
use crate::topology::{Coords, End, Fabric, Grid};

/// The loads of messages.
pub(crate) struct LoadAccumulator<'a> {
    fabric: &'a Fabric,
    spread: Spread<'a>,
    /// Of this phase, and of all before \[flits]: by `router * ports + port`; where loads are even, flits times hops of
    /// each group of channels.
    now: Vec<f64>,
    before: Vec<f64>,
}

/// How messages are spread over channels.
enum Spread<'a> {
    Straight { grid: &'a Grid, order: &'a DimensionOrder, coords: Vec<Coords>, stretches: Stretches },
    Walked(&'a Routing),
    Even(even::Groups<'a>),
}

impl<'a> LoadAccumulator<'a> {
    /// Loads of no messages yet.
    pub fn new(fabric: &'a Fabric, routing: &'a Routing) -> Self {
        let channels = fabric.routers() as usize * fabric.network_ports();
        let spread = match (fabric.grid(), routing.fixed_order()) {
            (Some(grid), Some(order)) => {
                let coords = (0..grid.routers()).map(|r| grid.coords(r)).collect();
                Spread::Straight { grid, order, coords, stretches: Stretches::new(grid) }
            }
            _ if routing.is_fixed() => return LoadAccumulator::walked(fabric, routing),
            _ => return LoadAccumulator::even(fabric),
        };
        LoadAccumulator { fabric, spread, now: vec![0.0; channels], before: vec![0.0; channels] }
    }

    /// Loads of no messages yet; each message will be followed along its route, hop by hop.
    pub fn walked(fabric: &'a Fabric, routing: &'a Routing) -> Self {
        let channels = fabric.routers() as usize * fabric.network_ports();
        let (now, before) = (vec![0.0; channels], vec![0.0; channels]);
        LoadAccumulator { fabric, spread: Spread::Walked(routing), now, before }
    }

    /// Loads of no messages yet, where messages may take any route.
    pub fn even(fabric: &'a Fabric) -> Self {
        let groups = even::Groups::new(fabric);
        let (now, before) = (vec![0.0; groups.len()], vec![0.0; groups.len()]);
        LoadAccumulator { fabric, spread: Spread::Even(groups), now, before }
    }

    /// Adds what goes from `src` to `dst` with all random bits 0, and with all of them 1 \[flits].
    pub fn add(&mut self, from: End, to: End, [zeros, ones]: [f64; 2]) {
        if let Spread::Straight { grid, order, coords, .. } = &self.spread {
            let [src, dst] = [from, to].map(|end| &coords[end.router as usize]);
            if order.header(grid, src, dst, 0) == order.header(grid, src, dst, u8::MAX) {
                return self.add_with(from, to, 0, zeros + ones);
            }
        }
        for (bits, flits) in [(0, zeros), (u64::MAX, ones)].into_iter().filter(|part| part.1 != 0.0) {
            self.add_with(from, to, bits, flits);
        }
    }

    /// Adds what goes from `src` to `dst` with these random bits \[flits].
    pub fn add_with(&mut self, from: End, to: End, bits: u64, flits: f64) {
        let (src, dst) = (from.router, to.router);
        match &mut self.spread {
            Spread::Straight { grid, order, coords, .. } => {
                let minus = order.header(grid, &coords[src as usize], &coords[dst as usize], bits as u8).minus;
                self.add_straight(src, dst, minus, |_| flits);
            }
            Spread::Walked(routing) => {
                for (router, port, _) in routing.path(self.fabric, from, to, bits) {
                    self.now[router as usize * self.fabric.network_ports() + port] += flits;
                }
            }
            Spread::Even(groups) => groups.add(&mut self.now, src, dst, flits),
        }
    }

    /// Adds the part of a route from `src` to `dst` that all random bits have in common \[flits].
    pub fn add_common(&mut self, from: End, to: End, flits: f64) {
        let Spread::Straight { grid, order, coords, .. } = &self.spread else {
            return self.add_with(from, to, 0, flits);
        };
        let header = |bits| order.header(grid, &coords[from.router as usize], &coords[to.router as usize], bits).minus;
        let (zeros, ones) = (header(0), header(u8::MAX));
        self.add_straight(from.router, to.router, zeros, |d| if (zeros ^ ones) >> d & 1 == 1 { 0.0 } else { flits });
    }

    /// Adds a stretch for each dimension, towards minus where its bit is set.
    fn add_straight(&mut self, src: u32, dst: u32, minus: u8, flits: impl Fn(usize) -> f64) {
        let Spread::Straight { order, coords, stretches, .. } = &self.spread else { return };
        let (from, to, mut at) = (&coords[src as usize], &coords[dst as usize], src);
        for &d in &order.order {
            let direction = (d, minus >> d & 1 == 1);
            at = stretches.add(&mut self.now, at, direction, (from[d], to[d]), flits(d));
        }
    }

    /// The cycles that the channels need at least for all phases that have ended: a slow one carries its last flit in
    /// one.
    pub fn least_cycles(&self) -> f64 {
        let ports = self.fabric.network_ports();
        let of_channel = |(place, &flits): (usize, &f64)| {
            let cycles = self.fabric.cycles_per_flit((place / ports) as u32, place % ports);
            // A mean below 1 is that of none and one.
            flits.min(1.0) + (flits - 1.0).max(0.0) * f64::from(cycles)
        };
        match &self.spread {
            Spread::Even(groups) => groups.least_cycles(&self.before),
            _ => self.before.iter().enumerate().map(of_channel).fold(0.0, f64::max),
        }
    }

    /// The end of a phase: the largest load of each class of channels in it \[flits].
    pub fn end_phase(&mut self) -> Vec<f64> {
        if let Spread::Straight { stretches, .. } = &self.spread {
            stretches.add_up(&mut self.now);
        }
        let largest = self.class_maxima(&self.now);
        self.before.iter_mut().zip(&self.now).for_each(|(before, now)| *before += now);
        self.now.fill(0.0);
        largest
    }

    /// The largest load of each class over all phases that have ended [flits; on a slow channel times its cycles a
    /// flit].
    pub fn classes(&self) -> Vec<ChannelClassLoad> {
        let loads = self.class_maxima(&self.before);
        let named = self.fabric.classes().iter().zip(loads);
        named.map(|(class, max_flits)| ChannelClassLoad { class: class.clone(), max_flits }).collect()
    }

    /// The load of each channel over all phases that have ended, by `router * ports + port` \[flits].
    pub fn channel_flits(&self) -> Vec<f64> {
        match &self.spread {
            Spread::Even(groups) => groups.channel_flits(&self.before),
            Spread::Straight { .. } | Spread::Walked(_) => self.before.clone(),
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
                let cycles = f64::from(self.fabric.cycles_per_flit(router as u32, port));
                *class = class.max(load * cycles);
            }
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::dor;
    use super::*;
    use crate::routing::{DimensionOrder, Tie};
    use crate::topology::{Channel, Graph};
    use proptest::prelude::*;

    /// Whichever terminal of a router.
    fn end(router: u32) -> End {
        End { router, terminal: 0 }
    }

    /// The loads of all channels and of the classes in two phases.
    fn loads(mut of: LoadAccumulator, messages: &[(u32, u32, u32)]) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let (first, second) = messages.split_at(messages.len() / 2);
        let mut phase = |part: &[(u32, u32, u32)]| {
            part.iter()
                .for_each(|&(src, dst, flits)| of.add(end(src), end(dst), [f64::from(flits), f64::from(flits / 2)]));
            of.end_phase()
        };
        let phases = (phase(first), phase(second));
        (of.channel_flits(), phases.0, phases.1)
    }

    proptest! {
        /// Straight stretches tell the same as whole routes, channel by channel.
        #[test]
        fn stretches_agree_with_routes(
            sizes in proptest::collection::vec(1u32..6, 1..=3),
            wraps in 0u32..8,
            single in any::<bool>(),
            tie in prop_oneof![Just(Tie::Plus), Just(Tie::Parity), Just(Tie::Random), Just(Tie::Split)],
            turn in 0usize..3,
            messages in proptest::collection::vec((0u32..1000, 0u32..1000, 1u32..9), 1..40),
        ) {
            let wrap: Vec<bool> = (0..sizes.len()).map(|d| wraps >> d & 1 == 1).collect();
            let grid = Grid::new(&sizes, &wrap, single);
            let mut order: Vec<usize> = (0..sizes.len()).collect();
            order.rotate_left(turn % sizes.len());
            let (fabric, routing) = dor(&grid, 1, order, tie);
            let n = grid.routers();
            let messages: Vec<_> = messages.into_iter().map(|(s, t, flits)| (s % n, t % n, flits)).collect();
            let fast = loads(LoadAccumulator::new(&fabric, &routing), &messages);
            let general = loads(LoadAccumulator::walked(&fabric, &routing), &messages);
            prop_assert_eq!(fast, general);
        }
    }

    /// A tree of a root and three leaves: what one leaf sends to the others goes through its channel to the root.
    #[test]
    fn any_network_has_loads_under_a_fixed_routing() {
        let cables = (1..4u32).flat_map(|leaf| Channel::cable((leaf, 0), (0, leaf as usize - 1), 0)).collect();
        let graph =
            Graph { terminals: vec![0, 2, 1, 1], channels: cables, classes: vec!["tree".into()], drawing: None };
        let fabric = Fabric::of_graph(&graph).unwrap();
        let routing = Routing::HopByHop(std::sync::Arc::new(crate::routing::PortTable::shortest(&fabric)));
        let mut loads = LoadAccumulator::new(&fabric, &routing);
        for (src, dst) in [(1, 2), (1, 3), (2, 3)] {
            loads.add(end(src), end(dst), [2.0, 1.0]);
        }
        assert_eq!(loads.end_phase(), [6.0]);
        let flits = loads.channel_flits();
        assert_eq!((flits[3], flits[6], flits[1], flits[2]), (6.0, 3.0, 3.0, 6.0));
        let uniform = super::super::uniform_saturation(&fabric, &routing, false);
        // The two terminals of the first leaf send 4 of 3 destinations' shares to the others.
        assert!((uniform.load_flits_per_cycle - 3.0 / 4.0).abs() < 1e-12);
    }

    /// What any routing needs is no more than what one of them puts on its busiest channel.
    #[test]
    fn even_loads_are_a_lower_bound() {
        let grid = Grid::torus(&[4, 4]);
        let order = DimensionOrder { order: vec![0, 1], tie: Tie::Plus };
        let (fabric, fixed) = dor(&grid, 1, order.order, order.tie);
        let (_, free) = super::super::tests::adaptive(grid, 1);
        let busiest = |routing: &Routing| {
            let mut loads = LoadAccumulator::new(&fabric, routing);
            (0..16).for_each(|src| loads.add(end(src), end((src * 5 + 3) % 16), [1.0, 1.0]));
            loads.end_phase().into_iter().fold(0.0, f64::max)
        };
        assert!(busiest(&free) <= busiest(&fixed) && busiest(&free) > 0.0);
    }
}
