//! Which virtual channels a packet may use, and service levels.

use super::RouterSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which virtual channels a packet may use on a network channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VcPolicy {
    /// In a wrapped dimension the lower half for packets that do not cross the wrap channel in it and the upper half
    /// for those that do; elsewhere any.
    #[default]
    Dateline,
    /// One for each destination terminal (and dateline class, where a dimension wraps): `vcs` must be at least the
    /// number of terminals, twice that if a dimension wraps; any more are never used.
    Destination,
    /// One for each service level of packets, by `sl_to_vl` (and dateline class, where a dimension wraps): virtual
    /// lanes, as InfiniBand has them. At an ejection port any.
    ServiceLevel,
    /// One for each output port that a packet may take at the next router (and dateline class, where a dimension
    /// wraps): no packet waits behind one for another port. `vcs` must be at least the number of ports of a router,
    /// twice that if a dimension wraps. At an ejection port any.
    VirtualOutputQueues,
}

impl VcPolicy {
    /// Whether a packet has one virtual channel of each port, and no choice.
    pub(crate) fn assigns_one_vc(self) -> bool {
        self != VcPolicy::Dateline
    }

    /// What it is called in a specification.
    pub(crate) fn name(self) -> &'static str {
        match self {
            VcPolicy::Dateline => "dateline",
            VcPolicy::Destination => "destination",
            VcPolicy::ServiceLevel => "service_level",
            VcPolicy::VirtualOutputQueues => "virtual_output_queues",
        }
    }
}

impl RouterSpec {
    /// Virtual channels that packets of one dateline class have between them, each packet one; of `ports` ports and
    /// `terminals` terminals.
    pub(crate) fn private_vcs(&self, terminals: usize, ports: usize) -> usize {
        match self.vc_policy {
            VcPolicy::Dateline => self.vcs as usize,
            VcPolicy::Destination => terminals,
            VcPolicy::ServiceLevel => self.sl_to_vl.iter().max().map_or(0, |&vl| vl as usize + 1),
            VcPolicy::VirtualOutputQueues => ports,
        }
    }
}

/// By what a packet has its service level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServiceLevel {
    /// Destination terminal modulo the number of levels.
    #[default]
    Destination,
    /// Source terminal modulo the number of levels.
    Source,
    /// How far the destination terminal is behind the source, around the end, modulo the number of levels.
    Offset,
}

impl ServiceLevel {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Of a packet in a network of so many terminals; to be taken modulo the number of levels.
    pub(crate) fn of(self, src: u32, dst: u32, terminals: u32) -> u32 {
        match self {
            ServiceLevel::Destination => dst,
            ServiceLevel::Source => src,
            ServiceLevel::Offset => (dst + terminals - src) % terminals,
        }
    }
}
