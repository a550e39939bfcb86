//! What is sent, resolved: the workload, and its background.

mod collective;
mod timetable;

use super::hosts::receive_copy_rate;
use super::units::{MESSAGE_FLITS, message_flits};
use super::{Params, within};
use crate::collective::{AllToAllOptions, Operation};
use crate::error::{Error, Result};
use crate::pace::Paced;
use crate::routing::Routing;
use crate::schedule::{Delays, Noise, Placement, Schedule, Units};
use crate::spec::{
    HostSpec, MAX_PREPARATION, MAX_RANKS_PER_TERMINAL, NetworkSpec, ProcessSpec, SimulationSpec, Switching,
    WorkloadSpec,
};
use crate::topology::{Fabric, Grid};
use crate::traffic::pattern::Uniform;
use crate::traffic::{
    Attached, Bernoulli, Destinations, Drawn, OnOff, PacketFlits, Packets, Pattern, Process, Processes, Traffic,
    no_file,
};
use std::sync::Arc;

/// Most ranks of an all-to-all.
pub(super) const MAX_RANKS: usize = 1_000_000;
/// Most flits of all messages together.
const MOST_FLITS: u128 = 1 << 62;
/// Longest time in which a flit is added up \[cycles].
const MOST_REDUCE_CYCLES: f64 = 1e6;
/// Longest packet \[flits].
const MOST_PACKET_FLITS: u32 = 65_535;
/// Longest mean burst or pause \[cycles].
const MAX_STATE: f64 = 1e9;
/// Most bursts without a packet, on the average: they are drawn one by one.
const MOST_EMPTY_PERIODS: f64 = 1e4;

pub(super) use collective::{chosen, collective_flits};
pub(super) use timetable::check as check_timetable;

/// What is sent, resolved.
#[derive(Debug, Clone)]
pub enum Workload {
    /// A schedule, in packets of at most so many flits.
    Schedule {
        /// What each rank does.
        schedule: Schedule,
        /// Longest packet \[flits].
        packet_flits: u32,
    },
    /// Open loop: traffic without end, measured for a while.
    OpenLoop(Traffic),
    /// Traffic with an end: complete when all of it has arrived.
    Finite(Traffic),
}

impl Workload {
    /// Whether the workload runs to completion, so that its completion time is measured.
    pub fn completes(&self) -> bool {
        !matches!(self, Workload::OpenLoop(_))
    }

    /// What it is paced on.
    pub(super) fn paced<'a>(
        &'a self,
        fabric: &'a Fabric,
        routing: &'a Routing,
        placement: &'a Placement,
        ports: u32,
    ) -> Paced<'a> {
        let (schedule, packet_flits) = match self {
            Workload::Schedule { schedule, packet_flits } => (Some(schedule), *packet_flits),
            Workload::OpenLoop(_) | Workload::Finite(_) => (None, 0),
        };
        Paced { fabric, routing, schedule, placement, ports, packet_flits }
    }
}

/// Everything that is sent in a simulation.
pub(super) struct Resolved {
    pub workload: Workload,
    pub placement: Placement,
    pub background: Option<Traffic>,
    /// Cycle of t = 0, in which the workload starts.
    pub start_cycle: u64,
}

/// Resolves the workload and the background; defaults that depend on other fields are filled in.
pub(super) fn resolve(
    spec: &mut SimulationSpec,
    (fabric, routing): (&Fabric, &Routing),
    params: &Params,
    units: &Units,
) -> Result<Resolved> {
    let open_loop = matches!(spec.workload, WorkloadSpec::Uniform { .. } | WorkloadSpec::Traffic { .. });
    let start_cycle = if open_loop || spec.background.is_none() { 0 } else { spec.run.fixed_warmup() };
    let (seed, start) = (spec.run.seed, start_cycle);
    let (host, reduce_cycles_per_flit) = (&spec.host, reduce_rate(spec)?);
    let bus_operations = spec.network.bus.as_ref().map_or(&[][..], |bus| &bus.operations);
    let has_tree = spec.network.barrier_tree.is_some();
    let at = "workload";
    let context = Context {
        at,
        network: &spec.network,
        fabric,
        routing,
        params,
        units,
        host,
        reduce_cycles_per_flit,
        bus_operations,
        has_tree,
        seed,
        start,
    };
    let workload = context.workload(&mut spec.workload)?;
    let placement = place(&spec.host, &workload, params.terminals as u32)?;
    if spec.network.router.compat.late_receives && !matches!(workload, Workload::Schedule { .. }) {
        let expected = "false: only ranks that run a schedule receive";
        return Err(Error::config("network.router.compat.late_receives", true, expected, ""));
    }
    let background = match &spec.background {
        None => None,
        // The random numbers of the background have nothing to do with those of the workload.
        Some(background) => Some(
            Context { at: "background", seed: Traffic::background_seed(spec.run.seed), start: 0, ..context }
                .background(background)?,
        ),
    };
    Ok(Resolved { workload, placement, background, start_cycle })
}

/// The time in which a flit is added to what a rank has \[cycles].
fn reduce_rate(spec: &SimulationSpec) -> Result<f64> {
    let (path, rate) = ("host.reduce_cycles_per_flit", spec.host.reduce_cycles_per_flit);
    let adds = matches!(spec.workload, WorkloadSpec::Collective { .. } | WorkloadSpec::Programs { .. });
    if !(0.0..=MOST_REDUCE_CYCLES).contains(&rate) {
        return Err(Error::config(path, rate, format!("0 to {MOST_REDUCE_CYCLES} cycles"), ""));
    }
    if rate > 0.0 && !adds {
        let hint = "the kind of a workload that adds up is collective or programs";
        return Err(Error::config(path, rate, "0: this workload adds up nothing", hint));
    }
    Ok(rate)
}

/// The terminal of each rank.
fn place(host: &HostSpec, workload: &Workload, terminals: u32) -> Result<Placement> {
    match workload {
        Workload::Schedule { schedule, .. } => host.placed(schedule.ranks(), terminals),
        Workload::OpenLoop(_) | Workload::Finite(_) if host.is_default() => Ok(Placement::one_each(terminals)),
        Workload::OpenLoop(_) | Workload::Finite(_) => {
            let hint = "traffic comes from terminals, not from ranks";
            Err(Error::config("host", "given", "a workload that is a schedule, such as all_to_all", hint))
        }
    }
}

/// The software times of the ranks.
pub(super) fn delays(spec: &SimulationSpec, workload: &Workload) -> Result<Delays> {
    let Workload::Schedule { schedule, .. } = workload else { return Ok(Delays::default()) };
    let host = &spec.host;
    let delays = Delays {
        starts: host.start.starts(schedule.ranks(), spec.run.seed)?,
        send: u64::from(host.send_overhead_cycles),
        receive: u64::from(host.receive_overhead_cycles),
        copy: receive_copy_rate(host)?,
        copy_limit: host.eager_limit_flits.unwrap_or(u64::MAX),
    };
    let has_software_times = matches!(spec.workload, WorkloadSpec::Programs { software_times: true, .. });
    if schedule.is_driven() && !has_software_times && !delays.is_none() {
        let hint =
            "fw.mpi.run adds them; or let ranks compute that long (fw.Compute) and say workload.software_times = true";
        return Err(Error::config("host", "software times", "none where ranks ask what to do next", hint));
    }
    Ok(delays)
}

/// The detours of the ranks.
pub(super) fn noise(spec: &SimulationSpec, workload: &Workload) -> Result<Option<Noise>> {
    let Workload::Schedule { schedule, .. } = workload else { return Ok(None) };
    spec.host.noise.as_ref().map(|noise| noise.resolve(schedule.ranks(), spec.run.seed)).transpose()
}

/// Requests and answers of rendezvous are one packet each.
pub(super) fn check_rendezvous(host: &HostSpec, workload: &Workload) -> Result<()> {
    let Workload::Schedule { packet_flits, .. } = workload else { return Ok(()) };
    let (path, flits) = ("host.control_flits", host.control_flits);
    if host.eager_limit_flits.is_none() && flits != 1 {
        let hint = "say from which length on messages ask: host.eager_limit_flits";
        return Err(Error::config(path, flits, "nothing where no message asks before it goes", hint));
    }
    if host.eager_limit_flits.is_some() && !(1..=*packet_flits).contains(&flits) {
        let expected = format!("1 to {packet_flits} flits, one packet (workload.packet_flits)");
        return Err(Error::config(path, flits, expected, ""));
    }
    Ok(())
}

/// Messages that take turns are those of ranks.
pub(super) fn check_service(spec: &SimulationSpec, workload: &Workload) -> Result<()> {
    let service = &spec.network.nic.service;
    let at = |field: &str| format!("network.nic.service.{field}");
    if service.burst_packets == 0 {
        return Err(Error::config(at("burst_packets"), 0, "at least 1 packet", ""));
    }
    let most = MAX_PREPARATION;
    within(&at("message_overhead_cycles"), service.message_overhead_cycles, 0, most, "cycles")?;
    within(&at("start_jitter_cycles"), service.start_jitter_cycles, 0, most, "cycles")?;
    if !service.takes_turns() {
        if !service.is_default() {
            let hint = "set network.nic.service.order = \"round_robin\"";
            return Err(Error::config(at("order"), "fifo", "another one, as queue pairs take turns", hint));
        }
        return Ok(());
    }
    if !matches!(workload, Workload::Schedule { .. }) {
        let expected = "fifo where no ranks send messages";
        return Err(Error::config(at("order"), "given", expected, "use a workload that is a schedule"));
    }
    if spec.background.is_some() {
        return Err(Error::config(at("order"), "given", "fifo beside a background", "take one of the two out"));
    }
    Ok(())
}

/// What a workload is resolved for.
#[derive(Clone, Copy)]
struct Context<'a> {
    /// Path of its table.
    at: &'static str,
    network: &'a NetworkSpec,
    fabric: &'a Fabric,
    routing: &'a Routing,
    params: &'a Params,
    units: &'a Units,
    host: &'a HostSpec,
    reduce_cycles_per_flit: f64,
    /// The operations whose messages go over the bus.
    bus_operations: &'a [Operation],
    /// Whether there are wires for barriers.
    has_tree: bool,
    seed: u64,
    /// First cycle in which packets are created \[cycles].
    start: u64,
}

impl Context<'_> {
    fn path(&self, field: &str) -> String {
        format!("{}.{field}", self.at)
    }

    fn workload(&self, spec: &mut WorkloadSpec) -> Result<Workload> {
        match spec {
            WorkloadSpec::AllToAll { algorithm, message_flits: flits, message_bytes: bytes, packet_flits, sync } => {
                let options = AllToAllOptions {
                    message_flits: message_flits(*flits, *bytes, self.units)?,
                    sync: *sync,
                    nic_ports: self.params.nic_ports as u32,
                };
                let length = match *bytes {
                    Some(bytes) => ("message_bytes", bytes),
                    None => ("message_flits", u64::from(*flits.get_or_insert(MESSAGE_FLITS))),
                };
                self.all_to_all(algorithm, packet_flits, &options, length)
            }
            WorkloadSpec::Collective { .. } => self.collective(spec),
            WorkloadSpec::Schedule { schedule, file, packet_flits } => {
                no_file(self.at, file, "schedule")?;
                self.given_schedule(schedule, packet_flits)
            }
            WorkloadSpec::Timetable { .. } => self.timetable(spec),
            WorkloadSpec::Programs { packet_flits, .. } => {
                self.check_packet(&self.path("packet_flits"), *packet_flits)?;
                let schedule = Schedule::driven("programs", self.ranks()?);
                Ok(Workload::Schedule { schedule, packet_flits: *packet_flits })
            }
            WorkloadSpec::Uniform { packet_flits, offered_load, include_self, process } => {
                if !*include_self && self.params.terminals < 2 {
                    let path = self.path("include_self");
                    return Err(Error::config(path, false, "true where there is one terminal", ""));
                }
                let pattern = Pattern::Uniform(Uniform { include_self: *include_self });
                self.open_loop(&pattern, packet_flits, *offered_load, process).map(Workload::OpenLoop)
            }
            WorkloadSpec::Traffic { pattern, packet_flits, offered_load, process } => {
                self.open_loop(pattern, packet_flits, *offered_load, process).map(Workload::OpenLoop)
            }
            WorkloadSpec::Burst { pattern, packets, packet_flits, rate } => {
                self.burst(pattern, *packets, packet_flits, *rate).map(Workload::Finite)
            }
            WorkloadSpec::Trace { packets, file } => self.trace(packets, file).map(Workload::Finite),
        }
    }

    /// The traffic of a background.
    fn background(&self, spec: &WorkloadSpec) -> Result<Traffic> {
        let refused = |kind: &str| {
            let hint = "a background has no end: swap workload and background, or use an open loop";
            Err(Error::config(self.path("kind"), kind, "uniform or traffic", hint))
        };
        match spec {
            WorkloadSpec::AllToAll { .. } => refused("all_to_all"),
            WorkloadSpec::Collective { .. } => refused("collective"),
            WorkloadSpec::Schedule { .. } => refused("schedule"),
            WorkloadSpec::Timetable { .. } => refused("timetable"),
            WorkloadSpec::Programs { .. } => refused("programs"),
            WorkloadSpec::Burst { .. } => refused("burst"),
            WorkloadSpec::Trace { .. } => refused("trace"),
            open_loop => match self.workload(&mut open_loop.clone())? {
                Workload::OpenLoop(traffic) => Ok(traffic),
                Workload::Schedule { .. } | Workload::Finite(_) => refused("this workload"),
            },
        }
    }

    fn check_packet(&self, path: &str, flits: u32) -> Result<()> {
        within(path, flits, 1, MOST_PACKET_FLITS, "flits")?;
        let buffer = self.network.router.buffer_flits;
        if self.network.router.switching == Switching::VirtualCutThrough && flits > buffer {
            return Err(Error::config(
                path,
                flits,
                format!("at most the buffer of {buffer} flits: virtual cut-through stores whole packets"),
                format!("set network.router.buffer_flits = {flits}, or shorter packets, or switching = \"wormhole\""),
            ));
        }
        Ok(())
    }

    /// `length`: the field that says how long a message is, with its value.
    fn all_to_all(
        &self,
        algorithm: &str,
        packet_flits: &mut u32,
        options: &AllToAllOptions,
        length: (&str, u64),
    ) -> Result<Workload> {
        let flits = options.message_flits;
        if *packet_flits == 0 {
            *packet_flits = u32::try_from(flits).unwrap_or(u32::MAX);
            if length.0 == "message_bytes" {
                self.check_one_packet(length.1, flits)?;
            } else if flits > 0 {
                self.check_packet(&self.path("message_flits"), *packet_flits)?;
            }
        } else {
            self.check_packet(&self.path("packet_flits"), *packet_flits)?;
        }
        let ranks = u128::from(self.ranks()?);
        if ranks * ranks * u128::from(flits) > MOST_FLITS {
            let expected = format!("at most {MOST_FLITS} flits in all messages");
            return Err(Error::config(self.path(length.0), length.1, expected, "use shorter messages"));
        }
        let schedule = self.exchange(algorithm, options)?;
        Ok(Workload::Schedule { schedule, packet_flits: *packet_flits })
    }

    /// A schedule that comes with the specification. The longest packet is by default the longest message.
    fn given_schedule(&self, given: &Attached, packet_flits: &mut u32) -> Result<Workload> {
        let path = self.path("schedule");
        let schedule = given.schedule(&path)?;
        let places = self.ranks()?;
        if schedule.ranks() == 0 || schedule.ranks() > places {
            let expected = format!("1 to {places} ranks, as the network has so many places for them");
            let hint = "use a larger network, or set host.ranks_per_terminal";
            return Err(Error::config(path, format!("{} ranks", schedule.ranks()), expected, hint));
        }
        let schedule = schedule.compile(self.units)?;
        let (mut all, mut longest) = (0u128, 1);
        for message in schedule.messages() {
            all += u128::from(message.size);
            longest = longest.max(message.size);
        }
        if all > MOST_FLITS {
            let expected = format!("at most {MOST_FLITS} flits in all messages");
            return Err(Error::config(path, all, expected, "use shorter messages"));
        }
        if *packet_flits == 0 {
            self.check_longest(&path, longest)?;
            *packet_flits = longest as u32;
        } else {
            self.check_packet(&self.path("packet_flits"), *packet_flits)?;
        }
        Ok(Workload::Schedule { schedule, packet_flits: *packet_flits })
    }

    /// Whether the longest message of a schedule can be one packet.
    fn check_longest(&self, path: &str, flits: u64) -> Result<()> {
        let (most, why) = self.longest_packet();
        if flits <= u64::from(most) {
            return Ok(());
        }
        let expected = format!("messages of at most {most} flits, each one packet{why}");
        let hint = format!("set workload.packet_flits, at most {most}, to send a message as several packets");
        Err(Error::config(path, format!("a message of {flits} flits"), expected, hint))
    }

    /// Longest packet that the routers take \[flits], and why.
    fn longest_packet(&self) -> (u32, &'static str) {
        let buffer = self.network.router.buffer_flits;
        match self.network.router.switching {
            Switching::VirtualCutThrough if buffer < MOST_PACKET_FLITS => {
                (buffer, ", as virtual cut-through stores it")
            }
            Switching::VirtualCutThrough | Switching::Wormhole => (MOST_PACKET_FLITS, ""),
        }
    }

    /// Whether a message of `bytes`, which is so many flits, can be one packet.
    fn check_one_packet(&self, bytes: u64, flits: u64) -> Result<()> {
        let (most, why) = self.longest_packet();
        if flits <= u64::from(most) {
            return Ok(());
        }
        let expected = format!("at most {most} flits in one packet{why}; these are {flits}");
        let hint = format!("set workload.packet_flits, at most {most}, to send it as several packets");
        Err(Error::config(self.path("message_bytes"), bytes, expected, hint))
    }

    /// Number of ranks.
    fn ranks(&self) -> Result<u32> {
        within("host.ranks_per_terminal", self.host.ranks_per_terminal, 1, MAX_RANKS_PER_TERMINAL, "ranks")?;
        let ranks = self.host.ranks(self.fabric.terminals())?;
        if ranks > MAX_RANKS {
            let expected = format!("at most {MAX_RANKS} ranks");
            return Err(self.fabric.too_large(expected, "use a smaller network, or fewer ranks_per_terminal"));
        }
        Ok(ranks as u32)
    }

    /// The terminal of each rank.
    fn placement(&self) -> Result<Placement> {
        self.host.placed(self.ranks()?, self.fabric.terminals())
    }

    /// The schedule of an algorithm; one that counts ranks alone is defined on any network, with any number of ranks a
    /// terminal.
    fn exchange(&self, algorithm: &str, options: &AllToAllOptions) -> Result<Schedule> {
        if crate::collective::goes_by_rank(algorithm)? {
            if self.ranks()? < 2 && self.fabric.terminals() > 1 {
                let expected = format!("at least 2 ranks for {algorithm}");
                return Err(Error::config("host.placement", "1 rank", expected, "each entry is a rank"));
            }
            return crate::collective::all_to_all(algorithm, &Grid::mesh(&[self.ranks()?]), options);
        }
        let Some(grid) = self.fabric.grid() else {
            let expected = "an algorithm for any network: this one is for grids";
            return Err(Error::config(self.path("algorithm"), algorithm, expected, "use a2a, which goes by rank"));
        };
        if !self.fabric.has_one_terminal_each() {
            return Err(Error::config(
                "network.topology.terminals_per_router",
                self.params.concentration,
                format!("1: {algorithm} is defined for one rank a router"),
                "use a2a, which goes by rank",
            ));
        }
        if self.host.ranks_per_terminal > 1 {
            let expected = format!("1: {algorithm} is defined for one rank a router");
            let hint = "use a2a, which goes by rank";
            return Err(Error::config("host.ranks_per_terminal", self.host.ranks_per_terminal, expected, hint));
        }
        crate::collective::all_to_all(algorithm, grid, options)
    }

    fn open_loop(
        &self,
        pattern: &Pattern,
        packet_flits: &PacketFlits,
        offered_load: f64,
        process: &ProcessSpec,
    ) -> Result<Traffic> {
        let drawn = self.drawn(pattern, packet_flits)?;
        let mean_flits = drawn.lengths.mean_flits();
        let Destinations::Matrix(_) = drawn.destinations else {
            let rate = self.packets_per_cycle("offered_load", offered_load, mean_flits, 1.0)?;
            return Ok(
                self.traffic(Drawn { process: Processes::Alike(self.process(process, rate)?.shared()), ..drawn })
            );
        };
        let relative: Vec<f64> =
            (0..self.params.terminals as u32).map(|t| drawn.destinations.relative_load(t)).collect();
        let busiest = relative.iter().copied().fold(0.0, f64::max);
        // What the busiest terminal can do all can.
        let most = self.packets_per_cycle("offered_load", offered_load, mean_flits, busiest)?;
        self.process(process, most)?;
        let of = |&relative: &f64| match relative {
            // It sends nothing.
            0.0 => Ok(Process::AtOnce),
            _ => self.process(process, most * (relative / busiest)),
        };
        let each = relative.iter().map(of).collect::<Result<Vec<Process>>>()?;
        Ok(self.traffic(Drawn { process: Processes::Each(each), ..drawn }))
    }

    fn burst(&self, pattern: &Pattern, packets: u32, packet_flits: &PacketFlits, rate: f64) -> Result<Traffic> {
        if packets == 0 {
            return Err(Error::config(self.path("packets"), 0, "at least 1 packet", ""));
        }
        let drawn = self.drawn(pattern, packet_flits)?;
        let process = if rate == 0.0 {
            Process::AtOnce
        } else {
            let rate = self.packets_per_cycle("rate", rate, drawn.lengths.mean_flits(), 1.0)?;
            Process::Bernoulli(Bernoulli::new(rate).shared())
        };
        Ok(self.traffic(Drawn { process: Processes::Alike(process), limit: Some(u64::from(packets)), ..drawn }))
    }

    fn trace(&self, packets: &Attached, file: &str) -> Result<Traffic> {
        no_file(self.at, file, "packets")?;
        let trace = packets.trace(&self.path("packets"))?;
        for largest in trace.largest() {
            let path = self.path(&format!("packets[{}].{}", largest.row, largest.column));
            if largest.column == "flits" {
                self.check_packet(&path, largest.value as u32)?;
            } else if largest.value >= self.params.terminals as u64 {
                let expected = format!("a terminal, 0 to {}", self.params.terminals - 1);
                return Err(Error::config(path, largest.value, expected, "terminals count from 0"));
            }
        }
        Ok(Traffic { packets: Packets::Given(Arc::clone(trace)), seed: self.seed, start: self.start })
    }

    fn traffic(&self, drawn: Drawn) -> Traffic {
        Traffic { packets: Packets::Drawn(drawn), seed: self.seed, start: self.start }
    }

    /// Where to and how long; all at once, without end.
    fn drawn(&self, pattern: &Pattern, packet_flits: &PacketFlits) -> Result<Drawn> {
        let path = self.path("packet_flits");
        let lengths = packet_flits.resolve(&path)?;
        packet_flits.lengths(&path).into_iter().try_for_each(|(path, flits)| self.check_packet(&path, flits))?;
        let destinations = pattern.resolve(self.fabric, self.seed).map_err(|error| error.moved("workload", self.at))?;
        let process = Processes::Alike(Process::AtOnce);
        Ok(Drawn { destinations, lengths, process, limit: None })
    }

    /// The packets a cycle of a terminal that sends `relative` times a load in flits.
    fn packets_per_cycle(&self, field: &str, load: f64, mean_flits: f64, relative: f64) -> Result<f64> {
        let most = mean_flits / relative;
        // The most that is allowed stays so when it has been rounded.
        if load > 0.0 && load <= most * (1.0 + 1e-9) {
            return Ok((load / most).min(1.0));
        }
        let (each, hint) = match relative {
            1.0 => ("", String::new()),
            _ => (" of the terminal that sends most", format!("its row has {relative:.4} times the mean of all rows")),
        };
        let expected = format!("more than 0 and at most 1 packet a cycle{each}, here {most} flits/cycle/terminal");
        Err(Error::config(self.path(field), load, expected, hint))
    }

    fn process(&self, spec: &ProcessSpec, packets_per_cycle: f64) -> Result<Process> {
        let (on, off) = match *spec {
            ProcessSpec::Bernoulli => return Ok(Process::Bernoulli(Bernoulli::new(packets_per_cycle))),
            ProcessSpec::OnOff { mean_on_cycles, mean_off_cycles } => (mean_on_cycles, mean_off_cycles),
        };
        for (field, cycles) in [("process.mean_on_cycles", on), ("process.mean_off_cycles", off)] {
            if !(1.0..=MAX_STATE).contains(&cycles) {
                return Err(Error::config(self.path(field), cycles, format!("1 to {MAX_STATE} cycles"), ""));
            }
        }
        let rate_when_on = OnOff::rate_when_on(packets_per_cycle, on, off);
        if rate_when_on * on * MOST_EMPTY_PERIODS < 1.0 {
            let expected = format!("a packet in {MOST_EMPTY_PERIODS} on periods at least");
            let hint = "raise offered_load, or mean_on_cycles and mean_off_cycles; or use a Bernoulli process";
            return Err(Error::config(self.path("process.mean_on_cycles"), on, expected, hint));
        }
        // The most that is allowed stays so when it has been rounded.
        if rate_when_on > 1.0 + 1e-9 {
            let expected = format!(
                "off periods so short that on periods carry the offered load with 1 packet a cycle, here at most {:.4} cycles",
                on * (1.0 / packets_per_cycle - 1.0)
            );
            let hint = "lower offered_load, or raise mean_on_cycles";
            return Err(Error::config(self.path("process.mean_off_cycles"), off, expected, hint));
        }
        Ok(Process::OnOff(OnOff::new(packets_per_cycle, on, off)))
    }
}
