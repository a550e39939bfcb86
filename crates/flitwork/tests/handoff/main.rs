//! A model of how threads hand over values (`kernel/parallel/handoff.rs`): loom explores the orders in which the steps
//! of the threads may happen and what each may see of the others. Every value comes back from each round with its work
//! done once, nobody waits for ever, and all threads end. Two faulty models show that a fault is found: without the
//! orderings of the gate, and without the fences between going to sleep and waking, a thread misses the gate and the
//! others wait for it.

// The same source is compiled with other atomics each time.
#![allow(clippy::duplicate_mod)]

use loom::model::Builder;
use std::env;
use std::process::Command;

/// Set in a process that explores a faulty model.
const FAULTY: &str = "FLITWORK_FAULTY_MODEL";

/// What a model runs, with the `handoff` and `sync` beside it: `rounds` rounds of so many threads besides this one;
/// between rounds the values change hands, as flits do that leave a part for another.
macro_rules! model {
    () => {
        pub fn rounds(threads: usize, rounds: u32) {
            let add_one = |_| |value: &mut u32| *value += 1;
            let mut handoff = super::handoff::Handoff::new((0..threads).map(add_one));
            let mut values: Vec<u32> = (0..threads as u32).map(|number| 10 * number).collect();
            for round in 1..=rounds {
                handoff.begin(values.drain(..));
                handoff.end(|value| values.push(value));
                values.reverse();
                let mut sorted = values.clone();
                sorted.sort_unstable();
                let expected: Vec<u32> = (0..threads as u32).map(|number| 10 * number + round).collect();
                assert_eq!(sorted, expected);
            }
        }
    };
}

mod no_fence;
mod right;
mod weak_gate;

/// Explores a model with at most so many changes of thread where none is necessary.
fn explore(preemptions: usize, model: fn(usize, u32), threads: usize, rounds: u32) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(move || model(threads, rounds));
}

/// Explores a faulty model in a process of its own, which does not survive what it finds: that a thread waits for ever.
/// `test` is the test that calls this.
fn finds_a_fault(test: &str, model: fn(usize, u32)) {
    if env::var_os(FAULTY).is_some() {
        return explore(3, model, 1, 1);
    }
    let mut command = Command::new(env::current_exe().unwrap());
    let done = command.args(["--exact", test, "--nocapture"]).env(FAULTY, "1").output().unwrap();
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success() && stderr.contains("deadlock; threads"), "found nothing: {stderr}");
}

#[test]
fn a_thread_gets_every_value_and_gives_it_back() {
    explore(4, right::model::rounds, 1, 1);
    explore(3, right::model::rounds, 1, 2);
}

#[test]
fn so_do_two_threads() {
    explore(if env::var_os("FLITWORK_FULL").is_some() { 2 } else { 1 }, right::model::rounds, 2, 1);
}

#[test]
fn without_the_orderings_of_the_gate_a_thread_waits_for_ever() {
    finds_a_fault("without_the_orderings_of_the_gate_a_thread_waits_for_ever", weak_gate::model::rounds);
}

#[test]
fn without_fences_a_thread_sleeps_for_ever() {
    finds_a_fault("without_fences_a_thread_sleeps_for_ever", no_fence::model::rounds);
}
