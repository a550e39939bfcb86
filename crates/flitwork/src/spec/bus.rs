//! The bus and the barrier tree that a machine may have beside its routers and channels.

use super::MAX_DELAY;
use crate::collective::Operation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A bus that all ranks share beside the network of routers and channels, one transfer at a time; with functions for
/// broadcast, scatter and gather. Which messages go over it a collective knows by `operations`, a schedule says of each
/// send.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BusSpec {
    /// Bandwidth of the bus [flits/cycle], 1e-6 to 1e6. Default: 1.
    #[schemars(range(min = 0), extend("x-rate" = "bytes_per_s"))]
    pub flits_per_cycle: f64,
    /// Time before each transfer in which the bus is given to its rank \[cycles], 0 to 10000. Default: 0.
    #[schemars(range(max = MAX_DELAY))]
    pub arbitration_cycles: u32,
    /// From the last flit of a message sent to the message arrived \[cycles], 0 to 10000. Default: 0.
    #[schemars(range(max = MAX_DELAY))]
    pub latency_cycles: u32,
    /// The collective operations whose messages go over it. Default: none.
    pub operations: Vec<Operation>,
}

/// Separate wires for barriers: a signal of one flit arrives after a fixed time, waits for nothing and costs no
/// software. A barrier of a collective goes over it, and sends of a schedule that say so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BarrierTreeSpec {
    /// From a rank to the next one in the tree of its barrier \[cycles], 1 to 10000. Default: 1.
    #[schemars(range(min = 1, max = MAX_DELAY))]
    pub hop_cycles: u32,
}

impl Default for BarrierTreeSpec {
    fn default() -> Self {
        BarrierTreeSpec { hop_cycles: 1 }
    }
}

impl Default for BusSpec {
    fn default() -> Self {
        BusSpec { flits_per_cycle: 1.0, arbitration_cycles: 0, latency_cycles: 0, operations: Vec::new() }
    }
}
