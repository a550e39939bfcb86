//! Parts of a network give what the whole gives, side by side, one after the other, and in turn.

use super::border::CrossEvents;
use super::handoff::Handoff;
use super::{EPOCH, simulate, simulation};
use crate::error::Error;
use crate::kernel::flit::{self, Variation};
use crate::measure::SimulationResult;
use crate::plan::Plan;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

fn plan(run: &str) -> Plan {
    plan_of(0, r#""kind": "uniform", "offered_load": 0.3, "packet_flits": 5"#, run)
}

/// With channels of so many cycles.
fn plan_of(channel: u32, workload: &str, run: &str) -> Plan {
    let text = format!(
        r#"{{ "network": {{ "topology": {{ "kind": "torus", "size": [4, 3] }}, "router": {{ "vcs": 2, "buffer_flits": 3 }},
                            "channel": {{ "latency_cycles": {channel} }} }},
             "workload": {{ {workload} }}, "run": {run} }}"#
    );
    Plan::new(&crate::spec::from_json(&text).unwrap()).unwrap()
}

fn alone(plan: &Plan) -> SimulationResult {
    flit::simulate(plan, Variation::default(), &mut |_| true).unwrap()
}

#[test]
fn parts_give_the_same_whoever_advances_them() {
    // Miri is slow, and finds races in few cycles.
    let cycles = if cfg!(miri) { 30 } else { 600 };
    // The window is as long as a channel: one cycle, and more of them than the phases of the run are multiples of.
    for (channel, window) in [(0, 1), (6, 7), (40, 16)] {
        let run = format!(r#"{{ "warmup_cycles": 10, "measurement_cycles": {cycles} }}"#);
        let plan = plan_of(channel, r#""kind": "uniform", "offered_load": 0.3, "packet_flits": 5"#, &run);
        assert_eq!(plan.window_cycles(), window);
        let whole = alone(&plan);
        for threads in [2, 3, 12] {
            // With epochs of no length the parts change hands again and again.
            for epoch in [EPOCH, Duration::ZERO] {
                let parts = simulate(&plan, threads, epoch, &mut |_| true).unwrap();
                assert_eq!(parts.threads, threads);
                assert_eq!(SimulationResult { threads: 1, ..parts }, whole);
            }
        }
    }
}

#[test]
fn a_burst_ends_in_the_same_cycle_in_parts() {
    for channel in [0, 1, 40] {
        for packets in [1, 2, 20] {
            let workload = format!(
                r#""kind": "burst", "pattern": {{ "kind": "uniform" }}, "packets": {packets}, "packet_flits": 2"#
            );
            let plan = plan_of(channel, &workload, "{}");
            // A packet for the terminal that sent it is under way for two cycles.
            assert!(plan.window_cycles() <= 2);
            let parts = simulate(&plan, 3, EPOCH, &mut |_| true).unwrap();
            assert_eq!(SimulationResult { threads: 1, ..parts }, alone(&plan));
        }
    }
}

#[test]
fn a_steady_run_decides_the_same_in_parts() {
    let plan =
        plan(r#"{ "steady": { "relative_ci": 0.05, "min_warmup_cycles": 500, "min_measurement_cycles": 500 } }"#);
    let parts = simulate(&plan, 3, EPOCH, &mut |_| true).unwrap();
    assert_eq!(SimulationResult { threads: 1, ..parts }, alone(&plan));
}

/// Without classes of VCs a ring fills up; the cycle in which that is noticed is the same in parts, whatever the
/// window.
#[test]
fn a_deadlock_is_found_in_the_same_cycle_in_parts() {
    for (channel, watchdog) in [(0, 200), (0, 1), (5, 200), (5, 3), (40, 100), (40, 4)] {
        let text = format!(
            r#"{{ "network": {{ "topology": {{ "kind": "torus", "size": [6] }}, "routing": {{ "kind": "shortest_path" }},
                                "router": {{ "vcs": 1, "buffer_flits": 2 }}, "channel": {{ "latency_cycles": {channel} }} }},
                 "workload": {{ "kind": "uniform", "offered_load": 0.9, "packet_flits": 8 }},
                 "run": {{ "deadlock_check": false, "watchdog_cycles": {watchdog}, "measurement_cycles": 20000 }} }}"#
        );
        let plan = Plan::new(&crate::spec::from_json(&text).unwrap()).unwrap();
        assert!(plan.window_cycles() <= watchdog);
        let found = |outcome| match outcome {
            Err(Error::Deadlock { cycle, .. }) => cycle,
            other => panic!("{other:?}"),
        };
        let whole = found(flit::simulate(&plan, Variation::default(), &mut |_| true));
        for threads in [2, 3] {
            let parts = found(simulate(&plan, threads, EPOCH, &mut |_| true));
            assert_eq!(parts, whole, "channels of {channel} cycles, watchdog {watchdog}, {threads} threads");
        }
    }
}

/// Rings fill up one after the other; what is said of the first ones, while the rest of the network moves, is the same
/// in parts, though VCs of several parts wait for each other.
#[test]
fn a_deadlock_of_a_part_of_the_network_is_the_same_in_parts() {
    for (channel, watchdog) in [(0, 7), (0, 1), (3, 20), (40, 20)] {
        let text = format!(
            r#"{{ "network": {{ "topology": {{ "kind": "torus", "size": [6, 5] }}, "routing": {{ "kind": "shortest_path" }},
                                "router": {{ "vcs": 1, "buffer_flits": 2 }}, "channel": {{ "latency_cycles": {channel} }} }},
                 "workload": {{ "kind": "uniform", "offered_load": 0.3, "packet_flits": 8 }},
                 "run": {{ "deadlock_check": false, "watchdog_cycles": {watchdog}, "measurement_cycles": 20000 }} }}"#
        );
        let plan = Plan::new(&crate::spec::from_json(&text).unwrap()).unwrap();
        let whole = flit::simulate(&plan, Variation::default(), &mut |_| true).unwrap_err();
        let said = whole.to_string();
        assert!(said.contains("the rest of the network still moves"), "{said}");
        for threads in [2, 3, 5] {
            assert_eq!(simulate(&plan, threads, EPOCH, &mut |_| true).unwrap_err(), whole);
        }
    }
}

/// A part that waked terminals of other parts would have to look at them in every cycle.
#[test]
fn parts_leave_out_cycles_in_which_nothing_happens() {
    let text = r#"{ "network": { "topology": { "kind": "torus", "size": [12, 12] } }, "run": {},
                    "workload": { "kind": "burst", "pattern": { "kind": "uniform" }, "packets": 1, "packet_flits": 2, "rate": 1e-6 } }"#;
    let plan = Plan::new(&crate::spec::from_json(text).unwrap()).unwrap();
    // Progress is told after some thousand cycles, or after a leap over more.
    let (mut calls, mut calls_of_whole) = (0, 0);
    let count = |calls: &mut u32| {
        *calls += 1;
        true
    };
    let parts = simulate(&plan, 2, EPOCH, &mut |_| count(&mut calls)).unwrap();
    let whole = flit::simulate(&plan, Variation::default(), &mut |_| count(&mut calls_of_whole)).unwrap();
    assert_eq!(SimulationResult { threads: 1, ..parts }, whole);
    assert!(u64::from(calls_of_whole) * 6000 < whole.completion_cycles, "{calls_of_whole}");
    assert!(calls <= calls_of_whole + 2, "{calls} and {calls_of_whole}");
}

#[test]
fn events_between_parts_take_no_more_memory_than_a_window_needs() {
    let plan = plan_of(5, r#""kind": "uniform", "offered_load": 0.3, "packet_flits": 5"#, "{}");
    let mut parts = simulation(&plan, 3, EPOCH).unwrap();
    parts.advance(2000, &mut |_| true).unwrap();
    for part in &mut parts.networks {
        let summary = part.summary.as_ref().unwrap();
        let most = summary.out.iter().chain(&summary.arrived).map(CrossEvents::batches).max();
        assert_eq!(most, Some(plan.window_cycles() as usize));
    }
}

#[test]
fn a_run_in_parts_can_be_stopped() {
    let plan = plan(r#"{ "warmup_cycles": 10, "measurement_cycles": 100000 }"#);
    let error = simulate(&plan, 2, EPOCH, &mut |_| false).unwrap_err();
    assert!(matches!(error, crate::error::Error::Interrupted { .. }));
}

#[test]
fn where_one_thread_panics_the_others_end() {
    // The second one has gone to sleep by then.
    let (done, ended) = mpsc::channel();
    thread::spawn(move || {
        let panics = |first: bool| {
            move |_: &mut u32| {
                if first {
                    thread::sleep(Duration::from_millis(200));
                    panic!("the first one panics");
                }
            }
        };
        let mut handoff = Handoff::new([panics(true), panics(false)]);
        handoff.begin([1, 2].into_iter());
        let panic = catch_unwind(AssertUnwindSafe(|| handoff.end(|_| ()))).unwrap_err();
        drop(handoff);
        done.send(panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap();
    });
    let message = ended.recv_timeout(Duration::from_secs(60)).expect("a thread waits for ever");
    assert_eq!(message.as_deref(), Some("the first one panics"));
}
