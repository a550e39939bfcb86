//! The bus, checked: its numbers, and who uses it.

use super::{Plan, Workload, within};
use crate::collective::Operation;
use crate::error::{Error, Result};
use crate::schedule::{OpKind, Rate, Schedule, name};
use crate::spec::{BusSpec, MAX_DELAY, NetworkSpec, SimulationSpec, WorkloadSpec};
use crate::topology::Fabric;

/// The numbers that a bus runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BusParams {
    /// Flits that the bus carries in a cycle.
    pub rate: Rate,
    /// Time before each transfer \[cycles].
    pub arbitration_cycles: u32,
    /// From the last flit sent to the message arrived \[cycles].
    pub latency_cycles: u32,
}

/// Those of a network that has one.
pub(super) fn resolve(network: &NetworkSpec, fabric: &Fabric) -> Result<Option<BusParams>> {
    if let Some(tree) = &network.barrier_tree {
        within("network.barrier_tree.hop_cycles", tree.hop_cycles, 1, MAX_DELAY, "cycles")?;
        if network.bus.as_ref().is_some_and(|bus| bus.operations.contains(&Operation::Barrier)) {
            let (path, hint) = ("network.bus.operations", "take barrier out, or network.barrier_tree");
            return Err(Error::config(path, "barrier", "what goes by one network: barriers go over the tree", hint));
        }
    }
    let Some(bus) = &network.bus else { return Ok(None) };
    let &BusSpec { flits_per_cycle, arbitration_cycles, latency_cycles, .. } = bus;
    let Some(rate) = Rate::of(flits_per_cycle) else {
        return Err(Error::config("network.bus.flits_per_cycle", flits_per_cycle, Rate::RANGE, ""));
    };
    within("network.bus.arbitration_cycles", arbitration_cycles, 0, MAX_DELAY, "cycles")?;
    within("network.bus.latency_cycles", latency_cycles, 0, MAX_DELAY, "cycles")?;
    if fabric.terminals() < 2 {
        let hint = "take the bus out, or use a larger network";
        return Err(Error::config("network.bus", "1 terminal", "2 terminals or more: a bus joins several", hint));
    }
    Ok(Some(BusParams { rate, arbitration_cycles, latency_cycles }))
}

/// Refuses messages that go over a bus which the machine does not have, or which are too long for it.
pub(super) fn check(spec: &SimulationSpec, workload: &Workload) -> Result<()> {
    let Workload::Schedule { schedule, .. } = workload else { return Ok(()) };
    let operations = spec.network.bus.as_ref().map_or(&[][..], |bus| &bus.operations);
    if let WorkloadSpec::AllToAll { .. } = spec.workload {
        if operations.contains(&Operation::AllToAll) {
            let expected = "collective: an all_to_all goes by coordinates, and over the network";
            let hint = "say kind = \"collective\" and operation = \"all_to_all\"";
            return Err(Error::config("workload.kind", "all_to_all", expected, hint));
        }
    }
    if matches!(spec.workload, WorkloadSpec::Schedule { .. }) {
        check_given(schedule, spec.network.bus.is_some(), spec.network.barrier_tree.is_some())?;
    }
    if spec.network.bus.is_none() {
        return Ok(());
    }
    match schedule.messages().find(|message| message.via.is_bus() && message.size > u64::from(u32::MAX)) {
        None => Ok(()),
        Some(message) => {
            let expected = format!("at most {} flits in a message over the bus", u32::MAX);
            Err(Error::config("workload", format!("a message of {} flits", message.size), expected, ""))
        }
    }
}

/// A schedule that comes with the specification names networks that the machine has.
fn check_given(schedule: &Schedule, has_bus: bool, has_tree: bool) -> Result<()> {
    for rank in 0..schedule.ranks() {
        for (number, op) in (0u32..).zip(schedule.operations(rank)) {
            let (what, field) = match op.via {
                via if via.is_bus() && !has_bus => ("bus", "bus"),
                via if via.is_tree() && !has_tree => ("barrier tree", "barrier_tree"),
                _ => continue,
            };
            if matches!(op.kind, OpKind::Send { .. }) {
                let value = format!("{} by the {what}", name(rank, number, &op.kind));
                let expected = format!("messages by a network that the machine has: it has no {what}");
                let hint = format!("set network.{field}, or network = \"network\"");
                return Err(Error::config("workload.schedule", value, expected, hint));
            }
        }
    }
    Ok(())
}

impl Plan {
    /// Whether the messages of the workload, a collective, go by another network than that of routers and channels.
    pub fn collective_is_elsewhere(&self) -> bool {
        let WorkloadSpec::Collective { operation, .. } = &self.spec.workload else { return false };
        let network = &self.spec.network;
        let on_bus = network.bus.as_ref().is_some_and(|bus| bus.operations.contains(operation));
        on_bus || network.barrier_tree.is_some() && !operation.has_data()
    }
}
