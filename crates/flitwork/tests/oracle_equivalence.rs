//! The kernel against the oracle: on random small networks with every option of docs/model.md, every packet is injected
//! and arrives in the same cycle.
//!
//! Quick lane: some thousand fixed cases. Full lane: `FLITWORK_FULL=1`, 28,300 cases, those of the quick lane first;
//! `FLITWORK_TIMES=n` runs n times as many (0.5: half of them). `FLITWORK_SEED=n` draws others.

mod oracle;

use flitwork::measure::SimulationResult;
use flitwork::pace;
use flitwork::schedule::{Placement, Rate, Schedule, Via};
use flitwork::spec::{ArbiterKind, KernelChoice, NetworkSpec, NicSpec, RouterSpec, RoutingSpec, WorkloadSpec};
use flitwork::spec::{GapUnit, Over, PacingKind, PacingSpec, RunSpec, Threads};
use flitwork::{Plan, Workload, simulate};
use oracle::beside_kernel::{check, check_both, plan, plan_on_switches, recording};
use oracle::cases::programs::{Program, program};
use oracle::cases::{self, Case, any_network, hop_by_hop, in_whole_packets, on_bus, trees};
use oracle::driven::{by_the_clock, check_driven};
use oracle::knots::{self, End, check_knots};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde_json::{from_value, json};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Debug;

/// Cycles that any of these workloads should need; a background can starve one for ever.
const LONG: u64 = 30_000;

/// Runs `test` on `quick` cases (`full` in the full lane). `test` says whether its case was a valid configuration; most
/// must be.
fn for_all<S>(name: &str, quick: u32, full: u32, strategy: S, test: impl Fn(S::Value) -> Result<bool, TestCaseError>)
where
    S: Strategy,
    S::Value: Debug,
{
    let full_lane = std::env::var("FLITWORK_FULL").is_ok_and(|v| v == "1");
    let seed = std::env::var("FLITWORK_SEED").map_or(0, |v| v.parse().expect("FLITWORK_SEED: an integer"));
    let times = std::env::var("FLITWORK_TIMES").map_or(1.0, |v| v.parse().expect("FLITWORK_TIMES: a number"));
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&u64::to_le_bytes(seed));
    let config = Config {
        cases: (times * f64::from(if full_lane { full } else { quick })).ceil() as u32,
        max_local_rejects: u32::MAX,
        max_shrink_iters: 2_000,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let (valid, all) = (Cell::new(0), Cell::new(0_usize));
    let outcome = runner.run(&strategy, |value| {
        all.set(all.get() + 1);
        valid.set(valid.get() + usize::from(test(value)?));
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{name}: {error}");
    }
    assert!(
        may_have_share(valid.get(), all.get(), 0.8),
        "{name}: only {} of {} cases were valid",
        valid.get(),
        all.get()
    );
}

/// Whether `found` of `all` random cases is no less than chance allows where the true share is this: three standard
/// deviations.
fn may_have_share(found: usize, all: usize, share: f64) -> bool {
    let all = all as f64;
    found as f64 >= all * share - 3.0 * (all * share * (1.0 - share)).sqrt()
}

/// What came of a case: `None` if its configuration is not valid, else the number of packets that made detours.
type Verdict = Result<Option<usize>, TestCaseError>;

fn check_case(case: &Case, run: RunSpec) -> Verdict {
    plan(case, run)?.map(|plan| check(&case.network, &plan)).transpose()
}

/// The program replaces an all-to-all in its plan.
fn check_program(case: &Case, program: Program, run: RunSpec) -> Verdict {
    let Some(plan) = plan(case, run)? else { return Ok(None) };
    check(&case.network, &with_program(plan, program)).map(Some)
}

/// A plan with a program in the place of its all-to-all.
fn with_program(mut plan: Plan, program: Program) -> Plan {
    let Workload::Schedule { packet_flits, .. } = plan.workload else { panic!("an all-to-all") };
    let Program { schedule, host } = program;
    let terminals = plan.params.terminals as u32;
    let each = schedule.ranks().div_ceil(terminals);
    plan.placement = Placement::new(&host.placement, schedule.ranks(), terminals, each).expect("a placement");
    let noise = host.noise.as_ref().map(|noise| noise.resolve(schedule.ranks(), plan.spec.run.seed));
    plan.noise = noise.transpose().expect("detours");
    plan.read_rate = host.read_flits_per_cycle.map(|rate| Rate::of(rate).expect("a rate"));
    plan.copy_rate = host.copy_flits_per_cycle.map(|rate| Rate::of(rate).expect("a rate"));
    plan.spec.host = host;
    plan.workload = Workload::Schedule { schedule, packet_flits };
    plan
}

#[test]
fn open_loop_packets_arrive_as_in_the_oracle() {
    let strategy = (cases::open_loop(cases::network(40, 3, true)), any::<u64>(), 0..60u64, 1..120u64);
    for_all("open loop", 220, 2_000, strategy, |(case, seed, warmup, measurement)| {
        Ok(check_case(&case, recording(seed, warmup, measurement, 600))?.is_some())
    });
}

#[test]
fn bursts_arrive_as_in_the_oracle() {
    let strategy = (cases::burst(cases::network(30, 3, true)), any::<u64>(), 0..60u64);
    for_all("bursts", 120, 1_000, strategy, |(case, seed, warmup)| {
        Ok(check_case(&case, recording(seed, warmup, 1, LONG))?.is_some())
    });
}

#[test]
fn packets_of_traces_arrive_as_in_the_oracle() {
    let strategy = (cases::trace(cases::network(30, 3, true)), any::<u64>(), 0..60u64);
    for_all("traces", 120, 1_000, strategy, |(case, seed, warmup)| {
        Ok(check_case(&case, recording(seed, warmup, 1, LONG))?.is_some())
    });
}

#[test]
fn packets_of_traces_routed_hop_by_hop_arrive_as_in_the_oracle() {
    let strategy = (cases::trace(hop_by_hop::network(30, 3)), any::<u64>(), 0..60u64);
    for_all("traces, hop by hop", 60, 1_000, strategy, |(case, seed, warmup)| {
        Ok(check_case(&case, recording(seed, warmup, 1, LONG))?.is_some())
    });
}

#[test]
fn all_to_all_packets_arrive_as_in_the_oracle() {
    let strategy = (cases::scheduled(cases::network(16, 1, false)), 0..60u64);
    for_all("all-to-all", 120, 1_000, strategy, |(case, warmup)| {
        Ok(check_case(&case, recording(1, warmup, 1, LONG))?.is_some())
    });
}

/// Takes out most of what networks in parts must not have; what is left is for them to refuse.
fn fit_for_parts(case: &mut Case) {
    let usual = RouterSpec::default();
    let router = &mut case.network.router;
    (router.output_speedup, router.shared_buffer_flits) = (1, 0);
    (router.vc_policy, router.sl_to_vl, router.compat) = (usual.vc_policy, usual.sl_to_vl, usual.compat);
    case.network.nic.service_level = NicSpec::default().service_level;
    let router = &mut case.network.router;
    for allocator in [&mut router.vc_allocator, &mut router.sw_allocator] {
        if allocator.arbiter == ArbiterKind::OldestFirst {
            allocator.arbiter = ArbiterKind::default();
        }
    }
    case.background = None;
}

/// Networks that may be cut in parts give the same result on any number of threads, down to the last figure; the
/// packets of one thread arrive as in the oracle.
fn in_parts_as_in_the_oracle(name: &str, (quick, full): (u32, u32), network: BoxedStrategy<NetworkSpec>) {
    let in_parts = (Cell::new(0_usize), Cell::new(0_usize));
    let network = || network.clone();
    let any_traffic = prop_oneof![cases::open_loop(network()), cases::burst(network()), cases::trace(network())];
    let strategy = (any_traffic, any::<u64>(), (0..60u64, 1..120u64), 2..6u32);
    for_all(name, quick, full, strategy, |(mut case, seed, (warmup, measurement), threads)| {
        fit_for_parts(&mut case);
        // A trace has packets of any cycle.
        let limit = if matches!(case.workload, WorkloadSpec::Trace { .. }) { LONG } else { 900 };
        let run = RunSpec { kernel: KernelChoice::Flit, ..recording(seed, warmup, measurement, limit) };
        let Some(of_oracle) = plan(&case, run.clone())? else { return Ok(false) };
        let summary = RunSpec { record: Default::default(), threads: Threads::Count(threads), ..run };
        let Some(mut plan) = plan(&case, summary)? else { return Ok(false) };
        in_parts.1.set(in_parts.1.get() + 1);
        if plan.not_in_parts().is_some() {
            return Ok(true);
        }
        in_parts.0.set(in_parts.0.get() + usize::from(plan.threads() > 1));
        if matches!(plan.workload, Workload::OpenLoop(_)) {
            check(&case.network, &of_oracle)?;
        }
        let result = |plan: &Plan| simulate(plan, &mut |_| true).map_err(|error| error.to_string());
        let shared = result(&plan);
        plan.spec.run.threads = Threads::ONE;
        let alone = result(&plan);
        if let Ok(shared) = &shared {
            prop_assert_eq!(shared.threads, threads.min(plan.params.routers as u32) as usize);
        }
        // What is said of the threads themselves apart.
        let rest = |result: Result<SimulationResult, String>| {
            result.map(|r| SimulationResult { threads: 1, threads_why: None, ..r })
        };
        prop_assert_eq!(rest(shared), rest(alone.clone()));
        let recorded = result(&of_oracle);
        prop_assert_eq!(alone.map(|r| r.digest), recorded.map(|r| r.digest));
        Ok(true)
    });
    let (parts, all) = (in_parts.0.get(), in_parts.1.get());
    assert!(4 * parts > all, "only {parts} of {all} networks were cut in parts");
}

#[test]
fn packets_of_networks_in_parts_arrive_as_in_the_oracle() {
    in_parts_as_in_the_oracle("in parts", (250, 1_500), cases::network(40, 3, true).boxed());
}

#[test]
fn packets_routed_hop_by_hop_in_parts_arrive_as_in_the_oracle() {
    in_parts_as_in_the_oracle("hop by hop, in parts", (150, 1_000), hop_by_hop::network(30, 3).boxed());
}

#[test]
fn packets_of_trees_and_other_networks_in_parts_arrive_as_in_the_oracle() {
    let network = prop_oneof![trees::network(30), any_network::network(20), any_network::dragonfly(20)];
    in_parts_as_in_the_oracle("other networks, in parts", (150, 1_000), network.boxed());
}

/// Sends, receives, computing and waits in any order.
#[test]
fn packets_of_random_programs_arrive_as_in_the_oracle() {
    let strategy = (program(cases::network(12, 1, false)), 0..60u64);
    for_all("programs", 100, 1_000, strategy, |((case, program), warmup)| {
        Ok(check_program(&case, program, recording(1, warmup, 1, LONG))?.is_some())
    });
}

/// Several networks in one run: of the messages of random programs some go over a bus, alone or with the one before,
/// and some over a barrier tree, by either kernel.
#[test]
fn messages_over_a_bus_beside_the_network_arrive_as_in_the_oracle() {
    let network = prop_oneof![
        cases::network(12, 2, false).boxed(),
        in_whole_packets(cases::network(12, 2, false)).boxed(),
        hop_by_hop::network(12, 1).boxed(),
    ];
    let chosen = prop::collection::vec(any::<u8>(), 1..12);
    let strategy = (program(network), (on_bus::bus(), on_bus::tree(), chosen), any::<u64>(), 0..60u64);
    for_all(
        "programs over a bus",
        160,
        2_000,
        strategy,
        |((mut case, mut program), (bus, tree, chosen), seed, warmup)| {
            case.network.bus = Some(bus);
            program.schedule = on_bus::on_bus(&program.schedule, &chosen, tree.is_some());
            case.network.barrier_tree = tree;
            let Some(plan) = plan(&case, recording(seed, warmup, 1, LONG))? else { return Ok(false) };
            let plan = with_program(plan, program);
            let over_bus = plan.params.nic_ports as u32;
            if plan.not_in_whole_packets().is_none() {
                check_both(&case.network, plan.clone())?;
            } else {
                check(&case.network, &plan)?;
            }
            let Workload::Schedule { schedule, .. } = &plan.workload else { panic!("a program") };
            check_bus_report(&plan, schedule, over_bus)?;
            Ok(true)
        },
    );
}

/// The report of the bus, and its packets, are those of the messages that go over it.
fn check_bus_report(plan: &Plan, schedule: &Schedule, over_bus: u32) -> Result<(), TestCaseError> {
    let Ok(result) = flitwork::simulate(plan, &mut |_| true) else { return Ok(()) };
    let report = result.bus.expect("there is a bus");
    let of = |such: fn(Via) -> bool| schedule.messages().filter(move |m| such(m.via));
    prop_assert_eq!(report.transfers, of(|via| via == Via::Bus).count() as u64);
    prop_assert_eq!(report.messages, of(Via::is_bus).count() as u64);
    prop_assert_eq!(report.flits, of(|via| via == Via::Bus || via == Via::BusNext).map(|m| m.size).sum::<u64>());
    let packets = result.packet_records.iter().filter(|packet| packet.injection_port == over_bus).count();
    prop_assert_eq!(packets as u64, report.messages);
    Ok(())
}

/// Ranks that are told what to do when they ask, by the cycle in which they do.
#[test]
fn packets_of_ranks_that_ask_arrive_as_in_the_oracle() {
    let network =
        prop_oneof![cases::network(12, 1, false).boxed(), in_whole_packets(cases::network(12, 1, false)).boxed()];
    let strategy = (cases::driven(network), 1..30u32, any::<u64>());
    for_all("ranks that ask", 100, 1_000, strategy, |(case, turns, seed)| {
        let Some(plan) = plan(&case, recording(seed, 0, 1, LONG))? else { return Ok(false) };
        let decide = by_the_clock(plan.placement.terminal_of().len() as u32, turns, seed);
        check_driven(&case.network, &plan, &decide).map(|()| true)
    });
}

#[test]
fn packets_on_crossbars_arrive_as_in_the_oracle() {
    let strategy = (cases::open_loop(any_network::network(16)), any::<u64>(), 0..60u64, 1..120u64);
    for_all("crossbars", 60, 1_000, strategy, |(case, seed, warmup, measurement)| {
        Ok(check_case(&case, recording(seed, warmup, measurement, 600))?.is_some())
    });
}

/// One router of every size that the kernel is compiled for, with flits, whole packets and speculation.
#[test]
fn routers_of_every_compiled_size_are_as_in_the_oracle() {
    // Up to these ports and VCs a router is one block; then its ports are counted, at a distance of 8 to 640 VCs.
    let in_one_block = [(6, 2), (7, 3), (12, 1), (8, 8), (16, 3), (20, 2), (8, 16), (13, 8), (32, 4), (40, 2)];
    let counted = [(17, 5), (36, 16), (7, 17), (7, 33), (7, 65), (5, 129), (4, 257), (3, 513)];
    let whole = json!({ "switching": "virtual_cut_through", "hold_switch_until_tail": true });
    let speculative = json!({ "speculative": true, "vc_alloc_delay_cycles": 1 });
    for (ports, vcs) in in_one_block.into_iter().chain(counted) {
        for mut router in [json!({}), whole.clone(), speculative.clone()] {
            router["vcs"] = json!(vcs);
            let network = json!({ "topology": { "kind": "crossbar", "terminals": ports }, "router": router });
            let workload =
                json!({ "kind": "traffic", "pattern": { "kind": "uniform" }, "packet_flits": 4, "offered_load": 0.6 });
            let (network, workload) = (from_value(network).expect("a network"), from_value(workload).expect("traffic"));
            let found = check_case(&Case { network, workload, background: None }, recording(1, 20, 60, 600));
            assert!(found.unwrap_or_else(|error| panic!("{ports} ports, {vcs} VCs: {error}")).is_some());
        }
    }
}

/// Sets of VCs by channels walked; several channels between two groups; longer cables.
#[test]
fn packets_on_dragonflies_arrive_as_in_the_oracle() {
    let strategy = (cases::open_loop(any_network::dragonfly(20)), any::<u64>(), 0..60u64, 1..120u64);
    for_all("dragonflies, open loop", 60, 500, strategy, |(case, seed, warmup, measurement)| {
        Ok(check_case(&case, recording(seed, warmup, measurement, 600))?.is_some())
    });
    let strategy = (cases::trace(any_network::dragonfly(20)), any::<u64>(), 0..60u64);
    for_all("dragonflies, traces", 40, 400, strategy, |(case, seed, warmup)| {
        Ok(check_case(&case, recording(seed, warmup, 1, LONG))?.is_some())
    });
}

/// Trees of switches, and others with rings; uneven numbers of terminals; input and output sides of ports that lead to
/// different switches.
#[test]
fn packets_between_switches_arrive_as_in_the_oracle() {
    // The routings of networks with more channels than a tree has: these close rings.
    let with_rings = RefCell::new(HashSet::new());
    let note = |plan: &Plan| {
        if plan.fabric.channels().count() as u32 > 2 * (plan.fabric.routers() - 1) {
            with_rings.borrow_mut().extend(plan.spec.network.routing.as_ref().map(RoutingSpec::kind));
        }
    };
    let strategy = (cases::trace(any_network::network(20)), any::<u64>(), 0..60u64);
    for_all("switches, traces", 80, 1_000, strategy, |(case, seed, warmup)| {
        let plan = plan_on_switches(&case, seed, recording(seed, warmup, 1, LONG))?;
        plan.iter().for_each(note);
        Ok(plan.map(|plan| check(&plan.spec.network, &plan)).transpose()?.is_some())
    });
    let strategy = (cases::open_loop(any_network::network(20)), any::<u64>(), 0..60u64, 1..120u64);
    for_all("switches, open loop", 60, 1_000, strategy, |(case, seed, warmup, measurement)| {
        let plan = plan_on_switches(&case, seed, recording(seed, warmup, measurement, 600))?;
        Ok(plan.map(|plan| check(&plan.spec.network, &plan)).transpose()?.is_some())
    });
    for kind in ["lash", "up_down", "table", "relation", "ecmp", "spray", "graph_valiant", "graph_ugal"] {
        assert!(with_rings.borrow().contains(kind), "no network with rings was routed by {kind}");
    }
}

#[test]
fn packets_in_fat_trees_arrive_as_in_the_oracle() {
    let strategy = (cases::open_loop(trees::network(30)), any::<u64>(), 0..60u64, 1..120u64);
    for_all("trees", 150, 1_000, strategy, |(case, seed, warmup, measurement)| {
        Ok(check_case(&case, recording(seed, warmup, measurement, 600))?.is_some())
    });
    let strategy = (cases::open_loop(in_whole_packets(trees::network(30))), any::<u64>(), 0..60u64, 1..120u64);
    for_all("trees, packets", 100, 1_000, strategy, |(case, seed, warmup, measurement)| {
        check_in_whole_packets(plan(&case, recording(seed, warmup, measurement, 600))?)
    });
    let strategy = (cases::burst(trees::network(20)), any::<u64>(), 0..60u64);
    for_all("trees, bursts", 40, 500, strategy, |(case, seed, warmup)| {
        Ok(check_case(&case, recording(seed, warmup, 1, LONG))?.is_some())
    });
}

/// Packet kernel, flit kernel and oracle; a routing that looks at queues is not for the packet kernel.
fn check_in_whole_packets(plan: Option<Plan>) -> Result<bool, TestCaseError> {
    let looks_at_queues = |plan: &Plan| {
        let routing = plan.routing.hop_by_hop();
        routing.is_some_and(|routing| routing.congestion_spread().is_some() || routing.bias_flits().is_some())
    };
    match plan {
        None => Ok(false),
        Some(plan) if looks_at_queues(&plan) => Ok(true),
        Some(plan) => check_both(&plan.spec.network.clone(), plan).map(|_| true),
    }
}

#[test]
fn packets_in_open_loop_move_whole_as_flit_by_flit() {
    let strategy = (cases::open_loop(in_whole_packets(cases::network(40, 3, true))), any::<u64>(), 0..60u64, 1..120u64);
    for_all("open loop, packets", 120, 500, strategy, |(case, seed, warmup, measurement)| {
        check_in_whole_packets(plan(&case, recording(seed, warmup, measurement, 600))?)
    });
    let network = in_whole_packets(hop_by_hop::network(40, 3));
    let strategy = (cases::open_loop(network), any::<u64>(), 0..60u64, 1..120u64);
    for_all("open loop, packets, hop by hop", 100, 500, strategy, |(case, seed, warmup, measurement)| {
        check_in_whole_packets(plan(&case, recording(seed, warmup, measurement, 600))?)
    });
}

#[test]
fn packets_of_bursts_and_schedules_move_whole_as_flit_by_flit() {
    let strategy = (cases::burst(in_whole_packets(hop_by_hop::network(30, 3))), any::<u64>(), 0..60u64);
    for_all("bursts, packets", 60, 500, strategy, |(case, seed, warmup)| {
        check_in_whole_packets(plan(&case, recording(seed, warmup, 1, LONG))?)
    });
    let strategy = (cases::scheduled(in_whole_packets(cases::network(16, 1, false))), any::<u64>(), 0..60u64);
    for_all("all-to-all, packets", 80, 800, strategy, |(case, seed, warmup)| {
        check_in_whole_packets(plan(&case, recording(seed, warmup, 1, LONG))?)
    });
    let strategy = (program(in_whole_packets(cases::network(12, 2, false))), any::<u64>(), 0..60u64);
    for_all("programs, packets", 80, 800, strategy, |((case, program), seed, warmup)| {
        let plan = plan(&case, recording(seed, warmup, 1, LONG))?.map(|plan| with_program(plan, program));
        check_in_whole_packets(plan)
    });
}

/// Pauses by the step of a message, in both kernels; where the routing leaves a choice they are of fixed length.
#[test]
fn paced_messages_leave_as_in_the_oracle() {
    let kind = prop_oneof![1 => Just(PacingKind::Fixed), 3 => Just(PacingKind::Mod), 1 => Just(PacingKind::Hops)];
    let over = prop_oneof![3 => Just(Over::Step), 1 => Just(Over::Schedule)];
    let unit = prop_oneof![Just(GapUnit::LongestPacket), Just(GapUnit::Packet)];
    let pacing = (kind, 1..=5u32, over, any::<bool>(), unit).prop_map(|(kind, gap_packets, over, aggregate, unit)| {
        let gap_packets = if kind == PacingKind::Fixed { gap_packets } else { 0 };
        PacingSpec { kind, gap_packets, over, aggregate, unit }
    });
    let network = prop_oneof![
        cases::network(16, 2, false).boxed(),
        in_whole_packets(cases::network(16, 2, false)).boxed(),
        hop_by_hop::network(16, 1).boxed(),
    ];
    let strategy = (program(network), pacing, any::<u64>(), 0..60u64);
    for_all("paced programs", 120, 1_000, strategy, |((mut case, program), pacing, seed, warmup)| {
        case.network.nic.packet_gap_cycles = 0;
        let Some(plain) = plan(&case, recording(seed, warmup, 1, LONG))? else { return Ok(false) };
        let fixed = PacingSpec { kind: PacingKind::Fixed, gap_packets: 2, ..pacing.clone() };
        let Some(plan) = [pacing, fixed].into_iter().find_map(|pacing| {
            let mut plan = with_program(plain.clone(), program.clone());
            plan.spec.network.nic.pacing = pacing;
            plan.gaps = pace::resolve(&plan.spec.network.nic.pacing, &plan.paced()).ok()?;
            Some(plan)
        }) else {
            return Ok(false);
        };
        case.network.nic.pacing = plan.spec.network.nic.pacing.clone();
        if plan.not_in_whole_packets().is_none() {
            check_both(&case.network, plan)?;
        } else {
            check(&case.network, &plan)?;
        }
        Ok(true)
    });
}

#[test]
fn packets_between_switches_move_whole_as_flit_by_flit() {
    let strategy = (cases::trace(in_whole_packets(any_network::network(20))), any::<u64>(), 0..60u64);
    for_all("switches, packets", 80, 800, strategy, |(case, seed, warmup)| {
        let plan = plan_on_switches(&case, seed, recording(seed, warmup, 1, LONG))?;
        match plan {
            Some(plan) if plan.fabric.slow_channel().is_some() => Ok(true),
            plan => check_in_whole_packets(plan),
        }
    });
}

/// Of each routing: cases, those that could be run, and detours in them.
#[derive(Default)]
struct Kinds(RefCell<BTreeMap<&'static str, [usize; 3]>>);

impl Kinds {
    /// One case; says whether it could be run.
    fn note(&self, case: &Case, detours: Option<usize>) -> bool {
        let mut kinds = self.0.borrow_mut();
        let [all, run, far] = kinds.entry(case.network.routing.as_ref().expect("it is drawn").kind()).or_default();
        (*all, *run, *far) = (*all + 1, *run + usize::from(detours.is_some()), *far + detours.unwrap_or(0));
        detours.is_some()
    }

    /// Each of the routings had a fair part of the cases, an eighth of its share at least; half of them or more were
    /// run, as far as chance allows (the quick lane has ten or so of each); and those packets made detours that should,
    /// where 30 cases or more had the chance.
    fn check(&self, name: &str) {
        let kinds = self.0.borrow();
        let total: usize = kinds.values().map(|[all, ..]| all).sum();
        let listed = hop_by_hop::kinds();
        for &kind in &listed {
            let [all, run, far] = kinds.get(kind).copied().unwrap_or_default();
            let fair = run * 8 * listed.len() >= total;
            assert!(fair && may_have_share(run, all, 0.5), "{name}, {kind}: {run} of {all} were run, of {total}");
            let should_be_far = ["valiant", "duato_misrouting", "structured_pool"].contains(&kind);
            let enough_to_tell = !should_be_far || far > 0 || run < 30;
            assert!(enough_to_tell && (far == 0 || should_be_far), "{name}, {kind}: {far} detours in {run} cases");
        }
    }
}

#[test]
fn open_loop_packets_routed_hop_by_hop_arrive_as_in_the_oracle() {
    let kinds = Kinds::default();
    let strategy = (cases::open_loop(hop_by_hop::network(40, 3)), any::<u64>(), 0..60u64, 1..120u64);
    for_all("open loop, hop by hop", 180, 1_000, strategy, |(case, seed, warmup, measurement)| {
        Ok(kinds.note(&case, check_case(&case, recording(seed, warmup, measurement, 600))?))
    });
    kinds.check("open loop, hop by hop");
}

/// Misrouted packets of one age at one switch: whom it served last decides between them, from cycle to cycle.
#[test]
fn packets_of_equal_priority_arrive_as_in_the_oracle() {
    let network = json!({
        "topology": { "kind": "torus", "size": [5, 3], "terminals_per_router": 2 },
        "routing": { "kind": "duato_misrouting", "misroutes": 3, "patience_cycles": 0 },
        "router": {
            "vcs": 7, "buffer_flits": 7, "switching": "virtual_cut_through",
            "vc_allocator": { "kind": "separable_output_first", "arbiter": "matrix" },
            "sw_allocator": { "kind": "separable_output_first", "arbiter": "oldest_first" },
            "injection_priority": "last", "vc_busy_when_full": true, "input_speedup": 3,
            "vc_alloc_delay_cycles": 2, "sw_alloc_delay_cycles": 2, "compat": { "pipelined_stages": true },
        },
        "channel": { "latency_cycles": 0, "credit_delay_cycles": 3 },
        "nic": { "ports": 3, "injection_vc": "round_robin", "ejection_port": "by_source", "source_queue": "alternate" },
    });
    let workload = json!({
        "kind": "traffic", "pattern": { "kind": "random_permutation" }, "packet_flits": 6, "offered_load": 0.850_983_672_014_945_2,
        "process": { "kind": "on_off", "mean_on_cycles": 16.103_592_900_033_43, "mean_off_cycles": 36.846_552_516_830_556 },
    });
    let (network, workload) = (from_value(network).expect("a network"), from_value(workload).expect("a workload"));
    let case = Case { network, workload, background: None };
    let found = check_case(&case, recording(947_125_882_531_992_636, 37, 72, 600));
    assert!(found.expect("as in the oracle").is_some());
}

/// Bursts in networks that may deadlock: who waits for whom is known exactly, and whoever is said to be stuck never
/// moves again.
#[test]
fn deadlocks_of_a_part_are_found_as_in_the_oracle() {
    let ends = RefCell::new(Vec::new());
    let network = prop_oneof![cases::network(24, 2, true), hop_by_hop::network(24, 2)];
    let network = network.prop_filter("no ring", knots::has_ring);
    let strategy = (cases::burst(network), any::<u64>(), 1..=60u64);
    for_all("deadlocks", 200, 1_500, strategy, |(mut case, seed, watchdog_cycles)| {
        let bits = knots::bits_of(seed);
        case.background = None;
        knots::endanger(&mut case, bits);
        if let WorkloadSpec::Burst { packets, rate, .. } = &mut case.workload {
            (*packets, *rate) = (*packets * 4, 0.0);
        }
        let run = RunSpec { watchdog_cycles, deadlock_check: false, ..recording(seed, 0, 1, LONG) };
        let switches = bits >> 16 & 3 == 0 && matches!(case.network.routing, Some(RoutingSpec::ShortestPath(_)));
        let plan = if switches { plan_on_switches(&case, seed, run)? } else { plan(&case, run)? };
        // Not all networks are valid without what was taken out of them.
        if let Some(plan) = plan {
            ends.borrow_mut().push(check_knots(&plan)?);
        }
        Ok(true)
    });
    let count = |end| ends.borrow().iter().filter(|&&found| found == end).count();
    let (arrived, partly, all) = (count(End::Arrived), count(End::PartlyStuck), count(End::AllStuck));
    assert!(arrived > 0 && partly > 0, "{arrived} arrived, {partly} partly stuck, {all} all stuck");
}

#[test]
fn bursts_routed_hop_by_hop_arrive_as_in_the_oracle() {
    let kinds = Kinds::default();
    let strategy = (cases::burst(hop_by_hop::network(30, 3)), any::<u64>(), 0..60u64);
    for_all("bursts, hop by hop", 100, 1_000, strategy, |(case, seed, warmup)| {
        Ok(kinds.note(&case, check_case(&case, recording(seed, warmup, 1, LONG))?))
    });
    kinds.check("bursts, hop by hop");
}

#[test]
fn all_to_all_packets_routed_hop_by_hop_arrive_as_in_the_oracle() {
    let kinds = Kinds::default();
    let strategy = (cases::scheduled(hop_by_hop::network(16, 1)), any::<u64>(), 0..60u64);
    for_all("all-to-all, hop by hop", 100, 1_000, strategy, |(case, seed, warmup)| {
        Ok(kinds.note(&case, check_case(&case, recording(seed, warmup, 1, LONG))?))
    });
    kinds.check("all-to-all, hop by hop");
}

#[test]
fn packets_of_random_programs_routed_hop_by_hop_arrive_as_in_the_oracle() {
    let kinds = Kinds::default();
    let strategy = (program(hop_by_hop::network(12, 1)), any::<u64>(), 0..60u64);
    for_all("programs, hop by hop", 100, 1_000, strategy, |((case, program), seed, warmup)| {
        Ok(kinds.note(&case, check_program(&case, program, recording(seed, warmup, 1, LONG))?))
    });
    kinds.check("programs, hop by hop");
}
