//! The network: topology, routing, router, channels, network interfaces.

use super::units::UnitsSpec;
use super::vc_policy::{ServiceLevel, VcPolicy};
use super::{BarrierTreeSpec, BusSpec, ServiceSpec};
use crate::compat::CompatSpec;
use crate::error::Result;
use crate::pace::PacingSpec;
use crate::router::AllocatorSpec;
use crate::routing::{MAX_VCS, RoutingSpec};
use crate::topology::{Fabric, TopologySpec, Without};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Most ports of a NIC.
pub(crate) const MAX_NIC_PORTS: u32 = 52;
/// Largest buffer of a virtual channel \[flits].
pub(crate) const MAX_BUFFER_FLITS: u32 = 65_535;
/// Most flits that a port may send, or accept, a cycle.
pub(crate) const MAX_SPEEDUP: u32 = 64;
/// Longest delay of one stage \[cycles].
pub(crate) const MAX_DELAY: u32 = 10_000;
/// Longest pause of an injection port between packets \[cycles].
pub(crate) const MAX_GAP: u32 = 1_000_000;

/// What the machine is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkSpec {
    /// Which routers exist and which channels join them.
    pub topology: TopologySpec,
    /// Faults: cables, routers and terminals that do not work. Default: none.
    #[serde(default, skip_serializing_if = "Without::is_nothing")]
    pub without: Without,
    /// Which route packets take. Default: dimension order, x first, on a grid; d_mod_k on a fat tree; dragonfly_minimal
    /// on a dragonfly; on any other network shortest_path, or where that can deadlock lash or hop_classes, whichever
    /// needs fewer virtual channels.
    #[serde(default)]
    #[schemars(with = "RoutingSpec")]
    pub routing: Option<RoutingSpec>,
    /// The input-queued virtual-channel router.
    #[serde(default)]
    pub router: RouterSpec,
    /// The channels between routers.
    #[serde(default)]
    pub channel: ChannelSpec,
    /// The network interfaces.
    #[serde(default)]
    pub nic: NicSpec,
    /// A bus beside routers and channels. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BusSpec")]
    pub bus: Option<BusSpec>,
    /// Wires for barriers beside routers and channels. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BarrierTreeSpec")]
    pub barrier_tree: Option<BarrierTreeSpec>,
    /// What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for results
    /// in them.
    #[serde(default, skip_serializing_if = "UnitsSpec::is_default")]
    pub units: UnitsSpec,
}

impl NetworkSpec {
    /// The routers, channels and terminals of the network that are in order.
    ///
    /// # Errors
    /// [`crate::Error::Config`] with the path of a field that makes no sense.
    pub fn fabric(&self) -> Result<Fabric> {
        self.without.of(&self.topology.fabric()?)
    }

    /// The topology as JSON, with what is out of order in its field `without`: as [`super::fabric_from_json`] reads it.
    pub(crate) fn topology_and_without(&self) -> Value {
        let mut topology = serde_json::to_value(&self.topology).unwrap_or_default();
        if !self.without.is_nothing() {
            topology["without"] = serde_json::to_value(&self.without).unwrap_or_default();
        }
        topology
    }
}

/// The input-queued virtual-channel router. Delays count cycles of a head flit; see the model page of the documentation
/// for the cycle-by-cycle rules. The defaults make a router of one cycle a hop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RouterSpec {
    /// Virtual channels of each port, 1 to 640; a wrapped dimension needs 2. Default: 2.
    #[schemars(range(min = 1, max = MAX_VCS))]
    pub vcs: u32,
    /// Which virtual channels a packet may use. Default: dateline.
    pub vc_policy: VcPolicy,
    /// Buffer of each virtual channel \[flits], 1 to 65535. Default: 16.
    #[schemars(range(min = 1, max = MAX_BUFFER_FLITS))]
    pub buffer_flits: u32,
    /// Buffer that the virtual channels of a port share besides their own \[flits], 0 to 65535 with `buffer_flits`.
    /// Default: 0.
    #[schemars(range(max = MAX_BUFFER_FLITS))]
    #[serde(skip_serializing_if = "is_zero")]
    pub shared_buffer_flits: u32,
    /// The virtual channel (virtual lane, VL) of each service level: packets of service level `s` use number
    /// `sl_to_vl[s]`. Only with vc_policy = "service_level", which needs it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sl_to_vl: Vec<u32>,
    /// What a head flit needs to advance. Default: wormhole.
    pub switching: Switching,
    /// Matches waiting packets to output virtual channels. Default: iSLIP of 1 iteration.
    pub vc_allocator: AllocatorSpec,
    /// Matches input ports to output ports each cycle. Default: iSLIP of 1 iteration.
    pub sw_allocator: AllocatorSpec,
    /// Whether packets at injection ports wait for those that came over a channel, in VC and switch allocation.
    /// Default: equal.
    pub injection_priority: InjectionPriority,
    /// Keep the path through the switch for a packet until its tail, or until it stalls. Default: false.
    pub hold_switch_for_packet: bool,
    /// Keep the path through the switch for a packet until its tail has been sent, in any case; needs virtual
    /// cut-through. Default: false.
    #[serde(skip_serializing_if = "super::is_false")]
    pub hold_switch_until_tail: bool,
    /// Request the switch in the cycle of the virtual-channel request. Default: false.
    pub speculative: bool,
    /// Reuse an output virtual channel only after all credits of its last packet are back; routings with an escape
    /// network need it under wormhole switching. Default: false.
    pub wait_for_tail_credit: bool,
    /// Do not request output virtual channels that have no credit. Default: false.
    pub vc_busy_when_full: bool,
    /// Flits that an input port may send a cycle, of different virtual channels modulo this number; 1 to 64.
    /// Default: 1.
    #[schemars(range(min = 1, max = MAX_SPEEDUP))]
    pub input_speedup: u32,
    /// Flits that an output port may accept a cycle (it sends on 1), 1 to 64. Default: 1.
    #[schemars(range(min = 1, max = MAX_SPEEDUP))]
    pub output_speedup: u32,
    /// Whether packets that wait behind another one in their buffer are routed meanwhile. Default: at_front.
    #[serde(skip_serializing_if = "Pipeline::is_default")]
    pub pipeline: Pipeline,
    /// Route computation \[cycles], 0 to 10000; 0 is lookahead routing. Default: 0.
    #[schemars(range(max = MAX_DELAY))]
    pub routing_delay_cycles: u32,
    /// Virtual-channel allocation \[cycles], 0 to 10000; 0 allows switch allocation in the same cycle. Default: 0.
    #[schemars(range(max = MAX_DELAY))]
    pub vc_alloc_delay_cycles: u32,
    /// Switch allocation \[cycles], 1 to 10000. Default: 1.
    #[schemars(range(min = 1, max = MAX_DELAY))]
    pub sw_alloc_delay_cycles: u32,
    /// Switch traversal \[cycles], 0 to 10000. Default: 0.
    #[schemars(range(max = MAX_DELAY))]
    pub st_delay_cycles: u32,
    /// Rules of BookSim 2 that no hardware has; all are off by default.
    #[serde(skip_serializing_if = "CompatSpec::is_default")]
    pub compat: CompatSpec,
}

impl Default for RouterSpec {
    fn default() -> Self {
        RouterSpec {
            vcs: 2,
            vc_policy: VcPolicy::Dateline,
            sl_to_vl: Vec::new(),
            buffer_flits: 16,
            shared_buffer_flits: 0,
            switching: Switching::Wormhole,
            vc_allocator: AllocatorSpec::default(),
            sw_allocator: AllocatorSpec::default(),
            injection_priority: InjectionPriority::Equal,
            hold_switch_for_packet: false,
            hold_switch_until_tail: false,
            speculative: false,
            wait_for_tail_credit: false,
            vc_busy_when_full: false,
            input_speedup: 1,
            output_speedup: 1,
            pipeline: Pipeline::AtFront,
            routing_delay_cycles: 0,
            vc_alloc_delay_cycles: 0,
            sw_alloc_delay_cycles: 1,
            st_delay_cycles: 0,
            compat: CompatSpec::default(),
        }
    }
}

fn is_zero(flits: &u32) -> bool {
    *flits == 0
}

/// What a head flit needs to advance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Switching {
    /// A free output virtual channel; each flit needs one credit.
    #[default]
    Wormhole,
    /// A free output virtual channel with credits for the whole packet.
    VirtualCutThrough,
}

/// From when on the stages of route computation and VC allocation work for a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pipeline {
    /// From when it comes to the front of its buffer: packets of one virtual channel follow each other with a gap of
    /// both delays.
    #[default]
    AtFront,
    /// From when its head arrives: the delays add to the latency of a hop, but packets of one virtual channel can
    /// follow each other without a gap.
    Pipelined,
}

impl Pipeline {
    /// What is left out of a plan, so that only plans that say it have another hash.
    fn is_default(&self) -> bool {
        *self == Pipeline::AtFront
    }
}

/// Whether packets at injection ports wait for packets in transit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InjectionPriority {
    /// All input ports are alike.
    #[default]
    Equal,
    /// Transit goes first: a packet at an injection port gets what no packet that came over a channel asks for.
    Last,
}

/// The channels between routers, and between routers and terminals.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ChannelSpec {
    /// Wire delay of a network channel, on top of the router's cycles \[cycles], 0 to 10000. Default: 0.
    #[schemars(range(max = MAX_DELAY))]
    pub latency_cycles: u32,
    /// Wire delay of injection and ejection channels \[cycles], 0 to 10000. Default: 0.
    #[schemars(range(max = MAX_DELAY))]
    pub local_latency_cycles: u32,
    /// Delay of a credit beyond the wire \[cycles], 0 to 10000. Default: 0.
    #[schemars(range(max = MAX_DELAY))]
    pub credit_delay_cycles: u32,
}

/// The network interface of a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NicSpec {
    /// Injection ports, and as many ejection ports, of 1 flit/cycle each, 1 to 52: messages that are sent, and
    /// received, at once. Default: 1.
    #[schemars(range(min = 1, max = MAX_NIC_PORTS))]
    pub ports: u32,
    /// Which virtual channel a new packet takes at its injection port. Default: emptiest.
    pub injection_vc: InjectionVc,
    /// The virtual channels of its injection port that a terminal may fill, by number, ascending, each at most once.
    /// Default: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub injection_vcs: Vec<u32>,
    /// By what packets have their service level, which gives them their virtual channel under vc_policy =
    /// "service_level". There are as many levels as `router.sl_to_vl` has entries. Default: destination.
    #[serde(skip_serializing_if = "ServiceLevel::is_default")]
    pub service_level: ServiceLevel,
    /// Which of the terminal's ejection ports a packet takes. Default: any.
    pub ejection_port: EjectionPort,
    /// Pause of an injection port after each packet \[cycles], 0 to 1000000. Default: 0.
    #[schemars(range(max = MAX_GAP))]
    pub packet_gap_cycles: u32,
    /// Pauses that depend on the message: by its step's overlap, by hops, or fixed. Default: none.
    #[serde(skip_serializing_if = "PacingSpec::is_default")]
    pub pacing: PacingSpec,
    /// Whose turn it is at the source queue, where a workload and a background run together. Default: fifo.
    pub source_queue: SourceQueue,
    /// In which order packets of messages that wait are sent. Default: one message after the other.
    #[serde(skip_serializing_if = "ServiceSpec::is_default")]
    pub service: ServiceSpec,
}

impl Default for NicSpec {
    fn default() -> Self {
        NicSpec {
            ports: 1,
            injection_vc: InjectionVc::Emptiest,
            injection_vcs: Vec::new(),
            service_level: ServiceLevel::default(),
            ejection_port: EjectionPort::Any,
            packet_gap_cycles: 0,
            pacing: PacingSpec::default(),
            source_queue: SourceQueue::Fifo,
            service: ServiceSpec::default(),
        }
    }
}

/// Which virtual channel a new packet takes at its injection port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InjectionVc {
    /// The one with the most credits; ties to the lowest index.
    #[default]
    Emptiest,
    /// The next one in turn that has a credit.
    RoundRobin,
}

/// Which ejection port of its terminal a packet takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EjectionPort {
    /// The port with the most free virtual channels when the packet asks; ties to the lowest index.
    #[default]
    Any,
    /// The port with the number of the injection port that sent the packet.
    SamePort,
    /// Port `source mod ports`.
    BySource,
}

/// Whose turn it is at a terminal's source queue, where a workload and a background run together. A message of a
/// schedule comes when its rank has posted it and all that it depends on is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceQueue {
    /// What came first; of the same cycle the workload's.
    #[default]
    Fifo,
    /// The workload's and the background's in turn, if there is one of either; the workload's first.
    Alternate,
}
