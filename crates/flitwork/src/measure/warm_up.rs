//! When a run has warmed up: the marginal standard error rule on batches of the output.
//!
//! MSER (White 1997; on batches: White, Cobb and Spratt 2000) leaves out the first `d` of `n` values, where `d`
//! minimises the squared standard error of the mean of the rest, `S^2(d) / (n - d)`. If that `d` lies in the second
//! half, the transient is not over and more data is needed: this is how Hoad, Robinson and Davies 2010 let the rule run
//! while a simulation runs.

use super::batches::{Batches, Totals};

/// Fewest packets in a batch, on average, and fewest batches that the rule is applied to.
const PACKETS: u64 = 5;
const FEWEST: usize = 20;

/// Whether what `part` takes from each batch (a numerator and a denominator; nothing where that is 0) has become
/// stationary, by MSER. `false` where there is too little to judge by.
pub(crate) fn is_stationary(batches: &Batches, values: &mut Vec<f64>, part: impl Fn(&Totals) -> (f64, f64)) -> bool {
    let closed = batches.closed();
    let packets: u64 = closed.iter().map(|batch| batch.packets).sum();
    let size = (PACKETS * closed.len() as u64).div_ceil(packets.max(1)).max(1) as usize;
    values.clear();
    if closed.len() / size < FEWEST {
        return false;
    }
    let parts = batches.grouped(size).map(|group| part(&group)).filter(|&(_, d)| d > 0.0);
    values.extend(parts.map(|(n, d)| n / d));
    values.len() >= FEWEST && truncation(values) <= values.len() / 2
}

/// The number of values to leave out. At least a quarter is kept: the error of the last few values says nothing.
fn truncation(values: &[f64]) -> usize {
    let n = values.len();
    let centre = values.iter().sum::<f64>() / n as f64;
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for d in (0..n).rev() {
        let (x, left) = (values[d] - centre, (n - d) as f64);
        sum += x;
        squares += x * x;
        let error = (squares - sum * sum / left).max(0.0) / (left * left);
        if d <= n - n / 4 && error <= best.0 {
            best = (error, d);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_pcg::Pcg64Mcg;
    use rand_pcg::rand_core::{Rng, SeedableRng};

    fn noise(n: usize, seed: u64, mean: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        (0..n).map(|i| mean(i as f64) + uniform() - 0.5).collect()
    }

    #[test]
    fn a_step_is_left_out_exactly() {
        let values = noise(200, 1, |i| if i < 30.0 { 10.0 } else { 20.0 });
        assert_eq!(truncation(&values), 30);
    }

    #[test]
    fn an_exponential_transient_is_left_out_to_where_the_noise_hides_it() {
        for seed in 0..20 {
            let d = truncation(&noise(300, seed, |i| 50.0 - 30.0 * (-i / 15.0_f64).exp()));
            // The transient falls below half of the noise (0.29 standard deviations, averaged over hundreds) after 50
            // to 110.
            assert!((40..150).contains(&d), "{d}");
        }
    }

    #[test]
    fn a_constant_needs_no_warm_up_and_a_ramp_never_ends() {
        assert_eq!(truncation(&[7.0; 100]), 0);
        let ramp: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(truncation(&ramp), 75);
    }

    #[test]
    fn stationary_noise_is_accepted_most_of_the_time() {
        let accepted = (0..200).filter(|&seed| truncation(&noise(200, seed, |_| 5.0)) <= 100).count();
        assert!(accepted >= 180, "{accepted} of 200");
    }

    #[test]
    fn few_packets_are_not_enough_and_enough_packets_are() {
        let flits = |t: &Totals| (t.flits as f64, 1.0);
        let mut values = Vec::new();
        for (packets, expected) in [(20, false), (400, true)] {
            let mut batches = Batches::new(0);
            for now in 1..=400 {
                let so_far = now * packets / 400;
                batches.close(now, Totals { packets: so_far, flits: so_far, ..Totals::default() });
            }
            assert_eq!(is_stationary(&batches, &mut values, flits), expected, "{packets}");
        }
    }
}
