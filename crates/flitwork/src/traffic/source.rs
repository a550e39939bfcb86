//! The packets of one terminal, one after the other.
//!
//! The source queue is virtual: a packet is drawn when a controller is free to take it, with its true creation cycle, which may lie
//! in the past. Gaps between packets are drawn directly, so a terminal costs nothing in the cycles between.

use super::{Bernoulli, Destinations, Lengths, OnOff};
use crate::mix::mix;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// When a terminal creates packets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Process {
    /// All in the cycle of the start.
    AtOnce,
    /// With the same probability in each cycle.
    Bernoulli(Bernoulli),
    /// In bursts.
    OnOff(OnOff),
}

impl Process {
    /// Cycles from the start to the first packet.
    fn first(&self, rng: &mut Pcg64Mcg) -> u64 {
        match self {
            Process::AtOnce => 0,
            Process::Bernoulli(bernoulli) => bernoulli.first(rng),
            Process::OnOff(on_off) => on_off.first(rng),
        }
    }

    /// Cycles from one packet to the next.
    #[inline]
    fn gap(&self, rng: &mut Pcg64Mcg) -> u64 {
        match self {
            Process::Bernoulli(bernoulli) => bernoulli.gap(rng),
            Process::OnOff(on_off) => on_off.gap(rng),
            Process::AtOnce => 0,
        }
    }
}

/// What the terminals create: where to, how long, when, how much.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    /// Where packets go.
    pub destinations: Destinations,
    /// How long they are.
    pub lengths: Lengths,
    /// When they are created.
    pub process: Process,
    /// Packets of each terminal; `None`: without end. A terminal whose only destination is itself then sends none.
    pub limit: Option<u64>,
    /// Seed of all random choices.
    pub seed: u64,
    /// First cycle in which a packet may be created [cycles].
    pub start: u64,
}

impl Traffic {
    /// The seed of a background beside a workload of seed `seed`: their random numbers have nothing to do with each other.
    pub fn background_seed(seed: u64) -> u64 {
        mix(seed ^ 0x6261_636b_6772_6e64)
    }

    /// The packets of `terminal`, one of `terminals`, in the order of creation.
    pub fn packets(&self, terminal: u32, terminals: u32) -> impl Iterator<Item = Created> {
        let mut source = Source::new(self, terminal);
        std::iter::from_fn(move || (source.next_creation() < u64::MAX).then(|| source.draw(self, terminal, terminals)))
    }

    /// How many packets `terminal` creates; `u64::MAX`: without end.
    pub fn packets_of(&self, terminal: u32) -> u64 {
        match (self.limit, &self.destinations) {
            (Some(_), Destinations::Fixed(to)) if to[terminal as usize] == terminal => 0,
            (limit, _) => limit.unwrap_or(u64::MAX),
        }
    }
}

/// The random stream of one terminal: independent of all others, so that no visiting order can mix them.
pub(crate) fn terminal_rng(seed: u64, terminal: u64) -> Pcg64Mcg {
    let mut state = [0; 16];
    state[..8].copy_from_slice(&mix(seed).to_le_bytes());
    state[8..].copy_from_slice(&mix(mix(seed) ^ terminal).to_le_bytes());
    Pcg64Mcg::from_seed(state)
}

/// A packet that a terminal creates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Created {
    /// Cycle of creation.
    pub cycle: u64,
    /// Destination terminal.
    pub dst: u32,
    /// Length [flits].
    pub flits: u32,
    /// Random bits for ties.
    pub coins: u8,
}

/// The packets of one terminal, drawn one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    rng: Pcg64Mcg,
    /// Creation cycle of the next packet; [`u64::MAX`]: there is none.
    next: u64,
    /// Packets to come, the next one included.
    left: u64,
}

impl Source {
    pub fn new(traffic: &Traffic, terminal: u32) -> Self {
        let mut source = Source {
            rng: terminal_rng(traffic.seed, u64::from(terminal)),
            next: traffic.start,
            left: traffic.packets_of(terminal),
        };
        source.next += traffic.process.first(&mut source.rng);
        if source.left == 0 {
            source.next = u64::MAX;
        }
        source
    }

    /// Creation cycle of the next packet; [`u64::MAX`]: there is none.
    #[inline]
    pub fn next_creation(&self) -> u64 {
        self.next
    }

    /// Draws the next packet, and moves on to the one after it.
    pub fn draw(&mut self, traffic: &Traffic, terminal: u32, terminals: u32) -> Created {
        let (cycle, bits) = (self.next, self.rng.next_u64());
        let dst = traffic.destinations.draw(terminal, terminals, bits >> 8);
        let flits = traffic.lengths.draw(&mut self.rng);
        self.next += traffic.process.gap(&mut self.rng);
        self.left -= 1;
        if self.left == 0 {
            self.next = u64::MAX;
        }
        Created { cycle, dst, flits, coins: bits as u8 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traffic(destinations: Destinations, process: Process, limit: Option<u64>) -> Traffic {
        Traffic { destinations, lengths: Lengths::Fixed(1), process, limit, seed: 7, start: 5 }
    }

    #[test]
    fn destinations_are_uniform() {
        let uniform = Destinations::Uniform { include_self: false };
        let traffic = traffic(uniform, Process::Bernoulli(Bernoulli::new(0.2)), None);
        let mut source = Source::new(&traffic, 3);
        let mut counts = [0u32; 8];
        let packets = 100_000;
        for _ in 0..packets {
            counts[source.draw(&traffic, 3, 8).dst as usize] += 1;
        }
        assert_eq!(counts[3], 0);
        let expected = f64::from(packets) / 7.0;
        assert!(
            counts.iter().enumerate().all(|(i, &c)| i == 3 || (f64::from(c) - expected).abs() < 5.0 * expected.sqrt())
        );
    }

    #[test]
    fn a_burst_is_created_at_once_and_ends() {
        let traffic = traffic(Destinations::Fixed(vec![1, 0, 2]), Process::AtOnce, Some(3));
        let mut source = Source::new(&traffic, 0);
        for _ in 0..3 {
            assert_eq!(source.next_creation(), 5);
            assert_eq!(source.draw(&traffic, 0, 3).dst, 1);
        }
        assert_eq!(source.next_creation(), u64::MAX);
        assert_eq!(Source::new(&traffic, 2).next_creation(), u64::MAX, "terminal 2 would send to itself");
    }

    #[test]
    fn terminals_have_streams_of_their_own() {
        let mut a = terminal_rng(1, 0);
        let mut b = terminal_rng(1, 1);
        assert_ne!(a.next_u64(), b.next_u64());
    }
}
