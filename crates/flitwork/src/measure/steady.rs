//! Steady state, measured properly: the warm-up is detected, and the measurement goes on until the mean latency is
//! known well enough. The page *Steady state* of the documentation explains the method and names its sources.

use super::Status;
use super::batches::{Batches, Totals};
use super::interval::interval;
use super::verdict::Verdict;
use super::warm_up::is_stationary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Open loop: instead of a fixed warm-up and measurement, detect the end of the warm-up and measure until the mean
/// packet latency is known well enough. Write an empty table to take every default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SteadySpec {
    /// Half width of the confidence interval of the mean packet latency at which the measurement ends, as a share of
    /// the mean; more than 0 and less than 1. A saturated network: of the accepted load. Default: 0.02.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub relative_ci: f64,
    /// Confidence of all intervals, 0.5 to 0.9999. Default: 0.95.
    #[schemars(range(min = 0.5, max = 0.9999))]
    pub confidence: f64,
    /// What says that the warm-up is over. Default: mser.
    pub warmup: WarmUpTest,
    /// Fewest cycles of warm-up \[cycles]. Default: 5000.
    pub min_warmup_cycles: u64,
    /// Fewest cycles of measurement \[cycles]; four times as many where the network is saturated, as it may take long
    /// to collapse. Default: 10000.
    pub min_measurement_cycles: u64,
    /// Most cycles of warm-up and measurement together, at most half of them warm-up \[cycles], at least 1000. A run
    /// that ends there knows its mean less well than was asked. Default: 200000.
    #[schemars(range(min = 1000))]
    pub max_cycles: u64,
}

impl Default for SteadySpec {
    fn default() -> Self {
        SteadySpec {
            relative_ci: 0.02,
            confidence: 0.95,
            warmup: WarmUpTest::Mser,
            min_warmup_cycles: 5_000,
            min_measurement_cycles: 10_000,
            max_cycles: 200_000,
        }
    }
}

/// What says that the warm-up is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WarmUpTest {
    /// The marginal standard error rule of White 1997 on batches, for packet latency and accepted load.
    Mser,
    /// Mean packet latency and accepted load of the last third of the cycles so far differ by less than 5 % from those
    /// of the two ninths before.
    Stable,
}

/// Two stretches differ by less than this share under [`WarmUpTest::Stable`].
const STABLE: f64 = 0.05;
/// Source queues that take less than this share of the packets created do not count as growing.
const GROWTH: f64 = 0.01;
/// A saturated network is measured for this many times the fewest cycles: just above saturation the accepted load sinks
/// slowly, over tens of thousands of cycles, in steps that a short measurement does not see.
const SATURATED: u64 = 4;
/// The earliest check of the warm-up \[cycles].
const FIRST_CHECK: u64 = 500;

/// The state of a run at the beginning of a cycle.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Snapshot {
    pub cycle: u64,
    pub totals: Totals,
    /// Packets created that no injection port has taken.
    pub backlog: u64,
}

impl Snapshot {
    /// Packets created since `before`, as far as they have arrived or wait at their sources, and by how many more wait
    /// there.
    pub fn created_and_growth_since(&self, before: &Snapshot) -> (f64, f64) {
        let growth = self.backlog as f64 - before.backlog as f64;
        (((self.totals.packets - before.totals.packets) as f64 + growth).max(0.0), growth)
    }

    /// Mean latency in the network of what has arrived since `before` \[cycles].
    pub fn network_latency_since(&self, before: &Snapshot) -> f64 {
        let latency = self.totals.network_latency.wrapping_sub(before.totals.network_latency) as f64;
        latency / ((self.totals.packets - before.totals.packets) as f64).max(1.0)
    }

    /// Whether the source queues have grown since `before` by more than chance (three standard deviations of the number
    /// of packets created) and by more than 1 % of the packets created.
    fn has_grown_since(&self, before: &Snapshot) -> bool {
        let (created, growth) = self.created_and_growth_since(before);
        growth > 3.0 * created.sqrt() && growth > GROWTH * created
    }

    /// Mean packet latency \[cycles] and accepted load [flits/cycle] since `before`.
    fn means_since(&self, before: &Snapshot) -> (f64, f64) {
        let packets = (self.totals.packets - before.totals.packets) as f64;
        let latency = self.totals.packet_latency.wrapping_sub(before.totals.packet_latency) as f64;
        let flits = (self.totals.flits - before.totals.flits) as f64;
        (latency / packets.max(1.0), flits / (self.cycle - before.cycle).max(1) as f64)
    }
}

/// What to do after a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Go on.
    Wait,
    /// The warm-up is over.
    Begin,
    /// The measurement is over; how the run ended so far.
    End(Status),
}

/// Decides when the measurement of a steady run begins and ends.
#[derive(Debug)]
pub(crate) struct Steady {
    options: SteadySpec,
    /// The last three checks of the warm-up.
    history: [Snapshot; 3],
    /// The warm-up ended because of the limit of cycles.
    forced: bool,
    /// The measurement has begun in this state.
    begun: Option<Snapshot>,
    /// The next check.
    next: u64,
    /// Scratch.
    values: Vec<f64>,
}

impl Steady {
    pub fn new(options: &SteadySpec) -> Self {
        let first = options.min_warmup_cycles.max(FIRST_CHECK);
        Steady {
            options: options.clone(),
            history: Default::default(),
            forced: false,
            begun: None,
            // Two states before the first check, to compare with.
            next: (first * 4).div_ceil(9).min(options.max_cycles / 2),
            values: Vec::with_capacity(1024),
        }
    }

    /// Cycle of the next check.
    pub fn next(&self) -> u64 {
        self.next
    }

    pub fn confidence(&self) -> f64 {
        self.options.confidence
    }

    /// The measurement begins, in this state.
    pub fn begin(&mut self, state: Snapshot) {
        self.begun = Some(state);
        self.next =
            (state.cycle + self.options.min_measurement_cycles).min(self.options.max_cycles).max(state.cycle + 1);
    }

    /// A check: of the warm-up, with all batches since the start of the run, or of the measurement, with those of the
    /// measurement.
    pub fn check(&mut self, now: Snapshot, batches: &Batches, verdict: Verdict) -> Decision {
        match self.begun {
            None => self.check_warm_up(now, batches),
            Some(begin) => self.check_measurement(begin, now, batches, verdict),
        }
    }

    fn check_warm_up(&mut self, now: Snapshot, batches: &Batches) -> Decision {
        self.history = [self.history[1], self.history[2], now];
        let half = self.options.max_cycles / 2;
        self.next = (now.cycle + now.cycle.div_ceil(2)).min(half).max(now.cycle + 1);
        if now.cycle >= half {
            self.forced = true;
        } else if now.cycle < self.options.min_warmup_cycles.max(FIRST_CHECK) || !self.is_warm(batches) {
            return Decision::Wait;
        }
        self.next = u64::MAX;
        Decision::Begin
    }

    /// Whether accepted load and latency are stationary; of a saturated network, whose latency grows as long as it
    /// runs, the accepted load.
    fn is_warm(&mut self, batches: &Batches) -> bool {
        let [a, b, c] = &self.history;
        let saturated = b.has_grown_since(a) && c.has_grown_since(b);
        let (latency, load) = match self.options.warmup {
            WarmUpTest::Mser => {
                let load = is_stationary(batches, &mut self.values, |t| (t.flits as f64, 1.0));
                (is_stationary(batches, &mut self.values, latency_of_packets), load)
            }
            WarmUpTest::Stable => {
                let ((old, old_load), (new, new_load)) = (b.means_since(a), c.means_since(b));
                let stable = |old: f64, new: f64| old > 0.0 && (new - old).abs() < STABLE * old;
                (stable(old, new), stable(old_load, new_load))
            }
        };
        load && (latency || saturated)
    }

    fn check_measurement(&mut self, begin: Snapshot, now: Snapshot, batches: &Batches, verdict: Verdict) -> Decision {
        let Steady { options, .. } = self;
        let known = |part: fn(&Totals) -> (f64, f64)| {
            interval(batches, options.confidence, part).is_some_and(|i| i.is_within(options.relative_ci))
        };
        let over = now.cycle >= options.max_cycles;
        let measured = now.cycle - begin.cycle;
        let verdict = match verdict {
            Verdict::Saturated => {
                let long = measured >= SATURATED * options.min_measurement_cycles;
                (over || (long && known(|t| (t.flits as f64, 1.0)))).then_some(Status::Saturated)
            }
            Verdict::Open => over.then_some(Status::NotConverged),
            Verdict::Carries => {
                // How well the mean is known its interval says, as in a fixed measurement.
                let is_stationary = !self.forced;
                let status = if is_stationary { Status::Complete } else { Status::NotConverged };
                (over || known(latency_of_packets)).then_some(status)
            }
        };
        let later = (now.cycle + (measured / 4).max(1)).min(options.max_cycles).max(now.cycle + 1);
        self.next = if verdict.is_some() { u64::MAX } else { later };
        verdict.map_or(Decision::Wait, Decision::End)
    }
}

/// Sum of packet latencies and number of packets.
pub(crate) fn latency_of_packets(t: &Totals) -> (f64, f64) {
    (t.packet_latency as f64, t.packets as f64)
}
