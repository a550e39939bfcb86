//! A permutation given in full.

use super::Destinations;
use super::rule::{Context, Rule};
use crate::error::{Error, Result};
use crate::traffic::no_file;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Terminal `i` sends to `destinations[i]`, a permutation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Permutation {
    /// One destination for each terminal, each once. Default: those of `file`.
    #[serde(default)]
    #[schemars(extend("x-numbers" = "destinations"))]
    pub destinations: Vec<u32>,
    /// A file with the destinations in the order of the terminals: CSV or NumPy (.npy).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
}

impl Rule for Permutation {
    fn destinations(&self, on: &Context<'_>) -> Result<Destinations> {
        no_file("workload.pattern", &self.file, "destinations")?;
        let (path, n, destinations) = ("workload.pattern.destinations", on.terminals(), &self.destinations);
        if destinations.len() != n as usize {
            let expected = format!("{n} destinations, one for each terminal");
            let hint = if destinations.is_empty() { "give destinations, or a file" } else { "" };
            return Err(Error::config(path, format!("{} destinations", destinations.len()), expected, hint));
        }
        let mut seen = vec![false; n as usize];
        for (i, &d) in destinations.iter().enumerate() {
            if d >= n || std::mem::replace(&mut seen[d as usize], true) {
                let expected = format!("each of 0 to {} once", n - 1);
                return Err(Error::config(format!("{path}[{i}]"), d, expected, "this is no permutation"));
            }
        }
        Ok(Destinations::Fixed(destinations.clone()))
    }

    fn is_permutation(&self) -> bool {
        true
    }

    #[cfg(test)]
    fn example(terminals: u32) -> Self {
        Permutation { destinations: (0..terminals).rev().collect(), file: String::new() }
    }
}
