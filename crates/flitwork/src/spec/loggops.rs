//! The ideal machine: no topology and no contention, only the parameters of the LogGOPS model.

use crate::error::{Error, Result, did_you_mean};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Longest latency, overhead and gap \[ns].
const MAX_TIME: f64 = 1e15;
/// Largest time for a byte \[ns].
const MAX_TIME_OF_BYTE: f64 = 1e9;

/// The parameters of LogGOPS (Culler et al., LogP, PPoPP 1993; Hoefler et al., LogGOPSim, HPDC 2010), with the defaults
/// of LogGOPSim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(non_snake_case)]
pub struct LogGopsSpec {
    /// Latency of a message \[ns]. Default: 2500.
    pub L: u64,
    /// Overhead of a send and of a receive: so long a CPU is busy \[ns]. Default: 1500.
    pub o: u64,
    /// Gap between messages at a NIC \[ns]. Default: 1000.
    pub g: u64,
    /// Gap per byte at a NIC [ns/byte]. Default: 6.
    pub G: f64,
    /// Overhead per byte at a CPU [ns/byte]. Default: 0.
    pub O: f64,
    /// Messages of more bytes wait for their receive (rendezvous) \[bytes]. Default: 65535.
    pub S: u64,
}

impl Default for LogGopsSpec {
    fn default() -> Self {
        LogGopsSpec { L: 2500, o: 1500, g: 1000, G: 6.0, O: 0.0, S: 65_535 }
    }
}

/// Name, range, and what is expected of each field.
const FIELDS: [(&str, bool, f64, &str); 6] = [
    ("L", true, MAX_TIME, "a latency in whole ns, 0 to 1e15"),
    ("o", true, MAX_TIME, "an overhead in whole ns, 0 to 1e15"),
    ("g", true, MAX_TIME, "a gap in whole ns, 0 to 1e15"),
    ("G", false, MAX_TIME_OF_BYTE, "a gap in ns per byte, 0 to 1e9"),
    ("O", false, MAX_TIME_OF_BYTE, "an overhead in ns per byte, 0 to 1e9"),
    ("S", true, 1.9e19, "a number of bytes"),
];

impl LogGopsSpec {
    /// Reads the parameters from a JSON object.
    ///
    /// # Errors
    /// [`Error::Config`] with the name of the parameter.
    pub fn from_json(text: &str) -> Result<Self> {
        let value: Value =
            serde_json::from_str(text).map_err(|e| Error::config("loggops", "text", format!("JSON ({e})"), ""))?;
        let Value::Object(fields) = &value else {
            return Err(Error::config("loggops", value, "a table", "such as {\"L\": 2500}"));
        };
        for (name, given) in fields {
            let path = format!("loggops.{name}");
            let Some((_, whole, most, expected)) = FIELDS.iter().find(|field| field.0 == name) else {
                let names = FIELDS.map(|field| field.0);
                let expected = format!("one of {}", names.join(", "));
                return Err(Error::config(path, given, expected, did_you_mean(name, &names)));
            };
            let fits = given.as_f64().is_some_and(|number| (0.0..=*most).contains(&number));
            if !fits || *whole && given.as_u64().is_none() {
                return Err(Error::config(path, given, *expected, ""));
            }
        }
        serde_json::from_value(value).map_err(|e| Error::config("loggops", "a table", e.to_string(), ""))
    }

    /// The parameters as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_and_what_is_wrong_is_named() {
        let read = LogGopsSpec::from_json(r#"{"L": 7, "G": 0.25}"#).unwrap();
        assert_eq!(read, LogGopsSpec { L: 7, G: 0.25, ..LogGopsSpec::default() });
        assert_eq!(LogGopsSpec::from_json(&read.to_json()).unwrap(), read);
        let faults = [
            (r#"{"L": -1}"#, "loggops.L"),
            (r#"{"o": 1.5}"#, "loggops.o"),
            (r#"{"G": "6"}"#, "loggops.G"),
            (r#"{"O": 1e10}"#, "loggops.O"),
            (r#"{"l": 1}"#, "loggops.l"),
            ("[]", "loggops"),
            ("{", "loggops"),
        ];
        for (text, where_it_is) in faults {
            match LogGopsSpec::from_json(text) {
                Err(Error::Config { path, .. }) => assert_eq!(path, where_it_is),
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
