//! What sends and arrivals cost.

use crate::spec::LogGopsSpec;

/// The last point in time: what would be later is then. It is far beyond a century.
pub(super) const LAST: u64 = u64::MAX >> 2;

/// A time that is `by` later, or a little earlier; at most [`LAST`].
pub(super) fn later(time: u64, by: i128) -> u64 {
    (i128::from(time) + by).clamp(0, i128::from(LAST)) as u64
}

/// Nanoseconds per byte, in billionths: a decimal number is meant as it is written.
#[derive(Debug, Clone, Copy)]
struct Rate(i128);

const SCALE: i128 = 1_000_000_000;

impl Rate {
    fn new(ns_per_byte: f64) -> Self {
        Rate((ns_per_byte * SCALE as f64).round() as i128)
    }

    /// Time of the bytes of a message behind the first, to the nearest ns. An empty message is charged one byte less
    /// than none: that is what the formula of the model says of it, and what LogGOPSim computes.
    fn of(self, size: u64) -> i128 {
        let product = (i128::from(size) - 1) * self.0;
        (2 * product + SCALE).div_euclid(2 * SCALE)
    }
}

/// The parameters, ready to be used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Params {
    latency: u64,
    overhead: u64,
    gap: u64,
    gap_of_byte: Rate,
    overhead_of_byte: Rate,
    /// Longest message that does not wait for its receive \[bytes].
    pub eager: u64,
}

impl Params {
    pub fn new(spec: &LogGopsSpec) -> Self {
        Params {
            latency: spec.L,
            overhead: spec.o,
            gap: spec.g,
            gap_of_byte: Rate::new(spec.G),
            overhead_of_byte: Rate::new(spec.O),
            eager: spec.S,
        }
    }

    /// How long a send of `size` bytes takes its CPU, and its NIC.
    pub fn send(&self, size: u64) -> (i128, i128) {
        (i128::from(self.overhead) + self.overhead_of_byte.of(size), self.nic(size))
    }

    /// How long the arrival of `size` bytes takes its CPU, and its NIC.
    pub fn arrival(&self, size: u64) -> (i128, i128) {
        let (overhead, gap) = (self.overhead_of_byte.of(size), self.gap_of_byte.of(size));
        // Of an empty message both are below zero or zero; LogGOPSim compares them as numbers without a sign, where
        // zero is least.
        let longer = match (overhead, gap) {
            (0, other) | (other, 0) => other,
            (overhead, gap) => overhead.max(gap),
        };
        (i128::from(self.overhead) + longer, self.nic(size))
    }

    fn nic(&self, size: u64) -> i128 {
        i128::from(self.gap) + self.gap_of_byte.of(size)
    }

    /// Time from the start of a send to the arrival.
    pub fn flight(&self) -> i128 {
        i128::from(self.overhead) + i128::from(self.latency)
    }

    /// Whether an empty message sets back the time from which on a CPU or a NIC is free.
    pub fn empty_messages_go_back(&self) -> bool {
        let (send, arrival) = (self.send(0), self.arrival(0));
        [send.0, send.1, arrival.0, arrival.1].iter().any(|&time| time < 0)
    }
}
