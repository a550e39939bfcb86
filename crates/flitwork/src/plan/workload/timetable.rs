//! A timetable as a workload: whether it is one, and whether this network is the one that it is for.

use super::super::fixed_routes::FixedRoutes;
use super::super::units::{MESSAGE_FLITS, message_flits};
use super::{Context, MOST_FLITS, Params, Workload};
use crate::error::{Error, Result};
use crate::routing::{RoutingSpec, Tie};
use crate::schedule::Placement;
use crate::spec::{NetworkSpec, WorkloadSpec};
use crate::timetable::{PairTimetable, Timetable};
use crate::topology::Grid;
use crate::traffic::no_file;
use std::sync::Arc;

const PATH: &str = "workload.timetable";
/// Latest start of a block \[cycles].
const MOST_CYCLES: u128 = 1 << 60;
/// Routers of the largest network that timetables are searched for.
const MOST_NODES: usize = 1 << 16;
/// Terminals of the largest one of which each pair has its own start.
const MOST_TERMINALS: usize = 1 << 11;

impl Context<'_> {
    /// The schedule of a timetable. The longest packet is by default a block.
    pub(super) fn timetable(&self, spec: &mut WorkloadSpec) -> Result<Workload> {
        let WorkloadSpec::Timetable { timetable, file, message_flits: flits, message_bytes, packet_flits } = spec
        else {
            return Err(Error::config(self.path("kind"), "another one", "timetable", ""));
        };
        no_file(self.at, file, "timetable")?;
        let message = message_flits(*flits, *message_bytes, self.units)?;
        if message_bytes.is_none() {
            flits.get_or_insert(MESSAGE_FLITS);
        }
        if message == 0 {
            return Err(Error::config(self.path("message_flits"), 0, "at least 1 flit", ""));
        }
        if let Some(timetable) = timetable.pair_timetable() {
            let routes = self.routes_of(timetable)?;
            self.check_lengths(packet_flits, (timetable.block_flits, timetable.period_cycles), message)?;
            let schedule = timetable.schedule(&routes, message);
            return Ok(Workload::Schedule { schedule, packet_flits: *packet_flits });
        }
        let timetable = timetable.timetable(PATH)?;
        self.check_place(timetable)?;
        if let Err(fault) = timetable.check() {
            return Err(Error::config(PATH, "given", "no port and no channel used twice", fault.describe(timetable)));
        }
        self.check_lengths(packet_flits, (timetable.block_flits, timetable.period_cycles), message)?;
        Ok(Workload::Schedule { schedule: timetable.schedule(message), packet_flits: *packet_flits })
    }

    /// Fills in the longest packet of blocks of this length, and checks that it fits into one; and whether messages of
    /// so many flits can be sent in periods of this length.
    fn check_lengths(&self, packet_flits: &mut u32, (block, period): (u32, u64), message: u64) -> Result<()> {
        match *packet_flits {
            0 => *packet_flits = block,
            longer if longer > block => {
                let expected = format!("at most {block} flits, a block of the timetable");
                return Err(Error::config(self.path("packet_flits"), longer, expected, ""));
            }
            _ => {}
        }
        self.check_packet(&self.path("packet_flits"), *packet_flits)?;
        let blocks = message.div_ceil(u64::from(block));
        let nodes = u128::from(self.fabric.terminals());
        if nodes * nodes * u128::from(message) > MOST_FLITS || blocks > u64::from(u32::MAX) {
            let expected = format!("at most {MOST_FLITS} flits in all messages, and fewer than 2^32 blocks in each");
            return Err(Error::config(self.path("message_flits"), message, expected, "use shorter messages"));
        }
        if u128::from(blocks) * u128::from(period) > MOST_CYCLES {
            let expected = format!("periods that end within {MOST_CYCLES} cycles, all together");
            return Err(Error::config(format!("{PATH}.period_cycles"), period, expected, ""));
        }
        Ok(())
    }

    /// The routes that a timetable by pairs is one for.
    fn routes_of(&self, timetable: &PairTimetable) -> Result<FixedRoutes<'_>> {
        if timetable.terminals != self.fabric.terminals() {
            let expected = format!("{}, the terminals of this network", self.fabric.terminals());
            let hint = "find another timetable for this network";
            return Err(Error::config(format!("{PATH}.terminals"), timetable.terminals, expected, hint));
        }
        self.check_placement()?;
        let routes = FixedRoutes::of(self.network, self.fabric, self.routing, self.params)?;
        timetable.check(&routes).map_err(|fault| {
            let expected = "no port and no channel used twice on the routes of this network";
            Error::config(PATH, "given", expected, fault.to_string())
        })?;
        Ok(routes)
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
        self.check_placement()
    }

    fn check_placement(&self) -> Result<()> {
        if self.host.ranks_per_terminal != 1 || self.placement()? != Placement::one_each(self.fabric.terminals()) {
            let expected = "rank r on terminal r: a timetable says what each terminal sends";
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
    if timetable.pair_timetable().is_some() {
        return Ok(());
    }
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

/// What a timetable for the messages of a plan has to fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SynthesisTarget {
    /// Sizes of a torus that is alike at all nodes, so that a timetable by relative vectors does; `None`: every pair of
    /// terminals has its own start, by [`super::super::Plan::fixed_routes`].
    pub sizes: Option<Vec<u32>>,
    /// From one channel of a route to the next, where channels are alike \[cycles].
    pub hop_cycles: u32,
    /// Length of a message \[flits].
    pub message_flits: u64,
    /// Longest packet \[flits].
    pub packet_flits: u32,
}

/// What a timetable for the messages of a plan has to fit. The plan is that of an all-to-all whose messages are equally
/// long.
///
/// # Errors
/// [`Error::Config`] where the network is none that timetables are for.
pub fn synthesis_target(plan: &super::super::Plan) -> Result<SynthesisTarget> {
    let Workload::Schedule { schedule, packet_flits } = &plan.workload else {
        return Err(Error::config("workload.kind", "given", "an all-to-all", ""));
    };
    if plan.params.terminals < 2 {
        let expected = "at least 2 terminals, which have something to send to each other";
        return Err(Error::config("network.topology", format!("{} terminals", plan.params.terminals), expected, ""));
    }
    let torus = plan.fabric.grid().filter(|grid| **grid == Grid::torus(grid.sizes()));
    let alike = torus.filter(|_| plan.fabric.has_one_terminal_each() && check_routes(&plan.spec.network).is_ok());
    let most = if alike.is_some() { MOST_NODES } else { MOST_TERMINALS };
    if plan.params.terminals > most {
        let expected = format!("at most {most}: the search would take too long");
        return Err(Error::config("network.topology", format!("{} terminals", plan.params.terminals), expected, ""));
    }
    if alike.is_none() {
        plan.fixed_routes()?;
    }
    Ok(SynthesisTarget {
        sizes: alike.map(|grid| grid.sizes().to_vec()),
        hop_cycles: hop_cycles(&plan.params),
        message_flits: schedule.messages().map(|message| message.size).next().unwrap_or(1),
        packet_flits: *packet_flits,
    })
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
