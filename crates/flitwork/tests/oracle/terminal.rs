//! Terminals and their injection ports: step 2 of docs/model.md.

use super::TracePacket;
use super::machine::{Flit, Machine, Packet};
use super::pace::Pauses;
use super::places::Places;
use super::program::{Message, Programs, Send};
use super::queue::{Job, Queue};
use super::random::{below, mix};
use super::reader::Reader;
use flitwork::routing::Tie;
use flitwork::schedule::SendQueue;
use flitwork::spec::{InjectionVc, QueuePairs, ServiceOrder, SourceQueue, Switching};
use std::collections::VecDeque;
use std::rc::Rc;

/// A packet that an injection port is to send.
pub struct Planned {
    dst: u32,
    pub flits: u32,
    /// The first cycle in which it has been read from memory.
    pub read: u64,
    minus: u8,
    wraps: u8,
    /// Number of the message.
    message: u32,
    /// When it was created; without one, when it becomes the injection port's current packet.
    created: Option<u64>,
    send: Option<Send>,
    background: bool,
    /// Whether it is the last packet of its message.
    last: bool,
    /// Step of the message.
    step: u32,
}

/// The packet that an injection port is sending.
struct Current {
    packet: Rc<Packet>,
    vc: Option<usize>,
    sent: u32,
    last: bool,
    step: u32,
}

struct InjectionPort {
    /// Of each VC of its injection port.
    places: Places,
    last_vc: usize,
    current: Option<Current>,
    /// The packets of its message that follow the current one.
    rest: VecDeque<Planned>,
    /// The first cycle in which it may take a packet.
    pauses_until: u64,
    /// Where messages take turns: the queue pair that it is at, and the packets of it that it has sent.
    pair: Option<(Pair, u32)>,
}

/// Messages that go one after the other, each as its packets, with the rank that it goes from.
struct Pair {
    key: Option<(u32, u32)>,
    messages: VecDeque<(u32, VecDeque<Planned>)>,
}

pub struct Terminal<'m> {
    id: u32,
    machine: &'m Machine,
    packet_flits: u32,
    /// When ports pause by the step of a message.
    pauses: Option<Rc<Pauses>>,
    ports: Vec<InjectionPort>,
    /// What waits of the workload: of a trace in one queue, of a schedule in one for each rank.
    pub queues: Vec<Queue>,
    /// The queue that has its turn.
    turn: usize,
    /// What waits of the background.
    pub background: Queue,
    /// Where they take turns: whether it is the background's.
    background_next: bool,
    packets: u32,
    /// Where messages are read from memory before they are sent.
    pub reader: Option<Reader>,
    /// Where messages take turns: queue pairs with something to send that no port has.
    ring: Vec<Pair>,
    /// Those that will stand there, with the first cycle in which they do, in the order in which their first messages
    /// became that.
    prepared: Vec<(u64, Pair)>,
    /// Its ports take no packets any more.
    pub is_closed: bool,
}

/// A flit that an injection port sends: (injection port, VC, flit).
pub type Injected = (usize, usize, Flit);

impl<'m> Terminal<'m> {
    /// `packet_flits`: the longest packet of a message (0: no limit); `queues`: so many, each of this kind.
    pub fn new(
        id: usize,
        machine: &'m Machine,
        (packet_flits, pauses): (u32, Option<Rc<Pauses>>),
        (queues, kind): (usize, SendQueue),
    ) -> Self {
        let port = |_| InjectionPort {
            places: Places::new(machine),
            last_vc: machine.vcs - 1,
            current: None,
            rest: VecDeque::new(),
            pauses_until: 0,
            pair: None,
        };
        Terminal {
            id: id as u32,
            machine,
            packet_flits,
            pauses,
            ports: (0..machine.nic_ports).map(port).collect(),
            queues: (0..queues).map(|_| Queue::new(kind)).collect(),
            turn: 0,
            background: Queue::new(SendQueue::ProgramOrder),
            background_next: false,
            packets: 0,
            reader: None,
            ring: Vec::new(),
            prepared: Vec::new(),
            is_closed: false,
        }
    }

    /// Step 1: a credit arrives.
    pub fn receive_credit(&mut self, injection_port: usize, vc: usize) {
        self.ports[injection_port].places.release(vc);
    }

    /// Step 2, after the program: every injection port takes a packet, if it has none, and sends a flit, if it may.
    pub fn inject(&mut self, programs: &mut Option<Programs>, now: u64) -> Vec<Injected> {
        let mut injected = Vec::new();
        self.queues.iter_mut().for_each(|queue| queue.look(programs, now));
        self.background.look(programs, now);
        self.read(programs, now);
        for k in 0..self.ports.len() {
            if !self.is_closed && self.ports[k].current.is_none() && now >= self.ports[k].pauses_until {
                self.take(k, programs, now);
            }
            let Some((vc, flit, message_done)) = self.send(k, now) else { continue };
            if let (true, Some(send), Some(programs)) = (message_done, flit.packet.send, programs.as_mut()) {
                programs.sent(send, now);
            }
            injected.push((k, vc, flit));
        }
        injected
    }

    /// A free injection port takes the next packet of its message, else the next job, if one has come.
    fn take(&mut self, k: usize, programs: &mut Option<Programs>, now: u64) {
        if self.machine.nic.service.order != ServiceOrder::Fifo {
            if !self.take_turn(k, programs, now) {
                return;
            }
        } else if self.ports[k].rest.is_empty() {
            let Some((job, background)) = self.next_job(programs, now) else { return };
            self.ports[k].rest = self.packets_of(job, background, programs, now).0;
        }
        if self.ports[k].rest.front().is_some_and(|planned| planned.read > now) {
            return;
        }
        let planned = self.ports[k].rest.pop_front().expect("a message has a packet");
        let packet = Rc::new(Packet {
            src: self.id,
            dst: planned.dst,
            sequence: self.packets,
            flits: planned.flits,
            message: planned.message,
            injection_port: k,
            minus: planned.minus,
            wraps: planned.wraps,
            created: planned.created.unwrap_or(now),
            send: planned.send,
            background: planned.background,
        });
        self.packets += 1;
        self.ports[k].current = Some(Current { packet, vc: None, sent: 0, last: planned.last, step: planned.step });
    }

    /// The number of a packet that goes by another network.
    pub fn number_packet(&mut self) -> u32 {
        self.packets += 1;
        self.packets - 1
    }

    /// The packets of what an injection port takes in cycle `now`, and the ranks that it goes from and to.
    fn packets_of(
        &mut self,
        job: Job,
        background: bool,
        programs: &mut Option<Programs>,
        now: u64,
    ) -> (VecDeque<Planned>, (u32, u32)) {
        match job {
            Job::Packets(packets) => (packets.iter().map(|p| self.as_given(p, background)).collect(), (0, 0)),
            Job::Message(message) => {
                programs.as_mut().expect("a schedule").taken(&message, now);
                (self.cut(&message), (message.send.0, message.to))
            }
            Job::Read => self.reader.as_mut().expect("it reads").pop(),
            Job::Part(part, ends) => {
                let message = programs.as_mut().expect("a schedule").take_part(part, ends);
                (self.cut(&message), ends)
            }
        }
    }

    /// Where messages take turns: what may start joins queue pairs, and the port takes the packet that is next. Whether
    /// there is one.
    fn take_turn(&mut self, k: usize, programs: &mut Option<Programs>, now: u64) -> bool {
        let service = self.machine.nic.service.clone();
        if !self.ports[k].rest.is_empty() {
            return true; // It waits for memory.
        }
        if self.ports[k].pair.is_none() {
            while let Some(ends) = self.next_ends(programs, now) {
                let key = (service.queue_pairs == QueuePairs::Peer).then_some(ends);
                let at_ports = self.ports.iter().filter_map(|port| port.pair.as_ref().map(|(pair, _)| pair));
                let prepared = self.prepared.iter().map(|(_, pair)| pair);
                let others = at_ports.chain(&self.ring).chain(prepared);
                let active = others.clone().count();
                let shares = key.is_some() && others.into_iter().any(|pair| pair.key == key);
                if !shares && service.active_queue_pairs > 0 && active >= service.active_queue_pairs as usize {
                    break;
                }
                let (job, background) = self.next_job(programs, now).expect("there is one");
                let packets = self.packets_of(job, background, programs, now).0;
                let at_ports = self.ports.iter_mut().filter_map(|port| port.pair.as_mut().map(|(pair, _)| pair));
                let others = at_ports.chain(&mut self.ring).chain(self.prepared.iter_mut().map(|(_, pair)| pair));
                match { others }.find(|pair| key.is_some() && pair.key == key) {
                    Some(pair) => pair.messages.push_back((ends.0, packets)),
                    None => self.stand(Pair { key, messages: [(ends.0, packets)].into() }, now),
                }
            }
            while let Some(i) = (0..self.prepared.len()).min_by_key(|&i| (self.prepared[i].0, i)) {
                if self.prepared[i].0 > now {
                    break;
                }
                let (_, pair) = self.prepared.remove(i);
                self.ring.push(pair);
            }
            if self.ring.is_empty() {
                return false;
            }
            let random = || {
                let seed = mix(self.machine.seed ^ 0x0073_6572_7665);
                below(mix(seed ^ (u64::from(self.id) << 32 | u64::from(self.packets))), self.ring.len() as u64) as usize
            };
            let place = if service.order == ServiceOrder::Random { random() } else { 0 };
            self.ports[k].pair = Some((self.ring.remove(place), 0));
        }
        let (pair, _) = self.ports[k].pair.as_mut().expect("it has one");
        let planned = pair.messages[0].1.pop_front().expect("a message has a packet");
        if pair.messages[0].1.is_empty() {
            pair.messages.pop_front();
        }
        self.ports[k].rest = [planned].into();
        true
    }

    /// The ranks that the next message goes from and to.
    fn next_ends(&self, programs: &Option<Programs>, now: u64) -> Option<(u32, u32)> {
        if let Some(reader) = &self.reader {
            return reader.next(now).map(|(_, ends)| ends);
        }
        let programs = programs.as_ref().expect("a schedule");
        if let Some((_, _, ends)) = programs.next_part(self.id) {
            return Some(ends);
        }
        self.queues[self.next_queue()?].next_message().map(|message| (message.send.0, message.to))
    }

    /// Where messages take turns: a packet has left port `k`; `last`: of its message.
    fn end_turn(&mut self, k: usize, last: bool, now: u64) {
        let Some((pair, sent)) = self.ports[k].pair.take() else { return };
        let more = !pair.messages.is_empty();
        if more && last && self.preparation(&pair) > 0 {
            self.stand(pair, now);
        } else if more && sent + 1 < self.machine.nic.service.burst_packets {
            self.ports[k].pair = Some((pair, sent + 1));
        } else if more {
            self.ring.push(pair);
        }
    }

    /// What the first message of a queue pair takes before it can send [cycles].
    fn preparation(&self, pair: &Pair) -> u64 {
        let service = &self.machine.nic.service;
        let (from, packets) = &pair.messages[0];
        let seed = mix(self.machine.seed ^ 0x6a69_7474_6572);
        let bits = mix(seed ^ (u64::from(*from) << 32 | u64::from(packets[0].message)));
        u64::from(service.message_overhead_cycles) + below(bits, u64::from(service.start_jitter_cycles))
    }

    /// A queue pair, with a message that has become its first, joins the ring when that may begin.
    fn stand(&mut self, pair: Pair, now: u64) {
        match self.preparation(&pair) {
            0 => self.ring.push(pair),
            cycles => self.prepared.push((now + cycles, pair)),
        }
    }

    /// The job that is next, and whether it is of the background: what was ready first, or one of either in turn.
    fn next_job(&mut self, programs: &Option<Programs>, now: u64) -> Option<(Job, bool)> {
        let ready = match &self.reader {
            Some(reader) => reader.next(now).map(|(joined, _)| joined),
            None => self.next_came(programs),
        };
        let background = match (ready, self.background.next_ready()) {
            (None, None) => return None,
            (Some(_), None) => false,
            (None, Some(_)) => true,
            (Some(work), Some(background)) => match self.machine.nic.source_queue {
                SourceQueue::Fifo => background < work,
                SourceQueue::Alternate => self.background_next,
            },
        };
        self.background_next = !background;
        if background {
            return Some((self.background.pop(), true));
        }
        Some((if self.reader.is_some() { Job::Read } else { self.pop(programs) }, false))
    }

    /// When what is next of ranks, or of the answers and data, came.
    fn next_came(&self, programs: &Option<Programs>) -> Option<u64> {
        let part = programs.as_ref().and_then(|programs| programs.next_part(self.id));
        part.map(|part| part.0).or(self.next_queue().and_then(|i| self.queues[i].next_ready()))
    }

    /// Takes it.
    fn pop(&mut self, programs: &Option<Programs>) -> Job {
        if let Some((_, part, ends)) = programs.as_ref().and_then(|programs| programs.next_part(self.id)) {
            return Job::Part(part, ends);
        }
        let queue = self.next_queue().expect("something is ready");
        self.turn = (queue + 1) % self.queues.len();
        self.queues[queue].pop()
    }

    /// What can be read from now on is.
    fn read(&mut self, programs: &mut Option<Programs>, now: u64) {
        while self.reader.as_ref().is_some_and(|reader| reader.is_free(now)) && self.next_came(programs).is_some() {
            let job = self.pop(programs);
            let (packets, ends) = self.packets_of(job, false, programs, now);
            self.reader.as_mut().expect("it reads").read(packets, ends, now);
        }
    }

    /// The first queue, from the one whose turn it is, whose next entry has come.
    fn next_queue(&self) -> Option<usize> {
        let n = self.queues.len();
        (0..n).map(|i| (self.turn + i) % n).find(|&i| self.queues[i].next_ready().is_some())
    }

    /// The packets of a message: as long as possible, the last one shorter; each in two where its route has a tie under
    /// the split rule.
    fn cut(&self, message: &Message) -> VecDeque<Planned> {
        let m = self.machine;
        assert!(m.hop_by_hop() || m.routing.tie != Tie::Random, "the oracle draws no tie bits: give it a trace");
        let ends = m.fabric.grid().map(|grid| {
            let coords = |terminal: u32| grid.coords(m.router_of(terminal));
            (grid, coords(self.id), coords(message.dst))
        });
        let tied = ends.is_some_and(|(grid, src, dst)| m.routing.has_tie(grid, &src, &dst));
        let splits = m.routing.tie == Tie::Split && tied;
        let mut packets = VecDeque::new();
        let mut left = message.flits;
        while left > 0 {
            let flits = if self.packet_flits == 0 { left } else { left.min(self.packet_flits) };
            left -= flits;
            let halves = if splits { vec![(flits.div_ceil(2), 0), (flits / 2, u8::MAX)] } else { vec![(flits, 0)] };
            for (flits, tie_bits) in halves.into_iter().filter(|half| half.0 > 0) {
                let decided = ends.filter(|_| !m.hop_by_hop());
                let header = decided.map(|(grid, src, dst)| m.routing.header(grid, &src, &dst, tie_bits));
                let header = header.unwrap_or_default();
                packets.push_back(Planned {
                    dst: message.dst,
                    flits,
                    read: 0,
                    minus: header.minus,
                    wraps: header.wraps,
                    message: message.number,
                    created: None,
                    send: Some(message.send),
                    background: false,
                    last: false,
                    step: message.step,
                });
            }
        }
        packets.back_mut().expect("a message has a flit").last = true;
        packets
    }

    /// Injection port `k` sends its next flit, if it may: (VC, flit, whether it was the last of its message).
    fn send(&mut self, k: usize, now: u64) -> Option<(usize, Flit, bool)> {
        let packet = self.ports[k].current.as_ref()?.packet.clone();
        let vc = match self.ports[k].current.as_ref()?.vc {
            Some(vc) => vc,
            None => self.choose_vc(&packet, k)?,
        };
        let injection_port = &mut self.ports[k];
        if injection_port.places.credits(vc) == 0 {
            return None;
        }
        let current = injection_port.current.as_mut()?;
        let mut flit = Flit {
            packet: packet.clone(),
            head: current.sent == 0,
            tail: current.sent + 1 == packet.flits,
            trip: None,
        };
        if flit.head {
            flit.trip = self.machine.trip(&packet);
            current.vc = Some(vc);
            injection_port.last_vc = vc;
        }
        current.sent += 1;
        injection_port.places.send(vc);
        let last = current.last;
        let message_done = flit.tail && last;
        if flit.tail {
            let by_step = self.pauses.as_ref().filter(|_| !packet.background);
            let pause = by_step.map_or(0, |pauses| pauses.cycles(current.step, packet.flits, current.last));
            injection_port.pauses_until = now + 1 + u64::from(self.machine.nic.packet_gap_cycles) + pause;
            injection_port.current = None;
            self.end_turn(k, last, now);
        }
        Some((vc, flit, message_done))
    }

    /// The VC of the injection port for the head of `packet`.
    fn choose_vc(&self, packet: &Packet, k: usize) -> Option<usize> {
        let m = self.machine;
        let injection_port = &self.ports[k];
        let cut_through = m.router.switching == Switching::VirtualCutThrough;
        let needed = if cut_through { u64::from(packet.flits) } else { 1 };
        let credits = |v: usize| injection_port.places.credits(v);
        let may_start = |v: usize| !m.router.wait_for_tail_credit || injection_port.places.is_empty(v);
        let private = m.private_vc_at_source(packet);
        let filled = &m.nic.injection_vcs;
        let may_fill = |v: usize| filled.is_empty() || filled.contains(&(v as u32));
        let possible: Vec<usize> = (0..m.vcs)
            .filter(|&v| {
                private.is_none_or(|private| v == private) && may_fill(v) && credits(v) >= needed && may_start(v)
            })
            .collect();
        match m.nic.injection_vc {
            InjectionVc::Emptiest => {
                let most = possible.iter().map(|&v| credits(v)).max()?;
                possible.into_iter().find(|&v| credits(v) == most)
            }
            InjectionVc::RoundRobin => {
                (1..=m.vcs).map(|i| (injection_port.last_vc + i) % m.vcs).find(|v| possible.contains(v))
            }
        }
    }

    /// Whether some port has a packet to send.
    pub fn is_sending(&self) -> bool {
        self.ports.iter().any(|port| port.current.is_some())
    }

    /// Whether nothing is queued or being sent.
    pub fn idle(&self) -> bool {
        self.queues.iter().all(Queue::is_empty)
            && self.background.is_empty()
            && self.reader.as_ref().is_none_or(Reader::idle)
            && self.ring.is_empty()
            && self.prepared.is_empty()
            && self.ports.iter().all(|c| c.current.is_none() && c.rest.is_empty() && c.pair.is_none())
    }

    /// The packets that are injection ports' current ones and have not sent their heads or more.
    pub fn taken(&self) -> impl Iterator<Item = &Rc<Packet>> {
        self.ports.iter().filter_map(|c| c.current.as_ref()).map(|current| &current.packet)
    }

    /// A packet as a trace has it; packets that are sent back to back have the number of the first.
    fn as_given(&self, packet: &TracePacket, background: bool) -> Planned {
        Planned {
            dst: packet.dst,
            flits: packet.flits,
            read: 0,
            minus: packet.minus,
            wraps: packet.wraps,
            message: self.packets,
            created: Some(packet.created),
            send: None,
            background,
            last: true,
            step: 0,
        }
    }
}
