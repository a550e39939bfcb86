//! Timetables by pairs: every message of an all-to-all has a start of its own, on any network whose routes are known.
//!
//! A terminal sends one block to each other one in every period. A block that starts in cycle `s` takes the injection
//! port of its source from `s` on, each channel of its route some cycles later, and the ejection port of its
//! destination at last, all for as many cycles as it has flits: [`Routes`] says which parts, and how much later. All
//! repeats with the period.
//!
//! [`PairTimetable::check`] proves from the timetable and the routes alone that no part is used twice in a cycle.

mod check;
mod stored;

pub use check::PairFault;

/// The routes of a network: which parts a block uses, and when.
///
/// A part is a port or a channel, and can carry a flit in every cycle: injection port `t` of `terminals` has number
/// `t`, ejection port `t` number `terminals + t`, channels have the numbers behind.
pub trait Routes: Sync {
    /// Terminals.
    fn terminals(&self) -> u32;

    /// Parts: one more than the highest number.
    fn parts(&self) -> u32;

    /// Calls `visit` with each part on the way of a block, and the cycles from the start of the block to its first
    /// flit there: the injection port at 0 first, the ejection port last. What injection and ejection add to every
    /// block is left out.
    fn visit(&self, from: u32, to: u32, visit: &mut dyn FnMut(u32, u32));

    /// A part in words.
    fn name(&self, part: u32) -> String;

    /// Cycles from the start of a block to its first flit at the ejection port.
    fn way_cycles(&self, from: u32, to: u32) -> u32 {
        let mut last = 0;
        self.visit(from, to, &mut |_, after| last = after);
        last
    }
}

/// When each terminal sends to each other one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairTimetable {
    /// Terminals.
    pub terminals: u32,
    /// All starts are repeated with this period \[cycles].
    pub period_cycles: u64,
    /// Length of the block of each pair, at least 1 \[flits].
    pub block_flits: u32,
    /// The start of the block from `a` to `b` at `a * terminals + b`, less than the period; those from a terminal to
    /// itself are not looked at \[cycles].
    pub starts: Vec<u64>,
}

impl PairTimetable {
    /// When the block from one terminal to another starts, less than the period \[cycles].
    pub fn start(&self, from: u32, to: u32) -> u64 {
        self.starts[from as usize * self.terminals as usize + to as usize]
    }

    /// Every source and another destination.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        pairs(self.terminals)
    }

    /// How many of the blocks a message of so many flits is cut into.
    pub fn blocks(&self, message_flits: u64) -> u64 {
        super::blocks(self.block_flits, message_flits)
    }

    /// Cycles from the first start to the end of the last flit's way through the last ejection port, for messages of so
    /// many flits, without what injection and ejection add to every block.
    pub fn length_cycles(&self, routes: &dyn Routes, message_flits: u64) -> u64 {
        let latest = self.pairs().map(|(from, to)| self.start(from, to) + u64::from(routes.way_cycles(from, to)));
        latest
            .max()
            .map_or(0, |latest| super::length_cycles(self.period_cycles, self.block_flits, message_flits, latest))
    }

    /// Bytes in memory.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.starts.len() as u64 * 8
    }
}

/// Every source and another destination, of so many terminals.
pub(crate) fn pairs(terminals: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..terminals).flat_map(move |from| (0..terminals).filter(move |&to| to != from).map(move |to| (from, to)))
}

#[cfg(test)]
pub(crate) mod tests;
