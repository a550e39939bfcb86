//! From a plan to a result.

use crate::bound::{self, Bound, Flow, FlowLoads, Saturation, Sent, TerminalLimits};
use crate::error::Result;
pub use crate::kernel::Progress;
use crate::kernel::flit::{self, Variation};
use crate::measure::SimulationResult;
use crate::plan::{Plan, Workload};
use crate::traffic::{Created, Destinations, Drawn, Lengths, Packets, Traffic};
use serde::Serialize;

/// Simulates a plan. `progress` is called every few milliseconds; it returns false to stop the run.
///
/// Routers of more than 64 VCs a port, or more than 16 ports, are megabytes and pass through the stack: run those in a
/// thread of 64 MiB, as the Python package does.
///
/// # Errors
/// [`crate::Error::Deadlock`], [`crate::Error::CycleLimit`], [`crate::Error::Interrupted`], or
/// [`crate::Error::Schedule`] for a schedule that cannot complete.
pub fn simulate(plan: &Plan, progress: &mut dyn FnMut(Progress) -> bool) -> Result<SimulationResult> {
    flit::simulate(plan, Variation::default(), progress)
}

/// What no run of a plan can beat.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlanBound {
    /// Workload that completes: lower bounds of the completion time.
    Completion(Bound),
    /// Open loop: upper bounds of what is accepted.
    Saturation {
        /// What the channels between routers can carry of all sources alike.
        channels: Saturation,
        /// What the ports of a NIC can inject and eject of all sources alike [flits/cycle/terminal].
        terminal_load_flits_per_cycle: f64,
        /// The smaller of the two: up to this load all that is offered can be accepted, beyond it some source gets less
        /// than it offers [flits/cycle/terminal].
        saturation_load_flits_per_cycle: f64,
        /// The highest mean accepted load, at any offered load: beyond saturation sources whose packets meet few others
        /// may still get more [flits/cycle/terminal].
        accepted_load_flits_per_cycle: f64,
    },
}

/// Bounds a plan by bisection, channel loads under its routing, and its terminals.
///
/// # Errors
/// [`crate::Error::Schedule`] if the schedule does not fit the network.
pub fn plan_bound(plan: &Plan) -> Result<PlanBound> {
    let nic_ports = plan.params.nic_ports as u32;
    match &plan.workload {
        Workload::Schedule { schedule, packet_flits } => {
            let limits = TerminalLimits {
                packet_flits: *packet_flits,
                takes_turns: plan.spec.network.nic.service.takes_turns(),
                splits: plan.routing.splits(),
                ..TerminalLimits::of_ports(nic_ports)
            };
            // Blocks follow each other at one port, so their number does not matter there.
            let whole = if nic_ports == 1 { plan.whole_messages() } else { None };
            let schedule = whole.unwrap_or(schedule.compile(&plan.units)?);
            let of_messages = bound::bound(&plan.fabric, &plan.routing, &schedule, &plan.placement, &limits)?;
            let collective = plan.collective().filter(|_| !plan.collective_is_elsewhere());
            let operation = collective.zip(plan.collective_flits()).map(|((algorithm, world), flits)| {
                let operation = algorithm.promises(&world);
                bound::operation_bound(&plan.fabric, operation, &world, flits, &plan.placement, &limits)
            });
            Ok(PlanBound::Completion(Bound { operation, ..of_messages }))
        }
        Workload::OpenLoop(traffic) | Workload::Finite(traffic) => Ok(match &traffic.packets {
            Packets::Drawn(drawn) if drawn.limit.is_none() => saturation(plan, drawn),
            Packets::Drawn(_) | Packets::Given(_) => PlanBound::Completion(packets(plan, traffic)),
        }),
    }
}

/// The load at which a channel, or a terminal, is used up, and what is accepted at most.
fn saturation(plan: &Plan, drawn: &Drawn) -> PlanBound {
    let loads = loads(plan, drawn, |terminal| drawn.destinations.relative_load(terminal));
    let terminal = plan.params.nic_ports as f64 / loads.received.max(loads.sent).max(1.0);
    let saturation_load_flits_per_cycle = loads.channels.load_flits_per_cycle.min(terminal);
    let accepted = accepted_load(plan, drawn);
    PlanBound::Saturation {
        channels: loads.channels,
        terminal_load_flits_per_cycle: terminal,
        saturation_load_flits_per_cycle,
        // Rounding must not make it less than what all sources alike can send.
        accepted_load_flits_per_cycle: accepted.max(saturation_load_flits_per_cycle),
    }
}

/// The highest mean accepted load.
fn accepted_load(plan: &Plan, drawn: &Drawn) -> f64 {
    let (fabric, routing, ports) = (&plan.fabric, &plan.routing, plan.params.nic_ports as u32);
    if let Destinations::Uniform { include_self } = drawn.destinations {
        return bound::uniform_accepted_load(fabric, routing, include_self, ports);
    }
    let plus_share = plus_share(plan, &drawn.lengths);
    let sends = |from: u32| drawn.destinations.relative_load(from) > 0.0;
    let flows = drawn.destinations.flows(plan.params.terminals as u32).unwrap_or_default().into_iter();
    let flow = |(from, to, flits)| Flow { from, to, flits, plus_flits: plus_share * flits };
    let flows: Vec<Flow> = flows.filter(|flow| sends(flow.0)).map(flow).collect();
    bound::accepted_load(fabric, routing, &flows, ports)
}

/// How long packets take at least that are all known: given, or drawn from the seed.
fn packets(plan: &Plan, traffic: &Traffic) -> Bound {
    let terminals = plan.params.terminals as u32;
    let sent = |packet: Created| Sent {
        created: packet.cycle - traffic.start,
        to: packet.dst,
        flits: packet.flits,
        tie_bits: packet.tie_bits,
    };
    let packets_of = |from| traffic.packets(from, terminals).map(sent);
    bound::packets_bound(&plan.fabric, &plan.routing, packets_of, plan.params.nic_ports as u32)
}

/// The loads of traffic that sends `sends(terminal)` flits, each a cycle or all in all.
fn loads(plan: &Plan, drawn: &Drawn, sends: impl Fn(u32) -> f64) -> FlowLoads {
    let terminals = plan.params.terminals as u32;
    if let Destinations::Uniform { include_self } = drawn.destinations {
        let channels = bound::uniform_saturation(&plan.fabric, &plan.routing, include_self);
        return FlowLoads { channels, sent: 1.0, received: 1.0 };
    }
    let plus_share = plus_share(plan, &drawn.lengths);
    let flow = |(from, to, share): (u32, u32, f64)| {
        let flits = sends(from) * share;
        Flow { from, to, flits, plus_flits: plus_share * flits }
    };
    let flows = drawn.destinations.flows(terminals).unwrap_or_default().into_iter().map(flow);
    bound::flow_loads(&plan.fabric, &plan.routing, flows.filter(|flow| flow.flits > 0.0))
}

/// Share of the flits that goes in the plus direction of a tie: half, but the larger half of each packet that is split.
fn plus_share(plan: &Plan, lengths: &Lengths) -> f64 {
    if plan.routing.splits() { lengths.mean_of(|flits| flits.div_ceil(2)) / lengths.mean_flits() } else { 0.5 }
}
