//! A timetable as a workload: whether it is one, and whether this network is the one that it is for.

use super::super::units::{MESSAGE_FLITS, message_flits};
use super::{Context, MOST_FLITS, Params, Workload};
use crate::error::{Error, Result};
use crate::routing::{RoutingSpec, Tie};
use crate::schedule::Placement;
use crate::spec::{NetworkSpec, WorkloadSpec};
use crate::timetable::Timetable;
use crate::topology::Grid;
use crate::traffic::no_file;
use std::sync::Arc;

const PATH: &str = "workload.timetable";
/// Latest start of a block \[cycles].
const MOST_CYCLES: u128 = 1 << 60;
/// Routers of the largest network that timetables are searched for.
const MOST_NODES: usize = 1 << 16;

impl Context<'_> {
    /// The schedule of a timetable. The longest packet is by default a block.
    pub(super) fn timetable(&self, spec: &mut WorkloadSpec) -> Result<Workload> {
        let WorkloadSpec::Timetable { timetable, file, message_flits: flits, message_bytes, packet_flits } = spec
        else {
            return Err(Error::config(self.path("kind"), "another one", "timetable", ""));
        };
        no_file(self.at, file, "timetable")?;
        let timetable = timetable.timetable(PATH)?;
        let message = message_flits(*flits, *message_bytes, self.units)?;
        if message_bytes.is_none() {
            flits.get_or_insert(MESSAGE_FLITS);
        }
        if message == 0 {
            return Err(Error::config(self.path("message_flits"), 0, "at least 1 flit", ""));
        }
        self.check_place(timetable)?;
        if let Err(fault) = timetable.check() {
            return Err(Error::config(PATH, "given", "no port and no channel used twice", fault.describe(timetable)));
        }
        let block = timetable.block_flits;
        match *packet_flits {
            0 => *packet_flits = block,
            longer if longer > block => {
                let expected = format!("at most {block} flits, a block of the timetable");
                return Err(Error::config(self.path("packet_flits"), longer, expected, ""));
            }
            _ => {}
        }
        self.check_packet(&self.path("packet_flits"), *packet_flits)?;
        let blocks = timetable.blocks(message);
        let nodes = u128::from(timetable.nodes());
        if nodes * nodes * u128::from(message) > MOST_FLITS || blocks > u64::from(u32::MAX) {
            let expected = format!("at most {MOST_FLITS} flits in all messages, and fewer than 2^32 blocks in each");
            return Err(Error::config(self.path("message_flits"), message, expected, "use shorter messages"));
        }
        let cycles = u128::from(blocks) * u128::from(timetable.period_cycles);
        if cycles > MOST_CYCLES {
            let expected = format!("periods that end within {MOST_CYCLES} cycles, all together");
            return Err(Error::config(format!("{PATH}.period_cycles"), timetable.period_cycles, expected, ""));
        }
        Ok(Workload::Schedule { schedule: timetable.schedule(message), packet_flits: *packet_flits })
    }

    /// Whether the nodes are those of the network, and ranks are where nodes are.
    fn check_place(&self, timetable: &Timetable) -> Result<()> {
        let sizes = &timetable.sizes;
        let same = self.fabric.grid().is_some_and(|grid| *grid == timetable.grid());
        if !same || !self.fabric.has_one_terminal_each() {
            let network =
                self.fabric.grid().map_or("no grid".to_string(), |grid| format!("of size {:?}", grid.sizes()));
            let expected = format!("one for this network, which is {network}");
            let hint = format!("use a torus of size {sizes:?} with one terminal a router, or find another timetable");
            return Err(Error::config(format!("{PATH}.sizes"), format!("{sizes:?}"), expected, hint));
        }
        if self.host.ranks_per_terminal != 1 || self.placement()? != Placement::one_each(self.fabric.terminals()) {
            let expected = "rank r on terminal r: a timetable goes by coordinates";
            return Err(Error::config("host.placement", "given", expected, "leave it out"));
        }
        Ok(())
    }
}

/// Whether the routing and the delays of a network are those that a timetable counts on.
pub(in super::super) fn check(network: &NetworkSpec, workload: &WorkloadSpec, params: &Params) -> Result<()> {
    let routing = network.routing.as_ref();
    let tie = match routing {
        Some(RoutingSpec::DimensionOrder(options)) => options.tie,
        _ => Tie::Parity,
    };
    let WorkloadSpec::Timetable { timetable, .. } = workload else {
        if tie == Tie::ByMessage {
            let hint = "set network.routing.tie to plus, parity, random or split";
            let expected = "another rule: only the messages of a timetable name a direction";
            return Err(Error::config("network.routing.tie", "by_message", expected, hint));
        }
        return Ok(());
    };
    let timetable = timetable.timetable(PATH)?;
    check_routes(network)?;
    if timetable.has_ties() && tie != Tie::ByMessage {
        let expected = "by_message: the timetable says which way its blocks go at half a ring";
        return Err(Error::config(
            "network.routing.tie",
            tie.name(),
            expected,
            "set network.routing.tie = \"by_message\"",
        ));
    }
    let hop = hop_cycles(params);
    if timetable.hop_cycles != hop {
        let expected = format!("{hop} cycles, as a hop of this network takes");
        let hint = "find a timetable for this network, or change the delays of its routers and channels";
        return Err(Error::config(format!("{PATH}.hop_cycles"), timetable.hop_cycles, expected, hint));
    }
    Ok(())
}

impl super::super::Plan {
    /// The timetable that it runs, if its workload is one.
    pub fn timetable(&self) -> Option<&Arc<Timetable>> {
        match &self.spec.workload {
            WorkloadSpec::Timetable { timetable, .. } => timetable.timetable(PATH).ok(),
            _ => None,
        }
    }
}

/// What a timetable for the messages of a plan has to fit: sizes of the torus, cycles of a hop, flits of a message and
/// of its longest packet.
///
/// # Errors
/// [`Error::Config`] where the network is none that timetables are for.
pub fn synthesis_target(plan: &super::super::Plan) -> Result<(Vec<u32>, u32, u64, u32)> {
    let network = &plan.spec.network;
    let torus = plan.fabric.grid().filter(|grid| **grid == Grid::torus(grid.sizes()));
    let Some(grid) = torus else {
        let described = serde_json::to_value(&network.topology).unwrap_or_default();
        let kind = described["kind"].as_str().unwrap_or("another one").to_string();
        let expected = "torus: timetables of other networks are not synthesised yet";
        return Err(Error::config("network.topology.kind", kind, expected, ""));
    };
    if plan.params.terminals > MOST_NODES {
        let expected = format!("at most {MOST_NODES} routers");
        return Err(Error::config("network.topology.size", format!("{:?}", grid.sizes()), expected, ""));
    }
    if !plan.fabric.has_one_terminal_each() || plan.params.terminals < 2 {
        let expected = "1, on at least 2 routers: a timetable goes by coordinates";
        return Err(Error::config("network.topology.terminals_per_router", plan.params.concentration, expected, ""));
    }
    check_routes(network)?;
    let Workload::Schedule { schedule, packet_flits } = &plan.workload else {
        return Err(Error::config("workload.kind", "given", "an all-to-all", ""));
    };
    let message = schedule.messages().map(|message| message.size).next().unwrap_or(1);
    Ok((grid.sizes().to_vec(), hop_cycles(&plan.params), message, *packet_flits))
}

/// Refuses all routes but those that a timetable counts on.
fn check_routes(network: &NetworkSpec) -> Result<()> {
    let routing = network.routing.as_ref();
    let in_order = matches!(routing, Some(RoutingSpec::DimensionOrder(options))
        if options.order.iter().copied().eq(0..options.order.len()));
    if in_order {
        return Ok(());
    }
    let kind = routing.map_or("none", RoutingSpec::kind);
    let expected = "dimension_order in the order 0, 1, 2, ...: a timetable counts the channels of these routes";
    Err(Error::config("network.routing.kind", kind, expected, ""))
}

/// From one channel of a route to the next, where nothing waits \[cycles].
fn hop_cycles(params: &Params) -> u32 {
    params.routing_delay_cycles + params.vc_alloc_delay_cycles + params.hop_cycles
}
