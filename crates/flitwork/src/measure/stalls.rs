//! Why flits stand still: each cycle in which the front flit of a buffer (or the next flit of an injection port) does
//! not move is counted under one reason.

use serde::{Deserialize, Serialize};

/// Why the front flit of a virtual channel did not move in a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StallReason {
    /// It is in the router's pipeline: route computation or a fresh grant.
    Pipeline,
    /// A head whose possible output VCs are all taken.
    NoVc,
    /// A head that asked for a free output VC and lost.
    LostVcAllocation,
    /// Its output VC has no credit.
    NoCredit,
    /// It asked for the switch and did not get its output port.
    LostSwitch,
    /// It asked for the switch; its own input port sent another flit.
    InputPortBusy,
    /// At its destination: it asked for the switch, and another flit used its ejection port.
    EjectionPortBusy,
    /// At its destination: a head without an ejection VC, because all that it may use are taken, or another head got
    /// the free one.
    NoEjectionVc,
    /// At an injection port: no credit.
    SourceNoCredit,
    /// At an injection port: the next message waits for a message that its rank should have received before.
    SourceWaitsForSync,
}

const REASONS: usize = 10;

/// All reasons, in the order of the counters.
pub const STALL_REASONS: [StallReason; REASONS] = [
    StallReason::Pipeline,
    StallReason::NoVc,
    StallReason::LostVcAllocation,
    StallReason::NoCredit,
    StallReason::LostSwitch,
    StallReason::InputPortBusy,
    StallReason::EjectionPortBusy,
    StallReason::NoEjectionVc,
    StallReason::SourceNoCredit,
    StallReason::SourceWaitsForSync,
];

/// Flit-cycles by reason.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StallReport {
    /// Flit-cycles of standing still in the whole run, in the order of [`STALL_REASONS`].
    pub total: [u64; REASONS],
    /// The part of it in which the flit was a tail.
    pub tails: [u64; REASONS],
    /// Flit-cycles in which a flit at its destination router stood still although some ejection port of its terminal
    /// was idle in that cycle, in the order of [`STALL_REASONS`].
    pub idle_ejection: [u64; REASONS],
    /// Cycles in which an input port was blocked by the head of a line, flattened `[router][port]`: it sent nothing,
    /// though a packet behind the front of one of its VCs goes to an output port that sent nothing either. Empty where
    /// routes are not fixed.
    pub hol_blocked: Vec<u64>,
    /// Flit-cycles per time window (see `record.channel_window_cycles`), flattened `[window][reason]`; empty without
    /// windows.
    pub windows: Vec<u64>,
}

/// Counts while the simulation runs.
#[derive(Debug, Clone)]
pub(crate) struct StallCounter {
    report: StallReport,
    window: usize,
    windowed: bool,
}

impl StallCounter {
    /// Nothing counted yet. `windowed` says whether [`StallCounter::next_window`] will be called.
    pub fn new(windowed: bool) -> Self {
        let report = StallReport {
            total: [0; REASONS],
            tails: [0; REASONS],
            idle_ejection: [0; REASONS],
            ..StallReport::default()
        };
        StallCounter { report, window: 0, windowed }
    }

    /// Counts a flit that stood still for one cycle.
    pub fn count(&mut self, reason: StallReason, tail: bool, ejection_port_idle: bool) {
        self.add(reason, 1);
        self.report.tails[reason as usize] += u64::from(tail);
        self.report.idle_ejection[reason as usize] += u64::from(ejection_port_idle);
    }

    fn add(&mut self, reason: StallReason, flits: u64) {
        self.report.total[reason as usize] += flits;
        if self.windowed {
            let at = self.window * STALL_REASONS.len() + reason as usize;
            if self.report.windows.len() <= at {
                self.report.windows.resize((self.window + 1) * STALL_REASONS.len(), 0);
            }
            self.report.windows[at] += flits;
        }
    }

    /// An injection port had no credit.
    pub fn source_no_credit(&mut self, tail: bool) {
        self.count(StallReason::SourceNoCredit, tail, false);
    }

    /// `ports` injection ports waited for messages that their rank should have received before.
    pub fn source_waits_for_sync(&mut self, ports: u64) {
        self.add(StallReason::SourceWaitsForSync, ports);
    }

    /// What follows belongs to the next window.
    pub fn next_window(&mut self) {
        self.window += 1;
    }

    /// The counts.
    pub fn report(self) -> StallReport {
        self.report
    }
}
