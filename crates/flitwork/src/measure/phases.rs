//! Warm-up, measurement, drain: which cycles of an open loop are measured, and when the run is over.

use super::batches::{Batches, Totals};
use super::interval::{Interval, interval};
use super::steady::{Decision, Snapshot, Steady, SteadySpec, latency_of_packets};
use super::{Precision, Status};
use std::ops::Range;

/// Confidence of the intervals of a run with a fixed measurement.
const CONFIDENCE: f64 = 0.95;

/// What the phases want to know of a run at the beginning of a cycle.
pub(crate) struct View<'a> {
    pub totals: Totals,
    /// Packets created before some cycle that no injection port has taken.
    pub untaken_before: &'a dyn Fn(u64) -> u64,
    /// Flits sent over every network channel so far.
    pub channel_flits: &'a dyn Fn(u64, &mut Vec<u64>),
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
    steady: Option<Steady>,
    /// From a decision to the first cycle that it holds for: what is under way has arrived by then [cycles].
    lead: u64,
    verdict: Status,
    next: u64,
}

impl Phases {
    /// A workload that completes: everything from cycle `start` on is measured, and nothing is to be decided.
    pub fn whole_run(start: u64, channels: usize) -> Self {
        if start == 0 {
            return Phases { next: u64::MAX, ..Self::new(0..u64::MAX, 0, None, 0) };
        }
        Self::new(start..u64::MAX, channels, None, 0)
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
        let (begin, end, batches) = (mark(), mark(), Batches::new(0));
        Phases { window, begin, end, batches, steady, lead, verdict: Status::Complete, next }
    }

    /// Makes a fixed measurement that is not over last until cycle `end`.
    pub fn extend(&mut self, end: u64) {
        debug_assert!(self.steady.is_none() && self.end.state.is_none(), "the end of the measurement is in the past");
        self.window.end = end;
        self.next = self.next_look();
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

    /// A cycle that an idle network must not skip: the next decision of a steady run.
    pub fn next_check(&self) -> u64 {
        if self.steady.is_some() { self.next } else { u64::MAX }
    }

    /// Whether the run goes on after the measurement until all that was measured has arrived. Packets that wait before a
    /// saturated network would keep it busy for as long as it was measured, to no purpose.
    pub fn drains(&self) -> bool {
        self.steady.is_none() || self.verdict != Status::Saturated
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
            if let Some(steady) = &mut self.steady {
                steady.begin(begin);
            }
        }
        if self.end.state.is_none() {
            self.batches.close(now.min(self.window.end), view.totals);
            if now >= self.window.end {
                self.end.set(state(self.window.end), view);
            }
        }
        let changed = self.decide(now, &state);
        self.next = self.next_look();
        changed
    }

    fn decide(&mut self, now: u64, state: &dyn Fn(u64) -> Snapshot) -> bool {
        let Some(steady) = self.steady.as_mut().filter(|s| now >= s.next()) else { return false };
        if self.window.end < u64::MAX {
            return false;
        }
        let at = now + 1 + self.lead;
        match steady.check(state(now), &self.batches) {
            Decision::Wait => return false,
            Decision::Begin => self.window.start = at,
            Decision::End(verdict) => {
                self.window.end = at;
                self.verdict = verdict;
            }
        }
        true
    }

    fn next_look(&self) -> u64 {
        let begun = self.begin.state.is_some();
        if self.end.state.is_some() || begun && self.is_whole_run() {
            return u64::MAX;
        }
        let mark = if begun { self.window.end } else { self.window.start };
        let check = self.steady.as_ref().map_or(u64::MAX, Steady::next);
        let batch = if begun || self.steady.is_some() { self.batches.end() } else { u64::MAX };
        mark.min(check).min(batch)
    }

    /// How the run ended: `drained` if all that was measured has arrived; `created` packets were.
    pub fn status(&self, drained: bool, created: u64) -> Status {
        match &self.steady {
            Some(_) if drained => self.verdict,
            None if drained && !self.is_saturated(created) => Status::Complete,
            _ => Status::Saturated,
        }
    }

    /// Fixed measurement: whether the source queues grew in it by more than chance: by more than 3 standard deviations of the
    /// number of packets created, and by more than 5 % of it.
    fn is_saturated(&self, created: u64) -> bool {
        let (Some(before), Some(after)) = (&self.begin.state, &self.end.state) else { return false };
        let growth = after.backlog.saturating_sub(before.backlog) as f64;
        growth > 3.0 * (created as f64).sqrt() && growth > 0.05 * created as f64
    }

    /// Flits sent over every network channel in the measurement; `total` in the whole run.
    pub fn measured_channel_flits(&self, total: &[u64]) -> Vec<u64> {
        if self.begin.state.is_none() {
            return total.to_vec();
        }
        let end = if self.end.state.is_some() { &self.end.channel_flits } else { total };
        end.iter().zip(&self.begin.channel_flits).map(|(end, begin)| end - begin).collect()
    }

    /// How well the means are known; `None` for a workload that completes, or where the measurement was too short to tell. The latency of
    /// a saturated network has no mean.
    pub fn precision(&self, terminals: usize, status: Status) -> Option<Precision> {
        self.begin.state.filter(|_| !self.is_whole_run())?;
        let confidence = self.steady.as_ref().map_or(CONFIDENCE, Steady::confidence);
        let find = |part: &dyn Fn(&Totals) -> (f64, f64)| interval(&self.batches, confidence, part);
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
