//! What routers tell each other about their queues, hop by hop along rows and columns.
//!
//! At the end of each cycle every router notes its credits for each output port: the places taken in the buffers at the other
//! end, over their capacity, are read from them in steps of 1/15. The board keeps the notes for as many cycles as news may be on its
//! way.

use crate::plan::Params;
use crate::routing::{Information, News};
use crate::topology::{Coords, Grid};

/// Steps of a full queue.
const FULL: u32 = 15;

/// The notes of the last cycles.
#[derive(Debug)]
pub(super) struct NewsBoard {
    news: News,
    ports: usize,
    routers: usize,
    /// Steps by places taken.
    steps: Vec<u8>,
    /// Credits of each output port at the end of the last cycles, `[cycle % depth][router][port]`.
    credits: Vec<u32>,
    /// Those of an empty queue.
    most_credits: u32,
    /// Cycles kept, minus 1.
    mask: u64,
    /// The last cycle noted, plus 1.
    noted: u64,
    sizes: Vec<u32>,
    strides: Vec<u32>,
}

impl NewsBoard {
    /// `places`: of the buffers behind an output port, as the state counts them; it may count VCs that the network does not have.
    pub fn new(grid: &Grid, p: &Params, news: News, places: u32) -> Self {
        let capacity = p.vcs as u32 * p.buffer_flits;
        let farthest = grid.sizes().iter().copied().max().unwrap_or(1);
        // A power of two, so that a remainder is a mask.
        let depth = (u64::from(farthest * news.delay_cycles) + 1).next_power_of_two();
        NewsBoard {
            news,
            ports: p.network_ports,
            routers: p.routers,
            steps: (0..=capacity).map(|taken| ((taken * FULL + capacity / 2) / capacity) as u8).collect(),
            credits: vec![places; depth as usize * p.routers * p.network_ports],
            most_credits: places,
            mask: depth - 1,
            noted: 0,
            sizes: grid.sizes().to_vec(),
            strides: (0..grid.dims()).map(|d| grid.sizes()[..d].iter().product()).collect(),
        }
    }

    /// The end of cycle `now`: the place for the credits of every network output port, `[router][port]`.
    pub fn open(&mut self, now: u64) -> &mut [u32] {
        let row = self.routers * self.ports;
        // Cycles that were skipped: the network was empty.
        for cycle in self.noted.max(now.saturating_sub(self.mask + 1))..now {
            let first = (cycle & self.mask) as usize * row;
            self.credits[first..first + row].fill(self.most_credits);
        }
        self.noted = now + 1;
        let first = (now & self.mask) as usize * row;
        &mut self.credits[first..first + row]
    }

    /// What is known in cycle `now` of an output port that is `hops` away.
    fn note(&self, router: u32, port: usize, hops: u32, now: u64) -> u32 {
        let age = u64::from(hops * self.news.delay_cycles) + 1;
        if age > now {
            return 0;
        }
        let row = ((now - age) & self.mask) as usize * self.routers;
        let credits = self.credits[(row + router as usize) * self.ports + port];
        u32::from(self.steps[(self.most_credits - credits) as usize])
    }

    /// Of `ports`, the one with the smallest mean queue over the routers that a packet from `at` to `to` would pass in its
    /// dimension; ties to the larger remaining distance, then to the lower port.
    pub fn best_port(&self, me: usize, at: &Coords, to: &Coords, ports: u16, now: u64) -> usize {
        // (sum, routers, distance, port) of the best so far.
        let mut best: Option<(u32, u32, u32, usize)> = None;
        for port in (0..self.ports).filter(|&q| ports >> q & 1 == 1) {
            let distance = self.distance(at, to, port);
            let routers = if self.news.information == Information::Cross { distance } else { 1 };
            let sum = self.sum(me as u32, at, port, routers, now);
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

    /// Sum of the notes of `port` at `routers` routers, from `me` on in its direction.
    fn sum(&self, me: u32, at: &Coords, port: usize, routers: u32, now: u64) -> u32 {
        let d = port / 2;
        let (plus, last, stride) = (port.is_multiple_of(2), self.sizes[d] - 1, self.strides[d]);
        let (mut router, mut c, mut sum) = (me, at[d], 0);
        for hops in 0..routers {
            sum += self.note(router, port, hops, now);
            (router, c) = match plus {
                true if c == last => (router - last * stride, 0),
                true => (router + stride, c + 1),
                false if c == 0 => (router + last * stride, last),
                false => (router - stride, c - 1),
            };
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(information: Information, delay_cycles: u32) -> NewsBoard {
        let grid = Grid::torus(&[8, 8]);
        let spec = r#"{"network": {"topology": {"kind": "torus", "size": [8, 8]},
            "routing": {"kind": "cross_line"}, "router": {"vcs": 6, "buffer_flits": 10}},
            "workload": {"kind": "uniform", "offered_load": 0.1}}"#;
        let plan = crate::Plan::new(&crate::spec::from_json(spec).unwrap()).unwrap();
        NewsBoard::new(&grid, &plan.params, News { information, delay_cycles }, 60)
    }

    /// Router 3 of the first row has a full queue towards plus x; router 0 hears of it three hops later.
    #[test]
    fn news_travels_a_hop_a_cycle() {
        let mut board = board(Information::Cross, 1);
        board.open(0)[3 * 4] = 0;
        let (at, to) = ([0; 6], [4, 4, 0, 0, 0, 0]);
        for now in 1..8 {
            board.open(now).fill(60);
            let known = board.sum(0, &at, 0, 4, now) > 0;
            assert_eq!(known, now == 4, "cycle {now}");
            // Plus y is preferred exactly then.
            assert_eq!(board.best_port(0, &at, &to, 0b101, now), if known { 2 } else { 0 });
        }
    }

    #[test]
    fn local_information_ends_at_the_own_port() {
        let mut board = board(Information::Local, 0);
        board.open(0)[3 * 4] = 0;
        let at = [0; 6];
        assert_eq!(board.best_port(0, &at, &[4, 4, 0, 0, 0, 0], 0b101, 1), 0);
        assert_eq!(board.best_port(3, &[3, 0, 0, 0, 0, 0], &[7, 4, 0, 0, 0, 0], 0b101, 1), 2);
    }

    #[test]
    fn of_equal_queues_the_longer_way_goes_first() {
        let board = board(Information::Cross, 1);
        assert_eq!(board.best_port(0, &[0; 6], &[1, 3, 0, 0, 0, 0], 0b101, 1), 2);
        assert_eq!(board.best_port(0, &[0; 6], &[3, 1, 0, 0, 0, 0], 0b101, 1), 0);
    }
}
