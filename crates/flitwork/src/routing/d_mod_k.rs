//! D-mod-k: up by the number of the destination.
//!
//! From level `l` a packet for terminal `d` goes up by port `floor(d / (w_1 ... w_l)) mod w_(l+1)`: the packets for one
//! terminal come together as early as they can and go down by channels that those for others do not use. On a tree
//! without oversubscription no two channels of a shift permutation carry two flows. E. Zahavi, G. Johnson, D. J.
//! Kerbyson and M. Lang, "Optimized InfiniBand fat-tree routing for shift all-to-all communication patterns",
//! Concurrency and Computation: Practice and Experience 22(2), 2010.

use super::hop_by_hop::GoesBy;
use super::on_tree::{TreeOptions, routes_trees};
use super::tree_steps::{Rule, UpBy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of D-mod-k: none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DModKOptions {}

impl TreeOptions for DModKOptions {
    const KIND: &'static str = "d_mod_k";

    fn rule(&self) -> Rule {
        Rule { by: UpBy::Digit, label: GoesBy::Destination }
    }
}

routes_trees!(DModKOptions);
