//! From a plan to a result.

use crate::bound::{self, Bound, Placement, Saturation, TerminalLimits, TrafficNeeds};
use crate::error::Result;
pub use crate::kernel::Progress;
use crate::kernel::flit::{self, Variation};
use crate::measure::SimulationResult;
use crate::plan::{Plan, Workload};
use crate::traffic::{Destinations, Process, Traffic};
use serde::Serialize;

/// Simulates a plan. `progress` is called every few milliseconds; it returns false to stop the run.
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
        /// What the controllers can inject and eject [flits/cycle/terminal].
        terminal_load_flits_per_cycle: f64,
        /// The smaller of the two [flits/cycle/terminal].
        load_flits_per_cycle: f64,
    },
}

/// Bounds a plan by bisection, link loads under its routing, and its terminals.
///
/// # Errors
/// [`crate::Error::Schedule`] if the schedule does not fit the network.
pub fn plan_bound(plan: &Plan) -> Result<PlanBound> {
    let controllers = plan.params.controllers as u32;
    let concentration = plan.params.concentration as u32;
    match &plan.workload {
        Workload::Closed { schedule, packet_flits } => {
            let placement = Placement::blocks(&plan.grid, concentration);
            let limits = TerminalLimits { packet_flits: *packet_flits, ..TerminalLimits::of_controllers(controllers) };
            bound::bound(&plan.grid, &plan.routing, schedule, &placement, &limits).map(PlanBound::Completion)
        }
        Workload::Open(traffic) => Ok(saturation(plan, traffic)),
        Workload::Finite(traffic) => Ok(PlanBound::Completion(burst(plan, traffic))),
    }
}

/// The load at which a channel, or a terminal, is used up.
fn saturation(plan: &Plan, traffic: &Traffic) -> PlanBound {
    let (channels, busiest) = channel_loads(plan, traffic, true);
    let terminal = plan.params.controllers as f64 / busiest.max(1.0);
    let load_flits_per_cycle = channels.load_flits_per_cycle.min(terminal);
    PlanBound::Saturation { channels, terminal_load_flits_per_cycle: terminal, load_flits_per_cycle }
}

/// How long a burst takes at least. Where destinations, lengths or times are drawn, it is what they need on the average, which bounds
/// the mean over seeds.
fn burst(plan: &Plan, traffic: &Traffic) -> Bound {
    let (channels, busiest) = channel_loads(plan, traffic, false);
    let packets = (0..plan.params.terminals as u32).map(|t| traffic.packets_of(t)).max().unwrap_or(0) as f64;
    let mean_gap_cycles = match traffic.process {
        Process::AtOnce => 0.0,
        Process::Bernoulli(process) => process.mean_gap_cycles(),
        Process::OnOff(process) => process.mean_gap_cycles(),
    };
    let needs = TrafficNeeds {
        flits: packets * traffic.lengths.mean_flits(),
        largest_received_share: busiest,
        // The first packet may come in the first cycle.
        last_creation_cycles: (packets * mean_gap_cycles - 1.0).max(0.0),
    };
    bound::traffic_bound(&channels, &needs, plan.params.controllers as u32)
}

/// Loads of the channels at 1 flit/cycle/terminal, and the largest share of a terminal's flits that one terminal receives.
/// `to_self`: whether what terminals send to themselves counts.
fn channel_loads(plan: &Plan, traffic: &Traffic, to_self: bool) -> (Saturation, f64) {
    let concentration = plan.params.concentration as u32;
    let (grid, order) = (&plan.grid, plan.routing.fixed_way());
    match &traffic.destinations {
        Destinations::Uniform { include_self } => {
            let channels = match order {
                Some(order) => bound::uniform_saturation(grid, order, concentration, *include_self),
                None => bound::even_uniform_saturation(grid, concentration, *include_self),
            };
            (channels, 1.0)
        }
        other => {
            let mut flows = other.flows(plan.params.terminals as u32).unwrap_or_default();
            flows.retain(|&(from, to, _)| to_self || from != to || traffic.packets_of(from) > 0);
            match order {
                Some(order) => bound::flow_saturation(grid, order, concentration, &flows),
                None => bound::even_flow_saturation(grid, concentration, &flows),
            }
        }
    }
}
