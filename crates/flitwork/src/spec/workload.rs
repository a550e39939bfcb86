//! The workload: what is sent.

use crate::collective::{BitOrder, BlockReading, Operation, Sync};
use crate::component::Component;
use crate::traffic::{Attached, PacketFlits, Pattern};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest message \[bytes].
pub(crate) const MAX_MESSAGE_BYTES: u64 = 1 << 40;
/// Longest computation before a collective \[cycles].
const MAX_COMPUTE: u64 = 1 << 40;

// In the schema `x-open-loop` marks those that have a load and no end.
/// What is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum WorkloadSpec {
    /// A schedule: every rank sends one message to every other; one rank a terminal.
    AllToAll {
        /// Name of the algorithm: a2a, a2and, a2and_x_inner or a2at.
        algorithm: String,
        /// Length of each message \[flits], at least 1; or say `message_bytes`. Default: 100.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u32", range(min = 1))]
        message_flits: Option<u32>,
        /// Length of each message \[bytes], 1 to 2^40, in the place of `message_flits`: so many flits of
        /// `network.units.flit_bytes` that it fits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u64", range(min = 1, max = MAX_MESSAGE_BYTES))]
        message_bytes: Option<u64>,
        /// Longest packet \[flits]; a longer message is sent as several. Default (0): the whole message.
        #[serde(default)]
        packet_flits: u32,
        /// Whether a message waits for what its rank should have received before. Default: async.
        #[serde(default)]
        sync: Sync,
    },
    /// A schedule: a collective operation by a named algorithm (`flitwork list collectives`).
    Collective {
        /// What is done.
        operation: Operation,
        /// How: one of the algorithms for the operation.
        algorithm: String,
        /// Length \[flits], at least 1, of a block (all_to_all, scatter, gather, allgather, reduce_scatter) or of the
        /// whole vector (broadcast, reduce, allreduce); a barrier has none. Or say `message_bytes`. Default: 100.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u32", range(min = 1))]
        message_flits: Option<u32>,
        /// The same length \[bytes], 1 to 2^40, in the place of `message_flits`. The blocks of a message are added up
        /// in bytes; it is so many flits of `network.units.flit_bytes` that it fits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u64", range(min = 1, max = MAX_MESSAGE_BYTES))]
        message_bytes: Option<u64>,
        /// Longest packet \[flits]; a longer message is sent as several. Default (0): as long as a packet may be, 65535
        /// or, under virtual cut-through, the buffer.
        #[serde(default)]
        packet_flits: u32,
        /// Rank from which data goes out, or at which it comes together; only where the algorithm has one. Default: 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u32")]
        root: Option<u32>,
        /// Base of the digits by which bruck and dissemination proceed, at least 2. Default: 2.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u32", range(min = 2))]
        radix: Option<u32>,
        /// What the steps of the all-to-alls bruck and butterfly carry. Default: a2a.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "BlockReading")]
        blocks: Option<BlockReading>,
        /// In which order butterfly exchanges bits. Default: ascending.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "BitOrder")]
        order: Option<BitOrder>,
        /// Leaders on each server of multi_leader: a divisor of the ranks of every server. Default: 2 where it divides
        /// them all, else 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u32", range(min = 1))]
        leaders: Option<u32>,
        /// Whether all ranks meet in a barrier behind each step, by dissemination in messages of 1 flit: steps are then
        /// measured one by one. Default: false.
        #[serde(default, skip_serializing_if = "super::is_false")]
        step_barriers: bool,
        /// How often it is done, 1 to 10000: the skeleton of a program that computes and communicates in turns.
        /// Default: 1.
        #[serde(default = "once", skip_serializing_if = "is_once")]
        #[schemars(range(min = 1, max = 10_000))]
        repeats: u32,
        /// What each rank computes before each time \[cycles], 0 to 2^40. Default: 0.
        #[serde(default, skip_serializing_if = "is_zero")]
        #[schemars(range(max = MAX_COMPUTE))]
        compute_cycles: u64,
        /// Of an all-to-all, in the place of a length: the bytes of the block of each pair of ranks, a row for each
        /// sender (what `MPI_Alltoallv` has). A message without bytes is 1 flit. In a plan they are a digest. Default:
        /// those of `file`, if there is one.
        #[serde(default, skip_serializing_if = "Attached::is_empty")]
        #[schemars(extend("x-numbers" = "matrix"))]
        sizes: Attached,
        /// A file with the sizes, a row for each sender: CSV or NumPy (.npy).
        #[serde(default, skip_serializing_if = "String::is_empty")]
        file: String,
    },
    /// A schedule that comes with the specification: what each rank does, operation by operation (`fw.Schedule` in
    /// Python). It runs on as many terminals as it has ranks, from terminal 0 on, unless `host` says otherwise.
    Schedule {
        /// The operations; in a plan they are a digest. Default: those of `file`.
        #[serde(default)]
        #[schemars(extend("x-numbers" = "schedule"))]
        schedule: Attached,
        /// A file with a row for each operation: CSV (with a first line of names) or Parquet.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        file: String,
        /// Longest packet \[flits]; a longer message is sent as several. Default (0): the longest message.
        #[serde(default)]
        packet_flits: u32,
    },
    /// A schedule: an all-to-all in which every block of a message has a time, so that no port and no channel is used
    /// twice in a cycle (`fw.synthesise` in Python, `flitwork synthesise`). One rank a terminal.
    Timetable {
        /// When each node of a torus sends to which relative vector, or each terminal to which other one; in a plan it
        /// is a digest. Default: that of `file`.
        #[serde(default)]
        #[schemars(extend("x-numbers" = "timetable"))]
        timetable: Attached,
        /// A file that holds it, in JSON.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        file: String,
        /// How it is searched for where neither is given. Default: with seed 1 and 5,000,000 steps.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "TimetableSearch")]
        search: Option<TimetableSearch>,
        /// Length of each message \[flits], at least 1, sent as blocks of the timetable, one a period; or say
        /// `message_bytes`. Default: 100.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u32", range(min = 1))]
        message_flits: Option<u32>,
        /// Length of each message \[bytes], 1 to 2^40, in the place of `message_flits`: so many flits of
        /// `network.units.flit_bytes` that it fits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u64", range(min = 1, max = MAX_MESSAGE_BYTES))]
        message_bytes: Option<u64>,
        /// Longest packet \[flits], at most a block. Default (0): a block.
        #[serde(default)]
        packet_flits: u32,
        /// Time at which the first period begins \[cycles]. Ranks that start later than that miss their first sends.
        /// Default: 0.
        #[serde(default, skip_serializing_if = "is_zero")]
        begin_cycles: u64,
    },
    /// Rank programs: whoever drives the simulation (`fw.Simulation` in Python) tells each rank what to do next when it
    /// asks.
    Programs {
        /// Longest packet \[flits], at least 1; a longer message is sent as several. Default: 100.
        #[serde(default = "hundred")]
        #[schemars(range(min = 1))]
        packet_flits: u32,
        /// Whether whoever tells ranks what to do adds the software times of `host` (late starts, overheads, copies of
        /// what was received), as `fw.mpi.run` does. Default: false; the host must then have none.
        #[serde(default, skip_serializing_if = "super::is_false")]
        software_times: bool,
    },
    /// Open loop: every terminal sends packets to terminals drawn at random, at times drawn by a process.
    #[schemars(extend("x-open-loop" = true))]
    Uniform {
        /// Packet length \[flits], at least 1, or a list of `{ flits, share }` from which each packet's is drawn.
        /// Default: 1.
        #[serde(default)]
        packet_flits: PacketFlits,
        /// Offered load [flits/cycle/terminal], more than 0 and at most 1 packet a cycle: the mean in the long run.
        #[schemars(range(min = 0), extend("x-rate" = "offered_bytes_per_s"))]
        offered_load: f64,
        /// Whether a terminal may draw itself. Default: true.
        #[serde(default = "yes")]
        include_self: bool,
        /// When packets are created. Default: bernoulli.
        #[serde(default)]
        process: ProcessSpec,
    },
    /// Open loop: every terminal sends packets by a pattern, at times drawn by a process.
    #[schemars(extend("x-open-loop" = true))]
    Traffic {
        /// Where packets go.
        pattern: Pattern,
        /// Packet length \[flits], at least 1, or a list of `{ flits, share }` from which each packet's is drawn.
        /// Default: 1.
        #[serde(default)]
        packet_flits: PacketFlits,
        /// Offered load [flits/cycle/terminal], more than 0 and at most 1 packet a cycle: the mean in the long run.
        #[schemars(range(min = 0), extend("x-rate" = "offered_bytes_per_s"))]
        offered_load: f64,
        /// When packets are created. Default: bernoulli.
        #[serde(default)]
        process: ProcessSpec,
    },
    /// Synchronised burst: at t = 0 every terminal starts to send so many packets by a pattern; complete when all have
    /// arrived. A terminal whose only destination by a permutation or a matrix is itself sends nothing; a hot spot
    /// does.
    Burst {
        /// Where packets go.
        pattern: Pattern,
        /// Packets of each terminal, at least 1.
        #[schemars(range(min = 1))]
        packets: u32,
        /// Packet length \[flits], at least 1, or a list of `{ flits, share }` from which each packet's is drawn.
        /// Default: 1.
        #[serde(default)]
        packet_flits: PacketFlits,
        /// Mean rate at which a Bernoulli process creates the packets [flits/cycle/terminal], at most 1 packet a cycle.
        /// Default (0): all are created at t = 0.
        #[serde(default)]
        #[schemars(range(min = 0), extend("x-rate" = "rate_bytes_per_s"))]
        rate: f64,
    },
    /// A trace: packets given one by one, each with the cycle of its creation from t = 0 on; complete when all have
    /// arrived.
    Trace {
        /// The packets: columns cycle (in ascending order), source, destination (terminals) and flits. Written as rows
        /// of these four numbers; in a plan they are a digest. Default: those of `file`.
        #[serde(default)]
        #[schemars(extend("x-numbers" = "packets"))]
        packets: Attached,
        /// A file with these columns: CSV (with a first line of names), NumPy (.npy) or Parquet.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        file: String,
    },
}

/// All workloads, for lists.
pub(crate) const WORKLOADS: &[Component] = &[
    Component::new(
        "all_to_all",
        "every rank sends a message to every other",
        "algorithm, message_flits, message_bytes, packet_flits, sync",
        "",
    ),
    Component::new(
        "collective",
        "a collective operation by a named algorithm",
        "operation, algorithm, message_flits, message_bytes, packet_flits, root, radix, blocks, order, leaders, sizes, file, step_barriers, repeats, compute_cycles",
        "",
    ),
    Component::new("schedule", "the operations of each rank, given one by one", "schedule, file, packet_flits", ""),
    Component::new(
        "timetable",
        "an all-to-all in which every block has a time",
        "timetable, file, search, message_flits, message_bytes, packet_flits, begin_cycles",
        "",
    ),
    Component::new("programs", "ranks are told what to do next while they run", "packet_flits, software_times", ""),
    Component::new(
        "uniform",
        "open loop, to terminals drawn at random",
        "offered_load, packet_flits, include_self, process",
        "",
    ),
    Component::new("traffic", "open loop, by a pattern", "pattern, offered_load, packet_flits, process", ""),
    Component::new(
        "burst",
        "so many packets of each terminal, by a pattern",
        "pattern, packets, packet_flits, rate",
        "",
    ),
    Component::new("trace", "packets given one by one: cycle, source, destination, flits", "packets, file", ""),
];

impl WorkloadSpec {
    /// The table that comes beside the specification, if it has one.
    pub(super) fn table(&mut self) -> Option<&mut Attached> {
        match self {
            WorkloadSpec::Traffic { pattern, .. } | WorkloadSpec::Burst { pattern, .. } => pattern.attached_mut(),
            WorkloadSpec::Trace { packets, .. } => Some(packets),
            WorkloadSpec::Schedule { schedule, .. } => Some(schedule),
            WorkloadSpec::Timetable { timetable, .. } => Some(timetable),
            WorkloadSpec::Collective { sizes, .. } => Some(sizes),
            WorkloadSpec::AllToAll { .. } | WorkloadSpec::Programs { .. } | WorkloadSpec::Uniform { .. } => None,
        }
    }
}

/// A search for a timetable, when a plan is made. Equal searches for equal networks find the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TimetableSearch {
    /// Seed of its random numbers. Default: 1.
    pub seed: u64,
    /// Moves that it may try; a million take about a second. Default: 5,000,000.
    #[schemars(range(min = 1))]
    pub budget_steps: u64,
}

impl Default for TimetableSearch {
    fn default() -> Self {
        TimetableSearch { seed: 1, budget_steps: 5_000_000 }
    }
}

/// When packets are created.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ProcessSpec {
    /// In each cycle with the same probability.
    #[default]
    Bernoulli,
    /// In on periods of geometric length, with off periods of geometric length between them: BookSim's `on_off` with
    /// `burst_alpha` = 1 / `mean_off_cycles` and `burst_beta` = 1 / `mean_on_cycles`. The rate in on periods is such
    /// that the long-run mean is the offered load.
    OnOff {
        /// Mean length of an on period \[cycles], at least 1.
        #[schemars(range(min = 1))]
        mean_on_cycles: f64,
        /// Mean length of an off period \[cycles], at least 1.
        #[schemars(range(min = 1))]
        mean_off_cycles: f64,
    },
}

fn once() -> u32 {
    1
}

fn is_once(times: &u32) -> bool {
    *times == 1
}

fn is_zero(cycles: &u64) -> bool {
    *cycles == 0
}

fn hundred() -> u32 {
    100
}

fn yes() -> bool {
    true
}
