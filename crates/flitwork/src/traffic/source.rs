//! The packets of one terminal, one after the other.
//!
//! The source queue is virtual: a packet is drawn when an injection port is free to take it, with its true creation
//! cycle, which may lie in the past. Gaps between packets are drawn directly, so a terminal costs nothing in the cycles
//! between.

use super::{Bernoulli, Destinations, Lengths, OnOff, Trace};
use crate::mix::mix;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};
use std::sync::Arc;

/// When a terminal creates packets.
#[derive(Debug, Clone, PartialEq)]
pub enum Process {
    /// All in the cycle of the start.
    AtOnce,
    /// With the same probability in each cycle.
    Bernoulli(Bernoulli),
    /// In bursts.
    OnOff(OnOff),
}

impl Process {
    /// This source with the same packets, drawn faster: for a process that many terminals share.
    pub fn shared(self) -> Self {
        match self {
            Process::Bernoulli(bernoulli) => Process::Bernoulli(bernoulli.shared()),
            other => other,
        }
    }

    /// Mean cycles from one packet to the next.
    pub fn mean_gap_cycles(&self) -> f64 {
        match self {
            Process::AtOnce => 0.0,
            Process::Bernoulli(bernoulli) => bernoulli.mean_gap_cycles(),
            Process::OnOff(on_off) => on_off.mean_gap_cycles(),
        }
    }

    /// Variance of the number of packets created in a long time, over that number.
    pub fn dispersion(&self) -> f64 {
        match self {
            Process::AtOnce => 0.0,
            Process::Bernoulli(bernoulli) => 1.0 - 1.0 / bernoulli.mean_gap_cycles(),
            Process::OnOff(on_off) => on_off.dispersion(),
        }
    }

    /// Cycles from the start to the first packet.
    fn first(&self, rng: &mut Pcg64Mcg) -> u64 {
        match self {
            Process::AtOnce => 0,
            Process::Bernoulli(bernoulli) => bernoulli.first(rng),
            Process::OnOff(on_off) => on_off.first(rng),
        }
    }

    /// Cycles from one packet to the next.
    #[inline(always)]
    fn gap(&self, rng: &mut Pcg64Mcg) -> u64 {
        match self {
            Process::Bernoulli(bernoulli) => bernoulli.gap(rng),
            Process::OnOff(on_off) => on_off.gap(rng),
            Process::AtOnce => 0,
        }
    }
}

/// When all terminals create packets.
#[derive(Debug, Clone, PartialEq)]
pub enum Processes {
    /// All by the same process.
    Alike(Process),
    /// Each by one of its own.
    Each(Vec<Process>),
}

impl Processes {
    /// The process of a terminal.
    #[inline]
    pub fn of(&self, terminal: u32) -> &Process {
        match self {
            Processes::Alike(process) => process,
            Processes::Each(processes) => &processes[terminal as usize],
        }
    }
}

/// What the terminals create.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    /// Which packets.
    pub packets: Packets,
    /// Seed of all random choices.
    pub seed: u64,
    /// First cycle in which a packet may be created \[cycles].
    pub start: u64,
}

/// Which packets terminals create.
#[derive(Debug, Clone, PartialEq)]
pub enum Packets {
    /// They are drawn, one after the other.
    Drawn(Drawn),
    /// They are given.
    Given(Arc<Trace>),
}

/// Packets that are drawn: where to, how long, when, how many.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// Where packets go.
    pub destinations: Destinations,
    /// How long they are.
    pub lengths: Lengths,
    /// When they are created.
    pub process: Processes,
    /// Packets of each terminal; `None`: without end. With an end, a terminal that a permutation or matrix lets send to
    /// itself alone sends none.
    pub limit: Option<u64>,
}

impl Drawn {
    /// How many packets `terminal` creates; `u64::MAX`: without end.
    pub fn packets_of(&self, terminal: u32) -> u64 {
        let silent = match &self.destinations {
            Destinations::Fixed(to) => self.limit.is_some() && to[terminal as usize] == terminal,
            Destinations::Matrix(matrix) => matrix.is_silent(terminal, self.limit.is_some()),
            Destinations::Uniform { .. } | Destinations::Weighted { .. } => false,
        };
        if silent { 0 } else { self.limit.unwrap_or(u64::MAX) }
    }
}

impl Traffic {
    /// The seed of a background with a workload of seed `seed`: their random numbers have nothing to do with each
    /// other.
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
        match &self.packets {
            Packets::Drawn(drawn) => drawn.packets_of(terminal),
            Packets::Given(trace) => trace.packets_of(terminal),
        }
    }

    /// Packets of all terminals; `None`: without end.
    pub fn count(&self, terminals: u32) -> Option<u64> {
        match &self.packets {
            Packets::Drawn(drawn) => drawn.limit.map(|_| (0..terminals).map(|t| drawn.packets_of(t)).sum()),
            Packets::Given(trace) => Some(trace.packets() as u64),
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
    /// Length \[flits].
    pub flits: u32,
    /// Random bits for ties.
    pub tie_bits: u8,
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
        let mut rng = terminal_rng(traffic.seed, u64::from(terminal));
        let left = traffic.packets_of(terminal);
        let wait = match &traffic.packets {
            _ if left == 0 => return Source { rng, next: u64::MAX, left },
            Packets::Drawn(drawn) => drawn.process.of(terminal).first(&mut rng),
            Packets::Given(trace) => trace.with_left(terminal, left).cycle,
        };
        Source { rng, next: traffic.start + wait, left }
    }

    /// Creation cycle of the next packet; [`u64::MAX`]: there is none.
    #[inline]
    pub fn next_creation(&self) -> u64 {
        self.next
    }

    /// No more packets come.
    pub fn close(&mut self) {
        (self.next, self.left) = (u64::MAX, 0);
    }

    /// Draws the next packet, and moves on to the one after it.
    #[inline(always)]
    pub fn draw(&mut self, traffic: &Traffic, terminal: u32, terminals: u32) -> Created {
        let (cycle, bits) = (self.next, self.rng.next_u64());
        self.left -= 1;
        let (dst, flits) = match &traffic.packets {
            Packets::Drawn(drawn) => {
                let dst = drawn.destinations.draw(terminal, terminals, bits >> 8);
                let flits = drawn.lengths.draw(&mut self.rng);
                self.next += drawn.process.of(terminal).gap(&mut self.rng);
                (dst, flits)
            }
            Packets::Given(trace) => {
                let given = trace.with_left(terminal, self.left + 1);
                if self.left > 0 {
                    self.next = traffic.start + trace.with_left(terminal, self.left).cycle;
                }
                (given.dst, given.flits)
            }
        };
        if self.left == 0 {
            self.next = u64::MAX;
        }
        Created { cycle, dst, flits, tie_bits: bits as u8 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::TraceColumns;

    fn traffic(destinations: Destinations, process: Process, limit: Option<u64>) -> Traffic {
        let process = Processes::Alike(process);
        let drawn = Drawn { destinations, lengths: Lengths::Fixed(1), process, limit };
        Traffic { packets: Packets::Drawn(drawn), seed: 7, start: 5 }
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
    fn a_trace_is_created_as_it_is_given() {
        let columns = TraceColumns {
            cycle: &[0, 3, 3, 9],
            source: &[2, 0, 2, 0],
            destination: &[1, 2, 0, 2],
            flits: &[4, 1, 2, 300],
        };
        let packets = Packets::Given(Arc::new(Trace::new(&columns).unwrap()));
        let traffic = Traffic { packets, seed: 7, start: 5 };
        let of = |terminal| traffic.packets(terminal, 4).map(|p| (p.cycle, p.dst, p.flits)).collect::<Vec<_>>();
        assert_eq!(of(0), [(8, 2, 1), (14, 2, 300)]);
        assert_eq!((of(1), of(2), of(3)), (vec![], vec![(5, 1, 4), (8, 0, 2)], vec![]));
        assert_eq!(traffic.count(4), Some(4));
    }

    #[test]
    fn terminals_have_streams_of_their_own() {
        let mut a = terminal_rng(1, 0);
        let mut b = terminal_rng(1, 1);
        assert_ne!(a.next_u64(), b.next_u64());
    }
}
