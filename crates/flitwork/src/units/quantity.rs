//! Quantities as they are written: a number in the unit of its field, or text with a unit.

use super::exact::{Exact, decimal, multiplied};
use super::names::{self, UnitMeaning};
use crate::error::{Error, Result};
use num_traits::CheckedAdd;
use serde_json::Value;

/// What a quantity measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dimension {
    /// ns.
    Time,
    /// Bytes.
    Size,
    /// Bytes/s.
    Rate,
}

impl Dimension {
    /// The unit of its numbers.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Dimension::Time => "ns",
            Dimension::Size => "bytes",
            Dimension::Rate => "bytes/s",
        }
    }

    /// What may be written for it.
    fn expected(self) -> &'static str {
        match self {
            Dimension::Time => "a duration: a number of ns, or text with a unit such as \"0.2 us\"",
            Dimension::Size => "a size: a number of bytes, or text with a unit such as \"2 KiB\"",
            Dimension::Rate => "a rate: a number of bytes/s, or text with a unit such as \"4 GB/s\", \"400 Gbit/s\"",
        }
    }

    /// A quantity, of which a list is the sum of its parts.
    ///
    /// # Errors
    /// [`Error::Config`] for what is none, is less than 0, or has an unknown unit.
    pub(crate) fn read(self, path: &str, value: &Value) -> Result<Exact> {
        let refused = |hint: String| Error::config(path, value, self.expected(), hint);
        let found = match value {
            Value::Number(number) => {
                decimal(&number.to_string()).ok_or_else(|| refused("it has too many digits".into()))?
            }
            Value::String(text) => self.text(text).map_err(refused)?,
            Value::Array(parts) if !parts.is_empty() => {
                let mut sum = Exact::from_integer(0);
                for (i, part) in parts.iter().enumerate() {
                    let part = self.read(&format!("{path}[{i}]"), part)?;
                    sum = sum.checked_add(&part).ok_or_else(|| refused("it has too many digits".into()))?;
                }
                sum
            }
            _ => return Err(refused(String::new())),
        };
        let least = Exact::from_integer(0);
        if found < least { Err(refused("it is not less than 0".into())) } else { Ok(found) }
    }

    /// Text with a unit; the error is a hint.
    fn text(self, text: &str) -> std::result::Result<Exact, String> {
        let text = text.trim();
        // Of "1e9 B/s" the e is a part of the number.
        let is_unit = |&(at, c): &(usize, char)| {
            let power =
                matches!(c, 'e' | 'E') && text[at + 1..].starts_with(|next: char| "+-0123456789".contains(next));
            c.is_alphabetic() && !power
        };
        let Some((at, _)) = text.char_indices().find(is_unit) else {
            return Err("a number without quotes, or with a unit behind it".into());
        };
        let (written, unit) = (text[..at].trim(), text[at..].trim());
        let number =
            decimal(written).ok_or_else(|| format!("a number first, and {written:?} is none; then its unit"))?;
        let factor = self.factor(written, unit)?;
        multiplied(number, factor).ok_or_else(|| "it has too many digits".into())
    }

    /// How much a unit is behind the number that was `written`; the error is a hint.
    fn factor(self, written: &str, name: &str) -> std::result::Result<Exact, String> {
        let Some(unit_meaning) = self.unit_meaning(name) else { return Err(self.other(name)) };
        unit_meaning.factor.ok_or_else(|| match &unit_meaning.names[..] {
            [bits, bytes] if bits.contains("bit") => {
                format!("write \"{written} {bits}\" (bits) or \"{written} {bytes}\" (bytes): {name:?} may be either")
            }
            [one, other] => format!("write \"{written} {one}\" or \"{written} {other}\": {name:?} may be either"),
            names => format!("write \"{written} {}\"", names.concat()),
        })
    }

    fn unit_meaning(self, name: &str) -> Option<UnitMeaning> {
        match self {
            Dimension::Time => names::time(name),
            Dimension::Size => names::size(name),
            Dimension::Rate => names::rate(name),
        }
    }

    /// What to do about a unit that is none here.
    fn other(self, name: &str) -> String {
        let all = [Dimension::Time, Dimension::Size, Dimension::Rate];
        let is = |one: &&Dimension| **one != self && one.unit_meaning(name).is_some();
        let found = all.iter().find(is).map(|one| format!("{name:?} is a unit of a {}; ", one.word()));
        let units = match self {
            Dimension::Time => "ps, ns, us, ms, s",
            Dimension::Size => "B, kB, MB, GB, KiB, MiB, GiB, bit, kbit, Mbit",
            Dimension::Rate => "B/s, MB/s, GB/s, GiB/s, TB/s, Mbit/s, Gbit/s, Gb/s, Gbps, \"3200 MT/s x 64 bit\"",
        };
        format!("{}units are {units}", found.unwrap_or_default())
    }

    fn word(self) -> &'static str {
        match self {
            Dimension::Time => "duration",
            Dimension::Size => "size",
            Dimension::Rate => "rate",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::shown;
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_in_the_unit_of_the_field() {
        let of =
            |dimension: Dimension, value: Value| dimension.read("at", &value).map(shown).map_err(|e| e.to_string());
        assert_eq!(of(Dimension::Time, json!(19.5)).unwrap(), "19.5");
        assert_eq!(of(Dimension::Time, json!("0.2 us")).unwrap(), "200");
        assert_eq!(of(Dimension::Time, json!("1250ps")).unwrap(), "1.25");
        assert_eq!(of(Dimension::Time, json!([78, "10 ns"])).unwrap(), "88");
        assert_eq!(of(Dimension::Size, json!("2 KiB")).unwrap(), "2048");
        assert_eq!(of(Dimension::Size, json!("64 bit")).unwrap(), "8");
        assert_eq!(of(Dimension::Rate, json!("100 Gbit/s")).unwrap(), "12500000000");
        assert_eq!(of(Dimension::Rate, json!("4e9 B/s")).unwrap(), "4000000000");
        assert_eq!(of(Dimension::Rate, json!(4e9)).unwrap(), "4000000000");
    }

    #[test]
    fn what_is_no_quantity_is_named() {
        let fault = |dimension: Dimension, value: Value| dimension.read("at", &value).unwrap_err().to_string();
        assert!(fault(Dimension::Rate, json!("10 furlongs/s")).contains("units are"));
        assert!(fault(Dimension::Size, json!("10 GB/s")).contains("\"GB/s\" is a unit of a rate; units are B, kB"));
        assert!(fault(Dimension::Time, json!("78")).contains("without quotes"));
        assert!(fault(Dimension::Time, json!("two ns")).contains("a number first"));
        assert!(fault(Dimension::Time, json!(-1)).contains("not less than 0"));
        assert!(fault(Dimension::Time, json!([78, "x ns"])).starts_with("at[1] = "));
        for value in [json!(null), json!(true), json!([]), json!({}), json!("")] {
            assert!(fault(Dimension::Time, value).contains("a duration"));
        }
        assert!(fault(Dimension::Size, json!(1e300)).contains("too many digits"));
        assert!(fault(Dimension::Size, json!("99999999999999999999999999999 TiB")).contains("too many digits"));
    }
}
