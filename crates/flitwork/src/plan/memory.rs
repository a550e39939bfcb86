//! How much memory a simulation takes, estimated before any of it is asked for.

use super::Params;
use crate::error::{Error, Result};
use crate::routing::Routing;
use crate::spec::{AllocatorKind, AllocatorSpec, NetworkSpec, RecordSpec, SimulationSpec, WorkloadSpec};
use crate::topology::Grid;
use crate::traffic::{Attached, Pattern};
use crate::transit::{CompiledSize, Wheel};

/// What is taken for the memory of a machine that does not tell [bytes].
const UNKNOWN_MACHINE: u64 = 8_000_000_000;

/// What is noted of a packet, where packets are recorded [bytes].
const RECORD_BYTES: u64 = 64;

/// Memory of a simulation [bytes].
pub(super) fn estimate(spec: &SimulationSpec, p: &Params, grid: &Grid, routing: &Routing) -> u64 {
    let routers = (p.routers as u64).saturating_mul(router(p, &spec.network, &spec.run.record) as u64);
    let sent = [Some(&spec.workload), spec.background.as_ref()].into_iter().flatten();
    let sent = sent.map(|w| workload(w, p, &spec.run.record)).fold(0, u64::saturating_add);
    routers.saturating_add(under_way(p)).saturating_add(news(p, grid, routing)).saturating_add(sent)
}

/// Refuses what does not fit.
pub(super) fn check(spec: &SimulationSpec, grid: &Grid, estimated: u64) -> Result<()> {
    let limit = match spec.run.memory_limit_mb {
        0 => machine() / 4 * 3,
        mb => mb.saturating_mul(1_000_000),
    };
    if estimated <= limit {
        return Ok(());
    }
    let (path, value, smaller) = match &spec.workload {
        WorkloadSpec::Trace { packets, .. } if trace(packets, &spec.run.record) > estimated / 2 => {
            ("workload.packets", format!("{} rows", packets.rows), "cut the trace, record no packets,")
        }
        _ => ("network.topology.size", format!("{:?}", grid.sizes()), "use a smaller network"),
    };
    let expected = format!("a simulation of at most {} MB", limit / 1_000_000);
    let hint = format!("this one needs about {} MB; {smaller} or set run.memory_limit_mb", estimated / 1_000_000);
    Err(Error::config(path, value, expected, hint))
}

/// Bytes of a trace, and of what is recorded of its packets.
fn trace(packets: &Attached, record: &RecordSpec) -> u64 {
    packets.memory_bytes() + if record.packets { packets.rows.saturating_mul(RECORD_BYTES) } else { 0 }
}

/// Bytes of a router, its allocators, its terminals' controllers, and what is noted of it.
fn router(p: &Params, network: &NetworkSpec, record: &RecordSpec) -> usize {
    let size = CompiledSize::for_router(p.ports, p.vcs);
    let router = &network.router;
    let vcs = p.ports * p.vcs;
    let (rows, cols) = (p.ports * router.input_speedup as usize, p.ports * router.output_speedup as usize);
    let controllers = p.concentration * p.controllers * (2 * p.vcs + 64);
    let allocators = allocator(&router.vc_allocator, vcs, vcs) + allocator(&router.sw_allocator, rows, cols);
    let stalls = if record.stalls { 16 * (size.slots() + p.ports) } else { 0 };
    let arrivals = [router.vc_allocator, router.sw_allocator].iter().any(|a| a.arbiter.asks_for_arrivals());
    // What is kept for each VC, and the notes of the queues, where the way is decided hop by hop.
    let choices = if super::routing::is_plain(&network.routing) { 0 } else { 24 * size.slots() };
    // Flits over each channel (at the ends of the measurement, in it, in all), from each terminal and to it.
    let counts = 32 * p.network_ports + 16 * p.concentration;
    size.router_bytes
        + counts
        + choices
        + controllers
        + allocators
        + stalls
        + if arrivals { 8 * size.slots() } else { 0 }
}

/// Bytes of an allocator.
fn allocator(spec: &AllocatorSpec, rows: usize, cols: usize) -> usize {
    match spec.kind {
        AllocatorKind::Wavefront => size_of::<u16>(),
        _ => spec.arbiter.bytes(rows, cols) + spec.arbiter.bytes(cols, rows),
    }
}

/// Bytes of what is under way: what the wheel reserves, and at most one flit and one credit for every place in a buffer.
fn under_way(p: &Params) -> u64 {
    let channels = (p.routers * p.ports) as u64;
    let places =
        channels * (p.vcs as u64 * u64::from(p.buffer_flits)).min(2 * u64::from(p.hop_cycles + p.credit_cycles));
    Wheel::reserved_bytes(p.longest_delay_cycles, p.routers * p.ports) + 2 * 16 * places
}

/// Bytes of what routers remember of each other's queues.
fn news(p: &Params, grid: &Grid, routing: &Routing) -> u64 {
    let Some(news) = routing.scheme().and_then(|scheme| scheme.news()) else { return 0 };
    let ports = (p.routers * p.network_ports) as u64;
    // The cycles kept, the queue and the note of now.
    ports.saturating_mul(4 * (news.cycles_kept(grid) + 2))
}

/// Bytes of the workload's tables.
fn workload(workload: &WorkloadSpec, p: &Params, recorded: &RecordSpec) -> u64 {
    let record = if recorded.packets { RECORD_BYTES } else { 0 };
    // A terminal, and its process where each has its own.
    let terminals = |pattern: &Pattern| match pattern {
        Pattern::Matrix { weights, .. } => p.terminals as u64 * 160 + weights.memory_bytes(),
        _ => p.terminals as u64 * 96,
    };
    match workload {
        WorkloadSpec::AllToAll { .. } => {
            (p.terminals as u64).saturating_mul(p.terminals as u64).saturating_mul(120 + record)
        }
        WorkloadSpec::Uniform { .. } => p.terminals as u64 * 96,
        WorkloadSpec::Traffic { pattern, .. } => terminals(pattern),
        WorkloadSpec::Burst { pattern, packets, .. } => {
            let records = (p.terminals as u64).saturating_mul(u64::from(*packets).saturating_mul(record));
            terminals(pattern).saturating_add(records)
        }
        WorkloadSpec::Trace { packets, .. } => (p.terminals as u64 * 96).saturating_add(trace(packets, recorded)),
    }
}

fn machine() -> u64 {
    sysinfo::System::new().map_or(UNKNOWN_MACHINE, |mut system| {
        system.refresh_memory();
        system.total_memory()
    })
}
