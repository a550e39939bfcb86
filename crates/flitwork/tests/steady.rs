//! Runs that find out by themselves how long to warm up and to measure.

use flitwork::measure::{SimulationResult, Status};
use flitwork::{Error, Plan, spec};
use serde_json::{Value, json};

fn plan(network: &Value, workload: Value, run: Value) -> Plan {
    let spec = json!({ "network": network, "workload": workload, "run": run }).to_string();
    Plan::new(&spec::from_json(&spec).unwrap()).unwrap()
}

fn uniform(offered_load: f64, packet_flits: u32) -> Value {
    json!({ "kind": "uniform", "offered_load": offered_load, "packet_flits": packet_flits })
}

fn run(network: &Value, workload: Value, run: Value) -> SimulationResult {
    flitwork::simulate(&plan(network, workload, run), &mut |_| true).unwrap()
}

fn torus() -> Value {
    json!({ "topology": { "kind": "torus", "size": [4, 4] }, "router": { "vcs": 4 } })
}

/// A terminal that sends to itself through its router: a queue with Bernoulli arrivals and a constant service time of
/// `L` cycles (Geo/D/1), whose mean wait is `p L (L - 1) / (2 (1 - p L))` with `p` packets created in a cycle.
#[test]
fn the_mean_wait_of_a_single_queue_is_that_of_queueing_theory() {
    let network = json!({ "topology": { "kind": "mesh", "size": [1] }, "router": { "vcs": 8, "buffer_flits": 64 } });
    let flits = 8;
    let alone = run(&network, uniform(1e-4, flits), json!({ "measurement_cycles": 2_000_000 }));
    let zero_load = alone.packet_latency.min_cycles.unwrap() as f64;
    for (seed, load) in [(1, 0.2), (2, 0.5), (3, 0.7), (4, 0.8)] {
        let steady = json!({ "relative_ci": 0.02, "max_cycles": 4_000_000 });
        let found = run(&network, uniform(load, flits), json!({ "steady": steady, "seed": seed }));
        assert_eq!(found.status, Status::Complete);
        let wait = load / 2.0 * f64::from(flits - 1) / (1.0 - load);
        let half_width = found.precision.unwrap().packet_latency_half_width_cycles.unwrap();
        let error = found.packet_latency.mean_cycles.unwrap() - zero_load - wait;
        assert!(half_width <= 0.02 * found.packet_latency.mean_cycles.unwrap(), "{load}: {half_width}");
        assert!(error.abs() <= 2.0 * half_width, "{load}: {error} +- {half_width}");
    }
}

/// Between packets the network is empty, and the clock must not stand still at a decision.
#[test]
fn a_load_too_light_to_be_known_ends_at_its_limit() {
    let found = run(&torus(), uniform(1e-4, 1), json!({ "steady": { "max_cycles": 100_000 } }));
    assert_eq!(found.status, Status::NotConverged);
    assert!(found.packets > 50 && found.warmup_cycles + found.measurement_cycles <= 100_100, "{found:?}");
}

#[test]
fn a_light_load_converges_and_a_heavy_one_is_recognised_as_saturated() {
    let light = run(&torus(), uniform(0.3, 4), json!({ "steady": {} }));
    assert_eq!(light.status, Status::Complete);
    assert!(light.warmup_cycles >= 5000 && light.measurement_cycles >= 10_000);
    let precision = light.precision.unwrap();
    assert!(precision.packet_latency_half_width_cycles.unwrap() <= 0.02 * light.packet_latency.mean_cycles.unwrap());
    assert!((light.accepted_load - light.offered_load).abs() < 0.01 * light.offered_load);
    assert_eq!(light.packet_latency_histogram.packets.iter().sum::<u64>(), light.packet_latency.count);

    let heavy = run(&torus(), uniform(1.0, 4), json!({ "steady": {} }));
    assert_eq!(heavy.status, Status::Saturated);
    // Early: far from the limit of 200,000 cycles, and without a drain.
    assert!(heavy.completion_cycles < 60_000, "{}", heavy.completion_cycles);
    let long = json!({ "warmup_cycles": 30_000, "measurement_cycles": 100_000, "max_cycles": 130_000 });
    let reference = run(&torus(), uniform(1.0, 4), long);
    assert!((heavy.accepted_load / reference.accepted_load - 1.0).abs() < 0.01, "{}", heavy.accepted_load);
    assert!((heavy.offered_load - 1.0).abs() < 0.01, "{}", heavy.offered_load);
    assert!(heavy.precision.unwrap().packet_latency_half_width_cycles.is_none());
}

#[test]
fn at_the_limit_the_interval_says_how_well_the_mean_is_known() {
    let steady = json!({ "relative_ci": 1e-4, "max_cycles": 30_000 });
    let found = run(&torus(), uniform(0.4, 4), json!({ "steady": steady }));
    assert_eq!(found.status, Status::Complete);
    assert!(found.warmup_cycles + found.measurement_cycles <= 30_100);
    let half_width = found.precision.unwrap().packet_latency_half_width_cycles.unwrap();
    assert!(half_width > 1e-4 * found.packet_latency.mean_cycles.unwrap());
    // What is over so early may still grow.
    let short = json!({ "max_cycles": 1_000, "min_warmup_cycles": 500, "min_measurement_cycles": 100 });
    let early = run(&torus(), uniform(0.53, 4), json!({ "steady": short }));
    assert_eq!(early.status, Status::NotConverged);
}

#[test]
fn the_rule_of_five_percent_waits_for_its_minimum() {
    let steady = json!({ "warmup": "stable", "min_warmup_cycles": 10_000 });
    let found = run(&torus(), uniform(0.2, 8), json!({ "steady": steady }));
    assert_eq!(found.status, Status::Complete);
    assert!((10_000..20_000).contains(&found.warmup_cycles), "{}", found.warmup_cycles);
}

/// A steady run is a fixed one whose window was found: given the same window, every number is the same.
#[test]
fn a_fixed_run_with_the_window_that_was_found_measures_the_same() {
    for network in [
        torus(),
        json!({ "topology": { "kind": "mesh", "size": [3, 3] },
        "router": { "vcs": 4, "input_speedup": 2, "output_speedup": 2 } }),
    ] {
        let found = run(&network, uniform(0.35, 3), json!({ "steady": {} }));
        let window = json!({ "warmup_cycles": found.warmup_cycles, "measurement_cycles": found.measurement_cycles });
        let fixed = run(&network, uniform(0.35, 3), window);
        assert_eq!(found, fixed);
    }
}

#[test]
fn a_steady_run_repeats_itself() {
    let once = || run(&torus(), uniform(0.45, 5), json!({ "steady": { "relative_ci": 0.05 }, "seed": 9 }));
    assert_eq!(once(), once());
}

#[test]
fn bad_values_are_refused_by_name() {
    let cases = [
        (json!({ "steady": { "relative_ci": 0.0 } }), "run.steady.relative_ci"),
        (json!({ "steady": { "relative_ci": 1.5 } }), "run.steady.relative_ci"),
        (json!({ "steady": { "confidence": 1.0 } }), "run.steady.confidence"),
        (json!({ "steady": { "confidence": 0.1 } }), "run.steady.confidence"),
        (json!({ "steady": { "max_cycles": 10 } }), "run.steady.max_cycles"),
        (json!({ "steady": { "min_warmup_cycles": 150_000 } }), "run.steady.min_warmup_cycles"),
        (json!({ "steady": { "min_measurement_cycles": 150_000 } }), "run.steady.min_measurement_cycles"),
        (json!({ "steady": { "warmup": "mesr" } }), "run.steady.warmup"),
        (json!({ "steady": { "relativ_ci": 0.1 } }), "run.steady.relativ_ci"),
        (json!({ "steady": {}, "warmup_cycles": 3000 }), "run.warmup_cycles"),
        (json!({ "steady": {}, "measurement_cycles": 3000 }), "run.measurement_cycles"),
        (json!({ "steady": {}, "max_cycles": 1000 }), "run.max_cycles"),
        (json!({ "steady": 3 }), "run.steady"),
    ];
    for (run, expected) in cases {
        let spec = json!({ "network": torus(), "workload": uniform(0.1, 1), "run": run }).to_string();
        match spec::from_json(&spec).and_then(|s| Plan::new(&s)) {
            Err(Error::Config { path, .. }) => assert_eq!(path, expected),
            other => panic!("{run}: {other:?}"),
        }
    }
    let spec = json!({ "network": torus(), "workload": { "kind": "all_to_all", "algorithm": "a2at" },
        "run": { "steady": {} } });
    let error = spec::from_json(&spec.to_string()).and_then(|s| Plan::new(&s)).unwrap_err().to_string();
    assert!(error.contains("run.steady"), "{error}");
}

/// The plan of a steady run can be read back: nothing that is left out there comes back as a fixed window.
#[test]
fn a_resolved_plan_is_a_specification() {
    let first = plan(&torus(), uniform(0.1, 1), json!({ "steady": {} }));
    let text = serde_json::to_string(&first.spec).unwrap();
    assert!(!text.contains("measurement_cycles\":3000") && text.contains("\"relative_ci\":0.02"), "{text}");
    assert_eq!(Plan::new(&spec::from_json(&text).unwrap()).unwrap().hash(), first.hash());
}
