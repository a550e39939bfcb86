//! How long packets are: all alike, or drawn for each by share.

use crate::error::{Error, Result};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use schemars::JsonSchema;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// Packet length: a number of flits, or a list of lengths with their shares.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum PacketFlits {
    /// All packets are that long \[flits].
    Fixed(#[schemars(range(min = 1))] u32),
    /// Each packet's length is drawn.
    Mix(Vec<PacketShare>),
}

/// How often packets have a length.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacketShare {
    /// Packet length \[flits], at least 1.
    #[schemars(range(min = 1))]
    pub flits: u32,
    /// How many of the packets, relative to the other lengths, more than 0.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub share: f64,
}

impl Default for PacketFlits {
    fn default() -> Self {
        PacketFlits::Fixed(1)
    }
}

/// Written by hand: the error of an untagged enum would neither name the fault nor show the value.
impl<'de> Deserialize<'de> for PacketFlits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lengths;
        impl<'de> Visitor<'de> for Lengths {
            type Value = PacketFlits;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a whole number of flits, at least 1, or a list of {flits, share}")
            }

            fn visit_u64<E: serde::de::Error>(self, flits: u64) -> Result<PacketFlits, E> {
                let fits = u32::try_from(flits).ok();
                fits.map(PacketFlits::Fixed)
                    .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Unsigned(flits), &self))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<PacketFlits, A::Error> {
                let mut shares = Vec::new();
                while let Some(share) = list.next_element()? {
                    shares.push(share);
                }
                Ok(PacketFlits::Mix(shares))
            }
        }
        deserializer.deserialize_any(Lengths)
    }
}

/// Lengths of packets, resolved.
#[derive(Debug, Clone, PartialEq)]
pub enum Lengths {
    /// All alike \[flits].
    Fixed(u32),
    /// Drawn for each packet.
    Mix {
        /// The lengths \[flits].
        flits: Vec<u32>,
        /// Sum of the shares up to each of them; the last is 1.
        cumulative: Vec<f64>,
    },
}

impl PacketFlits {
    /// The lengths to draw from; `path` is the field's.
    ///
    /// # Errors
    /// [`Error::Config`] for an empty list, or a share that is not more than 0.
    pub fn resolve(&self, path: &str) -> Result<Lengths> {
        let shares = match self {
            PacketFlits::Fixed(flits) => return Ok(Lengths::Fixed(*flits)),
            PacketFlits::Mix(shares) => shares,
        };
        if shares.is_empty() {
            return Err(Error::config(path, "[]", "at least one length", "for example [{ flits = 1, share = 1.0 }]"));
        }
        let shares_only: Vec<f64> = shares.iter().map(|s| s.share).collect();
        super::check_shares(&shares_only, |i| format!("{path}[{i}].share"))?;
        Ok(Lengths::Mix {
            flits: shares.iter().map(|s| s.flits).collect(),
            cumulative: super::cumulative(&shares_only),
        })
    }

    /// Mean length \[flits], before the shares have been checked.
    pub(crate) fn mean_flits(&self) -> f64 {
        match self {
            PacketFlits::Fixed(flits) => f64::from(*flits).max(1.0),
            PacketFlits::Mix(shares) => {
                let of = |what: fn(&PacketShare) -> f64| shares.iter().map(what).sum::<f64>();
                let mean = of(|s| s.share * f64::from(s.flits)) / of(|s| s.share);
                if mean.is_finite() { mean.max(1.0) } else { 1.0 }
            }
        }
    }

    /// Length of the shortest packet \[flits].
    pub(crate) fn shortest_flits(&self) -> u32 {
        match self {
            PacketFlits::Fixed(flits) => *flits,
            PacketFlits::Mix(shares) => shares.iter().map(|s| s.flits).min().unwrap_or(1),
        }
    }

    /// Each length with the path of its field.
    pub fn lengths(&self, path: &str) -> Vec<(String, u32)> {
        match self {
            PacketFlits::Fixed(flits) => vec![(path.to_string(), *flits)],
            PacketFlits::Mix(shares) => {
                shares.iter().enumerate().map(|(i, s)| (format!("{path}[{i}].flits"), s.flits)).collect()
            }
        }
    }
}

impl Lengths {
    /// Mean length \[flits].
    pub fn mean_flits(&self) -> f64 {
        self.mean_of(|flits| flits)
    }

    /// Mean of something that depends on the length of a packet.
    pub fn mean_of(&self, what: impl Fn(u32) -> u32) -> f64 {
        match self {
            Lengths::Fixed(flits) => f64::from(what(*flits)),
            Lengths::Mix { flits, cumulative } => {
                let share = |i: usize| cumulative[i] - if i == 0 { 0.0 } else { cumulative[i - 1] };
                flits.iter().enumerate().map(|(i, &f)| f64::from(what(f)) * share(i)).sum()
            }
        }
    }

    /// Variance of the length over the square of its mean.
    pub fn variation(&self) -> f64 {
        let mean = self.mean_flits();
        let square = match self {
            Lengths::Fixed(_) => return 0.0,
            Lengths::Mix { .. } => self.mean_of(|flits| flits.saturating_mul(flits)),
        };
        (square / (mean * mean) - 1.0).max(0.0)
    }

    /// The length of a packet \[flits]. Takes a random number only where lengths differ.
    #[inline(always)]
    pub(super) fn draw(&self, rng: &mut Pcg64Mcg) -> u32 {
        match self {
            Lengths::Fixed(flits) => *flits,
            Lengths::Mix { flits, cumulative } => flits[super::draw_by_share(cumulative, rng.next_u64() >> 8)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::terminal_rng;

    fn read(json: &str) -> Result<PacketFlits, serde_json::Error> {
        serde_json::from_str(json)
    }

    #[test]
    fn a_number_or_a_list_is_read_and_written_back() {
        for json in ["8", r#"[{"flits":1,"share":3.0},{"flits":5,"share":1.0}]"#] {
            assert_eq!(serde_json::to_string(&read(json).unwrap()).unwrap(), json);
        }
        for (json, fault) in [
            ("\"long\"", "invalid type: string \"long\", expected a whole number of flits"),
            ("-4", "invalid type: integer `-4`, expected a whole number"),
            ("5000000000", "invalid value: integer `5000000000`"),
            (r#"[{"flits":1}]"#, "missing field `share`"),
            (r#"[{"flits":1,"shares":1}]"#, "unknown field `shares`"),
        ] {
            let found = read(json).unwrap_err().to_string();
            assert!(found.contains(fault), "{json}: {found}");
        }
    }

    #[test]
    fn lengths_come_in_their_shares() {
        let mix = read(r#"[{"flits":1,"share":3},{"flits":5,"share":1}]"#).unwrap().resolve("p").unwrap();
        assert_eq!(mix.mean_flits(), 2.0);
        let mut rng = terminal_rng(1, 1);
        let n = 40_000;
        let long = (0..n).filter(|_| mix.draw(&mut rng) == 5).count() as f64 / f64::from(n);
        // Standard error sqrt(0.25 * 0.75 / 40,000) = 0.002.
        assert!((long - 0.25).abs() < 0.01, "{long}");
    }

    #[test]
    fn a_share_of_nothing_is_refused_with_its_place() {
        let error = |json: &str| read(json).unwrap().resolve("workload.packet_flits").unwrap_err().to_string();
        assert!(error("[]").starts_with("workload.packet_flits = []: expected at least one length"));
        let second = error(r#"[{"flits":1,"share":1},{"flits":1,"share":0}]"#);
        assert!(second.starts_with("workload.packet_flits[1].share = 0.0: expected more than 0"), "{second}");
    }
}
