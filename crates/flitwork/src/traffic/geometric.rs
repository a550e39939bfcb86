//! How many trials, one a cycle, until the first success: one draw instead of one a cycle.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// The geometric distribution on 1, 2, 3, ...
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Geometric {
    /// 1 / ln(1 - p): turns the logarithm of a uniform number into a number of trials; 0 where every trial succeeds.
    scale: f64,
    mean: f64,
}

impl Geometric {
    /// Trials that succeed with probability `p`, more than 0.
    pub fn new(p: f64) -> Self {
        Geometric { scale: if p >= 1.0 { 0.0 } else { 1.0 / libm::log1p(-p) }, mean: 1.0 / p }
    }

    /// Mean number of trials.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Trials up to and with the first success, by inversion.
    #[inline]
    pub fn draw(&self, rng: &mut Pcg64Mcg) -> u64 {
        if self.scale == 0.0 {
            return 1;
        }
        // Uniform in (0, 1].
        let u = ((rng.next_u64() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64);
        1 + (libm::log(u) * self.scale).min(1e15) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::terminal_rng;

    #[test]
    fn draws_have_the_distribution_of_trials() {
        let (p, n) = (0.3, 100_000);
        let mut rng = terminal_rng(1, 2);
        let mut counts = [0u32; 12];
        for _ in 0..n {
            let k = Geometric::new(p).draw(&mut rng) as usize;
            counts[k.min(11)] += 1;
        }
        assert_eq!(counts[0], 0);
        for (k, &count) in counts.iter().enumerate().take(11).skip(1) {
            let expected = f64::from(n) * p * (1.0 - p).powi(k as i32 - 1);
            assert!((f64::from(count) - expected).abs() < 5.0 * expected.sqrt(), "{k}: {count} of {expected}");
        }
        assert_eq!(Geometric::new(1.0).draw(&mut rng), 1);
    }
}
