//! Whether a mean still rises: the last third of the batches against the first one.
//!
//! The batches are added up to groups as for an interval. Their spread is that around a straight line, so a steady rise
//! does not hide itself, and neighbours that have something in common count for less, by `sqrt((1 + r) / (1 - r))` as
//! in the interval.

use super::batches::{Batches, Totals};
use super::verdict::Trend;

/// Fewest groups, and how many are made where there are more batches: this many to one less than twice.
const FEWEST: usize = 12;
const GROUPS: usize = 24;

/// The trend of `sum of numerator / sum of denominator`; none where there is too little to judge by.
pub(crate) fn trend(batches: &Batches, part: impl Fn(&Totals) -> (f64, f64)) -> Trend {
    let size = (batches.closed().len() / GROUPS).max(1);
    let parts = batches.grouped(size).map(|group| part(&group)).filter(|&(_, d)| d > 0.0);
    // A run that measures takes no memory.
    let (mut room, mut k) = ([0.0; 2 * GROUPS], 0);
    for (place, (n, d)) in room.iter_mut().zip(parts) {
        *place = n / d;
        k += 1;
    }
    let (values, third) = (&mut room[..k], k / 3);
    if k < FEWEST {
        return Trend::default();
    }
    let mean_of = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean, rise) = (mean_of(values), mean_of(&values[k - third..]) - mean_of(&values[..third]));
    let middle = (k - 1) as f64 / 2.0;
    let at = |i: usize| i as f64 - middle;
    let (sum_xy, sum_xx) =
        values.iter().enumerate().fold((0.0, 0.0), |(xy, xx), (i, v)| (xy + at(i) * (v - mean), xx + at(i) * at(i)));
    let slope = sum_xy / sum_xx;
    for (i, value) in values.iter_mut().enumerate() {
        *value -= mean + slope * at(i);
    }
    let residuals = values;
    let squares: f64 = residuals.iter().map(|z| z * z).sum();
    let products: f64 = residuals.windows(2).map(|z| z[0] * z[1]).sum();
    let r = if squares > 0.0 { products / squares } else { 0.0 };
    // A line takes two parameters, so the estimate is too low by twice as much as that of an interval.
    let r = (r + 2.0 * (1.0 + 4.0 * r) / k as f64).clamp(0.0, 0.95);
    let deviation = (squares / (k - 2) as f64 * (1.0 + r) / (1.0 - r)).sqrt();
    let error = deviation * (2.0 / third as f64).sqrt();
    Trend { share: rise / mean, errors: if error > 0.0 { rise / error } else { 0.0 } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_pcg::Pcg64Mcg;
    use rand_pcg::rand_core::{Rng, SeedableRng};

    /// Latencies around a mean that changes, one packet a cycle, which remember `phi` of their past.
    fn latencies(seed: u64, phi: f64, mean: impl Fn(f64) -> f64) -> Trend {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let (mut batches, mut totals, mut x) = (Batches::new(0), Totals::default(), 0.0);
        for now in 1..=3000 {
            x = phi * x + uniform() * 60.0 - 30.0;
            totals.packets += 1;
            totals.packet_latency += (mean(now as f64 / 3000.0) + x).round().max(0.0) as u64;
            batches.close(now, totals);
        }
        trend(&batches, |t| (t.packet_latency as f64, t.packets as f64))
    }

    #[test]
    fn a_rise_is_found_and_chance_is_not() {
        for seed in 0..50 {
            let rising = latencies(seed, 0.9, |share| 100.0 + 100.0 * share);
            assert!((0.3..0.6).contains(&rising.share) && rising.errors > 4.0, "{rising:?}");
            let flat = latencies(seed, 0.9, |_| 200.0);
            assert!(flat.share.abs() < 0.2 && flat.errors < 4.0, "{flat:?}");
            assert!(latencies(seed, 0.5, |share| 200.0 - 100.0 * share).errors < 0.0);
        }
    }

    #[test]
    fn too_little_says_nothing() {
        let mut batches = Batches::new(0);
        batches.close(5, Totals { packets: 5, flits: 5, packet_latency: 50, network_latency: 50 });
        assert_eq!(trend(&batches, |t| (t.packet_latency as f64, t.packets as f64)), Trend::default());
    }
}
