//! When ranks begin: together, or each a little later than the one before.

use crate::error::Error;
use crate::mix::{draw_below, mix};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Latest start of a rank \[cycles].
const LATEST: u64 = 1 << 40;

/// How the starts of ranks lie between the first and the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StartKind {
    /// All start at t = 0.
    #[default]
    Together,
    /// Drawn from a normal distribution, then moved and stretched so that the first starts at t = 0 and the last at
    /// `latest_cycles`.
    NormalRange,
    /// Drawn from a normal distribution of mean `latest_cycles / 2` and deviation `latest_cycles / 6`; what lies
    /// outside of 0 to `latest_cycles` is moved to the nearer end.
    NormalSigma,
    /// Drawn alike from 0 to `latest_cycles`.
    Uniform,
    /// As listed.
    List,
}

/// Which rank gets which of the starts that were drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StartOrder {
    /// In ascending order: rank 0 starts first.
    #[default]
    Sorted,
    /// As drawn.
    Drawn,
}

/// When ranks begin. The imbalance of Shibamura et al. 2012 is `normal_range`, sorted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StartSpec {
    /// How the starts lie. Default: together.
    pub kind: StartKind,
    /// Latest start \[cycles], where starts are drawn, 0 to 2^40. Default: 0.
    #[schemars(range(max = LATEST))]
    pub latest_cycles: u64,
    /// Which rank gets which start. Default: sorted.
    pub order: StartOrder,
    /// Start of each rank \[cycles], where they are listed. Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cycles: Vec<u64>,
}

impl StartSpec {
    /// Whether nothing in it was said: then plans do without it.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The start of each rank \[cycles]; empty where all start together. `seed` is that of the run.
    ///
    /// # Errors
    /// [`Error::Config`] for a start that is too late, or a list of another length.
    pub fn starts(&self, ranks: u32, seed: u64) -> Result<Vec<u64>, Error> {
        if self.latest_cycles > LATEST {
            return Err(Error::config("host.start.latest_cycles", self.latest_cycles, "0 to 2^40 cycles", ""));
        }
        if self.kind != StartKind::List && !self.cycles.is_empty() {
            let expected = "nothing unless kind is list";
            return Err(Error::config("host.start.cycles", "a list", expected, "set host.start.kind = \"list\""));
        }
        match self.kind {
            StartKind::Together => Ok(Vec::new()),
            StartKind::List => self.listed(ranks),
            StartKind::NormalRange | StartKind::NormalSigma | StartKind::Uniform => Ok(self.drawn(ranks, seed)),
        }
    }

    fn listed(&self, ranks: u32) -> Result<Vec<u64>, Error> {
        if self.cycles.len() != ranks as usize {
            let given = format!("{} entries", self.cycles.len());
            return Err(Error::config("host.start.cycles", given, format!("{ranks} entries"), "one for each rank"));
        }
        match self.cycles.iter().position(|&start| start > LATEST) {
            Some(rank) => {
                let path = format!("host.start.cycles[{rank}]");
                Err(Error::config(path, self.cycles[rank], "0 to 2^40 cycles", ""))
            }
            None => Ok(self.cycles.clone()),
        }
    }

    fn drawn(&self, ranks: u32, seed: u64) -> Vec<u64> {
        if self.kind == StartKind::Uniform {
            let mut starts: Vec<u64> =
                (0..u64::from(ranks)).map(|rank| draw_below(bits(seed, 2 * rank), self.latest_cycles + 1)).collect();
            if self.order == StartOrder::Sorted {
                starts.sort_unstable();
            }
            return starts;
        }
        let mut deviates: Vec<f64> = (0..u64::from(ranks)).map(|rank| normal(seed, rank)).collect();
        if self.order == StartOrder::Sorted {
            deviates.sort_by(f64::total_cmp);
        }
        let least = deviates.iter().copied().fold(f64::INFINITY, f64::min);
        let most = deviates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let width = self.latest_cycles as f64;
        let share = |z: f64| match self.kind {
            StartKind::NormalSigma => (0.5 + z / 6.0).clamp(0.0, 1.0),
            _ if most > least => (z - least) / (most - least),
            _ => 0.0,
        };
        deviates.into_iter().map(|z| (width * share(z)).round() as u64).collect()
    }
}

/// Random bits of the starts.
fn bits(seed: u64, number: u64) -> u64 {
    mix(mix(seed ^ 0x7374_6172_7473) ^ number)
}

/// A normal deviate of a rank's own (Box and Muller 1958).
fn normal(seed: u64, rank: u64) -> f64 {
    let bits = |salt: u64| bits(seed, 2 * rank + salt);
    // In (0, 1], so that the logarithm is finite.
    let uniform = |bits: u64| ((bits >> 11) + 1) as f64 / (1u64 << 53) as f64;
    (-2.0 * uniform(bits(0)).ln()).sqrt() * (std::f64::consts::TAU * uniform(bits(1))).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(kind: StartKind, order: StartOrder) -> StartSpec {
        StartSpec { kind, latest_cycles: 1_000_000, order, cycles: Vec::new() }
    }

    #[test]
    fn the_first_starts_at_0_and_the_last_at_the_width() {
        let starts = spec(StartKind::NormalRange, StartOrder::Sorted).starts(1000, 7).unwrap();
        assert_eq!((starts[0], starts[999]), (0, 1_000_000));
        assert!(starts.is_sorted());
        let mut drawn = spec(StartKind::NormalRange, StartOrder::Drawn).starts(1000, 7).unwrap();
        assert!(!drawn.is_sorted());
        drawn.sort_unstable();
        assert_eq!(drawn, starts);
        assert_ne!(spec(StartKind::NormalRange, StartOrder::Sorted).starts(1000, 8).unwrap(), starts);
        assert_eq!(spec(StartKind::NormalRange, StartOrder::Sorted).starts(1, 7).unwrap(), [0]);
    }

    #[test]
    fn deviates_are_normal() {
        let starts = spec(StartKind::NormalSigma, StartOrder::Drawn).starts(40_000, 3).unwrap();
        let z: Vec<f64> = starts.iter().map(|&s| (s as f64 / 1e6 - 0.5) * 6.0).collect();
        let mean = z.iter().sum::<f64>() / 4e4;
        let variance = z.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / 4e4;
        let within = z.iter().filter(|z| z.abs() < 1.0).count() as f64 / 4e4;
        // Three standard errors; 0.3 % of a normal distribution lie beyond the ends.
        assert!(mean.abs() < 0.015 && (variance - 1.0).abs() < 0.03 && (within - 0.6827).abs() < 0.007);
    }

    #[test]
    fn uniform_starts_are_spread_alike() {
        let starts = spec(StartKind::Uniform, StartOrder::Drawn).starts(40_000, 3).unwrap();
        assert!(starts.iter().all(|&start| start <= 1_000_000) && !starts.is_sorted());
        let mean = starts.iter().sum::<u64>() as f64 / 4e4;
        let below = starts.iter().filter(|&&start| start < 250_000).count() as f64 / 4e4;
        // Three standard errors.
        assert!((mean - 5e5).abs() < 4_400.0 && (below - 0.25).abs() < 0.0065, "{mean} {below}");
        let narrow = StartSpec { latest_cycles: 1, ..spec(StartKind::Uniform, StartOrder::Sorted) };
        let starts = narrow.starts(100, 1).unwrap();
        assert!(starts.is_sorted() && starts[0] == 0 && starts[99] == 1);
    }

    #[test]
    fn lists_must_fit() {
        let list =
            |cycles: &[u64]| StartSpec { kind: StartKind::List, cycles: cycles.to_vec(), ..StartSpec::default() };
        assert_eq!(list(&[3, 0]).starts(2, 1).unwrap(), [3, 0]);
        let fault = |spec: StartSpec| spec.starts(2, 1).unwrap_err().to_string();
        assert!(fault(list(&[3])).contains("1 entries: expected 2 entries"));
        assert!(fault(list(&[3, 1 << 41])).contains("cycles[1]"));
        assert!(fault(StartSpec { latest_cycles: 1 << 41, ..StartSpec::default() }).contains("latest_cycles"));
        assert!(fault(StartSpec { cycles: vec![1, 2], ..StartSpec::default() }).contains("unless kind is list"));
    }
}
