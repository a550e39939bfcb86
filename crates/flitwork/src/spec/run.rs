//! How to run: seed, phases, limits, what to record.

use super::Threads;
use crate::measure::SteadySpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Seed, phases, limits and what to record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunSpec {
    /// Seed of all random choices. Default: 1.
    pub seed: u64,
    /// Open loop: cycles before measurement starts \[cycles]; not together with `steady`. With a background beside a
    /// workload that completes: cycles of background alone before t = 0; without one it completes from cycle 0 on.
    /// Default: 3000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64", extend("default" = FIXED_CYCLES))]
    pub warmup_cycles: Option<u64>,
    /// Open loop: packets created, and flits ejected, in this many cycles count \[cycles], at least 1; not together
    /// with `steady`, and not for a workload that completes, of which all is measured. Default: 3000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64", range(min = 1), extend("default" = FIXED_CYCLES))]
    pub measurement_cycles: Option<u64>,
    /// Cycles after which the run ends in any case \[cycles], at least 1. For what runs to completion an error; an open
    /// loop ends as `saturated` or `not_converged`, and needs at least warm-up and measurement. Default: for what
    /// completes, 10^9 or twice the warm-up, and the last cycle of a trace on top; 100 times warm-up and measurement
    /// for an open loop; twice the limit of `steady` (written as 0).
    pub max_cycles: u64,
    /// Interval at which the run is searched for packets that can only wait for each other, whether or not others move
    /// \[cycles], at least 1. It is also searched at its end. What is found is an error. Default: 10000.
    #[schemars(range(min = 1))]
    pub watchdog_cycles: u64,
    /// Refuse a network whose packets could wait for each other for ever. Without it such a run ends with an error when
    /// the watchdog finds that they do. Default: true.
    #[serde(skip_serializing_if = "super::is_true")]
    pub deadlock_check: bool,
    /// Memory that the simulation may take \[MB]. Default (0): three quarters of what the machine has, or of
    /// less where a control group, ulimit or SLURM allows less.
    pub memory_limit_mb: u64,
    /// What advances the network: auto (by whole packets where that gives the same result, else flit by flit), flit or
    /// packet. Default: auto.
    #[serde(default, skip_serializing_if = "KernelChoice::is_auto")]
    pub kernel: KernelChoice,
    /// Threads that advance the network, which they share out among them: a number from 1 to 64, or auto (as many as
    /// the machine has cores, where the network has enough to do). The result is the same for any number, and says how
    /// many it was (`threads`) and, where this network cannot be shared out, why (`threads_why`). Default: 1.
    #[serde(default = "one_thread", skip_serializing_if = "Threads::is_one")]
    pub threads: Threads,
    /// Open loop: detect the warm-up and measure until the mean latency is known well enough. Without this table: fixed
    /// warm-up and measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "SteadySpec")]
    pub steady: Option<SteadySpec>,
    /// What to record besides the summary.
    pub record: RecordSpec,
}

/// Default of warm-up and measurement \[cycles].
pub(crate) const FIXED_CYCLES: u64 = 3000;

impl RunSpec {
    /// The cycles that are measured where that is fixed.
    pub fn fixed_window(&self) -> Range<u64> {
        let warmup = self.fixed_warmup();
        warmup..warmup + self.measurement_cycles.unwrap_or(FIXED_CYCLES)
    }

    /// The cycles before it.
    pub fn fixed_warmup(&self) -> u64 {
        self.warmup_cycles.unwrap_or(FIXED_CYCLES)
    }
}

impl Default for RunSpec {
    fn default() -> Self {
        RunSpec {
            seed: 1,
            warmup_cycles: None,
            measurement_cycles: None,
            max_cycles: 0,
            watchdog_cycles: 10_000,
            deadlock_check: true,
            memory_limit_mb: 0,
            kernel: KernelChoice::Auto,
            threads: Threads::ONE,
            steady: None,
            record: RecordSpec::default(),
        }
    }
}

fn one_thread() -> Threads {
    Threads::ONE
}

/// Which kernel runs a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KernelChoice {
    /// The packet kernel where it gives the same result, else the flit kernel.
    #[default]
    Auto,
    /// Flit by flit: everything that the model has.
    Flit,
    /// By whole packets; an error where that is not the same.
    Packet,
}

impl KernelChoice {
    fn is_auto(&self) -> bool {
        *self == KernelChoice::Auto
    }
}

/// What to record besides the summary; each costs time or memory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RecordSpec {
    /// Every packet's source, destination, length and times. Default: false.
    pub packets: bool,
    /// Records of packets that have arrived are handed over during the run, to be written to a file, and do not count
    /// as memory. It is set by what writes that file, not by users, so it is internal. Default: false.
    #[serde(skip_serializing_if = "super::is_false")]
    #[schemars(extend("x-internal" = true))]
    pub to_file: bool,
    /// Flits over every channel, per window of this many cycles \[cycles]. Default (0): totals only.
    pub channel_window_cycles: u64,
    /// Packets and flits received per window of this many cycles from t = 0 on, of workload and background apart
    /// \[cycles]. Default (0): totals only.
    pub delivery_window_cycles: u64,
    /// Why flits stand still: counts by reason, per channel. Default: false.
    pub stalls: bool,
    /// Where and why each packet waited, which `flitwork explain` asks for: by packet, router, output port and reason.
    /// Packets are recorded with it, and the flit kernel runs. With `channel_window_cycles` also by window of time,
    /// which `flitwork view` shows. Default: false.
    #[serde(skip_serializing_if = "super::is_false")]
    pub waits: bool,
    /// What ranks did and when, which `flitwork explain` asks for: each operation of a schedule or a program, and who
    /// sent each packet. Default: false.
    #[serde(skip_serializing_if = "super::is_false")]
    pub operations: bool,
}

impl RecordSpec {
    /// Whether every packet is recorded.
    pub fn keeps_packets(&self) -> bool {
        self.packets || self.waits
    }
}
