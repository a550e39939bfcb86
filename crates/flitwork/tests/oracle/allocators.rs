//! Allocators and arbiters on maps of requests: the section "Allocators and arbiters" of docs/model.md.

use flitwork::spec::{AllocatorKind, AllocatorSpec, ArbiterKind};
use std::collections::{BTreeMap, BTreeSet};

/// Smaller is better: speculative or not, whether it yields as an injection port, then the key of the arbiter (zeros
/// where it has none).
pub type Priority = (bool, bool, [u64; 3]);

/// A request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Request {
    pub priority: Priority,
    /// Whether its row prefers any that is not.
    pub last: bool,
}

/// By (row, column).
pub type Requests = BTreeMap<(usize, usize), Request>;

/// A matching: (row, column) pairs in ascending order of rows.
pub type Matching = Vec<(usize, usize)>;

/// N requesters, one winner.
struct Arbiter {
    kind: ArbiterKind,
    /// Round robin: the first candidate to look at.
    pointer: usize,
    /// Matrix: all indices, the least recently served first.
    least_recent: Vec<usize>,
}

impl Arbiter {
    fn new(kind: ArbiterKind, size: usize) -> Self {
        Arbiter { kind, pointer: 0, least_recent: (0..size).rev().collect() }
    }

    /// The winner among `(index, priority)`; changes nothing.
    fn pick<P: Ord + Copy>(&self, candidates: &[(usize, P)]) -> Option<usize> {
        let best = candidates.iter().map(|c| c.1).min()?;
        let size = self.least_recent.len();
        let order: Vec<usize> = match self.kind {
            ArbiterKind::Matrix => self.least_recent.clone(),
            _ => cyclic(self.pointer, size).collect(),
        };
        order.into_iter().find(|&index| candidates.contains(&(index, best)))
    }

    /// `winner` was served.
    fn served(&mut self, winner: usize) {
        let size = self.least_recent.len();
        self.pointer = (winner + 1) % size;
        self.least_recent.retain(|&index| index != winner);
        self.least_recent.push(winner);
    }
}

/// Matches rows to columns.
pub struct Allocator {
    kind: AllocatorKind,
    iterations: u32,
    rows: usize,
    columns: usize,
    /// Of each row, over columns (iSLIP: the accept pointers).
    row_arbiters: Vec<Arbiter>,
    /// Of each column, over rows (iSLIP: the grant pointers).
    column_arbiters: Vec<Arbiter>,
    /// Wavefront: where the next sweep starts.
    diagonal: usize,
}

impl Allocator {
    pub fn new(spec: AllocatorSpec, rows: usize, columns: usize) -> Self {
        Allocator {
            kind: spec.kind,
            iterations: spec.iterations.0,
            rows,
            columns,
            row_arbiters: (0..rows).map(|_| Arbiter::new(spec.arbiter, columns)).collect(),
            column_arbiters: (0..columns).map(|_| Arbiter::new(spec.arbiter, rows)).collect(),
            diagonal: 0,
        }
    }

    /// The matching of this cycle.
    pub fn allocate(&mut self, requests: &Requests) -> Matching {
        if requests.is_empty() {
            return Vec::new();
        }
        let mut matching = match self.kind {
            AllocatorKind::Islip => self.islip(requests),
            AllocatorKind::SeparableInputFirst => self.input_first(requests),
            AllocatorKind::SeparableOutputFirst => self.output_first(requests),
            AllocatorKind::Wavefront => self.wavefront(requests),
        };
        matching.sort_unstable();
        matching
    }

    fn islip(&mut self, requests: &Requests) -> Matching {
        let mut matching: Matching = Vec::new();
        for iteration in 1..=self.iterations {
            let row_free = |r: usize| matching.iter().all(|m| m.0 != r);
            let column_free = |c: usize| matching.iter().all(|m| m.1 != c);
            // (row, column): the row that each column grants.
            let granted: BTreeSet<(usize, usize)> = columns(requests)
                .into_iter()
                .filter(|&c| column_free(c))
                .filter_map(|c| {
                    let rows = || cyclic(self.column_arbiters[c].pointer, self.rows).filter(|&r| row_free(r));
                    let has_request =
                        |r: usize, yields: bool| requests.get(&(r, c)).is_some_and(|q| q.priority.1 == yields);
                    rows()
                        .find(|&r| has_request(r, false))
                        .or_else(|| rows().find(|&r| has_request(r, true)))
                        .map(|r| (r, c))
                })
                .collect();
            let accepted: Matching = rows(requests)
                .into_iter()
                .filter_map(|r| {
                    let mut columns = cyclic(self.row_arbiters[r].pointer, self.columns);
                    columns.find(|&c| granted.contains(&(r, c))).map(|c| (r, c))
                })
                .collect();
            if iteration == 1 {
                for &(r, c) in &accepted {
                    self.column_arbiters[c].pointer = (r + 1) % self.rows;
                    self.row_arbiters[r].pointer = (c + 1) % self.columns;
                }
            }
            matching.extend(accepted);
        }
        matching
    }

    fn input_first(&mut self, requests: &Requests) -> Matching {
        let picked = self.rows_pick(requests);
        let matching = self.columns_pick(&picked).into_keys().collect();
        self.serve(&matching);
        matching
    }

    fn output_first(&mut self, requests: &Requests) -> Matching {
        let picked = self.columns_pick(requests);
        let matching = self.rows_pick(&picked).into_keys().collect();
        self.serve(&matching);
        matching
    }

    /// Of each row, the request that its arbiter picks.
    fn rows_pick(&self, requests: &Requests) -> Requests {
        let pick = |r: usize| {
            let of_row = requests.iter().filter(|((row, _), _)| *row == r);
            let candidates: Vec<_> = of_row.map(|((_, c), q)| (*c, (q.last, q.priority))).collect();
            let c = self.row_arbiters[r].pick(&candidates).expect("it has a request");
            ((r, c), requests[&(r, c)])
        };
        rows(requests).into_iter().map(pick).collect()
    }

    /// Of each column, the request that its arbiter picks.
    fn columns_pick(&self, requests: &Requests) -> Requests {
        let pick = |c: usize| {
            let of_column = requests.iter().filter(|((_, column), _)| *column == c);
            let candidates: Vec<_> = of_column.map(|((r, _), q)| (*r, q.priority)).collect();
            let r = self.column_arbiters[c].pick(&candidates).expect("it has a request");
            ((r, c), requests[&(r, c)])
        };
        columns(requests).into_iter().map(pick).collect()
    }

    fn serve(&mut self, matching: &Matching) {
        for &(r, c) in matching {
            self.row_arbiters[r].served(c);
            self.column_arbiters[c].served(r);
        }
    }

    fn wavefront(&mut self, requests: &Requests) -> Matching {
        let size = self.rows.max(self.columns);
        let classes: BTreeSet<&Request> = requests.values().collect();
        let mut matching: Matching = Vec::new();
        for class in classes {
            for p in 0..size {
                for (&(r, c), request) in requests {
                    let on_diagonal = (r + c) % size == (self.diagonal + p) % size;
                    let both_free = matching.iter().all(|m| m.0 != r && m.1 != c);
                    if on_diagonal && request == class && both_free {
                        matching.push((r, c));
                    }
                }
            }
        }
        self.diagonal = (self.diagonal + 1) % size;
        matching
    }
}

/// The rows that request.
fn rows(requests: &Requests) -> BTreeSet<usize> {
    requests.keys().map(|&(row, _)| row).collect()
}

/// The columns that are requested.
fn columns(requests: &Requests) -> BTreeSet<usize> {
    requests.keys().map(|&(_, column)| column).collect()
}

/// `first, first + 1, ...`, all `size` indices once.
fn cyclic(first: usize, size: usize) -> impl Iterator<Item = usize> {
    (0..size).map(move |i| (first + i) % size)
}
