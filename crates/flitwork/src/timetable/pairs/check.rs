//! Whether a timetable by pairs is one on a network: nothing used twice.

use super::super::check::first_overlap;
use super::{PairTimetable, Routes};
use std::fmt;

/// Uses that are compared at a time: those of more parts are compared part by part, which bounds the memory.
const MOST_USES: u64 = 1 << 22;

/// Why a timetable by pairs is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PairFault {
    /// A number that makes no sense: which, its value, what was expected.
    Field(String, String, String),
    /// Two uses of the same part in a cycle.
    Collision {
        /// The part in words.
        part: String,
        /// A cycle of the period in which both use it \[cycles].
        cycle: u64,
        /// Source and destination of both.
        pairs: [(u32, u32); 2],
    },
}

impl fmt::Display for PairFault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            PairFault::Field(path, value, expected) => write!(f, "{path} = {value}: expected {expected}"),
            PairFault::Collision { part, cycle, pairs: [(a, b), (c, d)] } => {
                write!(
                    f,
                    "the blocks from {a} to {b} and from {c} to {d} use {part} both in cycle {cycle} of the period"
                )
            }
        }
    }
}

/// A use of a part: its first cycle in the period, and by whom.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    part: u32,
    from_cycle: u64,
    pair: (u32, u32),
}

impl PairTimetable {
    /// Whether no port and no channel carries two flits in a cycle on these routes: the first fault found, if not.
    pub fn check(&self, routes: &dyn Routes) -> Result<(), PairFault> {
        self.check_fields()?;
        if self.terminals != routes.terminals() {
            let expected = format!("{}, the terminals of the network", routes.terminals());
            return Err(PairFault::Field("terminals".into(), self.terminals.to_string(), expected));
        }
        let mut counts = vec![0u64; routes.parts() as usize];
        self.pairs().for_each(|(from, to)| routes.visit(from, to, &mut |part, _| counts[part as usize] += 1));
        let mut first = 0;
        while first < counts.len() {
            let mut sum = 0;
            let fits = |&&count: &&u64| {
                sum += count;
                sum <= MOST_USES
            };
            let end = first + counts[first..].iter().take_while(fits).count().max(1);
            self.check_parts(routes, first as u32..end as u32)?;
            first = end;
        }
        Ok(())
    }

    pub(super) fn check_fields(&self) -> Result<(), PairFault> {
        let fault =
            |path: &str, value: String, expected: &str| Err(PairFault::Field(path.into(), value, expected.into()));
        if self.terminals < 2 {
            return fault("terminals", self.terminals.to_string(), "at least 2 terminals");
        }
        if !(1..=1 << 48).contains(&self.period_cycles) {
            return fault("period_cycles", self.period_cycles.to_string(), "1 to 2^48 cycles");
        }
        if self.block_flits == 0 || u64::from(self.block_flits) > self.period_cycles {
            let expected = "at least 1, and not more than the period has cycles";
            return fault("block_flits", self.block_flits.to_string(), expected);
        }
        if self.starts.len() as u64 != u64::from(self.terminals) * u64::from(self.terminals) {
            return fault("starts", format!("{} of them", self.starts.len()), "one for each source and destination");
        }
        match self.pairs().find(|&(from, to)| self.start(from, to) >= self.period_cycles) {
            None => Ok(()),
            Some((from, to)) => {
                let path = format!("starts[{from}][{to}]");
                fault(&path, self.start(from, to).to_string(), "a start less than the period")
            }
        }
    }

    /// Compares each use of some parts with the next one.
    fn check_parts(&self, routes: &dyn Routes, parts: std::ops::Range<u32>) -> Result<(), PairFault> {
        let mut uses = Vec::new();
        for (from, to) in self.pairs() {
            let start = self.start(from, to);
            routes.visit(from, to, &mut |part, after| {
                if parts.contains(&part) {
                    let from_cycle = (start + u64::from(after)) % self.period_cycles;
                    uses.push(Use { part, from_cycle, pair: (from, to) });
                }
            });
        }
        uses.sort_unstable();
        for group in uses.chunk_by(|a, b| a.part == b.part) {
            let overlap = first_overlap(group, |one| one.from_cycle, self.period_cycles, self.block_flits);
            if let Some((one, next)) = overlap {
                let (part, pairs) = (routes.name(one.part), [one.pair, next.pair]);
                return Err(PairFault::Collision { part, cycle: next.from_cycle, pairs });
            }
        }
        Ok(())
    }
}
