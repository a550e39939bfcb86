//! What users write: plain data with serde, one struct a table, the meaning, unit, default and range at each field.
//!
//! A [`SimulationSpec`] says everything about one simulation. It is the only schema: Python, the study files and the
//! reference page are generated from it (`flitwork schema`) or checked against it. Resolve it with [`crate::Plan`].

mod bus;
mod explain;
mod fault;
mod fit;
mod host;
mod loggops;
mod names;
mod network;
mod noise;
mod parse;
mod physical;
mod place;
mod reader;
mod run;
mod service;
mod threads;
mod units;
#[cfg(test)]
mod unknown_fields;
mod vc_policy;
mod workload;

pub use bus::{BarrierTreeSpec, BusSpec};
pub use host::HostSpec;
pub(crate) use host::MAX_RANKS_PER_TERMINAL;
pub use loggops::LogGopsSpec;
pub use names::number_names;
pub use network::{
    ChannelSpec, EjectionPort, InjectionPriority, InjectionVc, NetworkSpec, NicSpec, Pipeline, RouterSpec, SourceQueue,
    Switching,
};
pub(crate) use network::{MAX_BUFFER_FLITS, MAX_DELAY, MAX_GAP, MAX_NIC_PORTS, MAX_SPEEDUP};
pub use noise::{NoisePhase, NoiseSpec};
pub use parse::{check_table, fabric_from_json, from_json, schema_json};
pub(crate) use run::FIXED_CYCLES;
pub use run::{KernelChoice, RecordSpec, RunSpec};
pub(crate) use service::MAX_PREPARATION;
pub use service::{QueuePairs, ServiceOrder, ServiceSpec};
pub use threads::Threads;
pub use units::{Rounded, Rounding, UnitsSpec};
pub use vc_policy::{ServiceLevel, VcPolicy};
pub(crate) use workload::{MAX_MESSAGE_BYTES, WORKLOADS};
pub use workload::{ProcessSpec, TimetableSearch, WorkloadSpec};

pub use crate::compat::{AdaptiveTie, CompatSpec, Productive};
pub use crate::pace::{GapUnit, Over, PacingKind, PacingSpec};
pub use crate::router::{AllocatorKind, AllocatorSpec, ArbiterKind, IterationCount};
pub use crate::routing::RoutingSpec;
pub use crate::topology::{Ring2, TopologySpec};

use crate::traffic::Attached;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One simulation: a network, a workload, and how to run them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulationSpec {
    /// What the machine is.
    pub network: NetworkSpec,
    /// Which ranks run where. Default: one rank a terminal.
    #[serde(default, skip_serializing_if = "HostSpec::is_default")]
    pub host: HostSpec,
    /// What is sent.
    pub workload: WorkloadSpec,
    /// Open-loop traffic (uniform or traffic) in the background of the workload, measured on its own. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "WorkloadSpec")]
    pub background: Option<WorkloadSpec>,
    /// Seed, limits and what to record.
    #[serde(default)]
    pub run: RunSpec,
}

impl SimulationSpec {
    /// Gives a specification that was read from JSON the tables that it names.
    pub fn attach(&mut self, tables: &[Attached]) {
        let workloads = [Some(&mut self.workload), self.background.as_mut()].into_iter().flatten();
        let detours = self.host.noise.as_mut().and_then(NoiseSpec::table);
        workloads.filter_map(WorkloadSpec::table).chain(detours).for_each(|table| table.fill(tables));
    }
}

/// What is left out of a plan, so that only plans that say otherwise have another hash.
fn is_true(value: &bool) -> bool {
    *value
}

/// The same for one that is off.
fn is_false(value: &bool) -> bool {
    !*value
}
