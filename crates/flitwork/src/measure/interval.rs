//! Confidence intervals of a mean from one run: batch means, corrected for what their neighbours still have in common.
//!
//! Batches are added up to between 32 and 63 groups. The mean is the ratio of two sums (latency over packets, flits
//! over cycles), so the spread is that of the residuals `numerator - mean * denominator` (the delta method; Law 2015,
//! section 9.5.3). Neighbouring groups are correlated, so the half width for independent groups is multiplied by
//! `sqrt((1 + r) / (1 - r))` with their lag-1 correlation `r`: groups are taken for a first-order autoregressive
//! process, as in SBatch (Lada and Wilson 2008) and Skart (Tafazzoli and Wilson 2011). The estimate of `r` from `k`
//! groups is too low by about `(1 + 4 r) / k` (Marriott and Pope 1954), which is added; a negative `r` counts as 0.

use super::batches::{Batches, Totals};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Fewest groups that an interval is given for.
const FEWEST: usize = 10;
/// Groups that are made where there are as many batches: this many to one less than twice.
const GROUPS: usize = 32;
/// Largest correlation of neighbouring groups at which the correction can be trusted (Lada and Wilson 2008).
const TRUSTED: f64 = 0.8;

/// A mean and how well it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    pub mean: f64,
    /// Half the width of the confidence interval.
    pub half_width: f64,
    /// Length of a group \[cycles].
    pub group_cycles: u64,
    /// Lag-1 correlation of the groups, corrected.
    pub correlation: f64,
}

impl Interval {
    /// Whether the groups are long enough for the correction.
    pub fn is_trusted(&self) -> bool {
        self.correlation <= TRUSTED
    }

    /// Whether the interval is trusted and at most `relative` of its mean wide to each side.
    pub fn is_within(&self, relative: f64) -> bool {
        self.is_trusted() && self.half_width <= relative * self.mean.abs()
    }
}

/// The interval of `sum of numerator / sum of denominator` over the batches; `None` where there is too little to judge
/// by.
pub(crate) fn interval(batches: &Batches, confidence: f64, part: impl Fn(&Totals) -> (f64, f64)) -> Option<Interval> {
    let size = (batches.closed().len() / GROUPS).max(1);
    let groups = || batches.grouped(size).map(|group| part(&group));
    let (n, d, k) = groups().fold((0.0, 0.0, 0usize), |(n, d, k), g| (n + g.0, d + g.1, k + 1));
    if k < FEWEST || d <= 0.0 {
        return None;
    }
    let (mean, per_group) = (n / d, d / k as f64);
    let residual = |(n, d): (f64, f64)| (n - mean * d) / per_group;
    let squares: f64 = groups().map(residual).map(|z| z * z).sum();
    let products: f64 = groups().map(residual).zip(groups().map(residual).skip(1)).map(|(a, b)| a * b).sum();
    let r = if squares > 0.0 { products / squares } else { 0.0 };
    let correlation = (r + (1.0 + 4.0 * r) / k as f64).clamp(0.0, 0.99);
    let independent = student_t(confidence, k - 1) * (squares / (k - 1) as f64 / k as f64).sqrt();
    Some(Interval {
        mean,
        half_width: independent * ((1.0 + correlation) / (1.0 - correlation)).sqrt(),
        group_cycles: batches.width() * size as u64,
        correlation,
    })
}

/// Two-sided quantile of Student's t: a variable with so many degrees of `freedom` lies between its negative and itself
/// with the probability `confidence` (between 0 and 1). Infinite without freedom. Rounded to 6 decimal places, so that
/// machines whose logarithms differ in the last bit end their runs in the same cycle.
#[must_use]
pub fn student_t(confidence: f64, freedom: usize) -> f64 {
    let t = StudentsT::new(0.0, 1.0, freedom as f64).map_or(f64::INFINITY, |d| d.inverse_cdf(0.5 + 0.5 * confidence));
    (t * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_pcg::Pcg64Mcg;
    use rand_pcg::rand_core::{Rng, SeedableRng};

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (confidence, freedom, expected) in
            [(0.95, 9, 2.262), (0.95, 31, 2.040), (0.99, 39, 2.708), (0.9, 1000, 1.646)]
        {
            assert!((student_t(confidence, freedom) - expected).abs() < 6e-4, "{}", student_t(confidence, freedom));
        }
    }

    /// Latencies around 100 that remember `phi` of their past, one packet a cycle; a batch at the end of each cycle.
    fn autoregressive(phi: f64, cycles: u64, rng: &mut Pcg64Mcg) -> Batches {
        let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        let mut x = normal() / (1.0 - phi * phi).sqrt();
        let (mut batches, mut totals) = (Batches::new(0), Totals::default());
        for now in 1..=cycles {
            x = phi * x + normal();
            totals.packets += 1;
            totals.packet_latency += (100.0 + x).round().max(0.0) as u64;
            if now >= batches.end() {
                batches.close(now, totals);
            }
        }
        batches
    }

    fn latency(t: &Totals) -> (f64, f64) {
        (t.packet_latency as f64, t.packets as f64)
    }

    /// Share of 300 repetitions whose 95 % interval contains the true mean.
    fn coverage(phi: f64, cycles: u64) -> f64 {
        let mut rng = Pcg64Mcg::seed_from_u64(42);
        let hits = (0..300).filter(|_| {
            let found = interval(&autoregressive(phi, cycles, &mut rng), 0.95, latency).unwrap();
            (found.mean - 100.0).abs() <= found.half_width
        });
        hits.count() as f64 / 300.0
    }

    #[test]
    fn about_95_of_100_intervals_contain_the_mean() {
        for (phi, cycles) in [(0.0, 2000), (0.9, 2000), (0.9, 20_000), (0.99, 10_000), (0.99, 100_000)] {
            let share = coverage(phi, cycles);
            assert!((0.90..=0.99).contains(&share), "phi {phi}, {cycles} cycles: {share}");
        }
    }

    /// What the correction is for: with groups as short as the memory of the process, intervals would be far too
    /// narrow.
    #[test]
    fn the_correction_widens_what_is_correlated() {
        let mut rng = Pcg64Mcg::seed_from_u64(7);
        let short = interval(&autoregressive(0.99, 5_000, &mut rng), 0.95, latency).unwrap();
        let long = interval(&autoregressive(0.99, 1_000_000, &mut rng), 0.95, latency).unwrap();
        assert!(short.correlation > 0.3 && long.correlation < 0.3, "{short:?} {long:?}");
        assert!(long.is_within(0.02) && !long.is_within(1e-5), "{long:?}");
    }

    #[test]
    fn too_little_is_no_interval_and_a_constant_is_known_exactly() {
        let mut batches = Batches::new(0);
        assert_eq!(interval(&batches, 0.95, latency), None);
        let mut totals = Totals::default();
        for now in 1..=50 {
            (totals.packets, totals.packet_latency) = (now, 20 * now);
            batches.close(now, totals);
        }
        let exact = interval(&batches, 0.95, latency).unwrap();
        assert_eq!((exact.mean, exact.half_width, exact.correlation), (20.0, 0.0, 1.0 / 50.0));
    }
}
