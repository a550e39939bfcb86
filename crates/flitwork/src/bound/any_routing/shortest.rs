//! Demands on their shortest routes.

use super::{Channels, Demands, Distances, FAR};
use std::collections::BTreeMap;

/// What the channels carry if everything takes the shortest routes.
pub(super) struct Shortest {
    distances: Distances,
    /// What each channel carries.
    flits: Vec<f64>,
    /// What passes each router from the source at hand, or ends there.
    through: Vec<f64>,
}

impl Shortest {
    pub fn new(channels: &Channels) -> Self {
        let (flits, through) = (vec![0.0; channels.len()], vec![0.0; channels.into.len()]);
        Shortest { distances: Distances::new(channels), flits, through }
    }

    /// Routes the demands of some sources: demands times distances.
    pub fn route(&mut self, channels: &Channels, lengths: &[u64], sources: &[u32], demands: &Demands) -> u128 {
        self.flits.fill(0.0);
        let mut sum = 0;
        for &from in sources {
            let to = &demands.to[from as usize];
            self.distances.measure(channels, lengths, from);
            sum += self.distances.of(to);
            self.spread(channels, lengths, from, to);
        }
        sum
    }

    /// The channels that were used, and what each carries.
    pub fn loaded(&self) -> Vec<(u32, f64)> {
        (0u32..).zip(&self.flits).filter(|(_, flits)| **flits > 0.0).map(|(channel, &flits)| (channel, flits)).collect()
    }

    /// Sends what goes from one router back along all channels that end a shortest route, the farthest router first.
    fn spread(&mut self, channels: &Channels, lengths: &[u64], from: u32, to: &BTreeMap<u32, u64>) {
        self.through.fill(0.0);
        to.iter().for_each(|(&to, &amount)| self.through[to as usize] = amount as f64);
        let distances = &self.distances.to;
        for &router in self.distances.reached.iter().rev() {
            let passes = self.through[router as usize];
            if passes == 0.0 || router == from {
                continue;
            }
            let ends_a_shortest = |channel: &&u32| {
                let channel = **channel as usize;
                let before = distances[channels.ends[channel].0 as usize];
                before != FAR && before + lengths[channel] == distances[router as usize]
            };
            let into = &channels.into[router as usize];
            let part = passes / into.iter().filter(ends_a_shortest).count() as f64;
            for &channel in into.iter().filter(ends_a_shortest) {
                self.flits[channel as usize] += part;
                self.through[channels.ends[channel as usize].0 as usize] += part;
            }
        }
    }
}
