//! S-mod-k: up by the number of the source.
//!
//! As D-mod-k with the number of the source in the place of the destination's: the packets of one terminal keep
//! together on their way up, and those of others use other channels. G. Rodriguez, C. Minkenberg, R. Beivide, R. P.
//! Luijten, J. Labarta and M. Valero, "Oblivious routing schemes in extended generalized fat tree networks", IEEE
//! CLUSTER 2009.

use super::hop_by_hop::GoesBy;
use super::on_tree::{TreeOptions, routes_trees};
use super::tree_steps::{Rule, UpBy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of S-mod-k: none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SModKOptions {}

impl TreeOptions for SModKOptions {
    const KIND: &'static str = "s_mod_k";

    fn rule(&self) -> Rule {
        Rule { by: UpBy::Digit, label: GoesBy::Source }
    }
}

routes_trees!(SModKOptions);
