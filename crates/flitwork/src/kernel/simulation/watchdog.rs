//! Looking for deadlocks: VCs that wait for each other, whether or not the rest of the network moves.
//!
//! Every `watchdog_cycles` cycles, and when the run is over, all that waits is looked at ([`crate::kernel::knot`]).
//! Between two looks nothing of it counts, so packets cost nothing. The cycles of the looks are the same on any number
//! of threads.

use super::{Attached, Simulation};
use crate::error::{Error, Result};
use crate::kernel::knot::Knot;

/// VCs that an error names at most.
const NAMED: usize = 10;

impl Simulation {
    /// Looks for VCs that wait for each other, and says when to look again.
    #[inline(never)]
    pub(super) fn look_for_knots(&mut self) -> Result<()> {
        let cycles = self.limits.watchdog_cycles;
        self.next_look = (self.now / cycles + 1).saturating_mul(cycles);
        self.look_where(|_| true)
    }

    /// Nothing has moved for long: looks at once. That alone is no deadlock: a packet may wait for a stage, or try
    /// again.
    #[cold]
    #[inline(never)]
    pub(super) fn look_at_what_stands(&mut self) -> Result<()> {
        self.look_where(|parts| {
            let packets: Option<u64> = parts.iter().map(|part| part.network.packets_that_stand()).sum();
            packets.is_some_and(|packets| packets > 0)
        })
    }

    /// Looks at the networks, each in its parts, of which something holds.
    fn look_where(&mut self, holds: impl Fn(&[Attached]) -> bool) -> Result<()> {
        let (of_workload, others) = self.networks.split_at(self.parts);
        for parts in std::iter::once(of_workload).chain(others.chunks(1)).filter(|parts| holds(parts)) {
            let knot = self.search.knot(|waits| parts.iter().for_each(|part| part.network.waits(waits)));
            if let Some(knot) = knot {
                return Err(Error::Deadlock { cycle: self.now, waiting: describe(parts, &knot) });
            }
        }
        Ok(())
    }
}

/// Who waits for whom, in words.
fn describe(parts: &[Attached], knot: &Knot) -> String {
    let Knot { cycle, stuck, others } = knot;
    let name = |&vc: &u32| parts[0].network.name_of_vc(vc);
    let mut names: Vec<String> = cycle.iter().take(NAMED).map(name).collect();
    if cycle.len() > NAMED {
        names.push(format!("{} more", cycle.len() - NAMED));
    }
    names.extend(cycle.first().map(name));
    let waiting = names.join(" -> ");
    if *others == 0 {
        return waiting;
    }
    let all = stuck + others;
    format!(
        "{waiting}; {stuck} of {all} virtual channels with packets can never move again, the rest of the network still moves"
    )
}
