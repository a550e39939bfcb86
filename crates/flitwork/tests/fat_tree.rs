//! Fat trees from a specification to a result: bounds hold, every routing delivers, what makes no sense is named.

use flitwork::{Plan, PlanBound, plan_bound, simulate, spec};
use serde_json::{Value, json};

const KINDS: [&str; 4] = ["d_mod_k", "s_mod_k", "random_up", "adaptive_up"];

fn plan(topology: &Value, network: &Value, workload: &Value) -> flitwork::Result<Plan> {
    let mut spec = json!({ "network": { "topology": topology }, "workload": workload });
    for (field, value) in network.as_object().unwrap() {
        spec["network"][field] = value.clone();
    }
    Plan::new(&spec::from_json(&spec.to_string())?)
}

#[test]
fn an_all_to_all_completes_under_every_routing_and_not_before_its_bound() {
    for topology in [
        json!({ "kind": "k_ary_n_tree", "k": 3, "levels": 2 }),
        json!({ "kind": "k_ary_n_tree", "k": 2, "levels": 3 }),
        json!({ "kind": "xgft", "children": [4, 3], "parents": [1, 2] }),
        json!({ "kind": "k_ary_n_tree", "k": 5, "levels": 1 }),
    ] {
        for routing in KINDS {
            // One virtual channel: whatever goes up and then down cannot deadlock.
            let network = json!({ "routing": { "kind": routing }, "router": { "vcs": 1, "buffer_flits": 2 } });
            let workload = json!({ "kind": "collective", "operation": "all_to_all", "algorithm": "pairwise_shift",
                "message_flits": 20 });
            let plan = plan(&topology, &network, &workload).unwrap();
            let result = simulate(&plan, &mut |_| true).unwrap();
            let PlanBound::Completion(bound) = plan_bound(&plan).unwrap() else { panic!("a schedule") };
            let n = u64::from(plan.fabric.terminals());
            assert!(result.completion_cycles as f64 >= bound.tightest_cycles, "{topology} {routing}");
            assert_eq!(result.packets, n * (n - 1));
        }
    }
}

/// Without contention: 2 (level - 1) channels between routers, and no more.
#[test]
fn a_lone_packet_takes_the_time_of_its_levels() {
    let latency = |dst: u32| {
        let workload = json!({ "kind": "burst", "packets": 1, "packet_flits": 4,
            "pattern": { "kind": "hotspot", "terminals": [dst] } });
        let topology = json!({ "kind": "xgft", "children": [1, 1, 2], "parents": [1, 1, 1] });
        let plan =
            plan(&topology, &json!({ "router": { "routing_delay_cycles": 1, "st_delay_cycles": 1 } }), &workload);
        let plan = plan.unwrap();
        assert_eq!(plan.spec.network.routing.as_ref().unwrap().kind(), "d_mod_k");
        let result = simulate(&plan, &mut |_| true).unwrap();
        (result.packets, plan.routing.path(&plan.fabric, plan.fabric.end(0), plan.fabric.end(dst), 0).len())
    };
    assert_eq!((latency(0), latency(1)), ((2, 0), (2, 4)));
}

#[test]
fn what_does_not_fit_a_tree_is_named() {
    let tree = json!({ "kind": "k_ary_n_tree", "k": 4, "levels": 2 });
    let torus = json!({ "kind": "torus", "size": [4, 4] });
    let none = json!({});
    let routed = |kind: &str| json!({ "routing": { "kind": kind } });
    let uniform = json!({ "kind": "uniform", "offered_load": 0.1, "packet_flits": 1 });
    let pattern =
        |kind: &str| json!({ "kind": "traffic", "pattern": { "kind": kind }, "offered_load": 0.1, "packet_flits": 1 });
    let a2at = json!({ "kind": "all_to_all", "algorithm": "a2at", "message_flits": 20 });
    for (topology, network, workload, starts) in [
        (json!({ "kind": "k_ary_n_tree", "k": 0, "levels": 2 }), &none, &uniform, "network.topology.k = 0: expected"),
        (
            json!({ "kind": "k_ary_n_tree", "k": 4, "levels": 0 }),
            &none,
            &uniform,
            "network.topology.levels = 0: expected",
        ),
        (
            json!({ "kind": "k_ary_n_tree", "k": 32, "levels": 9 }),
            &none,
            &uniform,
            "network.topology.levels = 9 with k = 32",
        ),
        (json!({ "kind": "k_ary_n_tree", "k": 2 }), &none, &uniform, "network.topology"),
        (
            json!({ "kind": "xgft", "children": [4, 4], "parents": [1] }),
            &none,
            &uniform,
            "network.topology.parents = [1]: expected 2",
        ),
        (json!({ "kind": "xgft", "children": [], "parents": [] }), &none, &uniform, "network.topology.children = []"),
        (tree.clone(), &routed("duato"), &uniform, "network.routing.kind = duato: expected a network that is a grid"),
        (
            torus.clone(),
            &routed("random_up"),
            &uniform,
            "network.routing.kind = random_up: expected a network that is a fat tree",
        ),
        (
            tree.clone(),
            &none,
            &pattern("tornado"),
            "workload.pattern.kind = \"tornado\": expected a pattern that is defined here",
        ),
        (tree.clone(), &none, &a2at, "workload.algorithm = a2at: expected an algorithm for any network"),
    ] {
        let error = plan(&topology, network, workload).unwrap_err().to_string();
        assert!(error.starts_with(starts), "{error}\ninstead of {starts}");
    }
}
