//! S-mod-k: up by the number of the source.
//!
//! As D-mod-k with the number of the source in the place of the destination's: the packets of one terminal keep together on their
//! way up, and those of others use other channels. G. Rodriguez, C. Minkenberg, R. Beivide, R. P. Luijten, J. Labarta and M. Valero,
//! "Oblivious routing schemes in extended generalized fat tree networks", IEEE CLUSTER 2009.

use super::Routing;
use super::d_mod_k::ByDigits;
use super::hop_by_hop::{GoesBy, HopByHop};
use super::kind::{AnyOptions, Network};
use super::on_tree;
use crate::error::Result;
use crate::topology::Fabric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Options of S-mod-k: none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SModKOptions {}

const RULE: ByDigits = ByDigits(GoesBy::Source);

impl AnyOptions for SModKOptions {
    fn resolve(&mut self, network: &Network) -> Result<()> {
        on_tree::check(network, "s_mod_k")
    }

    fn routing(&self, network: &Network) -> Routing {
        on_tree::routing(network, RULE)
    }

    fn representative(&self, network: &Network) -> Option<(Fabric, Arc<dyn HopByHop>)> {
        on_tree::representative(network, RULE)
    }
}
