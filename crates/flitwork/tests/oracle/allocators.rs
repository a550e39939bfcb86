//! Allocators and arbiters on plain matrices: the section "Allocators and arbiters" of docs/model.md.

use flitwork::spec::{AllocatorKind, AllocatorSpec, ArbiterKind};
use std::collections::BTreeSet;

/// Smaller is better: speculative or not, then the key of the arbiter (zeros where it has none).
pub type Priority = (bool, [u64; 3]);

/// `requests[row][column]` is the priority of a request, where there is one.
pub type Requests = Vec<Vec<Option<Priority>>>;

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
    fn pick(&self, candidates: &[(usize, Priority)]) -> Option<usize> {
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

    /// A matrix without any request.
    pub fn no_requests(&self) -> Requests {
        vec![vec![None; self.columns]; self.rows]
    }

    /// The matching of this cycle.
    pub fn allocate(&mut self, requests: &Requests) -> Matching {
        if requests.iter().flatten().all(Option::is_none) {
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
            // granted[column] = the row it grants.
            let granted: Vec<Option<usize>> = (0..self.columns)
                .map(|c| {
                    let pointer = self.column_arbiters[c].pointer;
                    cyclic(pointer, self.rows).find(|&r| column_free(c) && row_free(r) && requests[r][c].is_some())
                })
                .collect();
            let accepted: Matching = (0..self.rows)
                .filter_map(|r| {
                    let pointer = self.row_arbiters[r].pointer;
                    cyclic(pointer, self.columns).find(|&c| granted[c] == Some(r)).map(|c| (r, c))
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
        let picked: Vec<Option<usize>> = (0..self.rows)
            .map(|r| {
                let candidates: Vec<_> = (0..self.columns).filter_map(|c| requests[r][c].map(|p| (c, p))).collect();
                self.row_arbiters[r].pick(&candidates)
            })
            .collect();
        let mut matching = Vec::new();
        for (c, arbiter) in self.column_arbiters.iter().enumerate() {
            let candidates: Vec<_> =
                (0..self.rows).filter(|&r| picked[r] == Some(c)).map(|r| (r, requests[r][c].unwrap())).collect();
            if let Some(r) = arbiter.pick(&candidates) {
                matching.push((r, c));
            }
        }
        self.serve(&matching);
        matching
    }

    fn output_first(&mut self, requests: &Requests) -> Matching {
        let picked: Vec<Option<usize>> = (0..self.columns)
            .map(|c| {
                let candidates: Vec<_> = (0..self.rows).filter_map(|r| requests[r][c].map(|p| (r, p))).collect();
                self.column_arbiters[c].pick(&candidates)
            })
            .collect();
        let mut matching = Vec::new();
        for (r, arbiter) in self.row_arbiters.iter().enumerate() {
            let candidates: Vec<_> =
                (0..self.columns).filter(|&c| picked[c] == Some(r)).map(|c| (c, requests[r][c].unwrap())).collect();
            if let Some(c) = arbiter.pick(&candidates) {
                matching.push((r, c));
            }
        }
        self.serve(&matching);
        matching
    }

    fn serve(&mut self, matching: &Matching) {
        for &(r, c) in matching {
            self.row_arbiters[r].served(c);
            self.column_arbiters[c].served(r);
        }
    }

    fn wavefront(&mut self, requests: &Requests) -> Matching {
        let size = self.rows.max(self.columns);
        let list: Vec<(usize, usize, Priority)> = requests
            .iter()
            .enumerate()
            .flat_map(|(r, row)| row.iter().enumerate().filter_map(move |(c, request)| request.map(|p| (r, c, p))))
            .collect();
        let classes: BTreeSet<Priority> = list.iter().map(|request| request.2).collect();
        let mut matching: Matching = Vec::new();
        for class in classes {
            for p in 0..size {
                for &(r, c, priority) in &list {
                    let on_diagonal = (r + c) % size == (self.diagonal + p) % size;
                    let both_free = matching.iter().all(|m| m.0 != r && m.1 != c);
                    if on_diagonal && priority == class && both_free {
                        matching.push((r, c));
                    }
                }
            }
        }
        self.diagonal = (self.diagonal + 1) % size;
        matching
    }
}

/// `first, first + 1, ...`, all `size` indices once.
fn cyclic(first: usize, size: usize) -> impl Iterator<Item = usize> {
    (0..size).map(move |i| (first + i) % size)
}
