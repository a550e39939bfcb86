//! Latency statistics: exact mean and extremes, quantiles from a histogram of fixed memory.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Statistics of a latency \[cycles]. Where nothing was measured the count is 0 and there is nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LatencySummary {
    /// Number of packets.
    pub count: u64,
    /// Mean \[cycles].
    pub mean_cycles: Option<f64>,
    /// Median \[cycles], within 0.1 %.
    pub p50_cycles: Option<u64>,
    /// 95th percentile \[cycles], within 0.1 %.
    pub p95_cycles: Option<u64>,
    /// 99th percentile \[cycles], within 0.1 %.
    pub p99_cycles: Option<u64>,
    /// Smallest \[cycles].
    pub min_cycles: Option<u64>,
    /// Largest \[cycles].
    pub max_cycles: Option<u64>,
}

/// How often each latency occurred. Histograms of several runs are merged by adding up the counts of equal values.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LatencyHistogram {
    /// Latencies that occurred, ascending: exact up to 2047 cycles, above that the largest of a range narrower than 0.1
    /// % \[cycles].
    pub value_cycles: Vec<u64>,
    /// How many packets had each of them.
    pub packets: Vec<u64>,
}

/// Collects latencies; allocates only when it is made.
#[derive(Debug, Clone)]
pub struct LatencyRecorder {
    /// How often each small latency occurred: most are, and the histogram takes its time.
    small: Box<[u64; SMALL]>,
    /// Those that are not small.
    large: Histogram<u64>,
    /// Sum, least and greatest of these.
    large_sum: u128,
    large_min: u64,
    large_max: u64,
}

/// Latencies below this are counted on their own; the histogram has a bucket for each of them, too \[cycles].
const SMALL: usize = 2048;

/// Latencies beyond this share the last bucket of the histogram \[cycles]; mean, minimum and maximum stay exact.
const HIGHEST: u64 = 1 << 40;

impl LatencyRecorder {
    /// An empty recorder.
    pub fn new() -> Self {
        let large = Histogram::new_with_bounds(1, HIGHEST, 3).unwrap_or_else(|_| unreachable!("constant bounds"));
        LatencyRecorder { small: Box::new([0; SMALL]), large, large_sum: 0, large_min: u64::MAX, large_max: 0 }
    }

    /// Adds one latency \[cycles].
    #[inline]
    pub fn record(&mut self, cycles: u64) {
        match self.small.get_mut(cycles as usize) {
            Some(count) => *count += 1,
            None => self.record_large(cycles),
        }
    }

    #[inline(never)]
    fn record_large(&mut self, cycles: u64) {
        self.large.saturating_record(cycles);
        self.large_sum += u128::from(cycles);
        self.large_min = self.large_min.min(cycles);
        self.large_max = self.large_max.max(cycles);
    }

    /// Adds the latencies of another recorder.
    pub fn absorb(&mut self, more: &Self) {
        self.small.iter_mut().zip(more.small.iter()).for_each(|(sum, count)| *sum += count);
        self.large.add(&more.large).unwrap_or_else(|_| unreachable!("both have the same bounds"));
        self.large_sum += more.large_sum;
        self.large_min = self.large_min.min(more.large_min);
        self.large_max = self.large_max.max(more.large_max);
    }

    /// Sum, least and greatest of all latencies so far.
    fn sum_and_extremes(&self) -> (u128, u64, u64) {
        let small = || self.small.iter().enumerate().filter(|(_, count)| **count > 0);
        let sum: u128 = small().map(|(cycles, &count)| cycles as u128 * u128::from(count)).sum();
        let min = small().next().map_or(self.large_min, |(cycles, _)| cycles as u64);
        let max = small().next_back().map_or(0, |(cycles, _)| cycles as u64);
        (self.large_sum + sum, min, self.large_max.max(max))
    }

    /// All latencies so far.
    fn all(&self) -> Histogram<u64> {
        let mut all = self.large.clone();
        let counts = self.small.iter().enumerate().filter(|(_, count)| **count > 0);
        counts.for_each(|(cycles, &count)| all.saturating_record_n(cycles as u64, count));
        all
    }

    /// How often each latency occurred so far.
    pub fn histogram(&self) -> LatencyHistogram {
        let all = self.all();
        let recorded = all.iter_recorded();
        let (value_cycles, packets) = recorded.map(|v| (v.value_iterated_to(), v.count_at_value())).unzip();
        LatencyHistogram { value_cycles, packets }
    }

    /// The statistics so far.
    pub fn summary(&self) -> LatencySummary {
        let all = self.all();
        let count = all.len();
        if count == 0 {
            return LatencySummary::default();
        }
        let (sum, min, max) = self.sum_and_extremes();
        let quantile = |q| Some(all.value_at_quantile(q).clamp(min, max));
        LatencySummary {
            count,
            mean_cycles: Some(sum as f64 / count as f64),
            p50_cycles: quantile(0.5),
            p95_cycles: quantile(0.95),
            p99_cycles: quantile(0.99),
            min_cycles: Some(min),
            max_cycles: Some(max),
        }
    }
}

impl Default for LatencyRecorder {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_a_ramp() {
        let mut r = LatencyRecorder::new();
        (1..=1000).for_each(|c| r.record(c));
        let s = r.summary();
        assert_eq!((s.count, s.min_cycles, s.max_cycles, s.mean_cycles), (1000, Some(1), Some(1000), Some(500.5)));
        assert!(s.p50_cycles.unwrap().abs_diff(500) <= 1 && s.p99_cycles.unwrap().abs_diff(990) <= 1);
    }

    #[test]
    fn the_histogram_is_exact_for_small_values_and_within_a_thousandth_for_large_ones() {
        let mut r = LatencyRecorder::new();
        [3, 2047, 3, 1_000_000, 7].into_iter().for_each(|c| r.record(c));
        let h = r.histogram();
        assert_eq!((&h.value_cycles[..3], &h.packets[..]), (&[3, 7, 2047][..], &[2, 1, 1, 1][..]));
        assert!((1_000_000..=1_001_000).contains(&h.value_cycles[3]));
        let mut again = LatencyRecorder::new();
        h.value_cycles.iter().for_each(|&v| again.record(v));
        assert_eq!(again.histogram().value_cycles, h.value_cycles);
    }

    #[test]
    fn nothing_measured_is_no_number() {
        let summary = serde_json::to_value(LatencyRecorder::new().summary()).unwrap();
        assert_eq!(summary["count"], 0);
        let rest = ["mean_cycles", "p50_cycles", "p95_cycles", "p99_cycles", "min_cycles", "max_cycles"];
        assert!(rest.iter().all(|&name| summary[name].is_null()), "{summary}");
    }
}
