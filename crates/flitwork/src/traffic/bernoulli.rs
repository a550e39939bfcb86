//! Bernoulli injection: each terminal creates a packet in each cycle with the same probability.

use super::geometric::{Geometric, LookedUp};
use rand_pcg::Pcg64Mcg;

/// A packet in each cycle with the same probability; the gaps are geometric.
#[derive(Debug, Clone, PartialEq)]
pub struct Bernoulli {
    gap: Gap,
}

/// How a gap is drawn.
#[derive(Debug, Clone, PartialEq)]
enum Gap {
    Computed(Geometric),
    LookedUp(LookedUp),
}

impl Bernoulli {
    /// `packets_per_cycle`: probability that a terminal creates a packet in a cycle, more than 0 and at most 1.
    pub fn new(packets_per_cycle: f64) -> Self {
        Bernoulli { gap: Gap::Computed(Geometric::new(packets_per_cycle)) }
    }

    /// This process with the same packets, drawn faster: for one that many terminals share.
    pub fn shared(self) -> Self {
        match self.gap {
            Gap::Computed(gap) => Bernoulli { gap: Gap::LookedUp(gap.with_table()) },
            Gap::LookedUp(_) => self,
        }
    }

    /// Mean gap between packets \[cycles].
    pub fn mean_gap_cycles(&self) -> f64 {
        match &self.gap {
            Gap::Computed(gap) => gap.mean(),
            Gap::LookedUp(gap) => gap.mean(),
        }
    }

    /// Cycles from the start to the first packet, which may come in the cycle of the start.
    pub(super) fn first(&self, rng: &mut Pcg64Mcg) -> u64 {
        self.gap(rng) - 1
    }

    /// Cycles from one packet to the next, at least 1.
    #[inline(always)]
    pub(super) fn gap(&self, rng: &mut Pcg64Mcg) -> u64 {
        match &self.gap {
            Gap::Computed(gap) => gap.draw(rng),
            Gap::LookedUp(gap) => gap.draw(rng),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::terminal_rng;

    #[test]
    fn the_mean_rate_is_what_was_asked_for() {
        let process = Bernoulli::new(0.2);
        let mut rng = terminal_rng(7, 3);
        let packets = 100_000;
        let cycles = process.first(&mut rng) + (1..packets).map(|_| process.gap(&mut rng)).sum::<u64>();
        // Standard error 0.2 * sqrt(0.8 / 100,000) = 0.0006.
        let mean = packets as f64 / cycles as f64;
        assert!((mean - 0.2).abs() < 0.003, "{mean}");
    }

    #[test]
    fn a_packet_a_cycle_never_pauses() {
        let process = Bernoulli::new(1.0);
        let mut rng = terminal_rng(7, 3);
        assert_eq!(process.first(&mut rng), 0);
        assert!((0..100).all(|_| process.gap(&mut rng) == 1));
    }
}
