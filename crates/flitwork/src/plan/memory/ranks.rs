//! What ranks take: their programs, and the operations that are there at once.

use crate::plan::workload::{MAX_RANKS, chosen};
use crate::schedule::SendQueue;
use crate::spec::{HostSpec, SimulationSpec, WorkloadSpec};
use crate::topology::Fabric;
use flitwork_steps::{Collective, World};

/// A rank of an all-to-all \[bytes].
const RANK_BYTES: u64 = 3_000;

/// A send in its queue and a receive that is posted, with what waits for them \[bytes].
pub(super) const MESSAGE_BYTES: u64 = 140;

/// Bytes of what ranks do. Operations are made when they are needed, so a rank takes little; where it matters when each
/// was posted (messages leave as they are ready, a background, noise, software times), a rank has all that it posts
/// before it waits.
pub(super) fn operations(spec: &SimulationSpec, fabric: &Fabric) -> u64 {
    let ranks = ranks(&spec.host, fabric);
    let host = &spec.host;
    let out_of_order =
        host.noise.is_some() || host.eager_limit_flits.is_some() || host.send_queue == SendQueue::AsReady;
    let out_of_order = out_of_order || host.copy_flits_per_cycle.is_some();
    let read_early = spec.background.is_some() || out_of_order || host.has_software_times();
    let posted = match &spec.workload {
        WorkloadSpec::AllToAll { .. } => ranks,
        collective @ WorkloadSpec::Collective { step_barriers, .. } => found(collective, host, fabric)
            .map_or(0, |(row, world)| if *step_barriers { 1 } else { posted(row, &world) }),
        _ => return 0,
    };
    let messages = if read_early { ranks.saturating_mul(posted) } else { 0 };
    ranks.saturating_mul(RANK_BYTES).saturating_add(messages.saturating_mul(MESSAGE_BYTES))
}

/// The most steps that a rank begins before it waits for all of them, as far as a few ranks tell.
fn posted(collective: &Collective, world: &World) -> u64 {
    let steps = (collective.steps)(world);
    let of_rank = |rank: u32| {
        let (mut most, mut posted) = (0, 0);
        for step in (0..steps).map(|step| (collective.step)(world, rank, step)) {
            posted += u64::from(step.send.is_some() || step.receive.is_some());
            most = posted.max(most);
            posted = if step.waits { 0 } else { posted };
        }
        most
    };
    [world.root, 0, world.ranks / 2, world.ranks - 1].into_iter().map(of_rank).max().unwrap_or(0)
}

/// Number of ranks. What is wrong with it the workload says.
pub(super) fn ranks(host: &HostSpec, fabric: &Fabric) -> u64 {
    host.ranks(fabric.terminals()).unwrap_or(0) as u64
}

/// Steps of a collective, as many as its ranks send messages at most.
pub(super) fn steps(workload: &WorkloadSpec, host: &HostSpec, fabric: &Fabric) -> u64 {
    found(workload, host, fabric).map_or(0, |(collective, world)| u64::from((collective.steps)(&world)))
}

/// A collective and its ranks. What is wrong with them the workload says.
fn found(workload: &WorkloadSpec, host: &HostSpec, fabric: &Fabric) -> Option<(&'static Collective, World)> {
    let ranks = host.ranks(fabric.terminals()).ok().filter(|&ranks| ranks <= MAX_RANKS)?;
    let placement = host.placed(ranks as u32, fabric.terminals()).ok()?;
    chosen(workload, &placement, fabric)?.ok()
}
