//! Bernoulli injection.
//!
//! Each terminal flips a coin each cycle and, on heads, creates one packet for a destination of the pattern. The gaps between
//! heads are geometric, so they are drawn directly: a terminal costs nothing in the cycles between. The source queue is
//! virtual: a packet is drawn when a controller is free to take it, with its true creation cycle, which may lie in the past.

use super::Destinations;
use crate::mix::mix;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// Traffic of one pattern, injected by a Bernoulli process.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenLoop {
    /// Packet length [flits].
    pub packet_flits: u32,
    /// Probability that a terminal creates a packet in a cycle.
    pub packets_per_cycle: f64,
    /// Where packets go.
    pub destinations: Destinations,
    /// 1 / ln(1 - packets_per_cycle): turns the logarithm of a uniform number into a geometric gap.
    gap_scale: f64,
}

impl OpenLoop {
    /// Traffic of `packets_per_cycle` packets (more than 0, at most 1) of `packet_flits` flits a terminal and cycle.
    pub fn new(packet_flits: u32, packets_per_cycle: f64, destinations: Destinations) -> Self {
        let gap_scale = 1.0 / libm::log1p(-packets_per_cycle);
        OpenLoop { packet_flits, packets_per_cycle, destinations, gap_scale }
    }
}

/// The random stream of one terminal: independent of all others, so that no visiting order can mix them.
pub(crate) fn terminal_rng(seed: u64, terminal: u64) -> Pcg64Mcg {
    let mut state = [0; 16];
    state[..8].copy_from_slice(&mix(seed).to_le_bytes());
    state[8..].copy_from_slice(&mix(mix(seed) ^ terminal).to_le_bytes());
    Pcg64Mcg::from_seed(state)
}

/// The packets of one terminal, drawn one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    rng: Pcg64Mcg,
    /// Creation cycle of the next packet.
    next: u64,
}

impl Source {
    pub fn new(traffic: &OpenLoop, seed: u64, terminal: u64) -> Self {
        let mut source = Source { rng: terminal_rng(seed, terminal), next: 0 };
        // The first head may fall in cycle 0: a gap counts from the cycle before.
        source.next = source.gap(traffic) - 1;
        source
    }

    /// Creation cycle of the next packet.
    pub fn next_creation(&self) -> u64 {
        self.next
    }

    /// Draws the next packet's destination and random bits for ties, and moves on to the packet after it.
    pub fn draw(&mut self, traffic: &OpenLoop, terminal: u32, terminals: u32) -> (u32, u8) {
        let bits = self.rng.next_u64();
        let dst = traffic.destinations.draw(terminal, terminals, bits >> 8);
        self.next += self.gap(traffic);
        (dst, bits as u8)
    }

    /// Cycles from one packet to the next: geometric, at least 1.
    fn gap(&mut self, traffic: &OpenLoop) -> u64 {
        if traffic.packets_per_cycle >= 1.0 {
            return 1;
        }
        // Uniform in (0, 1].
        let u = ((self.rng.next_u64() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64);
        1 + (libm::log(u) * traffic.gap_scale).min(1e15) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_rate_is_the_offered_load_and_destinations_are_uniform() {
        let traffic = OpenLoop::new(1, 0.2, Destinations::Uniform { include_self: false });
        let mut source = Source::new(&traffic, 7, 3);
        let mut counts = [0u32; 8];
        let packets = 100_000;
        for _ in 0..packets {
            counts[source.draw(&traffic, 3, 8).0 as usize] += 1;
        }
        assert_eq!(counts[3], 0);
        let mean = f64::from(packets) / source.next_creation() as f64;
        // Standard error 0.2 * sqrt(0.8 / 100,000) = 0.0006.
        assert!((mean - 0.2).abs() < 0.003, "{mean}");
        let expected = f64::from(packets) / 7.0;
        assert!(
            counts.iter().enumerate().all(|(i, &c)| i == 3 || (f64::from(c) - expected).abs() < 5.0 * expected.sqrt())
        );
    }

    #[test]
    fn a_load_of_one_packet_a_cycle_never_pauses() {
        let traffic = OpenLoop::new(1, 1.0, Destinations::Uniform { include_self: true });
        let mut source = Source::new(&traffic, 7, 3);
        for cycle in 0..100 {
            assert_eq!(source.next_creation(), cycle);
            source.draw(&traffic, 3, 8);
        }
    }

    #[test]
    fn terminals_have_streams_of_their_own() {
        let mut a = terminal_rng(1, 0);
        let mut b = terminal_rng(1, 1);
        assert_ne!(a.next_u64(), b.next_u64());
    }
}
