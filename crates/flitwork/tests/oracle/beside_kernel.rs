//! One plan in the kernel and in the oracle: all that both say of it must be the same.

use super::cases::any_network::{next_routers, ports, relation, switches};
use super::cases::{Case, fit_policy};
use super::created::created;
use super::driven::Decide;
use super::limits::check_limits;
use super::pace::Pauses;
use super::{Beside, Load, Outcome, TracePacket, run_beside};
use flitwork::measure::{KernelName, PacketRecord, PacketTable, SimulationResult};
use flitwork::routing::{Header, Tie};
use flitwork::schedule::Schedule;
use flitwork::spec::{
    HostSpec, KernelChoice, NetworkSpec, RecordSpec, RoutingSpec, RunSpec, SimulationSpec, WorkloadSpec,
};
use flitwork::topology::{Fabric, Grid};
use flitwork::traffic::Created;
use flitwork::{Error, Plan, Workload, simulate};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::collections::HashMap;

pub(super) const WATCHDOG: u64 = 500;
/// A port set of the kernel is one word.
const MOST_PORTS: usize = 64;

/// The plan of a valid specification, `None` of an invalid one.
pub fn plan(case: &Case, mut run: RunSpec) -> Result<Option<Plan>, TestCaseError> {
    let Case { network, workload, background } = case.clone();
    if !matches!(workload, WorkloadSpec::Uniform { .. } | WorkloadSpec::Traffic { .. }) {
        run.measurement_cycles = None; // All of what completes is measured.
    }
    let spec = SimulationSpec { network, host: HostSpec::default(), workload, background, run };
    match Plan::new(&spec) {
        Ok(plan) => Ok(Some(plan)),
        Err(error) if error.is_config() => Ok(None),
        Err(error) => Err(TestCaseError::fail(format!("Plan::new: {error}"))),
    }
}

/// The plan of a case on switches with as many terminals as its network: joined with rings, if these cannot deadlock.
pub fn plan_on_switches(case: &Case, seed: u64, mut run: RunSpec) -> Result<Option<Plan>, TestCaseError> {
    let Case { network, workload, background } = case.clone();
    if !matches!(workload, WorkloadSpec::Uniform { .. } | WorkloadSpec::Traffic { .. }) {
        run.measurement_cycles = None;
    }
    let terminals = network.topology.fabric().expect("a case is valid").terminals();
    let spec = SimulationSpec { network, host: HostSpec::default(), workload, background, run };
    let router = &spec.network.router;
    let slow = router.output_speedup == 1 && !router.compat.has_batches(router.st_delay_cycles);
    let on = |rings: bool| {
        let fabric = switches(terminals, rings, slow, seed);
        let mut spec = spec.clone();
        match &mut spec.network.routing {
            Some(RoutingSpec::Table(options)) if seed.is_multiple_of(2) => {
                (options.next, options.ports) = (vec![], ports(&fabric, seed));
            }
            Some(RoutingSpec::Table(options)) => options.next = next_routers(&fabric, seed),
            Some(RoutingSpec::Relation(options)) => relation(&fabric, seed, options),
            _ => {}
        }
        fit_ports(&mut spec.network, &fabric);
        fit_policy(&mut spec.network.router, &spec.network.nic, &fabric, 1);
        Plan::on_fabric(&spec, fabric)
    };
    match on(true).or_else(|_| on(false)) {
        Ok(plan) => Ok(Some(plan)),
        Err(error) if error.is_config() => Ok(None),
        Err(error) => Err(TestCaseError::fail(format!("Plan::on_fabric: {error}"))),
    }
}

/// One port a terminal where all terminals at a router would have more than a router may have.
fn fit_ports(network: &mut NetworkSpec, fabric: &Fabric) {
    let terminals = (0..fabric.routers()).map(|router| fabric.terminals_at(router).len()).max().unwrap_or(0);
    let ports = fabric.network_ports() + terminals * network.nic.ports as usize;
    if ports * network.router.input_speedup as usize > MOST_PORTS {
        network.nic.ports = 1;
    }
}

/// The result, or what the kernel says of a workload that a background kept from completing.
fn simulated(plan: &Plan) -> Result<Result<SimulationResult, String>, TestCaseError> {
    match simulate(plan, &mut |_| true) {
        Ok(result) => Ok(Ok(result)),
        Err(Error::CycleLimit { detail, .. }) if plan.background.is_some() => Ok(Err(detail)),
        // A send that waits for its receive may wait for ever.
        Err(Error::Schedule { fault, .. }) if plan.spec.host.eager_limit_flits.is_some() => Ok(Err(fault)),
        Err(error) => Err(TestCaseError::fail(format!("kernel: {error}"))),
    }
}

pub fn of_schedule<'p>(plan: &'p Plan, schedule: &'p Schedule, packet_flits: u32, decide: Option<Decide>) -> Load<'p> {
    let pauses = Pauses::of(plan, schedule, packet_flits);
    Load::Schedule { schedule, placement: &plan.placement, host: &plan.spec.host, packet_flits, pauses, decide }
}

/// What did not complete in the kernel does not in the oracle: not all flits have arrived there by then either, and of
/// traffic just as many packets.
fn check_unfinished(network: &NetworkSpec, plan: &Plan, detail: &str) -> Result<usize, TestCaseError> {
    let rendezvous = plan.spec.host.eager_limit_flits.is_some();
    // What waits for ever need not be watched for so long.
    let end = plan.start_cycle + if rendezvous { 5_000 } else { plan.spec.run.max_cycles };
    let end = end.min(plan.spec.run.max_cycles);
    let (load, flits) = match &plan.workload {
        Workload::Schedule { schedule, packet_flits } => {
            let flits: u64 = schedule.messages().map(|message| message.size).sum();
            (of_schedule(plan, schedule, *packet_flits, None), flits)
        }
        Workload::Finite(_) | Workload::OpenLoop(_) => {
            let trace = trace(plan, false, u64::MAX - 1);
            let flits = trace.iter().map(|packet| u64::from(packet.flits)).sum();
            (Load::Trace(trace), flits)
        }
    };
    let outcome = run_beside(network, &plan.fabric, plan.spec.run.seed, load, &beside(plan, end), end, WATCHDOG);
    if rendezvous {
        prop_assert!(outcome.finished.is_none(), "the oracle has completed; kernel: {detail}");
        return Ok(0);
    }
    let arrived: Vec<&PacketRecord> = outcome.packets.iter().filter(|r| !r.background && r.arrived <= end).collect();
    prop_assert!(arrived.iter().map(|r| u64::from(r.flits)).sum::<u64>() < flits, "the oracle has completed");
    if !matches!(plan.workload, Workload::Schedule { .. }) {
        let packets = arrived.len();
        prop_assert!(detail.starts_with(&format!("{packets} of ")), "kernel: {detail}; oracle: {packets}");
    }
    Ok(0)
}

pub fn recording(seed: u64, warmup_cycles: u64, measurement_cycles: u64, max_cycles: u64) -> RunSpec {
    RunSpec {
        seed,
        warmup_cycles: Some(warmup_cycles),
        measurement_cycles: Some(measurement_cycles),
        max_cycles,
        watchdog_cycles: WATCHDOG,
        record: RecordSpec {
            packets: true,
            delivery_window_cycles: 1 + seed % 50,
            channel_window_cycles: 1 + seed % 37,
            ..RecordSpec::default()
        },
        ..RunSpec::default()
    }
}

/// Every packet that arrived by cycle `end` in one did so in the other, and its record is the same.
pub fn compare(kernel: &PacketTable, oracle: &Outcome, end: u64) -> Result<(), TestCaseError> {
    prop_assert!(!oracle.deadlocked, "the oracle is deadlocked");
    let named = |r: &PacketRecord| ((r.src, r.sequence), *r);
    let in_kernel: HashMap<(u32, u32), PacketRecord> = kernel.iter().map(named).collect();
    let in_oracle: HashMap<(u32, u32), PacketRecord> = oracle.packets.iter().map(named).collect();
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

/// The packets that terminals create up to cycle `end`, for the oracle: whole or, where the tie rule splits them, in
/// two.
pub(super) fn trace(plan: &Plan, background: bool, end: u64) -> Vec<TracePacket> {
    let mut trace = Vec::new();
    for src in 0..plan.params.terminals as u32 {
        for (message, packet) in created(plan, background, src, end).into_iter().enumerate() {
            trace.extend(
                cut(plan, src, &packet).into_iter().map(|part| TracePacket { message: message as u32, ..part }),
            );
        }
    }
    trace
}

/// One packet as it is sent.
fn cut(plan: &Plan, src: u32, packet: &Created) -> Vec<TracePacket> {
    let flits = packet.flits;
    let whole = TracePacket { src, dst: packet.dst, flits, created: packet.cycle, minus: 0, wraps: 0, message: 0 };
    let Some(routing) = plan.routing.at_source().and_then(|routing| routing.order()) else {
        return vec![whole]; // Where its trip leads is up to the oracle.
    };
    let coords = |terminal: u32| grid(plan).coords(plan.fabric.router_of(terminal));
    let (from, to) = (coords(src), coords(packet.dst));
    let parts = match routing.tie {
        Tie::Split if flits > 1 && routing.has_tie(grid(plan), &from, &to) => {
            vec![(flits.div_ceil(2), 0), (flits / 2, u8::MAX)]
        }
        Tie::Split => vec![(flits, 0)],
        _ => vec![(flits, packet.tie_bits)],
    };
    let part = |(flits, tie_bits)| {
        let Header { minus, wraps } = routing.header(grid(plan), &from, &to, tie_bits);
        TracePacket { flits, minus, wraps, ..whole.clone() }
    };
    parts.into_iter().map(part).collect()
}

fn beside(plan: &Plan, end: u64) -> Beside {
    Beside { background: trace(plan, true, end), start: plan.start_cycle, ..Beside::default() }
}

/// The plan with stalls recorded, in about half of the cases that the flit kernel runs.
fn watched(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    let run = &plan.spec.run;
    let chosen = (run.seed ^ run.warmup_cycles.unwrap_or(0)).is_multiple_of(2);
    plan.spec.run.record.stalls = chosen && plan.kernel() == KernelName::Flit;
    plan
}

/// Cycles in which each input port was blocked by the head of a line, up to cycle `end`. The kernel counts them
/// wherever dimension order is decided at the source.
fn check_hol_blocked(plan: &Plan, kernel: &[u64], oracle: &Outcome, end: u64) -> Result<(), TestCaseError> {
    let plain = plan.spec.run.record.stalls && plan.routing.at_source().is_some();
    prop_assert!(!plain || !kernel.is_empty(), "nothing was counted");
    let mut counts = vec![0; kernel.len()];
    for &(_, router, port) in oracle.blocked.iter().filter(|&&(cycle, ..)| cycle <= end) {
        counts[router * plan.params.ports + port] += 1;
    }
    prop_assert_eq!(kernel, counts);
    Ok(())
}

/// Flits are counted in the cycle in which they go on their channel.
fn check_wires(plan: &Plan, result: &SimulationResult, oracle: &Outcome, end: u64) -> Result<(), TestCaseError> {
    let Some(windows) = &result.channel_windows else { return Ok(()) };
    let channels: Vec<(usize, usize)> = plan.fabric.channels().map(|(router, port)| (router as usize, port)).collect();
    let mut flits = vec![0; windows.flits.len()];
    for &(cycle, router, port) in oracle.carried.iter().filter(|&&(cycle, ..)| cycle <= end) {
        let channel = channels.binary_search(&(router, port)).expect("a channel");
        flits[(cycle / windows.window_cycles) as usize * channels.len() + channel] += 1;
    }
    prop_assert_eq!(&windows.flits, &flits);
    Ok(())
}

/// What the result says of how much was created and arrived, and when, follows from the records of the packets.
fn check_sums(plan: &Plan, result: &SimulationResult, delivery_window_cycles: u64) -> Result<(), TestCaseError> {
    let end = plan.start_cycle + result.completion_cycles;
    let measured = if plan.workload.completes() { plan.start_cycle..end + 1 } else { plan.spec.run.fixed_window() };
    let cycles = result.measurement_cycles;
    for background in [false, true] {
        let arrived: Vec<&PacketRecord> =
            result.packet_records.iter().filter(|r| r.background == background && r.arrived <= end).collect();
        let beside = result.background.as_ref();
        let (packets, latency, deliveries) = match beside {
            Some(beside) if background => (beside.packets, beside.packet_latency, beside.deliveries.as_ref()),
            None if background => continue,
            _ => (result.packets, result.packet_latency, result.deliveries.as_ref()),
        };
        prop_assert_eq!(packets, arrived.len() as u64);
        let latencies: Vec<u64> =
            arrived.iter().filter(|r| measured.contains(&r.created)).map(|r| r.arrived - r.created).collect();
        prop_assert_eq!(latency.count, latencies.len() as u64);
        prop_assert_eq!(latency.max_cycles, latencies.iter().copied().max());
        let mut windows = vec![(0, 0); (result.completion_cycles / delivery_window_cycles) as usize + 1];
        for record in arrived.iter().filter(|r| r.arrived >= plan.start_cycle) {
            let window = &mut windows[((record.arrived - plan.start_cycle) / delivery_window_cycles) as usize];
            *window = (window.0 + 1, window.1 + u64::from(record.flits));
        }
        let deliveries = deliveries.expect("they were asked for");
        let found: Vec<(u64, u64)> = deliveries.packets.iter().copied().zip(deliveries.flits.iter().copied()).collect();
        prop_assert_eq!(found, windows);
        if let (true, Some(beside)) = (background, beside) {
            let all = trace(plan, true, end);
            let flits: u64 = all.iter().filter(|p| measured.contains(&p.created)).map(|p| u64::from(p.flits)).sum();
            let offered = flits as f64 / (cycles * plan.params.terminals as u64) as f64;
            prop_assert!((beside.offered_load - offered).abs() < 1e-9, "{} {offered}", beside.offered_load);
        }
    }
    Ok(())
}

/// Runs a plan in the kernel and in the oracle and compares all that can be; the number of packets that made detours.
pub fn check(network: &NetworkSpec, plan: &Plan) -> Result<usize, TestCaseError> {
    let plan = &watched(plan);
    let result = match simulated(plan)? {
        Ok(result) => result,
        Err(detail) => return check_unfinished(network, plan, &detail),
    };
    let end = plan.start_cycle + result.completion_cycles;
    let (load, more) = match &plan.workload {
        // Some cycles more, should the oracle be later.
        Workload::Schedule { schedule, packet_flits } => (of_schedule(plan, schedule, *packet_flits, None), 100),
        Workload::Finite(_) => (Load::Trace(trace(plan, false, u64::MAX - 1)), 100),
        // What has its turn by the end has left the switch by then.
        Workload::OpenLoop(_) => {
            (Load::Trace(trace(plan, false, end)), 1 + u64::from(plan.spec.network.router.st_delay_cycles))
        }
    };
    let hol_blocked = result.stalls.as_ref().map_or(&[][..], |stalls| &stalls.hol_blocked);
    let beside = Beside { hol_blocked: !hol_blocked.is_empty(), ..beside(plan, end + more) };
    let outcome = run_beside(network, &plan.fabric, plan.spec.run.seed, load, &beside, end + more, WATCHDOG);
    check_hol_blocked(plan, hol_blocked, &outcome, end)?;
    // Beside a background, what the oracle does after the end has no counterpart.
    let compared = if plan.workload.completes() && plan.background.is_none() { u64::MAX } else { end };
    compare(&result.packet_records, &outcome, compared)?;
    if plan.workload.completes() {
        let of_workload = |r: &&PacketRecord| !r.background;
        // A program may go on computing after the last arrival.
        prop_assert!(outcome.packets.iter().filter(of_workload).all(|p| p.arrived <= end));
        let last = result.packet_records.iter().filter(of_workload).map(|r| r.arrived).max();
        let ends_with_an_arrival = matches!(plan.workload, Workload::Finite(_));
        prop_assert!(!ends_with_an_arrival || last.is_none_or(|last| last == end));
    }
    // A program at its end may have to come back from a detour to say so.
    let programs = matches!(plan.workload, Workload::Schedule { .. }) && plan.noise.is_none();
    if programs && plan.background.is_none() {
        prop_assert_eq!(outcome.finished, Some(end));
    }
    check_limits(plan, &result).map_err(TestCaseError::fail)?;
    check_wires(plan, &result, &outcome, end)?;
    check_sums(plan, &result, plan.spec.run.record.delivery_window_cycles)?;
    Ok(detours(plan, &result.packet_records))
}

/// Checks that both kernels agree, for a plan that the packet kernel can run: all that they say must be the same.
pub fn check_both(network: &NetworkSpec, mut plan: Plan) -> Result<usize, TestCaseError> {
    prop_assert_eq!(plan.not_in_whole_packets(), None);
    plan.spec.run.record.channel_window_cycles = 1 + plan.spec.run.seed % 70;
    let mut results = Vec::new();
    for (choice, name) in [(KernelChoice::Packet, KernelName::Packet), (KernelChoice::Flit, KernelName::Flit)] {
        plan.spec.run.kernel = choice;
        let mut result = simulated(&plan)?;
        if let Ok(result) = &mut result {
            prop_assert_eq!(result.kernel, name);
            result.kernel = KernelName::Flit;
        }
        results.push(result);
    }
    if results[0] != results[1] {
        // What the oracle says first shows which of them is wrong.
        plan.spec.run.kernel = KernelChoice::Packet;
        check(network, &plan)?;
        let [packet, flit] = &results[..] else { unreachable!("two kernels") };
        return Err(TestCaseError::fail(format!("packet kernel {packet:?}\nflit kernel {flit:?}")));
    }
    plan.spec.run.kernel = KernelChoice::Packet;
    check(network, &plan)
}

/// Packets that walked farther than the shortest route.
fn detours(plan: &Plan, packets: &PacketTable) -> usize {
    let router = |terminal: u32| plan.fabric.router_of(terminal);
    let Some(grid) = plan.fabric.grid() else { return 0 };
    let shortest = |r: &PacketRecord| shortest(grid, router(r.src), router(r.dst));
    packets.iter().filter(|r| r.arrived != u64::MAX && r.hops > shortest(r)).count()
}

/// The grid of a plan whose case is one.
fn grid(plan: &Plan) -> &Grid {
    plan.fabric.grid().expect("a case is a grid")
}

/// Channels of a shortest route between two routers.
fn shortest(grid: &Grid, from: u32, to: u32) -> u32 {
    let (f, t) = (grid.coords(from), grid.coords(to));
    let distances = |d: usize| [true, false].into_iter().filter_map(move |plus| grid.distance(d, f[d], t[d], plus));
    (0..grid.dims()).map(|d| distances(d).min().expect("there is a route")).sum()
}
