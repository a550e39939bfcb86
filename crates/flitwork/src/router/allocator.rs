//! Allocators: matchings between rows (requesters) and columns (resources), for any kind of allocator and arbiter.
//!
//! Requests are a short list, not a matrix: few of the rows ask in any cycle. iSLIP is the output-first separable
//! allocator with round-robin arbiters, several iterations, and no regard to priorities but [`YIELDS`], so the two
//! share their code. A wavefront grants in the order (priority, distance of the diagonal): requests of one diagonal
//! cannot conflict, so sorting and taking greedily is the same sweep.

use super::arbiter::ArbiterBank;
use super::options::{AllocatorKind, AllocatorSpec};

/// In a priority: the request yields to all that do not, whatever the allocator.
pub(crate) const YIELDS: u128 = 1 << 126;

/// One request. The smaller `priority` and `preference`, the better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    pub row: u16,
    pub col: u16,
    /// Compared with those of other rows for the column.
    pub priority: u128,
    /// Compared with those of the same row for other columns.
    pub preference: u8,
}

/// The allocators of all routers of a network.
#[derive(Debug)]
pub(crate) struct Allocator {
    kind: AllocatorKind,
    iterations: u32,
    rows: usize,
    cols: usize,
    /// One arbiter a row of each router, over columns.
    row_arbiters: ArbiterBank,
    /// One arbiter a column of each router, over rows.
    col_arbiters: ArbiterBank,
    /// First diagonal of each router's wavefront.
    diagonals: Vec<u16>,
    scratch: Scratch,
}

/// Working memory of one call, kept to avoid allocation.
#[derive(Debug, Default)]
struct Scratch {
    /// Requests still possible.
    open: Vec<Request>,
    /// Requests picked by the first stage.
    picked: Vec<Request>,
    /// Requests picked by the second stage.
    matched: Vec<Request>,
    /// Index + 1 of the best request of each row or column, 0 for none.
    best: Vec<u16>,
}

/// Which side of the matrix picks.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Row,
    Col,
}

impl Allocator {
    /// Allocators of `rows` × `cols` for `routers` routers.
    pub fn new(spec: &AllocatorSpec, routers: usize, rows: usize, cols: usize) -> Self {
        let separable = spec.kind != AllocatorKind::Wavefront;
        let banks = |groups: usize, members: usize| {
            ArbiterBank::new(spec.arbiter, if separable { routers * groups } else { 0 }, members)
        };
        let most = rows * cols.min(1024);
        Allocator {
            kind: spec.kind,
            iterations: spec.iterations.0,
            rows,
            cols,
            row_arbiters: banks(rows, cols),
            col_arbiters: banks(cols, rows),
            diagonals: vec![0; if separable { 0 } else { routers }],
            scratch: Scratch {
                open: Vec::with_capacity(most),
                picked: Vec::with_capacity(rows.max(cols)),
                matched: Vec::with_capacity(rows.max(cols)),
                best: vec![0; rows.max(cols)],
            },
        }
    }

    /// Matches the requests of `router`; grants are added to `grants`. At most one request a (row, column).
    pub fn allocate(&mut self, router: usize, requests: &[Request], grants: &mut Vec<(u16, u16)>) {
        match requests {
            [] => return,
            // Nobody contends with it, whatever the allocator.
            &[Request { row, col, .. }] => {
                self.serve(router, row, col);
                return grants.push((row, col));
            }
            _ => {}
        }
        match self.kind {
            AllocatorKind::Wavefront => self.wavefront(router, requests, grants),
            AllocatorKind::SeparableInputFirst => self.separable(router, requests, Side::Row, true, grants),
            AllocatorKind::SeparableOutputFirst => self.separable(router, requests, Side::Col, true, grants),
            AllocatorKind::Islip => self.separable(router, requests, Side::Col, false, grants),
        }
    }

    /// The only request of a router in a cycle is granted: what remembers who was served learns of it.
    pub fn serve(&mut self, router: usize, row: u16, col: u16) {
        if let Some(diagonal) = self.diagonals.get_mut(router) {
            *diagonal = ((usize::from(*diagonal) + 1) % self.rows.max(self.cols)) as u16;
        } else {
            self.row_arbiters.serve(router * self.rows + row as usize, col);
            self.col_arbiters.serve(router * self.cols + col as usize, row);
        }
    }

    fn separable(
        &mut self,
        router: usize,
        requests: &[Request],
        first: Side,
        priorities: bool,
        grants: &mut Vec<(u16, u16)>,
    ) {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.open.clear();
        scratch.open.extend_from_slice(requests);
        let second = if first == Side::Row { Side::Col } else { Side::Row };
        for iteration in 0..self.iterations {
            self.pick(router, first, priorities, &scratch.open, &mut scratch.best, &mut scratch.picked);
            self.pick(router, second, priorities, &scratch.picked, &mut scratch.best, &mut scratch.matched);
            if scratch.matched.is_empty() {
                break;
            }
            for m in &scratch.matched {
                if iteration == 0 {
                    self.row_arbiters.serve(router * self.rows + m.row as usize, m.col);
                    self.col_arbiters.serve(router * self.cols + m.col as usize, m.row);
                }
                grants.push((m.row, m.col));
                if self.iterations > 1 {
                    scratch.open.retain(|r| r.row != m.row && r.col != m.col);
                }
            }
        }
        self.scratch = scratch;
    }

    /// Each row (or column) picks the best of its requests.
    fn pick(
        &self,
        router: usize,
        side: Side,
        priorities: bool,
        requests: &[Request],
        best: &mut [u16],
        picked: &mut Vec<Request>,
    ) {
        picked.clear();
        let group = |r: &Request| if side == Side::Row { r.row as usize } else { r.col as usize };
        let cost = |r: &Request| {
            let rank = match side {
                Side::Row => self.row_arbiters.rank(router * self.rows + r.row as usize, r.col),
                Side::Col => self.col_arbiters.rank(router * self.cols + r.col as usize, r.row),
            };
            let preference = if side == Side::Row { r.preference } else { 0 };
            if priorities { (preference, r.priority, rank) } else { (0, r.priority & YIELDS, rank) }
        };
        for r in requests {
            let g = group(r);
            if best[g] == 0 {
                picked.push(*r);
                best[g] = picked.len() as u16;
            } else {
                let other = &mut picked[best[g] as usize - 1];
                if cost(r) < cost(other) {
                    *other = *r;
                }
            }
        }
        for p in picked.iter() {
            best[group(p)] = 0;
        }
    }

    fn wavefront(&mut self, router: usize, requests: &[Request], grants: &mut Vec<(u16, u16)>) {
        let size = self.rows.max(self.cols);
        let start = self.diagonals[router] as usize;
        let open = &mut self.scratch.open;
        open.clear();
        open.extend_from_slice(requests);
        open.sort_unstable_by_key(|r| {
            let distance = ((r.row as usize + r.col as usize) % size + size - start) % size;
            (r.priority, r.preference, distance, r.row)
        });
        let first_grant = grants.len();
        for r in open.iter() {
            if !grants[first_grant..].iter().any(|&(row, col)| row == r.row || col == r.col) {
                grants.push((r.row, r.col));
            }
        }
        self.diagonals[router] = ((start + 1) % size) as u16;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ArbiterKind, IterationCount};
    use super::*;

    const KINDS: [AllocatorKind; 4] = [
        AllocatorKind::Islip,
        AllocatorKind::SeparableInputFirst,
        AllocatorKind::SeparableOutputFirst,
        AllocatorKind::Wavefront,
    ];

    fn spec(kind: AllocatorKind, iterations: u32, arbiter: ArbiterKind) -> AllocatorSpec {
        AllocatorSpec { kind, iterations: IterationCount(iterations), arbiter }
    }

    fn dense(rows: u16, cols: u16, wanted: impl Fn(u16, u16) -> bool) -> Vec<Request> {
        let cells = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col)));
        cells
            .filter(|&(r, c)| wanted(r, c))
            .map(|(row, col)| Request { row, col, priority: 0, preference: 0 })
            .collect()
    }

    /// Every allocator, every size up to 9 × 9: grants are requests, and a matching; some request is granted.
    #[test]
    fn grants_are_a_matching_within_the_requests() {
        for kind in KINDS {
            for &arbiter in ArbiterKind::ALL {
                for (rows, cols) in (1..=9).flat_map(|r| (1..=9).map(move |c| (r, c))) {
                    let mut allocator = Allocator::new(&spec(kind, 1, arbiter), 1, rows as usize, cols as usize);
                    let mut state = 12345u32;
                    for _ in 0..20 {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        let bits = state;
                        let requests = dense(rows, cols, |r, c| bits >> ((r * 7 + c * 3) % 31) & 1 == 1);
                        let mut grants = Vec::new();
                        allocator.allocate(0, &requests, &mut grants);
                        assert_eq!(grants.is_empty(), requests.is_empty());
                        for (i, g) in grants.iter().enumerate() {
                            assert!(requests.iter().any(|r| (r.row, r.col) == *g));
                            assert!(grants[..i].iter().all(|h| h.0 != g.0 && h.1 != g.1));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_wavefront_is_maximal() {
        let mut allocator = Allocator::new(&spec(AllocatorKind::Wavefront, 1, ArbiterKind::RoundRobin), 1, 6, 6);
        let requests = dense(6, 6, |r, c| (r * c + r) % 3 != 1);
        let mut grants = Vec::new();
        allocator.allocate(0, &requests, &mut grants);
        for r in &requests {
            assert!(grants.iter().any(|g| g.0 == r.row || g.1 == r.col));
        }
    }

    /// With every row asking for every column, iSLIP's pointers drift apart until all are matched (McKeown 1999).
    #[test]
    fn islip_desynchronises_to_a_full_matching() {
        let mut allocator = Allocator::new(&spec(AllocatorKind::Islip, 1, ArbiterKind::RoundRobin), 1, 5, 5);
        let requests = dense(5, 5, |_, _| true);
        let sizes: Vec<usize> = (0..8)
            .map(|_| {
                let mut grants = Vec::new();
                allocator.allocate(0, &requests, &mut grants);
                grants.len()
            })
            .collect();
        assert_eq!(sizes, [1, 2, 3, 4, 5, 5, 5, 5]);
    }

    #[test]
    fn more_iterations_match_more() {
        let mut allocator = Allocator::new(&spec(AllocatorKind::Islip, 4, ArbiterKind::RoundRobin), 1, 5, 5);
        let mut grants = Vec::new();
        allocator.allocate(0, &dense(5, 5, |_, _| true), &mut grants);
        assert_eq!(grants.len(), 4);
    }

    #[test]
    fn the_better_priority_wins_except_under_islip() {
        for kind in KINDS {
            let mut allocator = Allocator::new(&spec(kind, 1, ArbiterKind::RoundRobin), 1, 2, 1);
            let requests = [
                Request { row: 0, col: 0, priority: 9, preference: 0 },
                Request { row: 1, col: 0, priority: 3, preference: 0 },
            ];
            let mut grants = Vec::new();
            allocator.allocate(0, &requests, &mut grants);
            assert_eq!(grants, [(if kind == AllocatorKind::Islip { 0 } else { 1 }, 0)]);
        }
    }
}
