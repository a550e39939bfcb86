//! The grid between mesh and torus: each dimension wraps or does not.

use super::grid::{MAX_DIMS, MAX_SIZE};
use super::kind::{Topology, one};
use super::{Fabric, Grid, Ring2};
use crate::error::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A grid in which each dimension wraps or does not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MixedGrid {
    /// Routers along each dimension \[routers].
    #[schemars(length(min = 1, max = MAX_DIMS), inner(range(min = 1, max = MAX_SIZE)))]
    pub size: Vec<u32>,
    /// Whether each dimension wraps; as many as `size` has.
    pub wrap: Vec<bool>,
    /// Cables between the two routers of a wrapped ring of length 2. Default: double.
    #[serde(default)]
    pub ring2: Ring2,
    /// Terminals at each router, at least 1. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub terminals_per_router: u32,
}

impl Topology for MixedGrid {
    fn fabric(&self) -> Result<Fabric> {
        if self.wrap.len() != self.size.len() {
            let expected = format!("{} entries, one for each size", self.size.len());
            return Err(Error::config("network.topology.wrap", format!("{:?}", self.wrap), expected, ""));
        }
        Fabric::of_grid(Grid::checked(&self.size, &self.wrap, self.ring2)?, self.terminals_per_router)
    }
}
