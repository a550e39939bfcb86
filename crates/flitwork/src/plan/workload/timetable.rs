//! A timetable as a workload: whether it is one, and whether this network is the one that it is for.

use super::super::fixed_routes::FixedRoutes;
use super::super::units::{MESSAGE_FLITS, message_flits};
use super::{Context, MOST_FLITS, Params, Workload};
use crate::error::{Error, Result};
use crate::pace::PacingKind;
use crate::routing::{RoutingSpec, Tie};
use crate::schedule::{Placement, Schedule};
use crate::spec::{NetworkSpec, Pipeline, Switching, WorkloadSpec};
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
        check_cables(self.fabric.grid())?;
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
    let hop = hop_cycles(network, params);
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

    /// The messages of its timetable whole, as one block each: what bounds need to know of them.
    pub(crate) fn whole_messages(&self) -> Option<Schedule> {
        let WorkloadSpec::Timetable { message_flits: flits, message_bytes, .. } = &self.spec.workload else {
            return None;
        };
        let flits = message_flits(*flits, *message_bytes, &self.units).ok()?;
        let whole = Timetable { block_flits: u32::try_from(flits).ok()?, ..Timetable::clone(self.timetable()?) };
        Some(Arc::new(whole).schedule(flits))
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
    /// What injection and ejection add to the length of any timetable \[cycles].
    pub ends_cycles: u32,
    /// Length of a message \[flits].
    pub message_flits: u64,
    /// Longest packet \[flits].
    pub packet_flits: u32,
}

/// What a timetable for the messages of a plan has to fit. The plan is that of an all-to-all whose messages are equally
/// long.
///
/// # Errors
/// [`Error::Config`] where the network is none that timetables are for, or where flits would wait whatever the
/// timetable.
pub fn synthesis_target(plan: &super::super::Plan) -> Result<SynthesisTarget> {
    let (network, params) = (&plan.spec.network, &plan.params);
    let Workload::Schedule { schedule, packet_flits } = &plan.workload else {
        return Err(Error::config("workload.kind", "given", "an all-to-all", ""));
    };
    if params.terminals < 2 {
        let expected = "at least 2 terminals, which have something to send to each other";
        return Err(Error::config("network.topology", format!("{} terminals", params.terminals), expected, ""));
    }
    let torus = plan.fabric.grid().filter(|grid| **grid == Grid::torus(grid.sizes()));
    let alike = torus.filter(|_| plan.fabric.has_one_terminal_each() && check_routes(network).is_ok());
    let most = if alike.is_some() { MOST_NODES } else { MOST_TERMINALS };
    if params.terminals > most {
        let expected = format!("at most {most}: the search would take too long");
        return Err(Error::config("network.topology", format!("{} terminals", params.terminals), expected, ""));
    }
    if alike.is_none() {
        plan.fixed_routes()?;
    }
    let message_flits = schedule.messages().map(|message| message.size).next().unwrap_or(1);
    let packet = u64::from(*packet_flits).min(message_flits) as u32;
    let shortest = if packet == 0 { 1 } else { (message_flits - 1) % u64::from(packet) + 1 };
    check_pauses(network)?;
    check_pipeline(network, shortest)?;
    check_buffers(plan, packet)?;
    Ok(SynthesisTarget {
        sizes: alike.map(|grid| grid.sizes().to_vec()),
        hop_cycles: hop_cycles(network, params),
        ends_cycles: params.inject_cycles + stages_cycles(network) + params.eject_cycles - 1,
        message_flits,
        packet_flits: *packet_flits,
    })
}

/// Refuses rings of length 2 with one cable, where the channels towards plus and minus are one.
fn check_cables(grid: Option<&Grid>) -> Result<()> {
    let joined = grid.is_some_and(|grid| *grid != Grid::torus(grid.sizes()) && *grid == single_cables(grid.sizes()));
    if !joined {
        return Ok(());
    }
    let expected = "double: a timetable counts a channel for each direction of a ring";
    Err(Error::config("network.topology.ring2", "single", expected, "set network.topology.ring2 = \"double\""))
}

/// A torus whose rings of length 2 have one cable.
fn single_cables(sizes: &[u32]) -> Grid {
    Grid::new(sizes, &vec![true; sizes.len()], true)
}

/// Refuses all routes but those that a timetable counts on.
fn check_routes(network: &NetworkSpec) -> Result<()> {
    let Some(RoutingSpec::DimensionOrder(options)) = &network.routing else {
        let kind = network.routing.as_ref().map_or("none", RoutingSpec::kind);
        let expected = "dimension_order: a timetable counts the channels of these routes";
        return Err(Error::config("network.routing.kind", kind, expected, ""));
    };
    if options.order.iter().copied().eq(0..options.order.len()) {
        return Ok(());
    }
    let expected = "dimensions in ascending order, as a timetable counts their channels";
    Err(Error::config("network.routing.order", format!("{:?}", options.order), expected, "leave it out"))
}

/// Refuses pauses of the network interfaces, which a timetable does not know.
fn check_pauses(network: &NetworkSpec) -> Result<()> {
    let (nic, why) = (&network.nic, "a timetable leaves no time for pauses between packets");
    if nic.packet_gap_cycles > 0 {
        let (path, expected) = ("network.nic.packet_gap_cycles", format!("0: {why}"));
        return Err(Error::config(path, nic.packet_gap_cycles, expected, "leave it out"));
    }
    if nic.pacing.kind != PacingKind::None {
        let given = serde_json::to_value(nic.pacing.kind).unwrap_or_default();
        let (path, expected) = ("network.nic.pacing.kind", format!("none: {why}"));
        return Err(Error::config(path, given.as_str().unwrap_or("given"), expected, "leave out network.nic.pacing"));
    }
    if !nic.service.is_default() {
        let expected = "the defaults: a timetable says which message is sent when";
        return Err(Error::config("network.nic.service", "given", expected, "leave it out"));
    }
    Ok(())
}

/// Refuses router pipelines in which packets that follow each other closely wait. `shortest`: the shortest packet.
fn check_pipeline(network: &NetworkSpec, shortest: u64) -> Result<()> {
    let router = &network.router;
    if router.wait_for_tail_credit {
        let expected = "false: packets that follow each other would wait for credits";
        let (path, hint) = ("network.router.wait_for_tail_credit", "leave it out");
        return Err(Error::config(path, true, expected, hint));
    }
    if router.pipeline == Pipeline::AtFront && stages_cycles(network) > 0 {
        let expected =
            "pipelined: packets that follow each other would wait for the delays of routing and VC allocation";
        let hint = "set network.router.pipeline = \"pipelined\"";
        return Err(Error::config("network.router.pipeline", "at_front", expected, hint));
    }
    let allocation = if router.speculative { 0 } else { router.vc_alloc_delay_cycles };
    if u64::from(allocation) >= shortest {
        let expected = format!("less than the shortest packet, {shortest} flits: others would wait for its VC");
        let (path, hint) =
            ("network.router.vc_alloc_delay_cycles", "set it to 0, or network.router.speculative = true");
        return Err(Error::config(path, allocation, expected, hint));
    }
    if !router.compat.pipelined_stages && router.routing_delay_cycles.max(router.st_delay_cycles) > 1 {
        let expected = "true: stages that take one flit at a time make others wait";
        return Err(Error::config("network.router.compat.pipelined_stages", false, expected, "leave it out"));
    }
    Ok(())
}

/// Refuses buffers so small that flits wait for credits.
fn check_buffers(plan: &super::super::Plan, packet_flits: u32) -> Result<()> {
    let (network, params) = (&plan.spec.network, &plan.params);
    let stages = stages_cycles(network);
    // A channel may be longer than the others: there and back.
    let ports = |router| (0..plan.fabric.network_ports()).map(move |port| (router, port));
    let latencies = (0..plan.fabric.routers())
        .flat_map(ports)
        .filter_map(|(router, port)| plan.fabric.latency_cycles(router, port));
    let longer = latencies.max().unwrap_or(0).saturating_sub(network.channel.latency_cycles);
    let round_trips = [
        params.hop_cycles + stages + params.credit_cycles + 2 * longer,
        params.inject_cycles + stages + params.inject_credit_cycles,
        params.eject_cycles + params.eject_credit_cycles,
    ];
    let round_trip = u64::from(round_trips.into_iter().max().unwrap_or(0));
    // Under virtual cut-through a packet asks for its last credit when it begins.
    let whole = network.router.switching == Switching::VirtualCutThrough;
    let ahead = if whole { u64::from(packet_flits.max(1)) - 1 } else { 0 };
    let least = round_trip + ahead - u64::from(params.shared_buffer_flits).min(round_trip + ahead - 1);
    if u64::from(params.buffer_flits) >= least {
        return Ok(());
    }
    let expected = format!("at least {least} flits: a credit returns after {round_trip} cycles, and flits would wait");
    let hint = format!("set network.router.buffer_flits = {least}");
    Err(Error::config("network.router.buffer_flits", params.buffer_flits, expected, hint))
}

/// From the arrival of a head at a router to its request of the switch, where nothing waits \[cycles].
pub(in super::super) fn stages_cycles(network: &NetworkSpec) -> u32 {
    let router = &network.router;
    router.routing_delay_cycles + if router.speculative { 0 } else { router.vc_alloc_delay_cycles }
}

/// From one channel of a route to the next, where nothing waits \[cycles].
fn hop_cycles(network: &NetworkSpec, params: &Params) -> u32 {
    stages_cycles(network) + params.hop_cycles
}
