//! What a plan tells those who show, sort or store runs: its channels, and the names and numbers that follow from the
//! specification. They derive none of it themselves.

use super::{Plan, Workload};
use crate::topology::Fabric;
use serde_json::{Value, json};

/// A number; a whole one without a fraction.
fn as_written(value: f64) -> Value {
    if value.fract() == 0.0 { json!(value as u64) } else { json!(value) }
}

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
    /// Class of each channel, an index of [`Fabric::classes`].
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

    /// The load of uniform traffic that uses up the middle of the network, or its terminals [flits/cycle/terminal];
    /// `None` where that is not known.
    pub fn uniform_capacity(&self) -> Option<f64> {
        self.fabric.uniform_capacity().map(|load| load.min(self.params.nic_ports as f64))
    }

    /// Hops of flits that the run takes, roughly, with what idle terminals cost.
    pub fn estimated_flit_hops(&self) -> f64 {
        self.work().flit_hops
    }

    /// How long one core takes, roughly \[s].
    pub fn estimated_seconds(&self) -> f64 {
        self.work().seconds(self.kernel())
    }

    /// What a flit carries and how long a cycle takes, as far as that is known: `flit_bytes`, `cycle_ns`.
    pub fn stated_units(&self) -> serde_json::Map<String, Value> {
        let units = [("flit_bytes", self.units.flit_bytes().map(f64::from)), ("cycle_ns", self.units.cycle_ns())];
        units.into_iter().filter_map(|(name, value)| Some((name.to_string(), as_written(value?)))).collect()
    }

    /// Names and numbers, for the plan as JSON.
    pub(super) fn described(&self) -> Value {
        let mut described = json!({
            "topology": self.spec.network.topology_and_without(),
            "size": self.size_name(),
            "routers": self.fabric.routers(),
            "terminals": self.fabric.terminals(),
            "nic_ports": self.params.nic_ports,
            "channel_classes": self.fabric.classes(),
            "workload": self.workload_name(),
            "runs_to_completion": self.runs_to_completion(),
            "has_schedule": self.has_schedule(),
            "uniform_capacity_flits_per_cycle": self.uniform_capacity(),
            "kernel": self.kernel(),
        });
        let work = self.work();
        described["estimated_work_flit_hops"] = json!(work.flit_hops);
        described["estimated_seconds"] = json!(work.seconds(self.kernel()));
        let said = self.stated_units();
        if !said.is_empty() {
            described["units"] = said.into();
        }
        if !self.spec.network.units.rounded.is_empty() {
            described["rounded"] = json!(self.spec.network.units.rounded);
        }
        described
    }

    /// How large the network is, that without faults where it has some.
    fn size_name(&self) -> String {
        let network = &self.spec.network;
        let whole = if network.without.is_nothing() { None } else { network.topology.fabric().ok() };
        whole.map_or_else(|| self.fabric.size_name(), |whole| format!("{} with faults", whole.size_name()))
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
