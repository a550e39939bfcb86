//! Hot spots: some terminals receive everything.

use super::Destinations;
use super::rule::{Context, Rule};
use crate::error::{Error, Result};
use crate::traffic::{check_shares, cumulative};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Some terminals receive everything.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hotspot {
    /// Terminals that receive, at least one.
    pub terminals: Vec<u32>,
    /// How much each of them receives, relative to the others, more than 0. Default: all the same.
    #[serde(default)]
    pub shares: Vec<f64>,
}

impl Rule for Hotspot {
    fn destinations(&self, on: &Context<'_>) -> Result<Destinations> {
        let (Hotspot { terminals, shares }, n) = (self, on.terminals());
        let path = |field: &str| format!("workload.pattern.{field}");
        if terminals.is_empty() {
            return Err(Error::config(path("terminals"), "[]", "at least one terminal", ""));
        }
        if let Some(i) = terminals.iter().position(|&t| t >= n) {
            let path = format!("{}[{i}]", path("terminals"));
            return Err(Error::config(path, terminals[i], format!("a terminal, 0 to {}", n - 1), ""));
        }
        if !shares.is_empty() && shares.len() != terminals.len() {
            let expected = format!("{} shares, one for each terminal", terminals.len());
            return Err(Error::config(path("shares"), format!("{shares:?}"), expected, ""));
        }
        check_shares(shares, |i| format!("{}[{i}]", path("shares")))?;
        let weights = if shares.is_empty() { vec![1.0; terminals.len()] } else { shares.clone() };
        Ok(Destinations::Weighted { terminals: terminals.clone(), cumulative: cumulative(&weights) })
    }

    #[cfg(test)]
    fn example(terminals: u32) -> Self {
        Hotspot { terminals: vec![terminals - 1, 0], shares: vec![1.0, 3.0] }
    }
}
