//! How far the ranks have come.

/// Counts of all ranks together.
#[derive(Debug)]
pub(super) struct Counts {
    /// Ranks whose programs are not at their end.
    pub running: u32,
    /// Messages in all, where that is known.
    pub total: Option<u64>,
    /// Messages that programs have passed.
    pub passed: u64,
    /// Messages that have arrived.
    pub arrived: u64,
    /// Receives and messages that wait for each other.
    pub unmatched: u64,
    /// Receives that could not be posted yet, and tasks that are not complete.
    pub unfinished: u64,
}

impl Counts {
    pub fn new(ranks: u32, total: Option<u64>) -> Self {
        Counts { running: ranks, total, passed: 0, arrived: 0, unmatched: 0, unfinished: 0 }
    }

    /// Whether every message has arrived, been received, and every rank has finished its program.
    pub fn is_complete(&self) -> bool {
        self.running == 0 && self.passed == self.arrived && self.unmatched == 0 && self.unfinished == 0
    }

    /// Messages in all (of ranks that a program drives: so far), and those that have not arrived.
    pub fn messages(&self) -> (u64, u64) {
        let total = self.total.unwrap_or(self.passed);
        (total, total - self.arrived)
    }
}
