//! From a plan to a result.

use crate::bound::{self, Bound, Flow, FlowLoads, Saturation, TerminalLimits, TrafficNeeds};
use crate::error::Result;
pub use crate::kernel::Progress;
use crate::kernel::flit::{self, Variation};
use crate::measure::SimulationResult;
use crate::plan::{Plan, Workload};
use crate::traffic::{Destinations, Drawn, Lengths, Packets, Process, Trace};
use serde::Serialize;

/// Simulates a plan. `progress` is called every few milliseconds; it returns false to stop the run.
///
/// Routers of more than 64 VCs a port, or more than 16 ports, are megabytes and pass through the stack: run those in a thread of
/// 64 MiB, as the Python package does.
///
/// # Errors
/// [`crate::Error::Deadlock`], [`crate::Error::CycleLimit`], [`crate::Error::Interrupted`], or [`crate::Error::Schedule`] for a
/// schedule that cannot complete.
pub fn simulate(plan: &Plan, progress: &mut dyn FnMut(Progress) -> bool) -> Result<SimulationResult> {
    flit::simulate(plan, Variation::default(), progress)
}

/// What no run of a plan can beat.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlanBound {
    /// Workload that completes: lower bounds of the completion time.
    Completion(Bound),
    /// Open loop: upper bounds of the accepted load.
    Saturation {
        /// What the channels between routers can accept.
        channels: Saturation,
        /// What the ports of its NIC can inject and eject [flits/cycle/terminal].
        terminal_load_flits_per_cycle: f64,
        /// The smaller of the two [flits/cycle/terminal].
        load_flits_per_cycle: f64,
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
            let limits = TerminalLimits { packet_flits: *packet_flits, ..TerminalLimits::of_ports(nic_ports) };
            let schedule = schedule.compile(&plan.units)?;
            let of_messages = bound::bound(&plan.fabric, &plan.routing, &schedule, &plan.placement, &limits)?;
            let collective = plan.collective().filter(|_| !plan.collective_is_elsewhere());
            let operation = collective.zip(plan.collective_flits()).map(|((algorithm, world), flits)| {
                let operation = algorithm.promises(&world);
                bound::operation_bound(&plan.fabric, operation, &world, flits, &plan.placement, &limits)
            });
            Ok(PlanBound::Completion(Bound { operation, ..of_messages }))
        }
        Workload::OpenLoop(traffic) | Workload::Finite(traffic) => Ok(match &traffic.packets {
            Packets::Given(trace) => PlanBound::Completion(given(plan, trace)),
            Packets::Drawn(drawn) if drawn.limit.is_some() => PlanBound::Completion(burst(plan, drawn)),
            Packets::Drawn(drawn) => saturation(plan, drawn),
        }),
    }
}

/// The load at which a channel, or a terminal, is used up.
fn saturation(plan: &Plan, drawn: &Drawn) -> PlanBound {
    let loads = loads(plan, drawn, |terminal| drawn.destinations.relative_load(terminal));
    let terminal = plan.params.nic_ports as f64 / loads.received.max(loads.sent).max(1.0);
    let load_flits_per_cycle = loads.channels.load_flits_per_cycle.min(terminal);
    PlanBound::Saturation { channels: loads.channels, terminal_load_flits_per_cycle: terminal, load_flits_per_cycle }
}

/// How long a burst takes at least. Where destinations, lengths or times are drawn, it is what they need on the average, which bounds
/// the mean over seeds.
fn burst(plan: &Plan, drawn: &Drawn) -> Bound {
    let sends = |terminal| if drawn.packets_of(terminal) > 0 { 1.0 } else { 0.0 };
    let loads = loads(plan, drawn, sends);
    let packets = (0..plan.params.terminals as u32).map(|t| drawn.packets_of(t)).max().unwrap_or(0) as f64;
    let mean_gap_cycles = match drawn.process.of(0) {
        Process::AtOnce => 0.0,
        Process::Bernoulli(process) => process.mean_gap_cycles(),
        Process::OnOff(process) => process.mean_gap_cycles(),
    };
    let needs = TrafficNeeds {
        flits: packets * drawn.lengths.mean_flits(),
        largest_received_share: loads.received,
        // The first packet may come in the first cycle.
        last_creation_cycles: (packets * mean_gap_cycles - 1.0).max(0.0),
    };
    bound::traffic_bound(&loads.channels, &needs, plan.params.nic_ports as u32)
}

/// How long the packets of a trace take at least.
fn given(plan: &Plan, trace: &Trace) -> Bound {
    let terminals = plan.params.terminals as u32;
    let splits = plan.routing.splits();
    // Packets between the same two terminals are one flow.
    let mut flits_to = vec![(0u64, 0u64); terminals as usize];
    let flows = (0..terminals).flat_map(|from| {
        let mut seen = Vec::new();
        for packet in trace.of(from) {
            let (flits, plus_flits) = &mut flits_to[packet.dst as usize];
            if *flits == 0 {
                seen.push(packet.dst);
            }
            *flits += u64::from(packet.flits);
            *plus_flits += u64::from(packet.flits.div_ceil(2));
        }
        let flow = |to: u32| {
            let (flits, plus_flits) = std::mem::take(&mut flits_to[to as usize]);
            let flits = flits as f64;
            Flow { from, to, flits, plus_flits: if splits { plus_flits as f64 } else { flits / 2.0 } }
        };
        seen.into_iter().map(flow).collect::<Vec<_>>()
    });
    let loads = bound::flow_loads(&plan.fabric, &plan.routing, flows);
    let sources = (0..terminals).map(|from| trace.of(from).map(|packet| (packet.cycle, packet.flits)));
    bound::trace_bound(&loads, sources, plan.params.nic_ports as u32)
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
