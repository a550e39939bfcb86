//! The mesh: no dimension wraps.

use super::grid::{MAX_DIMS, MAX_SIZE};
use super::kind::{Topology, one};
use super::{Fabric, Grid, Ring2};
use crate::error::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A mesh: no dimension wraps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mesh {
    /// Routers along each dimension \[routers].
    #[schemars(length(min = 1, max = MAX_DIMS), inner(range(min = 1, max = MAX_SIZE)))]
    pub size: Vec<u32>,
    /// Terminals at each router, at least 1. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub terminals_per_router: u32,
}

impl Topology for Mesh {
    fn fabric(&self) -> Result<Fabric> {
        Fabric::of_grid(
            Grid::checked(&self.size, &vec![false; self.size.len()], Ring2::Double)?,
            self.terminals_per_router,
        )
    }
}
