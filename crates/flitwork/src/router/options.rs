//! What users say of allocators.

use super::ArbiterKind;
use crate::component::Component;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An allocator: a matching between requesters and resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AllocatorSpec {
    /// The algorithm. Default: islip.
    pub kind: AllocatorKind,
    /// Iterations of iSLIP, 1 to 16; the other kinds take 1. Default: 1.
    #[schemars(extend("minimum" = 1, "maximum" = 16))]
    pub iterations: IterationCount,
    /// The arbiters of a separable allocator. iSLIP is round robin by definition; of a wavefront it is the order in
    /// which requests of one priority come, so only arbiters with priorities (oldest_first, fcfs) change anything.
    /// Default: round_robin.
    pub arbiter: ArbiterKind,
}

/// Iterations of an allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct IterationCount(pub u32);

impl Default for IterationCount {
    fn default() -> Self {
        IterationCount(1)
    }
}

/// Allocation algorithms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AllocatorKind {
    /// Round robin with pointers that move on an accepted grant of the first iteration (McKeown 1999).
    #[default]
    Islip,
    /// Each requester picks one resource, then each resource picks one requester.
    SeparableInputFirst,
    /// Each resource picks one requester, then each requester picks one resource.
    SeparableOutputFirst,
    /// Grants along diagonals that start one further each cycle (Tamir and Chi 1993).
    Wavefront,
}

/// All allocators, for lists.
pub(crate) const ALLOCATORS: &[Component] = &[
    Component::new(
        "islip",
        "round robin; pointers move on accepted grants of the first iteration",
        "iterations",
        "McKeown, IEEE/ACM Trans. Networking 7(2), 1999",
    ),
    Component::new(
        "separable_input_first",
        "requesters pick, then resources pick",
        "arbiter",
        "Dally and Towles, Principles and Practices of Interconnection Networks, 2004, chapter 19",
    ),
    Component::new(
        "separable_output_first",
        "resources pick, then requesters pick",
        "arbiter",
        "Dally and Towles 2004, chapter 19",
    ),
    Component::new(
        "wavefront",
        "grants along diagonals, starting one further each time",
        "arbiter",
        "Tamir and Chi, IEEE Trans. Parallel and Distributed Systems 4(1), 1993",
    ),
];
