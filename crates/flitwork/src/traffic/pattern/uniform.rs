//! Uniform traffic.

use super::Destinations;
use super::rule::{Context, Rule};
use crate::error::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A terminal drawn uniformly for each packet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {
    /// Whether a terminal may draw itself. Default: true.
    #[serde(default = "yes")]
    pub include_self: bool,
}

fn yes() -> bool {
    true
}

impl Default for Uniform {
    fn default() -> Self {
        Uniform { include_self: yes() }
    }
}

impl Rule for Uniform {
    fn destinations(&self, on: &Context<'_>) -> Result<Destinations> {
        if !self.include_self && on.terminals() < 2 {
            let path = "workload.pattern.include_self";
            return Err(Error::config(path, false, "true where there is one terminal", ""));
        }
        Ok(Destinations::Uniform { include_self: self.include_self })
    }
}
