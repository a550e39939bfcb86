//! The kernel against the oracle: on random small networks with every option of docs/model.md, every packet is injected
//! and arrives in the same cycle.
//!
//! Quick lane: some hundred fixed cases. Full lane: `FLITWORK_FULL=1`, 20,000 cases. `FLITWORK_SEED=n` draws others.

mod oracle;

use flitwork::measure::{PacketRecord, SimulationResult};
use flitwork::routing::{Header, Tie};
use flitwork::schedule::Schedule;
use flitwork::spec::{NetworkSpec, RecordSpec, RunSpec, SimulationSpec, WorkloadSpec};
use flitwork::{Plan, Workload, simulate};
use oracle::{Load, Outcome, TracePacket, cases, run};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::Debug;

const WATCHDOG: u64 = 500;

/// Runs `test` on `quick` cases (`full` in the full lane). `test` says whether its case was a valid configuration; most
/// must be.
fn for_all<S>(name: &str, quick: u32, full: u32, strategy: S, test: impl Fn(S::Value) -> Result<bool, TestCaseError>)
where
    S: Strategy,
    S::Value: Debug,
{
    let full_lane = std::env::var("FLITWORK_FULL").is_ok_and(|v| v == "1");
    let seed: u64 = std::env::var("FLITWORK_SEED").ok().and_then(|v| v.parse().ok()).unwrap_or(0);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        cases: if full_lane { full } else { quick },
        max_local_rejects: u32::MAX,
        max_shrink_iters: 2_000,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let (valid, all) = (Cell::new(0), Cell::new(0));
    let outcome = runner.run(&strategy, |value| {
        all.set(all.get() + 1);
        valid.set(valid.get() + u32::from(test(value)?));
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{name}: {error}");
    }
    assert!(valid.get() * 10 >= all.get() * 8, "{name}: only {} of {} cases were valid", valid.get(), all.get());
}

/// The plan of a valid specification, `None` of an invalid one.
fn plan(network: &NetworkSpec, workload: &WorkloadSpec, run: RunSpec) -> Result<Option<Plan>, TestCaseError> {
    let spec = SimulationSpec { network: network.clone(), workload: workload.clone(), run };
    match Plan::new(&spec) {
        Ok(plan) => Ok(Some(plan)),
        Err(error) if error.is_config() => Ok(None),
        Err(error) => Err(TestCaseError::fail(format!("Plan::new: {error}"))),
    }
}

fn simulated(plan: &Plan) -> Result<SimulationResult, TestCaseError> {
    simulate(plan, &mut |_| true).map_err(|error| TestCaseError::fail(format!("kernel: {error}")))
}

fn recording(seed: u64, warmup_cycles: u64, measurement_cycles: u64, max_cycles: u64) -> RunSpec {
    RunSpec {
        seed,
        warmup_cycles: Some(warmup_cycles),
        measurement_cycles: Some(measurement_cycles),
        max_cycles,
        watchdog_cycles: WATCHDOG,
        record: RecordSpec { packets: true, ..RecordSpec::default() },
        ..RunSpec::default()
    }
}

/// Every packet that arrived by cycle `end` in one did so in the other, and its record is the same.
fn compare(kernel: &[PacketRecord], oracle: &Outcome, end: u64) -> Result<(), TestCaseError> {
    prop_assert!(!oracle.deadlocked, "the oracle is deadlocked");
    let by_name = |records: &[PacketRecord]| -> HashMap<(u32, u32), PacketRecord> {
        records.iter().map(|r| ((r.src, r.sequence), *r)).collect()
    };
    let (in_kernel, in_oracle) = (by_name(kernel), by_name(&oracle.packets));
    // The earliest difference is the one worth looking at.
    let mut differences = Vec::new();
    for (name, record) in &in_kernel {
        if record.arrived != u64::MAX && in_oracle.get(name) != Some(record) {
            differences.push((record.arrived, Some(*record), in_oracle.get(name).copied()));
        }
    }
    for (name, record) in &in_oracle {
        if record.arrived <= end && in_kernel.get(name) != Some(record) {
            differences.push((record.arrived, in_kernel.get(name).copied(), Some(*record)));
        }
    }
    match differences.iter().min_by_key(|d| d.0) {
        None => Ok(()),
        Some((_, k, o)) => {
            let what = format!("{} differences; the first:\nkernel {k:?}\noracle {o:?}", differences.len());
            Err(TestCaseError::fail(what))
        }
    }
}

/// The packets that the kernel drew, for the oracle.
fn trace(plan: &Plan, records: &[PacketRecord]) -> Result<Vec<TracePacket>, TestCaseError> {
    // Several controllers mix the packets of their messages; the queue has one message after the other.
    let mut records = records.to_vec();
    records.sort_by_key(|r| (r.src, r.message, r.sequence));
    for message in records.chunk_by(|a, b| (a.src, a.message) == (b.src, b.message)) {
        check_cut(plan, message)?;
    }
    let packet = |r: &PacketRecord| TracePacket {
        src: r.src,
        dst: r.dst,
        flits: r.flits,
        created: r.created,
        minus: r.minus,
        wraps: r.wraps,
        message: r.message,
    };
    Ok(records.iter().map(packet).collect())
}

/// One packet as drawn: whole or, where the tie rule splits it, in two; the second half may not have been taken yet.
fn check_cut(plan: &Plan, packets: &[PacketRecord]) -> Result<(), TestCaseError> {
    let Workload::Open(traffic) = &plan.workload else { panic!("an open loop") };
    let flits = traffic.packet_flits;
    let coords = |terminal: u32| plan.grid.coords(terminal / plan.params.concentration as u32);
    let (src, dst) = (coords(packets[0].src), coords(packets[0].dst));
    let routing = plan.routing.dimension_order().expect("plain dimension order");
    let tie = routing.has_tie(&plan.grid, &src, &dst);
    // Coins that favour the way it took must lead to the header it has.
    let expected = if routing.tie == Tie::Split && tie && flits > 1 {
        vec![(flits.div_ceil(2), 0), (flits / 2, u8::MAX)]
    } else if routing.tie == Tie::Split {
        vec![(flits, 0)]
    } else {
        vec![(flits, packets[0].minus)]
    };
    prop_assert!(packets.len() <= expected.len());
    for (packet, (flits, coins)) in packets.iter().zip(expected) {
        let header = routing.header(&plan.grid, &src, &dst, coins);
        prop_assert_eq!(header, Header { minus: packet.minus, wraps: packet.wraps });
        prop_assert_eq!((packet.dst, packet.flits, packet.created), (packets[0].dst, flits, packets[0].created));
    }
    Ok(())
}

fn check_open((network, workload): &(NetworkSpec, WorkloadSpec), run_spec: RunSpec) -> Result<bool, TestCaseError> {
    let Some(plan) = plan(network, workload, run_spec)? else { return Ok(false) };
    let result = simulated(&plan)?;
    let end = result.completion_cycles;
    let outcome = run(network, Load::Trace(trace(&plan, &result.packet_records)?), end + 1, WATCHDOG);
    compare(&result.packet_records, &outcome, end)?;
    Ok(true)
}

fn check_closed(network: &NetworkSpec, plan: &Plan) -> Result<(), TestCaseError> {
    let Workload::Closed { schedule, packet_flits } = &plan.workload else { panic!("a closed loop") };
    let result = simulated(plan)?;
    let end = result.completion_cycles;
    // A hundred cycles more, should the oracle be later.
    let outcome = run(network, Load::Schedule { schedule, packet_flits: *packet_flits }, end + 100, WATCHDOG);
    compare(&result.packet_records, &outcome, u64::MAX)?;
    // A program may go on computing after the last arrival.
    prop_assert!(outcome.packets.iter().all(|p| p.arrived <= end));
    Ok(())
}

#[test]
fn open_loop_packets_arrive_as_in_the_oracle() {
    let strategy = (cases::open_loop(), any::<u64>(), 0..60u64, 1..120u64);
    for_all("open loop", 220, 11_000, strategy, |(case, seed, warmup, measurement)| {
        check_open(&case, recording(seed, warmup, measurement, 600))
    });
}

#[test]
fn all_to_all_packets_arrive_as_in_the_oracle() {
    for_all("all-to-all", 120, 6_000, cases::closed_loop(), |(network, workload)| {
        let Some(plan) = plan(&network, &workload, recording(1, 0, 1, 1_000_000))? else { return Ok(false) };
        check_closed(&network, &plan)?;
        Ok(true)
    });
}

/// Sends, receives, computing and waits in any order: the schedule replaces an all-to-all in its plan.
#[test]
fn packets_of_random_programs_arrive_as_in_the_oracle() {
    for_all("programs", 100, 4_000, cases::program(), |(network, schedule, packet_flits): (_, Schedule, u32)| {
        let workload = WorkloadSpec::AllToAll {
            algorithm: "a2a".into(),
            message_flits: packet_flits,
            packet_flits,
            sync: Default::default(),
        };
        let Some(mut plan) = plan(&network, &workload, recording(1, 0, 1, 1_000_000))? else { return Ok(false) };
        plan.workload = Workload::Closed { schedule, packet_flits };
        check_closed(&network, &plan)?;
        Ok(true)
    });
}
