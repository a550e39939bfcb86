//! A shortest path on any network: at each router the lowest output port that leads on one, from a table.
//!
//! All packets between two routers take the same route. Nothing is done against deadlock, so the dependencies of all
//! channels are looked at when a run is planned: trees, stars and full meshes are free of them, rings are not. For
//! these there are [`super::Lash`] and [`super::HopClasses`].

use super::Routing;
use super::kind::{AnyOptions, Network};
use super::port_table::{PortTable, at_work, check};
use crate::error::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of shortest paths: none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShortestPathOptions {}

impl AnyOptions for ShortestPathOptions {
    fn resolve(&mut self, network: &Network) -> Result<()> {
        check(network.fabric)
    }

    fn routing(&self, network: &Network) -> Result<Routing> {
        Ok(at_work(network.fabric, PortTable::shortest(network.fabric)))
    }
}
