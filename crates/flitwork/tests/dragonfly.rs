//! The dragonfly from a specification to its result: its routing, its bound, its latency at no load, and its errors.

use flitwork::{Plan, PlanBound, plan_bound, simulate, spec};
use serde_json::{Value, json};

fn plan(topology: Value, vcs: u32, workload: Value) -> flitwork::Result<Plan> {
    let network = json!({ "topology": topology, "router": { "vcs": vcs } });
    Plan::new(&spec::from_json(&json!({ "network": network, "workload": workload }).to_string())?)
}

fn nine_groups() -> Value {
    json!({ "kind": "dragonfly", "routers_per_group": 4, "global_channels_per_router": 2, "terminals_per_router": 2 })
}

fn all_to_all() -> Value {
    json!({ "kind": "all_to_all", "algorithm": "a2a", "message_flits": 4 })
}

#[test]
fn its_routing_is_filled_in_and_takes_one_global_channel_at_most() {
    let plan = plan(nine_groups(), 2, all_to_all()).unwrap();
    assert_eq!(plan.spec.network.routing.as_ref().unwrap().kind(), "dragonfly_minimal");
    let fabric = &plan.fabric;
    for (src, dst) in (0..36).flat_map(|src| (0..36).map(move |dst| (src, dst))) {
        let path = plan.routing.path(fabric, fabric.end(2 * src), fabric.end(2 * dst), 0);
        let global = path.iter().filter(|&&(_, port, _)| port >= 3).count();
        assert_eq!(global, usize::from(src / 4 != dst / 4), "{src} to {dst}: {path:?}");
        // The second set is for those that have come by the global channel.
        let (before, behind) =
            path.split_at(path.iter().position(|&(_, port, _)| port >= 3).map_or(path.len(), |at| at + 1));
        assert!(before.len() <= 2 && behind.len() <= 1, "{path:?}");
        assert!(before.iter().all(|&(_, _, set)| set == 0) && behind.iter().all(|&(_, _, set)| set == 1), "{path:?}");
    }
}

/// A local channel carries messages of 2 terminals to 2, those of 2 to the 8 of each of two other groups, and as many
/// that come from there: more than a global one, with those of 8 terminals to 8.
#[test]
fn an_all_to_all_completes_and_not_before_its_bound() {
    let plan = plan(nine_groups(), 2, all_to_all()).unwrap();
    let PlanBound::Completion(bound) = plan_bound(&plan).unwrap() else { panic!("a schedule") };
    assert_eq!(bound.channel_load_cycles, (4.0 + 32.0 + 32.0) * 4.0);
    let result = simulate(&plan, &mut |_| true).unwrap();
    assert_eq!(result.packets, 72 * 71);
    assert!(result.completion_cycles as f64 >= bound.tightest_cycles);
}

#[test]
fn one_virtual_channel_is_too_few_and_other_networks_have_no_groups() {
    let error = plan(nine_groups(), 1, all_to_all()).unwrap_err().to_string();
    assert!(error.starts_with("network.router.vcs = 1: expected at least 2"), "{error}");
    let torus = r#"{"network": {"topology": {"kind": "torus", "size": [4]}, "routing": {"kind": "dragonfly_minimal"}},
        "workload": {"kind": "all_to_all", "algorithm": "a2a", "message_flits": 4}}"#;
    let error = Plan::new(&spec::from_json(torus).unwrap()).unwrap_err().to_string();
    assert!(
        error.starts_with("network.routing.kind = dragonfly_minimal: expected a network that is a dragonfly"),
        "{error}"
    );
}

/// It is looked at on a small one whether routes can wait for each other.
#[test]
fn thousands_of_routers_are_planned() {
    let large = json!({ "kind": "dragonfly", "routers_per_group": 16, "global_channels_per_router": 12 });
    let plan = plan(large, 2, json!({ "kind": "uniform", "offered_load": 0.1 })).unwrap();
    assert_eq!(plan.fabric.routers(), 193 * 16);
}

/// Several shortest paths lead through a third group, and a set of virtual channels for each hop keeps these free of
/// deadlock, too.
#[test]
fn other_shortest_paths_are_a_choice() {
    let mut network = json!({ "topology": nine_groups(), "router": { "vcs": 3 } });
    let with = |network: &Value| {
        let text = json!({ "network": network, "workload": all_to_all() }).to_string();
        Plan::new(&spec::from_json(&text).unwrap())
    };
    network["routing"] = json!({ "kind": "shortest_path" });
    let error = with(&network).unwrap_err().to_string();
    assert!(error.starts_with("network.routing.kind = shortest_path: expected no cycle"), "{error}");
    network["routing"] = json!({ "kind": "hop_classes" });
    assert_eq!(simulate(&with(&network).unwrap(), &mut |_| true).unwrap().packets, 72 * 71);
}

/// Groups of one router are a full mesh: no packet waits for another on its way, and one set is enough.
#[test]
fn a_full_mesh_needs_one_virtual_channel() {
    let mesh = json!({ "kind": "dragonfly", "routers_per_group": 1, "global_channels_per_router": 4 });
    let plan = plan(mesh, 1, all_to_all()).unwrap();
    assert_eq!(simulate(&plan, &mut |_| true).unwrap().packets, 5 * 4);
}
