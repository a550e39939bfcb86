//! What no run can beat, and where the load falls: bisection, channel loads, terminals, and the phase model.
//!
//! A channel carries 1 flit a cycle, a slow one less: a flit on it counts as the cycles that it takes. All bounds leave
//! out latency, so they are lower bounds for every router, and no random choice of a run beats them.

mod accepted;
mod any_routing;
mod bisection;
mod channel_loads;
mod even;
mod flows;
mod least;
mod loads;
mod operation;
mod packing;
mod stretches;
mod subtrees;
mod terminals;
mod uniform;

use crate::error::Error;
use crate::routing::Routing;
use crate::schedule::{Message, Placement, Schedule};
use crate::topology::Fabric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use accepted::{accepted_load, uniform_accepted_load};
pub use any_routing::{AnyRouting, Demands, SearchProgress, any_routing};
pub use bisection::{Bisection, bisection, bisection_units};
pub use channel_loads::{ChannelClassLoad, ChannelLoads, PhaseLoad, channel_loads};
pub use flows::{Flow, FlowLoads, Sent, flow_loads, packets_bound};
pub(crate) use least::LeastLoads;
use least::Ties;
pub(crate) use loads::LoadAccumulator;
pub use operation::{OperationBound, operation_bound};
use subtrees::messages_of_the_cut;
pub use terminals::{TerminalLimits, TerminalLoads, TerminalPhase, TerminalTimes, terminal_loads, terminal_times};
pub use uniform::{Saturation, uniform_saturation};

/// Whether a schedule and a placement of its ranks fit a network.
fn check(fabric: &Fabric, schedule: &Schedule, placement: &Placement) -> Result<(), Error> {
    let (ranks, placed) = (schedule.ranks(), placement.terminal_of().len());
    let fault = if placed != ranks as usize {
        format!("has {ranks} ranks, but {placed} are placed")
    } else if placement.terminals() > fabric.terminals() {
        format!("is placed on {} terminals of {}", placement.terminals(), fabric.terminals())
    } else {
        return Ok(());
    };
    Err(Error::Schedule { name: schedule.name().to_string(), fault })
}

/// What limits a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The channels between two halves of the network.
    Bisection,
    /// The channel with the largest load under the routing.
    ChannelLoad,
    /// The terminal that sends most.
    Injection,
    /// The terminal that receives most.
    Ejection,
}

/// Lower bounds on the completion time of a schedule, and the estimate of the phase model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bound {
    /// What any routing needs to bring the messages across the narrowest cut \[cycles]; absent unless every rank sends
    /// to every other, and where the shape of the network has no such cut.
    pub bisection_cycles: Option<f64>,
    /// What the most loaded channel needs under the routing at hand \[cycles]. Of what goes either way by a random bit
    /// that is not known beforehand, what no bit avoids; under a routing that leaves a choice of ports, what any
    /// routing needs.
    pub channel_load_cycles: f64,
    /// What the terminals need to send \[cycles].
    pub injection_cycles: f64,
    /// What the terminals need to receive \[cycles].
    pub ejection_cycles: f64,
    /// The largest of the above \[cycles]: no run of this schedule completes earlier.
    pub tightest_cycles: f64,
    /// Which of them it is.
    /// `None` where nothing is known to bound it.
    pub tightest: Option<Limit>,
    /// Sum over the phases of the load of the phase's most loaded channel \[cycles]. NOT a lower bound: it is the time
    /// if each phase waited for the one before; runs whose phases overlap in the buffers can be faster.
    pub phase_model_cycles: f64,
    /// What any algorithm for the same collective operation needs; absent for other workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationBound>,
}

/// Bounds the completion time of a schedule on a network under a routing.
///
/// A phase of the phase model is a group of `limits.ports` consecutive steps.
pub fn bound(
    fabric: &Fabric,
    routing: &Routing,
    schedule: &Schedule,
    placement: &Placement,
    limits: &TerminalLimits,
) -> Result<Bound, Error> {
    check(fabric, schedule, placement)?;
    let group = Some(limits.ports);
    let loads = channel_loads(fabric, routing, schedule, placement, limits.packet_flits, group);
    let terminals = terminal_times(schedule, placement.terminal_of(), limits);
    let bisection_cycles = shortest_of_all_to_all(schedule)
        .and_then(|flits| Some(messages_of_the_cut(fabric, placement.terminal_of())? * flits as f64));
    let limits = Limits {
        ejection_cycles: terminals.ejection_cycles,
        injection_cycles: terminals.injection_cycles,
        channel_load_cycles: least_cycles(fabric, routing, schedule, placement, &loads),
        bisection_cycles,
    };
    Ok(limits.bound(loads.phase_sum_flits))
}

/// What the channels need at least. Their `loads` say it but where ties are drawn, whose loads are expectations, or a
/// channel is slow.
fn least_cycles(
    fabric: &Fabric,
    routing: &Routing,
    schedule: &Schedule,
    placement: &Placement,
    loads: &ChannelLoads,
) -> f64 {
    let draws = LeastLoads::draws(routing);
    if !draws && fabric.slow_channel().is_none() {
        return loads.max_flits;
    }
    let end_of = |rank: u32| fabric.end(placement.terminal_of()[rank as usize]);
    let mut least = LeastLoads::new(fabric, routing);
    for message in schedule.messages_over_network() {
        let flits = message.size as f64;
        let ties = if draws { Ties::Unknown(flits) } else { Ties::Drawn(0, flits) };
        least.add(fabric, end_of(message.from), end_of(message.to), ties);
    }
    least.cycles()
}

/// Lower bounds of one thing each \[cycles].
struct Limits {
    ejection_cycles: f64,
    injection_cycles: f64,
    channel_load_cycles: f64,
    bisection_cycles: Option<f64>,
}

impl Limits {
    /// All of them, and which is the tightest: of equal bounds the more general one is named.
    fn bound(self, phase_model_cycles: f64) -> Bound {
        let candidates = [
            (self.ejection_cycles, Limit::Ejection),
            (self.injection_cycles, Limit::Injection),
            (self.channel_load_cycles, Limit::ChannelLoad),
            (self.bisection_cycles.unwrap_or(0.0), Limit::Bisection),
        ];
        let tightest = candidates.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).filter(|limit| limit.0 > 0.0);
        Bound {
            bisection_cycles: self.bisection_cycles,
            channel_load_cycles: self.channel_load_cycles,
            injection_cycles: self.injection_cycles,
            ejection_cycles: self.ejection_cycles,
            tightest_cycles: tightest.map_or(0.0, |limit| limit.0),
            tightest: tightest.map(|limit| limit.1),
            phase_model_cycles,
            operation: None,
        }
    }
}

/// The shortest message \[flits] if every rank sends to every other.
fn shortest_of_all_to_all(schedule: &Schedule) -> Option<u64> {
    let ranks = schedule.ranks();
    // seen[to] is 1 + the last rank that was seen sending there; pairs are counted once.
    let mut seen = vec![0; ranks as usize];
    let (mut pairs, mut shortest) = (0u64, u64::MAX);
    for Message { from, to, size: flits, .. } in schedule.messages_over_network() {
        if from != to && std::mem::replace(&mut seen[to as usize], from + 1) != from + 1 {
            pairs += 1;
        }
        shortest = shortest.min(flits);
    }
    let all = u64::from(ranks) * u64::from(ranks.saturating_sub(1));
    (ranks > 1 && pairs == all).then_some(shortest)
}

#[cfg(test)]
pub(crate) mod tests;
