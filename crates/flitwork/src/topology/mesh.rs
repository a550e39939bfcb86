//! The mesh: no dimension wraps.

use super::kind::{Topology, one};
use super::{Grid, Ring2};
use crate::error::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A mesh: no dimension wraps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mesh {
    /// Routers along each dimension [routers], 1 to 6 dimensions of 1 to 8192.
    pub size: Vec<u32>,
    /// Terminals at each router, at least 1. Default: 1.
    #[serde(default = "one")]
    pub terminals_per_router: u32,
}

impl Topology for Mesh {
    fn grid(&self) -> Result<Grid> {
        Grid::checked(&self.size, &vec![false; self.size.len()], Ring2::Double)
    }

    fn terminals_per_router(&self) -> u32 {
        self.terminals_per_router
    }
}
