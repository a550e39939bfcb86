//! Packet spraying: each packet takes a shortest path drawn on its own.
//!
//! A. Dixit, P. Prakash, Y. C. Hu and R. R. Kompella, "On the impact of packet spraying in data center networks", IEEE
//! INFOCOM 2013. The load is even on average, and packets of a pair of terminals may overtake each other. On a fat tree
//! it is [`super::RandomUpOptions`].

use super::equal_paths::{Pick, picks_equal_paths};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of packet spraying: none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SprayOptions {}

picks_equal_paths!(SprayOptions, |_| Pick::Packet);
