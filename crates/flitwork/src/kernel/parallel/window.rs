//! A window: cycles that the parts of a network advance without a word between them.

use super::border::CrossEvents;
use crate::kernel::network::Endpoints;
use crate::kernel::simulation::{Attached, Simulation};
use crate::measure::Arrival;
use std::ops::RangeInclusive;

/// What others want to know of a part between two windows, with its events for other parts. It travels with the part:
/// whoever looks further into a part reads memory that another core has just written, which takes as long as a packet
/// takes through a router.
#[derive(Debug)]
pub(in crate::kernel) struct Summary {
    pub flit_hops: u64,
    /// The last cycle in which a flit left a buffer.
    pub moved: u64,
    pub next_event: Option<u64>,
    pub all_taken: bool,
    /// For each part what goes there; from each part what has come.
    pub out: Vec<CrossEvents>,
    pub arrived: Vec<CrossEvents>,
}

impl Summary {
    /// The window of one of `parts` parts, before the first cycle; `all_taken`: there is nothing to send.
    pub fn new(parts: usize, all_taken: bool) -> Self {
        let none_yet = || (0..parts).map(|_| CrossEvents::default()).collect();
        Summary { flit_hops: 0, moved: 0, next_event: None, all_taken, out: none_yet(), arrived: none_yet() }
    }
}

impl Attached {
    /// Cycles of a part of a network; the workload starts in cycle `start`.
    pub fn advance(&mut self, cycles: RangeInclusive<u64>, start: u64, arrived: &mut Vec<Arrival>) {
        let (last, mut moved, mut flit_hops) = (*cycles.end(), None, self.flit_hops());
        self.exchange_events();
        let Attached { network, nics, log, .. } = self;
        for now in cycles {
            network.deliver(now, arrived);
            arrived.drain(..).for_each(|packet| log.arrived(&packet, now));
            if now == start {
                nics.wake_all();
            }
            nics.begin_cycle(now);
            network.step(now, &mut Endpoints { nics, hosts: None, log });
            if network.flit_hops() != flit_hops {
                (moved, flit_hops) = (Some(now), network.flit_hops());
            }
        }
        self.exchange_events();
        if let Some(summary) = &mut self.summary {
            summary.flit_hops = flit_hops;
            summary.moved = moved.unwrap_or(summary.moved);
            summary.next_event = self.network.next_event(last);
            summary.all_taken = self.nics.all_taken();
        }
    }

    /// Events for other parts lie at the border of a part within a window, and in its summary between windows.
    fn exchange_events(&mut self) {
        if let (Some(border), Some(summary)) = (self.network.border(), &mut self.summary) {
            std::mem::swap(&mut border.out, &mut summary.out);
            std::mem::swap(&mut border.arrived, &mut summary.arrived);
        }
    }
}

/// Hands over what has left a part for another.
pub(super) fn exchange(parts: &mut [Attached]) {
    let mut summaries: Vec<&mut Summary> = parts.iter_mut().filter_map(|part| part.summary.as_mut()).collect();
    for from in 0..summaries.len() {
        for to in (0..summaries.len()).filter(|&to| to != from) {
            let events = std::mem::take(&mut summaries[from].out[to]);
            // The memory of what has been read is used again.
            summaries[from].out[to] = std::mem::replace(&mut summaries[to].arrived[from], events);
        }
    }
}

impl Simulation {
    /// A window of a network in parts: the current cycle, and those behind it before `until` that nobody has to look at
    /// in between. The last of them is the current one then.
    pub(in crate::kernel) fn advance_parts(&mut self, until: u64) {
        let flit_hops = self.networks.iter().map(Attached::flit_hops).sum();
        let last = self.last_of_window(until);
        let Simulation { now, networks, team, limits, .. } = self;
        if let Some(team) = team {
            team.advance(networks, *now..=last, limits.start, flit_hops);
        }
        *now = last;
    }

    /// The last cycle of the window that begins now. The loop looks at the run behind it, so the run must not be over
    /// behind an earlier one, and nothing may be decided, or measured, from a later one on.
    fn last_of_window(&self, until: u64) -> u64 {
        let window = self.team.as_ref().map_or(1, |team| team.window);
        let parts = &self.networks[..self.parts];
        let open_loop = parts[0].nics.is_open_loop();
        // An open loop is over behind its measurement, in any cycle, once its verdict is known. A burst may be over in
        // any cycle once all its packets have been taken; the last one is then under way for a window at least.
        let first_end = match (open_loop, parts.iter().all(Attached::all_taken)) {
            (true, _) if self.phases.is_open() => u64::MAX,
            (true, _) => self.phases.window().end - 1,
            (false, true) => self.now,
            (false, false) => u64::MAX,
        };
        let watchdog = self.moved.0.saturating_add(self.limits.watchdog_cycles);
        let ends = [first_end, until - 1, self.phases.next().saturating_sub(1), self.limits.max_cycles];
        let bounds = ends.into_iter().chain([watchdog, self.next_look]);
        bounds.fold(self.now + window - 1, u64::min).max(self.now)
    }
}
