//! Warm-up, measurement, drain: which cycles of an open loop are measured, and when the run is over.

use super::batches::{Batches, Totals};
use super::interval::{Interval, interval};
use super::lag::{Expected, Lags, Oldest};
use super::steady::{Decision, Snapshot, Steady, SteadySpec, latency_of_packets};
use super::trend::trend;
use super::verdict::{Evidence, Verdict, judge};
use super::{Precision, Status};
use std::ops::Range;

/// Confidence of the intervals of a run with a fixed measurement.
const CONFIDENCE: f64 = 0.95;
/// A run with a fixed measurement goes on until it is clear whether the network carries the load, but not for longer
/// than this many times warm-up and measurement, or than so many packets take on a channel (with bursts: as many times
/// more).
const LONGEST: u64 = 16;
const LONGEST_PACKETS: f64 = 2_000.0;
/// The verdict is looked at again when this share of the time since the beginning of the measurement has passed.
const AGAIN: u64 = 8;

/// What the phases want to know of a run at the beginning of a cycle.
pub(crate) struct View<'a> {
    pub totals: Totals,
    /// Packets that injection ports have taken.
    pub taken: u64,
    /// Channels on the routes of the measured packets that have arrived, and how many these are.
    pub hops: &'a dyn Fn() -> (u64, u64),
    /// Packets created before some cycle that no injection port has taken.
    pub untaken_before: &'a dyn Fn(u64) -> u64,
    /// Flits sent over every network channel so far.
    pub channel_flits: &'a dyn Fn(u64, &mut Vec<u64>),
    /// Calls back with each terminal that has packets which were created before some cycle and that no injection port
    /// has taken, and the creation cycle of the oldest one.
    pub oldest: &'a Oldest<'a>,
}

/// The beginning or the end of the measurement.
#[derive(Debug, Default)]
struct Mark {
    state: Option<Snapshot>,
    channel_flits: Vec<u64>,
}

impl Mark {
    fn set(&mut self, state: Snapshot, view: &View) {
        self.state = Some(state);
        (view.channel_flits)(state.cycle, &mut self.channel_flits);
    }
}

/// The phases of a run.
#[derive(Debug)]
pub(crate) struct Phases {
    /// Cycles that are measured; in the infinite future as long as that is not known.
    window: Range<u64>,
    begin: Mark,
    end: Mark,
    batches: Batches,
    /// Those of the measurement, once it is over.
    measured: Option<Batches>,
    lags: Lags,
    expected: Expected,
    senders: usize,
    steady: Option<Steady>,
    /// From a decision to the first cycle that it holds for: what is under way has arrived by then \[cycles].
    lead: u64,
    /// How the run ends, once that is known; a workload that completes does.
    verdict: Option<Status>,
    /// A fixed measurement: the cycle in which the verdict is looked at next.
    check: u64,
    /// Whether the run goes on, or ends early, for the verdict.
    waits_for_verdict: bool,
    next: u64,
}

impl Phases {
    /// A workload that completes: everything from cycle `start` on is measured, and nothing is to be decided.
    pub fn whole_run(start: u64, channels: usize) -> Self {
        if start == 0 {
            return Phases { next: u64::MAX, ..Self::whole(0..u64::MAX, 0) };
        }
        Self::whole(start..u64::MAX, channels)
    }

    fn whole(window: Range<u64>, channels: usize) -> Self {
        Phases { verdict: Some(Status::Complete), ..Self::new(window, channels, None, 0) }
    }

    /// An open loop of `senders` terminals.
    pub fn of(self, expected: Expected, senders: usize) -> Self {
        Phases { expected, senders, ..self }
    }

    /// The run drains all that was measured, as long as that takes, and is judged when it is over: its caller decides
    /// when to stop.
    pub fn leave_end_to_caller(&mut self) {
        self.waits_for_verdict = false;
    }

    /// Whether it was known from the start that the measurement lasts until the run is over.
    fn is_whole_run(&self) -> bool {
        self.steady.is_none() && self.window.end == u64::MAX
    }

    /// An open loop on a network of `channels` channels whose measurement is known from the start.
    pub fn fixed(window: Range<u64>, channels: usize) -> Self {
        Self::new(window, channels, None, 0)
    }

    /// An open loop that is measured until it is known well enough. No event lies more than `lead` cycles ahead.
    pub fn steady(options: &SteadySpec, lead: u64, channels: usize) -> Self {
        let steady = Steady::new(options);
        Self::new(u64::MAX..u64::MAX, channels, Some(steady), lead)
    }

    fn new(window: Range<u64>, channels: usize, steady: Option<Steady>, lead: u64) -> Self {
        let mark = || Mark { state: None, channel_flits: Vec::with_capacity(channels) };
        let next = if steady.is_some() { 0 } else { window.start };
        let mut lags = Lags::default();
        lags.restart(0);
        Phases {
            check: window.end,
            window,
            begin: mark(),
            end: mark(),
            batches: Batches::new(0),
            measured: None,
            lags,
            expected: Expected::default(),
            senders: 0,
            steady,
            lead,
            verdict: None,
            waits_for_verdict: true,
            next,
        }
    }

    /// Makes a fixed measurement that is not over last until cycle `end`.
    pub fn extend(&mut self, end: u64) {
        debug_assert!(self.steady.is_none() && end > self.window.end, "a fixed measurement becomes longer");
        self.window.end = end;
        self.check = end;
        // The end may have been looked at already, and judged.
        self.end.state = None;
        self.end.channel_flits.clear();
        (self.measured, self.verdict) = (None, None);
        self.next = self.next_look();
    }

    /// The run ends before cycle `now`: nothing is measured from there on.
    pub fn cut(&mut self, now: u64) {
        self.window.end = self.window.end.min(now).max(self.window.start + 1);
        self.check = self.window.end;
    }

    /// Cycles that are measured.
    pub fn window(&self) -> Range<u64> {
        self.window.clone()
    }

    /// The first cycle before which [`Phases::look`] has to be called again.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// A cycle that an idle network must not skip: the next decision of a steady run, and the last one before the
    /// verdict on a fixed one.
    pub fn next_check(&self) -> u64 {
        match self.steady {
            Some(_) => self.next,
            None if self.is_open() => self.check - 1,
            None => u64::MAX,
        }
    }

    /// Whether the run goes on after the measurement until all that was measured has arrived. Packets that wait before
    /// a saturated network would keep it busy for as long as it was measured, to no purpose.
    pub fn drains(&self) -> bool {
        self.verdict != Some(Status::Saturated)
    }

    /// Whether the verdict is due at the beginning of cycle `now`, and decides when the run ends.
    pub fn is_due(&self, now: u64) -> bool {
        self.is_open() && now >= self.check
    }

    /// Whether the run goes on for its verdict, whatever has arrived.
    pub fn is_open(&self) -> bool {
        self.waits_for_verdict && self.verdict.is_none()
    }

    /// Looks at a run before cycle `now` is simulated. Returns true if the window has changed.
    pub fn look(&mut self, now: u64, view: &View) -> bool {
        if self.next == u64::MAX {
            return false;
        }
        let state = |cycle: u64| Snapshot { cycle, totals: view.totals, backlog: (view.untaken_before)(cycle) };
        if self.begin.state.is_none() && now >= self.window.start {
            let begin = state(self.window.start);
            self.begin.set(begin, view);
            self.batches.restart(begin.cycle, begin.totals);
            self.lags.restart(begin.cycle);
            if let Some(steady) = &mut self.steady {
                steady.begin(begin);
            }
        }
        // An idle network may have skipped the cycle of the verdict, which is about the time before it.
        let until = if self.is_due(now) { now.min(self.check) } else { now };
        while self.verdict.is_none() && self.lags.next() <= until {
            self.lags.look(self.lags.next(), view.oldest);
        }
        if self.end.state.is_none() {
            self.batches.close(now.min(self.window.end), view.totals);
            if now >= self.window.end {
                self.end.set(state(self.window.end), view);
                self.measured = Some(self.batches.clone());
            }
        }
        if self.end.state.is_some() && self.verdict.is_none() {
            self.batches.close(now, view.totals);
        }
        let changed = self.decide(now, &state, view);
        if self.is_due(now) {
            self.judge_fixed(state(self.check), view);
        }
        self.next = self.next_look();
        changed
    }

    /// A fixed measurement is over: whether the network carries the load, or when to look again.
    fn judge_fixed(&mut self, now: Snapshot, view: &View) {
        let of_packets = LONGEST_PACKETS * self.expected.flits * self.expected.dispersion.max(1.0);
        let longest = self.window.end.saturating_mul(LONGEST).max(of_packets as u64);
        self.verdict = match self.judge(&now, view) {
            Verdict::Carries => Some(Status::Complete),
            Verdict::Saturated => Some(Status::Saturated),
            Verdict::Open if now.cycle >= longest => Some(Status::NotConverged),
            Verdict::Open => None,
        };
        self.check = (now.cycle + ((now.cycle - self.window.start) / AGAIN).max(1)).min(longest.max(now.cycle + 1));
    }

    /// The verdict on the run from the beginning of the measurement up to now.
    fn judge(&mut self, now: &Snapshot, view: &View) -> Verdict {
        let Some(begin) = &self.begin.state else { return Verdict::Open };
        self.lags.look(now.cycle, view.oldest);
        let (created, growth) = now.created_and_growth_since(begin);
        let expected = &self.expected;
        let (hops, packets) = (view.hops)();
        let routers = 1.0 + hops as f64 / (packets as f64).max(1.0);
        judge(&Evidence {
            cycles: now.cycle as f64,
            created,
            growth,
            under_way: (view.taken - view.totals.packets) as f64,
            latency: now.network_latency_since(begin),
            latency_alone: expected.latency_alone(routers),
            dispersion: expected.dispersion,
            flits: expected.flits,
            lag: self.lags.largest(expected, self.senders),
            trend: trend(&self.batches, latency_of_packets),
        })
    }

    /// The run is over, at the beginning of cycle `now`: a verdict that is still open is closed.
    pub fn conclude(&mut self, now: u64, view: &View) {
        if self.verdict.is_some() || self.begin.state.is_none() {
            return;
        }
        let state = Snapshot { cycle: now, totals: view.totals, backlog: (view.untaken_before)(now) };
        self.verdict = Some(match self.judge(&state, view) {
            Verdict::Carries => Status::Complete,
            Verdict::Saturated => Status::Saturated,
            Verdict::Open => Status::NotConverged,
        });
    }

    fn decide(&mut self, now: u64, state: &dyn Fn(u64) -> Snapshot, view: &View) -> bool {
        if self.window.end < u64::MAX || self.steady.as_ref().is_none_or(|steady| now < steady.next()) {
            return false;
        }
        let verdict = self.judge(&state(now), view);
        let Some(steady) = self.steady.as_mut() else { return false };
        let at = now + 1 + self.lead;
        match steady.check(state(now), &self.batches, verdict) {
            Decision::Wait => return false,
            Decision::Begin => self.window.start = at,
            Decision::End(verdict) => {
                self.window.end = at;
                self.verdict = Some(verdict);
            }
        }
        true
    }

    fn next_look(&self) -> u64 {
        let begun = self.begin.state.is_some();
        let over = self.end.state.is_some();
        if over && self.verdict.is_some() || begun && self.is_whole_run() {
            return u64::MAX;
        }
        let mark = if over {
            u64::MAX
        } else if begun {
            self.window.end
        } else {
            self.window.start
        };
        let check = self.steady.as_ref().map_or(if over { self.check } else { u64::MAX }, Steady::next);
        let check = if self.is_open() { check } else { u64::MAX };
        let lags = if self.verdict.is_none() { self.lags.next() } else { u64::MAX };
        let batch = if begun || self.steady.is_some() { self.batches.end() } else { u64::MAX };
        mark.min(check).min(batch).min(lags)
    }

    /// How the run ended: `drained` if all that was measured has arrived.
    pub fn status(&self, drained: bool) -> Status {
        match self.verdict.unwrap_or(Status::NotConverged) {
            Status::Complete if !drained && self.waits_for_verdict => Status::NotConverged,
            verdict => verdict,
        }
    }

    /// Flits sent over every network channel in the measurement; `total` in the whole run.
    pub fn measured_channel_flits(&self, total: &[u64]) -> Vec<u64> {
        if self.begin.state.is_none() {
            return total.to_vec();
        }
        let end = if self.end.state.is_some() { &self.end.channel_flits } else { total };
        end.iter().zip(&self.begin.channel_flits).map(|(end, begin)| end - begin).collect()
    }

    /// How well the means are known; `None` for a workload that completes, or where the measurement was too short to
    /// tell. The latency of a saturated network has no mean.
    pub fn precision(&self, terminals: usize, status: Status) -> Option<Precision> {
        self.begin.state.filter(|_| !self.is_whole_run())?;
        let confidence = self.steady.as_ref().map_or(CONFIDENCE, Steady::confidence);
        let batches = self.measured.as_ref().unwrap_or(&self.batches);
        let find = |part: &dyn Fn(&Totals) -> (f64, f64)| interval(batches, confidence, part);
        let load = find(&|t| (t.flits as f64, terminals as f64))?;
        // The denominator stands for one group, not for its cycles.
        let accepted = load.half_width / load.group_cycles as f64;
        let latency = find(&latency_of_packets).filter(|_| status != Status::Saturated);
        let network = find(&|t| (t.network_latency as f64, t.packets as f64)).filter(|_| status != Status::Saturated);
        let half_width = |i: &Option<Interval>| i.map(|i| i.half_width);
        Some(Precision {
            confidence,
            packet_latency_half_width_cycles: half_width(&latency),
            network_latency_half_width_cycles: half_width(&network),
            accepted_load_half_width: accepted,
            batch_cycles: load.group_cycles,
            batch_correlation: latency.map(|i| i.correlation),
        })
    }
}
