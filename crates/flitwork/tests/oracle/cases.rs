//! Random small networks with every option of the model, for the property tests.

use flitwork::collective::Sync;
use flitwork::routing::Tie;
use flitwork::schedule::{OpKind, Schedule, ScheduleBuilder};
use flitwork::spec::{
    AllocatorKind, AllocatorSpec, ArbiterKind, ChannelSpec, DatelineClasses, EjectionPort, InjectionVc, IterationCount,
    NetworkSpec, Ring2, RouterSpec, RoutingSpec, Switching, TerminalSpec, TopologySpec, VcPolicy, WorkloadSpec,
};
use proptest::prelude::*;

/// A topology and its number of terminals.
fn topology(most_terminals: u32, most_concentration: u32) -> impl Strategy<Value = (TopologySpec, u32, bool)> {
    let size = prop::collection::vec(1..=5u32, 1..=3);
    let wrap = prop::collection::vec(any::<bool>(), 3);
    let ring2 = prop_oneof![Just(Ring2::Double), Just(Ring2::Single)];
    (size, wrap, ring2, 1..=most_concentration, 0..3)
        .prop_map(|(size, mut wrap, ring2, terminals_per_router, kind)| {
            let terminals = size.iter().product::<u32>() * terminals_per_router;
            wrap.truncate(size.len());
            let wraps = match kind {
                0 => size.iter().any(|&a| a > 1),
                1 => false,
                _ => size.iter().zip(&wrap).any(|(&a, &w)| w && a > 1),
            };
            let topology = match kind {
                0 => TopologySpec::Torus { size, ring2, terminals_per_router },
                1 => TopologySpec::Mesh { size, terminals_per_router },
                _ => TopologySpec::Grid { size, wrap, ring2, terminals_per_router },
            };
            (topology, terminals, wraps)
        })
        .prop_filter("too many terminals", move |t| (2..=most_terminals).contains(&t.1))
}

fn sizes(topology: &TopologySpec) -> &[u32] {
    match topology {
        TopologySpec::Torus { size, .. } | TopologySpec::Mesh { size, .. } | TopologySpec::Grid { size, .. } => size,
    }
}

fn allocator() -> impl Strategy<Value = AllocatorSpec> {
    let kind = prop_oneof![
        Just(AllocatorKind::Islip),
        Just(AllocatorKind::SeparableInputFirst),
        Just(AllocatorKind::SeparableOutputFirst),
        Just(AllocatorKind::Wavefront),
    ];
    let arbiter = prop_oneof![
        Just(ArbiterKind::RoundRobin),
        Just(ArbiterKind::Matrix),
        Just(ArbiterKind::OldestFirst),
        Just(ArbiterKind::Fcfs),
    ];
    (kind, 1..=4u32, arbiter).prop_map(|(kind, iterations, arbiter)| match kind {
        AllocatorKind::Islip => {
            AllocatorSpec { kind, iterations: IterationCount(iterations), arbiter: ArbiterKind::RoundRobin }
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
    let policy = prop_oneof![4 => Just(VcPolicy::Dateline), 1 => Just(VcPolicy::Destination)];
    let switching = prop_oneof![2 => Just(Switching::Wormhole), 1 => Just(Switching::VirtualCutThrough)];
    let speedup = prop_oneof![2 => Just(1u32), 1 => 1..=3u32];
    let rarely = || prop::bool::weighted(0.3);
    (
        (1..=6u32, policy, 1..=12u32, switching, allocator(), allocator()),
        (rarely(), rarely(), rarely(), rarely(), speedup.clone(), speedup),
        (delay(3), delay(3), 1..=3u32, delay(2)),
    )
        .prop_map(|(a, b, c)| RouterSpec {
            vcs: a.0,
            vc_policy: a.1,
            buffer_flits: a.2,
            switching: a.3,
            vc_allocator: a.4,
            sw_allocator: a.5,
            hold_switch_for_packet: b.0,
            speculative: b.1,
            wait_for_tail_credit: b.2,
            vc_busy_when_full: b.3,
            input_speedup: b.4,
            output_speedup: b.5,
            routing_delay_cycles: c.0,
            vc_alloc_delay_cycles: c.1,
            sw_alloc_delay_cycles: c.2,
            st_delay_cycles: c.3,
        })
}

fn terminal() -> impl Strategy<Value = TerminalSpec> {
    let injection_vc = prop_oneof![Just(InjectionVc::Emptiest), Just(InjectionVc::RoundRobin)];
    let ejection_port =
        prop_oneof![Just(EjectionPort::Any), Just(EjectionPort::SameController), Just(EjectionPort::BySource)];
    (1..=3u32, injection_vc, ejection_port).prop_map(|(controllers, injection_vc, ejection_port)| TerminalSpec {
        controllers,
        injection_vc,
        ejection_port,
    })
}

/// A network; most are valid.
pub fn network(most_terminals: u32, most_concentration: u32, random_ties: bool) -> impl Strategy<Value = NetworkSpec> {
    let tie = prop_oneof![
        2 => Just(Tie::Plus),
        2 => Just(Tie::Parity),
        2 => Just(Tie::Split),
        if random_ties { 2 } else { 1 } => Just(if random_ties { Tie::Random } else { Tie::Parity }),
    ];
    let channel = (delay(4), delay(3), delay(3)).prop_map(|(wire, local, credit)| ChannelSpec {
        latency_cycles: wire,
        local_latency_cycles: local,
        credit_delay_cycles: credit,
    });
    let order = Just(vec![0, 1, 2]).prop_shuffle();
    (topology(most_terminals, most_concentration), order, tie, router(), channel, terminal()).prop_map(
        |((topology, terminals, wraps), mut order, tie, mut router, channel, terminal)| {
            order.retain(|&d| d < sizes(&topology).len());
            let own_vcs = terminals * if wraps { 2 } else { 1 };
            if router.vc_policy == VcPolicy::Destination && own_vcs <= 20 {
                router.vcs = own_vcs;
            } else {
                router.vc_policy = VcPolicy::Dateline;
                router.vcs = router.vcs.max(if wraps { 2 } else { 1 });
            }
            while router.vcs % router.input_speedup != 0 {
                router.input_speedup -= 1;
            }
            NetworkSpec {
                topology,
                routing: RoutingSpec::DimensionOrder { order, tie, classes: DatelineClasses::Entered },
                router,
                channel,
                terminal,
            }
        },
    )
}

/// The longest packet that the network takes, if it were `flits` otherwise.
fn fitting(network: &NetworkSpec, flits: u32) -> u32 {
    match network.router.switching {
        Switching::Wormhole => flits,
        Switching::VirtualCutThrough => flits.min(network.router.buffer_flits),
    }
}

/// A network and an open-loop workload, from nearly idle to far past saturation.
pub fn open_loop() -> impl Strategy<Value = (NetworkSpec, WorkloadSpec)> {
    (network(40, 3, true), 1..=9u32, 0.01..1.0f64, any::<bool>()).prop_map(|(network, flits, load, include_self)| {
        let packet_flits = fitting(&network, flits);
        (network, WorkloadSpec::Uniform { packet_flits, offered_load: load, include_self })
    })
}

/// A network and an all-to-all.
pub fn closed_loop() -> impl Strategy<Value = (NetworkSpec, WorkloadSpec)> {
    let algorithm = prop_oneof![Just("a2a"), Just("a2and"), Just("a2at")];
    let sync = prop_oneof![Just(Sync::Async), Just(Sync::Local), Just(Sync::LocalSliding)];
    (network(16, 1, false), algorithm, 1..=20u32, 1..=9u32, sync).prop_map(
        |(network, algorithm, message, packet, sync)| {
            let packet_flits = fitting(&network, packet);
            let algorithm = algorithm.to_string();
            (network, WorkloadSpec::AllToAll { algorithm, message_flits: message, packet_flits, sync })
        },
    )
}

/// One entry of a random program.
#[derive(Debug, Clone)]
enum Step {
    /// A message between two ranks (taken modulo their number) and which earlier operations the send waits for.
    Message { from: u32, to: u32, flits: u32, after: u8 },
    /// Computing of a rank.
    Compute { rank: u32, cycles: u64, after: u8 },
    /// A wait of a rank.
    Wait { rank: u32, after: u8 },
}

fn step() -> impl Strategy<Value = Step> {
    // Bit i: waits for the i-th last operation of the rank.
    let after = || prop_oneof![1 => Just(0u8), 2 => any::<u8>()];
    let rank = || 0..1000u32;
    prop_oneof![
        6 => (rank(), rank(), 1..=20u32, after()).prop_map(|(from, to, flits, after)| Step::Message { from, to, flits, after }),
        1 => (rank(), 0..30u64, after()).prop_map(|(rank, cycles, after)| Step::Compute { rank, cycles, after }),
        1 => (rank(), after()).prop_map(|(rank, after)| Step::Wait { rank, after }),
    ]
}

/// The schedule of some steps: each rank's operations in their order. Nothing waits for what comes later, so it ends.
fn schedule_of(steps: &[Step], ranks: u32) -> Schedule {
    let mut programs: Vec<Vec<(OpKind, Vec<u32>)>> = vec![Vec::new(); ranks as usize];
    let mut add = |rank: u32, kind: OpKind, after: u8| {
        let program = &mut programs[rank as usize];
        let last = program.len() as u32;
        let deps = (0..8).filter(|&i| after >> i & 1 == 1 && i < last).map(|i| last - 1 - i).collect();
        program.push((kind, deps));
    };
    for (tag, step) in steps.iter().enumerate() {
        let tag = tag as u32;
        match *step {
            Step::Message { from, to, flits, after } => {
                let from = from % ranks;
                let to = (from + 1 + to % (ranks - 1)) % ranks;
                add(from, OpKind::Send { to, flits, tag }, after);
                add(to, OpKind::Receive { from, flits, tag }, 0);
            }
            Step::Compute { rank, cycles, after } => add(rank % ranks, OpKind::Compute { cycles }, after),
            Step::Wait { rank, after } => add(rank % ranks, OpKind::Wait, after),
        }
    }
    let mut builder = ScheduleBuilder::new("random");
    let mut first = 0;
    for program in &programs {
        for (phase, (kind, deps)) in program.iter().enumerate() {
            let deps: Vec<u32> = deps.iter().map(|d| first + d).collect();
            builder.op(*kind, phase as u32, &deps);
        }
        first += program.len() as u32;
        builder.end_rank();
    }
    builder.build()
}

/// A network, a schedule for it, and the longest packet.
pub fn program() -> impl Strategy<Value = (NetworkSpec, Schedule, u32)> {
    (network(12, 1, false), prop::collection::vec(step(), 1..80), 1..=9u32).prop_map(|(network, steps, packet)| {
        let ranks = sizes(&network.topology).iter().product();
        let packet_flits = fitting(&network, packet);
        (network, schedule_of(&steps, ranks), packet_flits)
    })
}
