//! What must not change a result, does not; what cannot go on, ends.

use super::router::{ClassMasks, Counted, Memory, OutputVc, Port};
use super::{Router, Variation, VcMask, simulate};
use crate::error::Error;
use crate::kernel::simulation::Simulation;
use crate::measure::{KernelName, SimulationResult, StallReason, Status};
use crate::plan::Plan;
use crate::run::{PlanBound, plan_bound};
use crate::spec::from_json;
use crate::topology::{Channel, Fabric, Graph};
use crate::transit::CompiledSize;
use serde_json::{Value, json};

pub(super) fn plan(network: Value, workload: Value, run: Value) -> Plan {
    let spec = json!({ "network": network, "workload": workload, "run": run }).to_string();
    Plan::new(&from_json(&spec).unwrap()).unwrap()
}

pub(super) fn run(plan: &Plan, variation: Variation) -> SimulationResult {
    simulate(plan, variation, &mut |_| true).unwrap()
}

pub(super) fn uniform(load: f64, flits: u32) -> Value {
    json!({ "kind": "uniform", "offered_load": load, "packet_flits": flits })
}

pub(super) fn short() -> Value {
    json!({ "warmup_cycles": 200, "measurement_cycles": 400 })
}

/// Networks that between them use every rule of the router.
fn networks() -> Vec<Value> {
    let torus = json!({ "kind": "torus", "size": [4, 3] });
    let routers = [
        json!({ "vcs": 2 }),
        json!({ "vcs": 6, "buffer_flits": 3, "routing_delay_cycles": 1, "vc_alloc_delay_cycles": 1, "st_delay_cycles": 1 }),
        json!({ "vcs": 4, "switching": "virtual_cut_through" }),
        json!({ "vcs": 24, "vc_policy": "destination", "buffer_flits": 2 }),
        json!({ "vcs": 4, "wait_for_tail_credit": true, "vc_busy_when_full": true }),
        json!({ "vcs": 4, "speculative": true, "hold_switch_for_packet": true, "vc_alloc_delay_cycles": 1 }),
        json!({ "vcs": 4, "input_speedup": 2, "output_speedup": 2, "sw_allocator": { "kind": "wavefront" } }),
        json!({ "vcs": 4, "sw_allocator": { "kind": "separable_input_first", "arbiter": "oldest_first" },
                "vc_allocator": { "kind": "separable_output_first", "arbiter": "fcfs" } }),
    ];
    routers.into_iter().map(|router| json!({ "topology": torus, "router": router })).collect()
}

/// A network in which packets move whole.
fn in_whole_packets() -> Value {
    let router = json!({ "vcs": 4, "switching": "virtual_cut_through", "hold_switch_until_tail": true });
    json!({ "topology": { "kind": "torus", "size": [4, 3] }, "router": router })
}

/// Packets that take longer than the watchdog waits are no deadlock.
#[test]
fn a_long_packet_is_no_deadlock() {
    let mut network = in_whole_packets();
    network["router"]["buffer_flits"] = json!(3000);
    let all_to_all = json!({ "kind": "all_to_all", "algorithm": "a2a", "message_flits": 3000 });
    let plan = plan(network, all_to_all, json!({ "watchdog_cycles": 100 }));
    let result = run(&plan, Variation::default());
    assert_eq!(result.kernel, KernelName::Packet);
    assert_eq!(result.digest, run(&plan, Variation { flits: true, ..Variation::default() }).digest);
}

#[test]
fn the_visiting_order_of_routers_changes_nothing() {
    let large = json!({ "topology": { "kind": "torus", "size": [12, 9] }, "router": { "vcs": 4 } });
    for network in networks().into_iter().chain([large, in_whole_packets()]) {
        let plan = plan(network.clone(), uniform(0.4, 5), short());
        let ascending = run(&plan, Variation::default());
        for shuffle in [1, 2, 3] {
            assert_eq!(ascending, run(&plan, Variation { shuffle, ..Default::default() }), "{network} {shuffle}");
        }
        assert!(ascending.packets > 100);
    }
}

/// Packets of one flit have a short way through routers whose VC allocation takes a cycle: it is that of the general
/// path, and of routers visited in another order, where all packets are short and where some are, few or many of them
/// meet, and credits are scarce.
#[test]
fn the_short_way_of_single_flits_changes_nothing() {
    let mixed = json!([{ "flits": 1, "share": 3 }, { "flits": 4, "share": 1 }]);
    let tree = json!({ "kind": "xgft", "children": [4, 4], "parents": [1, 4] });
    let networks = [
        (json!({ "kind": "torus", "size": [4, 3] }), json!("dimension_order")),
        (json!({ "kind": "mesh", "size": [3, 2, 2] }), json!("dimension_order")),
        (tree.clone(), json!("d_mod_k")),
        (tree, json!("adaptive_up")),
    ];
    let mut met = 0;
    for ((topology, routing), case) in networks.into_iter().flat_map(|network| std::iter::repeat(network).zip(0..24)) {
        let (delay, vcs, flits) =
            (case % 3, [2, 6, 12, 4][case / 3 % 4], if case < 12 { json!(1) } else { mixed.clone() });
        let (load, buffer) = ([0.1, 0.5, 1.0][(case + case / 3) % 3], [1, 2, 5][case / 4 % 3]);
        let router =
            json!({ "vcs": vcs, "buffer_flits": buffer, "routing_delay_cycles": delay, "vc_alloc_delay_cycles": 1 });
        let network = json!({ "topology": topology, "routing": { "kind": routing }, "router": router });
        let workload = json!({ "kind": "uniform", "offered_load": load, "packet_flits": flits });
        let run_for = json!({ "warmup_cycles": 100, "measurement_cycles": 300, "max_cycles": 500 });
        let plan = plan(network.clone(), workload, run_for);
        let short = run(&plan, Variation::default());
        for variation in
            [Variation { general: true, ..Variation::default() }, Variation { shuffle: 5, ..Variation::default() }]
        {
            assert_eq!(short, run(&plan, variation), "{network} {load} {flits} {variation:?}");
        }
        met += u32::from(short.packets > 100);
    }
    assert!(met > 80, "{met}");
}

/// Batches of events and words of routers that are full, and the rest of them.
#[test]
fn asking_for_lines_ahead_changes_nothing() {
    let torus = |router: Value| json!({ "topology": { "kind": "torus", "size": [25, 13] }, "router": router });
    let tree = json!({ "topology": { "kind": "xgft", "children": [4, 4], "parents": [1, 4] }, "router": { "vcs": 4 } });
    let pipeline = torus(json!({ "vcs": 4, "routing_delay_cycles": 1, "vc_alloc_delay_cycles": 1 }));
    for network in networks().into_iter().chain([torus(json!({ "vcs": 8 })), pipeline, tree]) {
        for flits in [1, 5] {
            let plan = plan(network.clone(), uniform(0.2, flits), short());
            let ahead = run(&plan, Variation { ahead: true, ..Default::default() });
            assert_eq!(run(&plan, Variation::default()), ahead, "{network} {flits}");
            assert!(ahead.packets > 100);
        }
    }
}

/// Terminals 0 and 1 of a line send all that they can to terminal 2: both arrive there, or only what router 1 has in
/// transit.
#[test]
fn transit_goes_first_where_injection_is_last() {
    let share_of_the_first = |priority: &str, general: bool| {
        let router = json!({ "vcs": 4, "injection_priority": priority });
        let network =
            json!({ "topology": { "kind": "mesh", "size": [3] }, "router": router, "nic": { "injection_vcs": [1] } });
        let hotspot =
            json!({ "kind": "traffic", "pattern": { "kind": "hotspot", "terminals": [2] }, "offered_load": 1.0 });
        let times = json!({ "warmup_cycles": 500, "measurement_cycles": 1000, "max_cycles": 1500, "record": { "packets": true } });
        let result = run(&plan(network, hotspot, times), Variation { general, ..Variation::default() });
        let arrived = result.packet_records.iter().filter(|packet| packet.arrived != u64::MAX && packet.arrived >= 500);
        let (first, all) = arrived.fold((0, 0), |(first, all), packet| (first + u32::from(packet.src == 0), all + 1));
        assert!(all > 900, "the last channel is busy: {all}");
        f64::from(first) / f64::from(all)
    };
    for general in [false, true] {
        let equal = share_of_the_first("equal", general);
        assert!((0.2..0.7).contains(&equal), "{equal}");
        assert!(share_of_the_first("last", general) > 0.99);
    }
}

/// Four packets of a message, with a pause of 10 cycles behind each but the last; the port pauses behind that one, too,
/// and the message to the third terminal starts after it.
#[test]
fn an_injection_port_pauses_after_each_packet() {
    let cycles = |gap: u32| {
        let network = json!({ "topology": { "kind": "torus", "size": [3] }, "nic": { "packet_gap_cycles": gap } });
        let all_to_all = json!({ "kind": "all_to_all", "algorithm": "a2a", "message_flits": 16, "packet_flits": 4 });
        run(&plan(network, all_to_all, json!({})), Variation::default()).completion_cycles
    };
    assert_eq!(cycles(10), cycles(0) + 7 * 10);
}

/// Two routers joined by cables of 7 cycles that take 3 cycles a flit: the last of 10 flits starts 27 cycles after the
/// first.
#[test]
fn a_slow_channel_spaces_flits_and_is_bounded() {
    let spec = json!({
        "network": { "topology": { "kind": "mesh", "size": [2] }, "routing": { "kind": "shortest_path" } },
        "workload": { "kind": "all_to_all", "algorithm": "a2a", "message_flits": 10 },
    });
    let mut channels = Channel::cable((0, 0), (1, 0), 0);
    channels.iter_mut().for_each(|channel| (channel.latency_cycles, channel.cycles_per_flit) = (Some(7), 3));
    let graph =
        Graph { terminals: vec![1, 1], channels: channels.into(), classes: vec!["cable".into()], drawing: None };
    let plan = Plan::on_fabric(&from_json(&spec.to_string()).unwrap(), Fabric::of_graph(&graph).unwrap()).unwrap();
    let result = run(&plan, Variation::default());
    // Injection 1, hop 1 + 7, ejection 1, and the last flit.
    assert_eq!(result.completion_cycles, 1 + 8 + 1 + 27);
    let PlanBound::Completion(bound) = plan_bound(&plan).unwrap() else { panic!("a schedule") };
    assert_eq!(bound.channel_load_cycles, 28.0, "the last flit takes one cycle");
}

#[test]
fn both_ways_through_allocation_and_all_compiled_sizes_agree() {
    for network in networks().into_iter().take(5).chain([in_whole_packets()]) {
        let plan = plan(network.clone(), uniform(0.5, 4), short());
        let fast = run(&plan, Variation::default());
        for variation in [
            Variation { general: true, ..Default::default() },
            Variation { counted: 64, ..Default::default() },
            Variation { general: true, counted: 64, shuffle: 7, ..Variation::default() },
            Variation { flits: true, ..Variation::default() },
        ] {
            assert_eq!(fast, run(&plan, variation), "{network} {variation:?}");
        }
    }
}

/// Routers that are compiled for and those that are counted, with VCs numbered at each distance.
#[test]
fn all_sizes_of_routers_agree() {
    let whole = json!({ "switching": "virtual_cut_through", "hold_switch_until_tail": true });
    let speculative = json!({ "speculative": true, "vc_alloc_delay_cycles": 1 });
    for (ports, vcs) in [(6, 2), (7, 3), (8, 16), (12, 1), (16, 3), (13, 8), (20, 2), (32, 4), (40, 2)] {
        for mut router in [json!({}), whole.clone(), speculative.clone()] {
            router["vcs"] = json!(vcs);
            let network = json!({ "topology": { "kind": "crossbar", "terminals": ports }, "router": router });
            let record = json!({ "warmup_cycles": 50, "measurement_cycles": 100, "record": { "stalls": vcs == 2 } });
            let plan = plan(network, uniform(0.6, 4), record);
            let first = run(&plan, Variation::default());
            assert!(first.packets > 50);
            let distances: &[usize] = if ports == 7 { &[8, 16, 32, 64, 128, 256, 512, 640] } else { &[16, 128] };
            for &counted in distances {
                let other = run(&plan, Variation { counted, ..Variation::default() });
                assert_eq!(first, other, "{ports} ports, {vcs} VCs, counted as {counted}");
            }
        }
    }
}

#[test]
fn a_run_repeats_itself_and_another_seed_does_not() {
    let with_seed = |seed: u64| {
        let mut run = short();
        run["seed"] = json!(seed);
        plan(json!({ "topology": { "kind": "mesh", "size": [3, 3] } }), uniform(0.2, 2), run)
    };
    let digest = |seed| run(&with_seed(seed), Variation::default()).digest;
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
}

#[test]
fn wide_ports_work_with_hundreds_of_vcs() {
    let network = json!({ "topology": { "kind": "torus", "size": [9, 9] },
        "router": { "vcs": 162, "vc_policy": "destination", "buffer_flits": 2 } });
    let all_to_all = json!({ "kind": "all_to_all", "algorithm": "a2at", "message_flits": 5 });
    let result = run(&plan(network, all_to_all, json!({})), Variation::default());
    assert_eq!((result.status, result.packets), (Status::Complete, 81 * 80));
}

/// A ring whose buffers are full of packets that all have to go on: without dateline classes it would deadlock at once.
/// A plan refuses such a network, so the test takes the classes away behind its back.
#[test]
fn a_deadlock_ends_the_run_and_names_the_vcs() {
    let network = json!({ "topology": { "kind": "torus", "size": [6] }, "router": { "vcs": 2, "buffer_flits": 2 } });
    let all_to_all = json!({ "kind": "all_to_all", "algorithm": "a2a", "message_flits": 40 });
    let plan = plan(network, all_to_all, json!({ "watchdog_cycles": 500 }));
    let mut kernel = super::Kernel::<u8, 8, 2, 1, false>::new(&plan, Variation::default()).unwrap();
    kernel.env.allocation.classes = ClassMasks::new(0, 2, false);
    for router in &mut kernel.routers {
        (0..2).for_each(|port| router.port(port).free = 1);
    }
    match Simulation::on(&plan, Box::new(kernel)).unwrap().run(&mut |_| true) {
        Err(Error::Deadlock { waiting, .. }) => {
            assert!(waiting.contains("router [0] ") && waiting.contains(" -> "), "{waiting}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_stops_when_asked() {
    let network = json!({ "topology": { "kind": "torus", "size": [8, 8] } });
    let plan = plan(network, uniform(0.3, 1), json!({ "measurement_cycles": 1_000_000 }));
    let mut calls = 0;
    let result = simulate(&plan, Variation::default(), &mut |_| {
        calls += 1;
        calls < 3
    });
    assert!(matches!(result, Err(Error::Interrupted { .. })));
    assert_eq!(calls, 3);
}

#[test]
fn too_few_cycles_are_an_error_for_a_schedule_and_a_status_for_an_open_loop() {
    let network = json!({ "topology": { "kind": "torus", "size": [4, 4] } });
    let all_to_all = json!({ "kind": "all_to_all", "algorithm": "a2at" });
    let closed = plan(network.clone(), all_to_all, json!({ "max_cycles": 100 }));
    let result = simulate(&closed, Variation::default(), &mut |_| true);
    assert!(matches!(result, Err(Error::CycleLimit { cycles: 100, .. })), "{result:?}");
    let open =
        plan(network, uniform(1.0, 1), json!({ "warmup_cycles": 100, "measurement_cycles": 100, "max_cycles": 210 }));
    assert_eq!(run(&open, Variation::default()).status, Status::Saturated);
}

#[test]
fn an_idle_network_skips_to_the_next_packet() {
    let network = json!({ "topology": { "kind": "mesh", "size": [2] } });
    let plan = plan(network, uniform(1e-7, 1), json!({ "warmup_cycles": 0, "measurement_cycles": 1_000_000_000u64 }));
    let result = run(&plan, Variation::default());
    assert!((100..300).contains(&result.packets), "{}", result.packets);
    assert!(result.packet_latency.max_cycles.is_some_and(|c| c <= 4));
}

#[test]
fn stalls_and_windows_do_not_change_a_run() {
    let network = json!({ "topology": { "kind": "torus", "size": [5, 5] }, "nic": { "ports": 2 } });
    let all_to_all = json!({ "kind": "all_to_all", "algorithm": "a2at", "message_flits": 20, "sync": "local" });
    let plain = run(&plan(network.clone(), all_to_all.clone(), json!({})), Variation::default());
    let record = json!({ "record": { "stalls": true, "packets": true, "channel_window_cycles": 64 } });
    let watched = run(&plan(network, all_to_all, record), Variation::default());
    assert_eq!(plain.digest, watched.digest);
    let windows = watched.channel_windows.unwrap();
    let total: u64 = windows.flits.iter().map(|&f| u64::from(f)).sum();
    assert_eq!(total, plain.channel_flits.iter().sum::<u64>());
    let stalls = watched.stalls.unwrap();
    let reasons = stalls.total.len();
    let by_window = |reason: usize| stalls.windows.iter().skip(reason).step_by(reasons).sum::<u64>();
    (0..reasons).for_each(|reason| assert_eq!(by_window(reason), stalls.total[reason]));
    assert!(stalls.total.iter().sum::<u64>() > 0);
    assert_eq!(watched.packet_records.len() as u64, watched.packets);
}

/// Windows end where the network is empty too, and each of them once.
#[test]
fn windows_of_an_idle_network_are_counted() {
    let network = json!({ "topology": { "kind": "mesh", "size": [2, 2] } });
    for window in [1, 10, 64] {
        let record =
            json!({ "warmup_cycles": 0, "measurement_cycles": 3000, "record": { "channel_window_cycles": window } });
        let found = run(&plan(network.clone(), uniform(0.001, 1), record), Variation::default());
        let windows = found.channel_windows.unwrap();
        let total: u64 = windows.flits.iter().map(|&f| u64::from(f)).sum();
        assert!(total > 0 && total == found.channel_flits.iter().sum::<u64>());
        let rows = (windows.flits.len() / found.channel_flits.len()) as u64;
        assert!((3000_u64.div_ceil(window)..=3030_u64.div_ceil(window)).contains(&rows), "{window}: {rows}");
    }
}

#[test]
fn more_than_the_network_can_carry_is_saturated() {
    let network = json!({ "topology": { "kind": "mesh", "size": [8, 8] }, "router": { "vcs": 4 } });
    let status = |load: f64, warmup: u64| {
        let run_spec = json!({ "warmup_cycles": warmup, "measurement_cycles": 1500 });
        run(&plan(network.clone(), uniform(load, 2), run_spec), Variation::default()).status
    };
    assert_eq!((status(0.1, 0), status(0.3, 500)), (Status::Complete, Status::Complete));
    assert_eq!((status(0.6, 500), status(0.9, 500)), (Status::Saturated, Status::Saturated));
}

/// Everybody sends to the middle. With one VC a port only one packet at a time has an ejection VC, so that nobody
/// competes with it for the ejection port; with several VCs their owners do.
#[test]
fn at_the_destination_the_port_and_its_vcs_are_told_apart() {
    let waits = |vcs: u32| {
        let network = json!({ "topology": { "kind": "mesh", "size": [3] }, "router": { "vcs": vcs } });
        let pattern = json!({ "kind": "hotspot", "terminals": [1] });
        let traffic = json!({ "kind": "traffic", "pattern": pattern, "offered_load": 0.6, "packet_flits": 4 });
        let record = json!({ "warmup_cycles": 200, "measurement_cycles": 400, "record": { "stalls": true } });
        let total = run(&plan(network, traffic, record), Variation::default()).stalls.unwrap().total;
        [StallReason::EjectionPortBusy, StallReason::NoEjectionVc].map(|reason| total[reason as usize])
    };
    let ([port_alone, vc_alone], [port, vc]) = (waits(1), waits(2));
    assert!(port_alone == 0 && vc_alone > 500, "{port_alone} {vc_alone}");
    assert!(port > 500 && vc > 500, "{port} {vc}");
}

/// If this fails, the same plan gives another result than before: raise `OPEN_LOOP_REVISION` in `plan/mod.rs`, and
/// `MODEL_REVISION` unless it is only that open loops end elsewhere; say so in the change log, and write the new
/// digests here.
#[test]
fn digests_are_those_of_this_model_revision() {
    let digests: Vec<String> = networks()
        .into_iter()
        .map(|network| run(&plan(network, uniform(0.4, 5), short()), Variation::default()).digest)
        .collect();
    assert_eq!(digests, GOLDEN);
}

const GOLDEN: [&str; 8] = [
    "7e0a1e7cc25b8804",
    "f67386b229e4eb71",
    "06a9620efbe80800",
    "d16e309f245fdbd4",
    "7d4f137edc8a9cd2",
    "4aa022a90e3c93b3",
    "158a66a24632b9ad",
    "f33e8098840cdd36",
];

/// Plans estimate memory from a table of sizes, because they are made before, and without, a kernel.
#[test]
fn routers_are_as_large_as_the_table_of_sizes_says() {
    fn within<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize>() -> (usize, usize, usize) {
        (PORTS, VCS, size_of::<Router<M, PORTS, VCS, WORDS, false>>())
    }
    let real = [
        within::<u8, 8, 2, 1>(),
        within::<u8, 8, 4, 1>(),
        within::<u8, 16, 2, 1>(),
        within::<u8, 8, 8, 1>(),
        within::<u8, 16, 4, 1>(),
        within::<u8, 32, 2, 1>(),
        within::<u16, 8, 16, 2>(),
        within::<u8, 16, 8, 2>(),
        within::<u8, 32, 4, 2>(),
        within::<u8, 64, 2, 2>(),
    ];
    let said = CompiledSize::all().iter().map(|size| (size.ports, size.vcs, size.router_bytes));
    assert_eq!(said.collect::<Vec<_>>(), real);
}

#[test]
fn counted_routers_are_as_large_as_the_table_of_sizes_says() {
    fn counted<M: VcMask, const VCS: usize, const WORDS: usize>(ports: usize, vcs: usize) {
        let memory = Counted::<M, VCS>::new(ports, vcs, Port::new(vcs), OutputVc::new(0));
        let bytes = size_of::<Router<M, 64, VCS, WORDS, false>>() + memory.bytes_outside();
        let said = CompiledSize::of_all(ports, vcs);
        assert_eq!((said.counted, said.vcs, said.router_bytes), (true, VCS, bytes), "{ports} ports, {vcs} VCs");
    }
    counted::<u64, 8, 9>(17, 5);
    counted::<u64, 16, 17>(64, 16);
    counted::<u64, 32, 33>(8, 17);
    counted::<u64, 64, 65>(64, 64);
    counted::<[u64; 2], 128, 129>(5, 65);
    counted::<[u64; 4], 256, 257>(9, 162);
    counted::<[u64; 8], 512, 513>(2, 512);
    counted::<[u64; 10], 640, 641>(64, 577);
}
