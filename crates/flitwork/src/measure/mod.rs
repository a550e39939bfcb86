//! What a simulation reports. Probes observe; they never change a run.

mod batches;
mod deliveries;
mod fairness;
mod flit_times;
mod interval;
mod lag;
mod latency;
mod log;
mod operations;
mod packet_records;
mod packet_table;
mod phases;
mod stalls;
mod steady;
mod tally;
mod trend;
mod verdict;
mod waits;
mod warm_up;

pub(crate) use batches::Totals;
pub(crate) use deliveries::DeliveryRecorder;
pub use deliveries::DeliveryWindows;
pub use fairness::Fairness;
pub(crate) use fairness::starved;
pub use flit_times::{FlitTally, Spread};
pub(crate) use flit_times::{FlitTimes, FlitsUnderWay};
pub use interval::student_t;
pub(crate) use lag::Expected;
pub use latency::{LatencyHistogram, LatencyRecorder, LatencySummary};
pub(crate) use log::{Arrival, Origin, PacketLog, TrafficLog};
pub use operations::{OPERATION_KINDS, OperationKind, OperationRecord, OperationReport};
pub use packet_table::PacketTable;
pub(crate) use packet_table::Places;
pub(crate) use phases::{Phases, View};
pub(crate) use stalls::StallCounter;
pub use stalls::{STALL_REASONS, StallReason, StallReport};
pub use steady::{SteadySpec, WarmUpTest};
pub use tally::Tally;
pub(crate) use waits::WaitLog;
pub use waits::{BEHIND_PACKET, WaitReason, WaitRecord, WaitReport, WaitWindow};

use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The workload, or the measurement and its drain, is complete.
    Complete,
    /// Open loop: the source queues grow, of all terminals together or of one. Latencies then say how long the run was,
    /// not how fast the network is.
    Saturated,
    /// Open loop: the limit of cycles came before it was clear whether source queues and latencies grow, or before all
    /// that was measured had arrived; a steady run: or before the mean latency was known well enough.
    NotConverged,
    /// The result was taken before the run ended: what is in it is what had happened by then.
    Interrupted,
}

/// How well the means of an open loop are known: half widths of confidence intervals, from batch means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Precision {
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Half-width of the interval of the mean packet latency \[cycles]; none where the network is saturated, or where
    /// too few packets arrived.
    pub packet_latency_half_width_cycles: Option<f64>,
    /// Half-width of the interval of the mean network latency \[cycles].
    pub network_latency_half_width_cycles: Option<f64>,
    /// Half-width of the interval of the accepted load [flits/cycle/terminal].
    pub accepted_load_half_width: f64,
    /// Length of a batch \[cycles].
    pub batch_cycles: u64,
    /// Lag-1 correlation of the packet latency of neighbouring batches, which the half widths make up for.
    pub batch_correlation: Option<f64>,
}

/// One packet's life. Cycles are absolute; `u64::MAX` means that it had not happened when the run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketRecord {
    /// Source terminal.
    pub src: u32,
    /// Number of the packet at its source, from 0, in the order of sending.
    pub sequence: u32,
    /// Destination terminal.
    pub dst: u32,
    /// Length \[flits].
    pub flits: u32,
    /// Index of the message in its sender's order (of a schedule); open loop: the sequence number of its first packet.
    pub message: u32,
    /// Injection port of its source that sent it.
    pub injection_port: u32,
    /// Bit `d` is set where it walks dimension `d` in the minus direction; as decided at the source, for the first walk
    /// of two.
    pub minus: u8,
    /// Bit `d` is set where it crosses the wrap channel of dimension `d`; as decided at the source.
    pub wraps: u8,
    /// Channels between routers on its route.
    pub hops: u32,
    /// Cycle of creation: under a schedule, when an injection port took it.
    pub created: u64,
    /// Cycle in which its head left the terminal.
    pub injected: u64,
    /// Cycle in which its tail arrived.
    pub arrived: u64,
    /// Whether the packet belongs to the background.
    pub background: bool,
}

/// Flits over each channel in each window of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelWindows {
    /// Length of a window \[cycles]; the last one may be shorter.
    pub window_cycles: u64,
    /// Flits, indexed `[window][channel]`, flattened.
    pub flits: Vec<u32>,
}

/// What a bus has carried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusReport {
    /// Transfers: how often it was given to a rank.
    pub transfers: u64,
    /// Messages; those of a broadcast are one for each rank that gets it.
    pub messages: u64,
    /// Flits; those of a broadcast count once.
    pub flits: u64,
    /// Time in which it was busy, arbitration included, rounded up \[cycles].
    pub busy_cycles: u64,
}

/// What became of the background, measured on its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BackgroundResult {
    /// Packets that arrived.
    pub packets: u64,
    /// Flits of packets created in the measurement [flits/cycle/terminal]. Beside a workload that completes, the
    /// measurement is the time from t = 0 to completion.
    pub offered_load: f64,
    /// Flits of packets that arrived in the measurement [flits/cycle/terminal].
    pub accepted_load: f64,
    /// From creation to arrival of the tail, packets of the measurement that arrived \[cycles].
    pub packet_latency: LatencySummary,
    /// From injection of the head to arrival of the tail, packets of the measurement that arrived \[cycles].
    pub network_latency: LatencySummary,
    /// Mean number of channels between routers on the route of a packet of the measurement; none if nothing was
    /// measured.
    pub mean_hops: Option<f64>,
    /// What arrived by window, where asked for.
    pub deliveries: Option<DeliveryWindows>,
}

/// A kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelName {
    /// Moves flit by flit: runs every plan.
    Flit,
    /// Moves packet by packet: the same result where the path of a packet stays its own until its tail.
    Packet,
}

/// The outcome of one simulation. All but the digest, the flit-hops and the flits over channels is of the workload
/// alone; what became of a background stands in a section of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimulationResult {
    /// How the run ended.
    pub status: Status,
    /// The kernel that ran.
    pub kernel: KernelName,
    /// Why that was not the packet kernel, where its conditions are not met.
    pub kernel_note: Option<String>,
    /// Threads that the run was cut up for.
    #[serde(default = "one")]
    pub threads: usize,
    /// Why that is one where more were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads_why: Option<String>,
    /// Workload that completes: cycles from t = 0 until the last tail arrived, or the last rank's program ended if that
    /// is later. Open loop: cycle in which the run ended.
    pub completion_cycles: u64,
    /// Fingerprint of every packet's arrival: equal for equal plans and seeds on any machine (16 hex digits).
    pub digest: String,
    /// Packets that arrived.
    pub packets: u64,
    /// Switch traversals, ejection included.
    pub flit_hops: u64,
    /// Open loop: cycles before the measurement \[cycles]. Workload that completes: cycles of background alone, before
    /// t = 0; 0 without a background.
    pub warmup_cycles: u64,
    /// Open loop: cycles of the measurement \[cycles]. Workload that completes: from t = 0 to completion.
    pub measurement_cycles: u64,
    /// Open loop: flits of packets created in the measurement [flits/cycle/terminal]. Workload that completes: 0.
    pub offered_load: f64,
    /// Open loop: flits ejected in the measurement [flits/cycle/terminal]. Workload that completes: from t = 0 on.
    /// Beside a background: flits of the workload's packets that arrived in that time.
    pub accepted_load: f64,
    /// From creation to arrival of the tail, packets of the measurement \[cycles].
    pub packet_latency: LatencySummary,
    /// From injection of the head to arrival of the tail, packets of the measurement \[cycles].
    pub network_latency: LatencySummary,
    /// How often each packet latency occurred.
    pub packet_latency_histogram: LatencyHistogram,
    /// How often each network latency occurred.
    pub network_latency_histogram: LatencyHistogram,
    /// Open loop: how well the means are known, where the measurement was long enough to tell.
    pub precision: Option<Precision>,
    /// Mean number of channels between routers on the route of a packet of the measurement; none if nothing was
    /// measured.
    pub mean_hops: Option<f64>,
    /// Flits over every channel between routers in the whole run, ascending by router and output port.
    pub channel_flits: Vec<u64>,
    /// Flits over every channel in the measurement, indexed like `channel_flits`.
    pub measured_channel_flits: Vec<u64>,
    /// Flits ejected at every terminal in the measurement, the background's included.
    pub ejected_flits: Vec<u64>,
    /// Flits of the packets of every source that arrived in the measurement.
    pub delivered_flits: Vec<u64>,
    /// How evenly the network served the sources.
    pub fairness: Fairness,
    /// Open loop: the terminals that starved. None of their flits arrived in the measurement, though a packet waited at
    /// its source for half of it or longer.
    #[serde(default)]
    pub starved_terminals: Vec<u32>,
    /// What arrived by window, where asked for.
    pub deliveries: Option<DeliveryWindows>,
    /// What became of the background, if there was one.
    pub background: Option<BackgroundResult>,
    /// What the bus has carried, where the machine has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus: Option<BusReport>,
    /// Per window, where asked for.
    pub channel_windows: Option<ChannelWindows>,
    /// Why flits stood still, where asked for.
    pub stalls: Option<StallReport>,
    /// Every packet, in order of (source, sequence), where asked for.
    pub packet_records: PacketTable,
    /// Where and why packets waited, where asked for; not in the JSON.
    #[serde(skip)]
    pub waits: Option<WaitReport>,
    /// What ranks did and when, where asked for; not in the JSON.
    #[serde(skip)]
    pub operations: Option<OperationReport>,
}

/// The threads of a result that says nothing of them.
fn one() -> usize {
    1
}
