//! How much memory a simulation takes, estimated before any of it is asked for.

use super::units::message_flits;
use super::{Params, Plan, Workload};
use crate::error::{Error, Result};
use crate::routing::Routing;
use crate::schedule::Units;
use crate::spec::{
    AllocatorKind, AllocatorSpec, NetworkSpec, NoiseSpec, RecordSpec, RouterSpec, RunSpec, SimulationSpec, WorkloadSpec,
};
use crate::topology::Fabric;
use crate::traffic::{Attached, PacketFlits, Pattern};
use crate::transit::{CompiledSize, PacketPool, Wheel};
use flitwork_steps::Operation;
use ranks::{MESSAGE_BYTES, operations, ranks, steps};

mod ranks;
mod usable;

pub use usable::{Usable, usable};

/// What is noted of a packet, where packets are recorded: its record, its source and its place in the order \[bytes].
const RECORD_BYTES: u64 = 64;

/// Where and why it waited, about ten times \[bytes].
const WAITS_BYTES: u64 = 240;

/// What waited for a port in a window, for one reason \[bytes].
const WAIT_WINDOW_BYTES: u64 = 20;

/// What a part of a network in parts keeps of a terminal, its own or not \[bytes].
const PART_TERMINAL_BYTES: u64 = 230;

/// The send and the receive of a message of one packet, the packet's sender, and a wait \[bytes].
const OPERATION_BYTES: u64 = 300;

/// What the search for deadlocks lists of a virtual channel of a router, in a network with more traffic than it carries
/// \[bytes].
const SEARCH_BYTES: usize = 24;

/// What a plan keeps of a port of a router \[bytes].
const PLAN_PORT_BYTES: u64 = 32;

/// Memory of a simulation \[bytes].
pub(super) fn estimate(spec: &SimulationSpec, p: &Params, units: &Units, fabric: &Fabric, routing: &Routing) -> u64 {
    let routers = (p.routers as u64).saturating_mul(router(p, &spec.network, routing, &spec.run.record) as u64);
    let sent: Vec<Footprint> = [Some(&spec.workload), spec.background.as_ref()]
        .into_iter()
        .flatten()
        .map(|w| sent(w, p, units, spec, fabric))
        .collect();
    let tables = sent.iter().map(|sent| sent.table_bytes);
    let recorded = sent.iter().map(|sent| sent.packets.saturating_mul(recorded_bytes(&spec.run.record)));
    let parts = [
        routers,
        under_way(p, &spec.network.router),
        packets(p, &sent),
        congestion_board(p, fabric, routing),
        operations(spec, fabric),
    ];
    let detours = spec.host.noise.as_ref().map(NoiseSpec::memory_bytes);
    parts.into_iter().chain(tables).chain(recorded).chain(detours).fold(0, u64::saturating_add)
}

impl Plan {
    /// Memory of the plan itself, roughly, without tables that came with the specification: for callers that keep plans
    /// of many runs \[bytes].
    pub fn own_bytes(&self) -> u64 {
        let p = &self.params;
        let sources = [Some(&self.spec.workload), self.spec.background.as_ref()].into_iter().flatten();
        // A schedule that came with the specification is shared, or counted below.
        let drawn = sources.filter(|w| !matches!(w, WorkloadSpec::Schedule { .. }));
        let drawn = drawn.map(|w| sent(w, p, &self.units, &self.spec, &self.fabric).table_bytes);
        let schedule = match &self.workload {
            Workload::Schedule { schedule, .. } => schedule.memory_bytes(),
            Workload::OpenLoop(_) | Workload::Finite(_) => 0,
        };
        let places = PLAN_PORT_BYTES * (p.routers * p.ports) as u64 + 16 * self.placement.terminal_of().len() as u64;
        drawn.chain([size_of::<Plan>() as u64, places, schedule]).fold(0, u64::saturating_add)
    }
}

/// What is noted of a packet \[bytes].
fn recorded_bytes(record: &RecordSpec) -> u64 {
    let parts = [
        (record.keeps_packets() && !record.to_file, RECORD_BYTES),
        (record.waits, WAITS_BYTES),
        (record.operations, OPERATION_BYTES),
    ];
    parts.iter().filter(|(kept, _)| *kept).map(|(_, bytes)| bytes).sum()
}

/// Memory of what is noted per window of time, in a run of at least `cycles` \[bytes].
pub(super) fn windows(spec: &SimulationSpec, p: &Params, cycles: u64) -> u64 {
    let record = &spec.run.record;
    let rows = |window: u64| cycles.checked_div(window).unwrap_or(0);
    let channels = rows(record.channel_window_cycles).saturating_mul(4 * (p.routers * p.network_ports) as u64);
    let waits = match record.waits {
        true => rows(record.channel_window_cycles).saturating_mul(WAIT_WINDOW_BYTES * (p.routers * p.ports) as u64),
        false => 0,
    };
    let delivered = rows(record.delivery_window_cycles).saturating_mul(16 * (1 + u64::from(spec.background.is_some())));
    channels.saturating_add(waits).saturating_add(delivered)
}

/// Memory that each further thread takes: its part has tables of all terminals \[bytes].
pub(super) fn part(p: &Params) -> u64 {
    PART_TERMINAL_BYTES.saturating_mul(p.terminals as u64)
}

/// The most that a simulation may take \[bytes].
pub(super) fn limit(run: &RunSpec) -> u64 {
    allowed(run).0
}

/// The most that a simulation may take \[bytes], and in words.
fn allowed(run: &RunSpec) -> (u64, String) {
    let (bytes, of) = match run.memory_limit_mb {
        0 => (usable().bytes, format!(" (three quarters of what {} allows)", usable().of)),
        mb => (mb.saturating_mul(1_000_000), String::new()),
    };
    (bytes, format!("at most {} MB{of}", bytes / 1_000_000))
}

/// Refuses what does not fit.
pub(super) fn check(spec: &SimulationSpec, fabric: &Fabric, estimated: u64) -> Result<()> {
    let (limit, most) = allowed(&spec.run);
    if estimated <= limit {
        return Ok(());
    }
    let expected = format!("a simulation of {most}");
    let hint = |smaller: &str| {
        format!("this one needs about {} MB; {smaller} or set run.memory_limit_mb", estimated / 1_000_000)
    };
    match &spec.workload {
        WorkloadSpec::Trace { packets, .. } if trace(packets, &spec.run.record) > estimated / 2 => {
            let hint = hint("cut the trace, record no packets,");
            Err(Error::config("workload.packets", format!("{} rows", packets.rows), expected, hint))
        }
        _ => Err(fabric.too_large(expected, &hint("use a smaller network"))),
    }
}

/// What a workload or a background takes.
struct Footprint {
    /// Its tables \[bytes].
    table_bytes: u64,
    /// Packets that it may create, and the length of the shortest, or of those of the shortest message in the mean
    /// \[flits].
    packets: u64,
    shortest_flits: u32,
}

/// Bytes of a trace, and of what is recorded of its packets.
fn trace(packets: &Attached, record: &RecordSpec) -> u64 {
    packets.memory_bytes() + packets.rows.saturating_mul(recorded_bytes(record))
}

/// Bytes of a router, its allocators, its terminals' NIC ports, and what is noted of it.
fn router(p: &Params, network: &NetworkSpec, routing: &Routing, record: &RecordSpec) -> usize {
    let size = CompiledSize::for_router(p.ports, p.vcs);
    let router = &network.router;
    let vcs = p.ports * p.vcs;
    let (rows, cols) = (p.ports * router.input_speedup as usize, p.ports * router.output_speedup as usize);
    let nic_ports = p.concentration * p.nic_ports * (2 * p.vcs + 64);
    let allocators = allocator(&router.vc_allocator, vcs, vcs) + allocator(&router.sw_allocator, rows, cols);
    let stalls = if record.stalls || record.waits { 16 * (size.slots() + p.ports) } else { 0 };
    let stalls = stalls + if record.waits { 44 * (size.slots() + p.concentration * p.nic_ports) } else { 0 };
    let arrivals = [router.vc_allocator, router.sw_allocator].iter().any(|a| a.arbiter.needs_arrival_order());
    // What is kept for each VC, and the notes of the queues, where the route is decided hop by hop.
    let keeps = routing.hop_by_hop().is_some_and(|routing| !routing.requests_one_port());
    let candidates = if keeps { 8 + 24 * size.slots() } else { 8 };
    // What is kept of each VC, each port and of the router where packets move whole.
    let entries = size.slots() + p.concentration * p.nic_ports * p.vcs;
    let whole = if router.hold_switch_until_tail { 8 * entries + 16 * size.ports + 24 } else { 0 };
    // Where VCs share places: those taken by each VC, and those left at each port.
    let shared_buffers =
        if p.shared_buffer_flits > 0 { 2 * (entries + size.ports + p.concentration * p.nic_ports) } else { 0 };
    // Flits over each channel (at the ends of the measurement, in it, in all), from each terminal and to it.
    let counts = 32 * p.network_ports + 20 * p.concentration + 4;
    size.router_bytes
        + whole
        + shared_buffers
        + counts
        + SEARCH_BYTES * vcs
        + candidates
        + nic_ports
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

/// Bytes of what is under way: what the wheel reserves, and at most one flit and one credit for every place in a
/// buffer.
fn under_way(p: &Params, router: &RouterSpec) -> u64 {
    let channels = (p.routers * p.ports) as u64;
    let places = channels * u64::from(p.port_places()).min(4 * p.longest_delay_cycles);
    // Where packets may move whole, the last flit of one is known as long before as it takes.
    let ahead = if router.hold_switch_until_tail { u64::from(p.buffer_flits) } else { 0 };
    let rings = Wheel::reserved_bytes(p.longest_delay_cycles + ahead, p.routers * p.ports) + 4 * 144 * ahead;
    rings + 2 * 16 * places
}

/// Bytes of what routers remember of each other's queues.
fn congestion_board(p: &Params, fabric: &Fabric, routing: &Routing) -> u64 {
    let Some(routing) = routing.hop_by_hop() else { return 0 };
    let ports = (p.routers * p.network_ports) as u64;
    if routing.watches_other_routers() {
        return 4 * ports;
    }
    let (Some(spread), Some(grid)) = (routing.congestion_spread(), fabric.grid()) else { return 0 };
    // The cycles kept, the queue and the note of now.
    ports.saturating_mul(4 * (spread.cycles_kept(grid) + 2))
}

/// Bytes of the packets under way: each has a place in some buffer or on a channel, and has been created.
fn packets(p: &Params, sent: &[Footprint]) -> u64 {
    let buffers = (p.routers * p.ports) as u64 * u64::from(p.port_places());
    let channels = (p.routers * p.ports) as u64 * p.longest_delay_cycles;
    let shortest = sent.iter().map(|sent| sent.shortest_flits).min().unwrap_or(1).max(1);
    let places = (buffers + channels) / u64::from(shortest);
    let created = sent.iter().map(|sent| sent.packets).fold(0, u64::saturating_add);
    (PacketPool::RECORD_BYTES as u64).saturating_mul(places.min(created))
}

fn sent(workload: &WorkloadSpec, p: &Params, units: &Units, spec: &SimulationSpec, fabric: &Fabric) -> Footprint {
    let (run, terminals) = (&spec.run, p.terminals as u64);
    let drawn = |pattern: Option<&Pattern>| match pattern.and_then(Pattern::attached) {
        // A terminal, and its process where each has its own.
        Some(table) => terminals * 160 + table.memory_bytes(),
        None => terminals * 96,
    };
    // All that an open loop may create until its measurement ends.
    let open = |pattern, packet_flits: &PacketFlits, load: f64| {
        let cycles = run.steady.as_ref().map_or(run.fixed_window().end, |steady| steady.max_cycles);
        let packets = (load.max(0.0) * cycles as f64 * terminals as f64 / packet_flits.mean_flits()) as u64;
        Footprint { table_bytes: drawn(pattern), packets, shortest_flits: packet_flits.shortest_flits() }
    };
    match workload {
        WorkloadSpec::AllToAll { message_flits: flits, message_bytes, packet_flits, .. } => {
            // What is wrong with it the workload says.
            let message = message_flits(*flits, *message_bytes, units).unwrap_or(1);
            let longest = if *packet_flits == 0 { message } else { u64::from(*packet_flits) }.max(1);
            let packets = terminals.saturating_mul(terminals).saturating_mul(message.div_ceil(longest));
            let last = message % longest;
            let shortest = if last == 0 { longest } else { last };
            Footprint { table_bytes: 0, packets, shortest_flits: u32::try_from(shortest).unwrap_or(u32::MAX) }
        }
        WorkloadSpec::Collective {
            operation,
            message_flits: flits,
            message_bytes,
            packet_flits,
            sizes,
            step_barriers,
            ..
        } => {
            // A packet a message at least; of more there are as many under way as there are places.
            let packets =
                ranks(&spec.host, fabric).saturating_mul(steps(workload, &spec.host, fabric)).saturating_mul(16);
            // Messages of whole blocks, whose packets are so long in the mean; others may be shorter.
            let of_blocks =
                !operation.has_vector() && *operation != Operation::Barrier && sizes.is_empty() && !step_barriers;
            let block = message_flits(*flits, *message_bytes, units).unwrap_or(1).max(1);
            let longest = if *packet_flits == 0 { block } else { u64::from(*packet_flits) }.max(1);
            let mean = if of_blocks { block / block.div_ceil(longest) } else { 1 };
            Footprint { table_bytes: 0, packets, shortest_flits: u32::try_from(mean).unwrap_or(u32::MAX) }
        }
        // Every operation may be a message, in its queue or posted at once.
        WorkloadSpec::Schedule { schedule, .. } => Footprint {
            table_bytes: (2 * schedule.memory_bytes()).saturating_add(schedule.rows.saturating_mul(MESSAGE_BYTES)),
            packets: schedule.rows,
            shortest_flits: 1,
        },
        // Each rank has its starts and its arrivals in order.
        WorkloadSpec::Timetable { timetable, .. } => {
            // One that is still searched for has at most a start for each pair.
            let rows = if timetable.is_empty() { terminals } else { timetable.rows }.saturating_mul(terminals);
            let table_bytes = timetable.memory_bytes().saturating_add(rows.saturating_mul(8));
            Footprint { table_bytes, packets: rows, shortest_flits: 1 }
        }
        // What ranks will send is not known.
        WorkloadSpec::Programs { .. } => Footprint { table_bytes: 0, packets: 0, shortest_flits: 1 },
        WorkloadSpec::Uniform { packet_flits, offered_load, .. } => open(None, packet_flits, *offered_load),
        WorkloadSpec::Traffic { pattern, packet_flits, offered_load, .. } => {
            open(Some(pattern), packet_flits, *offered_load)
        }
        WorkloadSpec::Burst { pattern, packets, packet_flits, .. } => Footprint {
            table_bytes: drawn(Some(pattern)),
            packets: terminals.saturating_mul(u64::from(*packets)),
            shortest_flits: packet_flits.shortest_flits(),
        },
        WorkloadSpec::Trace { packets, .. } => Footprint {
            table_bytes: (terminals * 96).saturating_add(packets.memory_bytes()),
            packets: packets.rows,
            shortest_flits: 1,
        },
    }
}

/// Refuses threads whose tables do not fit.
pub(super) fn check_threads(run: &RunSpec, threads: usize, estimated: u64) -> Result<()> {
    let (limit, most) = allowed(run);
    if threads == 1 || estimated <= limit {
        return Ok(());
    }
    let expected = format!("threads with which the simulation takes {most}");
    let hint = format!("with these it needs about {} MB; use fewer or set run.memory_limit_mb", estimated / 1_000_000);
    Err(Error::config("run.threads", threads, expected, hint))
}
