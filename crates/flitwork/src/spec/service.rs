//! In which order a NIC sends the packets of messages that wait.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest overhead or jitter of a message \[cycles].
pub(crate) const MAX_PREPARATION: u32 = 1_000_000_000;

/// In which order a NIC sends the packets of messages that wait at its injection ports; only for workloads that are
/// schedules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServiceSpec {
    /// Whose packet a free injection port sends next. Default: fifo.
    pub order: ServiceOrder,
    /// Which messages share a queue pair, in which they go one after the other. Default: message.
    pub queue_pairs: QueuePairs,
    /// Most queue pairs that are active at a time; a message that needs one more waits, and holds up those behind it.
    /// Default (0): as many as there are.
    pub active_queue_pairs: u32,
    /// Packets of a queue pair that are sent one after the other, if it has so many, before it is the turn of another
    /// one, at least 1. Default: 1.
    #[schemars(range(min = 1))]
    pub burst_packets: u32,
    /// Time that the adapter spends on a message before its first packet, in which its queue pair sends nothing and
    /// other ones can \[cycles], 0 to 1000000000. Default: 0.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(range(max = MAX_PREPARATION))]
    pub message_overhead_cycles: u32,
    /// Each message takes so much longer to begin, drawn evenly from 0 to one less than this by the seed of the run
    /// \[cycles], 0 to
    /// 1000000000. Default: 0.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(range(max = MAX_PREPARATION))]
    pub start_jitter_cycles: u32,
}

/// What is left out of a plan, so that only plans that say it have another hash.
fn is_zero(value: &u32) -> bool {
    *value == 0
}

impl Default for ServiceSpec {
    fn default() -> Self {
        let (order, queue_pairs) = (ServiceOrder::default(), QueuePairs::default());
        ServiceSpec {
            order,
            queue_pairs,
            active_queue_pairs: 0,
            burst_packets: 1,
            message_overhead_cycles: 0,
            start_jitter_cycles: 0,
        }
    }
}

impl ServiceSpec {
    /// Whether messages take turns at the injection ports.
    pub(crate) fn takes_turns(&self) -> bool {
        self.order != ServiceOrder::Fifo
    }

    /// Whether nothing in it was said: then plans do without it.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Whose packet a free injection port sends next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServiceOrder {
    /// That of its message, until the whole message is sent; then the next message of the queue.
    #[default]
    Fifo,
    /// That of the active queue pair that has waited longest: queue pairs take turns.
    RoundRobin,
    /// That of an active queue pair drawn at random by the seed of the run.
    Random,
}

/// Which messages share a queue pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueuePairs {
    /// None: each message has its own.
    #[default]
    Message,
    /// Those from one rank to one other: a queue pair for each (rank, peer).
    Peer,
}
