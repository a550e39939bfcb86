//! The load of every channel under the messages of a schedule, in total and phase by phase.
//!
//! At a tie that is drawn by a random bit, half of the message is counted in each direction, which is the expectation.
//! Under the split rule each packet sends its odd flit to plus, as the terminals do.

use super::loads::LoadAccumulator;
use crate::routing::Routing;
use crate::schedule::{Placement, Schedule};
use crate::topology::Fabric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Load of the channels of one class: on a grid, of one dimension and direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChannelClassLoad {
    /// Name of the class: `+x`, `-x`, `+y`, ... on a grid.
    pub class: String,
    /// Load of the most loaded channel \[flits].
    pub max_flits: f64,
}

impl ChannelClassLoad {
    /// The classes of a network, given the largest load of each \[flits].
    pub(super) fn named(fabric: &Fabric, loads: Vec<f64>) -> Vec<ChannelClassLoad> {
        let named = fabric.classes().iter().zip(loads);
        named.map(|(class, max_flits)| ChannelClassLoad { class: class.clone(), max_flits }).collect()
    }

    /// The largest load of all \[flits].
    pub(super) fn largest(classes: &[ChannelClassLoad]) -> f64 {
        classes.iter().map(|c| c.max_flits).fold(0.0, f64::max)
    }
}

/// Loads of one phase: of a group of consecutive steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseLoad {
    /// Number of the group: step / NIC ports.
    pub group: u32,
    /// Load of the most loaded channel \[flits].
    pub max_flits: f64,
    /// Flits of the most loaded channel of each class, as in [`ChannelLoads::classes`] \[flits].
    pub class_max_flits: Vec<f64>,
}

/// Loads of all channels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChannelLoads {
    /// Load of output port `p` of router `r` at index `r * network_ports + p`; 0 where there is no channel \[flits].
    pub channel_flits: Vec<f64>,
    /// Load of the most loaded channel \[flits].
    pub max_flits: f64,
    /// The loads of each class of channels.
    pub classes: Vec<ChannelClassLoad>,
    /// Phases in order, if they were asked for.
    pub phases: Vec<PhaseLoad>,
    /// Sum over the phases of [`PhaseLoad::max_flits`], 0 if they were not asked for \[flits].
    pub phase_sum_flits: f64,
}

/// The loads of all messages of a schedule, whose ranks are at the terminals that `placement` says.
///
/// They are exact where routes are fixed, but for ties that are drawn; what any routing needs where they are not.
/// Messages are sent as packets of at most `packet_flits` flits, 0 for one packet a message; only split ties depend on
/// it. With `group` the loads of each group of that many (at least 1) consecutive steps are found as well.
pub fn channel_loads(
    fabric: &Fabric,
    routing: &Routing,
    schedule: &Schedule,
    placement: &Placement,
    packet_flits: u32,
    group: Option<u32>,
) -> ChannelLoads {
    let end_of = |rank: u32| fabric.end(placement.terminal_of()[rank as usize]);
    let mut loads = LoadAccumulator::new(fabric, routing);
    let mut phases = Vec::new();
    let mut messages: Vec<(u32, u32, u32, u64)> =
        schedule.messages_over_network().map(|m| (m.step / group.unwrap_or(1).max(1), m.from, m.to, m.size)).collect();
    if group.is_some() {
        messages.sort_unstable_by_key(|&(phase, from, ..)| (phase, from));
    }
    let same_phase = |a: &(u32, u32, u32, u64), b: &(u32, u32, u32, u64)| group.is_none() || a.0 == b.0;
    for chunk in messages.chunk_by(same_phase) {
        for &(_, from, to, flits) in chunk {
            let shares = shares(routing.splits(), packet_flits, flits);
            loads.add(end_of(from), end_of(to), shares);
        }
        let class_max_flits = loads.end_phase();
        if group.is_some() {
            let max_flits = class_max_flits.iter().copied().fold(0.0, f64::max);
            phases.push(PhaseLoad { group: chunk[0].0, max_flits, class_max_flits });
        }
    }
    let classes = loads.classes();
    ChannelLoads {
        channel_flits: loads.channel_flits(),
        max_flits: ChannelClassLoad::largest(&classes),
        classes,
        phase_sum_flits: phases.iter().map(|p| p.max_flits).fold(0.0, |sum, flits| sum + flits),
        phases,
    }
}

/// What of a message goes with all random bits 0 and with all of them 1 \[flits].
fn shares(splits: bool, packet_flits: u32, flits: u64) -> [f64; 2] {
    if !splits {
        return [flits as f64 / 2.0; 2];
    }
    let packet = if packet_flits == 0 { flits.max(1) } else { u64::from(packet_flits) };
    // The larger half of each packet goes with the bits 0.
    let zeros = flits / packet * packet.div_ceil(2) + (flits % packet).div_ceil(2);
    [zeros as f64, (flits - zeros) as f64]
}
