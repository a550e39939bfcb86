//! The threads that advance the parts of a network, one cycle at a time.
//!
//! The thread that runs the simulation advances the first part; each of the others is handed its part at the beginning of a cycle and hands
//! it back at the end ([`super::handoff`]).

use super::handoff::Handoff;
use super::pace::Pace;
use super::{EPOCH, exchange};
use crate::kernel::simulation::{Attached, Simulation};
use crate::measure::Arrival;
use std::time::Duration;

/// A part that is to be advanced by cycle `now`; the workload starts in cycle `start`.
struct Work {
    part: Attached,
    now: u64,
    start: u64,
}

/// The threads of a run.
pub(in crate::kernel) struct Team {
    others: Handoff<Work>,
    pace: Pace,
    arrived: Vec<Arrival>,
}

impl Team {
    /// So many threads, the calling one among them; `epoch`: see [`EPOCH`].
    pub fn new(threads: usize, epoch: Duration) -> Self {
        debug_assert!(epoch <= EPOCH);
        let work = |_| {
            let mut arrived = Vec::new();
            move |work: &mut Work| work.part.cycle(work.now, work.start, &mut arrived)
        };
        Team { others: Handoff::new((1..threads).map(work)), pace: Pace::new(epoch), arrived: Vec::new() }
    }

    /// One cycle of all parts; `flit_hops` before it.
    fn cycle(&mut self, parts: &mut Vec<Attached>, (now, start): (u64, u64), flit_hops: u64) {
        if self.pace.together(flit_hops) {
            self.side_by_side(parts, now, start);
        } else {
            parts.iter_mut().for_each(|part| part.cycle(now, start, &mut self.arrived));
        }
        exchange(parts);
    }

    fn side_by_side(&mut self, parts: &mut Vec<Attached>, now: u64, start: u64) {
        self.others.begin(parts.drain(1..).map(|part| Work { part, now, start }));
        parts[0].cycle(now, start, &mut self.arrived);
        self.others.end(|work| parts.push(work.part));
    }
}

impl Simulation {
    /// One cycle of a network in parts.
    pub(in crate::kernel) fn cycle_of_parts(&mut self) {
        let Simulation { now, networks, team, limits, .. } = self;
        let flit_hops = networks.iter().map(|part| part.network.flit_hops()).sum();
        if let Some(team) = team {
            team.cycle(networks, (*now, limits.start), flit_hops);
        }
    }
}
