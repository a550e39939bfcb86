//! Timetables: all-to-alls in which every message has a time, alike at all nodes of a torus.
//!
//! A node sends the same blocks at the same times as every other one, each to a *relative vector*: `(2, -1)` is two
//! channels towards plus of dimension 0, then one towards minus of dimension 1 (dimension order, as the routing walks).
//! What one node does says what all do, so a channel of one node stands for all channels of its direction: whether
//! anything is used twice is counted once.
//!
//! A block that starts in cycle `s` takes the injection port in cycles `s .. s+B`, its `i`-th channel in
//! `s + i h .. s + i h + B` and the ejection port in `s + H h .. s + H h + B`: `B` flits, `H` hops, `h` cycles a hop.
//! What injection and ejection add is the same for all blocks, and left out. All repeats with the *period*; cycles are
//! counted modulo the period.
//!
//! Nodes need not start together. Entry `e` starts at node `x` in cycle `start_e - sum of shift_i x_i` (modulo the
//! period), where each entry names one of a few vectors of shifts. A shift must close around its ring: `shift_i k_i` is
//! a multiple of the period. Short packets are sent without shifts (a *frame*); long ones need them, as a block that
//! fills a channel for `B` cycles would meet those that the next node sends at the same time (*lanes*).
//!
//! [`Timetable::check`] proves that no port and no channel is used twice in a cycle, from the timetable alone.
//!
//! Other networks are not alike at all nodes: a [`PairTimetable`] gives each message a start of its own.

mod check;
mod directions;
mod pairs;
mod program;
mod stored;

pub use check::{Fault, Resource};
pub use directions::Directions;
pub(crate) use pairs::pairs;
#[cfg(test)]
pub(crate) use pairs::tests::Walks;
pub use pairs::{PairFault, PairTimetable, Routes};

use crate::topology::{Grid, MAX_DIMS};

/// When each node of a torus sends what, relative to itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timetable {
    /// Routers along each dimension.
    pub sizes: Vec<u32>,
    /// All entries are repeated with this period \[cycles].
    pub period_cycles: u64,
    /// From one channel of a route to the next \[cycles].
    pub hop_cycles: u32,
    /// Length of the block of each entry, at least 1 \[flits].
    pub block_flits: u32,
    /// By how many cycles a node starts earlier than its neighbour towards minus, for each dimension; entries choose
    /// one of these vectors.
    pub shifts: Vec<Vec<i64>>,
    /// What a node sends, in any order.
    pub entries: Vec<Entry>,
}

/// A block of each node for the node at a relative vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Channels along each dimension, negative towards minus; 0 in dimensions past the last.
    pub vector: [i32; MAX_DIMS],
    /// When it starts at node (0, ..., 0), less than the period \[cycles].
    pub start: u64,
    /// Which of [`Timetable::shifts`] it has.
    pub shift: u32,
}

impl Entry {
    /// Channels of its route.
    pub fn hops(&self) -> u32 {
        self.vector.iter().map(|d| d.unsigned_abs()).sum()
    }

    /// From its start to the first cycle of the ejection port, at `hop_cycles` a hop \[cycles].
    fn way_cycles(&self, hop_cycles: u32) -> u64 {
        u64::from(self.hops()) * u64::from(hop_cycles)
    }
}

impl Timetable {
    /// When `entry` starts at the node at `coords`, less than the period \[cycles].
    pub fn start_at(&self, entry: &Entry, coords: &[u32]) -> u64 {
        let earlier =
            self.shifts[entry.shift as usize].iter().zip(coords).map(|(&s, &x)| i128::from(s) * i128::from(x));
        (i128::from(entry.start) - earlier.sum::<i128>()).rem_euclid(i128::from(self.period_cycles)) as u64
    }

    /// The torus that it is for.
    pub fn grid(&self) -> Grid {
        Grid::torus(&self.sizes)
    }

    /// Nodes.
    pub fn nodes(&self) -> u64 {
        self.sizes.iter().map(|&k| u64::from(k)).product()
    }

    /// Bytes in memory.
    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.entries.len() * size_of::<Entry>() + self.shifts.len() * self.sizes.len() * 8) as u64
    }

    /// How many of the blocks a message of so many flits is cut into.
    pub fn blocks(&self, message_flits: u64) -> u64 {
        blocks(self.block_flits, message_flits)
    }

    /// Cycles from the first start to the end of the last flit's way through the last ejection port, for messages of so
    /// many flits, without what injection and ejection add to every block.
    pub fn length_cycles(&self, message_flits: u64) -> u64 {
        // A node is late by shifts only, and some node has each start that the shifts can make.
        let latest = self.entries.iter().map(|e| self.latest_start(e) + e.way_cycles(self.hop_cycles)).max();
        latest.map_or(0, |latest| length_cycles(self.period_cycles, self.block_flits, message_flits, latest))
    }

    /// The latest start of an entry at any node.
    fn latest_start(&self, entry: &Entry) -> u64 {
        let period = self.period_cycles;
        // All starts lie on a grid of the greatest common divisor of the period and the shifts.
        let step = self.shifts[entry.shift as usize].iter().fold(period, |g, &s| gcd(g, s.unsigned_abs() % period));
        entry.start % step + (period - step)
    }
}

/// How many blocks of one length a message of so many flits is cut into.
fn blocks(block_flits: u32, message_flits: u64) -> u64 {
    message_flits.div_ceil(u64::from(block_flits.max(1))).max(1)
}

/// Cycles until messages of so many flits have arrived, a block a period: `latest` is the last cycle of a period in
/// which the first flit of a block is at an ejection port.
fn length_cycles(period_cycles: u64, block_flits: u32, message_flits: u64, latest: u64) -> u64 {
    let (blocks, block) = (blocks(block_flits, message_flits), u64::from(block_flits));
    let last = message_flits - (blocks - 1) * block;
    // The last blocks may be so short that those of the period before end later.
    let before = if blocks > 1 { (blocks - 2) * period_cycles + latest + block } else { 0 };
    before.max((blocks - 1) * period_cycles + latest + last)
}

/// Greatest common divisor; that of 0 and a number is the number.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests;
