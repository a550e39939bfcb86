//! From a plan to a result.

use crate::bound::{
    self, AnyRouting, Bound, Demands, Flow, FlowLoads, Saturation, SearchProgress, Sent, TerminalLimits,
};
use crate::error::Result;
pub use crate::kernel::Progress;
use crate::kernel::flit::{self, Variation};
use crate::measure::SimulationResult;
use crate::plan::{Plan, Workload};
use crate::schedule::Schedule;
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
            let schedule = compiled(plan, schedule)?;
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

/// The schedule of a plan with its lengths; blocks follow each other at one port, so their number does not matter
/// there.
fn compiled(plan: &Plan, schedule: &Schedule) -> Result<Schedule> {
    let whole = if plan.params.nic_ports == 1 { plan.whole_messages() } else { None };
    whole.map_or_else(|| schedule.compile(&plan.units), Ok)
}

/// Shares of a flit are counted in whole numbers of this part of one.
const SHARES: f64 = (1u64 << 48) as f64;

/// Pairs of terminals of uniform traffic at most.
const MOST_PAIRS: u64 = 1 << 25;

/// What the channels need for a plan whatever the routing, and a split over routes that comes near it: the search ends
/// at this gap, or after so many steps. Of an open loop, times are the cycles that the channels need for 1 flit of each
/// terminal: the load of saturation is 1 over that.
///
/// # Errors
/// [`crate::Error::Schedule`] if the schedule does not fit the network, [`crate::Error::Config`] for uniform
/// traffic between more than 5,792 terminals, whose pairs need more than a gigabyte.
pub fn plan_any_routing(
    plan: &Plan,
    gap: f64,
    most_steps: u32,
    progress: &mut dyn FnMut(SearchProgress) -> bool,
) -> Result<AnyRouting> {
    let mut demands = Demands::new(plan.fabric.routers());
    let mut add = |from: u32, to: u32, amount| {
        demands.add(plan.fabric.router_of(from), plan.fabric.router_of(to), amount);
    };
    let terminals = plan.params.terminals as u32;
    let mut unit = 1.0;
    match &plan.workload {
        Workload::Schedule { schedule, .. } => {
            let terminal_of = plan.placement.terminal_of();
            for message in compiled(plan, schedule)?.messages_over_network() {
                add(terminal_of[message.from as usize], terminal_of[message.to as usize], message.size);
            }
        }
        Workload::OpenLoop(traffic) | Workload::Finite(traffic) => match &traffic.packets {
            Packets::Drawn(drawn) if drawn.limit.is_none() => {
                let all = matches!(drawn.destinations, Destinations::Uniform { .. });
                if all && u64::from(terminals).pow(2) > MOST_PAIRS {
                    let expected = format!("at most {} terminals here", MOST_PAIRS.isqrt());
                    return Err(plan.fabric.too_large(expected, "take a smaller network of its kind"));
                }
                unit = SHARES;
                // Rounded down, so that what is proved holds for the exact shares, too.
                let shares = |(from, to, share)| add(from, to, (share * SHARES) as u64);
                if let Destinations::Uniform { include_self } = drawn.destinations {
                    let share = 1.0 / f64::from(if include_self { terminals } else { (terminals - 1).max(1) });
                    let to_all = |from| (0..terminals).map(move |to| (from, to, share));
                    (0..terminals).flat_map(to_all).for_each(shares);
                } else {
                    flows(drawn, terminals).for_each(shares);
                }
            }
            Packets::Drawn(_) | Packets::Given(_) => {
                for from in 0..terminals {
                    traffic.packets(from, terminals).for_each(|packet| add(from, packet.dst, packet.flits.into()));
                }
            }
        },
    }
    let mut in_flits = |now: SearchProgress| {
        let (proved_cycles, reached_cycles) = (now.proved_cycles / unit, now.reached_cycles / unit);
        progress(SearchProgress { proved_cycles, reached_cycles, ..now })
    };
    let found = bound::any_routing(&plan.fabric, &demands, gap, most_steps, &mut in_flits);
    Ok(AnyRouting {
        proved_cycles: found.proved_cycles / unit,
        reached_cycles: found.reached_cycles / unit,
        flits: found.flits.into_iter().map(|flits| flits / unit).collect(),
        ..found
    })
}

/// Whether the channel loads of [`plan_bound`] are those under the routing of a plan, and not what any routing needs,
/// or what no draw of a tie avoids.
pub fn loads_are_known(plan: &Plan) -> bool {
    let draws = bound::LeastLoads::draws(&plan.routing);
    plan.routing.is_fixed() && (!draws || matches!(plan.workload, Workload::OpenLoop(_)))
}

/// Source, destination and what goes there, from all terminals that offer 1 flit each on the average; not of uniform
/// traffic.
fn flows(drawn: &Drawn, terminals: u32) -> impl Iterator<Item = (u32, u32, f64)> {
    let flow = |(from, to, share)| (from, to, share * drawn.destinations.relative_load(from));
    drawn.destinations.flows(terminals).unwrap_or_default().into_iter().map(flow).filter(|flow| flow.2 > 0.0)
}

/// The load at which a channel, or a terminal, is used up, and what is accepted at most.
fn saturation(plan: &Plan, drawn: &Drawn) -> PlanBound {
    let loads = loads(plan, drawn);
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

/// The loads of traffic whose terminals offer 1 flit a cycle on the average.
fn loads(plan: &Plan, drawn: &Drawn) -> FlowLoads {
    if let Destinations::Uniform { include_self } = drawn.destinations {
        let channels = bound::uniform_saturation(&plan.fabric, &plan.routing, include_self);
        return FlowLoads { channels, sent: 1.0, received: 1.0 };
    }
    let plus_share = plus_share(plan, &drawn.lengths);
    let flow = |(from, to, flits)| Flow { from, to, flits, plus_flits: plus_share * flits };
    let flows = flows(drawn, plan.params.terminals as u32).map(flow);
    bound::flow_loads(&plan.fabric, &plan.routing, flows)
}

/// Share of the flits that goes in the plus direction of a tie: half, but the larger half of each packet that is split.
fn plus_share(plan: &Plan, lengths: &Lengths) -> f64 {
    if plan.routing.splits() { lengths.mean_of(|flits| flits.div_ceil(2)) / lengths.mean_flits() } else { 0.5 }
}
