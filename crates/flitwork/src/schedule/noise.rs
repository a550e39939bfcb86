//! When the operating system takes the CPUs of ranks away: detours, as an interval of cycles each.
//!
//! What is drawn is drawn while the ranks run (`host/noise.rs`); here is what it is drawn from, and the detours that
//! are given.

use crate::error::{Error, Result};
use std::sync::Arc;

/// Longest period, interval or duration, and latest start \[cycles].
pub(crate) const LONGEST_NOISE: u64 = 1 << 40;
/// Most ranks that a table of detours may name.
const MAX_RANK: u32 = 999_999;

/// How long each detour is \[cycles].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DetourLength {
    /// Always as long.
    Fixed(u64),
    /// Drawn, with this mean.
    Mean(u64),
}

/// The detours of all ranks. Cycles count from the start of the ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Noise {
    /// A rank of phase `f` is away in cycle `t` if `(t - f) mod period < duration`.
    Periodic {
        /// Start to start.
        period: u64,
        /// Length of a detour, less than the period.
        duration: u64,
        /// Of each rank, less than the period.
        phases: Vec<u64>,
    },
    /// A detour begins after a time without one that is drawn.
    Exponential {
        /// Of the streams of the ranks.
        seed: u64,
        /// Mean time from the end of a detour to the start of the next, at least 1.
        interval: u64,
        /// At least 1.
        duration: DetourLength,
    },
    /// As given.
    Listed(Arc<Detours>),
}

/// Detours as columns, a row each; what [`Detours::new`] takes.
#[derive(Debug, Clone, Copy)]
pub struct DetourColumns<'a> {
    /// The rank.
    pub rank: &'a [i64],
    /// First cycle of the detour, from the start of the ranks.
    pub start: &'a [i64],
    /// Length of each absence \[cycles].
    pub duration: &'a [i64],
}

/// A table of detours, those of a rank in order and apart from each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detours {
    /// Detours of rank `r` are `from[r]..from[r + 1]`.
    from: Vec<u64>,
    /// (first cycle, first cycle behind it).
    spans: Vec<(u64, u64)>,
}

impl Detours {
    /// Rows may stand in any order; detours of a rank that touch or overlap are one.
    ///
    /// # Errors
    /// [`Error::Config`] where there is no row, or a number is out of its range. Paths begin with `detours`.
    pub fn new(columns: &DetourColumns) -> Result<Detours> {
        let rows = columns.rank.len();
        if rows == 0 {
            return Err(Error::config("detours", "0 rows", "at least one detour", ""));
        }
        if columns.start.len() != rows || columns.duration.len() != rows {
            let expected = "a value of each for every row";
            return Err(Error::config("detours", "columns of different lengths", expected, ""));
        }
        check("rank", columns.rank, 0, i64::from(MAX_RANK), "a rank")?;
        check("start_cycles", columns.start, 0, LONGEST_NOISE as i64, "cycles from the start of the ranks")?;
        check("duration_cycles", columns.duration, 1, LONGEST_NOISE as i64, "cycles")?;
        let span = |row: usize| (columns.start[row] as u64, (columns.start[row] + columns.duration[row]) as u64);
        let mut all: Vec<(u64, (u64, u64))> = (0..rows).map(|row| (columns.rank[row] as u64, span(row))).collect();
        all.sort_unstable();
        let ranks = all.last().map_or(0, |&(rank, _)| rank + 1);
        let mut detours = Detours { from: vec![0; ranks as usize + 1], spans: Vec::with_capacity(rows) };
        let mut last_rank = None;
        for (rank, (begin, end)) in all {
            match detours.spans.last_mut() {
                Some(last) if last_rank == Some(rank) && begin <= last.1 => last.1 = last.1.max(end),
                _ => {
                    detours.spans.push((begin, end));
                    detours.from[rank as usize + 1] += 1;
                }
            }
            last_rank = Some(rank);
        }
        (1..detours.from.len()).for_each(|rank| detours.from[rank] += detours.from[rank - 1]);
        Ok(detours)
    }

    /// The detours of a rank.
    pub fn of(&self, rank: u32) -> &[(u64, u64)] {
        let r = rank as usize;
        match (self.from.get(r), self.from.get(r + 1)) {
            (Some(&from), Some(&to)) => &self.spans[from as usize..to as usize],
            _ => &[],
        }
    }

    /// Number of ranks: one more than the largest rank.
    pub fn ranks(&self) -> u32 {
        self.from.len() as u32 - 1
    }

    /// Detours in all.
    pub fn rows(&self) -> u64 {
        self.spans.len() as u64
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        8 * self.from.len() as u64 + 16 * self.rows()
    }

    /// All of it in a fixed form: a rank, a start and a duration after the other.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let row = |rank: u32, &(begin, end): &(u64, u64)| [u64::from(rank), begin, end - begin];
        let rows = (0..self.ranks()).flat_map(|rank| self.of(rank).iter().map(move |span| row(rank, span)));
        rows.flatten().flat_map(u64::to_le_bytes).collect()
    }

    /// What [`Detours::to_bytes`] wrote; `None` of all else.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Detours> {
        let mut columns: [Vec<i64>; 3] = Default::default();
        for row in bytes.chunks(24) {
            for (i, column) in columns.iter_mut().enumerate() {
                let number = row.get(8 * i..8 * i + 8)?.try_into().ok()?;
                column.push(i64::try_from(u64::from_le_bytes(number)).ok()?);
            }
        }
        let [rank, start, duration] = &columns;
        Detours::new(&DetourColumns { rank, start, duration }).ok()
    }
}

fn check(name: &str, column: &[i64], least: i64, most: i64, what: &str) -> Result<()> {
    match column.iter().position(|value| !(least..=most).contains(value)) {
        None => Ok(()),
        Some(row) => {
            let expected = format!("{what}, {least} to {most}");
            Err(Error::config(format!("detours[{row}].{name}"), column[row], expected, ""))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detours(rows: &[(i64, i64, i64)]) -> Result<Detours> {
        let column = |of: fn(&(i64, i64, i64)) -> i64| rows.iter().map(of).collect::<Vec<_>>();
        let (rank, start, duration) = (column(|r| r.0), column(|r| r.1), column(|r| r.2));
        Detours::new(&DetourColumns { rank: &rank, start: &start, duration: &duration })
    }

    #[test]
    fn detours_of_a_rank_are_in_order_and_apart() {
        let found = detours(&[(2, 30, 5), (0, 7, 1), (2, 10, 5), (2, 12, 8), (2, 20, 1)]).unwrap();
        assert_eq!((found.of(0), found.of(1), found.of(2)), (&[(7, 8)][..], &[][..], &[(10, 21), (30, 35)][..]));
        assert_eq!((found.of(3), found.ranks(), found.rows()), (&[][..], 3, 3));
        assert_eq!(Detours::from_bytes(&found.to_bytes()), Some(found));
        assert_eq!(Detours::from_bytes(&[1; 25]), None);
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        let fault = |rows: &[(i64, i64, i64)]| detours(rows).unwrap_err().to_string();
        assert!(fault(&[]).contains("0 rows"));
        assert!(fault(&[(0, 0, 1), (-1, 0, 1)]).contains("detours[1].rank = -1"));
        assert!(fault(&[(0, -3, 1)]).contains("detours[0].start_cycles = -3"));
        assert!(fault(&[(0, 0, 0)]).contains("detours[0].duration_cycles = 0"));
        assert!(fault(&[(0, 0, 1 << 41)]).contains("1 to 1099511627776"));
    }
}
