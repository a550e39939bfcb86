//! The oracle: a slow, obvious simulator of docs/model.md, against which the kernels are tested.
//!
//! It follows the page word by word and shares nothing with the kernels: flits are objects in queues, what is on a
//! channel is a list of (due cycle, thing), allocators work on whole matrices of requests.

mod allocators;
mod batch_stage;
pub mod beside_kernel;
mod bus;
pub mod cases;
mod congestion;
mod copies;
mod created;
mod dragonfly;
pub mod driven;
#[cfg(test)]
mod hand_computed;
mod hol_blocking;
pub mod knots;
pub mod limits;
mod machine;
mod noise;
pub mod pace;
mod places;
mod private_vc;
mod program;
mod queue;
mod random;
mod reader;
mod requests;
mod router;
mod routes;
mod rules;
mod signals;
mod terminal;
mod tree;
mod trip;

use bus::{Bus, Carried};
use congestion::Congestion;
use copies::{Memory, fraction};
use driven::Decide;
use flitwork::measure::PacketRecord;
use flitwork::schedule::{LateSends, Placement, Schedule, SendQueue};
use flitwork::spec::{HostSpec, NetworkSpec};
use flitwork::topology::Fabric;
use machine::{Event, Flit, InFlight, Machine};
use noise::Away;
use pace::Pauses;
use program::{Programs, Rendezvous};
use queue::Job;
use reader::Reader;
use router::Router;
use signals::Signals;
use std::collections::BTreeMap;
use std::rc::Rc;
use terminal::Terminal;

/// What is sent.
pub enum Load<'a> {
    /// Packets with their creation cycles; those of one source in the order in which it takes them.
    Trace(Vec<TracePacket>),
    /// Programs of ranks.
    Schedule {
        /// What each rank does.
        schedule: &'a Schedule,
        /// Where it is.
        placement: &'a Placement,
        /// What its hosts are like.
        host: &'a HostSpec,
        /// Longest packet of a message (0: the whole message).
        packet_flits: u32,
        /// When its injection ports pause.
        pauses: Pauses,
        /// Who answers ranks that ask what to do next.
        decide: Option<Decide>,
    },
}

/// One packet of a trace.
#[derive(Debug, Clone)]
pub struct TracePacket {
    /// Source terminal.
    pub src: u32,
    /// Destination terminal.
    pub dst: u32,
    /// Length.
    pub flits: u32,
    /// Creation cycle; does not fall within a source.
    pub created: u64,
    /// As in a routing header.
    pub minus: u8,
    /// As in a routing header.
    pub wraps: u8,
    /// Consecutive packets of a source with one number are sent back to back by one injection port (the halves of a
    /// split).
    pub message: u32,
}

/// What runs beside the load.
#[derive(Debug, Clone, Default)]
pub struct Beside {
    /// Packets of a background, as those of a trace.
    pub background: Vec<TracePacket>,
    /// The cycle in which programs begin.
    pub start: u64,
    /// Whether to note which input ports are blocked by the head of a line; only where packets have one path.
    pub hol_blocked: bool,
    /// From this cycle on no injection port takes a packet; those that have one go on. The run is over when the network
    /// is empty.
    pub drain_from: Option<u64>,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// All packets that entered an injection port, by (source, sequence).
    pub packets: Vec<PacketRecord>,
    /// No flit moved for the cycles of the watchdog, with flits in the network.
    pub deadlocked: bool,
    /// Everything has been sent and has arrived: in this cycle.
    pub finished: Option<u64>,
    /// Input ports blocked by the head of a line, if they were to be noted: (cycle, router, port).
    pub blocked: Vec<(u64, usize, usize)>,
    /// Flits that went on channels between routers: (turn, router, output port).
    pub carried: Vec<(u64, usize, usize)>,
    /// Input VCs with a packet at the end, by name (two cables between two routers share one), and the first cycle from
    /// which on none of their flits left.
    pub left: Vec<(String, u64)>,
    /// The last cycle.
    pub last: u64,
}

/// Runs `load` on the network of `spec` until all has arrived, for at most `max_cycles` cycles. What routing leaves to
/// chance follows from `seed`.
pub fn run(spec: &NetworkSpec, seed: u64, load: Load, max_cycles: u64, watchdog: u64) -> Outcome {
    let fabric = spec.topology.fabric().expect("a case is valid");
    run_beside(spec, &fabric, seed, load, &Beside::default(), max_cycles, watchdog)
}

/// [`run`] with a background.
pub fn run_beside(
    spec: &NetworkSpec,
    fabric: &Fabric,
    seed: u64,
    load: Load,
    beside: &Beside,
    max_cycles: u64,
    watchdog: u64,
) -> Outcome {
    let machine = Machine::new(spec, fabric, seed);
    let mut network = Network::new(&machine, &load, beside);
    let mut last_move = 0;
    for now in 0..max_cycles {
        if beside.drain_from.is_some_and(|from| now >= from) {
            network.terminals.iter_mut().for_each(|terminal| terminal.is_closed = true);
            if network.flits() == 0 && network.terminals.iter().all(|terminal| !terminal.is_sending()) {
                return network.outcome(false, Some(now), now);
            }
        }
        if network.cycle(now) {
            last_move = now;
        }
        if network.finished() {
            return network.outcome(false, Some(now), now);
        }
        if network.flits() > 0 && now - last_move >= watchdog {
            return network.outcome(true, None, now);
        }
    }
    network.outcome(false, None, max_cycles)
}

/// What is sent back to back by one injection port each.
fn jobs(packets: &[TracePacket]) -> impl Iterator<Item = &[TracePacket]> {
    packets.chunk_by(|a, b| (a.src, a.message) == (b.src, b.message))
}

/// The mutable state of everything.
struct Network<'a> {
    machine: &'a Machine,
    routers: Vec<Router<'a>>,
    terminals: Vec<Terminal<'a>>,
    /// Where messages are copied: of each terminal.
    memories: Vec<Memory>,
    bus: Option<Bus>,
    signals: Option<Signals>,
    programs: Option<Programs<'a>>,
    /// The cycle in which programs begin.
    start: u64,
    channels: Vec<InFlight>,
    congestion: Congestion,
    records: BTreeMap<(u32, u32), PacketRecord>,
    /// Input ports blocked by the head of a line, if they are noted.
    blocked: Option<Vec<(u64, usize, usize)>>,
    /// Flits that went on channels between routers.
    carried: Vec<(u64, usize, usize)>,
    /// Cycle + 1 in which a flit left each input VC last: (router, port, VC).
    left_at: BTreeMap<(usize, usize, usize), u64>,
}

impl<'a> Network<'a> {
    fn new(machine: &'a Machine, load: &Load<'a>, beside: &Beside) -> Self {
        let packet_flits = match load {
            Load::Trace(_) => 0,
            Load::Schedule { packet_flits, .. } => *packet_flits,
        };
        let queues = |id| match load {
            Load::Trace(_) => (1, SendQueue::ProgramOrder),
            Load::Schedule { placement, host, .. } => {
                (placement.terminal_of().iter().filter(|&&t| t == id as u32).count(), host.send_queue)
            }
        };
        let pauses = match load {
            Load::Trace(_) => None,
            Load::Schedule { pauses, .. } => Some(Rc::new(pauses.clone())),
        };
        let terminal = |id| Terminal::new(id, machine, (packet_flits, pauses.clone()), queues(id));
        let mut terminals: Vec<Terminal> = (0..machine.terminals()).map(terminal).collect();
        if let Load::Schedule { host: HostSpec { read_flits_per_cycle: Some(rate), .. }, .. } = load {
            for terminal in &mut terminals {
                terminal.reader = Some(Reader::new(fraction(*rate), packet_flits));
            }
        }
        let memories = match load {
            Load::Schedule { host: HostSpec { copy_flits_per_cycle: Some(rate), .. }, .. } => {
                let memory = |id| Memory::new(fraction(*rate), packet_flits, queues(id).0, queues(id).1);
                (0..machine.terminals()).map(memory).collect()
            }
            _ => vec![],
        };
        let bus = match (load, &machine.bus) {
            (Load::Schedule { schedule, host, .. }, Some(spec)) => {
                Some(Bus::new(spec, schedule.ranks(), host.send_queue))
            }
            _ => None,
        };
        let signals = match (load, machine.tree_cycles) {
            (Load::Schedule { schedule, .. }, Some(cycles)) => Some(Signals::new(cycles, schedule.ranks())),
            _ => None,
        };
        let programs = match load {
            Load::Trace(packets) => {
                for packets in jobs(packets) {
                    terminals[packets[0].src as usize].queues[0].push(Job::Packets(packets.to_vec()));
                }
                None
            }
            Load::Schedule { schedule, placement, host, decide, .. } => {
                let away = Away::new(host, machine.seed, beside.start);
                let rendezvous = Rendezvous { limit: host.eager_limit_flits, control: host.control_flits };
                let copies = host.copy_flits_per_cycle.is_some();
                let late = machine.router.compat.late_receives;
                let keeps = host.late_sends == LateSends::Keep;
                let tolerance = keeps.then_some(host.late_tolerance_cycles.into());
                let away = (away, beside.start, tolerance);
                Some(Programs::new(schedule, placement, (late, copies), away, rendezvous, decide.clone()))
            }
        };
        for packets in jobs(&beside.background) {
            terminals[packets[0].src as usize].background.push(Job::Packets(packets.to_vec()));
        }
        Network {
            machine,
            routers: (0..machine.routers()).map(|id| Router::new(id, machine)).collect(),
            terminals,
            memories,
            bus,
            signals,
            programs,
            start: beside.start,
            channels: Vec::new(),
            congestion: Congestion::default(),
            records: BTreeMap::new(),
            blocked: beside.hol_blocked.then(Vec::new),
            carried: Vec::new(),
            left_at: BTreeMap::new(),
        }
    }

    /// One cycle; whether a flit moved.
    fn cycle(&mut self, now: u64) -> bool {
        let delivered = self.deliver(now);
        let injected = self.inject(now);
        let switched = self.route_and_switch(now);
        self.congestion.note(self.machine, &self.routers);
        delivered || injected || switched
    }

    /// Step 1.
    fn deliver(&mut self, now: u64) -> bool {
        let mut moved = false;
        let (due, later): (Vec<_>, Vec<_>) = self.channels.drain(..).partition(|thing| thing.due == now);
        self.channels = later;
        for InFlight { what, .. } in due {
            match what {
                Event::FlitAtRouter { router, port, vc, flit } => {
                    self.routers[router].receive((port, vc), flit, now);
                    moved = true;
                }
                Event::FlitAtTerminal { router, port, vc, flit } => {
                    self.consume(&flit, now);
                    let due = now + self.machine.eject_credit_cycles;
                    self.channels.push(InFlight { due, what: Event::CreditAtRouter { router, port, vc } });
                    moved = true;
                }
                Event::CreditAtRouter { router, port, vc } => self.routers[router].receive_credit((port, vc)),
                Event::CreditAtInjectionPort { terminal, injection_port, vc } => {
                    self.terminals[terminal as usize].receive_credit(injection_port, vc);
                }
            }
        }
        if let Some(programs) = &mut self.programs {
            self.memories.iter_mut().for_each(|memory| memory.arrive(programs, now));
            self.bus.iter_mut().for_each(|bus| bus.arrive(programs, now));
            self.signals.iter_mut().for_each(|signals| signals.arrive(programs, now));
            programs.deliver(now);
        }
        moved
    }

    /// A flit is consumed at its destination.
    fn consume(&mut self, flit: &Flit, now: u64) {
        let packet = &flit.packet;
        let record = self.records.get_mut(&(packet.src, packet.sequence)).expect("the packet was sent");
        if let Some(trip) = &flit.trip {
            record.hops = trip.hops;
        }
        if flit.tail {
            record.arrived = now;
        }
        if let (Some(send), Some(programs)) = (packet.send, &mut self.programs) {
            programs.flit_arrived(send);
        }
    }

    /// Step 2.
    fn inject(&mut self, now: u64) -> bool {
        let mut moved = false;
        let m = self.machine;
        for terminal in 0..self.terminals.len() {
            if let (Some(programs), true) = (&mut self.programs, now >= self.start) {
                for (i, rank) in programs.ranks_at(terminal as u32).into_iter().enumerate() {
                    for message in programs.advance(rank, now) {
                        if let Some(bus) = self.bus.as_mut().filter(|_| message.via.is_bus()) {
                            bus.push(message);
                            continue;
                        }
                        if let Some(signals) = self.signals.as_mut().filter(|_| message.via.is_tree()) {
                            signals.push(message);
                            continue;
                        }
                        match self.memories.get_mut(terminal).filter(|_| message.dst == terminal as u32) {
                            Some(memory) => memory.push(i, message),
                            None => self.terminals[terminal].queues[i].push(Job::Message(message)),
                        }
                    }
                }
            }
            if let Some(memory) = self.memories.get_mut(terminal) {
                memory.copy(&mut self.programs, now);
            }
            for (injection_port, vc, flit) in self.terminals[terminal].inject(&mut self.programs, now) {
                moved = true;
                if flit.head {
                    self.record(&flit.packet, now);
                }
                let (router, port) =
                    (m.router_of(terminal as u32) as usize, m.local_port(terminal as u32, injection_port));
                let due = now + m.inject_cycles;
                self.channels.push(InFlight { due, what: Event::FlitAtRouter { router, port, vc, flit } });
            }
        }
        if let Some(bus) = &mut self.bus {
            let carried = bus.carry(&mut self.programs, now);
            carried.into_iter().for_each(|one| self.record_carried(&one, 0, now));
        }
        if let Some(signals) = &mut self.signals {
            let carried = signals.carry(&mut self.programs, now);
            carried.into_iter().for_each(|one| self.record_carried(&one, 1, now));
        }
        moved
    }

    /// The record of a message that the bus (`which` is 0) or the barrier tree (1) has taken.
    fn record_carried(&mut self, carried: &Carried, which: u32, now: u64) {
        let Carried { message, injected, arrived } = carried;
        let placement = self.programs.as_ref().expect("a schedule").terminal_of(message.send.0);
        let sequence = self.terminals[placement as usize].number_packet();
        let record = PacketRecord {
            src: placement,
            sequence,
            dst: message.dst,
            flits: message.flits,
            message: message.number,
            injection_port: self.machine.nic_ports as u32 + which,
            minus: 0,
            wraps: 0,
            hops: 0,
            created: now,
            injected: *injected,
            arrived: *arrived,
            background: false,
        };
        self.records.insert((placement, sequence), record);
    }

    /// Steps 3 to 6.
    fn route_and_switch(&mut self, now: u64) -> bool {
        let mut moved = false;
        self.congestion.look(self.machine, &self.routers, now);
        for router in 0..self.routers.len() {
            let sent = self.routers[router].cycle(&self.congestion, now);
            if let Some(blocked) = &mut self.blocked {
                blocked.extend(self.routers[router].blocked_ports(&sent).into_iter().map(|port| (now, router, port)));
            }
            for ((port, vc), flit) in sent.flits {
                moved = true;
                self.put_on_channel(router, port, vc, flit, now);
            }
            for (port, vc) in sent.freed {
                moved = true;
                self.left_at.insert((router, port, vc), now + 1);
                self.return_credit(router, port, vc, now);
            }
        }
        moved
    }

    fn put_on_channel(&mut self, router: usize, port: usize, vc: usize, flit: Flit, now: u64) {
        let m = self.machine;
        self.channels.push(if port < m.fabric.network_ports_of(router as u32) {
            let out = port;
            self.carried.push((now - m.batch_cycles(), router, port));
            let (next, port) = m.fabric.peer(router as u32, port).expect("the channel exists");
            let what = Event::FlitAtRouter { router: next as usize, port, vc, flit };
            InFlight { due: now + m.hop_cycles(router, out), what }
        } else {
            assert_eq!(m.behind(router, port).0, flit.packet.dst, "the packet is where it should be");
            InFlight { due: now + m.eject_cycles, what: Event::FlitAtTerminal { router, port, vc, flit } }
        });
    }

    fn return_credit(&mut self, router: usize, port: usize, vc: usize, now: u64) {
        let m = self.machine;
        self.channels.push(if port < m.fabric.network_ports_of(router as u32) {
            let credit_cycles = m.credit_cycles(router, port);
            let (upstream, port) = m.fabric.feeder(router as u32, port).expect("the channel exists");
            let what = Event::CreditAtRouter { router: upstream as usize, port, vc };
            InFlight { due: now + credit_cycles, what }
        } else {
            let (terminal, injection_port) = m.behind(router, port);
            let what = Event::CreditAtInjectionPort { terminal, injection_port, vc };
            InFlight { due: now + m.inject_credit_cycles, what }
        });
    }

    /// Opens the record of a packet.
    fn record(&mut self, packet: &machine::Packet, injected: u64) {
        // How long a trip is becomes known at its end.
        let ((minus, wraps), hops) = match self.machine.trip(packet) {
            Some(trip) => (self.machine.minus_and_wraps(&trip), 0),
            None => ((packet.minus, packet.wraps), self.machine.hops(packet.src, packet.dst, packet.minus)),
        };
        let record = PacketRecord {
            src: packet.src,
            sequence: packet.sequence,
            dst: packet.dst,
            flits: packet.flits,
            message: packet.message,
            injection_port: packet.injection_port as u32,
            minus,
            wraps,
            hops,
            created: packet.created,
            injected,
            arrived: u64::MAX,
            background: packet.background,
        };
        self.records.insert((packet.src, packet.sequence), record);
    }

    /// Whether all has been sent and has arrived.
    fn finished(&self) -> bool {
        self.programs.as_ref().is_none_or(Programs::finished)
            && self.terminals.iter().all(Terminal::idle)
            && self.memories.iter().all(Memory::idle)
            && self.bus.as_ref().is_none_or(Bus::idle)
            && self.signals.as_ref().is_none_or(Signals::idle)
            && self.flits() == 0
    }

    /// Flits in routers and on channels.
    fn flits(&self) -> usize {
        let is_flit =
            |thing: &&InFlight| matches!(thing.what, Event::FlitAtRouter { .. } | Event::FlitAtTerminal { .. });
        self.routers.iter().map(Router::flits).sum::<usize>() + self.channels.iter().filter(is_flit).count()
    }

    /// What came of it, at the end.
    fn outcome(mut self, deadlocked: bool, finished: Option<u64>, last: u64) -> Outcome {
        let (blocked, carried) = (self.blocked.take().unwrap_or_default(), std::mem::take(&mut self.carried));
        let left = self.left();
        Outcome { packets: self.records(), deadlocked, finished, blocked, carried, left, last }
    }

    /// Input VCs with a packet, by name, and the first cycle from which on none of their flits left.
    fn left(&self) -> Vec<(String, u64)> {
        let routers = self.routers.iter().enumerate();
        let all = routers.flat_map(|(id, router)| router.with_packets().map(move |(port, vc)| (id, port, vc)));
        let since = |place| self.left_at.get(&place).copied().unwrap_or(0);
        all.map(|place| (self.machine.name_of_vc(place), since(place))).collect()
    }

    /// The records of all packets that entered an injection port.
    fn records(mut self) -> Vec<PacketRecord> {
        let taken: Vec<_> = self.terminals.iter().flat_map(Terminal::taken).cloned().collect();
        for packet in taken {
            if !self.records.contains_key(&(packet.src, packet.sequence)) {
                self.record(&packet, u64::MAX);
            }
        }
        self.records.into_values().collect()
    }
}
