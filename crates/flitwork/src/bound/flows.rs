//! The load that flows between terminals put on the channels, and how long a burst of traffic takes at least.

use super::loads::LoadAccumulator;
use super::{Bound, ChannelClassLoad, Limits, Saturation};
use crate::routing::Routing;
use crate::topology::Fabric;

/// What one terminal sends to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flow {
    /// Source terminal.
    pub from: u32,
    /// Destination terminal.
    pub to: u32,
    /// How much [flits], in all or a cycle.
    pub flits: f64,
    /// What of it goes in the plus direction of its ties, that is with all random bits 0 [flits].
    pub plus_flits: f64,
}

impl Flow {
    /// A flow of which half goes in either direction of a tie.
    pub fn even((from, to, flits): (u32, u32, f64)) -> Self {
        Flow { from, to, flits, plus_flits: flits / 2.0 }
    }
}

/// The loads of some flows.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowLoads {
    /// Of the channels.
    pub channels: Saturation,
    /// Most that one terminal sends [flits].
    pub sent: f64,
    /// Most that one terminal receives [flits].
    pub received: f64,
}

impl FlowLoads {
    pub(super) fn new(channels: Saturation, ends: Ends) -> Self {
        let most = |of: Vec<f64>| of.into_iter().fold(0.0, f64::max);
        FlowLoads { channels, sent: most(ends.sent), received: most(ends.received) }
    }
}

/// What each terminal sends and receives [flits].
pub(super) struct Ends {
    sent: Vec<f64>,
    received: Vec<f64>,
}

impl Ends {
    pub fn new(terminals: u32) -> Self {
        Ends { sent: vec![0.0; terminals as usize], received: vec![0.0; terminals as usize] }
    }

    pub fn add(&mut self, flow: &Flow) {
        self.sent[flow.from as usize] += flow.flits;
        self.received[flow.to as usize] += flow.flits;
    }
}

/// The loads of flows: exact where routes are fixed, but where ties are drawn it is the expectation; what any routing needs where
/// they are not.
pub fn flow_loads(fabric: &Fabric, routing: &Routing, flows: impl IntoIterator<Item = Flow>) -> FlowLoads {
    let mut loads = LoadAccumulator::new(fabric, routing);
    let mut ends = Ends::new(fabric.terminals());
    for flow in flows {
        ends.add(&flow);
        loads.add(fabric.end(flow.from), fabric.end(flow.to), [flow.plus_flits, flow.flits - flow.plus_flits]);
    }
    loads.end_phase();
    FlowLoads::new(Saturation::of(loads.classes()), ends)
}

/// What every terminal sends in a burst.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrafficNeeds {
    /// Flits of a terminal that sends.
    pub flits: f64,
    /// Largest sum of shares of the terminals' flits that one terminal receives.
    pub largest_received_share: f64,
    /// Cycle in which the last packet of a terminal is created [cycles].
    pub last_creation_cycles: f64,
}

/// Lower bounds on the time of a burst, given the loads of the channels at 1 flit/cycle/terminal. A burst is one phase.
pub fn traffic_bound(channels: &Saturation, needs: &TrafficNeeds, ports: u32) -> Bound {
    let width = f64::from(ports);
    let channel_load_cycles = needs.flits * ChannelClassLoad::largest(&channels.classes);
    let limits = Limits {
        ejection_cycles: needs.flits * needs.largest_received_share / width,
        injection_cycles: (needs.flits / width).max(needs.last_creation_cycles),
        channel_load_cycles,
        bisection_cycles: None,
    };
    limits.bound(channel_load_cycles)
}

/// Lower bounds on the time of given packets: (cycle of creation, flits) of each terminal in the order of creation, and the loads
/// that they put on channels and terminals in all.
pub fn trace_bound<P>(loads: &FlowLoads, sources: impl Iterator<Item = P>, ports: u32) -> Bound
where
    P: DoubleEndedIterator<Item = (u64, u32)>,
{
    let width = f64::from(ports);
    let channel_load_cycles = ChannelClassLoad::largest(&loads.channels.classes);
    let limits = Limits {
        ejection_cycles: loads.received / width,
        injection_cycles: sources.map(|packets| injection_cycles(packets, width)).fold(0.0, f64::max),
        channel_load_cycles,
        bisection_cycles: None,
    };
    limits.bound(channel_load_cycles)
}

/// What a terminal needs to send packets: whichever of them one looks at, it and those after it come later and one by one.
fn injection_cycles(packets: impl DoubleEndedIterator<Item = (u64, u32)>, width: f64) -> f64 {
    let (mut flits, mut cycles) = (0.0, 0.0f64);
    for (created, length) in packets.rev() {
        flits += f64::from(length);
        cycles = cycles.max(created as f64 + (flits / width).max(f64::from(length)));
    }
    cycles
}

#[cfg(test)]
mod tests {
    use super::super::Limit;
    use super::super::tests::dor;
    use super::*;
    use crate::routing::{DimensionOrder, Tie};
    use crate::topology::Grid;

    fn limit(grid: &Grid, to: impl Fn(u32) -> u32) -> f64 {
        let (fabric, routing) = dor(grid, 1, (0..grid.dims()).collect(), Tie::Parity);
        let flows: Vec<_> = (0..grid.routers()).map(|from| Flow::even((from, to(from), 1.0))).collect();
        flow_loads(&fabric, &routing, flows).channels.load_flits_per_cycle
    }

    /// Dimension order on the 32 x 32 torus: transpose saturates at 1 / 16 with ties by
    /// parity (0.25 of 8 / N; with random bits it is 1 / 15.5), complement at 1 / 8 (Yokota et
    /// al.'s figure 9b shows saturation between 0.2 and 0.5 of 8 / N).
    #[test]
    fn permutations_saturate_where_the_channel_loads_say() {
        let grid = Grid::torus(&[32, 32]);
        assert_eq!(1.0 / limit(&grid, |i| i % 32 * 32 + i / 32), 16.0);
        assert_eq!(1.0 / limit(&grid, |i| 1023 - i), 8.0);
    }

    /// Loads are added up along rows; here each route is walked channel by channel instead.
    #[test]
    fn stretches_tell_the_same_as_whole_ways() {
        let sizes = [&[7][..], &[2, 3], &[4, 5], &[3, 1, 4], &[2, 2, 3]];
        let ties = [Tie::Plus, Tie::Parity, Tie::Random];
        for (grid, tie) in
            sizes.iter().flat_map(|s| [Grid::mesh(s), Grid::torus(s)]).flat_map(|g| ties.map(|t| (g.clone(), t)))
        {
            let routing = DimensionOrder { order: (0..grid.dims()).rev().collect(), tie };
            let terminals = 2 * grid.routers();
            let flows: Vec<_> = (0..terminals)
                .flat_map(|s| [(s, (3 * s + 1) % terminals, 0.7), (s, s / 3, 0.3)])
                .map(Flow::even)
                .collect();
            let mut loads = vec![0.0; grid.routers() as usize * grid.network_ports()];
            for &Flow { from, to, flits, .. } in &flows {
                let (src, dst) = (grid.coords(from / 2), grid.coords(to / 2));
                for bits in [0, !0] {
                    for (router, port, _) in routing.path(&grid, &src, &dst, routing.header(&grid, &src, &dst, bits)) {
                        loads[router as usize * grid.network_ports() + port] += flits / 2.0;
                    }
                }
            }
            let (fabric, routing) = dor(&grid, 2, routing.order, tie);
            for (port, class) in flow_loads(&fabric, &routing, flows).channels.classes.iter().enumerate() {
                let want = loads.iter().skip(port).step_by(grid.network_ports()).copied().fold(0.0, f64::max);
                assert!((class.max_flits - want).abs() < 1e-12, "{grid:?} {tie:?} {class:?}: {want}");
            }
        }
    }

    /// Yokota et al.'s bursts of 10 packets of 8 flits on the 32 x 32 torus: transpose needs 80 * 15.5 cycles for its
    /// channels, complement 80 * 8, and both 80 to inject.
    #[test]
    fn a_burst_needs_what_its_busiest_channel_carries() {
        let grid = Grid::torus(&[32, 32]);
        let (fabric, routing) = dor(&grid, 1, vec![0, 1], Tie::Random);
        let bound = |to: &dyn Fn(u32) -> u32, last_creation_cycles: f64| {
            let flows = (0..1024).map(|from| (from, to(from), 1.0)).filter(|f| f.0 != f.1).map(Flow::even);
            let loads = flow_loads(&fabric, &routing, flows);
            let largest_received_share = loads.received;
            let needs = TrafficNeeds { flits: 80.0, largest_received_share, last_creation_cycles };
            traffic_bound(&loads.channels, &needs, 1)
        };
        let transpose = bound(&|i| i % 32 * 32 + i / 32, 0.0);
        assert_eq!((transpose.channel_load_cycles, transpose.injection_cycles), (80.0 * 15.5, 80.0));
        assert_eq!((transpose.tightest, transpose.tightest_cycles), (Some(Limit::ChannelLoad), 80.0 * 15.5));
        assert_eq!(bound(&|i| 1023 - i, 0.0).tightest_cycles, 640.0);
        assert_eq!(bound(&|i| 1023 - i, 5000.0).tightest, Some(Limit::Injection));
    }

    #[test]
    fn a_hot_terminal_receives_everything() {
        let grid = Grid::mesh(&[4]);
        let (fabric, routing) = dor(&grid, 1, vec![0], Tie::Plus);
        let flows: Vec<_> = (0..4).map(|from| Flow::even((from, 0, 1.0))).collect();
        let loads = flow_loads(&fabric, &routing, flows);
        assert_eq!((loads.channels.load_flits_per_cycle, loads.sent, loads.received), (1.0 / 3.0, 1.0, 4.0));
    }

    /// Packets of 4 flits: three in cycle 0, and one long after them, or in the middle of them.
    #[test]
    fn packets_cannot_leave_before_they_are_created() {
        let cycles = |packets: &[(u64, u32)], width| injection_cycles(packets.iter().copied(), width);
        assert_eq!(cycles(&[(0, 4), (0, 4), (0, 4)], 1.0), 12.0);
        assert_eq!(cycles(&[(0, 4), (0, 4), (0, 4), (100, 4)], 1.0), 104.0);
        assert_eq!(cycles(&[(0, 4), (0, 4), (7, 4), (8, 4)], 1.0), 16.0);
        assert_eq!(cycles(&[(0, 4), (0, 4), (7, 4), (8, 4)], 2.0), 12.0);
        assert_eq!(cycles(&[], 1.0), 0.0);
    }

    /// Half a ring of 4: of packets of 3 flits two go with the random bits 0, to plus.
    #[test]
    fn the_larger_halves_of_packets_go_to_plus() {
        let grid = Grid::torus(&[4]);
        let flow = Flow { from: 0, to: 2, flits: 3.0, plus_flits: 2.0 };
        for (tie, loads) in [(Tie::Split, [2.0, 1.0]), (Tie::Random, [2.0, 1.0]), (Tie::Plus, [3.0, 0.0])] {
            let (fabric, routing) = dor(&grid, 1, vec![0], tie);
            let found = flow_loads(&fabric, &routing, [flow]).channels.classes;
            assert_eq!(found.iter().map(|c| c.max_flits).collect::<Vec<_>>(), loads, "{tie:?}");
        }
    }
}
