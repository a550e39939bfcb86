//! The workload: what is sent.

use crate::collective::Sync;
use crate::traffic::Pattern;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum WorkloadSpec {
    /// Closed loop: every rank sends one message to every other; one rank a terminal.
    AllToAll {
        /// Name of the algorithm: a2a, a2and or a2at.
        algorithm: String,
        /// Length of each message [flits], at least 1. Default: 100.
        #[serde(default = "hundred")]
        message_flits: u32,
        /// Longest packet [flits]; a longer message is sent as several. Default (0): the whole message.
        #[serde(default)]
        packet_flits: u32,
        /// Whether a message waits for what its rank should have received before. Default: async.
        #[serde(default)]
        sync: Sync,
    },
    /// Open loop: every terminal sends packets to terminals drawn at random, at times drawn by a Bernoulli process.
    Uniform {
        /// Packet length [flits], at least 1. Default: 1.
        #[serde(default = "one")]
        packet_flits: u32,
        /// Offered load [flits/cycle/terminal], more than 0 and at most 1 packet a cycle.
        offered_load: f64,
        /// Whether a terminal may draw itself. Default: true.
        #[serde(default = "yes")]
        include_self: bool,
    },
    /// Open loop: every terminal sends packets by a pattern, at times drawn by a Bernoulli process.
    Traffic {
        /// Where packets go.
        pattern: Pattern,
        /// Packet length [flits], at least 1. Default: 1.
        #[serde(default = "one")]
        packet_flits: u32,
        /// Offered load [flits/cycle/terminal], more than 0 and at most 1 packet a cycle.
        offered_load: f64,
    },
}

fn hundred() -> u32 {
    100
}

fn one() -> u32 {
    1
}

fn yes() -> bool {
    true
}
