//! The one loop: hosts, NICs and networks, cycle by cycle.
//!
//! A cycle is that of `docs/model.md`: networks deliver (1), ranks go on (2a), injection ports take packets and send,
//! and routers work (2b to 6). The loop knows nothing of flits: it asks every network for its next event and leaves out
//! the cycles in which neither a network nor a NIC nor a rank has anything to do. Several networks advance in lockstep:
//! those of one machine (a bus and a barrier tree beside routers and channels) share hosts, NICs and the log of
//! packets, others have NICs and a log of their own.
//!
//! A simulation can be paused: [`Simulation::advance`] returns when it has come to a given cycle, when the run is over,
//! or within a cycle (after 1, in 2a) when ranks request operations; the caller answers with [`Simulation::supply`] and
//! goes on.

mod longer;
mod measured;
mod requests;
mod watchdog;

use super::Progress;
use super::barrier_tree::BarrierTree;
use super::bus::Bus;
use super::flit::{self, Variation};
use super::knot::Search;
use super::network::{Endpoints, Network};
use super::parallel::{self, Summary, Team};
use crate::error::{Error, Result};
use crate::host::Hosts;
use crate::measure::{Arrival, KernelName, PacketLog, Phases, Totals, View};
use crate::plan::{Plan, Workload};
use crate::terminal::Nics;
use measured::{packet_log, phases};

/// Why a simulation has paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// Ranks request their next operations: see [`Simulation::requests`].
    Request,
    /// It has come to the cycle that it was told to advance to.
    Reached,
    /// The run is over.
    Ended,
}

/// How far a cycle has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing of it has been simulated.
    Begin,
    /// Networks have delivered; ranks go on.
    Ranks,
    /// It is over.
    End,
}

/// A network with the NICs at its terminals. It is small: threads hand it to each other.
pub(super) struct Attached {
    pub network: Box<dyn Network>,
    pub nics: Box<Nics>,
    pub log: Box<PacketLog>,
    /// What other parts of the network need to know, where this simulates a part.
    pub summary: Option<Summary>,
}

/// Limits of a run, and what its errors say of it.
#[derive(Debug)]
pub(super) struct Limits {
    /// Cycle of t = 0, in which ranks begin.
    pub start: u64,
    pub max_cycles: u64,
    pub watchdog_cycles: u64,
    pub completes: bool,
    pub terminals: usize,
    /// Name of the schedule.
    pub schedule: String,
    /// The kernel that advances the network, and why that is not the packet kernel.
    pub kernel: KernelName,
    pub kernel_note: Option<&'static str>,
    /// Why it runs on one thread where more are asked for.
    pub threads_why: Option<&'static str>,
}

/// A simulation in progress.
pub struct Simulation {
    pub(super) now: u64,
    pub(super) hosts: Option<Hosts>,
    /// The network that the workload runs on, then others.
    pub(super) networks: Vec<Attached>,
    /// How many of them are parts of the first one, itself included, and the threads that advance these.
    pub(super) parts: usize,
    pub(super) team: Option<Team>,
    /// Networks of the machine beside the first one, with which they share hosts, NICs and log.
    pub(super) others: Vec<Box<dyn Network>>,
    pub(super) phases: Phases,
    pub(super) limits: Limits,
    stage: Stage,
    /// How the run ended, once it has: whether its workload is complete.
    pub(super) ended: Option<bool>,
    /// Cycle in which a flit left a buffer last, and the flit-hops then.
    pub(super) moved: (u64, u64),
    /// Cycle in which VCs that wait for each other are looked for next.
    pub(super) next_look: u64,
    search: Search,
    report_at: u64,
    report_cycle: u64,
    /// Packets that arrived in this cycle.
    arrived: Vec<Arrival>,
    /// Ranks that requested operations when ranks went on last; those that have been supplied since are among them.
    requests: Vec<u32>,
    /// Operations supplied to each rank so far; empty where no program drives them.
    supplied: Vec<u32>,
}

impl Simulation {
    /// A simulation of a plan, before its first cycle, on as many threads as it says. Large routers pass through the
    /// stack: see [`crate::simulate`].
    ///
    /// # Errors
    /// [`Error::Schedule`] if the messages of a schedule do not match.
    pub fn new(plan: &Plan) -> Result<Self> {
        match plan.threads() {
            1 => Self::on(plan, flit::network(plan, Variation::default())?),
            threads => parallel::simulation(plan, threads, parallel::EPOCH),
        }
    }

    /// A simulation of a plan on `network`, which must be the plan's.
    ///
    /// # Errors
    /// [`Error::Schedule`] if the messages of a schedule do not match.
    pub(crate) fn on(plan: &Plan, network: Box<dyn Network>) -> Result<Self> {
        let hosts = hosts(plan)?;
        let phases = phases(plan);
        let mut simulation = Simulation {
            now: 0,
            hosts,
            networks: Vec::new(),
            parts: 1,
            team: None,
            others: others(plan),
            limits: limits(plan),
            stage: Stage::Begin,
            ended: None,
            moved: (0, 0),
            next_look: plan.spec.run.watchdog_cycles,
            search: Search::default(),
            report_at: REPORT_FLIT_HOPS,
            report_cycle: REPORT_CYCLES,
            requests: Vec::new(),
            supplied: vec![0; if is_driven(plan) { plan.placement.terminal_of().len() } else { 0 }],
            arrived: Vec::with_capacity((plan.params.terminals * plan.params.nic_ports).min(1 << 12)),
            phases,
        };
        simulation.attach(plan, network);
        Ok(simulation)
    }

    /// Adds a network with NICs of its own.
    pub(super) fn attach(&mut self, plan: &Plan, mut network: Box<dyn Network>) {
        network.measure(0, self.phases.window());
        let log = packet_log(plan, &self.phases);
        let (nics, log) = (Box::new(Nics::new(plan)), Box::new(log));
        self.networks.push(Attached { network, nics, log, summary: None });
    }

    /// The current cycle.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The cycles from the start of the ranks on in which each has completed an operation last; of traffic without
    /// ranks nothing.
    pub fn last_cycles(&self) -> Vec<u64> {
        let start = self.limits.start;
        self.hosts.iter().flat_map(Hosts::last_cycles).map(|cycle| cycle.saturating_sub(start)).collect()
    }

    /// Simulates to the end. `progress` is called every few milliseconds; it returns false to stop the run.
    ///
    /// # Errors
    /// See [`crate::simulate`].
    pub fn run(&mut self, progress: &mut dyn FnMut(Progress) -> bool) -> Result<()> {
        match self.advance(u64::MAX, progress)? {
            Pause::Request => {
                let name = self.limits.schedule.clone();
                let how = "make a Simulation of it, advance that and answer";
                let fault = format!("rank {} asks what to do next, and nobody answers: {how}", self.requests[0]);
                Err(Error::Schedule { name, fault })
            }
            Pause::Reached | Pause::Ended => Ok(()),
        }
    }

    /// Simulates all cycles before `until`, unless there is a reason to pause earlier.
    ///
    /// # Errors
    /// See [`crate::simulate`].
    pub fn advance(&mut self, until: u64, progress: &mut dyn FnMut(Progress) -> bool) -> Result<Pause> {
        while self.ended.is_none() {
            if self.stage == Stage::End {
                self.now = self.next_cycle()?;
                self.stage = Stage::Begin;
            }
            if self.stage == Stage::Begin {
                if self.now >= until {
                    return Ok(Pause::Reached);
                }
                if self.now >= self.phases.next() {
                    self.look(self.now, false);
                }
                if self.team.is_some() {
                    self.advance_parts(until);
                } else {
                    self.deliver();
                    self.wake();
                }
                self.stage = Stage::Ranks;
            }
            if self.ranks_request() {
                return Ok(Pause::Request);
            }
            if self.team.is_none() {
                self.drive();
            }
            self.stage = Stage::End;
            self.check(progress)?;
        }
        Ok(Pause::Ended)
    }

    /// Step 1.
    #[inline(never)]
    fn deliver(&mut self) {
        let Simulation { now, hosts, networks, others, arrived, .. } = self;
        // Ranks send by the first network, and by those that belong to it.
        let mut hosts = hosts.as_mut();
        for (i, Attached { network, nics, log, .. }) in networks.iter_mut().enumerate() {
            network.deliver(*now, arrived);
            others.iter_mut().filter(|_| i == 0).for_each(|other| other.deliver(*now, arrived));
            if arrived.is_empty() {
                hosts = None;
                continue;
            }
            let Some(hosts) = hosts.take() else {
                arrived.iter().for_each(|packet| log.arrived(packet, *now));
                arrived.clear();
                continue;
            };
            for packet in arrived.drain(..) {
                log.arrived(&packet, *now);
                if packet.background {
                    continue;
                }
                hosts.packet_arrives(packet.origin.message, packet.origin.record);
                if let Some(terminal) = hosts.arrived(packet.origin.message, packet.flits, *now) {
                    nics.wake(terminal);
                }
            }
        }
    }

    /// Who has to be looked at in this cycle: terminals whose turn it is, and those of ranks that can go on.
    fn wake(&mut self) {
        let Simulation { now, hosts, networks, limits, .. } = self;
        for Attached { nics, .. } in &mut *networks {
            if *now == limits.start {
                nics.wake_all();
            }
            nics.begin_cycle(*now);
        }
        if let (Some(hosts), Some(Attached { nics, .. })) = (hosts, networks.first_mut()) {
            hosts.begin_cycle(*now, |terminal| nics.wake(terminal));
        }
    }

    /// Step 2a: ranks go on as far as they can. Whether some of them request operations.
    fn ranks_request(&mut self) -> bool {
        let Simulation { now, hosts, networks, limits, requests, .. } = self;
        let (Some(hosts), Some(Attached { nics, .. })) = (hosts, networks.first()) else { return false };
        if *now < limits.start {
            return false;
        }
        requests.retain(|&rank| hosts.requests(rank));
        for (word, &woken) in nics.woken().iter().enumerate() {
            let mut left = woken;
            while left != 0 {
                hosts.advance(word as u32 * 64 + left.trailing_zeros(), *now);
                left &= left - 1;
            }
        }
        hosts.take_requests(requests);
        !requests.is_empty()
    }

    /// Steps 2b to 6.
    fn drive(&mut self) {
        let started = self.now >= self.limits.start;
        let mut hosts = self.hosts.as_mut().filter(|_| started);
        if let (Some(hosts), Some(Attached { nics, .. })) = (&mut hosts, self.networks.first()) {
            hosts.visit_outlets(nics.woken(), self.now);
        }
        for Attached { network, nics, log, .. } in &mut self.networks {
            network.step(self.now, &mut Endpoints { nics, hosts: hosts.as_deref_mut(), log });
            if let Some(hosts) = hosts.take() {
                for other in &mut self.others {
                    other.step(self.now, &mut Endpoints { nics, hosts: Some(&mut *hosts), log });
                }
            }
        }
    }

    /// Whether the run is over, cannot go on, or shall not.
    fn check(&mut self, progress: &mut dyn FnMut(Progress) -> bool) -> Result<()> {
        if self.phases.is_due(self.now + 1) {
            self.look(self.now + 1, false);
        }
        let (done, limit) = (self.is_done(), self.now >= self.limits.max_cycles);
        if done || limit || self.now >= self.next_look {
            self.look_for_knots()?;
        }
        if done {
            self.ended = Some(true);
            return Ok(());
        }
        let others = self.others.iter().map(|network| network.flit_hops());
        let flit_hops = self.networks.iter().map(Attached::flit_hops).chain(others).sum();
        if flit_hops != self.moved.1 {
            let in_parts = self.of_workload().iter().filter_map(|part| part.summary.as_ref());
            let moved = in_parts.map(|summary| summary.moved).max().unwrap_or(self.now);
            self.moved = (moved, flit_hops);
        } else if self.now - self.moved.0 >= self.limits.watchdog_cycles {
            self.look_at_what_stands()?;
        }
        if flit_hops >= self.report_at || self.now >= self.report_cycle {
            self.report_at = flit_hops + REPORT_FLIT_HOPS;
            self.report_cycle = self.now + REPORT_CYCLES;
            if !progress(self.progress()) {
                return Err(Error::Interrupted { cycle: self.now });
            }
            if self.is_stuck() {
                return Err(self.stuck());
            }
        }
        if limit {
            if self.limits.completes {
                return Err(Error::CycleLimit { cycles: self.now, detail: self.what_is_left() });
            }
            self.ended = Some(false);
        }
        Ok(())
    }

    /// The network that the workload runs on, in its parts.
    fn of_workload(&self) -> &[Attached] {
        &self.networks[..self.parts]
    }

    /// The next cycle in which anything can happen.
    fn next_cycle(&self) -> Result<u64> {
        let now = self.now;
        let others = self.others.iter().filter_map(|network| network.next_event(now));
        let event = self.networks.iter().filter_map(|attached| attached.next_event(now)).chain(others).min();
        let next = match event {
            Some(event) if event == now + 1 => event,
            _ => self.next_turn(now, event).ok_or_else(|| self.stuck())?,
        };
        debug_assert!(next > now, "time stands still in cycle {next}");
        Ok(next.min(self.limits.max_cycles))
    }

    /// The same with regard to NICs and ranks; `event` is the next one of a network. `None` if nothing will ever
    /// happen.
    fn next_turn(&self, now: u64, event: Option<u64>) -> Option<u64> {
        let nics = self.networks.iter().filter_map(|n| n.nics.next_turn(now));
        let ranks = match &self.hosts {
            Some(_) if now < self.limits.start => Some(self.limits.start),
            Some(hosts) if hosts.has_pending_completions() => Some(now + 1),
            Some(hosts) => hosts.next_compute_end(),
            None => None,
        };
        // An open loop ends behind the last cycle of its measurement, whether or not something happens there; or it
        // pauses, to become longer.
        let last = self.phases.window().end - 1;
        let end = if now == last && self.phases.is_open() { last + 1 } else { last };
        let end = Some(end).filter(|&end| end > now && self.networks[0].nics.is_open_loop());
        let next = nics.chain(ranks).chain(event).chain(end).min()?;
        let observed = self.networks.iter().map(|n| n.network.next_observation(now));
        let start = (now < self.limits.start).then_some(self.limits.start);
        // Without packets under way there is nothing to look for.
        let look = event.map(|_| self.next_look);
        observed.chain(start).chain(look).chain([self.phases.next_check().max(now + 1), next]).min()
    }

    /// Lets the phases of the run see its state at the beginning of cycle `now`; they may decide what is measured.
    #[inline(never)]
    pub(super) fn look(&mut self, now: u64, concludes: bool) {
        let Simulation { phases, networks, parts, .. } = self;
        let parts = &mut networks[..*parts];
        let view = View {
            totals: totals(parts),
            taken: parts.iter().map(|part| part.log.workload.taken).sum(),
            hops: &|| parts.iter().map(|part| part.log.workload.hops()).fold((0, 0), |(h, n), (a, b)| (h + a, n + b)),
            untaken_before: &|cycle| parts.iter().map(|part| part.nics.untaken(0..cycle).0.packets).sum(),
            channel_flits: &|before, flits| parts.iter().for_each(|part| part.network.channel_flits(before, flits)),
            oldest: &|before, tell| parts.iter().for_each(|part| part.nics.oldest_untaken(before, tell)),
        };
        if concludes {
            phases.conclude(now, &view);
        } else if phases.look(now, &view) {
            for Attached { network, log, .. } in parts {
                network.measure(now, phases.window());
                log.measure(&phases.window());
            }
        }
    }

    /// Whether the run is over.
    fn is_done(&self) -> bool {
        if self.now < self.limits.start {
            return false; // A workload without anything to send is over when it starts.
        }
        if let Some(hosts) = &self.hosts {
            return hosts.is_complete();
        }
        let parts = self.of_workload();
        if parts[0].nics.finite_packets().is_some() {
            let taken = || parts.iter().map(|part| part.log.workload.taken).sum::<u64>();
            return parts.iter().all(Attached::all_taken) && taken() == totals(parts).packets;
        }
        let end = self.phases.window().end;
        // A part may have sent what arrived in another.
        let under_way = || parts.iter().fold(0u64, |sum, part| sum.wrapping_add(part.log.measured_under_way()));
        let all_arrived = || under_way() == 0 && parts.iter().all(|part| part.nics.all_taken_before(end));
        self.now + 1 >= end && !self.phases.is_open() && (!self.phases.drains() || all_arrived())
    }

    /// Whether a schedule cannot go on though packets of a background move.
    fn is_stuck(&self) -> bool {
        let log = &self.networks[0].log;
        let under_way = log.workload.taken > log.workload.totals.packets;
        log.background.is_some()
            && !under_way
            && self.now > self.limits.start
            && self.hosts.as_ref().is_some_and(Hosts::is_stuck)
            && !self.networks[0].nics.is_in_a_message()
    }

    /// The error for ranks that wait for something that never comes.
    fn stuck(&self) -> Error {
        let fault = self.hosts.as_ref().map_or_else(String::new, Hosts::why_stuck);
        Error::Schedule { name: self.limits.schedule.clone(), fault }
    }

    /// What of a workload that completes has not arrived.
    fn what_is_left(&self) -> String {
        let arrived = totals(self.of_workload()).packets;
        match (&self.hosts, self.networks[0].nics.finite_packets()) {
            (Some(hosts), _) => format!("{} messages have not arrived", hosts.messages().1),
            (None, packets) => format!("{arrived} of {} packets have arrived", packets.unwrap_or_default()),
        }
    }

    fn progress(&self) -> Progress {
        let nics = &self.networks[0].nics;
        let arrived = totals(self.of_workload()).packets;
        let (done, total) = match (self.hosts.as_ref().map(Hosts::messages), nics.finite_packets()) {
            (Some((all, left)), _) => (all - left, Some(all)),
            // Where ties cut packets in two, more arrive than were created.
            (None, Some(all)) => (arrived.min(all), Some(all)),
            (None, None) => (arrived, None),
        };
        Progress { cycle: self.now, packets_done: done, packets_total: total }
    }
}

impl Attached {
    /// Flit-hops so far.
    pub fn flit_hops(&self) -> u64 {
        self.summary.as_ref().map_or_else(|| self.network.flit_hops(), |summary| summary.flit_hops)
    }

    /// See [`Network::next_event`]; `now` is the last cycle that was simulated.
    fn next_event(&self, now: u64) -> Option<u64> {
        self.summary.as_ref().map_or_else(|| self.network.next_event(now), |summary| summary.next_event)
    }

    /// Whether injection ports have taken all packets of a workload that completes.
    pub fn all_taken(&self) -> bool {
        self.summary.as_ref().map_or_else(|| self.nics.all_taken(), |summary| summary.all_taken)
    }
}

/// What of the workload has arrived.
fn totals(parts: &[Attached]) -> Totals {
    parts.iter().fold(Totals::default(), |sum, part| sum.and(&part.log.workload.totals))
}

/// Whether a program drives the ranks.
fn is_driven(plan: &Plan) -> bool {
    matches!(&plan.workload, Workload::Schedule { schedule, .. } if schedule.is_driven())
}

/// The ranks of a plan whose workload is a schedule.
fn hosts(plan: &Plan) -> Result<Option<Hosts>> {
    let Workload::Schedule { schedule, .. } = &plan.workload else { return Ok(None) };
    let schedule = schedule.compile(&plan.units)?;
    // A program that drives ranks adds their delays itself.
    let schedule = if schedule.is_driven() { schedule } else { schedule.delayed(plan.delays.clone())? };
    let mut hosts = Hosts::new(&schedule, &plan.placement, plan.spec.host.send_queue)?;
    hosts.count_times_from(plan.start_cycle);
    if plan.spec.run.record.operations {
        hosts.record_operations(|rank| plan.delays.starts.get(rank).is_some_and(|&start| start > 0));
    }
    if let Some(tolerance) = plan.spec.host.tolerance_cycles()? {
        hosts.keep_late_sends(tolerance);
    }
    if plan.background.is_some() {
        hosts.note_ready_cycles();
    }
    if plan.spec.network.router.compat.late_receives {
        hosts.complete_receives_late();
    }
    if let Some(limit) = plan.spec.host.eager_limit_flits {
        hosts.use_rendezvous(limit, plan.spec.host.control_flits);
    }
    if let (Some(rate), Workload::Schedule { packet_flits, .. }) = (plan.copy_rate, &plan.workload) {
        hosts.copy_within_terminals(rate, *packet_flits, plan.spec.host.send_queue);
    }
    if let (Some(rate), Workload::Schedule { packet_flits, .. }) = (plan.read_rate, &plan.workload) {
        hosts.read_from_memory(rate, *packet_flits);
    }
    if plan.bus.is_some() {
        hosts.use_bus(plan.spec.host.send_queue);
    }
    if plan.spec.network.barrier_tree.is_some() {
        hosts.use_barrier_tree();
    }
    if let Some(noise) = &plan.noise {
        hosts.disturb(noise, plan.start_cycle, plan.spec.run.max_cycles);
    }
    Ok(Some(hosts))
}

/// The networks of a machine beside its routers and channels.
fn others(plan: &Plan) -> Vec<Box<dyn Network>> {
    let ports = plan.params.nic_ports;
    let bus = plan.bus.map(|params| -> Box<dyn Network> { Box::new(Bus::new(params, ports)) });
    let tree = plan.spec.network.barrier_tree.as_ref();
    let tree = tree.map(|tree| -> Box<dyn Network> { Box::new(BarrierTree::new(tree.hop_cycles, ports)) });
    bus.into_iter().chain(tree).collect()
}

fn limits(plan: &Plan) -> Limits {
    let schedule = match &plan.workload {
        Workload::Schedule { schedule, .. } => schedule.name().to_string(),
        Workload::OpenLoop(_) | Workload::Finite(_) => String::new(),
    };
    Limits {
        start: plan.start_cycle,
        max_cycles: plan.spec.run.max_cycles,
        watchdog_cycles: plan.spec.run.watchdog_cycles,
        completes: plan.workload.completes(),
        terminals: plan.params.terminals,
        schedule,
        kernel: plan.kernel(),
        kernel_note: plan.not_in_whole_packets(),
        threads_why: plan.why_one_thread(),
    }
}

/// Work between two calls of the progress callback: a few milliseconds.
const REPORT_FLIT_HOPS: u64 = 200_000;
const REPORT_CYCLES: u64 = 1 << 12;

#[cfg(test)]
mod tests;
