//! The torus: every dimension wraps.

use super::grid::{MAX_DIMS, MAX_SIZE};
use super::kind::{Topology, one};
use super::{Fabric, Grid};
use crate::error::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A torus: every dimension wraps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Torus {
    /// Routers along each dimension \[routers].
    #[schemars(length(min = 1, max = MAX_DIMS), inner(range(min = 1, max = MAX_SIZE)))]
    pub size: Vec<u32>,
    /// Cables between the two routers of a ring of length 2. Default: double.
    #[serde(default)]
    pub ring2: Ring2,
    /// Terminals at each router, at least 1. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub terminals_per_router: u32,
}

/// Cables between the two routers of a ring of length 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ring2 {
    /// Two: the plus one and the minus one.
    #[default]
    Double,
    /// One.
    Single,
}

impl Topology for Torus {
    fn fabric(&self) -> Result<Fabric> {
        Fabric::of_grid(Grid::checked(&self.size, &vec![true; self.size.len()], self.ring2)?, self.terminals_per_router)
    }
}
