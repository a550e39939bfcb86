//! Which of several output ports a packet asks for, and what a router knows of others: options of adaptive routing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which of the output ports that have a virtual channel to give a packet asks for. Decided anew in each cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// The one whose best virtual channel has the most credits; ties to the lowest port.
    #[default]
    MostCredits,
    /// A random one.
    Random,
    /// The first at or after a pointer of the router that moves one past the port chosen.
    RoundRobin,
    /// All of them at once, the escape channel too; the allocator decides. An adaptive channel goes before the escape
    /// channel where the allocator heeds priorities (iSLIP does not).
    All,
}

/// What Cross-Line routing knows of the queues along a row or column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Information {
    /// The queues of all routers on the route along the row and the column ("semi-global").
    #[default]
    Cross,
    /// The queues behind the router's own output ports only.
    Local,
    /// None: it chooses at random.
    None,
}
