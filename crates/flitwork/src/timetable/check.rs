//! Whether a timetable is one: all vectors once, nothing used twice.

use super::{Timetable, gcd};
use crate::topology::{DIMENSION_NAMES, MAX_DIMS};
use std::fmt;

/// A part of the node at (0, ..., 0) that one flit a cycle can use; it stands for that part of every node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    /// The injection port.
    Injection,
    /// The channel that leaves the router along a dimension, towards minus or plus.
    Channel {
        /// Dimension.
        dim: u8,
        /// Whether it leads towards minus.
        minus: bool,
    },
    /// The ejection port.
    Ejection,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            Resource::Injection => write!(f, "the injection port"),
            Resource::Ejection => write!(f, "the ejection port"),
            Resource::Channel { dim, minus } => {
                write!(f, "channel {}{}", if minus { '-' } else { '+' }, DIMENSION_NAMES[usize::from(dim)])
            }
        }
    }
}

/// Why a timetable is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A number that makes no sense: which, its value, what was expected.
    Field(String, String, String),
    /// No entry for a relative vector, or several.
    Count {
        /// The vector, between 0 and the size in each dimension.
        vector: Vec<u32>,
        /// Its entries.
        entries: usize,
    },
    /// Two uses of the same part in a cycle.
    Collision {
        /// The part.
        resource: Resource,
        /// A cycle of the period in which both use it, at some node \[cycles].
        cycle: u64,
        /// The entries, by number.
        entries: (usize, usize),
    },
}

impl Fault {
    /// In words, for the timetable that has it.
    pub fn describe(&self, of: &Timetable) -> String {
        let vector = |entry: usize| format!("{:?}", &of.entries[entry].vector[..of.sizes.len()]);
        match self {
            Fault::Field(path, value, expected) => format!("{path} = {value}: expected {expected}"),
            Fault::Count { vector, entries: 0 } => format!("no entry sends to the relative vector {vector:?}"),
            Fault::Count { vector, entries } => format!("{entries} entries send to the relative vector {vector:?}"),
            Fault::Collision { resource, cycle, entries: (a, b) } => {
                let (first, second) = (vector(*a), vector(*b));
                format!("the blocks to {first} and {second} use {resource} both in cycle {cycle} of the period")
            }
        }
    }
}

/// A use of a part: entry, and its first cycle.
struct Use {
    resource: Resource,
    from: u64,
    entry: usize,
}

impl Timetable {
    /// Whether every other node gets one block of each node, and no port and no channel carries two flits in a cycle:
    /// the first fault found, if not.
    pub fn check(&self) -> Result<(), Fault> {
        self.check_fields()?;
        self.check_vectors()?;
        self.check_uses()
    }

    pub(super) fn check_fields(&self) -> Result<(), Fault> {
        let fault = |path: &str, value: String, expected: &str| Err(Fault::Field(path.into(), value, expected.into()));
        let dims = self.sizes.len();
        let nodes = self.sizes.iter().try_fold(1u64, |p, &k| p.checked_mul(u64::from(k)));
        if dims == 0 || dims > MAX_DIMS || nodes.is_none_or(|n| n > 1 << 30) || self.sizes.contains(&0) {
            return fault("sizes", format!("{:?}", self.sizes), "1 to 6 sizes of at least 1, of at most 2^30 nodes");
        }
        if !(1..=1 << 48).contains(&self.period_cycles) {
            return fault("period_cycles", self.period_cycles.to_string(), "1 to 2^48 cycles");
        }
        if self.hop_cycles == 0 {
            return fault("hop_cycles", self.hop_cycles.to_string(), "at least 1 cycle");
        }
        if self.block_flits == 0 || u64::from(self.block_flits) > self.period_cycles {
            return fault(
                "block_flits",
                self.block_flits.to_string(),
                "at least 1, and not more than the period has cycles",
            );
        }
        for (n, shift) in self.shifts.iter().enumerate() {
            let closes = |(&s, &k): (&i64, &u32)| i128::from(s) * i128::from(k) % i128::from(self.period_cycles) == 0;
            if shift.len() != dims || !shift.iter().zip(&self.sizes).all(closes) {
                let expected = "a number of cycles for each dimension, that times the size a multiple of the period";
                return fault(&format!("shifts[{n}]"), format!("{shift:?}"), expected);
            }
        }
        for (n, entry) in self.entries.iter().enumerate() {
            let path = format!("entries[{n}]");
            if entry.start >= self.period_cycles {
                return fault(&path, format!("start {}", entry.start), "a start less than the period");
            }
            if entry.shift as usize >= self.shifts.len() {
                return fault(&path, format!("shift {}", entry.shift), "the number of one of the shifts");
            }
            let (inside, past) = entry.vector.split_at(dims);
            let short = |(&d, &k): (&i32, &u32)| 2 * u64::from(d.unsigned_abs()) <= u64::from(k);
            if !inside.iter().zip(&self.sizes).all(short) || past.iter().any(|&d| d != 0) || entry.hops() == 0 {
                let expected = "a vector other than 0 that goes at most half around each ring";
                return fault(&path, format!("{inside:?}"), expected);
            }
        }
        Ok(())
    }

    fn check_vectors(&self) -> Result<(), Fault> {
        let grid = self.grid();
        let mut counts = vec![0usize; grid.routers() as usize];
        for entry in &self.entries {
            let mut to = [0; MAX_DIMS];
            for (d, &k) in self.sizes.iter().enumerate() {
                to[d] = entry.vector[d].rem_euclid(k as i32) as u32;
            }
            counts[grid.id(&to) as usize] += 1;
        }
        match (1..grid.routers()).find(|&id| counts[id as usize] != 1) {
            None => Ok(()),
            Some(id) => {
                let vector = grid.coords(id)[..self.sizes.len()].to_vec();
                Err(Fault::Count { vector, entries: counts[id as usize] })
            }
        }
    }

    /// All uses of the parts of node (0, ..., 0), by whatever node sends the block.
    fn uses(&self) -> Vec<Use> {
        let period = i128::from(self.period_cycles);
        let mut uses = Vec::new();
        for (entry, e) in self.entries.iter().enumerate() {
            let shift = &self.shifts[e.shift as usize];
            // The source of a block that has come `displacement` away lies that far back, and starts so much later or
            // earlier.
            let mut at = i128::from(e.start);
            let mut push = |resource, at: i128| uses.push(Use { resource, from: at.rem_euclid(period) as u64, entry });
            push(Resource::Injection, at);
            for (dim, &length) in e.vector[..self.sizes.len()].iter().enumerate() {
                for _ in 0..length.unsigned_abs() {
                    push(Resource::Channel { dim: dim as u8, minus: length < 0 }, at);
                    at += i128::from(self.hop_cycles) + i128::from(shift[dim]) * i128::from(length.signum());
                }
            }
            push(Resource::Ejection, at);
        }
        uses
    }

    /// Compares each use with the next one and, where entries have different shifts, with those of each other shift.
    ///
    /// Uses with the same shift lie to each other as at node (0, ..., 0) at every node. Those with two shifts `a` and
    /// `b` are moved against each other by `(a - b) x` at node `x`: by all multiples of the greatest common divisor of
    /// the period and of `a - b`. So they are compared modulo that.
    pub(super) fn check_uses(&self) -> Result<(), Fault> {
        let mut uses = self.uses();
        uses.sort_unstable_by_key(|u| (u.resource, self.entries[u.entry].shift, u.from, u.entry));
        for group in uses.chunk_by(|a, b| a.resource == b.resource) {
            let by_shift: Vec<&[Use]> =
                group.chunk_by(|a, b| self.entries[a.entry].shift == self.entries[b.entry].shift).collect();
            for (i, one) in by_shift.iter().enumerate() {
                self.check_within(one)?;
                by_shift[..i].iter().try_for_each(|other| self.check_between(other, one))?;
            }
        }
        Ok(())
    }

    /// Uses of one part with one shift, in the order of their cycles.
    fn check_within(&self, uses: &[Use]) -> Result<(), Fault> {
        match first_overlap(uses, |one| one.from, self.period_cycles, self.block_flits) {
            None => Ok(()),
            Some((one, next)) => Err(collision(next.from, one, next)),
        }
    }

    /// Uses of one part with one shift, and those with another.
    fn check_between(&self, some: &[Use], others: &[Use]) -> Result<(), Fault> {
        let shift = |uses: &[Use]| &self.shifts[self.entries[uses[0].entry].shift as usize];
        let apart = shift(some).iter().zip(shift(others)).map(|(a, b)| a.abs_diff(*b));
        let modulus = apart.fold(self.period_cycles, gcd);
        let flits = u64::from(self.block_flits);
        let mut starts: Vec<(u64, &Use)> = some.iter().map(|one| (one.from % modulus, one)).collect();
        starts.sort_unstable_by_key(|&(start, one)| (start, one.entry));
        for other in others {
            // The last start up to the end of this use, counted around, is the one that reaches farthest into it.
            let last = (other.from + flits - 1) % modulus;
            let at = starts.partition_point(|&(start, _)| start <= last);
            let &(start, one) = if at > 0 { &starts[at - 1] } else { &starts[starts.len() - 1] };
            let back = (last + modulus - start) % modulus;
            if modulus < 2 * flits || back < 2 * flits - 1 {
                return Err(collision(other.from % modulus, one, other));
            }
        }
        Ok(())
    }
}

/// The first two of some uses of a part, in the order of their cycles in a period, that are less than a block apart.
pub(super) fn first_overlap<U>(
    uses: &[U],
    cycle: impl Fn(&U) -> u64,
    period_cycles: u64,
    block_flits: u32,
) -> Option<(&U, &U)> {
    // Behind the last one comes the first one of the next period.
    let next = |i: usize| match uses.get(i + 1) {
        Some(next) => (next, cycle(next)),
        None => (&uses[0], cycle(&uses[0]) + period_cycles),
    };
    let apart = |&(one, (_, then)): &(&U, (&U, u64))| then - cycle(one) < u64::from(block_flits);
    uses.iter().enumerate().map(|(i, one)| (one, next(i))).find(apart).map(|(one, (next, _))| (one, next))
}

fn collision(cycle: u64, one: &Use, other: &Use) -> Fault {
    Fault::Collision { resource: one.resource, cycle, entries: (one.entry, other.entry) }
}
