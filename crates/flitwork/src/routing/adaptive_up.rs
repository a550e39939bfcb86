//! Adaptive up: to a nearest common ancestor by the least loaded ports.
//!
//! In each router on the way up a packet decides once, in the last cycle of its routing stage (without one, when it
//! first asks for a virtual channel), for the up port behind which the fewest flits are (those sent whose credit has
//! not come back, of all virtual channels), and waits for it if need be. F. Petrini and M. Vanneschi, "k-ary n-trees:
//! high performance networks for massively parallel architectures", IPPS 1997, send packets up by the least loaded
//! link. With two candidates it is the routing `anca` of BookSim's fat tree, which looks at two random ports as in M.
//! Mitzenmacher, "The power of two choices in randomized load balancing", IEEE Trans. Parallel and Distributed Systems
//! 12(10), 2001.

use super::hop_by_hop::GoesBy;
use super::on_tree::{TreeOptions, routes_trees};
use super::tree_steps::{Rule, UpBy};
use crate::error::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most draws.
const MOST_CANDIDATES: u32 = 64;

/// Options of adaptive up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveUpOptions {
    /// Up ports that are compared, drawn at random for each packet and router, the same one perhaps twice: 1 to 64.
    /// Default (0): all of them.
    #[serde(default)]
    #[schemars(range(min = 0, max = MOST_CANDIDATES))]
    pub candidates: u32,
}

impl TreeOptions for AdaptiveUpOptions {
    const KIND: &'static str = "adaptive_up";

    fn rule(&self) -> Rule {
        Rule { by: UpBy::Comparing(self.candidates), label: GoesBy::Routers }
    }

    fn check(&self) -> Result<()> {
        if self.candidates <= MOST_CANDIDATES {
            return Ok(());
        }
        let expected = format!("0 to {MOST_CANDIDATES} ports");
        Err(Error::config("network.routing.candidates", self.candidates, expected, "0 compares all up ports"))
    }
}

routes_trees!(AdaptiveUpOptions);
