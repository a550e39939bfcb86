//! How evenly a network serves those who send.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Fairness among the terminals that send, by the flits of each that arrived. Both are 1 where all are served alike.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fairness {
    /// Terminals that sent anything in the run.
    pub senders: u32,
    /// Index of Jain, Chiu and Hawe 1984: (sum x)^2 / (n sum x^2), from 1/n (one gets everything) to 1.
    pub jain_index: f64,
    /// The slowest sender over the mean of all senders, 0 to 1.
    pub slowest_over_mean: f64,
}

impl Fairness {
    /// Of the flits delivered for each terminal, among those for which `sends` is true.
    pub(crate) fn of(delivered_flits: &[u64], sends: impl Fn(usize) -> bool) -> Self {
        let served = || delivered_flits.iter().enumerate().filter(|&(t, _)| sends(t)).map(|(_, &flits)| flits as f64);
        let (n, sum) = served().fold((0u32, 0.0), |(n, sum), x| (n + 1, sum + x));
        if sum == 0.0 {
            return Fairness { senders: n, jain_index: 1.0, slowest_over_mean: 1.0 };
        }
        let squares: f64 = served().map(|x| x * x).sum();
        let slowest = served().fold(f64::INFINITY, f64::min);
        Fairness {
            senders: n,
            jain_index: sum * sum / (f64::from(n) * squares),
            slowest_over_mean: slowest * f64::from(n) / sum,
        }
    }
}

/// The terminals that starved in the `measured` cycles: none of their flits arrived in them, though a packet waited at
/// its source for half of them or longer. `next_created` has the creation cycle of the next packet of each terminal
/// that has not entered the network.
pub(crate) fn starved(delivered_flits: &[u64], next_created: &[u64], measured: Range<u64>) -> Vec<u32> {
    let half = measured.start.saturating_add(measured.end.saturating_sub(measured.start) / 2);
    let starved = |&(_, (&flits, &created)): &(u32, (&u64, &u64))| flits == 0 && created < half;
    if measured.is_empty() {
        return Vec::new();
    }
    (0..).zip(delivered_flits.iter().zip(next_created)).filter(starved).map(|(terminal, _)| terminal).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_half_of_the_measurement_and_gets_nothing_through_starves() {
        assert_eq!(starved(&[0, 0, 0, 7], &[3, 149, 150, 0], 100..200), [0, 1]);
        assert_eq!(starved(&[0], &[0], 200..200), [0u32; 0]);
    }

    #[test]
    fn equal_service_is_fair_and_one_winner_is_not() {
        let all = |flits: &[u64]| Fairness::of(flits, |_| true);
        assert_eq!(all(&[5, 5, 5, 5]), Fairness { senders: 4, jain_index: 1.0, slowest_over_mean: 1.0 });
        assert_eq!(all(&[8, 0, 0, 0]), Fairness { senders: 4, jain_index: 0.25, slowest_over_mean: 0.0 });
        // (1 + 2 + 3)^2 / (3 * 14)
        let uneven = all(&[1, 2, 3]);
        assert!((uneven.jain_index - 6.0 / 7.0).abs() < 1e-12 && (uneven.slowest_over_mean - 0.5).abs() < 1e-12);
    }

    #[test]
    fn who_sends_nothing_does_not_count_but_who_starves_does() {
        assert_eq!(Fairness::of(&[4, 0, 4], |t| t != 1).jain_index, 1.0);
        assert!(Fairness::of(&[4, 0, 4], |_| true).jain_index < 0.7);
        assert_eq!(Fairness::of(&[0, 0], |_| true).jain_index, 1.0);
    }
}
