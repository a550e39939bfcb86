//! Random up: to a nearest common ancestor that is drawn on the way, port by port.
//!
//! Valiant's idea without detours: every nearest common ancestor is equally likely, whatever the traffic is. It is the routing `nca` of
//! BookSim's fat tree (W. J. Dally and B. Towles, Principles and Practices of Interconnection Networks, 2004) and the random NCA
//! routing of G. Rodriguez et al., "Oblivious routing schemes in extended generalized fat tree networks", IEEE CLUSTER 2009.

use super::on_tree::{UpRule, any_of, draw, routes_trees_by};
use super::tree_steps::UpBy;
use crate::mix::draw_below;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of random up: none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomUpOptions {}

/// Any up port, by random bits of the packet.
#[derive(Debug, Clone, Copy)]
struct Random;

impl UpRule for Random {
    fn by(&self) -> UpBy {
        UpBy::Draw
    }

    #[inline]
    fn up(&self, _label: u32, parents: u32, _copies: u32) -> u64 {
        any_of(parents)
    }

    #[inline]
    fn drawn(&self, up: u64, at: u32, bits: &dyn Fn() -> u64) -> u64 {
        1 << draw_below(draw(bits(), at, 0), u64::from(up.count_ones()))
    }
}

routes_trees_by!("random_up", RandomUpOptions, |_: &RandomUpOptions| Random);
