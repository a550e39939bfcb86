//! The search for the timetable of a network: whether it can have one, which blocks are tried, and how long.

use super::fixed_routes::FixedRoutes;
use super::{Params, Plan, Workload};
use crate::error::{Error, Result};
use crate::pace::PacingKind;
use crate::routing::{Routing, RoutingSpec};
use crate::spec::{NetworkSpec, Pipeline, Switching};
use crate::synthesis::{self, Order, PairOrder, Progress};
use crate::topology::{Fabric, Grid};
use crate::traffic::Table;
use std::sync::Arc;

/// Routers of the largest network that timetables are searched for.
const MOST_NODES: usize = 1 << 16;
/// Terminals of the largest one of which each pair has its own start.
const MOST_TERMINALS: usize = 1 << 11;
/// Longest block that is searched for \[flits].
const LONGEST_BLOCK: u32 = 1 << 20;
/// How far above the shortest period by pairs that of alike nodes may be before messages are placed one by one \[%].
const FAR_PERCENT: u64 = 5;

/// A network, as timetables see it.
#[derive(Clone, Copy)]
pub(super) struct Machine<'a> {
    pub network: &'a NetworkSpec,
    pub fabric: &'a Fabric,
    pub routing: &'a Routing,
    pub params: &'a Params,
}

/// What a timetable for an all-to-all on a network has to fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SynthesisTarget {
    /// Sizes of a torus that is alike at all nodes, so that a timetable by relative vectors does; `None`: every pair of
    /// terminals has its own start, by [`Plan::fixed_routes`].
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

impl SynthesisTarget {
    /// Lengths of blocks that are worth a search: whole messages, or whole packets of those that are too long, and
    /// single flits \[flits].
    fn blocks(&self) -> Vec<u32> {
        let whole_packets = LONGEST_BLOCK / self.packet_flits.max(1) * self.packet_flits.max(1);
        let long = u32::try_from(self.message_flits).map_or(whole_packets, |message| message.min(whole_packets));
        if self.packet_flits == 1 && long > 1 { vec![1, long] } else { vec![long] }
    }
}

/// A timetable that was found.
#[derive(Debug, Clone)]
pub struct FoundTimetable {
    /// The timetable, by relative vectors or by pairs.
    pub table: Table,
    /// The shortest period that ports and channels allow for blocks of its length \[cycles].
    pub least_period_cycles: u64,
    /// From the start of a run to its end, where no flit waits \[cycles].
    pub length_cycles: u64,
    /// Length of a message \[flits].
    pub message_flits: u64,
}

impl Plan {
    fn machine(&self) -> Machine<'_> {
        Machine { network: &self.spec.network, fabric: &self.fabric, routing: &self.routing, params: &self.params }
    }

    /// What a timetable for the messages of this plan has to fit, which is that of an all-to-all whose messages are
    /// equally long.
    ///
    /// # Errors
    /// [`Error::Config`] where the network is none that timetables are for, or where flits would wait whatever the
    /// timetable.
    pub fn synthesis_target(&self) -> Result<SynthesisTarget> {
        let Workload::Schedule { schedule, packet_flits } = &self.workload else {
            return Err(Error::config("workload.kind", "given", "an all-to-all", ""));
        };
        let message_flits = schedule.messages().map(|message| message.size).next().unwrap_or(1);
        self.machine().target(message_flits, *packet_flits)
    }

    /// Searches for a timetable for the messages of this plan. `progress` is called now and then with the length of the
    /// blocks that are tried and the steps of all of them together; the search stops if it returns false, and returns
    /// the best so far. Equal seeds and steps give equal timetables.
    ///
    /// # Errors
    /// As for [`Plan::synthesis_target`].
    pub fn find_timetable(
        &self,
        (seed, budget_steps): (u64, u64),
        progress: &mut dyn FnMut(u32, Progress) -> bool,
    ) -> Result<FoundTimetable> {
        self.machine().find(&self.synthesis_target()?, (seed, budget_steps), progress)
    }
}

impl<'a> Machine<'a> {
    /// What a timetable for messages and packets of these lengths has to fit.
    pub fn target(&self, message_flits: u64, packet_flits: u32) -> Result<SynthesisTarget> {
        let Machine { network, fabric, params, .. } = *self;
        if params.terminals < 2 {
            let expected = "at least 2 terminals, which have something to send to each other";
            return Err(Error::config("network.topology", format!("{} terminals", params.terminals), expected, ""));
        }
        let torus = fabric.grid().filter(|grid| **grid == Grid::torus(grid.sizes()));
        let alike = torus.filter(|_| fabric.has_one_terminal_each() && check_routes(network).is_ok());
        let most = if alike.is_some() { MOST_NODES } else { MOST_TERMINALS };
        if params.terminals > most {
            let expected = format!("at most {most}: the search would take too long");
            return Err(Error::config("network.topology", format!("{} terminals", params.terminals), expected, ""));
        }
        if alike.is_none() {
            self.fixed_routes()?;
        }
        let packet = u64::from(packet_flits).min(message_flits) as u32;
        let shortest = if packet == 0 { 1 } else { (message_flits - 1) % u64::from(packet) + 1 };
        check_pauses(network)?;
        check_pipeline(network, shortest)?;
        check_buffers(self, packet)?;
        Ok(SynthesisTarget {
            sizes: alike.map(|grid| grid.sizes().to_vec()),
            hop_cycles: hop_cycles(network, params),
            ends_cycles: params.inject_cycles + stages_cycles(network) + params.eject_cycles - 1,
            message_flits,
            packet_flits,
        })
    }

    /// Its routes, where each pair of terminals has one.
    pub fn fixed_routes(&self) -> Result<FixedRoutes<'a>> {
        FixedRoutes::of(self.network, self.fabric, self.routing, self.params)
    }

    /// Tries one length of blocks after the other, each with an equal part of the steps that are left, and keeps the
    /// timetable with the earliest end.
    pub fn find(
        &self,
        target: &SynthesisTarget,
        (seed, budget_steps): (u64, u64),
        progress: &mut dyn FnMut(u32, Progress) -> bool,
    ) -> Result<FoundTimetable> {
        let by_pairs = target.sizes.is_none();
        let mut attempts: Vec<(u32, bool)> = target.blocks().into_iter().map(|block| (block, by_pairs)).collect();
        let (mut best, mut steps, mut over, mut n) = (None::<FoundTimetable>, 0, false, 0);
        while let Some(&(block_flits, by_pairs)) = attempts.get(n) {
            let left = budget_steps.saturating_sub(steps) / (attempts.len() - n) as u64;
            let before = steps;
            let attempt = Attempt { target, block_flits, seed, budget_steps: left };
            let mut look = |now: Progress| {
                steps = before + now.steps;
                over |= !progress(block_flits, Progress { steps, ..now });
                !over
            };
            let found = if by_pairs { self.by_pairs(&attempt, &mut look)? } else { by_vectors(&attempt, &mut look)? };
            if !by_pairs && block_flits == 1 && self.is_far(&attempt, found.least_period_cycles) {
                attempts.push((1, true));
            }
            if best.as_ref().is_none_or(|best| found.length_cycles < best.length_cycles) {
                best = Some(found);
            }
            if over {
                break;
            }
            n += 1;
        }
        best.ok_or_else(|| Error::config("message_flits", target.message_flits, "at least 1 flit", ""))
    }

    /// Whether nodes that are all alike need a much longer period than messages that are placed one by one: with one
    /// direction at half a ring for all, some channels carry more than others.
    fn is_far(&self, attempt: &Attempt, least_period_cycles: u64) -> bool {
        let even = attempt.target.sizes.iter().flatten().any(|size| size % 2 == 0);
        if !even || self.params.terminals > MOST_TERMINALS {
            return false;
        }
        let Ok(routes) = self.fixed_routes() else { return false };
        let bound = synthesis::pair_bound_cycles(&attempt.by_pairs(&routes, Vec::new()));
        bound.is_ok_and(|bound| least_period_cycles * 100 > bound * (100 + FAR_PERCENT))
    }

    fn by_pairs(&self, attempt: &Attempt, look: &mut dyn FnMut(Progress) -> bool) -> Result<FoundTimetable> {
        let routes = self.fixed_routes()?;
        let order = attempt.by_pairs(&routes, routes.terminal_radices());
        let (found, least_period_cycles) = synthesis::synthesise_pairs(&order, look)?;
        let length = found.length_cycles(&routes, attempt.target.message_flits);
        Ok(FoundTimetable {
            least_period_cycles,
            length_cycles: length + u64::from(attempt.target.ends_cycles),
            message_flits: attempt.target.message_flits,
            table: Table::PairTimetable(Arc::new(found)),
        })
    }
}

/// A search for blocks of one length.
struct Attempt<'a> {
    target: &'a SynthesisTarget,
    block_flits: u32,
    seed: u64,
    budget_steps: u64,
}

impl Attempt<'_> {
    fn by_pairs<'r>(&self, routes: &'r FixedRoutes<'_>, radices: Vec<Vec<u32>>) -> PairOrder<'r> {
        let Attempt { block_flits, seed, budget_steps, .. } = *self;
        PairOrder { routes, block_flits, radices, seed, budget_steps }
    }
}

fn by_vectors(attempt: &Attempt, look: &mut dyn FnMut(Progress) -> bool) -> Result<FoundTimetable> {
    let Attempt { target, block_flits, seed, budget_steps } = *attempt;
    let sizes = target.sizes.clone().unwrap_or_default();
    let order = Order { sizes, hop_cycles: target.hop_cycles, block_flits, seed, budget_steps };
    let found = synthesis::synthesise(&order, look)?;
    let length = found.length_cycles(target.message_flits);
    Ok(FoundTimetable {
        least_period_cycles: synthesis::bound_cycles(&order)?,
        length_cycles: length + u64::from(target.ends_cycles),
        message_flits: target.message_flits,
        table: Table::Timetable(Arc::new(found)),
    })
}

/// Refuses buffers so small that flits wait for credits.
fn check_buffers(machine: &Machine, packet_flits: u32) -> Result<()> {
    let Machine { network, fabric, params, .. } = *machine;
    let stages = stages_cycles(network);
    // A channel may be longer than the others: there and back.
    let ports = |router| (0..fabric.network_ports()).map(move |port| (router, port));
    let latencies =
        (0..fabric.routers()).flat_map(ports).filter_map(|(router, port)| fabric.latency_cycles(router, port));
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

/// Refuses rings of length 2 with one cable, where the channels towards plus and minus are one.
pub(super) fn check_cables(grid: Option<&Grid>) -> Result<()> {
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
pub(super) fn check_routes(network: &NetworkSpec) -> Result<()> {
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

/// From the arrival of a head at a router to its request of the switch, where nothing waits \[cycles].
pub(super) fn stages_cycles(network: &NetworkSpec) -> u32 {
    let router = &network.router;
    router.routing_delay_cycles + if router.speculative { 0 } else { router.vc_alloc_delay_cycles }
}

/// From one channel of a route to the next, where nothing waits \[cycles].
pub(super) fn hop_cycles(network: &NetworkSpec, params: &Params) -> u32 {
    stages_cycles(network) + params.hop_cycles
}
