//! What a plan tells those who show, sort or store runs: its channels, and the names and numbers that follow from the specification.
//! They derive none of it themselves.

use super::{Plan, Workload};
use crate::spec::WorkloadSpec;
use crate::topology::Fabric;
use crate::traffic::{Packets, Process, Traffic};
use serde_json::{Value, json};

/// A number; a whole one without a fraction.
fn as_written(value: f64) -> Value {
    if value.fract() == 0.0 { json!(value as u64) } else { json!(value) }
}

/// What a terminal without anything to do costs in a cycle [flit-hops].
const IDLE: f64 = 0.1;

/// The channels between routers, ascending by router and output port: a column for each attribute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChannelTable {
    /// Router that the channel leaves.
    pub router: Vec<u32>,
    /// Output port that it leaves by.
    pub port: Vec<u32>,
    /// Router that it enters.
    pub to_router: Vec<u32>,
    /// Input port that it enters by.
    pub to_port: Vec<u32>,
    /// Its class, an index of [`Fabric::classes`].
    pub class: Vec<u32>,
}

impl ChannelTable {
    /// The channels of a network.
    pub fn of(fabric: &Fabric) -> Self {
        let mut table = ChannelTable::default();
        for (router, port) in fabric.channels() {
            let (to_router, to_port) = fabric.peer(router, port).unwrap_or_default();
            table.router.push(router);
            table.port.push(port as u32);
            table.to_router.push(to_router);
            table.to_port.push(to_port as u32);
            table.class.push(fabric.class_of(router, port) as u32);
        }
        table
    }
}

impl Plan {
    /// Whether the workload runs to completion (and is not traffic at an offered load).
    pub fn runs_to_completion(&self) -> bool {
        self.workload.completes()
    }

    /// Whether the workload is a schedule.
    pub fn has_schedule(&self) -> bool {
        matches!(self.workload, Workload::Schedule { .. })
    }

    /// The load of uniform traffic that uses up the middle of the network, or its terminals [flits/cycle/terminal]; `None`
    /// where that is not known.
    pub fn uniform_capacity(&self) -> Option<f64> {
        self.fabric.uniform_capacity().map(|load| load.min(self.params.nic_ports as f64))
    }

    /// Names and numbers, for the plan as JSON.
    pub(super) fn described(&self) -> Value {
        let mut described = json!({
            "topology": self.spec.network.topology,
            "size": self.fabric.size_name(),
            "routers": self.fabric.routers(),
            "terminals": self.fabric.terminals(),
            "nic_ports": self.params.nic_ports,
            "channel_classes": self.fabric.classes(),
            "workload": self.workload_name(),
            "runs_to_completion": self.runs_to_completion(),
            "has_schedule": self.has_schedule(),
            "uniform_capacity_flits_per_cycle": self.uniform_capacity(),
            "estimated_work_flit_hops": self.estimated_work(),
        });
        let units = [("flit_bytes", self.units.flit_bytes().map(f64::from)), ("cycle_ns", self.units.cycle_ns())];
        let said = units.into_iter().filter_map(|(name, value)| Some((name.to_string(), as_written(value?))));
        let said: serde_json::Map<String, Value> = said.collect();
        if !said.is_empty() {
            described["units"] = said.into();
        }
        described
    }

    /// What tables call the workload: the name of its schedule, the pattern or the kind.
    fn workload_name(&self) -> Value {
        if let Workload::Schedule { schedule, .. } = &self.workload {
            return schedule.name().into();
        }
        let workload = serde_json::to_value(&self.spec.workload).unwrap_or_default();
        let named = workload.get("pattern").and_then(|pattern| pattern.get("kind"));
        named.or_else(|| workload.get("kind")).cloned().unwrap_or_default()
    }

    /// Flit-hops that a run will take, roughly: good enough to start the longest first and to guess the time left.
    fn estimated_work(&self) -> f64 {
        let terminals = f64::from(self.fabric.terminals());
        // With the router at the destination.
        let hops = 1.0 + self.fabric.mean_hops();
        let background =
            self.background.as_ref().map_or(0.0, |_| self.spec.background.as_ref().map_or(0.0, offered_load));
        let run = &self.spec.run;
        let busy = |cycles: f64, load: f64| terminals * cycles * (load * hops + IDLE);
        if !self.runs_to_completion() {
            // A steady run takes at least this long.
            let cycles = run
                .steady
                .as_ref()
                .map_or(run.fixed_window().end, |steady| steady.min_warmup_cycles + steady.min_measurement_cycles);
            return busy(cycles as f64, offered_load(&self.spec.workload) + background);
        }
        let (flits, cycles) = self.sent_in();
        flits * hops + busy(cycles + self.start_cycle as f64, background)
    }

    /// Flit-hops of a cycle, roughly: those of the offered load, as far as the network accepts it; of a workload that completes the mean.
    pub(super) fn flit_hops_a_cycle(&self) -> f64 {
        let flits = if self.runs_to_completion() {
            let (flits, cycles) = self.sent_in();
            flits / cycles.max(1.0)
        } else {
            let accepted = offered_load(&self.spec.workload).min(self.uniform_capacity().unwrap_or(1.0));
            f64::from(self.fabric.terminals()) * accepted
        };
        flits * (1.0 + self.fabric.mean_hops())
    }

    /// Of a workload that completes: flits in all, and cycles in which they can be sent, roughly.
    fn sent_in(&self) -> (f64, f64) {
        let (flits, most, least_cycles) = self.sent();
        (flits, (most / self.uniform_capacity().unwrap_or(1.0)).max(least_cycles))
    }

    /// Of a workload that completes: flits in all, most flits of a terminal, and cycles that it takes to create them.
    fn sent(&self) -> (f64, f64, f64) {
        let terminals = 0..self.fabric.terminals();
        match &self.workload {
            Workload::Schedule { schedule, .. } => {
                let mut of = vec![0u64; terminals.len()];
                let terminal_of = self.placement.terminal_of();
                schedule.messages().for_each(|m| of[terminal_of[m.from as usize] as usize] += m.size);
                (of.iter().sum::<u64>() as f64, of.iter().max().copied().unwrap_or(0) as f64, 0.0)
            }
            Workload::OpenLoop(traffic) | Workload::Finite(traffic) => created(traffic, terminals),
        }
    }
}

/// Of packets that are given one by one or of a burst: the same.
fn created(traffic: &Traffic, terminals: std::ops::Range<u32>) -> (f64, f64, f64) {
    match &traffic.packets {
        Packets::Given(trace) => {
            let of = terminals.map(|t| trace.of(t).map(|packet| u64::from(packet.flits)).sum::<u64>());
            let (all, most) = of.fold((0, 0), |(all, most), flits| (all + flits, most.max(flits)));
            (all as f64, most as f64, trace.last_cycle() as f64)
        }
        Packets::Drawn(drawn) => {
            let flits = drawn.lengths.mean_flits();
            let of = terminals.map(|t| drawn.packets_of(t));
            let (all, most) = of.fold((0, 0), |(all, most), packets| (all + packets, most.max(packets)));
            let gap_cycles = match drawn.process.of(0) {
                Process::AtOnce => 0.0,
                Process::Bernoulli(process) => process.mean_gap_cycles(),
                Process::OnOff(process) => process.mean_gap_cycles(),
            };
            (all as f64 * flits, most as f64 * flits, most as f64 * gap_cycles)
        }
    }
}

fn offered_load(workload: &WorkloadSpec) -> f64 {
    match workload {
        WorkloadSpec::Uniform { offered_load, .. } | WorkloadSpec::Traffic { offered_load, .. } => *offered_load,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::from_json;

    fn plan(network: &str, workload: &str) -> Plan {
        let text = format!(r#"{{"network":{{"topology":{network}}},"workload":{workload}}}"#);
        Plan::new(&from_json(&text).unwrap()).unwrap()
    }

    const UNIFORM: &str = r#"{"kind":"uniform","offered_load":0.1}"#;

    #[test]
    fn the_channels_are_those_that_exist_in_order() {
        let table = ChannelTable::of(&plan(r#"{"kind":"mesh","size":[3]}"#, UNIFORM).fabric);
        assert_eq!((table.router, table.port), (vec![0, 1, 1, 2], vec![0, 0, 1, 1]));
        assert_eq!((table.to_router, table.to_port), (vec![1, 2, 0, 1], vec![1, 1, 0, 0]));
        assert_eq!(table.class, vec![0, 0, 1, 1]);
    }

    #[test]
    fn a_plan_says_what_it_is() {
        let open = plan(r#"{"kind":"torus","size":[8,4]}"#, UNIFORM).described();
        assert_eq!((&open["size"], &open["workload"]), (&json!("8x4"), &json!("uniform")));
        assert_eq!((&open["runs_to_completion"], &open["has_schedule"]), (&json!(false), &json!(false)));
        assert_eq!(open["channel_classes"], json!(["+x", "-x", "+y", "-y"]));
        assert_eq!(open["uniform_capacity_flits_per_cycle"], json!(1.0));
        let closed =
            plan(r#"{"kind":"torus","size":[3,3]}"#, r#"{"kind":"all_to_all","algorithm":"a2at"}"#).described();
        assert_eq!((&closed["workload"], &closed["has_schedule"]), (&json!("a2at"), &json!(true)));
    }
}
