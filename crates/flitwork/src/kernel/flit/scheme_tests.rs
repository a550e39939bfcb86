//! Every routing in the kernel: packets arrive by routes of the right length, order and path of allocation change
//! nothing.

use super::tests::{plan, run, short, uniform};
use super::{Variation, simulate};
use crate::measure::Status;
use serde_json::{Value, json};

/// A network for each routing, with few VCs, wormhole or cut-through.
fn networks() -> Vec<Value> {
    let torus = |size: Value, routing: Value, vcs: u32, extra: Value| {
        let mut router = json!({ "vcs": vcs, "buffer_flits": 8, "switching": "virtual_cut_through" });
        extra.as_object().unwrap().iter().for_each(|(key, value)| router[key] = value.clone());
        json!({ "topology": { "kind": "torus", "size": size }, "routing": routing, "router": router })
    };
    let wormhole = json!({ "switching": "wormhole", "buffer_flits": 3 });
    let one_packet = json!({ "switching": "wormhole", "buffer_flits": 3, "wait_for_tail_credit": true });
    let slow = json!({ "routing_delay_cycles": 1, "vc_alloc_delay_cycles": 1, "st_delay_cycles": 1 });
    let separable = json!({ "vc_allocator": { "kind": "separable_input_first" }, "speculative": true });
    vec![
        torus(json!([4, 5]), json!({ "kind": "dimension_order", "classes": "crossed" }), 3, wormhole.clone()),
        torus(json!([4, 5]), json!({ "kind": "duato" }), 4, json!({})),
        torus(json!([6, 4]), json!({ "kind": "duato", "selection": "random", "tie": "random" }), 5, slow.clone()),
        torus(json!([4, 4]), json!({ "kind": "duato", "selection": "round_robin" }), 4, json!({})),
        torus(json!([4, 4]), json!({ "kind": "duato", "selection": "all" }), 4, separable),
        torus(json!([5, 4]), json!({ "kind": "duato_misrouting", "tie": "random" }), 4, json!({})),
        torus(json!([6, 5]), json!({ "kind": "cross_line" }), 6, json!({})),
        torus(json!([3, 3, 4]), json!({ "kind": "cross_line", "information": "local" }), 16, wormhole.clone()),
        torus(json!([4, 4]), json!({ "kind": "cross_line", "information": "none" }), 6, slow),
        torus(json!([4, 4]), json!({ "kind": "valiant" }), 4, wormhole.clone()),
        torus(json!([5, 4]), json!({ "kind": "romm", "tie": "random" }), 4, wormhole.clone()),
        torus(json!([4, 4]), json!({ "kind": "min_adapt" }), 4, one_packet),
        torus(json!([4, 4]), json!({ "kind": "o1turn" }), 4, wormhole),
    ]
}

#[test]
fn every_packet_arrives_and_minimal_ways_are_shortest() {
    for network in networks() {
        let mut run_spec = short();
        run_spec["record"] = json!({ "packets": true });
        let plan = plan(network.clone(), uniform(0.15, 4), run_spec);
        let result = run(&plan, Variation::default());
        assert_eq!(result.status, Status::Complete, "{network}");
        let kind = network["routing"]["kind"].as_str().unwrap();
        let (mut least, mut taken) = (0, 0);
        for packet in result.packet_records.iter().filter(|p| p.arrived < u64::MAX) {
            let (src, dst) =
                (plan.fabric.grid().unwrap().coords(packet.src), plan.fabric.grid().unwrap().coords(packet.dst));
            let hops: u32 = (0..plan.fabric.grid().unwrap().dims())
                .filter_map(|d| {
                    [true, false]
                        .iter()
                        .filter_map(|&p| plan.fabric.grid().unwrap().distance(d, src[d], dst[d], p))
                        .min()
                })
                .sum();
            least += hops;
            taken += packet.hops;
            if !["valiant", "duato_misrouting"].contains(&kind) {
                assert_eq!(packet.hops, hops, "{network}");
            }
        }
        assert!(taken >= least && least > 100, "{network}");
        assert!(kind != "valiant" || f64::from(taken) > 1.5 * f64::from(least), "{taken} {least}");
    }
}

#[test]
fn order_and_way_through_allocation_change_nothing() {
    for (i, network) in networks().into_iter().enumerate() {
        let plan = plan(network.clone(), uniform(0.5, 4), short());
        let first = run(&plan, Variation::default());
        let varied = |variation: Variation| assert_eq!(first, run(&plan, variation), "{network} {variation:?}");
        varied(Variation { shuffle: 5, ..Default::default() });
        varied(Variation { general: true, ..Default::default() });
        // These use every method of choosing.
        if [0, 2, 3, 5, 6].contains(&i) {
            varied(Variation { general: true, counted: 64, shuffle: 7, ..Variation::default() });
        }
    }
}

/// All buffers full, everybody sending to everybody: nothing deadlocks.
#[test]
fn nothing_deadlocks_under_an_all_to_all() {
    for network in networks() {
        // Detours are made when nothing else moves: exactly here.
        let all_to_all = json!({ "kind": "all_to_all", "algorithm": "a2a", "message_flits": 40, "packet_flits": 3 });
        let plan = plan(network.clone(), all_to_all, json!({ "watchdog_cycles": 500 }));
        let result = simulate(&plan, Variation::default(), &mut |_| true);
        assert!(result.is_ok_and(|r| r.status == Status::Complete), "{network}");
    }
}

/// Adaptive routing spreads transpose traffic that dimension order piles up.
#[test]
fn adaptive_routing_accepts_more_of_transpose_traffic() {
    let accepted = |routing: Value, vcs: u32| {
        let network = json!({ "topology": { "kind": "torus", "size": [8, 8] }, "routing": routing,
            "router": { "vcs": vcs, "switching": "virtual_cut_through" } });
        let traffic =
            json!({ "kind": "traffic", "pattern": { "kind": "transpose" }, "offered_load": 0.7, "packet_flits": 8 });
        let run_spec = json!({ "warmup_cycles": 2000, "measurement_cycles": 2000 });
        run(&plan(network, traffic, run_spec), Variation::default()).accepted_load
    };
    let order = accepted(json!({ "kind": "dimension_order", "classes": "crossed" }), 6);
    let adaptive = [json!({ "kind": "duato" }), json!({ "kind": "cross_line" })].map(|routing| accepted(routing, 6));
    assert!(adaptive.iter().all(|&a| a > 1.2 * order), "{order} {adaptive:?}");
}
