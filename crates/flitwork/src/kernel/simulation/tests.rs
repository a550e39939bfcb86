//! Pausing changes nothing, and networks do not disturb each other.

use super::*;
use crate::host::{Completion, Envelope, Task, TaskKind};
use crate::kernel::flit::{Variation, network};
use crate::schedule::{ANY, After, OpKind, Operation, Via};
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
    let operation = |kind, after| Operation { kind, via: Via::Network, step: 0, after: After::List(after) };
    let send = |to| operation(OpKind::Send { to, size: 4, tag: 0 }, vec![].into());
    let receive = |from| operation(OpKind::Receive { from, size: 4, tag: 0 }, vec![].into());
    let wait = |op: u32| operation(OpKind::Wait, vec![op].into());
    let (mut rounds, mut answers) = ([0u32; 2], 0);
    while simulation.advance(u64::MAX, &mut |_| true).unwrap() == Pause::Request {
        for rank in simulation.requests().collect::<Vec<_>>() {
            let round = &mut rounds[rank as usize];
            let first = 3 * *round;
            let program = match (*round, rank) {
                (3, _) => vec![],
                (_, 0) => vec![send(1), receive(1), wait(first + 1)],
                _ => vec![receive(0), wait(first), send(0)],
            };
            *round += 1;
            answers += 1;
            simulation.supply_operations(rank, program).unwrap();
        }
    }
    assert_eq!(answers, 8);
    let result = simulation.into_result();
    // 4 flits, one hop, router and terminals of one cycle each: 2 messages a round, each after the one before.
    assert_eq!((result.packets, result.status), (6, crate::measure::Status::Complete));
    assert_eq!(result.completion_cycles % 6, 0);
    assert_eq!(result.completion_cycles / 6, 6);
}

/// Rank 1 has nothing to wait for and asks again in the cycle in which it was answered, rank 0 is not answered: both
/// ask once.
#[test]
fn a_rank_that_asks_again_at_once_is_listed_once() {
    let programs = plan(json!([2]), json!({ "kind": "programs" }), json!({}));
    let mut simulation = start(&programs);
    for _ in 0..3 {
        assert_eq!(simulation.advance(u64::MAX, &mut |_| true).unwrap(), Pause::Request);
        assert_eq!(simulation.requests().collect::<Vec<_>>(), [0, 1]);
        simulation
            .supply_operations(
                1,
                vec![Operation { kind: OpKind::Wait, via: Via::Network, step: 0, after: After::List(vec![].into()) }],
            )
            .unwrap();
        assert_eq!(simulation.requests().collect::<Vec<_>>(), [0]);
    }
}

#[test]
fn answers_that_make_no_sense_are_refused() {
    let programs = plan(json!([2]), json!({ "kind": "programs" }), json!({}));
    let mut simulation = start(&programs);
    assert!(simulation.supply_operations(0, vec![]).unwrap_err().to_string().contains("does not ask"));
    assert_eq!(simulation.advance(10, &mut |_| true).unwrap(), Pause::Request);
    let mut refused = |kind, after: Vec<u32>| {
        let operation = Operation { kind, via: Via::Network, step: 0, after: After::List(after.into()) };
        simulation.supply_operations(0, vec![operation]).unwrap_err().to_string()
    };
    assert!(refused(OpKind::Send { to: 2, size: 1, tag: 0 }, vec![]).contains("rank 2 of 2"));
    assert!(refused(OpKind::Send { to: 1, size: 0, tag: 0 }, vec![]).contains("0 flits"));
    assert!(refused(OpKind::Receive { from: 7, size: 1, tag: 0 }, vec![]).contains("rank 7 of 2"));
    assert!(refused(OpKind::Wait, vec![0]).contains("does not come before it"));
    assert!(start(&programs).run(&mut |_| true).unwrap_err().to_string().contains("asks what to do next"));
}

/// A rank that is told: this operation, in context 1.
fn task(kind: TaskKind, after: &[u32]) -> Task {
    Task { kind, envelope: Envelope { context: 1, ..Envelope::default() }, after: after.to_vec() }
}

fn send(to: u32, tag: u32) -> Task {
    task(TaskKind::Operation(OpKind::Send { to, size: 4, tag }), &[])
}

fn receive(from: u32, tag: u32) -> Task {
    task(TaskKind::Operation(OpKind::Receive { from, size: 8, tag }), &[])
}

/// Four ranks, all of which ask; what completes is noted.
fn driven_simulation() -> Simulation {
    let mut simulation = start(&plan(json!([4]), json!({ "kind": "programs", "packet_flits": 4 }), json!({})));
    simulation.note_completions();
    assert_eq!(simulation.advance(u64::MAX, &mut |_| true).unwrap(), Pause::Request);
    simulation
}

fn end(simulation: &mut Simulation, ranks: &[u32]) {
    for &rank in ranks {
        simulation.supply(rank, Vec::new()).unwrap();
    }
}

fn advance(simulation: &mut Simulation) -> Vec<u32> {
    simulation.advance(u64::MAX, &mut |_| true).unwrap();
    simulation.requests().collect()
}

#[test]
fn a_rank_waits_for_any_of_several_and_is_told_which_messages_came() {
    let mut simulation = driven_simulation();
    end(&mut simulation, &[3]);
    let late = task(TaskKind::Operation(OpKind::Compute { time: 500 }), &[]);
    simulation.supply(1, vec![late, send(0, 7)]).unwrap();
    simulation.supply(2, vec![send(0, 8), send(0, 9)]).unwrap();
    let any = task(TaskKind::WaitAny, &[0, 1]);
    simulation.supply(0, vec![receive(1, 7), receive(2, ANY), any]).unwrap();
    while !simulation.requests().any(|rank| rank == 0) {
        let waiting_ranks = advance(&mut simulation);
        end(&mut simulation, &waiting_ranks.into_iter().filter(|&rank| rank != 0).collect::<Vec<_>>());
    }
    let received =
        |found: Vec<Completion>| -> Vec<_> { found.into_iter().filter_map(|c| c.message.map(|m| (c.op, m))).collect() };
    assert_eq!(received(simulation.take_completions()), [(1, (2, 0))]);
    assert!(simulation.now() < 100);
    // The second message waits or comes; it can be seen, in its context only, and received.
    let probe = task(TaskKind::Probe { from: ANY, tag: 9 }, &[]);
    simulation.supply(0, vec![probe]).unwrap();
    while !simulation.requests().any(|rank| rank == 0) {
        let waiting_ranks = advance(&mut simulation);
        end(&mut simulation, &waiting_ranks.into_iter().filter(|&rank| rank != 0).collect::<Vec<_>>());
    }
    assert_eq!((simulation.probe(0, ANY, ANY, 1), simulation.probe(0, ANY, ANY, 0)), (Some((2, 1)), None));
    simulation.supply(0, vec![receive(ANY, ANY), task(TaskKind::Operation(OpKind::Wait), &[0])]).unwrap();
    while simulation.advance(u64::MAX, &mut |_| true).unwrap() == Pause::Request {
        let waiting_ranks: Vec<_> = simulation.requests().collect();
        end(&mut simulation, &waiting_ranks);
    }
    assert_eq!(received(simulation.take_completions()), [(4, (2, 1)), (0, (1, 1))]);
    assert!(simulation.now() > 500);
}

#[test]
fn a_poll_ends_with_the_next_event_or_with_its_time() {
    let mut simulation = driven_simulation();
    end(&mut simulation, &[2, 3]);
    let late = task(TaskKind::Operation(OpKind::Compute { time: 250 }), &[]);
    simulation.supply(1, vec![late, send(0, 7)]).unwrap();
    let poll = || task(TaskKind::Poll { cycles: 100 }, &[]);
    simulation.supply(0, vec![poll()]).unwrap();
    let mut ends = Vec::new();
    while simulation.advance(u64::MAX, &mut |_| true).unwrap() == Pause::Request {
        for rank in simulation.requests().collect::<Vec<_>>() {
            let again = rank == 0 && ends.len() < 2;
            ends.extend((rank == 0).then_some(simulation.now()));
            let last = vec![receive(1, 7)];
            let operations = if again {
                vec![poll()]
            } else if rank == 0 && ends.len() == 3 {
                last
            } else {
                Vec::new()
            };
            simulation.supply(rank, operations).unwrap();
        }
    }
    assert!(ends[..2] == [100, 200] && (251..270).contains(&ends[2]), "{ends:?}");
}

#[test]
fn a_synchronous_send_is_complete_when_it_has_been_received() {
    let mut simulation = driven_simulation();
    end(&mut simulation, &[2, 3]);
    let mut synchronous = send(1, 7);
    synchronous.envelope.synchronous = true;
    simulation.supply(0, vec![synchronous, task(TaskKind::Operation(OpKind::Wait), &[0])]).unwrap();
    let late = task(TaskKind::Operation(OpKind::Compute { time: 300 }), &[]);
    simulation.supply(1, vec![late, receive(0, 7)]).unwrap();
    while simulation.advance(u64::MAX, &mut |_| true).unwrap() == Pause::Request {
        let waiting_ranks: Vec<_> = simulation.requests().collect();
        end(&mut simulation, &waiting_ranks);
    }
    let found: Vec<_> = simulation.take_completions().into_iter().map(|c| (c.rank, c.cycle)).collect();
    assert_eq!(found, [(1, 300), (0, 301)]);
}

#[test]
fn a_receive_without_a_message_is_taken_back() {
    let mut simulation = driven_simulation();
    simulation.supply(0, vec![receive(1, 7)]).unwrap();
    assert_eq!(advance(&mut simulation), [1, 2, 3, 0]);
    assert!(simulation.cancel(0, 0) && !simulation.cancel(0, 0) && !simulation.cancel(9, 0));
    end(&mut simulation, &[0, 1, 2, 3]);
    assert_eq!(simulation.advance(u64::MAX, &mut |_| true).unwrap(), Pause::Ended);
    let mut simulation = driven_simulation();
    let fault = simulation.supply(0, vec![task(TaskKind::WaitAny, &[])]).unwrap_err();
    assert!(fault.to_string().contains("any of no operations"), "{fault}");
}
