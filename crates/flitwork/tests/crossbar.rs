//! The single crossbar from a specification to its result: a published value, bounds, and what is for grids alone.

use flitwork::{Error, Plan, PlanBound, plan_bound, simulate, spec};
use serde_json::{Value, json};

fn plan(terminals: u32, router: Value, workload: Value) -> flitwork::Result<Plan> {
    let network = json!({ "topology": { "kind": "crossbar", "terminals": terminals }, "router": router });
    let ends = workload["kind"] == "all_to_all";
    let run = if ends { json!({}) } else { json!({ "warmup_cycles": 2000, "measurement_cycles": 6000 }) };
    Plan::new(&spec::from_json(&json!({ "network": network, "workload": workload, "run": run }).to_string())?)
}

fn uniform(offered_load: f64) -> Value {
    json!({ "kind": "uniform", "packet_flits": 1, "offered_load": offered_load })
}

/// Karol, Hluchyj and Morgan 1987, table I: an input-queued switch with one queue a port accepts 0.618 of the load with
/// 8 ports, and 2 - sqrt(2) = 0.586 with infinitely many. Queues for the packets of several destinations do better.
#[test]
fn one_queue_a_port_saturates_where_it_should() {
    let accepted = |terminals: u32, vcs: u32| {
        let plan = plan(terminals, json!({ "vcs": vcs, "buffer_flits": 32 }), uniform(1.0)).unwrap();
        simulate(&plan, &mut |_| true).unwrap().accepted_load
    };
    let eight = accepted(8, 1);
    assert!((eight - 0.618).abs() < 0.02, "{eight}");
    let many = accepted(48, 1);
    assert!((many - 0.59).abs() < 0.02, "{many}");
    let queues = accepted(8, 8);
    assert!(queues > eight + 0.02, "{queues} {eight}");
}

#[test]
fn its_routing_is_filled_in_and_its_terminals_are_all_that_limits_it() {
    let plan = plan(8, json!({}), uniform(0.3)).unwrap();
    assert_eq!(plan.spec.network.routing.as_ref().unwrap().kind(), "shortest_path");
    let PlanBound::Saturation { channels, saturation_load_flits_per_cycle: load, .. } = plan_bound(&plan).unwrap()
    else {
        panic!("an open loop")
    };
    assert_eq!((channels.load_flits_per_cycle, load), (f64::INFINITY, 1.0));
    assert!(channels.classes.is_empty());
    let result = simulate(&plan, &mut |_| true).unwrap();
    assert!((result.accepted_load - 0.3).abs() < 0.02 && result.channel_flits.is_empty());
}

#[test]
fn an_all_to_all_by_rank_completes_and_not_before_its_bound() {
    let exchange = |algorithm: &str| json!({ "kind": "all_to_all", "algorithm": algorithm, "message_flits": 10 });
    let ranks = plan(6, json!({}), exchange("a2a")).unwrap();
    let result = simulate(&ranks, &mut |_| true).unwrap();
    let PlanBound::Completion(bound) = plan_bound(&ranks).unwrap() else { panic!("a schedule") };
    assert_eq!((result.packets, bound.tightest_cycles, bound.bisection_cycles), (30, 50.0, None));
    assert!(result.completion_cycles as f64 >= bound.tightest_cycles);
    assert_eq!(path_of(plan(6, json!({}), exchange("a2at"))), "workload.algorithm");
}

fn path_of(plan: flitwork::Result<Plan>) -> String {
    match plan {
        Err(Error::Config { path, expected, .. }) => {
            assert!(expected.contains("grid"), "{path}: {expected}");
            path
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_goes_by_coordinates_is_refused() {
    let traffic = |kind: &str| json!({ "kind": "traffic", "pattern": { "kind": kind }, "offered_load": 0.1 });
    for kind in ["tornado", "neighbour"] {
        assert_eq!(path_of(plan(8, json!({}), traffic(kind))), "workload.pattern.kind");
    }
    assert!(plan(8, json!({}), traffic("bit_complement")).is_ok());
    let network = json!({ "topology": { "kind": "crossbar", "terminals": 8 }, "routing": { "kind": "duato" } });
    let spec = spec::from_json(&json!({ "network": network, "workload": uniform(0.1) }).to_string()).unwrap();
    assert_eq!(path_of(Plan::new(&spec)), "network.routing.kind");
}
