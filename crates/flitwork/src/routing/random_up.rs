//! Random up: to a nearest common ancestor that is drawn on the way, port by port.
//!
//! Valiant's idea without detours: every nearest common ancestor is equally likely, whatever the traffic is. It is the
//! routing `nca` of BookSim's fat tree (W. J. Dally and B. Towles, Principles and Practices of Interconnection
//! Networks, 2004) and the random NCA routing of G. Rodriguez et al., "Oblivious routing schemes in extended
//! generalized fat tree networks", IEEE CLUSTER 2009.

use super::hop_by_hop::GoesBy;
use super::on_tree::{TreeOptions, routes_trees};
use super::tree_steps::{Rule, UpBy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of random up: none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomUpOptions {}

impl TreeOptions for RandomUpOptions {
    const KIND: &'static str = "random_up";

    fn rule(&self) -> Rule {
        Rule { by: UpBy::Draw, label: GoesBy::Routers }
    }
}

routes_trees!(RandomUpOptions);
