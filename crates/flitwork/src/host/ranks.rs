//! All ranks: their programs, and how these go on from cycle to cycle.

use super::counts::Counts;
use super::due::Due;
use super::in_flight::{InFlight, InFlightTable, SentInOrder};
use super::matching::{Mailbox, Posted};
use super::noise::OsNoise;
use super::outlet::{NetworkOutlet, Outlet, Outlets};
use super::pending::{PendingKind, PendingOperations};
use super::places::Places;
use super::queue::Unsent;
use super::record::{RankLog, pass};
use super::requests::{Completion, Envelope};
use super::source::{Next, Source};
use super::window::Window;
use crate::error::Result;
use crate::schedule::{OpId, OpKind, Placement, Schedule, SendQueue, Via, match_messages};

/// A message that a NIC takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Message {
    /// Number of the message among those in flight: the argument of [`Hosts::sent`] and [`Hosts::arrived`]. Used again.
    pub id: u32,
    /// Index of the message in the order of sending of its rank, for records.
    pub number: u32,
    /// Destination terminal.
    pub to: u32,
    /// Length \[flits].
    pub flits: u64,
    /// Step of the algorithm that it belongs to.
    pub step: u32,
    /// The ranks that it goes from and to.
    pub pair: (u32, u32),
    /// When its reading from memory began, where that takes time, in parts of a cycle.
    pub read_from: u128,
}

/// What blocks the program of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    /// Nothing, or the source.
    Free,
    /// A wait, or what begins when its dependencies are complete.
    Waits(OpId, Then),
    /// A computation.
    Computes(OpId),
    /// A probe, for a message that fits.
    Probes(Posted),
    /// A poll.
    Polls(OpId),
}

/// What blocks a program when all that an operation depends on is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// Nothing more.
    Nothing,
    /// A computation of so many cycles.
    Computes(u64),
    /// The time up to a cycle.
    Until(u64),
}

#[derive(Debug)]
pub(super) struct Rank {
    pub source: Source,
    pub window: Window,
    pub block: Block,
    pub mail: Mailbox,
    /// Operations that its program has passed and that could not start then; made for the first of them.
    pub pending: Option<Box<PendingOperations>>,
    /// Its messages in flight.
    pub(super) sent: SentInOrder,
    /// Messages that its program has passed, and those that were taken.
    sends: u32,
    taken: u32,
    /// The send that its program passed last.
    pub last_send: Option<OpId>,
    /// The cycle of the last wait until a time, until a send comes.
    due_cycle: Option<u64>,
    /// Sends that were late, where these are kept.
    kept: Vec<Unsent>,
    /// The cycle in which an operation was complete last.
    last_cycle: u64,
    /// What the rank did, where that is recorded.
    pub log: Option<Box<RankLog>>,
    /// Whether the rank has requested its next operations.
    pub requests: bool,
    /// Whether its program is at its end.
    pub ended: bool,
    /// Whether an operation has completed, or a message come that no receive takes, since its last request.
    pub changed: bool,
}

impl Rank {
    fn new(source: Source) -> Self {
        Rank {
            source,
            window: Window::default(),
            block: Block::Free,
            mail: Mailbox::default(),
            pending: None,
            sent: SentInOrder::default(),
            sends: 0,
            taken: 0,
            last_send: None,
            due_cycle: None,
            kept: Vec::new(),
            last_cycle: 0,
            log: None,
            requests: false,
            ended: false,
            changed: false,
        }
    }

    /// An operation is complete. Calls `released` for each operation that need not wait any more and is not pending;
    /// returns whether there was any, pending or not.
    pub(super) fn complete(&mut self, op: OpId, now: u64, mut released: impl FnMut(OpId)) -> bool {
        if let Some(log) = &mut self.log {
            log.complete(op, now);
        }
        self.last_cycle = self.last_cycle.max(now);
        self.changed = true;
        let mut any = matches!(self.block, Block::Polls(_));
        let Rank { window, pending, .. } = self;
        window.complete(op, |other| {
            any = true;
            if !pending.as_mut().is_some_and(|pending| pending.release(other)) {
                released(other);
            }
        });
        any
    }
}

/// The ranks of a schedule in execution.
#[derive(Debug)]
pub(crate) struct Hosts {
    pub(super) schedule: Schedule,
    pub(super) ranks: Vec<Rank>,
    pub(super) places: Places,
    pub(super) outlets: Outlets,
    pub(super) in_flight: InFlightTable,
    pub(super) due: Due,
    pub(super) counts: Counts,
    /// Whether programs are read only as far as the next message.
    pub(super) reads_late: bool,
    /// Ranks that have requested their next operations, in that order.
    requests: Vec<u32>,
    /// Who sent each packet recorded, where operations are recorded.
    pub(super) senders: Option<Vec<(u32, OpId)>>,
    /// A message was longer than its receive.
    pub(super) fault: Option<String>,
    /// The cycle from which on times of the schedule count.
    start_cycle: u64,
    /// How late a send may be, where sends that are later are kept.
    tolerance_cycles: Option<u64>,
    /// Detours of the ranks, where they have some.
    pub(super) noise: Option<Box<OsNoise>>,
}

impl Hosts {
    /// Prepares a schedule in flits and cycles.
    ///
    /// # Errors
    /// [`crate::Error::Schedule`] if a send has no matching receive or the other way round, as far as that does not
    /// depend on time.
    pub fn new(schedule: &Schedule, placement: &Placement, queue: SendQueue) -> Result<Hosts> {
        let names_all = if schedule.is_made() { schedule.names_all() } else { match_messages(schedule)?.is_some() };
        let mut hosts = Self::unchecked(schedule, placement, queue);
        hosts.due.in_order = !names_all || schedule.is_driven();
        Ok(hosts)
    }

    /// [`Hosts::new`] of a schedule that is known to match.
    pub(super) fn unchecked(schedule: &Schedule, placement: &Placement, queue: SendQueue) -> Hosts {
        let ranks = schedule.ranks();
        let source = |rank| if schedule.is_driven() { Source::driven() } else { Source::Feed(schedule.feed(rank)) };
        let unsent: Vec<u64> = (0..ranks).map(|rank| schedule.messages_of(rank)).collect();
        let total = (!schedule.is_driven()).then(|| unsent.iter().sum());
        let places = Places::new(placement);
        Hosts {
            schedule: schedule.clone(),
            ranks: (0..ranks).map(|rank| Rank::new(source(rank))).collect(),
            outlets: Outlets::new(NetworkOutlet::new(queue, unsent, places.terminals())),
            places,
            in_flight: InFlightTable::with_room(16 * ranks as usize),
            due: Due::new(ranks as usize, false),
            counts: Counts::new(ranks, total),
            reads_late: schedule.can_be_read_late() && queue == SendQueue::ProgramOrder,
            requests: Vec::new(),
            senders: None,
            fault: None,
            start_cycle: 0,
            tolerance_cycles: None,
            noise: None,
        }
    }

    /// Messages in all (of ranks that a program drives: so far), and those that have not arrived.
    pub fn messages(&self) -> (u64, u64) {
        self.counts.messages()
    }

    /// Times of the schedule count from this cycle on.
    pub fn count_times_from(&mut self, cycle: u64) {
        self.start_cycle = cycle;
    }

    /// From now on sends that are later than this are kept.
    pub fn keep_late_sends(&mut self, tolerance_cycles: u64) {
        self.tolerance_cycles = Some(tolerance_cycles);
    }

    /// From now on the cycle from which on each send may start is known exactly, for [`Hosts::next_ready`].
    pub fn note_ready_cycles(&mut self) {
        self.reads_late = false;
    }

    /// From now on a receive is complete in the cycle after the one in which its message arrived.
    pub fn complete_receives_late(&mut self) {
        self.due.late = true;
        self.reads_late = false;
    }

    /// Whether every message has arrived, been received, and every rank has finished its program.
    pub fn is_complete(&self) -> bool {
        self.counts.is_complete()
    }

    /// An operation of a rank is complete; whether another one waited for it and need not any more.
    pub(super) fn finish(&mut self, rank: u32, op: OpId, now: u64) -> bool {
        let Hosts { ranks, outlets, .. } = self;
        ranks[rank as usize].complete(op, now, |other| outlets.release(rank, other, now))
    }

    /// Start of step 2 of a cycle, behind all arrivals of the cycle: sends of the previous cycle and computations that
    /// end now are complete. Calls `wake` for each terminal that may be able to go on.
    pub fn begin_cycle(&mut self, now: u64, mut wake: impl FnMut(u32)) {
        // Those that were noted in the previous cycle: synchronous ones that are received now count from the next one
        // on.
        for at in (0..self.due.just_sent.len()).rev() {
            let (rank, op) = self.due.just_sent[at];
            if self.complete(Completion { rank, op, cycle: now, message: None }) {
                wake(self.terminal_of(rank));
            }
        }
        self.due.just_sent.clear();
        self.end_copies(now, &mut wake);
        if let Some(memory) = &mut self.outlets.network.memory {
            memory.advance(now, &mut wake);
        }
        if !self.due.landed.is_empty() {
            let mut landed = std::mem::take(&mut self.due.landed);
            landed.sort_unstable_by_key(|&id| (self.in_flight[id].from, self.in_flight[id].order));
            landed.drain(..).filter_map(|id| self.deliver(id, now)).for_each(&mut wake);
            self.due.landed = landed;
        }
        while let Some(receive) = self.due.take_late_receive(now) {
            if self.complete(receive) {
                wake(self.terminal_of(receive.rank));
            }
        }
        self.end_detours(now, &mut wake);
        while let Some((r, op)) = self.due.take_ended(now) {
            if let Some(end) = self.away(r, now) {
                self.due.ends(end, r, op);
                continue;
            }
            self.end_computation(r, op, now);
            wake(self.terminal_of(r));
        }
    }

    /// The time of a computation, a poll or a task is over.
    fn end_computation(&mut self, r: u32, op: OpId, now: u64) {
        let rank = &mut self.ranks[r as usize];
        if rank.pending.as_mut().is_some_and(|pending| pending.end_task(op)) {
            self.counts.unfinished -= 1;
        } else if [Block::Computes(op), Block::Polls(op)].contains(&rank.block) {
            rank.block = Block::Free;
        } else {
            return; // A poll that has ended before its time.
        }
        self.finish(r, op, now);
    }

    /// The earliest end of a running computation, of a copy, or of a detour that something waits for.
    pub fn next_compute_end(&self) -> Option<u64> {
        let detour = self.noise.as_ref().and_then(|noise| noise.next());
        let outlets = self.outlets.all().filter_map(|outlet| outlet.next_cycle());
        self.due.next_end().into_iter().chain(detour).chain(outlets).min()
    }

    /// Whether sends of this cycle take effect in the next one.
    pub fn has_pending_completions(&self) -> bool {
        self.due.has_pending()
    }

    /// Lets the programs of the ranks of a terminal go on as far as they can.
    #[inline]
    pub fn advance(&mut self, terminal: u32, now: u64) {
        let mut place = 0;
        while let Some(rank) = self.places.rank_at(terminal, place) {
            self.advance_rank(rank, now);
            place += 1;
        }
    }

    pub(super) fn advance_rank(&mut self, r: u32, now: u64) {
        if self.is_held_up(r, now) {
            return;
        }
        loop {
            if self.ranks[r as usize].pending.is_some() {
                self.start_pending(r, now);
            }
            let read_far_enough = self.is_read_far_enough(r);
            let rank = &mut self.ranks[r as usize];
            match rank.block {
                Block::Computes(_) => return,
                Block::Probes(ref probe) if rank.mail.find(probe, &self.in_flight).is_none() => return,
                Block::Polls(_) if !rank.changed => return,
                Block::Waits(op, _) if rank.window.waits(op) => return,
                Block::Waits(op, Then::Nothing | Then::Computes(0))
                | Block::Probes(Posted { op, .. })
                | Block::Polls(op) => {
                    rank.block = Block::Free;
                    self.finish(r, op, now);
                }
                Block::Waits(op, Then::Until(cycle)) if cycle <= now => {
                    rank.block = Block::Free;
                    self.finish(r, op, now);
                }
                Block::Waits(op, Then::Until(cycle)) => {
                    rank.block = Block::Computes(op);
                    self.due.ends(cycle, r, op);
                    return;
                }
                Block::Waits(op, Then::Computes(cycles)) => {
                    rank.block = Block::Computes(op);
                    if let Some(log) = &mut rank.log {
                        log.begin(op, now);
                    }
                    let end = self.work_end(r, now, cycles);
                    self.due.ends(end, r, op);
                    return;
                }
                Block::Free if rank.ended || read_far_enough => return,
                Block::Free => {}
            }
            let rank = &mut self.ranks[r as usize];
            let (op, kind, step, via) = match rank.source.next() {
                Next::Operation(op) => (pass(&mut rank.window, &mut rank.log, &op, now), op.kind, op.step, op.via),
                Next::Task(task) => {
                    self.start_task(r, task, now);
                    continue;
                }
                Next::Request => {
                    self.release_kept(r, now);
                    let rank = &mut self.ranks[r as usize];
                    rank.changed = false;
                    if !std::mem::replace(&mut rank.requests, true) {
                        self.requests.push(r);
                    }
                    return;
                }
                Next::End => {
                    self.release_kept(r, now);
                    self.ranks[r as usize].ended = true;
                    self.counts.running -= 1;
                    return;
                }
            };
            self.start(r, op, (kind, step), Envelope { via, ..Envelope::default() }, now);
        }
    }

    /// Whether the program of a rank is not read any further while a message of it waits to be taken.
    pub(super) fn is_read_far_enough(&self, rank: u32) -> bool {
        self.reads_late && !self.outlets.network.queue(rank).is_empty()
    }

    /// The program of a rank passes an operation, or is blocked by it.
    pub(super) fn start(&mut self, r: u32, op: OpId, (kind, step): (OpKind, u32), envelope: Envelope, now: u64) {
        let rank = &mut self.ranks[r as usize];
        let holds_up = || !matches!(kind, OpKind::Receive { .. } | OpKind::Task { .. } | OpKind::Started);
        if !rank.kept.is_empty() && holds_up() && rank.window.waits(op) {
            self.release_kept(r, now);
        }
        let rank = &mut self.ranks[r as usize];
        match kind {
            OpKind::Receive { from, size, tag } => {
                let receive = Posted { from, tag, context: envelope.context, op, flits: size };
                if rank.window.waits(op) {
                    self.add_pending(r, op, PendingKind::Receive(receive), true);
                } else {
                    self.post(r, receive, now);
                }
            }
            OpKind::Send { to, size, tag } => {
                let (waits, number) = (rank.window.waits(op), rank.sends);
                let message = Unsent { ready_since: now, op, to, tag, envelope, flits: size, number, step, waits };
                rank.last_send = Some(op);
                let due = rank.due_cycle.take().zip(self.tolerance_cycles);
                let late = due.is_some_and(|(due, tolerance)| now > due.saturating_add(tolerance));
                // One that waits keeps its place, as the queue is in program order for those, and so does one by the
                // bus, whose transfers are several messages.
                if late && envelope.via == Via::Network && !waits {
                    rank.kept.push(message);
                } else {
                    self.join_queue(r, message);
                }
            }
            OpKind::Compute { time } => rank.block = Block::Waits(op, Then::Computes(time)),
            OpKind::Wait => rank.block = Block::Waits(op, Then::Nothing),
            OpKind::WaitUntil { time } => {
                let due = self.start_cycle.saturating_add(time);
                rank.due_cycle = Some(due);
                rank.block = Block::Waits(op, Then::Until(due));
            }
            OpKind::Task { time, cpu } => {
                let waits = rank.window.waits(op);
                self.add_pending(r, op, PendingKind::Task(time, cpu), waits);
            }
            OpKind::Started => self.note_start(r, op, now),
        }
    }

    /// A message joins those of its rank.
    fn join_queue(&mut self, r: u32, message: Unsent) {
        self.ranks[r as usize].sends += 1;
        self.counts.passed += 1;
        let within_terminal = self.terminal_of(r) == self.terminal_of(message.to);
        self.outlets.join(r, message, within_terminal);
    }

    /// What was kept joins the messages of its rank, in program order.
    fn release_kept(&mut self, r: u32, now: u64) {
        for message in std::mem::take(&mut self.ranks[r as usize].kept) {
            let number = self.ranks[r as usize].sends;
            self.join_queue(r, Unsent { ready_since: now, number, ..message });
        }
    }

    /// A receive is posted, and takes the first message that has come for it.
    pub(super) fn post(&mut self, r: u32, receive: Posted, now: u64) {
        match self.ranks[r as usize].mail.post(receive, &self.in_flight) {
            Some(id) => {
                self.counts.unmatched -= 1;
                self.receive(id, receive, now);
            }
            None => self.counts.unmatched += 1,
        }
    }

    /// A message of a rank is taken by its outlet: it is in flight from now on. Its number there.
    pub(super) fn leaves(&mut self, r: u32, message: Unsent) -> u32 {
        let Unsent { op, to, tag, envelope, flits, .. } = message;
        let rank = &mut self.ranks[r as usize];
        let order = rank.taken;
        let message = InFlight { from: r, to, tag, envelope, op, order, flits, missing: flits, arrived: 0 };
        let id = self.in_flight.insert(message);
        rank.taken += 1;
        rank.sent.push(id, to);
        if rank.pending.as_mut().is_some_and(|pending| pending.starts(op)) {
            // It takes effect in the next cycle, as a send that is over does.
            self.due.just_sent.push((r, op + 1));
        }
        id
    }

    /// Terminal of a rank.
    pub fn terminal_of(&self, rank: u32) -> u32 {
        self.places.terminal_of(rank)
    }

    /// The cycle in which an operation of each rank was complete last.
    pub fn last_cycles(&self) -> impl Iterator<Item = u64> + '_ {
        self.ranks.iter().map(|rank| rank.last_cycle)
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// Appends the ranks that have requested their next operations since the last call, in the order in which they did.
    pub fn take_requests(&mut self, requests: &mut Vec<u32>) {
        requests.append(&mut self.requests);
    }

    /// Operations of all ranks in memory.
    pub fn live_operations(&self) -> usize {
        self.ranks.iter().map(|rank| rank.window.len()).sum()
    }
}

#[cfg(test)]
mod tests;
