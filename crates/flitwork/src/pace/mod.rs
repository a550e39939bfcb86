//! Pacing: how long an injection port pauses between packets, so that the messages of a step share channels evenly.
//!
//! If `m` messages of a step cross one channel, none of them gets more than `1/m` of it. A NIC that sends faster fills
//! buffers, and what waits there holds up packets that cross other channels. So the NIC sends a packet, then pauses for
//! `m - 1` packets (Shibamura et al. 2012): `m` is the *message-overlap degree* (MOD) of the step, the largest number
//! of its messages on one channel, and follows from the schedule, the placement and the routing alone. The predecessor
//! paces by hops instead: the largest number of hops in the step.
//!
//! [`steps`] counts, [`Gaps`] is what the NIC looks up: packets' worth of pause by step. `docs/model.md`, step 2b, says
//! when it pauses.

mod count;
mod spec;

pub use count::{StepOverlap, steps};
pub use spec::{GapUnit, Over, PacingKind, PacingSpec};

use crate::error::{Error, Result};
use crate::routing::Routing;
use crate::schedule::{Placement, Schedule};
use crate::topology::Fabric;

/// Longest gap that can be given \[packets].
const MAX_GAP_PACKETS: u32 = 1_000_000;

/// Pauses of a schedule, step by step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gaps {
    /// Packets' worth of pause of each step, ascending by step; a step that is not listed has none.
    by_step: Vec<(u32, u32)>,
    /// One gap for all steps.
    all: Option<u32>,
    aggregate: bool,
    /// Flits of a packet's worth; `None`: those of the packet before the pause.
    unit_flits: Option<u32>,
}

impl Gaps {
    /// The pause after a packet of `flits` flits of a message of `step` \[cycles]; `ends`: it was the message's last.
    pub fn cycles(&self, step: u32, flits: u32, ends: bool) -> u64 {
        if ends && !self.aggregate {
            return 0;
        }
        let packets = self.all.unwrap_or_else(|| {
            self.by_step.binary_search_by_key(&step, |gap| gap.0).map_or(0, |at| self.by_step[at].1)
        });
        u64::from(packets) * u64::from(self.unit_flits.unwrap_or(flits))
    }
}

/// What a schedule is paced on.
#[derive(Debug, Clone, Copy)]
pub struct Paced<'a> {
    /// The network.
    pub fabric: &'a Fabric,
    /// The routing of the network.
    pub routing: &'a Routing,
    /// What is sent; `None` for traffic.
    pub schedule: Option<&'a Schedule>,
    /// Where ranks are.
    pub placement: &'a Placement,
    /// Injection ports of a NIC.
    pub ports: u32,
    /// Longest packet \[flits].
    pub packet_flits: u32,
}

/// The pauses that a specification asks for; `None` where ports never pause.
///
/// # Errors
/// [`Error::Config`] where the workload is no schedule, or nothing is known of its messages or their routes before the
/// run.
pub fn resolve(spec: &PacingSpec, on: &Paced) -> Result<Option<Gaps>> {
    let refused =
        |kind: &str, expected: &str, hint: &str| Err(Error::config("network.nic.pacing.kind", kind, expected, hint));
    if spec.gap_packets > MAX_GAP_PACKETS || spec.kind != PacingKind::Fixed && spec.gap_packets > 0 {
        let expected = format!("0 to {MAX_GAP_PACKETS} packets, and 0 unless kind is fixed");
        return Err(Error::config("network.nic.pacing.gap_packets", spec.gap_packets, expected, ""));
    }
    let kind = match spec.kind {
        PacingKind::None => return Ok(None),
        PacingKind::Fixed => "fixed",
        PacingKind::Mod => "mod",
        PacingKind::Hops => "hops",
    };
    let Some(schedule) = on.schedule else {
        return refused(kind, "none: only schedules have messages", "for traffic set network.nic.packet_gap_cycles");
    };
    let unit_flits = (spec.unit == GapUnit::LongestPacket).then_some(on.packet_flits);
    let gaps = Gaps { by_step: Vec::new(), all: None, aggregate: spec.aggregate, unit_flits };
    if spec.kind == PacingKind::Fixed {
        return Ok(Some(Gaps { all: Some(spec.gap_packets), ..gaps }));
    }
    if schedule.is_driven() {
        return refused(kind, "none or fixed: what ranks send is not known before", "set kind = \"fixed\"");
    }
    if !on.routing.is_fixed() {
        return refused(kind, "none or fixed: the routing leaves a choice of channels", "use dimension order");
    }
    let steps = steps(on, spec.over);
    let gap = |step: &StepOverlap| (step.step, step.gap_packets(spec.kind, spec.aggregate.then_some(on.ports)));
    let by_step: Vec<(u32, u32)> = steps.iter().map(gap).filter(|gap| gap.1 > 0).collect();
    Ok(Some(match spec.over {
        Over::Step => Gaps { by_step, ..gaps },
        Over::Schedule => Gaps { all: by_step.first().map(|gap| gap.1), ..gaps },
    }))
}

#[cfg(test)]
mod tests;
