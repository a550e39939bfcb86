//! Steps: what a search has done, and may still do.

use super::Progress;

/// Counts the steps of a search, tells about them, and says when to stop.
pub(super) struct Meter<'a> {
    progress: &'a mut dyn FnMut(Progress) -> bool,
    told: Progress,
    steps: u64,
    budget: u64,
    stopped: bool,
}

impl<'a> Meter<'a> {
    pub(super) fn new(bound_cycles: u64, budget: u64, progress: &'a mut dyn FnMut(Progress) -> bool) -> Self {
        let told = Progress { steps: 0, bound_cycles, trying_cycles: bound_cycles, period_cycles: None };
        Meter { progress, told, steps: 0, budget, stopped: false }
    }

    /// Steps that are left.
    pub(super) fn left(&self) -> u64 {
        if self.stopped { 0 } else { self.budget - self.steps.min(self.budget) }
    }

    /// Counts steps. False: stop.
    pub(super) fn took(&mut self, steps: u64) -> bool {
        self.steps += steps;
        self.told.steps = self.steps;
        self.stopped |= !(self.progress)(self.told);
        self.left() > 0
    }

    /// Tells which period is tried from now on.
    pub(super) fn trying(&mut self, period_cycles: u64) {
        self.told.trying_cycles = period_cycles;
    }

    /// Tells a period that was found.
    pub(super) fn found(&mut self, period_cycles: u64) {
        if self.told.period_cycles.is_none_or(|best| period_cycles < best) {
            self.told.period_cycles = Some(period_cycles);
        }
    }
}
