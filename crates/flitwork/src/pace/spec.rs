//! What can be said of pacing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the length of a pause follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PacingKind {
    /// No pauses.
    #[default]
    None,
    /// `gap_packets`.
    Fixed,
    /// The message-overlap degree of the step, minus 1.
    Mod,
    /// The most hops of a message of the step, minus 1.
    Hops,
}

/// Which messages are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// Those of one step.
    #[default]
    Step,
    /// All: for algorithms that send everything at once.
    Schedule,
}

/// What a packet's worth of pause is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GapUnit {
    /// As many cycles as the longest packet has flits.
    #[default]
    LongestPacket,
    /// As many as the packet before the pause has.
    Packet,
}

/// Pauses of injection ports that depend on the message: only for workloads that are schedules. See the model page,
/// step 2b.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PacingSpec {
    /// What the length of a pause follows from. Default: none.
    pub kind: PacingKind,
    /// Pause, where `kind` is fixed \[packets], 0 to 1000000. Default: 0.
    #[schemars(range(max = 1_000_000))]
    pub gap_packets: u32,
    /// Which messages are counted together. Default: step.
    pub over: Over,
    /// A port pauses after the last packet of a message, too, and the pause is shared by all messages that the NIC
    /// sends in the step: with `m` of them and `c` ports MOD becomes `MOD * min(c, m) / m`, rounded up. Default: false.
    pub aggregate: bool,
    /// What a packet's worth of pause is. Default: longest_packet.
    pub unit: GapUnit,
}

impl PacingSpec {
    /// Whether nothing in it was said: then plans do without it.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
