//! Equal-cost multi-path routing: all packets from one terminal to another take one of the shortest paths, by a hash.
//!
//! As switches of data centres route: C. Hopps, "Analysis of an equal-cost multi-path algorithm", RFC 2992, 2000. A
//! flow is a pair of terminals. Flows whose hashes meet share a channel while others stay idle: `bound` and `explain`
//! show by how much.

use super::equal_paths::{Pick, picks_equal_paths};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of equal-cost multi-path routing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EcmpOptions {
    /// Seed of the hash. Another one spreads the pairs of terminals differently.
    #[serde(default)]
    pub seed: u64,
}

picks_equal_paths!(EcmpOptions, |options| Pick::Pair(options.seed));
