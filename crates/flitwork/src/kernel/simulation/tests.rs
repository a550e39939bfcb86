//! Pausing changes nothing, and networks do not disturb each other.

use super::*;
use crate::kernel::flit::{Variation, network};
use crate::schedule::After;
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
    let mut other = start(&second);
    assert_eq!(other.advance(end + 1, &mut |_| true).unwrap(), Pause::Reached);
    assert!(other.networks[0].log.workload.totals.packets > 10);
    assert_eq!(both.networks[1].log.digest(), other.networks[0].log.digest());
}

/// Two ranks play ping-pong, told what to do only when they ask: as long as a stored schedule would take.
#[test]
fn ranks_are_told_what_to_do_when_they_ask() {
    let programs = plan(json!([2]), json!({ "kind": "programs", "packet_flits": 4 }), json!({}));
    let mut simulation = start(&programs);
    let operation = |kind, after| Operation { kind, step: 0, after: After::List(after) };
    let send = |to| operation(OpKind::Send { to, size: 4, tag: 0 }, vec![].into());
    let receive = |from| operation(OpKind::Receive { from, size: 4, tag: 0 }, vec![].into());
    let wait = |op: u32| operation(OpKind::Wait, vec![op].into());
    let (mut rounds, mut answers) = ([0u32; 2], 0);
    while simulation.advance(u64::MAX, &mut |_| true).unwrap() == Pause::Asked {
        for rank in simulation.asking().collect::<Vec<_>>() {
            let round = &mut rounds[rank as usize];
            let first = 3 * *round;
            let program = match (*round, rank) {
                (3, _) => vec![],
                (_, 0) => vec![send(1), receive(1), wait(first + 1)],
                _ => vec![receive(0), wait(first), send(0)],
            };
            *round += 1;
            answers += 1;
            simulation.give(rank, program).unwrap();
        }
    }
    assert_eq!(answers, 8);
    let result = simulation.into_result();
    // 4 flits, one hop, router and terminals of one cycle each: 2 messages a round, each after the one before.
    assert_eq!((result.packets, result.status), (6, crate::measure::Status::Complete));
    assert_eq!(result.completion_cycles % 6, 0);
    assert_eq!(result.completion_cycles / 6, 6);
}

/// Rank 1 has nothing to wait for and asks again in the cycle in which it was answered, rank 0 is not answered: both ask once.
#[test]
fn a_rank_that_asks_again_at_once_is_listed_once() {
    let programs = plan(json!([2]), json!({ "kind": "programs" }), json!({}));
    let mut simulation = start(&programs);
    for _ in 0..3 {
        assert_eq!(simulation.advance(u64::MAX, &mut |_| true).unwrap(), Pause::Asked);
        assert_eq!(simulation.asking().collect::<Vec<_>>(), [0, 1]);
        simulation.give(1, vec![Operation { kind: OpKind::Wait, step: 0, after: After::List(vec![].into()) }]).unwrap();
        assert_eq!(simulation.asking().collect::<Vec<_>>(), [0]);
    }
}

#[test]
fn answers_that_make_no_sense_are_refused() {
    let programs = plan(json!([2]), json!({ "kind": "programs" }), json!({}));
    let mut simulation = start(&programs);
    assert!(simulation.give(0, vec![]).unwrap_err().to_string().contains("does not ask"));
    assert_eq!(simulation.advance(10, &mut |_| true).unwrap(), Pause::Asked);
    let mut refused = |kind, after: Vec<u32>| {
        let operation = Operation { kind, step: 0, after: After::List(after.into()) };
        simulation.give(0, vec![operation]).unwrap_err().to_string()
    };
    assert!(refused(OpKind::Send { to: 2, size: 1, tag: 0 }, vec![]).contains("rank 2 of 2"));
    assert!(refused(OpKind::Send { to: 1, size: 0, tag: 0 }, vec![]).contains("0 flits"));
    assert!(refused(OpKind::Receive { from: 7, size: 1, tag: 0 }, vec![]).contains("rank 7 of 2"));
    assert!(refused(OpKind::Wait, vec![0]).contains("does not come before it"));
    assert!(start(&programs).run(&mut |_| true).unwrap_err().to_string().contains("asks what to do next"));
}
