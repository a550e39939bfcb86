//! Timetables by pairs: found on networks of every shape, proved, run to the cycle.

use flitwork::spec::from_json;
use flitwork::synthesis::{PairOrder, synthesise_pairs};
use flitwork::timetable::{PairTimetable, Routes};
use flitwork::topology::{Channel, Fabric, Graph};
use flitwork::traffic::{Attached, Table};
use flitwork::{Plan, simulate};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;

fn specification(network: &Value, workload: Value) -> Value {
    json!({ "network": network, "workload": workload, "run": { "record": { "packets": true } } })
}

/// A plan on the network of the specification, or on one that was made in code.
fn planned(spec: &Value, table: Option<Attached>, fabric: Option<&Fabric>) -> Result<Plan, flitwork::Error> {
    let mut spec = from_json(&spec.to_string())?;
    spec.attach(table.as_slice());
    match fabric {
        Some(fabric) => Plan::on_fabric(&spec, fabric.clone()),
        None => Plan::new(&spec),
    }
}

struct Found {
    timetable: PairTimetable,
    least_period_cycles: u64,
    target: Plan,
}

fn found(network: &Value, fabric: Option<&Fabric>, block_flits: u32, budget_steps: u64) -> Found {
    let spec = specification(network, json!({ "kind": "all_to_all", "algorithm": "a2a", "message_flits": 4 }));
    let target = planned(&spec, None, fabric).unwrap();
    let routes = target.fixed_routes().unwrap();
    let radices = routes.terminal_radices();
    let order = PairOrder { routes: &routes, block_flits, radices, seed: 1, budget_steps };
    let (timetable, least_period_cycles) = synthesise_pairs(&order, &mut |_| true).unwrap();
    Found { timetable, least_period_cycles, target }
}

/// Plans a timetable, runs it, and returns the completion and what the plan says of it.
fn run(network: &Value, fabric: Option<&Fabric>, found: &Found, message_flits: u32) -> (u64, u64) {
    let table = Attached::new(Table::PairTimetable(Arc::new(found.timetable.clone())));
    let workload = json!({ "kind": "timetable", "timetable": table, "message_flits": message_flits });
    let plan = planned(&specification(network, workload), Some(table), fabric).unwrap();
    let p = &plan.params;
    let ends = u64::from(p.inject_cycles + p.routing_delay_cycles + p.vc_alloc_delay_cycles + p.eject_cycles) - 1;
    let length = found.timetable.length_cycles(&plan.fixed_routes().unwrap(), u64::from(message_flits));
    (simulate(&plan, &mut |_| true).unwrap().completion_cycles, length + ends)
}

/// Every flit of every block, part by part: independent of [`PairTimetable::check`].
fn uses_twice(timetable: &PairTimetable, routes: &dyn Routes) -> bool {
    let (mut used, mut twice) = (HashSet::new(), false);
    for (from, to) in timetable.pairs() {
        routes.visit(from, to, &mut |part, after| {
            for flit in 0..u64::from(timetable.block_flits) {
                let cycle = (timetable.start(from, to) + u64::from(after) + flit) % timetable.period_cycles;
                twice |= !used.insert((part, cycle));
            }
        });
    }
    twice
}

/// Networks of every shape, and how far above its bound the period may be with few steps.
fn networks() -> Vec<(Value, f64)> {
    let topology = |topology: Value| json!({ "topology": topology });
    vec![
        (topology(json!({ "kind": "mesh", "size": [4, 4] })), 1.07),
        (topology(json!({ "kind": "mesh", "size": [3, 2, 2], "terminals_per_router": 2 })), 1.1),
        (topology(json!({ "kind": "crossbar", "terminals": 6 })), 1.0),
        (topology(json!({ "kind": "k_ary_n_tree", "k": 4, "levels": 2 })), 1.07),
        (topology(json!({ "kind": "k_ary_n_tree", "k": 2, "levels": 4 })), 1.07),
        (topology(json!({ "kind": "dragonfly", "global_channels_per_router": 1, "routers_per_group": 2 })), 1.4),
        (
            json!({
                "topology": { "kind": "torus", "size": [4, 3], "terminals_per_router": 2 },
                "routing": { "kind": "dimension_order", "order": [1, 0], "tie": "parity" },
                "router": { "pipeline": "pipelined", "routing_delay_cycles": 2 },
                "channel": { "latency_cycles": 3 },
            }),
            1.15,
        ),
    ]
}

#[test]
fn they_come_near_their_bound_on_any_network_and_run_to_the_cycle() {
    for (network, most) in networks() {
        let found = found(&network, None, 1, 300_000);
        let ratio = found.timetable.period_cycles as f64 / found.least_period_cycles as f64;
        assert!(ratio <= most, "{network}: {ratio}");
        assert!(!uses_twice(&found.timetable, &found.target.fixed_routes().unwrap()));
        let (completion, expected) = run(&network, None, &found, 3);
        assert_eq!(completion, expected, "{network}");
    }
}

#[test]
fn longer_blocks_never_meet_either() {
    for (network, _) in networks() {
        let found = found(&network, None, 5, 100_000);
        assert!(!uses_twice(&found.timetable, &found.target.fixed_routes().unwrap()));
        let (completion, expected) = run(&network, None, &found, 10);
        assert_eq!(completion, expected, "{network}");
    }
}

/// A circulant graph: each router has cables to those so many numbers ahead.
fn circulant(routers: u32, jumps: &[u32]) -> Fabric {
    let mut graph = Graph { terminals: vec![1; routers as usize], classes: vec!["jump".into()], ..Graph::default() };
    for router in 0..routers {
        for (n, jump) in jumps.iter().enumerate() {
            let to = (router + jump) % routers;
            graph.channels.extend(Channel::cable((router, 2 * n), (to, 2 * n + 1), 0));
        }
    }
    Fabric::of_graph(&graph).unwrap()
}

#[test]
fn graphs_made_in_code_are_networks_like_others() {
    let network = json!({ "topology": { "kind": "crossbar", "terminals": 2 }, "router": { "vcs": 8 } });
    for (routers, jumps) in [(13, &[1, 5][..]), (20, &[1, 3, 8])] {
        let fabric = circulant(routers, jumps);
        let found = found(&network, Some(&fabric), 1, 300_000);
        let ratio = found.timetable.period_cycles as f64 / found.least_period_cycles as f64;
        assert!(ratio <= 1.1, "{routers} {jumps:?}: {ratio}");
        let (completion, expected) = run(&network, Some(&fabric), &found, 3);
        assert_eq!(completion, expected, "{routers}");
    }
}

#[test]
fn what_does_not_fit_the_network_is_refused() {
    let network = json!({ "topology": { "kind": "mesh", "size": [3, 3] } });
    let mut good = found(&network, None, 1, 10_000).timetable;
    let fault = |network: &Value, timetable: &PairTimetable| {
        let table = Attached::new(Table::PairTimetable(Arc::new(timetable.clone())));
        let workload = json!({ "kind": "timetable", "timetable": table, "message_flits": 2 });
        planned(&specification(network, workload), Some(table), None).unwrap_err().to_string()
    };
    let other = fault(&json!({ "topology": { "kind": "mesh", "size": [4, 3] } }), &good);
    assert!(other.starts_with("workload.timetable.terminals = 9: expected 12"), "{other}");
    let slower = fault(&json!({ "topology": network["topology"], "channel": { "latency_cycles": 4 } }), &good);
    assert!(slower.contains("expected no port and no channel used twice on the routes"), "{slower}");
    let drawn = json!({ "topology": network["topology"], "routing": { "kind": "o1turn" } });
    assert!(fault(&drawn, &good).contains("the same route"), "{}", fault(&drawn, &good));
    good.starts[1] = good.starts[2];
    let twice = fault(&network, &good);
    assert!(twice.contains("from 0 to 1 and from 0 to 2 use the injection port of terminal 0"), "{twice}");
}

#[test]
fn single_edits_are_rejected_just_where_a_count_finds_a_collision() {
    let network = json!({ "topology": { "kind": "mesh", "size": [3, 3] } });
    let found = found(&network, None, 1, 10_000);
    let routes = found.target.fixed_routes().unwrap();
    let (mut rejected, pairs) = (0, found.timetable.pairs().collect::<Vec<_>>());
    for (n, &(from, to)) in pairs.iter().enumerate() {
        let mut edited = found.timetable.clone();
        edited.starts[(from * 9 + to) as usize] = (n as u64 * 7 + 3) % edited.period_cycles;
        assert_eq!(edited.check(&routes).is_err(), uses_twice(&edited, &routes), "{from} {to}");
        rejected += usize::from(edited.check(&routes).is_err());
    }
    assert!(rejected > pairs.len() / 2);
}

#[test]
fn planning_finds_a_timetable_where_none_is_given() {
    let plan = |network: &Value, more: Value| {
        let mut workload = json!({ "kind": "timetable", "message_flits": 3, "packet_flits": 1 });
        workload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        planned(&specification(network, workload), None, None)
    };
    let mesh = json!({ "topology": { "kind": "mesh", "size": [3, 3] } });
    let torus = json!({ "topology": { "kind": "torus", "size": [4, 3] }, "routing": { "kind": "dimension_order", "tie": "by_message" } });
    for network in [&mesh, &torus] {
        let found = plan(network, json!({})).unwrap();
        assert_eq!(found.hash(), plan(network, json!({})).unwrap().hash());
        let completion = simulate(&found, &mut |_| true).unwrap().completion_cycles;
        // What it says is planned again without the numbers: they are found once more.
        let spec = serde_json::to_value(&found.spec).unwrap();
        assert_eq!(spec["workload"]["search"], json!({ "seed": 1, "budget_steps": 5_000_000 }));
        let again = Plan::new(&from_json(&spec.to_string()).unwrap()).unwrap();
        assert_eq!(
            (again.hash(), simulate(&again, &mut |_| true).unwrap().completion_cycles),
            (found.hash(), completion)
        );
        let few = plan(network, json!({ "search": { "budget_steps": 1 } })).unwrap();
        assert!(simulate(&few, &mut |_| true).unwrap().completion_cycles >= completion);
    }
    let mut other = serde_json::to_value(&plan(&mesh, json!({})).unwrap().spec).unwrap();
    other["network"]["channel"]["latency_cycles"] = json!(3);
    let fault = Plan::new(&from_json(&other.to_string()).unwrap()).unwrap_err().to_string();
    assert!(fault.contains("which the search finds"), "{fault}");
    let tie = plan(&json!({ "topology": { "kind": "torus", "size": [4, 4] } }), json!({})).unwrap_err().to_string();
    assert!(tie.starts_with("network.routing.tie = parity: expected by_message"), "{tie}");
}
