//! What the channels need whatever routes the packets take: the maximum concurrent flow (Shahrokhi and Matula 1990).
//!
//! Each pair of routers has a demand \[flits]. A *split* sends each demand over any routes, in any parts, shortest or
//! not. The least time of the busiest channel over all splits is what no routing beats.
//!
//! **Proof.** Give each channel a length. A flit crosses channels that are together at least as long as the distance
//! from its source to its destination. A channel that starts a flit every `c` cycles carries at most `1 + (T - 1) / c`
//! flits in `T` cycles. With lengths `w * c`, `w` being the weight of a channel,
//!
//! ```text
//! sum over pairs of demand * distance  <=  T * sum of w  +  sum of w * (c - 1)
//! ```
//!
//! Any weights bound `T` from below ([`Demands::proved`], in whole numbers), and the best weights give the least `T`
//! exactly: they are the dual of the linear program. So weights are a certificate, and the distance between what they
//! prove and what a split needs is the error of both.
//!
//! The search for both is approximate and ends at a stated gap.

mod search;
mod shortest;
mod split;

use crate::topology::Fabric;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

pub use search::{AnyRouting, SearchProgress, any_routing};

/// What the routers send to each other: whole numbers of flits, or of some unit.
#[derive(Debug, Clone)]
pub struct Demands {
    /// By source router, the destination routers and what goes there.
    to: Vec<BTreeMap<u32, u64>>,
}

impl Demands {
    /// No demands yet, in a network of so many routers.
    pub fn new(routers: u32) -> Self {
        Demands { to: vec![BTreeMap::new(); routers as usize] }
    }

    /// Adds what one router sends to another. What stays at a router needs no channel.
    pub fn add(&mut self, from: u32, to: u32, amount: u64) {
        if from != to && amount > 0 {
            *self.to[from as usize].entry(to).or_default() += amount;
        }
    }

    /// The time of the channels that these weights prove: no routing needs less \[cycles, or those of a unit].
    ///
    /// A channel, in the order of [`Fabric::channels`], is as long as its weight times its cycles a flit.
    pub fn proved(&self, fabric: &Fabric, weights: &[u32]) -> f64 {
        self.proved_by(&Channels::new(fabric), weights)
    }

    fn proved_by(&self, channels: &Channels, weights: &[u32]) -> f64 {
        let lengths = channels.lengths(weights);
        let mut distances = Distances::new(channels);
        let mut sum = 0u128;
        for (from, to) in (0u32..).zip(&self.to).filter(|(_, to)| !to.is_empty()) {
            distances.measure(channels, &lengths, from);
            sum += distances.of(to);
        }
        channels.proved(sum, weights)
    }
}

/// The channels of a network by the router that they leave and by the one that they lead to.
struct Channels {
    /// Source and destination of each.
    ends: Vec<(u32, u32)>,
    cycles_per_flit: Vec<u32>,
    /// Where the channels that leave each router begin; they follow each other.
    first_out: Vec<u32>,
    /// The channels that lead to each router.
    into: Vec<Vec<u32>>,
}

impl Channels {
    fn new(fabric: &Fabric) -> Self {
        let routers = fabric.routers() as usize;
        let (mut ends, mut cycles_per_flit) = (Vec::new(), Vec::new());
        let (mut first_out, mut into) = (vec![0; routers + 1], vec![Vec::new(); routers]);
        for (router, port) in fabric.channels() {
            let (far, _) = fabric.peer(router, port).expect("a channel leads somewhere");
            into[far as usize].push(ends.len() as u32);
            ends.push((router, far));
            cycles_per_flit.push(fabric.cycles_per_flit(router, port));
            first_out[router as usize + 1] = ends.len() as u32;
        }
        for router in 0..routers {
            first_out[router + 1] = first_out[router + 1].max(first_out[router]);
        }
        Channels { ends, cycles_per_flit, first_out, into }
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn lengths(&self, weights: &[u32]) -> Vec<u64> {
        weights.iter().zip(&self.cycles_per_flit).map(|(&w, &c)| u64::from(w) * u64::from(c)).collect()
    }

    /// The time that follows from demands times distances, by the inequality above.
    fn proved(&self, demand_distances: u128, weights: &[u32]) -> f64 {
        let of = |(&weight, &cycles): (&u32, &u32)| [u64::from(weight), u64::from(weight) * u64::from(cycles - 1)];
        let both = weights.iter().zip(&self.cycles_per_flit).map(of);
        let [all, first_flits] = both.fold([0, 0], |sum, of| [sum[0] + of[0], sum[1] + of[1]]);
        let rest = demand_distances.saturating_sub(u128::from(first_flits));
        if all == 0 { 0.0 } else { rest as f64 / all as f64 }
    }

    fn leaving(&self, router: u32) -> std::ops::Range<usize> {
        self.first_out[router as usize] as usize..self.first_out[router as usize + 1] as usize
    }
}

/// How far each router is from one of them.
struct Distances {
    to: Vec<u64>,
    /// The routers that were reached, nearest first.
    reached: Vec<u32>,
    queue: BinaryHeap<Reverse<(u64, u32)>>,
}

/// The distance of a router that was not reached.
const FAR: u64 = u64::MAX;

impl Distances {
    fn new(channels: &Channels) -> Self {
        let routers = channels.into.len();
        Distances { to: vec![FAR; routers], reached: Vec::with_capacity(routers), queue: BinaryHeap::new() }
    }

    /// From this router to all others (Dijkstra).
    fn measure(&mut self, channels: &Channels, lengths: &[u64], from: u32) {
        self.to.fill(FAR);
        self.reached.clear();
        self.to[from as usize] = 0;
        self.queue.push(Reverse((0, from)));
        while let Some(Reverse((distance, router))) = self.queue.pop() {
            if distance > self.to[router as usize] {
                continue;
            }
            self.reached.push(router);
            for channel in channels.leaving(router) {
                let far = channels.ends[channel].1 as usize;
                let longer = distance + lengths[channel];
                if longer < self.to[far] {
                    self.to[far] = longer;
                    self.queue.push(Reverse((longer, far as u32)));
                }
            }
        }
    }

    /// Demands times distances. A destination that no channels lead to counts as near, which makes no bound too large.
    fn of(&self, demands: &BTreeMap<u32, u64>) -> u128 {
        let of = |(&to, &amount): (&u32, &u64)| match self.to[to as usize] {
            FAR => 0,
            distance => u128::from(distance) * u128::from(amount),
        };
        demands.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests;
