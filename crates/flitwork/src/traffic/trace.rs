//! Traces: packets that are given one by one, with the cycle in which each is created.

use crate::error::{Error, Result};
use std::ops::Range;

/// Most terminals that a trace may name.
const MAX_TERMINALS: i64 = 1 << 24;
/// Latest cycle of creation, counted from t = 0 \[cycles].
const MAX_CYCLE: i64 = 1 << 40;
/// Longest packet \[flits].
const MAX_FLITS: i64 = 65_535;

/// The columns of a trace as they were given, all of the same length.
#[derive(Debug, Clone, Copy)]
pub struct TraceColumns<'a> {
    /// Cycle of creation, from t = 0 on, never falling \[cycles].
    pub cycle: &'a [i64],
    /// Source terminal.
    pub source: &'a [i64],
    /// Destination terminal.
    pub destination: &'a [i64],
    /// Length of the packet \[flits].
    pub flits: &'a [i64],
}

/// The largest entry of a column and the row in which it stands first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Largest {
    pub column: &'static str,
    pub value: u64,
    pub row: usize,
}

/// The packets of a trace by source, those of one source in the order of their creation.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// Where the packets of each source begin in the lists below, and where those of the last one end.
    starts: Vec<usize>,
    cycles: Vec<u64>,
    destinations: Vec<u32>,
    flits: Vec<u16>,
    last_cycle: u64,
    largest: [Largest; 3],
}

/// One packet of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TracePacket {
    /// Cycle of creation, from t = 0 on \[cycles].
    pub cycle: u64,
    /// Destination terminal.
    pub dst: u32,
    /// Length \[flits].
    pub flits: u32,
}

impl Trace {
    /// A trace from its columns.
    ///
    /// # Errors
    /// [`Error::Config`] where there is no packet, a cycle is before that of the row above, or an entry is out of its
    /// range. Paths begin with `packets`.
    pub fn new(columns: &TraceColumns) -> Result<Trace> {
        let rows = columns.cycle.len();
        if rows == 0 {
            return Err(Error::config("packets", "0 rows", "at least one packet", ""));
        }
        if [columns.source, columns.destination, columns.flits].iter().any(|column| column.len() != rows) {
            return Err(Error::config("packets", "columns of different lengths", "a value of each for every row", ""));
        }
        check_order(columns.cycle)?;
        let largest = [
            check("source", columns.source, 0..=MAX_TERMINALS - 1, "a terminal")?,
            check("destination", columns.destination, 0..=MAX_TERMINALS - 1, "a terminal")?,
            check("flits", columns.flits, 1..=MAX_FLITS, "flits")?,
        ];
        let mut trace = Trace {
            starts: vec![0; largest[0].value as usize + 2],
            cycles: vec![0; rows],
            destinations: vec![0; rows],
            flits: vec![0; rows],
            last_cycle: columns.cycle[rows - 1] as u64,
            largest,
        };
        trace.sort(columns);
        Ok(trace)
    }

    /// Puts the packets where they belong: counts those of each source, then fills their places in order.
    fn sort(&mut self, columns: &TraceColumns) {
        for &source in columns.source {
            self.starts[source as usize + 1] += 1;
        }
        (1..self.starts.len()).for_each(|i| self.starts[i] += self.starts[i - 1]);
        let mut next = self.starts.clone();
        for (row, &source) in columns.source.iter().enumerate() {
            let at = next[source as usize];
            next[source as usize] += 1;
            self.cycles[at] = columns.cycle[row] as u64;
            self.destinations[at] = columns.destination[row] as u32;
            self.flits[at] = columns.flits[row] as u16;
        }
    }

    /// Packets in all.
    pub fn packets(&self) -> usize {
        self.cycles.len()
    }

    /// Cycle of the last creation \[cycles].
    pub fn last_cycle(&self) -> u64 {
        self.last_cycle
    }

    /// The largest source, destination and length.
    pub(crate) fn largest(&self) -> &[Largest; 3] {
        &self.largest
    }

    fn range(&self, source: u32) -> Range<usize> {
        let at = |i: usize| self.starts.get(i).copied().unwrap_or(self.cycles.len());
        at(source as usize)..at(source as usize + 1)
    }

    /// How many packets a terminal sends.
    pub fn packets_of(&self, source: u32) -> u64 {
        self.range(source).len() as u64
    }

    /// The packets of a terminal, in the order of their creation.
    pub fn of(&self, source: u32) -> impl DoubleEndedIterator<Item = TracePacket> {
        self.range(source).map(|at| self.at(at))
    }

    /// The packet of a terminal after which `left - 1` more come.
    #[inline]
    pub(super) fn with_left(&self, source: u32, left: u64) -> TracePacket {
        self.at(self.range(source).end - left as usize)
    }

    #[inline]
    fn at(&self, at: usize) -> TracePacket {
        TracePacket { cycle: self.cycles[at], dst: self.destinations[at], flits: u32::from(self.flits[at]) }
    }

    /// Bytes in memory.
    pub(super) fn memory_bytes(&self) -> u64 {
        (self.cycles.len() * 14 + self.starts.len() * 8) as u64
    }

    /// The contents, piece by piece: sources, packets of each, then cycles, destinations and lengths.
    pub(super) fn write(&self, sink: &mut dyn FnMut(&[u8])) {
        sink(&((self.starts.len() - 1) as u64).to_le_bytes());
        self.starts.windows(2).for_each(|pair| sink(&((pair[1] - pair[0]) as u64).to_le_bytes()));
        self.cycles.chunks(CHUNK).for_each(|c| sink(&c.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>()));
        self.destinations.chunks(CHUNK).for_each(|c| sink(&c.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>()));
        self.flits.chunks(CHUNK).for_each(|c| sink(&c.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>()));
    }

    /// What [`Trace::write`] wrote.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Trace> {
        let number = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?) as usize);
        let sources = number(0).filter(|&sources| sources <= bytes.len() / 8)?;
        let counts: Vec<usize> = (1..=sources).map_while(|i| number(8 * i)).collect();
        let rows = counts.iter().try_fold(0usize, |sum, &count| sum.checked_add(count))?;
        let at = 8 * (sources + 1);
        if counts.len() != sources || rows > bytes.len() || bytes.len() != at + 14 * rows {
            return None;
        }
        let (cycles, rest) = bytes[at..].split_at(8 * rows);
        let (destinations, flits) = rest.split_at(4 * rows);
        let wide = |c: &[u8]| c.iter().rev().fold(0, |sum, &byte| sum << 8 | i64::from(byte));
        let column = |bytes: &[u8], width: usize| bytes.chunks_exact(width).map(wide).collect::<Vec<i64>>();
        let (cycles, destinations, flits) = (column(cycles, 8), column(destinations, 4), column(flits, 2));
        // Back into the order of cycles; what is created in one cycle by several terminals has no order.
        let sources: Vec<i64> =
            counts.iter().enumerate().flat_map(|(s, &count)| std::iter::repeat_n(s as i64, count)).collect();
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_by_key(|&row| cycles[row]);
        let of = |column: &[i64]| order.iter().map(|&row| column[row]).collect::<Vec<i64>>();
        let [cycle, source, destination, flits] = [&cycles, &sources, &destinations, &flits].map(|column| of(column));
        Trace::new(&TraceColumns { cycle: &cycle, source: &source, destination: &destination, flits: &flits }).ok()
    }
}

/// Numbers that are turned into bytes at once.
const CHUNK: usize = 1 << 13;

/// Cycles do not fall, and are within their range.
fn check_order(cycles: &[i64]) -> Result<()> {
    let path = |row: usize| format!("packets[{row}].cycle");
    let mut before = 0;
    for (row, &cycle) in cycles.iter().enumerate() {
        if !(0..=MAX_CYCLE).contains(&cycle) {
            return Err(Error::config(path(row), cycle, "a cycle, 0 to 2^40", "t = 0 is the start of the workload"));
        }
        if cycle < before {
            let expected = format!("at least {before}, the cycle of the row before");
            return Err(Error::config(path(row), cycle, expected, "sort the rows by cycle"));
        }
        before = cycle;
    }
    Ok(())
}

/// The largest entry of a column whose entries are all within `range`.
fn check(column: &'static str, entries: &[i64], range: std::ops::RangeInclusive<i64>, what: &str) -> Result<Largest> {
    let mut largest = Largest { column, value: 0, row: 0 };
    for (row, &entry) in entries.iter().enumerate() {
        if !range.contains(&entry) {
            let (low, high) = (range.start(), range.end());
            let expected =
                if what == "flits" { format!("{low} to {high} flits") } else { format!("{what}, {low} to {high}") };
            return Err(Error::config(format!("packets[{row}].{column}"), entry, expected, ""));
        }
        if entry as u64 > largest.value {
            largest = Largest { column, value: entry as u64, row };
        }
    }
    Ok(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = [i64; 4];

    fn trace(rows: &[Row]) -> Result<Trace> {
        let column = |i: usize| rows.iter().map(|row| row[i]).collect::<Vec<_>>();
        let [cycle, source, destination, flits] = [0, 1, 2, 3].map(column);
        Trace::new(&TraceColumns { cycle: &cycle, source: &source, destination: &destination, flits: &flits })
    }

    fn bytes(trace: &Trace) -> Vec<u8> {
        let mut bytes = Vec::new();
        trace.write(&mut |piece| bytes.extend_from_slice(piece));
        bytes
    }

    const ROWS: [Row; 4] = [[0, 2, 1, 4], [3, 0, 5, 1], [3, 2, 0, 2], [9, 0, 2, 300]];

    #[test]
    fn packets_lie_by_source_in_the_order_of_creation() {
        let trace = trace(&ROWS).unwrap();
        let of = |source| trace.of(source).map(|p| (p.cycle, p.dst, p.flits)).collect::<Vec<_>>();
        assert_eq!(of(0), [(3, 5, 1), (9, 2, 300)]);
        assert_eq!((of(1), of(2)), (vec![], vec![(0, 1, 4), (3, 0, 2)]));
        assert_eq!((trace.packets(), trace.packets_of(2), trace.packets_of(3), trace.packets_of(900)), (4, 2, 0, 0));
        assert_eq!((trace.last_cycle(), trace.with_left(0, 1).flits, trace.with_left(2, 2).dst), (9, 300, 1));
        let largest = trace.largest().map(|l| (l.column, l.value, l.row));
        assert_eq!(largest, [("source", 2, 0), ("destination", 5, 1), ("flits", 300, 3)]);
    }

    #[test]
    fn contents_survive_their_bytes() {
        let trace = trace(&ROWS).unwrap();
        let whole = bytes(&trace);
        assert_eq!(bytes(&Trace::from_bytes(&whole).unwrap()), whole);
        assert!((0..whole.len()).all(|end| Trace::from_bytes(&whole[..end]).is_none()));
        assert!(Trace::from_bytes(&[0xff; 64]).is_none());
    }

    #[test]
    fn the_order_of_sources_in_one_cycle_makes_no_difference() {
        let mut other = ROWS;
        other.swap(1, 2);
        assert_eq!(bytes(&trace(&ROWS).unwrap()), bytes(&trace(&other).unwrap()));
    }

    #[test]
    fn what_is_no_trace_is_refused_with_its_place() {
        let error = |row: Row| trace(&[ROWS[0], ROWS[1], row]).unwrap_err().to_string();
        assert!(
            error([2, 0, 1, 1]).starts_with("packets[2].cycle = 2: expected at least 3, the cycle of the row before")
        );
        assert!(error([-1, 0, 1, 1]).starts_with("packets[2].cycle = -1: expected a cycle, 0 to 2^40"));
        assert!(error([1 << 41, 0, 1, 1]).starts_with("packets[2].cycle = 2199023255552"));
        assert!(error([5, -1, 1, 1]).starts_with("packets[2].source = -1: expected a terminal, 0 to"));
        assert!(error([5, 1, 1 << 40, 1]).starts_with("packets[2].destination = 1099511627776"));
        assert!(error([5, 1, 1, 0]).starts_with("packets[2].flits = 0: expected 1 to 65535 flits"));
        assert!(error([5, 1, 1, 65_536]).starts_with("packets[2].flits = 65536"));
        assert!(trace(&[]).unwrap_err().to_string().starts_with("packets = 0 rows: expected at least one packet"));
        let uneven = TraceColumns { cycle: &[0], source: &[0, 1], destination: &[1], flits: &[1] };
        assert!(Trace::new(&uneven).unwrap_err().to_string().contains("columns of different lengths"));
    }
}
