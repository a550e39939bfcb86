//! From a specification to a plan: resolved, validated, printable, hashed. A plan is stored with every result.

use crate::collective::{Collective, World};
use crate::error::{Error, Result};
use crate::pace::{self, Gaps, Paced};
use crate::routing::{MAX_VCS, Routing};
use crate::schedule::{Delays, Noise, Placement, Rate, Units};
use crate::spec::{
    AllocatorKind, AllocatorSpec, ArbiterKind, MAX_BUFFER_FLITS, MAX_DELAY, MAX_GAP, MAX_NIC_PORTS, MAX_SPEEDUP,
    NetworkSpec, Pipeline, RouterSpec, SimulationSpec, Switching, Threads,
};
use crate::topology::Fabric;
use crate::traffic::Traffic;
use crate::transit::CompiledSize;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::borrow::Cow;

mod bus;
mod export;
mod fixed_routes;
mod hosts;
mod kernel;
mod memory;
mod recent;
mod routing;
mod run;
mod threads;
mod time;
mod timetable_search;
mod units;
mod vc_policy;
mod workload;

pub use bus::BusParams;
pub use export::ChannelTable;
pub use fixed_routes::FixedRoutes;
pub use memory::{Usable, usable};
pub use timetable_search::{FoundTimetable, SynthesisTarget};
use workload::Resolved;
pub use workload::Workload;

/// Most ports of a router, times input speed-up.
const MAX_ROWS: usize = 64;
/// Part of the plan's hash: raised whenever the same plan gives another result, so that stored results are not mistaken
/// for those of this version. A test of known digests says when.
const MODEL_REVISION: u32 = 2;
/// The same for open loops, which ask besides whether the network carries their load.
const OPEN_LOOP_REVISION: u32 = 3;

/// A validated simulation: nothing in it can fail for want of sense.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The specification with every default filled in.
    pub spec: SimulationSpec,
    /// Routers, channels and terminals.
    pub fabric: Fabric,
    /// The routing.
    pub routing: Routing,
    /// The workload.
    pub workload: Workload,
    /// The terminal of each rank of a schedule.
    pub placement: Placement,
    /// The traffic that runs with it.
    pub background: Option<Traffic>,
    /// Cycle of t = 0, in which the workload starts: before it, a background runs alone \[cycles].
    pub start_cycle: u64,
    /// Software times of ranks \[cycles].
    pub delays: Delays,
    /// When ranks have no CPU, if that happens.
    pub noise: Option<Noise>,
    /// How fast messages are copied within a terminal, if they are.
    pub copy_rate: Option<Rate>,
    /// How fast messages are read from memory, if that takes time.
    pub read_rate: Option<Rate>,
    /// Pauses of injection ports that depend on the message, if there are any.
    pub gaps: Option<Gaps>,
    /// The bus, if there is one.
    pub bus: Option<BusParams>,
    /// What a flit carries and how long a cycle takes, for schedules in bytes and ns.
    pub units: Units,
    /// The numbers that the kernel runs on.
    pub params: Params,
    /// Memory that the simulation will take, estimated \[bytes].
    pub estimated_memory_bytes: u64,
    /// Whether the network is another one than that of the specification.
    made_in_code: bool,
}

/// The numbers that a kernel runs on. Delays are defined on the model page of the documentation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Params {
    /// Routers.
    pub routers: usize,
    /// Terminals.
    pub terminals: usize,
    /// The most terminals of a router.
    pub concentration: usize,
    /// Injection and ejection ports of a NIC.
    pub nic_ports: usize,
    /// The most network ports of a router.
    pub network_ports: usize,
    /// All ports of a router.
    pub ports: usize,
    /// Virtual channels of a port.
    pub vcs: usize,
    /// Buffer of a virtual channel \[flits].
    pub buffer_flits: u32,
    /// Places that the virtual channels of a port share besides \[flits].
    #[serde(skip_serializing_if = "is_zero")]
    pub shared_buffer_flits: u32,
    /// Front of the buffer to first VC request, `R` \[cycles].
    pub routing_delay_cycles: u32,
    /// VC granted to first switch request, `A` \[cycles].
    pub vc_alloc_delay_cycles: u32,
    /// Switch granted to arrival, network channel, `D` \[cycles].
    pub hop_cycles: u32,
    /// Switch granted to arrival, ejection channel \[cycles].
    pub eject_cycles: u32,
    /// Resolved by an injection port to arrival at the router, `I` \[cycles].
    pub inject_cycles: u32,
    /// Flit left a buffer behind a network channel to credit usable, `C` \[cycles].
    pub credit_cycles: u32,
    /// Flit left the buffer of an injection port to credit usable at the NIC \[cycles].
    pub inject_credit_cycles: u32,
    /// Flit arrived at a terminal to credit usable at the router \[cycles].
    pub eject_credit_cycles: u32,
    /// The longest of all delays, with the turns that a flit may wait behind an output speed-up \[cycles].
    pub longest_delay_cycles: u64,
}

fn is_zero(flits: &u32) -> bool {
    *flits == 0
}

impl Params {
    /// Places of all VCs of a port \[flits].
    pub(crate) fn port_places(&self) -> u32 {
        self.vcs as u32 * self.buffer_flits + self.shared_buffer_flits
    }
}

impl Plan {
    /// Resolves and validates a specification.
    ///
    /// # Errors
    /// [`Error::Config`] names the field, its value, what was expected and what to do.
    pub fn new(spec: &SimulationSpec) -> Result<Plan> {
        Plan::made(spec, spec.network.fabric()?, true)
    }

    /// Resolves and validates a specification on a network that was made in code. The topology of the specification is
    /// only kept for the record: the plan's hash covers the network that runs.
    ///
    /// # Errors
    /// As for [`Plan::new`].
    pub fn on_fabric(spec: &SimulationSpec, fabric: Fabric) -> Result<Plan> {
        let as_described = spec.network.fabric().is_ok_and(|described| described == fabric);
        Ok(Plan { made_in_code: !as_described, ..Plan::made(spec, fabric, false)? })
    }

    /// `as_described`: the fabric is the one of the specification.
    fn made(spec: &SimulationSpec, fabric: Fabric, as_described: bool) -> Result<Plan> {
        let mut spec = spec.clone();
        let routing = routing::resolve(&mut spec.network, &fabric)?;
        let params = resolve_params(&spec.network, &fabric)?;
        check_router(&spec.network, &fabric, &routing, &params)?;
        let units = units::with_headers(&spec, spec.network.units.resolve()?)?;
        spec.network.units.simplify(&units);
        let estimated_memory_bytes = memory::estimate(&spec, &params, &units, &fabric, &routing);
        memory::check(&spec, &fabric, estimated_memory_bytes)?;
        check_vc_numbers(&fabric, &params)?;
        routing::check(&spec.network, &fabric, &routing, (&spec.run, as_described))?;
        let bus = bus::resolve(&spec.network, &fabric)?;
        let Resolved { workload, placement, background, start_cycle } =
            workload::resolve(&mut spec, (&fabric, &routing), &params, &units)?;
        let delays = workload::delays(&spec, &workload)?;
        let noise = workload::noise(&spec, &workload)?;
        let (copy_rate, read_rate) = (hosts::copy_rate(&spec.host)?, hosts::read_rate(&spec.host)?);
        bus::check(&spec, &workload)?;
        workload::check_rendezvous(&spec.host, &workload)?;
        spec.host.tolerance_cycles()?;
        workload::check_service(&spec, &workload)?;
        workload::check_timetable(&spec.network, &spec.workload, &params)?;
        let gaps = gaps(&spec, &fabric, &routing, (&workload, &placement))?;
        run::check(&mut spec.run, &workload, start_cycle, params.longest_delay_cycles)?;
        let least_cycles = run::least_cycles(&spec.run, &workload, start_cycle);
        let estimated_memory_bytes =
            estimated_memory_bytes.saturating_add(memory::windows(&spec, &params, least_cycles));
        memory::check(&spec, &fabric, estimated_memory_bytes)?;
        let plan = Plan {
            spec,
            fabric,
            routing,
            workload,
            placement,
            background,
            start_cycle,
            delays,
            noise,
            copy_rate,
            read_rate,
            gaps,
            bus,
            units,
            params,
            estimated_memory_bytes,
            made_in_code: !as_described,
        };
        plan.check_kernel()?;
        memory::check_threads(&plan.spec.run, plan.threads(), plan.memory_bytes())?;
        Ok(plan)
    }

    /// The algorithm of a collective, and what it knows; `None` for other workloads.
    pub fn collective(&self) -> Option<(&'static Collective, World)> {
        workload::chosen(&self.spec.workload, &self.placement, &self.fabric)?.ok()
    }

    /// The length of a block, or of the vector, of a collective, of all its repeats together; 1 for a barrier. A
    /// fraction where it is in bytes; `None` where each block has its own \[flits].
    pub fn collective_flits(&self) -> Option<f64> {
        workload::collective_flits(&self.spec.workload, &self.units)
    }

    /// The resolved specification and what follows from it.
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::json!({
            "spec": self.spec,
            "derived": self.params,
            "described": self.described(),
            "estimated_memory_bytes": self.memory_bytes(),
            "hash": self.hash(),
            "version": env!("CARGO_PKG_VERSION"),
        })
    }

    /// [`Plan::to_value`] as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(&self.to_value()).unwrap_or_default()
    }

    /// Fingerprint of the resolved specification, of the network if the specification does not describe it, and of this
    /// version of flitwork (64 hex digits).
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update(env!("CARGO_PKG_VERSION"));
        let revision = if self.workload.completes() { MODEL_REVISION } else { OPEN_LOOP_REVISION };
        hasher.update(revision.to_le_bytes());
        // However many threads run it, the result is the same.
        let mut spec = Cow::Borrowed(&self.spec);
        if spec.run.threads != Threads::ONE {
            spec.to_mut().run.threads = Threads::ONE;
        }
        hasher.update(serde_json::to_string(&*spec).unwrap_or_default());
        if self.made_in_code {
            hasher.update(self.fabric.fingerprint());
        }
        hasher.finalize().iter().map(|b| format!("{b:02x}")).collect()
    }
}

/// The pauses that depend on the message.
fn gaps(
    spec: &SimulationSpec,
    fabric: &Fabric,
    routing: &Routing,
    (workload, placement): (&Workload, &Placement),
) -> Result<Option<Gaps>> {
    let (nic, path) = (&spec.network.nic, "network.nic.packet_gap_cycles");
    let gaps = pace::resolve(&nic.pacing, &workload.paced(fabric, routing, placement, nic.ports))?;
    match gaps {
        Some(_) if nic.packet_gap_cycles > 0 => {
            Err(Error::config(path, nic.packet_gap_cycles, "0 beside network.nic.pacing", "take one of the two out"))
        }
        gaps => Ok(gaps),
    }
}

impl Plan {
    /// What its schedule is paced on, for [`pace::steps`].
    pub fn paced(&self) -> Paced<'_> {
        let Plan { fabric, routing, placement, .. } = self;
        self.workload.paced(fabric, routing, placement, self.spec.network.nic.ports)
    }
}

fn needs_dateline(fabric: &Fabric) -> bool {
    fabric.grid().is_some_and(|grid| (0..grid.dims()).any(|d| grid.has_dateline(d)))
}

fn within(path: &str, value: u32, low: u32, high: u32, unit: &str) -> Result<u32> {
    if (low..=high).contains(&value) {
        Ok(value)
    } else {
        Err(Error::config(path, value, format!("{low} to {high} {unit}"), ""))
    }
}

fn resolve_params(network: &NetworkSpec, fabric: &Fabric) -> Result<Params> {
    let router = &network.router;
    let channel = &network.channel;
    let concentration = fabric.most_terminals();
    let nic_ports = within("network.nic.ports", network.nic.ports, 1, MAX_NIC_PORTS, "ports")?;
    let vcs = within("network.router.vcs", router.vcs, 1, MAX_VCS, "VCs")?;
    let buffer_flits = within("network.router.buffer_flits", router.buffer_flits, 1, MAX_BUFFER_FLITS, "flits")?;
    let shared_buffer_flits = shared_buffer(router)?;
    let delay = |name: &str, value: u32, low: u32| within(name, value, low, MAX_DELAY, "cycles");
    let st = delay("network.router.sw_alloc_delay_cycles", router.sw_alloc_delay_cycles, 1)?
        + delay("network.router.st_delay_cycles", router.st_delay_cycles, 0)?;
    let wire = delay("network.channel.latency_cycles", channel.latency_cycles, 0)?;
    let local = delay("network.channel.local_latency_cycles", channel.local_latency_cycles, 0)?;
    let credit = delay("network.channel.credit_delay_cycles", channel.credit_delay_cycles, 0)?;
    within("network.nic.packet_gap_cycles", network.nic.packet_gap_cycles, 0, MAX_GAP, "cycles")?;
    if router.hold_switch_until_tail && router.switching != Switching::VirtualCutThrough {
        let expected = "false under wormhole switching: a packet that stalls would hold its path for ever";
        let hint = "set network.router.switching = \"virtual_cut_through\", or hold_switch_for_packet";
        return Err(Error::config("network.router.hold_switch_until_tail", true, expected, hint));
    }
    if router.pipeline == Pipeline::Pipelined && !router.compat.pipelined_stages {
        let expected = "at_front: with compat.pipelined_stages = false heads are routed a batch at a time";
        let hint = "leave out compat.pipelined_stages";
        return Err(Error::config("network.router.pipeline", "pipelined", expected, hint));
    }
    let network_ports = fabric.network_ports();
    let ports = fabric.most_ports(nic_ports as usize);
    let is = within("network.router.input_speedup", router.input_speedup, 1, MAX_SPEEDUP, "flits a cycle")?;
    within("network.router.output_speedup", router.output_speedup, 1, MAX_SPEEDUP, "flits a cycle")?;
    if ports * is as usize > MAX_ROWS {
        return Err(Error::config(
            "network.nic.ports",
            nic_ports,
            format!("at most {MAX_ROWS} ports a router, times input speed-up"),
            format!("this router has {ports} ports; use fewer ports of a NIC, terminals a router, or less speed-up"),
        ));
    }
    if router.output_speedup > 1 && vcs * buffer_flits + shared_buffer_flits > 1 << 16 {
        return Err(Error::config(
            "network.router.output_speedup",
            router.output_speedup,
            "1 where a port has more than 65536 flits of buffer",
            "use smaller buffers or fewer VCs",
        ));
    }
    let routers = fabric.routers() as usize;
    let mut params = Params {
        routers,
        terminals: fabric.terminals() as usize,
        concentration: concentration as usize,
        nic_ports: nic_ports as usize,
        network_ports,
        ports,
        vcs: vcs as usize,
        buffer_flits,
        shared_buffer_flits,
        routing_delay_cycles: delay("network.router.routing_delay_cycles", router.routing_delay_cycles, 0)?,
        vc_alloc_delay_cycles: delay("network.router.vc_alloc_delay_cycles", router.vc_alloc_delay_cycles, 0)?,
        hop_cycles: st + wire,
        eject_cycles: st + local,
        inject_cycles: local + 1,
        credit_cycles: wire + 1 + credit,
        inject_credit_cycles: local + 1,
        eject_credit_cycles: local + 1 + credit,
        longest_delay_cycles: 0,
    };
    params.longest_delay_cycles = longest_delay(&params, router) + u64::from(fabric.longest_latency(wire) - wire);
    Ok(params)
}

/// The places that the VCs of a port share.
fn shared_buffer(router: &RouterSpec) -> Result<u32> {
    let (path, shared) = ("network.router.shared_buffer_flits", router.shared_buffer_flits);
    within(path, shared, 0, MAX_BUFFER_FLITS - router.buffer_flits, "flits, 65535 with buffer_flits")?;
    Ok(shared)
}

/// The longest delay of any event \[cycles].
fn longest_delay(p: &Params, router: &RouterSpec) -> u64 {
    let mut turns = if router.output_speedup > 1 { u64::from(p.port_places()) } else { 0 };
    let mut routing = u64::from(p.routing_delay_cycles);
    if !router.compat.pipelined_stages {
        // A batch may have to wait for the one before, and its flits for one another.
        routing *= 2;
        turns += 2 * u64::from(router.st_delay_cycles);
    }
    let stages = [
        routing + 1,
        u64::from(p.vc_alloc_delay_cycles),
        u64::from(p.hop_cycles) + turns,
        u64::from(p.eject_cycles) + u64::from(p.eject_credit_cycles) + turns,
        u64::from(p.inject_cycles),
        u64::from(p.credit_cycles),
        u64::from(p.inject_credit_cycles),
    ];
    stages.into_iter().max().unwrap_or(0)
}

/// VCs are numbered across the network with 32 bits.
fn check_vc_numbers(fabric: &Fabric, params: &Params) -> Result<()> {
    let slots = CompiledSize::for_router(params.ports, params.vcs).slots();
    let most = (u32::MAX as usize - 1) / slots;
    if params.routers <= most {
        return Ok(());
    }
    let (ports, vcs) = (params.ports, params.vcs);
    let expected = format!("at most {most} routers of {ports} ports with {vcs} VCs");
    Err(fabric.too_large(expected, "use a smaller network"))
}

/// They are VCs of a port, in order; none of them means all.
fn check_injection_vcs(vcs: &[u32], router: &RouterSpec) -> Result<()> {
    let refused = |expected: &str, hint: &str| {
        Err(Error::config("network.nic.injection_vcs", format!("{vcs:?}"), expected.to_string(), hint))
    };
    if !vcs.is_sorted_by(|a, b| a < b) || vcs.iter().any(|&vc| vc >= router.vcs) {
        return refused(&format!("ascending numbers of VCs, below vcs = {}", router.vcs), "");
    }
    if !vcs.is_empty() && router.vc_policy.assigns_one_vc() {
        return refused(
            &format!("none: under the {} policy a packet has its own VC", router.vc_policy.name()),
            "leave it out, or use vc_policy = \"dateline\"",
        );
    }
    Ok(())
}

fn check_router(network: &NetworkSpec, fabric: &Fabric, routing: &Routing, params: &Params) -> Result<()> {
    let router = &network.router;
    check_injection_vcs(&network.nic.injection_vcs, router)?;
    if let Some((slow, port)) = fabric.slow_channel() {
        let hint =
            format!("{} takes {} cycles a flit", fabric.channel_name(slow, port), fabric.cycles_per_flit(slow, port));
        if router.output_speedup > 1 {
            let path = "network.router.output_speedup";
            return Err(Error::config(path, router.output_speedup, "1 where a channel is slow", hint));
        }
        if router.compat.has_batches(router.st_delay_cycles) {
            let path = "network.router.compat.pipelined_stages";
            return Err(Error::config(path, false, "true where a channel is slow", hint));
        }
    }
    vc_policy::check(network, fabric, routing, params)?;
    check_allocator("network.router.vc_allocator", &router.vc_allocator)?;
    check_allocator("network.router.sw_allocator", &router.sw_allocator)
}

fn check_allocator(path: &str, spec: &AllocatorSpec) -> Result<()> {
    let most = if spec.kind == AllocatorKind::Islip { 16 } else { 1 };
    within(&format!("{path}.iterations"), spec.iterations.0, 1, most, "iterations of this kind")?;
    let without_arbiters = match spec.kind {
        AllocatorKind::Islip => spec.arbiter != ArbiterKind::RoundRobin,
        AllocatorKind::Wavefront => spec.arbiter != ArbiterKind::RoundRobin && !spec.arbiter.has_priority(),
        _ => false,
    };
    if without_arbiters {
        return Err(Error::config(
            format!("{path}.arbiter"),
            format!("{:?}", spec.arbiter),
            "another arbiter: iSLIP is round robin by definition, a wavefront knows only priorities",
            "use kind = \"separable_input_first\"",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
