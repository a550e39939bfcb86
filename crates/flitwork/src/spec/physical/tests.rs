use crate::error::Error;
use crate::spec::{SimulationSpec, check_table, from_json};
use serde_json::{Value, json};

fn spec(units: Value, tables: Value) -> Result<SimulationSpec, Error> {
    let mut root = json!({
        "network": {"topology": {"kind": "torus", "size": [4, 4]}, "units": units},
        "workload": {"kind": "uniform", "offered_load": 0.1},
    });
    for (path, value) in tables.as_object().unwrap() {
        let pointer = format!("/{}", path.replace('.', "/"));
        let (holder, name) = pointer.rsplit_once('/').unwrap();
        let mut at = &mut root;
        for step in holder.split('/').skip(1) {
            at = &mut at[step];
        }
        at[name] = value.clone();
    }
    from_json(&root.to_string())
}

fn units() -> Value {
    json!({"flit_bytes": 16, "channel_bytes_per_s": "4 GB/s"})
}

/// The same where times have to divide.
fn exact() -> Value {
    json!({"flit_bytes": 16, "channel_bytes_per_s": "4 GB/s", "rounding": "exact"})
}

fn fault(units: Value, tables: Value) -> (String, String, String) {
    match spec(units, tables) {
        Err(Error::Config { path, value, expected, .. }) => (path, value, expected),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_field_of_the_model_has_a_physical_name() {
    let found = spec(
        units(),
        json!({
            "network.channel.latency_ns": 88, "network.router.buffer_bytes": "8 KiB",
            "network.nic.packet_gap_ns": "0.4 us", "host.send_overhead_ns": "200 ns",
            "host.start": {"kind": "list", "ns": [0, "4 ns"]},
            "workload": {"kind": "uniform", "offered_bytes_per_s": "1 GB/s", "packet_bytes": 64,
                         "process": {"kind": "on_off", "mean_on_ns": 50, "mean_off_ns": 6}},
            "background": {"kind": "uniform", "offered_load": 0.1, "packet_flits": [{"bytes": 32, "share": 1}]},
            "run.warmup_ns": "1 ms", "run.record": {"channel_window_ns": 400}
        }),
    )
    .unwrap();
    let written = serde_json::to_value(&found).unwrap();
    for (pointer, value) in [
        ("/network/channel/latency_cycles", json!(22)),
        ("/network/router/buffer_flits", json!(512)),
        ("/network/nic/packet_gap_cycles", json!(100)),
        ("/host/send_overhead_cycles", json!(50)),
        ("/host/start/cycles", json!([0, 1])),
        ("/workload/offered_load", json!(0.25)),
        ("/workload/packet_flits", json!(4)),
        ("/workload/process/mean_on_cycles", json!(12.5)),
        ("/background/packet_flits/0/flits", json!(2)),
        ("/run/warmup_cycles", json!(250_000)),
        ("/run/record/channel_window_cycles", json!(100)),
    ] {
        assert_eq!(written.pointer(pointer), Some(&value), "{pointer} in {written}");
    }
}

#[test]
fn without_physical_fields_nothing_changes() {
    let with = spec(units(), json!({"network.channel.latency_ns": 88})).unwrap();
    assert_eq!(with, spec(units(), json!({"network.channel.latency_cycles": 22})).unwrap());
}

#[test]
fn sums_are_formed_before_they_are_divided() {
    let delays = |tables| {
        let network = spec(units(), tables).unwrap().network;
        let router = network.router;
        let stages = [router.routing_delay_cycles, router.vc_alloc_delay_cycles, router.sw_alloc_delay_cycles];
        (stages, router.st_delay_cycles, network.channel.latency_cycles, network.channel.credit_delay_cycles)
    };
    assert_eq!(delays(json!({"network.channel.latency_ns": [78, 10]})), ([0, 0, 1], 0, 22, 0));
    let apart = json!({"network.router.st_delay_ns": 78, "network.channel.latency_ns": 10});
    assert_eq!(delays(apart), ([0, 0, 1], 20, 2, 1));
    let halves = json!({"network.router": {"routing_delay_ns": 2, "vc_alloc_delay_ns": 2, "sw_alloc_delay_ns": 4}});
    assert_eq!(delays(halves), ([1, 0, 1], 0, 0, 0));
    let back = json!({"network.router.st_delay_ns": 78, "network.channel": {"latency_ns": 10, "credit_delay_ns": 2}});
    assert_eq!(delays(back), ([0, 0, 1], 20, 2, 1));
}

#[test]
fn what_does_not_divide_is_refused_with_its_neighbours() {
    let (path, value, expected) = fault(exact(), json!({"network.nic.packet_gap_ns": 79}));
    assert_eq!((path.as_str(), value.as_str()), ("network.nic.packet_gap_ns", "79"));
    assert_eq!(expected, "a multiple of a cycle, 4 ns: 76 ns (19 cycles) or 80 ns (20 cycles)");
    let (path, _, expected) = fault(units(), json!({"network.router.buffer_bytes": 8}));
    assert_eq!(path, "network.router.buffer_bytes");
    assert_eq!(expected, "a multiple of a flit, 16 bytes: 0 bytes (0 flits) or 16 bytes (1 flit)");
    let (path, value, expected) =
        fault(exact(), json!({"network.router.st_delay_ns": 79, "network.channel.latency_ns": "10 ns"}));
    assert_eq!((path.as_str(), value.as_str()), ("network.channel.latency_ns", "\"10 ns\""));
    assert!(
        expected.ends_with("93 ns, which are 23.25: 9 ns (23 cycles in all) or 13 ns (24 cycles in all)"),
        "{expected}"
    );
    let (path, _, expected) = fault(exact(), json!({"network.channel": {"latency_ns": 8, "credit_delay_ns": 3}}));
    assert_eq!(path, "network.channel.credit_delay_ns");
    assert!(expected.contains("0 ns (2 cycles in all) or 4 ns (3 cycles in all)"), "{expected}");
    let thirds = json!({"flit_bytes": 16, "channel_bytes_per_s": 3e9, "rounding": "exact"});
    let (_, _, expected) = fault(thirds, json!({"host.send_overhead_ns": 17}));
    assert_eq!(expected, "a multiple of a cycle, 16/3 ns: 16 ns (3 cycles) or 64/3 ns (4 cycles)");
}

#[test]
fn times_that_do_not_divide_are_rounded_and_the_plan_says_by_how_much() {
    let rounded = |tables| {
        let network = spec(units(), tables).unwrap().network;
        let said = network.units.rounded.iter();
        let said: Vec<_> = said.map(|one| (one.field.clone(), one.given_ns, one.value_ns, one.error)).collect();
        (network, said)
    };
    let (network, said) = rounded(json!({"network.channel": {"latency_ns": 79, "local_latency_ns": 5}}));
    assert_eq!((network.channel.latency_cycles, network.channel.local_latency_cycles), (20, 1));
    let field = |name: &str| format!("network.channel.{name}_ns");
    assert_eq!(said, [(field("local_latency"), 5.0, 4.0, -0.2), (field("latency"), 79.0, 80.0, 1.0 / 79.0)]);
    let (network, said) = rounded(json!({"network.router.st_delay_ns": 79, "network.channel.latency_ns": 10}));
    assert_eq!((network.router.st_delay_cycles, network.channel.latency_cycles), (20, 2));
    let both = "network.router.st_delay_ns + network.channel.latency_ns".to_string();
    assert_eq!(said, [(both, 89.0, 88.0, -1.0 / 89.0)]);
    // What divides together is not rounded.
    let (_, said) = rounded(json!({"network.router.st_delay_ns": 78, "network.channel.latency_ns": 10}));
    assert!(said.is_empty());
    // Of a list the worst; no field is less than it has to be.
    let (_, said) = rounded(json!({"host.start": {"kind": "list", "ns": [0, 5, 7, 41]}}));
    assert_eq!(said, [("host.start.ns".to_string(), 5.0, 4.0, -0.2)]);
    let (network, said) = rounded(json!({"network.router.sw_alloc_delay_ns": 1}));
    assert_eq!((network.router.sw_alloc_delay_cycles, said[0].2), (1, 4.0));
    // The same plan as that of what was simulated.
    let plan = |units, ns| crate::Plan::new(&spec(units, json!({"network.channel.latency_ns": ns})).unwrap()).unwrap();
    assert_eq!(plan(units(), 79).hash(), plan(exact(), 80).hash());
    let described: Value = serde_json::from_str(&plan(units(), 79).to_json()).unwrap();
    assert_eq!(described["described"]["rounded"][0]["value_ns"], json!(80.0));
}

/// Whatever is written, a hop is off by half a cycle at most, and by what is said.
#[test]
fn a_hop_is_rounded_to_the_nearest_cycle() {
    let mut random = 7;
    for _ in 0..300 {
        let mut ns = |most: u64| {
            random = crate::mix::mix(random);
            (random % (most * 10)) as f64 / 10.0
        };
        let (routing, st, wire, credit) = (ns(20), ns(100), ns(60), ns(20));
        let router = json!({"routing_delay_ns": routing, "st_delay_ns": st, "sw_alloc_delay_ns": 4});
        let channel = json!({"latency_ns": wire, "credit_delay_ns": credit});
        let network = spec(units(), json!({"network.router": router, "network.channel": channel})).unwrap().network;
        let router = &network.router;
        let stages = router.routing_delay_cycles + router.sw_alloc_delay_cycles + router.st_delay_cycles;
        let hop = 4.0 * f64::from(stages + network.channel.latency_cycles);
        let given = routing + st + wire + 4.0;
        assert!((hop - given).abs() <= 2.0 + 1e-9, "{hop} {given}");
        let said = network.units.rounded.iter().find(|one| !one.field.contains("credit"));
        let change = said.map_or(0.0, |one| one.value_ns - one.given_ns);
        assert!((hop - given - change).abs() < 1e-9, "{hop} {given} {said:?}");
    }
}

#[test]
fn what_makes_no_sense_is_named() {
    let path = |units, tables| fault(units, tables).0;
    let twice = json!({"network.channel": {"latency_ns": 8, "latency_cycles": 2}});
    let (at, _, expected) = fault(units(), twice);
    assert_eq!(
        (at.as_str(), expected.as_str()),
        ("network.channel.latency_ns", "nothing beside network.channel.latency_cycles")
    );
    assert_eq!(path(json!({"flit_bytes": 16}), json!({"network.channel.latency_ns": 8})), "network.units.cycle_ns");
    assert_eq!(path(json!({"cycle_ns": 4}), json!({"network.router.buffer_bytes": 64})), "network.units.flit_bytes");
    for units in [json!({}), json!({"channel_bytes_per_s": 1e9})] {
        assert_eq!(path(units, json!({"run.max_ns": 8})), "network.units.cycle_ns");
    }
    for rate in [json!(0), json!(-4e9), json!("10 GBs"), json!(1e16), json!("0 GB/s")] {
        let units = json!({"flit_bytes": 16, "channel_bytes_per_s": rate});
        assert_eq!(path(units, json!({})), "network.units.channel_bytes_per_s");
    }
    for delay in [json!(-4), json!("4 cycles"), json!(1e300), json!("1e20 s"), json!(true), json!(40_004), json!([])] {
        let tables = json!({"network.channel.latency_ns": delay});
        assert_eq!(path(units(), tables), "network.channel.latency_ns", "{delay}");
    }
    let (_, _, expected) = fault(units(), json!({"network.channel.latency_ns": 40_004}));
    assert_eq!(expected, "what is in the range of the field, 0 to 10000; this is 10001");
    assert_eq!(path(units(), json!({"host.send_overhead_ns": "100 s"})), "host.send_overhead_ns");
    assert_eq!(path(units(), json!({"network.channel.latency_nss": 4})), "network.channel.latency_nss");
}

#[test]
fn a_table_on_its_own_is_checked_without_units() {
    assert!(check_table("network.channel", r#"{"latency_ns": [78, "10 ns"]}"#).is_ok());
    assert!(check_table("workload", r#"{"kind": "uniform", "offered_bytes_per_s": "1 GB/s"}"#).is_ok());
    assert!(check_table("network.channel", r#"{"latency_ns": "10"}"#).is_err());
    assert!(check_table("run", r#"{"steady": {"max_ns": 4}}"#).is_ok());
    let whole = r#"{"topology": {"kind": "torus", "size": [4]}, "units": {"cycle_ns": 4, "rounding": "exact"},
            "nic": {"packet_gap_ns": 5}}"#;
    assert!(check_table("network", whole).is_err());
}
