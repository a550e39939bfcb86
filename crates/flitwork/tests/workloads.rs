//! Workloads beyond all-to-all and Bernoulli traffic: numbers worked out by hand, and laws that every run must obey.

use flitwork::measure::{SimulationResult, Status};
use flitwork::schedule::{OpKind, Schedule, ScheduleBuilder, SizeUnit, TimeUnit};
use flitwork::traffic::{Attached, Matrix, Table, Trace, TraceColumns};
use flitwork::{Error, Plan, PlanBound, Workload, plan_bound, simulate, spec};
use serde_json::{Value, json};
use std::sync::Arc;

fn plan(spec: &Value) -> Plan {
    Plan::new(&spec::from_json(&spec.to_string()).unwrap()).unwrap()
}

fn run(spec: &Value) -> SimulationResult {
    simulate(&plan(spec), &mut |_| true).unwrap()
}

fn bound_cycles(spec: &Value) -> f64 {
    match plan_bound(&plan(spec)).unwrap() {
        PlanBound::Completion(bound) => bound.tightest_cycles,
        other => panic!("{other:?}"),
    }
}

fn torus(size: &[u32]) -> Value {
    json!({ "topology": { "kind": "torus", "size": size }, "router": { "vcs": 4 } })
}

fn burst(pattern: &Value, packets: u32, flits: u32) -> Value {
    json!({ "kind": "burst", "pattern": pattern, "packets": packets, "packet_flits": flits })
}

/// The plan of a specification that names a table.
fn plan_with(spec: &Value, table: &Attached) -> Plan {
    let mut spec = spec::from_json(&spec.to_string()).unwrap();
    spec.attach(std::slice::from_ref(table));
    Plan::new(&spec).unwrap()
}

fn open_matrix(network: &Value, weights: impl Fn(usize, usize) -> f64, n: usize) -> Plan {
    let weights: Vec<f64> = (0..n * n).map(|i| weights(i / n, i % n)).collect();
    let table = Attached::new(Table::Matrix(Arc::new(Matrix::dense(&weights, n).unwrap())));
    let workload =
        json!({ "kind": "traffic", "pattern": { "kind": "matrix", "weights": table }, "offered_load": 0.05 });
    let run = json!({ "warmup_cycles": 500, "measurement_cycles": 60_000 });
    plan_with(&json!({ "network": network, "workload": workload, "run": run }), &table)
}

fn channel_loads(plan: &Plan) -> Vec<f64> {
    match plan_bound(plan).unwrap() {
        PlanBound::Saturation { channels, .. } => channels.classes.iter().map(|class| class.max_flits).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_matrix_of_ones_is_uniform_traffic() {
    for (size, terminals, tie) in [(vec![4, 3], 1, "plus"), (vec![4, 2], 2, "random"), (vec![5], 3, "parity")] {
        let network = json!({
            "topology": { "kind": "torus", "size": size, "terminals_per_router": terminals },
            "routing": { "kind": "dimension_order", "tie": tie },
        });
        let uniform = plan(&json!({ "network": network, "workload": { "kind": "uniform", "offered_load": 0.05 } }));
        let ones = channel_loads(&open_matrix(&network, |_, _| 2.5, uniform.params.terminals));
        for (ones, uniform) in ones.iter().zip(channel_loads(&uniform)) {
            assert!((ones - uniform).abs() < 1e-9, "{size:?}: {ones} for {uniform}");
        }
    }
}

/// Every channel of a run carries what the bound says that the weights put on the most loaded of its class.
#[test]
fn the_channels_carry_what_the_bound_of_a_matrix_says() {
    let network = torus(&[4, 4]);
    let plan = open_matrix(
        &network,
        |from, to| if (from * 7 + to * 3).is_multiple_of(5) { (1 + from % 4) as f64 } else { 0.0 },
        16,
    );
    let result = simulate(&plan, &mut |_| true).unwrap();
    let cycles = 60_000.0;
    for (port, bound) in channel_loads(&plan).into_iter().enumerate() {
        let most = result.measured_channel_flits.iter().skip(port).step_by(4).max().unwrap();
        let carried = *most as f64 / cycles / 0.05;
        // Thousands of flits over the most loaded channel; the largest of 16 lies a little above its mean.
        assert!((carried / bound - 1.0).abs() < 0.06, "port {port}: {carried} for {bound}");
    }
}

/// Two packets of 4 flits and one of 2 from terminal 0, then one of terminal 1 long after: 3 routers in a line.
#[test]
fn packets_of_a_trace_come_in_their_cycles_and_their_order() {
    let columns = TraceColumns {
        cycle: &[0, 0, 5, 1000],
        source: &[0, 0, 0, 1],
        destination: &[1, 2, 1, 0],
        flits: &[4, 4, 2, 3],
    };
    let table = Attached::new(Table::Trace(Arc::new(Trace::new(&columns).unwrap())));
    let network = json!({ "topology": { "kind": "mesh", "size": [3] } });
    let run = json!({ "record": { "packets": true } });
    let spec = json!({ "network": network, "workload": { "kind": "trace", "packets": table }, "run": run });
    let plan = plan_with(&spec, &table);
    let result = simulate(&plan, &mut |_| true).unwrap();
    let records: Vec<_> =
        result.packet_records.iter().map(|r| (r.src, r.created, r.injected, r.arrived - r.injected)).collect();
    // A hop takes a cycle, a packet as many cycles more as it has flits behind its head.
    assert_eq!(records, [(0, 0, 0, 3 + 3), (0, 0, 4, 4 + 3), (0, 5, 8, 3 + 1), (1, 1000, 1000, 3 + 2)]);
    assert_eq!((result.completion_cycles, result.status), (1005, Status::Complete));
    let PlanBound::Completion(bound) = plan_bound(&plan).unwrap() else { panic!("it completes") };
    assert_eq!((bound.channel_load_cycles, bound.ejection_cycles, bound.injection_cycles), (10.0, 6.0, 1003.0));
}

#[test]
fn packets_of_a_burst_follow_each_other_without_a_gap() {
    let pair = json!({ "topology": { "kind": "mesh", "size": [2] } });
    let swap = json!({ "kind": "permutation", "destinations": [1, 0] });
    let spec = json!({ "network": pair, "workload": burst(&swap, 3, 4), "run": { "record": { "delivery_window_cycles": 5 } } });
    let result = run(&spec);
    // A cycle each to the router, to the next one and to the terminal, then the 12 flits.
    assert_eq!((result.completion_cycles, result.warmup_cycles, result.packets), (3 + 12 - 1, 0, 6));
    let deliveries = result.deliveries.unwrap();
    // Tails arrive in the cycles 6, 10 and 14.
    assert_eq!((deliveries.packets, deliveries.flits), (vec![0, 2, 4], vec![0, 8, 16]));
    assert_eq!(result.packet_latency.max_cycles, Some(14), "all packets were created at t = 0");
    assert_eq!(result.accepted_load, 24.0 / (14.0 * 2.0));
}

#[test]
fn who_would_send_to_himself_sends_nothing() {
    let pattern = json!({ "kind": "permutation", "destinations": [0, 1, 2, 3, 5, 4, 6, 7, 8] });
    let result = run(&json!({ "network": torus(&[3, 3]), "workload": burst(&pattern, 4, 2) }));
    assert_eq!(result.packets, 8);
    let nobody = json!({ "kind": "permutation", "destinations": [0, 1, 2, 3, 4, 5, 6, 7, 8] });
    let result = run(&json!({ "network": torus(&[3, 3]), "workload": burst(&nobody, 4, 2) }));
    assert_eq!((result.packets, result.completion_cycles, result.status), (0, 0, Status::Complete));
    // Beside a background that was there before.
    let background = json!({ "kind": "uniform", "offered_load": 0.01, "packet_flits": 1 });
    let spec = json!({ "network": torus(&[3, 3]), "workload": burst(&nobody, 4, 2), "background": background,
                       "run": { "warmup_cycles": 50 } });
    let result = run(&spec);
    assert_eq!((result.packets, result.completion_cycles, result.status), (0, 0, Status::Complete));
}

#[test]
fn no_burst_beats_its_bound() {
    let shuffle = json!({ "kind": "shuffle" });
    let uniform = json!({ "kind": "uniform" });
    // The bound knows what the seed draws: when the last packet of the slowest source comes, what the busiest terminal
    // receives.
    for (pattern, rate, least) in [(&shuffle, 0.0, 0.7), (&shuffle, 0.05, 0.6), (&uniform, 0.0, 0.4)] {
        let mut workload = burst(pattern, 40, 8);
        workload["rate"] = json!(rate);
        let spec = json!({ "network": torus(&[8, 8]), "workload": workload });
        let share = bound_cycles(&spec) / run(&spec).completion_cycles as f64;
        assert!(share <= 1.0 && share > least, "{pattern} {rate}: {share}");
    }
}

#[test]
fn a_background_runs_before_and_during_a_burst_and_is_measured_on_its_own() {
    let mut spec = json!({
        "network": torus(&[8, 8]),
        "workload": burst(&json!({ "kind": "transpose" }), 30, 8),
        "background": { "kind": "uniform", "offered_load": 0.2, "packet_flits": 4 },
        "run": { "warmup_cycles": 500, "record": { "packets": true, "delivery_window_cycles": 100 } },
    });
    let result = run(&spec);
    let background = result.background.as_ref().unwrap();
    assert_eq!((result.warmup_cycles, result.packets), (500, 30 * 56));
    assert!((background.offered_load - 0.2).abs() < 0.02, "{}", background.offered_load);
    let of = |background: bool| result.packet_records.iter().filter(move |r| r.background == background);
    assert!(of(false).all(|r| r.created == 500 && r.flits == 8));
    assert_eq!(of(false).map(|r| r.arrived).max(), Some(500 + result.completion_cycles));
    assert!(of(true).any(|r| r.arrived < 500), "it starts before t = 0");
    let delivered: u64 = result.deliveries.iter().flat_map(|d| &d.packets).sum();
    assert_eq!(delivered, result.packets);
    let late = of(true).filter(|r| (500..=500 + result.completion_cycles).contains(&r.arrived)).count() as u64;
    assert_eq!(background.deliveries.iter().flat_map(|d| &d.packets).sum::<u64>(), late);
    spec["background"] = Value::Null;
    let alone = run(&spec);
    assert_eq!(alone.warmup_cycles, 0);
    assert!(alone.completion_cycles < result.completion_cycles && alone.background.is_none());
}

/// With the source queue first come, first served, packets of the background wait behind the whole burst; in turn they
/// do not.
#[test]
fn the_source_queue_is_fair_if_asked_to_be() {
    let mut spec = json!({
        "network": torus(&[4, 4]),
        "workload": burst(&json!({ "kind": "bit_complement" }), 50, 8),
        "background": { "kind": "uniform", "offered_load": 0.1, "packet_flits": 2 },
        "run": { "warmup_cycles": 300 },
    });
    let wait = |spec: &Value| {
        let latency = run(spec).background.unwrap().packet_latency;
        (latency.mean_cycles.unwrap(), latency.count)
    };
    let fifo = wait(&spec);
    spec["network"]["nic"] = json!({ "source_queue": "alternate" });
    let alternate = wait(&spec);
    assert!(alternate.0 * 4.0 < fifo.0, "{alternate:?} {fifo:?}");
    assert!(alternate.1 > 2 * fifo.1, "more of them arrive before the burst is over");
}

#[test]
fn two_open_loops_are_measured_apart() {
    let result = run(&json!({
        "network": torus(&[8, 8]),
        "workload": { "kind": "traffic", "pattern": { "kind": "neighbour" }, "offered_load": 0.1, "packet_flits": 4 },
        "background": { "kind": "uniform", "offered_load": 0.2, "packet_flits": 1 },
        "run": { "warmup_cycles": 1000, "measurement_cycles": 20_000 },
    }));
    let background = result.background.unwrap();
    assert_eq!((result.status, result.mean_hops), (Status::Complete, Some(2.0)));
    assert!(background.mean_hops.is_some_and(|hops| (hops - 4.0).abs() < 0.1), "{:?}", background.mean_hops);
    for (found, expected) in [
        (result.offered_load, 0.1),
        (result.accepted_load, 0.1),
        (background.offered_load, 0.2),
        (background.accepted_load, 0.2),
    ] {
        assert!((found - expected).abs() < 0.03 * expected, "{found} for {expected}");
    }
}

#[test]
fn bursts_of_injection_and_mixed_lengths_keep_the_offered_load() {
    let mut spec = json!({
        "network": torus(&[8, 8]),
        "workload": { "kind": "uniform", "offered_load": 0.1,
            "packet_flits": [{ "flits": 1, "share": 4 }, { "flits": 9, "share": 1 }] },
        "run": { "warmup_cycles": 500, "measurement_cycles": 40_000 },
    });
    let smooth = run(&spec);
    spec["workload"]["process"] = json!({ "kind": "on_off", "mean_on_cycles": 40, "mean_off_cycles": 160 });
    let bursty = run(&spec);
    for result in [&smooth, &bursty] {
        assert!((result.offered_load - 0.1).abs() < 0.005, "{}", result.offered_load);
        assert!((result.accepted_load - 0.1).abs() < 0.005, "{}", result.accepted_load);
    }
    let latency = |result: &SimulationResult| result.packet_latency.mean_cycles.unwrap();
    assert!(latency(&bursty) > 1.2 * latency(&smooth));
}

#[test]
fn a_burst_that_is_cut_off_says_how_far_it_came() {
    let spec = json!({ "network": torus(&[8, 8]), "workload": burst(&json!({ "kind": "transpose" }), 1000, 8),
        "run": { "max_cycles": 300 } });
    let error = simulate(&plan(&spec), &mut |_| true).unwrap_err();
    assert!(matches!(error, Error::CycleLimit { cycles: 300, .. }), "{error}");
    assert!(error.to_string().contains(" of 56000 packets have arrived"), "{error}");
}

/// Two ranks that wait for each other's message before they send their own.
#[test]
fn a_schedule_that_cannot_go_on_is_found_out_with_a_background_too() {
    let mut b = ScheduleBuilder::new("stuck");
    for other in [1, 0] {
        let answer = b.op(OpKind::Receive { from: other, size: 5, tag: 0 }, 0, &[]);
        b.op(OpKind::Send { to: other, size: 5, tag: 0 }, 0, &[answer]);
        b.end_rank();
    }
    let mut plan = plan(&json!({
        "network": { "topology": { "kind": "mesh", "size": [2] } },
        "workload": { "kind": "all_to_all", "algorithm": "a2a" },
        "background": { "kind": "uniform", "offered_load": 0.1 },
    }));
    plan.workload = Workload::Schedule { schedule: b.build(), packet_flits: 5 };
    let error = simulate(&plan, &mut |_| true).unwrap_err();
    assert!(matches!(&error, Error::Schedule { name, .. } if name == "stuck"), "{error}");
}

/// Which channels a packet takes does not depend on how its virtual channels are divided: the same bound, not that of
/// any routing.
#[test]
fn fixed_ways_have_their_exact_bound() {
    let bound_under = |routing: Value, compat: Value| {
        let mut network = torus(&[8, 8]);
        network["routing"] = routing;
        network["router"]["compat"] = compat;
        network["router"]["switching"] = json!("virtual_cut_through");
        bound_cycles(&json!({ "network": network, "workload": burst(&json!({ "kind": "transpose" }), 20, 8) }))
    };
    let bound = |routing| bound_under(routing, json!({}));
    let plain = bound(json!({ "kind": "dimension_order" }));
    assert_eq!(bound(json!({ "kind": "dimension_order", "classes": "crossed" })), plain);
    assert_eq!(bound_under(json!({ "kind": "min_adapt" }), json!({ "productive": "first" })), plain);
    assert!(bound(json!({ "kind": "min_adapt" })) < plain);
}

/// An all-to-all on a torus of 4 x 4 whose flits have 16 bytes.
fn in_bytes(size: &Value) -> Value {
    let mut workload = json!({ "kind": "all_to_all", "algorithm": "a2a", "packet_flits": 3 });
    workload.as_object_mut().unwrap().extend(size.as_object().unwrap().clone());
    let mut network = torus(&[4, 4]);
    network["units"] = json!({ "flit_bytes": 16, "cycle_ns": 0.5 });
    json!({ "network": network, "workload": workload })
}

#[test]
fn bytes_are_the_flits_that_they_fill() {
    let (bytes, flits) = (in_bytes(&json!({ "message_bytes": 97 })), in_bytes(&json!({ "message_flits": 7 })));
    let (in_bytes, in_flits) = (run(&bytes), run(&flits));
    assert_eq!((in_bytes.digest, in_bytes.completion_cycles), (in_flits.digest, in_flits.completion_cycles));
    assert_eq!(bound_cycles(&bytes), bound_cycles(&flits));
}

#[test]
fn a_resolved_plan_says_bytes_or_flits_and_is_one_again() {
    for (size, field) in [
        (json!({ "message_bytes": 97 }), "message_bytes"),
        (json!({ "message_flits": 7 }), "message_flits"),
        (json!({}), "message_flits"),
    ] {
        let once = plan(&in_bytes(&size));
        let resolved = serde_json::to_value(&once.spec).unwrap();
        let other = if field == "message_bytes" { "message_flits" } else { "message_bytes" };
        assert!(resolved["workload"][field].is_u64() && resolved["workload"].get(other).is_none(), "{resolved}");
        assert_eq!(plan(&resolved).hash(), once.hash());
    }
    // What says nothing of units is the plan that it was.
    let plain = json!({ "network": torus(&[4, 4]), "workload": { "kind": "all_to_all", "algorithm": "a2a" } });
    let resolved = serde_json::to_value(&plan(&plain).spec).unwrap();
    assert_eq!(resolved["workload"]["message_flits"], 100);
    assert!(resolved["network"].get("units").is_none());
}

#[test]
fn a_schedule_in_bytes_and_ns_runs_in_the_units_of_the_network() {
    let mut b = ScheduleBuilder::new("bytes").in_units(SizeUnit::Bytes, TimeUnit::Ns);
    b.op(OpKind::Compute { time: 101 }, 0, &[]);
    b.op(OpKind::Send { to: 1, size: 33, tag: 0 }, 0, &[0]);
    b.end_rank();
    b.op(OpKind::Receive { from: 0, size: 33, tag: 0 }, 0, &[]);
    b.end_rank();
    let schedule = b.build();
    let cycles = |units: Value, schedule: &Schedule| {
        let mut network = torus(&[2]);
        network["units"] = units;
        let mut plan = plan(&json!({ "network": network, "workload": { "kind": "all_to_all", "algorithm": "a2a" } }));
        plan.workload = Workload::Schedule { schedule: schedule.clone(), packet_flits: 8 };
        let bound = plan_bound(&plan).map(|_| ());
        simulate(&plan, &mut |_| true)
            .map(|result| (result.flit_hops, result.completion_cycles))
            .and_then(|r| bound.map(|()| r))
    };
    let mut b = ScheduleBuilder::new("flits");
    b.op(OpKind::Compute { time: 51 }, 0, &[]);
    b.op(OpKind::Send { to: 1, size: 3, tag: 0 }, 0, &[0]);
    b.end_rank();
    b.op(OpKind::Receive { from: 0, size: 3, tag: 0 }, 0, &[]);
    b.end_rank();
    let units = json!({ "flit_bytes": 16, "cycle_ns": 2 });
    let found = cycles(units, &schedule).unwrap();
    assert_eq!(found, cycles(json!({}), &b.build()).unwrap());
    assert!(found.1 > 51 + 3, "{found:?}");
    let fault = |units| cycles(units, &schedule).unwrap_err().to_string();
    assert!(fault(json!({ "cycle_ns": 2 })).contains("network.units.flit_bytes"));
    assert!(fault(json!({ "flit_bytes": 16 })).contains("network.units.cycle_ns"));
}

#[test]
fn several_ranks_run_on_a_terminal_where_they_are_placed() {
    let messages = |placement: Value| {
        let host = json!({ "ranks_per_terminal": 2, "placement": placement });
        let workload = json!({ "kind": "all_to_all", "algorithm": "a2a", "message_flits": 4 });
        let plan = plan(&json!({ "network": torus(&[4]), "host": host, "workload": workload }));
        let result = simulate(&plan, &mut |_| true).unwrap();
        (plan.placement.terminal_of().to_vec(), result.packets)
    };
    // Each of 8 ranks sends to 7 others, of which one is on the same terminal.
    let (block, packets) = messages(json!({ "kind": "block" }));
    assert_eq!(block, [0, 0, 1, 1, 2, 2, 3, 3]);
    assert_eq!(packets, 8 * 7);
    let (round_robin, packets) = messages(json!({ "kind": "round_robin" }));
    assert_eq!(round_robin, [0, 1, 2, 3, 0, 1, 2, 3]);
    assert_eq!(packets, 8 * 7);
}

/// The watchdog looks in every cycle in which nothing moved: a packet that is alone in a stage of its router is not
/// stuck.
#[test]
fn a_packet_in_a_stage_of_its_router_is_no_deadlock() {
    for (routing, allocation, flits, iterations) in
        (0..54).map(|i| (i % 3, i / 3 % 3, [1, 2, 7][i / 9 % 3], 1 + i / 27))
    {
        let router = json!({
            "vcs": 4, "routing_delay_cycles": routing, "vc_alloc_delay_cycles": allocation,
            "vc_allocator": { "kind": "islip", "iterations": iterations },
        });
        let spec = json!({
            "network": { "topology": { "kind": "torus", "size": [4, 4] }, "router": router },
            "workload": { "kind": "uniform", "offered_load": 0.0005 * flits as f64, "packet_flits": flits },
            "run": { "warmup_cycles": 0, "measurement_cycles": 20_000, "watchdog_cycles": 1 },
        });
        assert!(run(&spec).packets > 50);
    }
}
