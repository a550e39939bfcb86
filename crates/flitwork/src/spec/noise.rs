//! The noise of operating systems: when ranks lose their CPUs.

use crate::error::{Error, Result};
use crate::mix::mix;
use crate::schedule::{DetourLength, LONGEST_NOISE, Noise};
use crate::traffic::{Attached, no_file};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Detours: times in which the operating system has the CPUs of a rank for itself. Each rank has its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum NoiseSpec {
    /// Detours of one length, one every period.
    Periodic {
        /// From the start of a detour to that of the next \[cycles], 2 to 2^40.
        #[schemars(range(min = 2, max = LONGEST_NOISE))]
        period_cycles: u64,
        /// Length of a detour \[cycles], at least 1, less than the period.
        #[schemars(range(min = 1, max = LONGEST_NOISE))]
        duration_cycles: u64,
        /// Whether ranks are away together, or each has a phase of its own, drawn by the seed of the run. Default:
        /// random.
        #[serde(default)]
        phase: NoisePhase,
        /// Where all have the same phase: the start of the first detour \[cycles], less than the period. Default: 0.
        #[serde(default, skip_serializing_if = "is_zero")]
        #[schemars(range(max = LONGEST_NOISE))]
        phase_cycles: u64,
    },
    /// Detours at random: the times between them, and perhaps their lengths, have geometric (in whole cycles
    /// exponential) distributions, drawn by the seed of the run.
    Exponential {
        /// Mean time from the end of a detour to the start of the next \[cycles], 1 to 2^40.
        #[schemars(range(min = 1, max = LONGEST_NOISE))]
        mean_interval_cycles: u64,
        /// Length of each detour \[cycles], at least 1; or say `mean_duration_cycles`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u64", range(min = 1, max = LONGEST_NOISE))]
        duration_cycles: Option<u64>,
        /// Mean length of detours that differ \[cycles], at least 1; or say `duration_cycles`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u64", range(min = 1, max = LONGEST_NOISE))]
        mean_duration_cycles: Option<u64>,
    },
    /// Detours that are given one by one, such as measured ones.
    File {
        /// The detours: columns rank, start_cycles (from the start of the ranks) and duration_cycles. Those of a rank
        /// that touch or overlap are one. In a plan they are a digest. Default: those of `file`.
        #[serde(default)]
        #[schemars(extend("x-numbers" = "detours"))]
        detours: Attached,
        /// A file with these columns: CSV (with a first line of names) or Parquet.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        file: String,
    },
}

/// Whether ranks are away together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoisePhase {
    /// Each rank has a phase of its own.
    #[default]
    Random,
    /// All have the same.
    Same,
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl NoiseSpec {
    /// The table that comes beside the specification, if it has one.
    pub(super) fn table(&mut self) -> Option<&mut Attached> {
        match self {
            NoiseSpec::File { detours, .. } => Some(detours),
            NoiseSpec::Periodic { .. } | NoiseSpec::Exponential { .. } => None,
        }
    }

    /// Bytes of the table in memory.
    pub(crate) fn memory_bytes(&self) -> u64 {
        match self {
            NoiseSpec::File { detours, .. } => detours.memory_bytes(),
            NoiseSpec::Periodic { .. } | NoiseSpec::Exponential { .. } => 0,
        }
    }

    /// The detours of so many ranks; `seed` is that of the run.
    ///
    /// # Errors
    /// [`Error::Config`] for times out of their range, and for detours of ranks that do not exist.
    pub fn resolve(&self, ranks: u32, seed: u64) -> Result<Noise> {
        match self {
            NoiseSpec::Periodic { period_cycles: period, duration_cycles: duration, phase, phase_cycles } => {
                let (period, duration) = (*period, *duration);
                cycles("period_cycles", period, 2)?;
                if !(1..period).contains(&duration) {
                    let expected = format!("1 to {} cycles, less than the period", period - 1);
                    let hint = "a rank that is always away does nothing";
                    return Err(Error::config("host.noise.duration_cycles", duration, expected, hint));
                }
                let phases = phases(ranks, seed, period, *phase, *phase_cycles)?;
                Ok(Noise::Periodic { period, duration, phases })
            }
            NoiseSpec::Exponential { mean_interval_cycles, duration_cycles, mean_duration_cycles } => {
                cycles("mean_interval_cycles", *mean_interval_cycles, 1)?;
                let duration = length(*duration_cycles, *mean_duration_cycles)?;
                Ok(Noise::Exponential { seed, interval: *mean_interval_cycles, duration })
            }
            NoiseSpec::File { detours, file } => {
                no_file("host.noise", file, "detours")?;
                let path = "host.noise.detours";
                let detours = detours.detours(path)?;
                if detours.ranks() > ranks {
                    let expected = format!("ranks 0 to {}", ranks - 1);
                    return Err(Error::config(path, format!("rank {}", detours.ranks() - 1), expected, ""));
                }
                Ok(Noise::Listed(Arc::clone(detours)))
            }
        }
    }
}

fn cycles(field: &str, value: u64, least: u64) -> Result<()> {
    if (least..=LONGEST_NOISE).contains(&value) {
        return Ok(());
    }
    Err(Error::config(format!("host.noise.{field}"), value, format!("{least} to 2^40 cycles"), ""))
}

fn phases(ranks: u32, seed: u64, period: u64, kind: NoisePhase, same: u64) -> Result<Vec<u64>> {
    let path = "host.noise.phase_cycles";
    let drawn = |rank: u32| {
        let bits = mix(mix(seed ^ 0x0070_6861_7365) ^ u64::from(rank));
        ((u128::from(bits) * u128::from(period)) >> 64) as u64
    };
    match kind {
        NoisePhase::Random if same > 0 => {
            Err(Error::config(path, same, "0 where phases are drawn", "set host.noise.phase = \"same\""))
        }
        NoisePhase::Random => Ok((0..ranks).map(drawn).collect()),
        NoisePhase::Same if same >= period => {
            Err(Error::config(path, same, format!("less than the period, 0 to {}", period - 1), ""))
        }
        NoisePhase::Same => Ok(vec![same; ranks as usize]),
    }
}

fn length(fixed: Option<u64>, mean: Option<u64>) -> Result<DetourLength> {
    match (fixed, mean) {
        (Some(fixed), None) => cycles("duration_cycles", fixed, 1).map(|()| DetourLength::Fixed(fixed)),
        (None, Some(mean)) => cycles("mean_duration_cycles", mean, 1).map(|()| DetourLength::Mean(mean)),
        (Some(fixed), Some(_)) => {
            let expected = "nothing beside mean_duration_cycles: one length, or a mean";
            Err(Error::config("host.noise.duration_cycles", fixed, expected, "take one of the two out"))
        }
        (None, None) => {
            let hint = "or mean_duration_cycles, where they differ";
            Err(Error::config("host.noise.duration_cycles", "nothing", "the length of a detour", hint))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused() {
        let fault = |spec: NoiseSpec| spec.resolve(4, 1).unwrap_err().to_string();
        let periodic = |period_cycles, duration_cycles, phase, phase_cycles| {
            fault(NoiseSpec::Periodic { period_cycles, duration_cycles, phase, phase_cycles })
        };
        assert!(periodic(0, 0, NoisePhase::Same, 0).contains("period_cycles = 0: expected 2 to 2^40"));
        assert!(periodic(10, 0, NoisePhase::Same, 0).contains("duration_cycles = 0: expected 1 to 9"));
        assert!(periodic(10, 10, NoisePhase::Same, 0).contains("duration_cycles = 10"));
        assert!(periodic(10, 1, NoisePhase::Same, 10).contains("phase_cycles = 10: expected less than the period"));
        assert!(periodic(10, 1, NoisePhase::Random, 3).contains("phase_cycles = 3: expected 0 where"));
        let drawn = |interval, duration_cycles, mean_duration_cycles| {
            fault(NoiseSpec::Exponential { mean_interval_cycles: interval, duration_cycles, mean_duration_cycles })
        };
        assert!(drawn(0, Some(1), None).contains("mean_interval_cycles = 0"));
        assert!(drawn(1, None, None).contains("duration_cycles = nothing"));
        assert!(drawn(1, Some(1), Some(1)).contains("one length, or a mean"));
        assert!(drawn(1, None, Some(0)).contains("mean_duration_cycles = 0"));
        let file = |file: &str| fault(NoiseSpec::File { detours: Attached::default(), file: file.into() });
        assert!(file("a.csv").contains("host.noise.file = a.csv"));
        assert!(file("").contains("host.noise.detours = nothing"));
    }

    #[test]
    fn phases_that_are_drawn_follow_the_seed() {
        let spec =
            NoiseSpec::Periodic { period_cycles: 1000, duration_cycles: 1, phase: NoisePhase::Random, phase_cycles: 0 };
        let phases = |seed| match spec.resolve(2000, seed) {
            Ok(Noise::Periodic { phases, .. }) => phases,
            other => panic!("{other:?}"),
        };
        let mean = phases(1).iter().sum::<u64>() / 2000;
        assert!(phases(1).iter().all(|&phase| phase < 1000) && (470..530).contains(&mean), "{mean}");
        assert!(phases(1) == phases(1) && phases(1) != phases(2));
    }
}
