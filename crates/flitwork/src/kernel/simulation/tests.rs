//! Pausing changes nothing, and networks do not disturb each other.

use super::*;
use crate::kernel::flit::{Variation, network};
use crate::spec::from_json;
use serde_json::{Value, json};

fn plan(size: Value, workload: Value, run: Value) -> Plan {
    let topology = json!({ "kind": "torus", "size": size });
    let spec = json!({ "network": { "topology": topology }, "workload": workload, "run": run }).to_string();
    Plan::new(&from_json(&spec).unwrap()).unwrap()
}

fn exchange() -> Plan {
    let all_to_all = json!({ "kind": "all_to_all", "algorithm": "a2at", "message_flits": 12, "sync": "local" });
    plan(json!([4, 4]), all_to_all, json!({ "record": { "packets": true } }))
}

fn uniform() -> Plan {
    let traffic = json!({ "kind": "uniform", "offered_load": 0.02, "packet_flits": 3 });
    plan(json!([3, 4]), traffic, json!({ "warmup_cycles": 50, "measurement_cycles": 400 }))
}

fn start(plan: &Plan) -> Simulation {
    Simulation::on(plan, network(plan, Variation::default()).unwrap()).unwrap()
}

#[test]
fn a_run_in_pieces_is_the_same_run() {
    for plan in [exchange(), uniform()] {
        let mut whole = start(&plan);
        whole.run(&mut |_| true).unwrap();
        let whole = whole.into_result();
        for piece in [1, 7, 100] {
            let (mut simulation, mut until, mut pauses) = (start(&plan), 0, 0);
            while simulation.advance(until, &mut |_| true).unwrap() == Pause::Reached {
                assert!(simulation.now() >= until);
                (until, pauses) = (until + piece, pauses + 1);
            }
            assert!(pauses > 1);
            assert_eq!(simulation.into_result(), whole);
        }
    }
}

/// An exchange on one network while traffic runs on another: each sees what it would see alone, to the last packet.
#[test]
fn two_networks_advance_in_lockstep() {
    let (first, second) = (exchange(), uniform());
    let mut alone = start(&first);
    alone.run(&mut |_| true).unwrap();
    let end = alone.now();
    let mut both = start(&first);
    both.attach(&second, network(&second, Variation::default()).unwrap());
    both.run(&mut |_| true).unwrap();
    assert_eq!(both.now(), end);
    assert_eq!(both.networks[0].log.digest(), alone.networks[0].log.digest());
    let mut beside = start(&second);
    assert_eq!(beside.advance(end + 1, &mut |_| true).unwrap(), Pause::Reached);
    assert!(beside.networks[0].log.workload.totals.packets > 10);
    assert_eq!(both.networks[1].log.digest(), beside.networks[0].log.digest());
}
