//! Timetables in the kernels: complete to the cycle, no flit waits, as in the oracle's model of ranks.

use flitwork::spec::from_json;
use flitwork::timetable::{Entry, Timetable};
use flitwork::topology::MAX_DIMS;
use flitwork::traffic::{Attached, Table};
use flitwork::{Error, Plan, PlanBound, plan_bound, simulate};
use serde_json::{Value, json};
use std::sync::Arc;

/// One vector after the other, far enough apart that blocks of all nodes never meet; half-ring directions in turn.
fn one_after_the_other(sizes: &[u32], block_flits: u32, hop_cycles: u32) -> Timetable {
    let mut entries: Vec<Entry> = Vec::new();
    let nodes: u32 = sizes.iter().product();
    let mut start = 0;
    for node in 1..nodes {
        let (mut vector, mut rest) = ([0; MAX_DIMS], node);
        for (d, &k) in sizes.iter().enumerate() {
            let a = rest % k;
            rest /= k;
            let minus = 2 * a > k || 2 * a == k && node % 2 == 0;
            vector[d] = if minus { a as i32 - k as i32 } else { a as i32 };
        }
        let entry = Entry { vector, start, shift: 0 };
        // A block of a node meets those that others send at the same time, unless each channel of its route is passed
        // on in time.
        start += u64::from(block_flits.max(hop_cycles) + entry.hops() * hop_cycles);
        entries.push(entry);
    }
    let shifts = vec![vec![0; sizes.len()]];
    Timetable { sizes: sizes.to_vec(), period_cycles: start, hop_cycles, block_flits, shifts, entries }
}

fn specification(timetable: &Timetable, message_flits: u32, router: Value) -> (Value, Attached) {
    let table = Attached::new(Table::Timetable(Arc::new(timetable.clone())));
    let tie = if timetable.has_ties() { "by_message" } else { "parity" };
    let spec = json!({
        "network": {
            "topology": { "kind": "torus", "size": timetable.sizes },
            "routing": { "kind": "dimension_order", "tie": tie },
            "router": router,
        },
        "workload": { "kind": "timetable", "timetable": table, "message_flits": message_flits },
        "run": { "record": { "packets": true } },
    });
    (spec, table)
}

fn plan(timetable: &Timetable, message_flits: u32, router: Value) -> Result<Plan, flitwork::Error> {
    let (spec, table) = specification(timetable, message_flits, router);
    let mut spec = from_json(&spec.to_string())?;
    spec.attach(&[table]);
    Plan::new(&spec)
}

/// Cycles of a hop of such routers.
fn hop(sizes: &[u32], router: &Value) -> u32 {
    let network = json!({ "topology": { "kind": "torus", "size": sizes }, "router": router });
    let spec = json!({ "network": network, "workload": { "kind": "uniform", "offered_load": 0.1 } });
    let p = Plan::new(&from_json(&spec.to_string()).unwrap()).unwrap().params;
    p.routing_delay_cycles + p.vc_alloc_delay_cycles + p.hop_cycles
}

/// What injection and ejection add to every block, whose last flit is the cycle before its end.
fn ends(plan: &Plan) -> u64 {
    let p = &plan.params;
    u64::from(p.inject_cycles + p.routing_delay_cycles + p.vc_alloc_delay_cycles + p.eject_cycles) - 1
}

#[test]
fn runs_end_in_the_cycle_that_the_timetable_says() {
    for (sizes, message) in [(&[3][..], 2), (&[4], 3), (&[4, 3], 2), (&[2, 2, 3], 1), (&[5, 4], 3)] {
        for router in [json!({}), json!({ "pipeline": "pipelined", "routing_delay_cycles": 2 })] {
            let timetable = one_after_the_other(sizes, 1, hop(sizes, &router));
            assert_eq!(timetable.check(), Ok(()), "{sizes:?}");
            let plan = plan(&timetable, message, router.clone()).unwrap();
            let result = simulate(&plan, &mut |_| true).unwrap();
            let expected = timetable.length_cycles(u64::from(message)) + ends(&plan);
            assert_eq!(result.completion_cycles, expected, "{sizes:?} {router}");
            let PlanBound::Completion(bound) = plan_bound(&plan).unwrap() else { panic!("it completes") };
            assert!(bound.tightest_cycles <= result.completion_cycles as f64);
        }
    }
}

#[test]
fn what_does_not_fit_the_network_is_refused() {
    let fits = one_after_the_other(&[4, 3], 1, hop(&[4, 3], &json!({})));
    let fault = |change: &dyn Fn(&mut Value), timetable: &Timetable| {
        let (mut spec, table) = specification(timetable, 2, json!({}));
        change(&mut spec);
        let mut spec = from_json(&spec.to_string()).unwrap();
        spec.attach(&[table]);
        Plan::new(&spec).unwrap_err().to_string()
    };
    let size = fault(&|spec| spec["network"]["topology"]["size"] = json!([3, 4]), &fits);
    assert!(size.starts_with("workload.timetable.sizes = [4, 3]: expected one for this network"), "{size}");
    let tie = fault(&|spec| spec["network"]["routing"]["tie"] = json!("plus"), &fits);
    assert!(tie.starts_with("network.routing.tie = plus: expected by_message"), "{tie}");
    let y_first = |spec: &mut Value| spec["network"]["routing"]["order"] = json!([1, 0]);
    let routing = fault(&y_first, &fits);
    assert!(routing.starts_with("network.routing.order = [1, 0]: expected dimensions in ascending order"), "{routing}");
    let packet = fault(&|spec| spec["workload"]["packet_flits"] = json!(2), &fits);
    assert!(packet.starts_with("workload.packet_flits = 2: expected at most 1 flits"), "{packet}");
    let slower = Timetable { hop_cycles: fits.hop_cycles + 1, ..fits.clone() };
    let hop = fault(&|_| (), &slower);
    assert!(hop.contains("workload.timetable"), "{hop}");
    let mut twice = fits.clone();
    twice.entries[1].start = twice.entries[0].start;
    let collision = fault(&|_| (), &twice);
    assert!(collision.contains("expected no port and no channel used twice"), "{collision}");
    let named = fault(
        &|spec| spec["workload"] = json!({ "kind": "uniform", "offered_load": 0.1 }),
        &one_after_the_other(&[4], 1, 1),
    );
    assert!(named.starts_with("network.routing.tie = by_message: expected another rule"), "{named}");
}

/// What a timetable for an all-to-all on a torus has to fit, or the path of what keeps flits from never waiting.
fn target(size: &[u32], change: &Value) -> Result<flitwork::SynthesisTarget, String> {
    let mut network = json!({ "topology": { "kind": "torus", "size": size } });
    for (table, fields) in change.as_object().unwrap() {
        for (field, value) in fields.as_object().unwrap() {
            network[table][field] = value.clone();
        }
    }
    let workload = json!({ "kind": "all_to_all", "algorithm": "a2at", "message_flits": 20, "packet_flits": 8 });
    let spec = json!({ "network": network, "workload": workload });
    let plan = Plan::new(&from_json(&spec.to_string()).unwrap()).unwrap();
    plan.synthesis_target().map_err(|error| match error {
        Error::Config { path, .. } => path,
        other => other.to_string(),
    })
}

#[test]
fn networks_in_which_flits_wait_whatever_the_timetable_are_refused() {
    let slow = json!({ "latency_cycles": 4 });
    // A credit is back after 5 + 5 cycles.
    assert!(target(&[4, 4], &json!({ "channel": slow, "router": { "buffer_flits": 10 } })).is_ok());
    for (change, path) in [
        (json!({ "channel": slow, "router": { "buffer_flits": 9 } }), "network.router.buffer_flits"),
        (
            json!({ "channel": slow, "router": { "buffer_flits": 16, "switching": "virtual_cut_through" } }),
            "network.router.buffer_flits",
        ),
        (json!({ "router": { "routing_delay_cycles": 1 } }), "network.router.pipeline"),
        (
            json!({ "router": { "pipeline": "pipelined", "vc_alloc_delay_cycles": 4 } }),
            "network.router.vc_alloc_delay_cycles",
        ),
        (json!({ "router": { "wait_for_tail_credit": true } }), "network.router.wait_for_tail_credit"),
        (json!({ "nic": { "packet_gap_cycles": 1 } }), "network.nic.packet_gap_cycles"),
        (json!({ "nic": { "pacing": { "kind": "mod" } } }), "network.nic.pacing.kind"),
        (json!({ "nic": { "service": { "order": "round_robin" } } }), "network.nic.service"),
    ] {
        assert_eq!(target(&[4, 4], &change).unwrap_err(), path, "{change}");
    }
}

#[test]
fn a_speculative_hop_takes_no_cycles_for_vc_allocation() {
    let router = json!({ "speculative": true, "vc_alloc_delay_cycles": 2, "pipeline": "pipelined" });
    assert_eq!(target(&[4, 4], &json!({ "router": router })).unwrap().hop_cycles, 1);
}

#[test]
fn the_bound_does_not_depend_on_the_length_of_a_block() {
    let timetable = one_after_the_other(&[5, 3], 1, 1);
    let PlanBound::Completion(found) = plan_bound(&plan(&timetable, 20, json!({})).unwrap()).unwrap() else {
        panic!("it completes")
    };
    let network = json!({ "topology": { "kind": "torus", "size": [5, 3] } });
    let workload = json!({ "kind": "all_to_all", "algorithm": "a2a", "message_flits": 20 });
    let all_to_all = from_json(&json!({ "network": network, "workload": workload }).to_string()).unwrap();
    let PlanBound::Completion(expected) = plan_bound(&Plan::new(&all_to_all).unwrap()).unwrap() else {
        panic!("it completes")
    };
    assert_eq!(found.bisection_cycles, expected.bisection_cycles);
    assert_eq!(found.channel_load_cycles, expected.channel_load_cycles);
    assert_eq!(found.tightest_cycles, expected.tightest_cycles);
}
