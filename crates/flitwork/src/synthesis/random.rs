//! Random numbers that only a seed decides.

use crate::mix::{draw_below, mix};

/// SplitMix64: a counter, mixed.
pub(super) struct Random(u64);

impl Random {
    /// One for a seed and the number of an attempt.
    pub(super) fn new(seed: u64, attempt: u64) -> Self {
        Random(mix(mix(seed) ^ attempt))
    }

    /// 64 random bits.
    #[inline]
    pub(super) fn bits(&mut self) -> u64 {
        let bits = mix(self.0);
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        bits
    }

    /// A number below `n`, which is not 0.
    #[inline]
    pub(super) fn below(&mut self, n: usize) -> usize {
        draw_below(self.bits(), n as u64) as usize
    }

    /// A number from 0 up to 1, without 1.
    #[inline]
    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Puts items in a random order.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
