//! The NICs of all terminals: which packet each injection port sends next.
//!
//! A NIC takes messages of the ranks at its terminal (`host/`), or packets that traffic creates, in the order of its
//! source queue, and cuts them into packets. Each of its injection ports works on one message at a time, first come,
//! first served. A port that is free asks for its next packet; to send its flits is the network's business, which knows
//! buffers and credits. After a packet a port may pause ([`Pacing`]); then it has no next packet until the pause ends.
//! A NIC that has nothing to send is not looked at until something wakes it: its calendar, a rank that can go on, or a
//! credit.

use super::calendar::Calendar;
use super::job::Job;
use super::memory_wait::MemoryWait;
use super::pacing::Pacing;
use super::queue::{SourceQueues, Untaken};
use super::service::Service;
use crate::host::Hosts;
use crate::plan::{Plan, Workload};
use crate::routing::AtSource;
use crate::spec::SourceQueue;
use crate::topology::Fabric;
use crate::traffic::Created;
use std::ops::Range;

/// A packet that an injection port is to send.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outgoing {
    /// Destination terminal.
    pub dst: u32,
    /// Number at its source.
    pub sequence: u32,
    /// Message it belongs to, as the hosts call it.
    pub message: u32,
    /// Index of the message in the order of sending of its rank; of traffic the sequence number of its first packet.
    pub number: u32,
    /// Length \[flits].
    pub flits: u16,
    /// Random bits for ties.
    pub tie_bits: u8,
    /// Cycle of creation.
    pub created: u64,
    /// Whether the packet belongs to the background.
    pub background: bool,
}

/// All NICs of a network.
#[derive(Debug)]
pub(crate) struct Nics {
    queues: SourceQueues,
    /// What is left of the message that each injection port sends, `[terminal][port]`.
    rest: Vec<Option<Job>>,
    /// Injection ports of a NIC.
    ports: usize,
    /// Terminals to look at in this cycle, one bit each.
    woken: Vec<u64>,
    /// Terminals of this part of the network, one bit each.
    terminals: Vec<u64>,
    calendar: Calendar,
    /// Packets so far, by terminal.
    sequence: Vec<u32>,
    /// Where packets with a tie are cut in two.
    ties: Option<Ties>,
    /// Where injection ports pause after packets.
    pacing: Option<Pacing>,
    /// Where they send messages in turn.
    service: Option<Service>,
    /// Where they wait for what is read from memory.
    memory: Option<MemoryWait>,
    /// Packets go as traffic creates them: there is none of the above, and no background.
    as_created: bool,
}

/// Tells which packets have a tie.
#[derive(Debug)]
struct Ties {
    routing: AtSource,
    fabric: Fabric,
}

impl Ties {
    /// Of a plan whose tie rule cuts packets in two.
    fn of(plan: &Plan) -> Option<Self> {
        let routing = plan.routing.at_source().filter(|routing| routing.splits())?;
        Some(Ties { routing: routing.clone(), fabric: plan.fabric.clone() })
    }

    /// Whether there is a tie on the route between two terminals.
    fn has_tie(&self, src: u32, dst: u32) -> bool {
        self.routing.has_tie(self.fabric.router_of(src), self.fabric.router_of(dst))
    }
}

impl Nics {
    /// The NICs of a plan, all awake.
    pub fn new(plan: &Plan) -> Self {
        let terminals = plan.params.terminals;
        let mut nics = Nics {
            queues: queues(plan),
            rest: vec![None; terminals * plan.params.nic_ports],
            ports: plan.params.nic_ports,
            woken: vec![0; terminals.div_ceil(64)],
            terminals: terminals_as_bits(terminals, |_| true),
            calendar: Calendar::new(terminals),
            sequence: vec![0; terminals],
            ties: Ties::of(plan),
            pacing: Pacing::of(plan),
            service: Service::of(plan),
            memory: MemoryWait::of(plan),
            as_created: false,
        };
        let Nics { queues, ties, pacing, service, memory, .. } = &nics;
        let is_delayed = ties.is_some() || pacing.is_some() || service.is_some() || memory.is_some();
        nics.as_created = queues.fed_by_traffic_alone() && !is_delayed;
        nics.wake_all();
        nics
    }

    /// Only these terminals send traffic: the others are in other parts of the network.
    pub fn keep(&mut self, keep: impl Fn(u32) -> bool) {
        self.terminals = terminals_as_bits(self.sequence.len(), &keep);
        self.wake_all();
        self.queues.keep(keep);
    }

    /// Packets of traffic that has an end; `None` of all else.
    pub fn finite_packets(&self) -> Option<u64> {
        self.queues.finite_packets()
    }

    /// Whether the workload is traffic without end.
    pub fn is_open_loop(&self) -> bool {
        !self.queues.fed_by_ranks() && self.finite_packets().is_none()
    }

    /// Whether injection ports have taken all that traffic with an end has.
    pub fn all_taken(&self) -> bool {
        self.queues.all_taken() && !self.holds_back(|job| !job.background)
    }

    /// Whether an injection port that pauses has the rest of such a message; without pacing it takes that in the next
    /// cycle.
    fn holds_back(&self, such: impl Fn(&Job) -> bool) -> bool {
        self.pacing.is_some() && self.rest.iter().flatten().any(such)
    }

    /// What was created in `window` and no injection port has taken: of an open-loop workload, and of the background.
    pub fn untaken(&self, window: Range<u64>) -> (Untaken, Untaken) {
        let (mut work, mut background) = self.queues.untaken(window.clone());
        // Second halves whose first half an injection port has taken.
        for job in self.rest.iter().flatten() {
            if job.created.is_some_and(|created| window.contains(&created)) {
                let untaken = if job.background { &mut background } else { &mut work };
                untaken.flits += job.flits_left + u64::from(job.second_half);
            }
        }
        (work, background)
    }

    /// Creation cycle of the next packet of a terminal that no injection port has taken, of an open-loop workload: it
    /// waits if that has passed.
    pub fn waiting_since(&self, terminal: usize) -> u64 {
        self.queues.waiting_since(terminal)
    }

    /// Calls back with each terminal that has packets created before `before` which no injection port has taken, of the
    /// workload or of the background, and the cycle in which the oldest of these was created.
    pub fn oldest_untaken(&self, before: u64, note: &mut dyn FnMut(usize, u64)) {
        self.queues.oldest_untaken(before, note);
    }

    /// Whether all traffic has moved on to packets created at or after `end`.
    pub fn all_taken_before(&self, end: u64) -> bool {
        self.queues.all_taken_before(end) && !self.holds_back(|job| job.created.is_none_or(|created| created < end))
    }

    /// Has a terminal looked at.
    #[inline]
    pub fn wake(&mut self, terminal: u32) {
        self.woken[terminal as usize / 64] |= 1 << (terminal % 64);
    }

    /// Has all terminals looked at.
    pub fn wake_all(&mut self) {
        self.woken.copy_from_slice(&self.terminals);
    }

    /// The start of cycle `now`: terminals whose turn it is by the calendar wake.
    pub fn begin_cycle(&mut self, now: u64) {
        let Nics { calendar, pacing, service, memory, ports, woken, .. } = self;
        let mut wake = |terminal: u32| woken[terminal as usize / 64] |= 1 << (terminal % 64);
        calendar.advance(now, &mut wake);
        if let Some(pacing) = pacing {
            pacing.advance(now, |port| wake(port / *ports as u32));
        }
        if let Some(service) = service {
            service.advance(now, &mut wake);
        }
        if let Some(memory) = memory {
            memory.advance(now, |port| wake(port / *ports as u32));
        }
    }

    /// Terminals to look at, 64 a word.
    pub fn woken(&self) -> &[u64] {
        &self.woken
    }

    /// Takes the terminals of a word of [`Nics::woken`].
    #[inline]
    pub fn take_woken(&mut self, word: usize) -> u64 {
        std::mem::take(&mut self.woken[word])
    }

    /// The next cycle after `now` in which a NIC may do something by itself; `None` if all wait for ranks or for the
    /// network.
    pub fn next_turn(&self, now: u64) -> Option<u64> {
        if self.woken.iter().any(|&w| w != 0) {
            return Some(now + 1);
        }
        let resumes = self.pacing.as_ref().and_then(|pacing| pacing.next_after(now));
        let read = self.memory.as_ref().and_then(|memory| memory.next_after(now));
        let prepared = self.service.as_ref().and_then(|service| service.next_prepared());
        self.calendar.next_after(now).into_iter().chain(resumes).chain(prepared).chain(read).min()
    }

    /// Injection port `port` of a terminal has sent the last flit of a packet.
    #[inline]
    pub fn packet_sent(&mut self, terminal: usize, port: usize, now: u64) {
        if let Some(pacing) = &mut self.pacing {
            let at = terminal * self.ports + port;
            pacing.pause(at, now, self.rest[at].is_none());
        }
        if let Some(service) = &mut self.service {
            let at = terminal * self.ports + port;
            if service.packet_sent(terminal, port, now, &mut self.rest[at]) {
                // Another port may have waited for it.
                self.wake(terminal as u32);
            }
        }
    }

    /// The number of a packet of a terminal that goes by another network: those of all networks are counted together.
    pub fn number_packet(&mut self, terminal: usize) -> u32 {
        let number = self.sequence[terminal];
        self.sequence[terminal] += 1;
        number
    }

    /// Whether an injection port pauses after a packet: the end of its pause wakes its terminal.
    #[inline]
    pub fn pauses(&self, terminal: usize, port: usize) -> bool {
        self.pacing.as_ref().is_some_and(|pacing| pacing.pauses(terminal * self.ports + port))
    }

    /// Whether some injection port has begun a message and not taken the last of its packets.
    pub fn is_in_a_message(&self) -> bool {
        self.rest.iter().any(Option::is_some) || self.service.as_ref().is_some_and(Service::is_busy)
    }

    /// The next packet for injection port `port` of a terminal, if there is one now; if not, the terminal's next turn
    /// is on the calendar where it is known.
    #[inline(always)]
    pub fn next_packet(
        &mut self,
        terminal: usize,
        port: usize,
        now: u64,
        hosts: Option<&mut Hosts>,
    ) -> Option<Outgoing> {
        if self.as_created {
            return self.next_created(terminal, now);
        }
        if self.pauses(terminal, port) {
            return None;
        }
        let at = terminal * self.ports + port;
        let mut job = match self.rest[at].take() {
            Some(job) => job,
            None if self.service.is_some() => self.serve(terminal, port, now, hosts?)?,
            None => self.take_job(terminal, now, hosts)?,
        };
        if self.memory.is_some() && self.waits_for_memory(terminal, at, &job, now) {
            self.rest[at] = Some(job);
            return None;
        }
        let (ties, dst) = (&self.ties, job.dst);
        let tie = || ties.as_ref().is_some_and(|ties| ties.has_tie(terminal as u32, dst));
        let (flits, tie_bits) = job.next_packet(ties.is_some(), tie);
        let sequence = self.sequence[terminal];
        self.sequence[terminal] += 1;
        if let Some(pacing) = &mut self.pacing {
            pacing.takes(at, &job, flits);
        }
        if job.has_more() {
            self.rest[at] = Some(job);
        }
        Some(Outgoing {
            dst: job.dst,
            sequence,
            message: job.message,
            number: job.number,
            flits,
            tie_bits,
            created: job.created.unwrap_or(now),
            background: job.background,
        })
    }

    /// Whether packets go as traffic creates them.
    pub fn sends_as_created(&self) -> bool {
        self.as_created
    }

    /// The next packet of a terminal as traffic created it, if that was by now.
    #[inline(always)]
    pub fn next_created(&mut self, terminal: usize, now: u64) -> Option<Outgoing> {
        let Some(Created { cycle, dst, flits, tie_bits }) = self.queues.take_created(terminal, now) else {
            self.schedule(terminal, now, self.queues.next_creation(terminal));
            return None;
        };
        let sequence = self.sequence[terminal];
        self.sequence[terminal] += 1;
        let (message, number, flits) = (sequence, sequence, flits as u16);
        Some(Outgoing { dst, sequence, message, number, flits, tie_bits, created: cycle, background: false })
    }

    /// Whether the next packet of a message has not been read, so that port `at` waits for it.
    #[cold]
    fn waits_for_memory(&mut self, terminal: usize, at: usize, job: &Job, now: u64) -> bool {
        let mut after = *job;
        let (ties, dst) = (&self.ties, job.dst);
        after.next_packet(ties.is_some(), || ties.as_ref().is_some_and(|ties| ties.has_tie(terminal as u32, dst)));
        self.memory.as_mut().is_some_and(|memory| memory.waits(at, &after, now))
    }

    /// The next message of a terminal's queue, if it may start now.
    #[inline]
    fn take_job(&mut self, terminal: usize, now: u64, hosts: Option<&mut Hosts>) -> Option<Job> {
        let job = self.queues.take(terminal, now, self.sequence[terminal], hosts);
        if job.is_none() {
            let next = self.queues.next_creation(terminal);
            self.schedule(terminal, now, next);
        }
        job
    }

    /// The message that a free port goes on with, where messages take turns.
    fn serve(&mut self, terminal: usize, port: usize, now: u64, hosts: &mut Hosts) -> Option<Job> {
        let Nics { queues, service, sequence, .. } = self;
        let number = sequence[terminal];
        let take = |hosts: &mut Hosts| queues.take(terminal, now, number, Some(hosts));
        service.as_mut()?.next((terminal, port), now, number, hosts, take)
    }

    /// Whether an injection port has sent the last packet of its message.
    #[inline]
    pub fn message_done(&self, terminal: usize, port: usize) -> bool {
        self.rest[terminal * self.ports + port].is_none()
    }

    /// Whether to look at a terminal with an idle injection port in the next cycle; otherwise its next turn is on the
    /// calendar, or comes with what it waits for.
    #[inline]
    pub fn is_due(&mut self, terminal: usize, now: u64) -> bool {
        if self.queues.fed_by_ranks() {
            return true;
        }
        let next = self.queues.next_creation(terminal);
        if next > now + 1 {
            self.schedule(terminal, now, next);
        }
        next <= now + 1
    }

    /// Puts the next turn of a terminal on the calendar, if there is one.
    #[inline]
    fn schedule(&mut self, terminal: usize, now: u64, next: u64) {
        if next < u64::MAX {
            self.calendar.schedule(terminal as u32, now, next);
        }
    }
}

/// The terminals of which `such` holds, 64 a word.
fn terminals_as_bits(terminals: usize, such: impl Fn(u32) -> bool) -> Vec<u64> {
    let mut bits = vec![0; terminals.div_ceil(64)];
    (0..terminals).filter(|&t| such(t as u32)).for_each(|t| bits[t / 64] |= 1 << (t % 64));
    bits
}

/// The source queues of a plan.
fn queues(plan: &Plan) -> SourceQueues {
    let terminals = plan.params.terminals as u32;
    let queues = match &plan.workload {
        Workload::Schedule { packet_flits, .. } => {
            let directions = plan.timetable().filter(|timetable| timetable.has_ties()).map(|t| t.directions());
            SourceQueues::of_messages(*packet_flits, terminals, plan.spec.run.seed, directions)
        }
        Workload::OpenLoop(traffic) | Workload::Finite(traffic) => SourceQueues::of_traffic(traffic, terminals),
    };
    let alternate = plan.spec.network.nic.source_queue == SourceQueue::Alternate;
    match &plan.background {
        Some(traffic) => queues.with_background(traffic, terminals, alternate),
        None => queues,
    }
}
