//! The load that flows between terminals put on the channels, and how long packets that are known take at least.

use super::least::{LeastLoads, Ties};
use super::loads::LoadAccumulator;
use super::{Bound, Limits, Saturation};
use crate::routing::Routing;
use crate::topology::Fabric;

/// What one terminal sends to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flow {
    /// Source terminal.
    pub from: u32,
    /// Destination terminal.
    pub to: u32,
    /// How much \[flits], in all or a cycle.
    pub flits: f64,
    /// What of it goes in the plus direction of its ties, that is with all random bits 0 \[flits].
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
    /// When the channels saturate.
    pub channels: Saturation,
    /// Most that one terminal sends \[flits].
    pub sent: f64,
    /// Most that one terminal receives \[flits].
    pub received: f64,
}

impl FlowLoads {
    pub(super) fn new(channels: Saturation, ends: Ends) -> Self {
        let most = |of: Vec<f64>| of.into_iter().fold(0.0, f64::max);
        FlowLoads { channels, sent: most(ends.sent), received: most(ends.received) }
    }
}

/// What each terminal sends and receives \[flits].
pub(super) struct Ends {
    sent: Vec<f64>,
    received: Vec<f64>,
}

impl Ends {
    pub fn new(terminals: u32) -> Self {
        Ends { sent: vec![0.0; terminals as usize], received: vec![0.0; terminals as usize] }
    }

    /// The most that a terminal receives.
    fn most_received(&self) -> f64 {
        self.received.iter().copied().fold(0.0, f64::max)
    }

    pub fn add(&mut self, flow: &Flow) {
        self.sent[flow.from as usize] += flow.flits;
        self.received[flow.to as usize] += flow.flits;
    }
}

/// The loads of flows: exact where routes are fixed, but where ties are drawn it is the expectation; what any routing
/// needs where they are not.
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

/// A packet that a terminal sends.
#[derive(Debug, Clone, Copy)]
pub struct Sent {
    /// Cycle of creation.
    pub created: u64,
    /// Destination terminal.
    pub to: u32,
    /// Length \[flits].
    pub flits: u32,
    /// Random bits for ties.
    pub tie_bits: u8,
}

/// Lower bounds on the time of packets that are known, those of each terminal in the order of creation. All of them are
/// one phase.
pub fn packets_bound<P>(fabric: &Fabric, routing: &Routing, packets_of: impl Fn(u32) -> P, ports: u32) -> Bound
where
    P: Iterator<Item = Sent>,
{
    let (mut channels, mut ends) = (LeastLoads::new(fabric, routing), Ends::new(fabric.terminals()));
    let (draws, width) = (LeastLoads::draws(routing), f64::from(ports));
    let mut injection = 0.0f64;
    for from in 0..fabric.terminals() {
        let packets: Vec<Sent> = packets_of(from).collect();
        for &Sent { to, flits, tie_bits, .. } in &packets {
            let length = f64::from(flits);
            ends.add(&Flow::even((from, to, length)));
            let ties = match routing.at_source() {
                _ if routing.splits() => Ties::Halves([f64::from(flits.div_ceil(2)), f64::from(flits / 2)]),
                Some(_) => Ties::Drawn(tie_bits, length),
                None if draws => Ties::Unknown(length),
                None => Ties::Drawn(0, length),
            };
            channels.add(fabric, fabric.end(from), fabric.end(to), ties);
        }
        let lengths = packets.iter().map(|packet| (packet.created, packet.flits));
        injection = injection.max(injection_cycles(lengths, width));
    }
    let channel_load_cycles = channels.cycles();
    let limits = Limits {
        ejection_cycles: ends.most_received() / width,
        injection_cycles: injection,
        channel_load_cycles,
        bisection_cycles: None,
    };
    limits.bound(channel_load_cycles)
}

/// What a terminal needs to send packets: whichever of them one looks at, it and those after it come later and one by
/// one.
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

    /// Yokota et al.'s bursts of 10 packets of 8 flits on the 32 x 32 torus: with ties by parity transpose needs 80 *
    /// 16 cycles for its channels, complement 80 * 8, and both 80 to inject. Where ties are drawn, it depends on the
    /// draw.
    #[test]
    fn a_burst_needs_what_its_busiest_channel_carries() {
        let grid = Grid::torus(&[32, 32]);
        let bound = |tie, to: &dyn Fn(u32) -> u32, created: u64| {
            let (fabric, routing) = dor(&grid, 1, vec![0, 1], tie);
            let packets_of = |from: u32| {
                let packet = move |i| Sent {
                    created: created * i,
                    to: to(from),
                    flits: 8,
                    tie_bits: crate::mix::mix(u64::from(from) << 8 | i) as u8,
                };
                (0..10).filter(move |_| to(from) != from).map(packet)
            };
            packets_bound(&fabric, &routing, packets_of, 1)
        };
        let transpose = |i: u32| i % 32 * 32 + i / 32;
        let fixed = bound(Tie::Parity, &transpose, 0);
        assert_eq!((fixed.channel_load_cycles, fixed.injection_cycles), (80.0 * 16.0, 80.0));
        assert_eq!((fixed.tightest, fixed.tightest_cycles), (Some(Limit::ChannelLoad), 80.0 * 16.0));
        assert_eq!(bound(Tie::Parity, &|i| 1023 - i, 0).tightest_cycles, 640.0);
        let late = bound(Tie::Parity, &|i| 1023 - i, 500);
        assert_eq!((late.tightest, late.tightest_cycles), (Some(Limit::Injection), 4508.0));
        // The expectation is 80 * 15.5: of 10 packets either way some go more often one way.
        let drawn = bound(Tie::Random, &transpose, 0).channel_load_cycles;
        assert!((80.0 * 15.5..=80.0 * 16.0).contains(&drawn), "{drawn}");
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
