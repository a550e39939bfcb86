//! Random small networks with every option of the model, for the property tests.

use super::random::mix;
use flitwork::collective::Sync;
use flitwork::routing::{DatelineClasses, DimensionOrderOptions, Tie};
use flitwork::spec::{
    AllocatorKind, AllocatorSpec, ArbiterKind, ChannelSpec, CompatSpec, EjectionPort, InjectionPriority, InjectionVc,
    IterationCount, NetworkSpec, NicSpec, PacingSpec, Pipeline, ProcessSpec, Ring2, RouterSpec, RoutingSpec,
    ServiceLevel, SourceQueue, Switching, TopologySpec, UnitsSpec, VcPolicy, WorkloadSpec,
};
use flitwork::topology::{Fabric, Mesh, MixedGrid, Torus, Without};
use flitwork::traffic::pattern::{Hotspot, RandomPermutation, RandomSelection, Uniform, Weights};
use flitwork::traffic::{Attached, Matrix, PacketFlits, PacketShare, Pattern, Table, Trace, TraceColumns};
use proptest::prelude::*;
use std::sync::Arc;

/// What is simulated.
#[derive(Debug, Clone)]
pub struct Case {
    pub network: NetworkSpec,
    pub workload: WorkloadSpec,
    pub background: Option<WorkloadSpec>,
}

pub mod any_network;
pub mod hop_by_hop;
mod hosts;
pub mod on_bus;
pub mod programs;
pub mod trees;

/// A topology and its number of terminals.
fn topology(
    size: impl Strategy<Value = Vec<u32>>,
    most_terminals: u32,
    most_concentration: u32,
) -> impl Strategy<Value = (TopologySpec, u32, bool)> {
    let wrap = prop::collection::vec(any::<bool>(), 4);
    let ring2 = prop_oneof![Just(Ring2::Double), Just(Ring2::Single)];
    (size, wrap, ring2, 1..=most_concentration, 0..3)
        .prop_map(|(size, mut wrap, ring2, terminals_per_router, kind)| {
            let terminals = size.iter().product::<u32>() * terminals_per_router;
            wrap.truncate(size.len());
            let topology = match kind {
                0 => TopologySpec::Torus(Torus { size, ring2, terminals_per_router }),
                1 => TopologySpec::Mesh(Mesh { size, terminals_per_router }),
                _ => TopologySpec::Grid(MixedGrid { size, wrap, ring2, terminals_per_router }),
            };
            let wraps = rings(&topology) > 0;
            (topology, terminals, wraps)
        })
        .prop_filter("too many terminals", move |t| (2..=most_terminals).contains(&t.1))
}

fn sizes(topology: &TopologySpec) -> Vec<u32> {
    topology.fabric().expect("a case is valid").grid().expect("a case is a grid").sizes().to_vec()
}

/// Wrapped dimensions that have a channel.
fn rings(topology: &TopologySpec) -> u32 {
    let fabric = topology.fabric().expect("a case is valid");
    let grid = fabric.grid().expect("a case is a grid");
    (0..grid.dims()).filter(|&d| grid.wraps(d) && grid.size(d) > 1).count() as u32
}

fn allocator() -> impl Strategy<Value = AllocatorSpec> {
    let kind = prop_oneof![
        Just(AllocatorKind::Islip),
        Just(AllocatorKind::SeparableInputFirst),
        Just(AllocatorKind::SeparableOutputFirst),
        Just(AllocatorKind::Wavefront),
    ];
    let arbiter = prop::sample::select(ArbiterKind::ALL);
    (kind, 1..=4u32, arbiter).prop_map(|(kind, iterations, arbiter)| match kind {
        AllocatorKind::Islip => {
            AllocatorSpec { kind, iterations: IterationCount(iterations), arbiter: ArbiterKind::RoundRobin }
        }
        // A wavefront has no arbiters that could be matrices.
        AllocatorKind::Wavefront if arbiter == ArbiterKind::Matrix => {
            AllocatorSpec { kind, iterations: IterationCount(1), arbiter: ArbiterKind::RoundRobin }
        }
        _ => AllocatorSpec { kind, iterations: IterationCount(1), arbiter },
    })
}

/// A small number, mostly 0.
fn delay(most: u32) -> impl Strategy<Value = u32> {
    prop_oneof![2 => Just(0), 3 => 0..=most]
}

/// A router without its numbers of VCs.
fn router() -> impl Strategy<Value = RouterSpec> {
    let policy = prop_oneof![
        6 => Just(VcPolicy::Dateline),
        1 => Just(VcPolicy::Destination),
        1 => Just(VcPolicy::ServiceLevel),
        1 => Just(VcPolicy::VirtualOutputQueues),
    ];
    let lanes = prop::collection::vec(0..4u32, 1..=6);
    let switching = prop_oneof![2 => Just(Switching::Wormhole), 1 => Just(Switching::VirtualCutThrough)];
    let speedup = prop_oneof![2 => Just(1u32), 1 => 1..=3u32];
    let rarely = || prop::bool::weighted(0.3);
    (
        (1..=6u32, policy, 1..=12u32, switching, allocator(), allocator(), lanes),
        (rarely(), rarely(), rarely(), rarely(), speedup.clone(), speedup, rarely(), any::<bool>(), rarely(), rarely()),
        (delay(3), delay(3), 1..=3u32, delay(3)),
        (rarely(), rarely(), prop_oneof![3 => Just(0), 2 => 1..=12u32], rarely()),
    )
        .prop_map(|(a, b, c, d)| RouterSpec {
            vcs: a.0,
            vc_policy: a.1,
            sl_to_vl: if a.1 == VcPolicy::ServiceLevel { a.6 } else { vec![] },
            buffer_flits: a.2,
            shared_buffer_flits: d.2,
            switching: a.3,
            vc_allocator: a.4,
            sw_allocator: a.5,
            injection_priority: if d.0 { InjectionPriority::Last } else { InjectionPriority::Equal },
            hold_switch_for_packet: b.0,
            hold_switch_until_tail: d.1 && a.3 == Switching::VirtualCutThrough,
            speculative: b.1,
            wait_for_tail_credit: b.2,
            vc_busy_when_full: b.3,
            input_speedup: b.4,
            output_speedup: b.5,
            pipeline: if d.3 { Pipeline::Pipelined } else { Pipeline::AtFront },
            routing_delay_cycles: c.0,
            vc_alloc_delay_cycles: c.1,
            sw_alloc_delay_cycles: c.2,
            st_delay_cycles: c.3,
            compat: CompatSpec {
                shared_middle_vc: b.7,
                pipelined_stages: !b.6 || d.3,
                opposite_minus_class: b.8,
                late_receives: b.9,
                ..CompatSpec::default()
            },
        })
}

fn nic() -> impl Strategy<Value = NicSpec> {
    let injection_vc = prop_oneof![Just(InjectionVc::Emptiest), Just(InjectionVc::RoundRobin)];
    let ejection_port =
        prop_oneof![Just(EjectionPort::Any), Just(EjectionPort::SamePort), Just(EjectionPort::BySource)];
    let source_queue = prop_oneof![Just(SourceQueue::Fifo), Just(SourceQueue::Alternate)];
    let gap = prop_oneof![3 => Just(0), 1 => 1..=9u32];
    let vcs = prop_oneof![3 => Just(vec![]), 1 => prop::sample::subsequence(vec![0, 1, 2, 3], 1..=2)];
    (1..=3u32, injection_vc, vcs, ejection_port, gap, source_queue).prop_map(
        |(ports, injection_vc, injection_vcs, ejection_port, packet_gap_cycles, source_queue)| NicSpec {
            injection_vcs,
            ports,
            injection_vc,
            ejection_port,
            packet_gap_cycles,
            pacing: PacingSpec::default(),
            source_queue,
            service: Default::default(),
            service_level: Default::default(),
        },
    )
}

/// As many VCs as the policy needs; where these are more than the oracle's allocators can do with, no policy.
pub fn fit_policy(router: &mut RouterSpec, nic: &NicSpec, fabric: &Fabric, classes: u32) {
    let most_ports = (0..fabric.routers()).map(|r| fabric.terminals_at(r).len() as u32 * nic.ports).max().unwrap_or(0);
    let needed = match router.vc_policy {
        VcPolicy::Dateline => return,
        VcPolicy::Destination => fabric.terminals(),
        VcPolicy::ServiceLevel => 1 + router.sl_to_vl.iter().max().copied().unwrap_or(0),
        VcPolicy::VirtualOutputQueues => fabric.network_ports() as u32 + most_ports,
    };
    if needed * classes <= 20 {
        // Some have more than they need.
        router.vcs = needed * classes + router.vcs % 2;
    } else {
        without_policy(router);
    }
}

fn without_policy(router: &mut RouterSpec) {
    router.vc_policy = VcPolicy::Dateline;
    router.sl_to_vl.clear();
}

/// By what packets have a service level, where they have one.
fn fit_level(nic: &mut NicSpec, router: &RouterSpec, number: u32) {
    let levels = [ServiceLevel::Destination, ServiceLevel::Source, ServiceLevel::Offset];
    if router.vc_policy == VcPolicy::ServiceLevel {
        nic.service_level = levels[number as usize % 3];
    }
}

/// Of the VCs that terminals may fill, those that exist stay; under the destination policy packets have their own.
fn keep_injection_vcs(nic: &mut NicSpec, router: &RouterSpec) {
    nic.injection_vcs.retain(|&vc| vc < router.vcs && router.vc_policy == VcPolicy::Dateline);
}

fn channel() -> impl Strategy<Value = ChannelSpec> {
    (delay(4), delay(3), delay(3)).prop_map(|(wire, local, credit)| ChannelSpec {
        latency_cycles: wire,
        local_latency_cycles: local,
        credit_delay_cycles: credit,
    })
}

/// Leaves out rules that concern two halves of the VCs where there are none; a middle VC is not shared where packets
/// that wait for it could deadlock.
fn fit_rules(router: &mut RouterSpec, halves: bool) {
    router.compat.opposite_minus_class &= halves;
    let waits = router.switching == Switching::Wormhole && !router.wait_for_tail_credit && router.vcs % 2 == 1;
    router.compat.shared_middle_vc &= halves && router.vc_policy == VcPolicy::Dateline && !waits;
}

/// A network without a bus and a barrier tree, in cycles and flits.
fn spec(
    topology: TopologySpec,
    routing: Option<RoutingSpec>,
    router: RouterSpec,
    channel: ChannelSpec,
    nic: NicSpec,
) -> NetworkSpec {
    let (bus, barrier_tree, units) = (None, None, UnitsSpec::default());
    NetworkSpec { topology, without: Without::default(), routing, router, channel, nic, bus, barrier_tree, units }
}

/// A network under plain dimension order; most are valid.
pub fn network(most_terminals: u32, most_concentration: u32, random_ties: bool) -> impl Strategy<Value = NetworkSpec> {
    let tie = prop_oneof![
        2 => Just(Tie::Plus),
        2 => Just(Tie::Parity),
        2 => Just(Tie::Split),
        if random_ties { 2 } else { 1 } => Just(if random_ties { Tie::Random } else { Tie::Parity }),
    ];
    let order = Just(vec![0, 1, 2]).prop_shuffle();
    let size = prop::collection::vec(1..=5u32, 1..=3);
    let at_dateline = prop::bool::weighted(0.3);
    (topology(size, most_terminals, most_concentration), (order, tie, at_dateline), router(), channel(), nic())
        .prop_map(|((topology, terminals, wraps), (mut order, tie, at_dateline), mut router, channel, mut nic)| {
            if at_dateline {
                without_policy(&mut router);
            }
            order.retain(|&d| d < sizes(&topology).len());
            let classes = if wraps { 2 } else { 1 };
            fit_policy(&mut router, &nic, &topology.fabric().expect("a case is valid"), classes);
            router.vcs = router.vcs.max(classes);
            fit_rules(&mut router, wraps && !at_dateline);
            keep_injection_vcs(&mut nic, &router);
            fit_level(&mut nic, &router, terminals);
            spec(
                topology,
                Some(RoutingSpec::DimensionOrder(DimensionOrderOptions {
                    order,
                    tie,
                    classes: if at_dateline { DatelineClasses::AtDateline } else { DatelineClasses::Entered },
                })),
                router,
                channel,
                nic,
            )
        })
}

/// The network in the domain of the packet kernel but for its routing; its buffers have room for one packet or for
/// several. Allocators are the default, both of who comes first, or as the network has them.
pub fn in_whole_packets(network: impl Strategy<Value = NetworkSpec>) -> impl Strategy<Value = NetworkSpec> {
    (network, 1..=4u32, 0..5u32).prop_map(|(network, packets, allocators)| {
        let mut router = network.router;
        (router.switching, router.hold_switch_until_tail) = (Switching::VirtualCutThrough, true);
        (router.speculative, router.output_speedup, router.compat.pipelined_stages) = (false, 1, true);
        (router.buffer_flits, router.shared_buffer_flits) = (router.buffer_flits * packets, 0);
        let both = match allocators {
            0 => None,
            1 | 4 => Some(AllocatorSpec {
                kind: AllocatorKind::SeparableInputFirst,
                arbiter: ArbiterKind::Fcfs,
                ..AllocatorSpec::default()
            }),
            _ => Some(AllocatorSpec::default()),
        };
        if let Some(both) = both {
            // With an input of the crossbar for each VC, or for each port.
            let inputs = if allocators == 4 { router.vcs } else { 1 };
            (router.vc_allocator, router.sw_allocator, router.input_speedup) = (both, both, inputs);
        }
        NetworkSpec { router, ..network }
    })
}

/// The network without a rule of receives, for workloads that have none.
fn without_receives(network: NetworkSpec) -> NetworkSpec {
    let compat = CompatSpec { late_receives: false, ..network.router.compat };
    NetworkSpec { router: RouterSpec { compat, ..network.router }, ..network }
}

/// The longest packet that the network takes, if it were `flits` otherwise.
fn fitting(network: &NetworkSpec, flits: u32) -> u32 {
    match network.router.switching {
        Switching::Wormhole => flits,
        Switching::VirtualCutThrough => flits.min(network.router.buffer_flits),
    }
}

/// Terminals of a network.
fn terminals(network: &NetworkSpec) -> usize {
    let topology = &network.topology;
    topology.fabric().expect("a case is valid").terminals() as usize
}

/// A matrix with a weight for every pair of terminals from the given ones in turn, and the largest load of a terminal
/// compared with the mean of all.
fn matrix(terminals: usize, weights: &[f64]) -> (Pattern, f64) {
    let mut all: Vec<f64> = weights.iter().copied().cycle().take(terminals * terminals).collect();
    all[1] += 1.0;
    let matrix = Matrix::dense(&all, terminals).expect("a matrix");
    let busiest = (0..terminals as u32).map(|row| matrix.relative_load(row)).fold(0.0, f64::max);
    let weights = Attached::new(Table::Matrix(Arc::new(matrix)));
    (Pattern::Matrix(Weights { weights, file: String::new() }), busiest)
}

/// What a terminal may send, before it is fitted to a network.
#[derive(Debug, Clone)]
struct RandomTraffic {
    pattern: Pattern,
    /// Lengths and shares; one: all packets are alike.
    flits: Vec<(u32, f64)>,
    /// Share of the highest load that the terminals can offer.
    load: f64,
    /// Mean burst and pause.
    on_off: Option<(f64, f64)>,
}

impl RandomTraffic {
    fn packet_flits(&self, network: &NetworkSpec) -> (PacketFlits, f64) {
        let of = |&(flits, share): &(u32, f64)| PacketShare { flits: fitting(network, flits), share };
        let shares: Vec<PacketShare> = self.flits.iter().map(of).collect();
        let total: f64 = shares.iter().map(|s| s.share).sum();
        let mean = shares.iter().map(|s| f64::from(s.flits) * s.share / total).sum();
        (if shares.len() == 1 { PacketFlits::Fixed(shares[0].flits) } else { PacketFlits::Mix(shares) }, mean)
    }

    /// The weights of a matrix, for a quarter of all: it takes the place of the pattern. Many are 0; how many there are
    /// has nothing to do with the number of terminals, so the rows differ.
    fn weights(&self) -> Option<Vec<f64>> {
        let bits = mix(self.load.to_bits());
        let weight = |i: u64| {
            Some(mix(bits ^ i)).filter(|drawn| drawn.is_multiple_of(3)).map_or(0.0, |drawn| (drawn % 501) as f64)
        };
        bits.is_multiple_of(4).then(|| (0..1 + bits / 4 % 60).map(weight).collect())
    }

    /// The pattern for a network, and the largest load of a terminal compared with the mean of all.
    fn pattern(&self, network: &NetworkSpec) -> (Pattern, f64) {
        match self.weights() {
            Some(weights) => matrix(terminals(network), &weights),
            None => (self.pattern.clone(), 1.0),
        }
    }

    fn open_loop(&self, network: &NetworkSpec) -> WorkloadSpec {
        let (packet_flits, mean) = self.packet_flits(network);
        let (pattern, busiest) = self.pattern(network);
        let mean = mean / busiest;
        let (process, most) = match self.on_off {
            None => (ProcessSpec::Bernoulli, mean),
            Some((burst, idle)) => {
                let process = ProcessSpec::OnOff { mean_on_cycles: burst, mean_off_cycles: idle };
                (process, mean * burst / (burst + idle) * 0.999)
            }
        };
        // At most a flit a cycle, so that queues do not outgrow the patience of the oracle.
        let offered_load = self.load * most.min(1.0);
        match pattern {
            Pattern::Uniform(Uniform { include_self }) => {
                WorkloadSpec::Uniform { packet_flits, offered_load, include_self, process }
            }
            pattern => WorkloadSpec::Traffic { pattern, packet_flits, offered_load, process },
        }
    }
}

fn sent() -> impl Strategy<Value = RandomTraffic> {
    let pattern = prop_oneof![
        4 => any::<bool>().prop_map(|include_self| Pattern::Uniform(Uniform { include_self })),
        1 => Just(Pattern::RandomPermutation(RandomPermutation {})),
        1 => Just(Pattern::RandomSelection(RandomSelection {})),
        1 => Just(Pattern::Hotspot(Hotspot { terminals: vec![1, 0], shares: vec![1.0, 3.0] })),
    ];
    let flits = prop_oneof![
        2 => (1..=9u32).prop_map(|flits| vec![(flits, 1.0)]),
        1 => prop::collection::vec((1..=9u32, 0.1..3.0f64), 1..4),
    ];
    let on_off = prop::option::weighted(0.3, (1.0..20.0f64, 1.0..40.0f64));
    (pattern, flits, 0.01..1.0f64, on_off).prop_map(|(pattern, flits, load, on_off)| RandomTraffic {
        pattern,
        flits,
        load,
        on_off,
    })
}

/// Beside what completes a background must leave it room: programs that answer each other would wait for ever longer
/// queues.
fn background(most_load: f64) -> impl Strategy<Value = Option<RandomTraffic>> {
    let sent = sent().prop_map(move |sent| RandomTraffic { load: sent.load * most_load, ..sent });
    prop::option::weighted(0.4, sent)
}

/// A network and an open-loop workload, from nearly idle to far past saturation; some with a background.
pub fn open_loop(network: impl Strategy<Value = NetworkSpec>) -> impl Strategy<Value = Case> {
    (network, sent(), background(1.0)).prop_map(|(network, sent, background)| Case {
        workload: sent.open_loop(&network),
        background: background.map(|sent| sent.open_loop(&network)),
        network: without_receives(network),
    })
}

/// A network and a burst; some with a background.
pub fn burst(network: impl Strategy<Value = NetworkSpec>) -> impl Strategy<Value = Case> {
    let rate = prop_oneof![Just(0.0), 0.05..1.0f64];
    (network, sent(), 1..=8u32, rate, background(0.1)).prop_map(|(network, sent, packets, rate, background)| {
        let (packet_flits, mean) = sent.packet_flits(&network);
        let rate = rate * mean;
        let (pattern, _) = sent.pattern(&network);
        let workload = WorkloadSpec::Burst { pattern, packets, packet_flits, rate };
        let background = background.map(|sent| sent.open_loop(&network));
        Case { workload, background, network: without_receives(network) }
    })
}

/// A network and a trace; some with a background.
pub fn trace(network: impl Strategy<Value = NetworkSpec>) -> impl Strategy<Value = Case> {
    // Cycles since the packet before, source and destination (taken modulo the terminals), length.
    let gap = prop_oneof![3 => Just(0), 3 => 0..5i64, 1 => 0..300i64];
    let packets = prop::collection::vec((gap, 0..1000i64, 0..1000i64, 1..=9u32), 1..100);
    (network, packets, background(0.1)).prop_map(|(network, packets, background)| {
        let n = terminals(&network) as i64;
        let cycle: Vec<i64> = packets
            .iter()
            .scan(0, |cycle, packet| {
                *cycle += packet.0;
                Some(*cycle)
            })
            .collect();
        let source: Vec<i64> = packets.iter().map(|packet| packet.1 % n).collect();
        let destination: Vec<i64> = packets.iter().map(|packet| packet.2 % n).collect();
        let flits: Vec<i64> = packets.iter().map(|packet| i64::from(fitting(&network, packet.3))).collect();
        let columns = TraceColumns { cycle: &cycle, source: &source, destination: &destination, flits: &flits };
        let trace = Trace::new(&columns).expect("a trace");
        let packets = Attached::new(Table::Trace(Arc::new(trace)));
        let workload = WorkloadSpec::Trace { packets, file: String::new() };
        let background = background.map(|sent| sent.open_loop(&network));
        Case { workload, background, network: without_receives(network) }
    })
}

/// A network and an all-to-all; some with a background.
pub fn scheduled(network: impl Strategy<Value = NetworkSpec>) -> impl Strategy<Value = Case> {
    let algorithm = prop_oneof![Just("a2a"), Just("a2and"), Just("a2at")];
    let sync = prop_oneof![Just(Sync::Async), Just(Sync::Local), Just(Sync::LocalSliding)];
    (network, algorithm, 1..=20u32, 1..=9u32, sync, background(0.1)).prop_map(
        |(network, algorithm, message_flits, packet, sync, background)| {
            let packet_flits = fitting(&network, packet);
            let algorithm = algorithm.to_string();
            let message_flits = Some(message_flits);
            let workload = WorkloadSpec::AllToAll { algorithm, message_flits, message_bytes: None, packet_flits, sync };
            Case { workload, background: background.map(|sent| sent.open_loop(&network)), network }
        },
    )
}

/// A network, and ranks that ask what to do.
pub fn driven(network: impl Strategy<Value = NetworkSpec>) -> impl Strategy<Value = Case> {
    (network, 1..=9u32).prop_map(|(network, packet)| {
        let workload = WorkloadSpec::Programs { packet_flits: fitting(&network, packet), software_times: false };
        Case { network, workload, background: None }
    })
}
