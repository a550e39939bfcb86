//! Congestion information: what routers report about their queues, hop by hop along rows and columns.
//!
//! At the end of each cycle every router notes its queue behind each output port: the places taken in the buffers at
//! the other end, over their capacity, in steps of 1/15. A packet compares the sums of the notes along its routes, each
//! note as old as the information takes to come from there.
//!
//! Neither notes nor sums are taken anew each time. A place counts as taken when a flit leaves for it and as free when
//! its credit comes back. Where information takes time, the board holds running sums,
//! `sum(t, r) = note(t, r) + sum(t - delay, next(r))`. The sum of `n` notes from router `r` on is then
//! `sum(t, r) - sum(t - n delay, n hops behind r)`: what both have in common cancels, also round a ring, and also where
//! they overflow.

use crate::plan::Params;
use crate::routing::{CongestionSpread, Information};
use crate::topology::{Coords, Grid};
use crate::transit::{FlitArrival, Layout, NONE};
use crate::unchecked::{at, at_mut};

/// Steps of a full queue.
const FULL: u32 = 15;

/// The queue notes of the last cycles.
#[derive(Debug)]
pub(crate) struct CongestionBoard {
    spread: CongestionSpread,
    routers: usize,
    /// VCs of a port in the state's numbering: `vc / vcs` is the number of a port in the network.
    vcs: u32,
    /// By number of a port, the place on the board (`port * routers + router`) of the channel that leaves by this
    /// output port, and of the one that arrives at this input port. [`NONE`] where there is none.
    leaving: Vec<u32>,
    arriving: Vec<u32>,
    /// Places taken behind each output port, and the note of it now, by place on the board.
    taken: Vec<u32>,
    notes: Vec<u32>,
    /// Steps by places taken.
    steps: Vec<u8>,
    /// The last cycles, `[cycle % depth][port][router]`: running sums, or notes where all information has the same age.
    board: Vec<u32>,
    sums: bool,
    /// Cycles kept, minus 1.
    mask: u64,
    /// The last cycle posted, plus 1.
    posted: u64,
    sizes: Vec<u32>,
    strides: Vec<u32>,
    coords: Vec<Coords>,
}

impl CongestionBoard {
    /// An empty board for a network whose VCs are numbered by `layout`.
    pub fn new(grid: &Grid, p: &Params, spread: CongestionSpread, layout: Layout) -> Self {
        let capacity = p.port_places();
        let depth = spread.cycles_kept(grid);
        let (ports, routers) = (p.network_ports, p.routers);
        let stride = layout.slots / layout.vcs;
        let mut leaving = vec![NONE; routers * stride];
        let mut arriving = leaving.clone();
        for (r, q) in (0..routers).flat_map(|r| (0..ports).map(move |q| (r, q))) {
            if let Some(n) = grid.neighbour(r as u32, q) {
                leaving[r * stride + q] = (q * routers + r) as u32;
                arriving[n as usize * stride + (q ^ 1)] = (q * routers + r) as u32;
            }
        }
        CongestionBoard {
            spread,
            routers,
            vcs: layout.vcs as u32,
            leaving,
            arriving,
            taken: vec![0; ports * routers],
            notes: vec![0; ports * routers],
            steps: (0..=capacity).map(|taken| ((taken * FULL + capacity / 2) / capacity) as u8).collect(),
            board: vec![0; depth as usize * ports * routers],
            sums: spread.information == Information::Cross && spread.delay_cycles > 0,
            mask: depth - 1,
            posted: 0,
            coords: (0..grid.routers()).map(|r| grid.coords(r)).collect(),
            sizes: grid.sizes().to_vec(),
            strides: (0..grid.dims()).map(|d| grid.sizes()[..d].iter().product()).collect(),
        }
    }

    /// Output VCs get these credits.
    pub fn credits_come(&mut self, credits: &[u32]) {
        for &vc in credits {
            let place = *at(&self.leaving, (vc / self.vcs) as usize);
            // Ejection ports have no place.
            if place != NONE {
                self.count(place, 1u32.wrapping_neg());
            }
        }
    }

    /// Routers send these flits over channels.
    pub fn flits_leave(&mut self, flits: &[FlitArrival]) {
        for flit in flits {
            self.count(*at(&self.arriving, (flit.vc / self.vcs) as usize), 1);
        }
    }

    #[inline(always)]
    fn count(&mut self, place: u32, more: u32) {
        let taken = at_mut(&mut self.taken, place as usize);
        *taken = taken.wrapping_add(more);
        *at_mut(&mut self.notes, place as usize) = u32::from(*at(&self.steps, *taken as usize));
    }

    /// Places taken behind an output port.
    #[cfg(feature = "audit")]
    pub fn taken(&self, router: usize, port: usize) -> u32 {
        self.taken[port * self.routers + router]
    }

    /// The end of cycle `now`: the notes go on the board.
    pub fn post(&mut self, now: u64) {
        // In cycles that were skipped the network was empty. After many of them all notes are 0.
        if now - self.posted > self.mask {
            self.board.fill(0);
            self.posted = now;
        }
        let places = self.notes.len();
        for cycle in self.posted..=now {
            let row = self.row(cycle);
            let row = &mut self.board[row..row + places];
            if cycle == now {
                row.copy_from_slice(&self.notes)
            } else {
                row.fill(0)
            }
            if self.sums {
                self.add_sums(cycle);
            }
        }
        self.posted = now + 1;
    }

    /// Where a cycle begins on the board; those before the first are all 0.
    fn row(&self, cycle: u64) -> usize {
        (cycle & self.mask) as usize * self.notes.len()
    }

    /// Adds to the notes of a cycle the sums of the next routers.
    fn add_sums(&mut self, cycle: u64) {
        let (new, old) = (self.row(cycle), self.row(cycle.wrapping_sub(u64::from(self.spread.delay_cycles))));
        let places = self.notes.len();
        let (before, behind) = self.board.split_at_mut(new.max(old));
        let (new, old) =
            if new > old { (&mut behind[..places], &before[old..]) } else { (&mut before[new..], &behind[..places]) };
        let by_port = new.chunks_exact_mut(self.routers).zip(old.chunks_exact(self.routers));
        for (port, (new, old)) in by_port.enumerate() {
            let stride = self.strides[port / 2] as usize;
            let line = self.sizes[port / 2] as usize * stride;
            // Distance of the next router, cyclically along the line.
            let shift = if port.is_multiple_of(2) { stride } else { line - stride };
            for (new, old) in new.chunks_exact_mut(line).zip(old.chunks_exact(line)) {
                let (front, back) = new.split_at_mut(line - shift);
                add(front, &old[shift..]);
                add(back, &old[..shift]);
            }
        }
    }

    /// The port among `ports` with the smallest mean queue over the routers that a packet from router `me` to router
    /// `to` would pass in its dimension; ties to the larger remaining distance, then to the lower port.
    pub fn best_port(&self, me: usize, to: usize, ports: u64, now: u64) -> usize {
        let (at, to) = (&self.coords[me], &self.coords[to]);
        // (sum, routers, distance, port) of the best so far.
        let mut best: Option<(u32, u32, u32, usize)> = None;
        let mut left = ports;
        while left != 0 {
            let port = left.trailing_zeros() as usize;
            left &= left - 1;
            let distance = self.distance(at, to, port);
            let (sum, routers) = match self.spread.information {
                Information::Cross => (self.sum(me, at, to, port, distance, now), distance),
                _ => (self.on_board(now.wrapping_sub(1), port, me), 1),
            };
            let better = best.is_none_or(|(s, n, far, _)| {
                let (ours, theirs) = (sum * n, s * routers);
                ours < theirs || ours == theirs && distance > far
            });
            if better {
                best = Some((sum, routers, distance, port));
            }
        }
        best.map_or(0, |(.., port)| port)
    }

    /// Hops from `at` to `to` in the dimension and direction of a port.
    fn distance(&self, at: &Coords, to: &Coords, port: usize) -> u32 {
        let d = port / 2;
        let (from, to) = if port.is_multiple_of(2) { (at[d], to[d]) } else { (to[d], at[d]) };
        if to >= from { to - from } else { to + self.sizes[d] - from }
    }

    fn on_board(&self, cycle: u64, port: usize, router: usize) -> u32 {
        self.board[self.row(cycle) + port * self.routers + router]
    }

    /// Sum of what is known in cycle `now` of `port` at the `distance` routers from `at` on until before `to`.
    fn sum(&self, me: usize, at: &Coords, to: &Coords, port: usize, distance: u32, now: u64) -> u32 {
        let (d, newest) = (port / 2, now.wrapping_sub(1));
        let stride = self.strides[d] as usize;
        if self.sums {
            let end = me - at[d] as usize * stride + to[d] as usize * stride;
            let oldest = newest.wrapping_sub(u64::from(distance * self.spread.delay_cycles));
            return self.on_board(newest, port, me).wrapping_sub(self.on_board(oldest, port, end));
        }
        let (size, first) = (self.sizes[d], me - at[d] as usize * stride);
        let step = if port.is_multiple_of(2) { 1 } else { size - 1 };
        let router = |hops: u32| first + ((at[d] + hops * step) % size) as usize * stride;
        (0..distance).map(|hops| self.on_board(newest, port, router(hops))).sum()
    }
}

/// Adds numbers to others, modulo 2^32.
fn add(sums: &mut [u32], others: &[u32]) {
    sums.iter_mut().zip(others).for_each(|(sum, &other)| *sum = sum.wrapping_add(other));
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: Layout = Layout { slots: 64, vcs: 8 };

    fn board(information: Information, delay_cycles: u32) -> CongestionBoard {
        let grid = Grid::torus(&[8, 8]);
        let spec = r#"{"network": {"topology": {"kind": "torus", "size": [8, 8]},
            "routing": {"kind": "cross_line"}, "router": {"vcs": 6, "buffer_flits": 10}},
            "workload": {"kind": "uniform", "offered_load": 0.1}}"#;
        let plan = crate::Plan::new(&crate::spec::from_json(spec).unwrap()).unwrap();
        CongestionBoard::new(&grid, &plan.params, CongestionSpread { information, delay_cycles }, LAYOUT)
    }

    /// Fills the queue of router 3 of the first row towards plus x, and empties it again.
    fn fill(board: &mut CongestionBoard, flits: usize) {
        let vc = LAYOUT.vc(4, LAYOUT.slot(1, 2)) as u32;
        board.flits_leave(&vec![FlitArrival { vc, packet: NONE }; flits]);
    }

    fn empty(board: &mut CongestionBoard, flits: usize) {
        board.credits_come(&vec![LAYOUT.vc(3, LAYOUT.slot(0, 2)) as u32; flits]);
    }

    const HERE: Coords = [0; 6];

    /// What router 0 knows of plus x as far as router 4.
    fn known(board: &CongestionBoard, now: u64) -> u32 {
        board.sum(0, &HERE, &[4, 4, 0, 0, 0, 0], 0, 4, now)
    }

    /// Router 0 hears of the full queue of router 3 three hops later.
    #[test]
    fn information_travels_a_hop_a_cycle() {
        let mut board = board(Information::Cross, 1);
        fill(&mut board, 60);
        board.post(0);
        empty(&mut board, 60);
        for now in 1..40 {
            assert_eq!(known(&board, now), if now == 4 { FULL } else { 0 }, "cycle {now}");
            // Plus y is preferred exactly then.
            let best = board.best_port(0, 36, 0b101, now);
            assert_eq!(best, if now == 4 { 2 } else { 0 });
            board.post(now);
        }
    }

    #[test]
    fn information_travels_while_cycles_are_skipped() {
        for (skipped, heard) in [(3, FULL), (100, 0)] {
            let mut board = board(Information::Cross, 1);
            fill(&mut board, 60);
            board.post(0);
            empty(&mut board, 60);
            board.post(skipped);
            // The full queue is heard of in cycle 4.
            assert_eq!(known(&board, skipped + 1), heard);
        }
    }

    #[test]
    fn information_without_delay_is_of_the_last_cycle() {
        let mut board = board(Information::Cross, 0);
        fill(&mut board, 30);
        board.post(0);
        assert_eq!(known(&board, 1), 8);
        // Round the ring from router 5 on, and past router 3 in the other direction.
        assert_eq!(board.sum(5, &[5, 0, 0, 0, 0, 0], &[4, 0, 0, 0, 0, 0], 0, 7, 1), 8);
        assert_eq!(board.sum(4, &[4, 0, 0, 0, 0, 0], &[2, 0, 0, 0, 0, 0], 1, 2, 1), 0);
    }

    #[test]
    fn local_information_ends_at_the_own_port() {
        let mut board = board(Information::Local, 0);
        fill(&mut board, 60);
        board.post(0);
        assert_eq!(board.best_port(0, 36, 0b101, 1), 0);
        assert_eq!(board.best_port(3, 39, 0b101, 1), 2);
    }

    #[test]
    fn of_equal_queues_the_longer_way_goes_first() {
        let board = board(Information::Cross, 1);
        assert_eq!(board.best_port(0, 25, 0b101, 1), 2);
        assert_eq!(board.best_port(0, 11, 0b101, 1), 0);
    }
}
