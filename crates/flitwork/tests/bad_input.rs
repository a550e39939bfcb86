//! Everything a careless user can write is answered by an error that names the field, the value and what was expected.

use flitwork::{Error, Plan, spec};
use proptest::prelude::*;
use serde_json::{Value, json};

fn good() -> Value {
    json!({
        "network": { "topology": { "kind": "torus", "size": [4, 4] }, "router": {}, "routing": { "kind": "dimension_order" },
                     "nic": {}, "channel": {} },
        "workload": { "kind": "all_to_all", "algorithm": "a2at", "message_flits": 10 },
        "run": {},
    })
}

/// The error for the good specification with one field changed.
fn error(path: &str, value: Value) -> (String, String, String, String) {
    let mut spec = good();
    let (table, field) = path.rsplit_once('/').unwrap();
    spec.pointer_mut(table).unwrap()[field] = value;
    match spec::from_json(&spec.to_string()).and_then(|s| Plan::new(&s)) {
        Err(Error::Config { path, value, expected, hint }) => (path, value, expected, hint),
        other => panic!("{path}: {other:?}"),
    }
}

#[test]
fn the_good_specification_is_good() {
    Plan::new(&spec::from_json(&good().to_string()).unwrap()).unwrap();
}

fn in_bytes(message_bytes: u64) -> Value {
    json!({ "kind": "all_to_all", "algorithm": "a2at", "message_bytes": message_bytes })
}

#[test]
fn every_fault_names_its_field_and_value() {
    let cases = [
        ("/network/topology/size", json!([]), "network.topology.size", "[]"),
        ("/network/topology/size", json!([4, 0]), "network.topology.size[1]", "0"),
        ("/network/topology/size", json!([4, -1]), "network.topology.size[1]", "-1"),
        ("/network/topology/size", json!([2, 2, 2, 2, 2, 2, 2]), "network.topology.size", "[2, 2, 2, 2, 2, 2, 2]"),
        ("/network/topology/size", json!([100_000, 100_000]), "network.topology.size[0]", "100000"),
        ("/network/topology/size", json!([8192, 8192, 16]), "network.topology.size", "[8192, 8192, 16]"),
        ("/network/topology/terminals_per_router", json!(0), "network.topology.terminals_per_router", "0"),
        ("/network/topology/terminals_per_router", json!(2), "network.topology.terminals_per_router", "2"),
        ("/network/routing/order", json!([0, 0]), "network.routing.order", "[0, 0]"),
        ("/network/router/vcs", json!(0), "network.router.vcs", "0"),
        ("/network/router/vcs", json!(1), "network.router.vcs", "1"),
        ("/network/router/vcs", json!(100_000), "network.router.vcs", "100000"),
        ("/network/router/vcs", json!("two"), "network.router.vcs", "\"two\""),
        ("/network/router/vc_policy", json!("destination"), "network.router.vcs", "2"),
        ("/network/router/buffer_flits", json!(0), "network.router.buffer_flits", "0"),
        ("/network/router/buffer_flits", json!(1.5), "network.router.buffer_flits", "1.5"),
        ("/network/router/shared_buffer_flits", json!(65_520), "network.router.shared_buffer_flits", "65520"),
        ("/network/router/shared_buffer_flits", json!(-1), "network.router.shared_buffer_flits", "-1"),
        ("/network/router/input_speedup", json!(0), "network.router.input_speedup", "0"),
        ("/network/router/sw_alloc_delay_cycles", json!(0), "network.router.sw_alloc_delay_cycles", "0"),
        ("/network/router/routing_delay_cycles", json!(1_000_000), "network.router.routing_delay_cycles", "1000000"),
        ("/network/router/vc_allocator", json!({ "iterations": 0 }), "network.router.vc_allocator.iterations", "0"),
        (
            "/network/router/sw_allocator",
            json!({ "kind": "wavefront", "iterations": 2 }),
            "network.router.sw_allocator.iterations",
            "2",
        ),
        ("/network/nic/ports", json!(0), "network.nic.ports", "0"),
        ("/network/nic/ports", json!(1000), "network.nic.ports", "1000"),
        ("/network/channel/latency_cycles", json!(-1), "network.channel.latency_cycles", "-1"),
        ("/workload/algorithm", json!("a2ta"), "workload.algorithm", "a2ta"),
        ("/workload/message_flits", json!(0), "workload.message_flits", "0"),
        ("/workload/message_bytes", json!(0), "workload.message_bytes", "0"),
        ("/workload/message_bytes", json!(64), "workload.message_bytes", "64"),
        ("/workload", in_bytes(64), "network.units.flit_bytes", "nothing"),
        ("/workload", in_bytes(0), "workload.message_bytes", "0"),
        ("/network/units", json!({ "flit_bytes": 0 }), "network.units.flit_bytes", "0"),
        ("/network/units", json!({ "flit_byte": 16 }), "network.units.flit_byte", "16"),
        ("/network/units", json!({ "cycle_ns": -0.5 }), "network.units.cycle_ns", "-0.5"),
        ("/workload/message_flits", json!("10 kB"), "workload.message_flits", "\"10 kB\""),
        ("/workload/packet_flits", json!(100_000), "workload.packet_flits", "100000"),
        ("/workload/sync", json!("lokal"), "workload.sync", "\"lokal\""),
        ("/workload", json!({ "kind": "uniform", "offered_load": -0.1 }), "workload.offered_load", "-0.1"),
        ("/workload", json!({ "kind": "uniform", "offered_load": 1.5 }), "workload.offered_load", "1.5"),
        ("/workload", json!({ "kind": "uniform" }), "workload.offered_load", "nothing"),
        ("/workload", traffic("packet_flits", json!("long")), "workload.packet_flits", "long"),
        ("/workload", traffic("packet_flits", json!(-4)), "workload.packet_flits", "-4"),
        ("/workload", traffic("packet_flits", json!([])), "workload.packet_flits", "[]"),
        ("/workload", traffic("packet_flits", shares(0, 1.0)), "workload.packet_flits[1].flits", "0"),
        ("/workload", traffic("packet_flits", shares(4, -1.0)), "workload.packet_flits[1].share", "-1.0"),
        (
            "/workload",
            traffic("packet_flits", shares(4, f64::MAX)),
            "workload.packet_flits[1].share",
            "1.7976931348623157e308",
        ),
        ("/workload", traffic("load", json!(0.2)), "workload.load", "0.2"),
        ("/workload", pattern(json!({ "kind": "hotspot" })), "workload.pattern.terminals", "nothing"),
        (
            "/workload",
            pattern(json!({ "kind": "hotspot", "terminals": [1, 2], "shares": [f64::MAX, f64::MAX] })),
            "workload.pattern.shares[1]",
            "1.7976931348623157e308",
        ),
        ("/workload", traffic("process", json!({ "kind": "on_off" })), "workload.process.mean_on_cycles", "nothing"),
        ("/workload", traffic("process", json!({ "kind": "of_off" })), "workload.process.kind", "of_off"),
        ("/workload", traffic("process", on_off(0.5, 10.0)), "workload.process.mean_on_cycles", "0.5"),
        ("/workload", traffic("process", on_off(10.0, 1e12)), "workload.process.mean_off_cycles", "1000000000000"),
        ("/workload", traffic("process", on_off(10.0, 500.0)), "workload.process.mean_off_cycles", "500"),
        ("/workload", burst(0, 0.0), "workload.packets", "0"),
        ("/workload", burst(3, -0.1), "workload.rate", "-0.1"),
        ("/workload", burst(3, 1.5), "workload.rate", "1.5"),
        ("/background", json!({ "kind": "uniform", "offered_load": 0 }), "background.offered_load", "0"),
        ("/background", json!({ "kind": "all_to_all", "algorithm": "a2a" }), "background.kind", "all_to_all"),
        ("/background", burst(3, 0.0), "background.kind", "burst"),
        (
            "/background",
            json!({ "kind": "traffic", "offered_load": 0.1, "pattern": { "kind": "hotspot", "terminals": [99] } }),
            "background.pattern.terminals[0]",
            "99",
        ),
        ("/background", json!({ "kind": "trace" }), "background.kind", "trace"),
        ("/workload", json!({ "kind": "trace" }), "workload.packets", "nothing"),
        ("/workload", json!({ "kind": "trace", "file": "t.csv" }), "workload.file", "t.csv"),
        ("/workload", json!({ "kind": "trace", "packets": { "sha256": "ab", "rows": 3 } }), "workload.packets", "ab"),
        ("/workload", pattern(json!({ "kind": "matrix" })), "workload.pattern.weights", "nothing"),
        ("/workload", pattern(json!({ "kind": "matrix", "file": "m.npy" })), "workload.pattern.file", "m.npy"),
        ("/workload", pattern(json!({ "kind": "permutation" })), "workload.pattern.destinations", "0 destinations"),
        ("/workload", pattern(json!({ "kind": "permutation", "file": "p.csv" })), "workload.pattern.file", "p.csv"),
        ("/network/nic/injection_vcs", json!([0, 9]), "network.nic.injection_vcs", "[0, 9]"),
        ("/network/nic/injection_vcs", json!([1, 0]), "network.nic.injection_vcs", "[1, 0]"),
        ("/network/nic/packet_gap_cycles", json!(1_000_001), "network.nic.packet_gap_cycles", "1000001"),
        ("/network/router/injection_priority", json!("first"), "network.router.injection_priority", "first"),
        ("/network/nic/source_queue", json!("fair"), "network.nic.source_queue", "fair"),
        ("/run/record", json!({ "delivery_window_cycles": -5 }), "run.record.delivery_window_cycles", "-5"),
        ("/run/measurement_cycles", json!(0), "run.measurement_cycles", "0"),
        ("/run/measurement_cycles", json!(500), "run.measurement_cycles", "500"),
        ("/run/record", json!({ "to_file": true }), "run.record.to_file", "true"),
        ("/run/record", json!({ "packets": true, "to_file": true, "waits": true }), "run.record.to_file", "true"),
        ("/run/watchdog_cycles", json!(0), "run.watchdog_cycles", "0"),
        ("/run/sede", json!(3), "run.sede", "3"),
    ];
    for (at, value, path, shown) in cases {
        let (found_path, found_value, expected, _) = error(at, value);
        assert_eq!((found_path.as_str(), found_value.trim_matches('"')), (path, shown.trim_matches('"')), "{at}");
        assert!(!expected.is_empty());
    }
}

fn traffic(field: &str, value: Value) -> Value {
    let mut workload = json!({ "kind": "uniform", "offered_load": 0.1 });
    workload[field] = value;
    workload
}

fn pattern(pattern: Value) -> Value {
    json!({ "kind": "traffic", "offered_load": 0.1, "pattern": pattern })
}

fn shares(flits: u32, share: f64) -> Value {
    json!([{ "flits": 1, "share": share.max(1.0) }, { "flits": flits, "share": share }])
}

fn on_off(burst: f64, idle: f64) -> Value {
    json!({ "kind": "on_off", "mean_on_cycles": burst, "mean_off_cycles": idle })
}

fn burst(packets: u32, rate: f64) -> Value {
    json!({ "kind": "burst", "pattern": { "kind": "transpose" }, "packets": packets, "rate": rate })
}

/// The error for the good specification with another routing, VCs and switching.
fn routing_error(routing: &Value, vcs: u32, switching: &str) -> Option<(String, String, String, String)> {
    let mut spec = good();
    spec["network"]["routing"] = routing.clone();
    spec["network"]["router"] = json!({ "vcs": vcs, "switching": switching });
    match spec::from_json(&spec.to_string()).and_then(|s| Plan::new(&s)) {
        Err(Error::Config { path, value, expected, hint }) => Some((path, value, expected, hint)),
        other => other.map(|_| None).unwrap(),
    }
}

#[test]
fn fewer_vcs_than_a_routing_needs_are_refused_with_the_number() {
    for (kind, least) in [
        (json!({ "kind": "dimension_order", "classes": "crossed" }), 3),
        (json!({ "kind": "duato" }), 4),
        (json!({ "kind": "duato_misrouting" }), 4),
        (json!({ "kind": "cross_line" }), 6),
        (json!({ "kind": "valiant" }), 4),
        (json!({ "kind": "romm" }), 4),
        (json!({ "kind": "min_adapt" }), 3),
        (json!({ "kind": "o1turn" }), 4),
    ] {
        let (path, value, expected, hint) = routing_error(&kind, least - 1, "virtual_cut_through").unwrap();
        assert_eq!((path.as_str(), value), ("network.router.vcs", (least - 1).to_string()), "{kind}");
        assert!(expected.starts_with(&format!("at least {least}")) && hint == format!("set vcs = {least}"), "{kind}");
        assert_eq!(routing_error(&kind, least, "virtual_cut_through"), None, "{kind}");
    }
}

#[test]
fn a_routing_with_nonsense_is_refused() {
    for (routing, path, value) in [
        (json!({ "kind": "duato", "tie": "split" }), "network.routing.tie", "split"),
        (json!({ "kind": "duato", "order": [1] }), "network.routing.order", "[1]"),
        (json!({ "kind": "duato_misrouting", "misroutes": 0 }), "network.routing.misroutes", "0"),
        (json!({ "kind": "duato_misrouting", "selection": "all" }), "network.routing.selection", "all"),
        (json!({ "kind": "cross_line", "news_delay_cycles": 17 }), "network.routing.news_delay_cycles", "17"),
        (json!({ "kind": "cross_line", "order": [0, 1] }), "network.routing.order", "[0,1]"),
        (json!({ "kind": "duatto" }), "network.routing.kind", "\"duatto\""),
    ] {
        let found = routing_error(&routing, 6, "virtual_cut_through").unwrap_or_else(|| panic!("{routing}"));
        assert_eq!((found.0.as_str(), found.1.as_str()), (path, value), "{routing}");
        assert!(!found.2.is_empty(), "{routing}");
    }
}

/// With detours and wormhole switching a packet can come back to an escape channel that it still holds.
#[test]
fn an_unsafe_combination_is_refused_and_its_cycle_shown() {
    let detours = json!({ "kind": "duato_misrouting" });
    let (path, value, _, hint) = routing_error(&detours, 6, "wormhole").unwrap();
    assert_eq!((path.as_str(), value.as_str()), ("network.routing.kind", "duato_misrouting"));
    assert!(hint.contains("router [") && hint.contains(" -> "), "{hint}");
    assert_eq!(routing_error(&detours, 6, "virtual_cut_through"), None);
    // Under wormhole switching a packet behind another one in an adaptive buffer cannot request the escape channel.
    let (.., hint) = routing_error(&json!({ "kind": "duato" }), 6, "wormhole").unwrap();
    assert!(hint.contains("wait_for_tail_credit"), "{hint}");
}

/// Another simulator's rules: only with numbers that make sense, and where a routing knows them.
#[test]
fn rules_that_a_routing_does_not_know_are_refused() {
    let error = |kind: &str, vcs: u32, compat: Value| {
        let mut spec = good();
        spec["network"]["routing"] = json!({ "kind": kind });
        spec["network"]["router"] = json!({ "vcs": vcs, "switching": "virtual_cut_through", "compat": compat });
        match spec::from_json(&spec.to_string()).and_then(|s| Plan::new(&s)) {
            Err(Error::Config { path, value, expected, .. }) => Some((path, value, expected)),
            other => other.map(|_| None).unwrap(),
        }
    };
    for (kind, compat, field, value) in [
        ("min_adapt", json!({ "adaptive_vcs": [1] }), "adaptive_vcs", "[1]"),
        ("min_adapt", json!({ "adaptive_vcs": [3, 5] }), "adaptive_vcs", "[3, 5]"),
        ("min_adapt", json!({ "adaptive_vcs": [4, 3] }), "adaptive_vcs", "[4, 3]"),
        ("min_adapt", json!({ "adaptive_vcs": [4294967295u32] }), "adaptive_vcs", "[4294967295]"),
        ("min_adapt", json!({ "adaptive_tie": "left" }), "adaptive_tie", "\"left\""),
        ("duato", json!({ "adaptive_vcs": [4] }), "adaptive_vcs", "[4]"),
        ("o1turn", json!({ "productive": "first" }), "productive", "first"),
        ("dimension_order", json!({ "adaptive_tie": "minus" }), "adaptive_tie", "minus"),
        ("duato", json!({ "speculation_needs_all_sets": true }), "speculation_needs_all_sets", "true"),
        ("valiant", json!({ "opposite_minus_class": true }), "opposite_minus_class", "true"),
    ] {
        let found = error(kind, 6, compat.clone()).unwrap_or_else(|| panic!("{kind} {compat}"));
        assert_eq!((found.0, found.1.as_str()), (format!("network.router.compat.{field}"), value), "{kind} {compat}");
        assert!(!found.2.is_empty(), "{kind} {compat}");
    }
    let vcs = json!({ "adaptive_vcs": [3, 4] });
    assert_eq!(error("min_adapt", 4, vcs.clone()).unwrap().0, "network.router.vcs");
    assert_eq!(error("min_adapt", 5, vcs), None);
}

/// A middle VC of both halves: only where there are two halves, and with what closes the cycle named.
#[test]
fn a_shared_middle_vc_needs_two_halves_and_may_deadlock() {
    let found = |kind: &str, topology: &str, router: Value| {
        let mut spec = good();
        spec["network"] = json!({ "topology": { "kind": topology, "size": [4, 4] }, "routing": { "kind": kind } });
        spec["network"]["router"] = router;
        spec["network"]["router"]["compat"] = json!({ "shared_middle_vc": true });
        match spec::from_json(&spec.to_string()).and_then(|s| Plan::new(&s)) {
            Err(Error::Config { path, hint, .. }) => Some((path, hint)),
            other => other.map(|_| None).unwrap(),
        }
    };
    let halves = [("dimension_order", "torus"), ("valiant", "mesh"), ("romm", "mesh"), ("o1turn", "mesh")];
    for (kind, topology) in halves {
        let (path, hint) = found(kind, topology, json!({ "vcs": 3 })).unwrap_or_else(|| panic!("{kind}"));
        assert!(path == "network.routing.kind" && hint.contains("wait for each other: router"), "{kind} {path} {hint}");
        for safe in [
            json!({ "vcs": 4 }),
            json!({ "vcs": 3, "wait_for_tail_credit": true }),
            json!({ "vcs": 3, "switching": "virtual_cut_through" }),
        ] {
            assert_eq!(found(kind, topology, safe.clone()), None, "{kind} {safe}");
        }
    }
    for (kind, topology) in
        [("dimension_order", "mesh"), ("valiant", "torus"), ("duato", "mesh"), ("cross_line", "mesh")]
    {
        let (path, hint) = found(kind, topology, json!({ "vcs": 9 })).unwrap_or_else(|| panic!("{kind}"));
        assert!(
            path == "network.router.compat.shared_middle_vc" && hint.contains("two halves"),
            "{kind} {path} {hint}"
        );
    }
}

#[test]
fn packets_longer_than_the_buffer_are_refused_under_virtual_cut_through() {
    let mut spec = good();
    spec["network"]["router"] = json!({ "switching": "virtual_cut_through", "buffer_flits": 9 });
    let e = spec::from_json(&spec.to_string()).and_then(|s| Plan::new(&s)).unwrap_err().to_string();
    assert!(
        e.contains("workload.message_flits = 10") && e.contains("buffer of 9") && e.contains("buffer_flits = 10"),
        "{e}"
    );
}

#[test]
fn a_network_too_large_for_memory_is_refused_with_the_numbers() {
    let mut spec = good();
    spec["run"]["memory_limit_mb"] = json!(1);
    spec["network"]["topology"]["size"] = json!([64, 64]);
    let e = spec::from_json(&spec.to_string()).and_then(|s| Plan::new(&s)).unwrap_err().to_string();
    assert!(e.contains("at most 1 MB") && e.contains("needs about"), "{e}");
}

#[test]
fn threads_whose_tables_do_not_fit_are_refused_and_auto_takes_those_that_do() {
    let mut spec = good();
    spec["network"] =
        json!({ "topology": { "kind": "torus", "size": [150, 150] }, "router": { "vcs": 4, "buffer_flits": 4 } });
    spec["workload"] = json!({ "kind": "uniform", "offered_load": 0.1 });
    let plan = |threads: u64, limit: u64| {
        let mut spec = spec.clone();
        spec["run"] = json!({ "threads": threads, "memory_limit_mb": limit });
        spec::from_json(&spec.to_string()).and_then(|s| Plan::new(&s))
    };
    let bytes = |threads: u64| plan(threads, 0).unwrap().memory_bytes();
    let (one, part) = (bytes(1), bytes(2) - bytes(1));
    assert!(part > 1_000_000 && bytes(9) == one + 8 * part);
    let limit = (one + 5 * part).div_ceil(1_000_000);
    let e = plan(64, limit).unwrap_err().to_string();
    let said = ["run.threads = 64", &format!("at most {limit} MB"), "use fewer"];
    assert!(said.iter().all(|words| e.contains(words)), "{e}");
    assert_eq!(plan(1, limit).unwrap().threads_that_pay(64), 6);
}

#[test]
fn more_vcs_than_can_be_numbered_are_refused_on_the_largest_machine_too() {
    let mut spec = good();
    spec["network"] = json!({ "topology": { "kind": "mesh", "size": [8192, 8192] }, "router": { "vcs": 640 } });
    spec["workload"] = json!({ "kind": "uniform", "offered_load": 0.1 });
    spec["run"]["memory_limit_mb"] = json!(1_000_000_000_000_u64);
    let e = spec::from_json(&spec.to_string()).and_then(|s| Plan::new(&s)).unwrap_err().to_string();
    assert!(e.contains("network.topology.size = [8192, 8192]") && e.contains("routers of 5 ports with 640 VCs"), "{e}");
}

#[test]
fn what_routers_remember_of_each_other_is_counted() {
    let plan = |news_delay_cycles: u32| {
        let mut spec = good();
        spec["network"]["topology"]["size"] = json!([1024]);
        spec["network"]["routing"] = json!({ "kind": "cross_line", "news_delay_cycles": news_delay_cycles });
        spec["network"]["router"] = json!({ "vcs": 6 });
        spec["workload"] = json!({ "kind": "uniform", "offered_load": 0.1 });
        spec["run"]["memory_limit_mb"] = json!(100);
        spec::from_json(&spec.to_string()).and_then(|s| Plan::new(&s))
    };
    plan(1).unwrap();
    let e = plan(16).unwrap_err().to_string();
    assert!(e.contains("at most 100 MB") && e.contains("needs about"), "{e}");
}

/// Ranks that wait after each step have one message posted, however long the schedule; packets are not all short.
#[test]
fn what_ranks_post_before_they_wait_is_counted() {
    let plan = |algorithm: &str| {
        let mut spec = good();
        let router = json!({ "vcs": 2, "buffer_flits": 512, "switching": "virtual_cut_through" });
        spec["network"] = json!({ "topology": { "kind": "torus", "size": [64, 64] }, "router": router });
        spec["host"] = json!({ "send_overhead_cycles": 82 });
        spec["workload"] = json!({ "kind": "collective", "operation": "all_to_all", "algorithm": algorithm, "message_flits": 256, "packet_flits": 128 });
        spec["run"]["memory_limit_mb"] = json!(800);
        spec::from_json(&spec.to_string()).and_then(|s| Plan::new(&s))
    };
    assert!(plan("pairwise_xor").unwrap().memory_bytes() < 500_000_000);
    assert!(plan("simple_spread").unwrap_err().to_string().contains("a simulation of at most 800 MB"));
}

/// What the run would keep of packets and windows counts, not the network alone.
#[test]
fn packets_and_windows_that_do_not_fit_are_refused() {
    let uniform = |load: f64| json!({ "kind": "uniform", "offered_load": load });
    let long = json!({ "warmup_cycles": 0, "measurement_cycles": 100_000_000 });
    let all_to_all = |packet_flits: u32| json!({ "kind": "all_to_all", "algorithm": "a2a", "message_flits": 60_000, "packet_flits": packet_flits });
    let cases = [
        (json!({ "vcs": 8, "buffer_flits": 4096 }), uniform(0.5), long.clone(), json!({})),
        (json!({ "vcs": 2 }), uniform(0.1), long.clone(), json!({ "packets": true })),
        (json!({ "vcs": 2 }), uniform(1e-4), long.clone(), json!({ "channel_window_cycles": 10 })),
        (json!({ "vcs": 2 }), uniform(1e-4), long.clone(), json!({ "delivery_window_cycles": 1 })),
        (json!({ "vcs": 2 }), all_to_all(1), json!({}), json!({ "packets": true })),
    ];
    for (router, workload, mut run, record) in cases {
        run["memory_limit_mb"] = json!(50);
        let plan = |record: &Value, buffer_flits: Option<u32>, workload: &Value| {
            let mut spec = good();
            spec["network"]["router"] = router.clone();
            if let Some(flits) = buffer_flits {
                spec["network"]["router"]["buffer_flits"] = json!(flits);
            }
            spec["workload"] = workload.clone();
            spec["run"] = run.clone();
            spec["run"]["record"] = record.clone();
            spec::from_json(&spec.to_string()).and_then(|s| Plan::new(&s))
        };
        let e = plan(&record, None, &workload).unwrap_err().to_string();
        assert!(e.contains("at most 50 MB") && e.contains("needs about"), "{e}");
        plan(&json!({}), Some(16), &workload).unwrap();
    }
}

#[test]
fn a_routing_that_cannot_be_checked_in_so_many_dimensions_says_what_to_do() {
    let plan = |check: bool| {
        let mut spec = good();
        spec["network"]["topology"]["size"] = json!([4, 4, 4, 4, 4, 4]);
        spec["network"]["routing"] = json!({ "kind": "duato" });
        spec["network"]["router"] = json!({ "vcs": 8, "switching": "virtual_cut_through" });
        spec["workload"] = json!({ "kind": "uniform", "offered_load": 0.1 });
        spec["run"]["deadlock_check"] = json!(check);
        spec::from_json(&spec.to_string()).and_then(|s| Plan::new(&s))
    };
    let e = plan(true).unwrap_err().to_string();
    assert!(e.contains("network.topology.size") && e.contains("run.deadlock_check = false"), "{e}");
    plan(false).unwrap();
}

#[test]
fn bursts_that_carry_the_load_just_so_are_taken_and_empty_ones_are_not() {
    let plan = |load: f64, burst: f64, idle: f64| {
        let mut spec = good();
        spec["workload"] = json!({ "kind": "uniform", "offered_load": load, "process": on_off(burst, idle) });
        spec::from_json(&spec.to_string()).and_then(|s| Plan::new(&s))
    };
    for (load, burst, idle) in [(0.07, 7.0, 93.0), (0.14, 14.0, 86.0), (0.55, 55.0, 45.0), (1e-4, 1.0, 1.0)] {
        plan(load, burst, idle).unwrap();
    }
    let e = plan(1e-12, 1.0, 1.0).unwrap_err().to_string();
    assert!(e.contains("process.mean_on_cycles = 1:") && e.contains("10000 on periods"), "{e}");
}

#[test]
fn a_steady_run_without_room_for_its_delays_is_refused() {
    let error = |latency: u32, max_cycles: u64| {
        let mut spec = good();
        spec["network"]["channel"]["latency_cycles"] = json!(latency);
        spec["workload"] = json!({ "kind": "uniform", "offered_load": 0.1 });
        spec["run"] = json!({ "max_cycles": max_cycles,
            "steady": { "max_cycles": 1000, "min_warmup_cycles": 500, "min_measurement_cycles": 500 } });
        spec::from_json(&spec.to_string()).and_then(|s| Plan::new(&s)).map(|_| ()).map_err(|e| e.to_string())
    };
    assert!(error(2000, 0).unwrap_err().contains("run.steady.max_cycles = 1000: expected at least"));
    assert!(error(1, 1000).unwrap_err().contains("run.max_cycles = 1000: expected at least"));
    error(1, 0).unwrap();
    error(1, 1100).unwrap();
}

/// A background may warm up for longer than the usual limit of a run.
#[test]
fn the_default_limit_leaves_time_behind_the_warm_up() {
    let mut spec = good();
    spec["background"] = json!({ "kind": "uniform", "offered_load": 0.1 });
    spec["run"] = json!({ "warmup_cycles": 2_000_000_000_u64 });
    let plan = Plan::new(&spec::from_json(&spec.to_string()).unwrap()).unwrap();
    assert_eq!(plan.spec.run.max_cycles, 4_000_000_000);
}

#[test]
fn an_open_loop_that_ends_before_its_measurement_is_refused() {
    let plan = |max_cycles: u64| {
        let mut spec = good();
        spec["workload"] = json!({ "kind": "uniform", "offered_load": 0.1 });
        spec["run"] = json!({ "warmup_cycles": 100, "measurement_cycles": 50, "max_cycles": max_cycles });
        spec::from_json(&spec.to_string()).and_then(|s| Plan::new(&s))
    };
    for max_cycles in [1, 100, 149] {
        let e = plan(max_cycles).unwrap_err().to_string();
        assert!(e.contains(&format!("run.max_cycles = {max_cycles}: expected at least 150")), "{e}");
    }
    assert!(plan(150).is_ok());
    let mut both = good();
    both["background"] = json!({ "kind": "uniform", "offered_load": 0.1 });
    both["run"] = json!({ "warmup_cycles": 100, "max_cycles": 100 });
    let e = spec::from_json(&both.to_string()).and_then(|s| Plan::new(&s)).unwrap_err().to_string();
    assert!(e.contains("run.max_cycles = 100: expected at least 101 cycles"), "{e}");
}

#[test]
fn hints_guess_what_was_meant() {
    assert_eq!(error("/workload/algorithm", json!("a2ta")).3, "did you mean a2at?");
    assert_eq!(error("/run/sede", json!(3)).3, "did you mean seed?");
    assert_eq!(error("/network/topology/kind", json!("tours")).3, "did you mean torus?");
}

/// Any JSON of about the right shape.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..70_000).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|x| json!(x)),
        prop::sample::select(vec!["torus", "mesh", "a2at", "local", "uniform", "random", "wavefront", "x", ""])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z_]{1,6}", inner, 0..3).prop_map(|m| json!(m)),
        ]
    })
}

/// Paths of all fields a specification can have.
const FIELDS: [&str; 32] = [
    "/network",
    "/workload",
    "/run",
    "/network/topology",
    "/network/topology/kind",
    "/network/topology/size",
    "/network/topology/wrap",
    "/network/topology/ring2",
    "/network/topology/terminals_per_router",
    "/network/routing",
    "/network/routing/order",
    "/network/routing/tie",
    "/network/router",
    "/network/router/vcs",
    "/network/router/vc_policy",
    "/network/router/buffer_flits",
    "/network/router/vc_allocator",
    "/network/router/sw_allocator",
    "/network/router/input_speedup",
    "/network/nic/ports",
    "/network/channel/latency_cycles",
    "/workload/algorithm",
    "/workload/message_flits",
    "/workload/offered_load",
    "/workload/kind",
    "/workload/packet_flits",
    "/workload/process",
    "/workload/packets",
    "/background",
    "/network/nic/source_queue",
    "/run/memory_limit_mb",
    "/run/max_cycles",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if std::env::var_os("FLITWORK_FULL").is_some() { 20_000 } else { 1_000 }))]

    /// Whatever is written into whatever field: a plan or an error, never a panic.
    #[test]
    fn no_specification_panics(changes in prop::collection::vec((prop::sample::select(&FIELDS[..]), value()), 1..4)) {
        let mut spec = good();
        // Small enough to plan quickly, whatever comes.
        spec["run"]["memory_limit_mb"] = json!(20);
        for (path, value) in changes {
            let (table, field) = path.rsplit_once('/').unwrap();
            if let Some(Value::Object(table)) = spec.pointer_mut(table) {
                table.insert(field.to_string(), value);
            }
        }
        if let Ok(s) = spec::from_json(&spec.to_string()) {
            if let Err(e) = Plan::new(&s) {
                prop_assert!(e.is_config() || matches!(e, Error::Schedule { .. }), "{e}");
            }
        }
    }

    #[test]
    fn no_text_panics(text in ".{0,200}") {
        prop_assert!(spec::from_json(&text).is_err());
    }
}

#[test]
fn a_message_in_bytes_that_is_no_packet_says_what_to_do() {
    let error = |buffer_flits: u32, workload: Value| {
        let mut spec = good();
        spec["network"]["units"] = json!({ "flit_bytes": 16 });
        spec["network"]["router"] = json!({ "switching": "virtual_cut_through", "buffer_flits": buffer_flits });
        spec["workload"] = workload;
        spec::from_json(&spec.to_string()).and_then(|s| Plan::new(&s)).map(|_| ()).map_err(|e| e.to_string())
    };
    let fault = error(4, in_bytes(65)).unwrap_err();
    assert!(fault.starts_with("workload.message_bytes = 65: expected at most 4 flits in one packet"), "{fault}");
    assert!(fault.ends_with("set workload.packet_flits, at most 4, to send it as several packets"), "{fault}");
    assert_eq!(error(4, in_bytes(64)), Ok(()));
    let mut cut = in_bytes(1 << 40);
    cut["packet_flits"] = json!(4);
    assert_eq!(error(4, cut.clone()), Ok(()));
    cut["message_bytes"] = json!((1u64 << 40) + 1);
    let fault = error(4, cut).unwrap_err();
    assert!(fault.contains("1 to 1099511627776"), "{fault}");
}
