//! `network.units`: what a flit carries and how long a cycle takes. Any two of bytes, ns and bytes/s give the third.

use crate::error::{Error, Result};
use crate::units::{Dimension, Exact, Units, nearest, shown, whole};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Most bytes of a flit, and most ns of a cycle.
const MAX_UNIT: u32 = 1_000_000;
/// Most bytes/s of a channel: a petabyte.
const MAX_RATE: f64 = 1e15;

/// What becomes of times in ns that are no whole number of cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rounding {
    /// The nearest number of whole cycles is taken, and the plan says by how much each time was changed.
    #[default]
    Nearest,
    /// They are refused, with the nearest times that are whole.
    Exact,
}

impl Rounding {
    fn is_default(&self) -> bool {
        *self == Rounding::default()
    }
}

/// A time in ns that was no whole number of cycles, and what it became.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rounded {
    /// The field; several joined by " + " where delays of a hop are added up.
    pub field: String,
    /// What was written \[ns].
    pub given_ns: f64,
    /// What is simulated \[ns].
    pub value_ns: f64,
    /// How much longer that is, as a share: 0.024 is 2.4 %.
    pub error: f64,
}

/// What a flit carries and how long a cycle takes: what is said in bytes, ns or bytes/s becomes flits and cycles by
/// them, and results are in both. Two of the three say all. A network that is told all in flits and cycles needs none.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UnitsSpec {
    /// Size of a flit \[bytes], 1 to 1000000. Default: not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = MAX_UNIT))]
    pub flit_bytes: Option<u32>,
    /// Length of a cycle \[ns], more than 0 and at most 1000000. Default: not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(max = MAX_UNIT), extend("exclusiveMinimum" = 0))]
    pub cycle_ns: Option<f64>,
    /// Bandwidth of a channel, which takes a flit in every cycle [bytes/s], more than 0 and at most 10^15; or text such
    /// as "4 GB/s", "100 Gbit/s". Default: not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(max = MAX_RATE), extend("exclusiveMinimum" = 0))]
    pub channel_bytes_per_s: Option<f64>,
    /// Header of each packet \[bytes], 0 to 1000000: a message in bytes takes so much more for each of its packets,
    /// whose longest (`packet_bytes`, `packet_flits`) is with its header. Default: 0.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(range(max = MAX_UNIT))]
    pub header_bytes: u32,
    /// What becomes of times in ns that are no whole number of cycles: `nearest` takes the nearest number of cycles,
    /// and the plan says by how much each time was changed; `exact` refuses them. Default: nearest.
    #[serde(skip_serializing_if = "Rounding::is_default")]
    pub rounding: Rounding,
    /// The times that were rounded when the specification was read.
    #[serde(skip)]
    pub rounded: Vec<Rounded>,
}

fn is_zero(bytes: &u32) -> bool {
    *bytes == 0
}

impl UnitsSpec {
    /// Whether nothing in it was said: then plans do without it.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The clock: whatever two of the three say, and what each says alone.
    ///
    /// # Errors
    /// [`Error::Config`] for what is out of range, or for three that contradict each other.
    pub(crate) fn resolve(&self) -> Result<Units> {
        let flit_bytes = self.flit_bytes.map(within).transpose()?;
        let cycle = self.cycle_ns.map(|ns| exact("cycle_ns", ns, f64::from(MAX_UNIT), Dimension::Time)).transpose()?;
        let rate = self.channel_bytes_per_s;
        let rate = rate.map(|rate| exact("channel_bytes_per_s", rate, MAX_RATE, Dimension::Rate)).transpose()?;
        let (flit_bytes, cycle) = match (flit_bytes, cycle, rate) {
            (Some(bytes), None, Some(rate)) => (Some(bytes), Units::cycle_of(bytes, rate)),
            (None, Some(cycle), Some(rate)) => (Some(flit_of(cycle, rate)?), Some(cycle)),
            (Some(bytes), Some(cycle), Some(rate)) => {
                agree(bytes, cycle, rate)?;
                (Some(bytes), Some(cycle))
            }
            (flit_bytes, cycle, _) => (flit_bytes, cycle),
        };
        Units::new(flit_bytes, cycle).ok_or_else(|| {
            let (path, value) = match self.channel_bytes_per_s {
                Some(rate) => ("network.units.channel_bytes_per_s", rate),
                None => ("network.units.cycle_ns", self.cycle_ns.unwrap_or(0.0)),
            };
            Error::config(path, value, "a cycle that is a fraction of at most 18 digits", "use a rounder number")
        })
    }
}

impl UnitsSpec {
    /// Says the same clock in the same words, whichever two of the three were written: in a plan it is bytes and ns,
    /// unless the ns are no decimal.
    pub(crate) fn simplify(&mut self, units: &Units) {
        // A plan is in whole cycles.
        self.rounding = Rounding::default();
        let (Some(bytes), Some(ns)) = (units.flit_bytes(), units.cycle_ns()) else { return };
        if Dimension::Time.read("", &Value::from(ns)).is_ok_and(|read| Some(read) == units.cycle()) {
            (self.flit_bytes, self.cycle_ns, self.channel_bytes_per_s) = (Some(bytes), Some(ns), None);
        }
    }
}

fn within(bytes: u32) -> Result<u32> {
    if (1..=MAX_UNIT).contains(&bytes) {
        return Ok(bytes);
    }
    Err(Error::config("network.units.flit_bytes", bytes, format!("1 to {MAX_UNIT} bytes"), ""))
}

/// The number that was written, which has a shortest decimal.
fn exact(field: &str, value: f64, most: f64, dimension: Dimension) -> Result<Exact> {
    let path = format!("network.units.{field}");
    if value.is_nan() || value <= 0.0 || value > most {
        let expected = format!("more than 0 and at most {most} {}", dimension.unit());
        return Err(Error::config(path, value, expected, ""));
    }
    dimension.read(&path, &Value::from(value))
}

/// The bytes that a channel carries in a cycle.
fn flit_of(cycle: Exact, rate: Exact) -> Result<u32> {
    let bytes = Units::bytes_in(cycle, rate).unwrap_or_default();
    if let Some(bytes) = whole(bytes).and_then(|bytes| u32::try_from(bytes).ok()).filter(|&bytes| bytes > 0) {
        return within(bytes);
    }
    let expected = format!("a rate that carries a whole number of bytes in a cycle of {} ns", shown(cycle));
    let hint = format!("it carries {}: say flit_bytes instead of cycle_ns", shown(bytes));
    Err(Error::config("network.units.channel_bytes_per_s", shown(rate), expected, hint))
}

/// Whether flit, cycle and rate say the same.
fn agree(bytes: u32, cycle: Exact, rate: Exact) -> Result<()> {
    let by_rate = Units::cycle_of(bytes, rate).unwrap_or_default();
    if by_rate == cycle {
        return Ok(());
    }
    let expected = format!("{} ns: {bytes} bytes at {} bytes/s", shown(by_rate), shown(rate));
    Err(Error::config("network.units.cycle_ns", shown(cycle), expected, "two of the three say all: take one out"))
}

/// The two numbers next to one that does not divide, in words: "76 ns (19 cycles) or 80 ns (20 cycles)".
pub(super) fn neighbours(value: Exact, step: Exact, unit: &str, steps: &str) -> String {
    let Some(found) = nearest(value, step) else { return "a smaller number".to_string() };
    let [below, above] =
        found.map(|(count, at)| format!("{} {unit} ({count} {steps}{})", shown(at), if count == 1 { "" } else { "s" }));
    format!("{below} or {above}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(flit_bytes: Option<u32>, cycle_ns: Option<f64>, rate: Option<f64>) -> Result<(Option<u32>, Option<String>)> {
        let units = UnitsSpec { flit_bytes, cycle_ns, channel_bytes_per_s: rate, ..UnitsSpec::default() };
        let units = units.resolve()?;
        Ok((units.flit_bytes(), units.cycle().map(shown)))
    }

    #[test]
    fn two_of_three_say_all() {
        let both = (Some(16), Some("4".to_string()));
        assert_eq!(of(Some(16), None, Some(4e9)).unwrap(), both);
        assert_eq!(of(None, Some(4.0), Some(4e9)).unwrap(), both);
        assert_eq!(of(Some(16), Some(4.0), Some(4e9)).unwrap(), both);
        assert_eq!(of(Some(16), None, Some(3e9)).unwrap().1.unwrap(), "16/3");
        assert_eq!(of(Some(16), Some(0.7), None).unwrap().1.unwrap(), "0.7");
        assert_eq!(of(None, None, Some(3e9)).unwrap(), (None, None));
    }

    #[test]
    fn a_plan_says_the_same_clock_in_the_same_words() {
        let simple = |rate| {
            let mut spec = UnitsSpec { flit_bytes: Some(16), channel_bytes_per_s: Some(rate), ..UnitsSpec::default() };
            let units = spec.resolve().unwrap();
            spec.simplify(&units);
            spec
        };
        assert_eq!(simple(4e9), UnitsSpec { flit_bytes: Some(16), cycle_ns: Some(4.0), ..UnitsSpec::default() });
        assert_eq!(simple(3e9).channel_bytes_per_s, Some(3e9));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let fault = |bytes, cycle, rate| of(bytes, cycle, rate).unwrap_err().to_string();
        assert!(fault(Some(0), None, None).starts_with("network.units.flit_bytes = 0: expected 1 to 1000000 bytes"));
        for ns in [0.0, -1.0, f64::NAN, 1e7] {
            assert!(fault(None, Some(ns), None).starts_with("network.units.cycle_ns = "), "{ns}");
        }
        for rate in [0.0, -1.0, f64::INFINITY, 1e16] {
            assert!(fault(Some(16), None, Some(rate)).starts_with("network.units.channel_bytes_per_s = "), "{rate}");
        }
        assert!(fault(Some(16), Some(5.0), Some(4e9)).contains("4 ns: 16 bytes at 4000000000 bytes/s"));
        assert!(fault(None, Some(0.3), Some(4e9)).contains("it carries 1.2"));
        assert!(fault(None, Some(1e-20), None).contains("18 digits"));
    }
}
