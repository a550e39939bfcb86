//! On/off injection: a terminal is on or off, and while it is on it injects as a Bernoulli process does.
//!
//! The state is a Markov chain of two states. Each cycle a terminal that is off turns on with probability
//! `1 / mean_off_cycles`, and one that is on turns off with probability `1 / mean_on_cycles`; a terminal that is then
//! on creates a packet with the probability that makes the long-run mean the offered load. This is the process `on_off`
//! of BookSim 2 with `burst_alpha = 1 / mean_off_cycles`, `burst_beta = 1 / mean_on_cycles` and
//! `burst_r1 = rate * (burst_alpha + burst_beta) / burst_alpha`; there each terminal starts in either state with
//! probability 1/2, here in a state drawn from the chain's stationary distribution, so that the offered load is right
//! from the first cycle.
//!
//! Lengths of on and off periods, and the gaps within on periods, are geometric and drawn directly. The chain has no
//! memory, so nothing needs to be kept from one packet to the next: after a packet the terminal is on, and the rest of
//! its on period is as long as a new one.

use super::geometric::Geometric;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// On and off periods of geometric length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OnOff {
    /// Length of an on period.
    on_cycles: Geometric,
    /// Length of an off period.
    off_cycles: Geometric,
    /// Gap between packets in an on period that never ends.
    gap: Geometric,
    /// Share of the time that it is on, in 1 / 2^64.
    on: u64,
    mean_gap_cycles: f64,
    dispersion: f64,
}

impl OnOff {
    /// On and off periods of so many cycles on the average, at least 1 each; the rate in on periods is
    /// [`OnOff::rate_when_on`], which must be at most 1 but for rounding.
    pub fn new(packets_per_cycle: f64, mean_on_cycles: f64, mean_off_cycles: f64) -> Self {
        let on = mean_on_cycles / (mean_on_cycles + mean_off_cycles);
        let rate = Self::rate_when_on(packets_per_cycle, mean_on_cycles, mean_off_cycles);
        // The state of one cycle and that of a later one have a correlation of `memory` to the power of the cycles
        // between.
        let memory = 1.0 - 1.0 / mean_on_cycles - 1.0 / mean_off_cycles;
        OnOff {
            dispersion: (1.0 - rate).max(0.0) + rate * (1.0 - on) * (1.0 + memory) / (1.0 - memory),
            on_cycles: Geometric::new(1.0 / mean_on_cycles),
            off_cycles: Geometric::new(1.0 / mean_off_cycles),
            gap: Geometric::new(rate.min(1.0)),
            on: (on * (u64::MAX as f64)) as u64,
            mean_gap_cycles: 1.0 / packets_per_cycle,
        }
    }

    /// Probability of a packet in a cycle of an on period, for a long-run mean of `packets_per_cycle`.
    pub fn rate_when_on(packets_per_cycle: f64, mean_on_cycles: f64, mean_off_cycles: f64) -> f64 {
        packets_per_cycle * (mean_on_cycles + mean_off_cycles) / mean_on_cycles
    }

    /// Mean gap between packets \[cycles].
    pub fn mean_gap_cycles(&self) -> f64 {
        self.mean_gap_cycles
    }

    /// Variance of the number of packets created in a long time, over that number.
    pub fn dispersion(&self) -> f64 {
        self.dispersion
    }

    /// Cycles from the start to the first packet.
    pub(super) fn first(&self, rng: &mut Pcg64Mcg) -> u64 {
        let off = if rng.next_u64() < self.on { 0 } else { self.off_cycles.draw(rng) };
        let on = self.on_cycles.draw(rng);
        self.next(off, on, rng) - 1
    }

    /// Cycles from one packet to the next, at least 1.
    pub(super) fn gap(&self, rng: &mut Pcg64Mcg) -> u64 {
        let on = self.on_cycles.draw(rng);
        self.next(0, on - 1, rng)
    }

    /// The cycle of the next packet, if the `on` cycles after cycle `before` belong to an on period and then an off
    /// period begins.
    fn next(&self, mut before: u64, mut on: u64, rng: &mut Pcg64Mcg) -> u64 {
        loop {
            let gap = self.gap.draw(rng);
            if gap <= on {
                return before + gap;
            }
            before += on + self.off_cycles.draw(rng);
            on = self.on_cycles.draw(rng);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::terminal_rng;

    /// What the module says, cycle by cycle: which of the first `cycles` cycles have a packet.
    fn stepped(rate: f64, on_cycles: f64, off_cycles: f64, cycles: usize, rng: &mut Pcg64Mcg) -> Vec<bool> {
        let mut draw = |p: f64| ((rng.next_u64() >> 11) as f64) < p * (1u64 << 53) as f64;
        let when_on = OnOff::rate_when_on(rate, on_cycles, off_cycles);
        let mut on = draw(on_cycles / (on_cycles + off_cycles));
        let mut packets = Vec::new();
        for cycle in 0..cycles {
            if cycle > 0 {
                on = if on { !draw(1.0 / on_cycles) } else { draw(1.0 / off_cycles) };
            }
            packets.push(on && draw(when_on));
        }
        packets
    }

    fn drawn(process: &OnOff, cycles: usize, rng: &mut Pcg64Mcg) -> Vec<bool> {
        let mut packets = vec![false; cycles];
        let mut at = process.first(rng) as usize;
        while at < cycles {
            packets[at] = true;
            at += process.gap(rng) as usize;
        }
        packets
    }

    /// Mean, and how often a packet in one cycle is followed by one `lag` cycles later.
    fn moments(packets: &[bool]) -> Vec<f64> {
        let n = packets.len() as f64;
        let both = |lag: usize| packets.iter().zip(&packets[lag..]).filter(|(a, b)| **a && **b).count() as f64 / n;
        [0, 1, 2, 5, 20, 60].map(both).into()
    }

    #[test]
    fn drawing_gaps_is_stepping_through_cycles() {
        for (rate, on, off) in [(0.1, 12.0, 30.0), (0.02, 3.0, 50.0), (0.5, 1.0, 1.0), (0.3, 40.0, 1.0)] {
            let process = OnOff::new(rate, on, off);
            let (mut a, mut b) = (terminal_rng(5, 1), terminal_rng(5, 2));
            let cycles = 400_000;
            let found = moments(&drawn(&process, cycles, &mut a));
            let expected = moments(&stepped(rate, on, off, cycles, &mut b));
            for (found, expected) in found.iter().zip(&expected) {
                // Counts of neighbouring cycles are correlated over an on and an off period.
                let error = 5.0 * (2.0 * expected.max(1e-4) * (on + off) / cycles as f64).sqrt();
                assert!((found - expected).abs() < error, "{rate} {on} {off}: {found} for {expected}");
            }
            assert!((found[0] - rate).abs() < 0.05 * rate, "{}", found[0]);
        }
    }

    #[test]
    fn packets_come_closer_together_than_by_chance() {
        let process = OnOff::new(0.05, 20.0, 180.0);
        let mut rng = terminal_rng(9, 9);
        let gaps: Vec<u64> = (0..20_000).map(|_| process.gap(&mut rng)).collect();
        let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
        let short = gaps.iter().filter(|&&g| g <= 4).count() as f64 / gaps.len() as f64;
        // A standard error is about 180 * sqrt(0.2 / 20,000) = 0.6.
        assert!((mean - 20.0).abs() < 2.5, "{mean}");
        // While it is on, and it stays so with 0.95, the rate is 0.5: 0.475 + 0.475^2 + ... of the gaps are that short;
        // of Bernoulli's it would be 1 - 0.95^4 = 0.19.
        assert!((short - 0.859).abs() < 0.02, "{short}");
    }

    #[test]
    fn the_first_cycles_carry_the_offered_load() {
        let process = OnOff::new(0.1, 50.0, 150.0);
        let starts = 20_000;
        let early = (0..starts).filter(|&t| process.first(&mut terminal_rng(3, t)) == 0).count();
        // Standard error sqrt(0.1 * 0.9 / 20,000) = 0.002.
        assert!((early as f64 / starts as f64 - 0.1).abs() < 0.01, "{early}");
    }

    /// Packets in stretches of time much longer than a period.
    #[test]
    fn the_dispersion_is_that_of_what_is_drawn() {
        for (rate, on, off) in [(0.1, 20.0, 60.0), (0.2, 10.0, 10.0), (0.05, 50.0, 1.0)] {
            let process = OnOff::new(rate, on, off);
            let (mut rng, stretch, stretches) = (terminal_rng(3, 1), 4000, 1000);
            let mut counts = vec![0.0; stretches];
            let mut at = process.first(&mut rng);
            while at < stretch * stretches as u64 {
                counts[(at / stretch) as usize] += 1.0;
                at += process.gap(&mut rng);
            }
            let mean = counts.iter().sum::<f64>() / stretches as f64;
            let variance = counts.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / stretches as f64;
            let found = variance / mean;
            assert!((found / process.dispersion() - 1.0).abs() < 0.15, "{found} {}", process.dispersion());
        }
    }
}
