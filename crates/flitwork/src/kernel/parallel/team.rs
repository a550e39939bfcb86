//! The threads that advance the parts of a network, one window of cycles at a time.
//!
//! The thread that runs the simulation advances the first part; each of the others is handed its part at the beginning
//! of a window and hands it back at the end ([`super::handoff`]).

use super::EPOCH;
use super::handoff::Handoff;
use super::pace::Pace;
use super::window::exchange;
use crate::kernel::simulation::Attached;
use crate::measure::Arrival;
use std::ops::RangeInclusive;
use std::time::Duration;

/// A part that is to be advanced by `cycles`; the workload starts in cycle `start`.
struct Work {
    part: Attached,
    cycles: RangeInclusive<u64>,
    start: u64,
}

/// The threads of a run.
pub(in crate::kernel) struct Team {
    others: Handoff<Work>,
    pace: Pace,
    arrived: Vec<Arrival>,
    /// Cycles of a window at most.
    pub window: u64,
}

impl Team {
    /// A team of `threads` threads, the calling one among them; `epoch`: see [`EPOCH`]; `window`: see
    /// [`crate::Plan::window_cycles`].
    pub fn new(threads: usize, epoch: Duration, window: u64) -> Self {
        debug_assert!(epoch <= EPOCH);
        let work = |_| {
            let mut arrived = Vec::new();
            move |work: &mut Work| work.part.advance(work.cycles.clone(), work.start, &mut arrived)
        };
        Team { others: Handoff::new((1..threads).map(work)), pace: Pace::new(epoch), arrived: Vec::new(), window }
    }

    /// A window of all parts, which is `cycles`; the workload starts in cycle `start`, and there were so many
    /// `flit_hops` before.
    pub fn advance(&mut self, parts: &mut Vec<Attached>, cycles: RangeInclusive<u64>, start: u64, flit_hops: u64) {
        if self.pace.together(flit_hops) {
            self.side_by_side(parts, cycles, start);
        } else {
            parts.iter_mut().for_each(|part| part.advance(cycles.clone(), start, &mut self.arrived));
        }
        exchange(parts);
    }

    fn side_by_side(&mut self, parts: &mut Vec<Attached>, cycles: RangeInclusive<u64>, start: u64) {
        self.others.begin(parts.drain(1..).map(|part| Work { part, cycles: cycles.clone(), start }));
        parts[0].advance(cycles, start, &mut self.arrived);
        self.others.end(|work| parts.push(work.part));
    }
}
