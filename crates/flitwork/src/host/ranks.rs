//! All ranks: their programs, send queues and messages.

use super::asked::{Completion, Envelope, Task};
use super::bus::{BusTurns, OnBus};
use super::copies::{Copies, Copying};
use super::held::{Held, Holds};
use super::matching::{Mailbox, Posted};
use super::noise::OsNoise;
use super::queue::{Queue, Unsent};
use super::reading::Reading;
use super::record::{RankLog, pass};
use super::rendezvous::Rendezvous;
use super::source::{Next, Source};
use super::under_way::{Letter, Sent, UnderWay};
use super::window::Window;
use crate::error::Result;
use crate::schedule::{OpId, OpKind, Placement, Schedule, SendQueue, match_messages};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A message that a NIC takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Message {
    /// Its number among those under way: what [`Hosts::sent`] and [`Hosts::arrived`] are told. Used again.
    pub id: u32,
    /// Its index in the order of sending of its rank, for records.
    pub number: u32,
    /// Destination terminal.
    pub to: u32,
    /// Length [flits].
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
    /// A wait, or a computation that has not started and takes so long [cycles].
    Waits(OpId, u64),
    /// A computation.
    Computes(OpId),
    /// A probe, for a message that fits.
    Probes(Posted),
    /// A poll.
    Polls(OpId),
}

#[derive(Debug)]
pub(super) struct Rank {
    pub source: Source,
    pub window: Window,
    pub block: Block,
    pub queue: Queue,
    /// Its messages to ranks of the same terminal, where these do not enter the network.
    pub copies: Option<Box<Copying>>,
    /// Its messages over the bus, where there is one.
    pub on_bus: Option<Box<OnBus>>,
    /// Its news over the barrier tree, where there is one.
    pub on_tree: Option<Box<Queue>>,
    pub mail: Mailbox,
    /// Receives and tasks that its program has passed and that could not start then; made for the first of them.
    pub held: Option<Box<Held>>,
    /// Messages taken whose receives have not taken them, in the order in which they left.
    pub(super) under_way: Sent,
    /// Messages that its program has passed, and those that were taken.
    sends: u32,
    taken: u32,
    /// The send that its program passed last.
    pub last_send: Option<OpId>,
    /// The cycle in which an operation was complete last.
    last_cycle: u64,
    /// Messages that have not been taken, as far as they are known.
    pub(super) unsent: u64,
    /// What it did, where that is recorded.
    pub log: Option<Box<RankLog>>,
    /// Whether it has asked what to do next.
    pub asks: bool,
    /// Whether its program is at its end.
    pub ended: bool,
    /// Whether an operation has completed, or a message come that no receive takes, since it asked last.
    pub news: bool,
}

impl Rank {
    /// An operation is complete; whether another one waited for it and need not any more.
    pub(super) fn complete(&mut self, op: OpId, now: u64) -> bool {
        if let Some(log) = &mut self.log {
            log.complete(op, now);
        }
        self.last_cycle = self.last_cycle.max(now);
        self.news = true;
        let mut released = matches!(self.block, Block::Polls(_));
        let Rank { window, queue, copies, on_bus, on_tree, held, .. } = self;
        window.complete(op, |other| {
            released = true;
            if !held.as_mut().is_some_and(|held| held.release(other)) {
                queue.release(other, now);
                if let Some(copies) = copies {
                    copies.queue.release(other, now);
                }
                if let Some(on_bus) = on_bus {
                    on_bus.queue.release(other, now);
                }
                if let Some(on_tree) = on_tree {
                    on_tree.release(other, now);
                }
            }
        });
        released
    }
}

/// The ranks of a schedule in execution.
#[derive(Debug)]
pub(crate) struct Hosts {
    pub(super) schedule: Schedule,
    pub(super) ranks: Vec<Rank>,
    pub(super) terminal_of: Vec<u32>,
    /// Ranks by terminal; those of terminal `t` are `ranks_from[t]..ranks_from[t + 1]`.
    ranks_by_terminal: Vec<u32>,
    ranks_from: Vec<u32>,
    /// Which of the ranks of each terminal has its turn.
    turn: Vec<u32>,
    pub(super) letters: UnderWay,
    /// Sends whose last flit left, synchronous ones that were received, in the previous cycle: (rank, operation).
    pub(super) just_sent: Vec<(u32, OpId)>,
    /// Running computations, polls and tasks: (end, rank, operation).
    pub(super) computing: BinaryHeap<Reverse<(u64, u32, OpId)>>,
    /// Whether programs are read only as far as the next message.
    pub(super) reads_late: bool,
    /// Ranks whose programs are not at their end.
    running: u32,
    /// Messages in all, where that is known.
    total: Option<u64>,
    /// Messages that programs have passed, and those that have arrived.
    passed: u64,
    pub(super) arrived: u64,
    /// Receives and messages that wait for each other.
    pub(super) unmatched: u64,
    /// Receives that could not be posted yet, and tasks that are not complete.
    pub(super) unfinished: u64,
    asking: Vec<u32>,
    /// Whether receives may leave their sender open: then messages of one cycle are received in the order of the model.
    pub(super) in_order: bool,
    /// Messages that have arrived in this cycle, where that is so.
    pub(super) landed: Vec<u32>,
    /// Whether a receive counts from the cycle after its message arrived; those of this cycle and the one before, with the cycle.
    pub(super) late: bool,
    pub(super) late_receives: VecDeque<(u64, Completion)>,
    /// What has completed since somebody looked last, where somebody does.
    pub(super) completions: Option<Vec<Completion>>,
    /// Who sent each packet recorded, where operations are recorded.
    pub(super) senders: Option<Vec<(u32, OpId)>>,
    /// A message was longer than its receive.
    pub(super) fault: Option<String>,
    /// Detours of the ranks, where they have some.
    pub(super) noise: Option<Box<OsNoise>>,
    /// Messages that ask before they go, where some do.
    pub(super) rendezvous: Option<Box<Rendezvous>>,
    /// Copies within terminals, where there are some.
    pub(super) copies: Option<Box<Copies>>,
    /// Messages that are read from memory, where that takes time.
    pub(super) reading: Option<Box<Reading>>,
    /// Whose turn it is on the bus, where there is one.
    pub(super) bus: Option<Box<BusTurns>>,
    /// Whether there is a barrier tree, and ranks that may have news for it.
    pub(super) has_tree: bool,
    pub(super) with_news: Vec<u32>,
}

impl Hosts {
    /// Prepares a schedule in flits and cycles.
    ///
    /// # Errors
    /// [`crate::Error::Schedule`] if a send has no matching receive or the other way round, as far as that does not depend on time.
    pub fn new(schedule: &Schedule, placement: &Placement, queue: SendQueue) -> Result<Hosts> {
        let names_all = if schedule.is_made() { schedule.names_all() } else { match_messages(schedule)?.is_some() };
        Ok(Hosts { in_order: !names_all || schedule.is_asked(), ..Self::unchecked(schedule, placement, queue) })
    }

    /// [`Hosts::new`] of a schedule that is known to match.
    pub(super) fn unchecked(schedule: &Schedule, placement: &Placement, queue: SendQueue) -> Hosts {
        let ranks = schedule.ranks();
        let rank = |r| Rank {
            source: if schedule.is_asked() { Source::asked() } else { Source::Feed(schedule.feed(r)) },
            window: Window::default(),
            block: Block::Free,
            queue: Queue::new(queue),
            copies: None,
            on_bus: None,
            on_tree: None,
            mail: Mailbox::default(),
            held: None,
            under_way: Sent::default(),
            sends: 0,
            taken: 0,
            last_send: None,
            last_cycle: 0,
            unsent: schedule.messages_of(r),
            log: None,
            asks: false,
            ended: false,
            news: false,
        };
        let ranks_of = placement.ranks_of();
        let mut ranks_from = vec![0];
        ranks_from.extend(ranks_of.iter().scan(0, |sum, list| {
            *sum += list.len() as u32;
            Some(*sum)
        }));
        let ranks: Vec<Rank> = (0..ranks).map(rank).collect();
        Hosts {
            schedule: schedule.clone(),
            terminal_of: placement.terminal_of().to_vec(),
            ranks_by_terminal: ranks_of.concat(),
            ranks_from,
            turn: vec![0; placement.terminals() as usize],
            letters: UnderWay::with_room(16 * ranks.len()),
            just_sent: Vec::with_capacity(ranks.len()),
            computing: BinaryHeap::new(),
            reads_late: schedule.can_be_read_late() && queue == SendQueue::ProgramOrder,
            running: ranks.len() as u32,
            total: (!schedule.is_asked()).then(|| ranks.iter().map(|rank| rank.unsent).sum()),
            passed: 0,
            arrived: 0,
            unmatched: 0,
            unfinished: 0,
            asking: Vec::new(),
            in_order: false,
            landed: Vec::new(),
            late: false,
            late_receives: VecDeque::new(),
            completions: None,
            senders: None,
            fault: None,
            noise: None,
            rendezvous: None,
            copies: None,
            reading: None,
            bus: None,
            has_tree: false,
            with_news: Vec::new(),
            ranks,
        }
    }

    /// Messages in all (of ranks that ask: so far), and those that have not arrived.
    pub fn messages(&self) -> (u64, u64) {
        let total = self.total.unwrap_or(self.passed);
        (total, total - self.arrived)
    }

    /// From now on the cycle from which on each send may start is known exactly, for [`Hosts::next_ready`].
    pub fn note_ready_cycles(&mut self) {
        self.reads_late = false;
    }

    /// From now on a receive is complete in the cycle after the one in which its message arrived.
    pub fn complete_receives_late(&mut self) {
        self.late = true;
        self.reads_late = false;
    }

    /// Terminals with or without ranks.
    pub(super) fn terminals(&self) -> usize {
        self.turn.len()
    }

    pub(super) fn ranks_at(&self, terminal: u32) -> &[u32] {
        let t = terminal as usize;
        &self.ranks_by_terminal[self.ranks_from[t] as usize..self.ranks_from[t + 1] as usize]
    }

    /// Of the ranks of a terminal the first from the one whose turn it is that has a message which may start, with its place.
    pub(super) fn next_rank(&self, terminal: u32) -> Option<(u32, u32)> {
        let ranks = self.ranks_at(terminal);
        let (earlier, later) = ranks.split_at(self.turn[terminal as usize] as usize);
        later.iter().chain(earlier).enumerate().find_map(|(i, &r)| {
            let rank = &self.ranks[r as usize];
            rank.queue.next().map(|_| ((earlier.len() + i) as u32, r))
        })
    }

    /// Whether every message has arrived, been received, and every rank has finished its program.
    pub fn is_complete(&self) -> bool {
        self.running == 0 && self.passed == self.arrived && self.unmatched == 0 && self.unfinished == 0
    }

    /// Start of step 2 of a cycle, behind all arrivals of the cycle: sends of the previous cycle and computations that end now are
    /// complete. Calls `wake` for each terminal that may be able to go on.
    pub fn begin_cycle(&mut self, now: u64, mut wake: impl FnMut(u32)) {
        // Those that were noted in the previous cycle: synchronous ones that are received now count from the next one on.
        for at in (0..self.just_sent.len()).rev() {
            let (rank, op) = self.just_sent[at];
            if self.complete(Completion { rank, op, cycle: now, message: None }) {
                wake(self.terminal_of[rank as usize]);
            }
        }
        self.just_sent.clear();
        self.end_copies(now, &mut wake);
        if let Some(reading) = &mut self.reading {
            reading.advance(now, &mut wake);
        }
        if !self.landed.is_empty() {
            let mut landed = std::mem::take(&mut self.landed);
            landed.sort_unstable_by_key(|&id| (self.letters[id].from, self.letters[id].order));
            landed.drain(..).filter_map(|id| self.deliver(id, now)).for_each(&mut wake);
            self.landed = landed;
        }
        while let Some(&(arrived, receive)) = self.late_receives.front() {
            if arrived == now {
                break;
            }
            self.late_receives.pop_front();
            if self.complete(Completion { cycle: now, ..receive }) {
                wake(self.terminal_of[receive.rank as usize]);
            }
        }
        self.end_detours(now, &mut wake);
        while let Some(&Reverse((end, r, op))) = self.computing.peek() {
            if end > now {
                break;
            }
            self.computing.pop();
            if let Some(end) = self.away(r, now) {
                self.computing.push(Reverse((end, r, op)));
                continue;
            }
            let rank = &mut self.ranks[r as usize];
            // A poll may have ended before its time.
            if rank.held.as_mut().is_some_and(|held| held.end_task(op)) {
                self.unfinished -= 1;
                rank.complete(op, now);
            } else if [Block::Computes(op), Block::Polls(op)].contains(&rank.block) {
                rank.block = Block::Free;
                rank.complete(op, now);
            }
            wake(self.terminal_of[r as usize]);
        }
    }

    /// The earliest end of a running computation, of a copy, or of a detour that something waits for.
    pub fn next_compute_end(&self) -> Option<u64> {
        let detour = self.noise.as_ref().and_then(|noise| noise.next());
        let copies = self.copies.as_ref().and_then(|copies| copies.next());
        let read = self.reading.as_ref().and_then(|reading| reading.next());
        self.computing.peek().map(|Reverse((end, ..))| *end).into_iter().chain(detour).chain(copies).chain(read).min()
    }

    /// Whether sends of this cycle take effect in the next one.
    pub fn has_pending_completions(&self) -> bool {
        !self.just_sent.is_empty() || !self.landed.is_empty() || !self.late_receives.is_empty()
    }

    /// Lets the programs of the ranks of a terminal go on as far as they can.
    #[inline]
    pub fn advance(&mut self, terminal: u32, now: u64) {
        let t = terminal as usize;
        for at in self.ranks_from[t]..self.ranks_from[t + 1] {
            self.advance_rank(self.ranks_by_terminal[at as usize], now);
        }
    }

    pub(super) fn advance_rank(&mut self, r: u32, now: u64) {
        if self.is_held_up(r, now) {
            return;
        }
        loop {
            if self.ranks[r as usize].held.is_some() {
                self.start_held(r, now);
            }
            let rank = &mut self.ranks[r as usize];
            match rank.block {
                Block::Computes(_) => return,
                Block::Probes(ref probe) if rank.mail.find(probe, &self.letters).is_none() => return,
                Block::Polls(_) if !rank.news => return,
                Block::Waits(op, _) if rank.window.waits(op) => return,
                Block::Waits(op, 0) | Block::Probes(Posted { op, .. }) | Block::Polls(op) => {
                    rank.block = Block::Free;
                    rank.complete(op, now);
                }
                Block::Waits(op, cycles) => {
                    rank.block = Block::Computes(op);
                    if let Some(log) = &mut rank.log {
                        log.begin(op, now);
                    }
                    let end = self.work_end(r, now, cycles);
                    self.computing.push(Reverse((end, r, op)));
                    return;
                }
                Block::Free if rank.ended || self.reads_late && !rank.queue.is_empty() => return,
                Block::Free => {}
            }
            let (op, kind, step, via) = match rank.source.next() {
                Next::Operation(op) => (pass(&mut rank.window, &mut rank.log, &op, now), op.kind, op.step, op.via),
                Next::Task(task) => {
                    self.start_task(r, task, now);
                    continue;
                }
                Next::Ask => {
                    rank.news = false;
                    if !std::mem::replace(&mut rank.asks, true) {
                        self.asking.push(r);
                    }
                    return;
                }
                Next::End => {
                    rank.ended = true;
                    self.running -= 1;
                    return;
                }
            };
            self.start(r, op, (kind, step), Envelope { via, ..Envelope::default() }, now);
        }
    }

    /// The program of a rank passes an operation, or is blocked by it.
    pub(super) fn start(&mut self, r: u32, op: OpId, (kind, step): (OpKind, u32), envelope: Envelope, now: u64) {
        let rank = &mut self.ranks[r as usize];
        match kind {
            OpKind::Receive { from, size, tag } => {
                let receive = Posted { from, tag, context: envelope.context, op, flits: size };
                if rank.window.waits(op) {
                    self.hold(r, op, Holds::Receive(receive), true);
                } else {
                    self.post(r, receive, now);
                }
            }
            OpKind::Send { to, size, tag } => {
                let waits = rank.window.waits(op);
                let number = rank.sends;
                let message = Unsent { ready_since: now, op, to, tag, envelope, flits: size, number, step, waits };
                let here = self.terminal_of[r as usize] == self.terminal_of[to as usize];
                match (&mut rank.on_tree, &mut rank.on_bus, rank.copies.as_mut().filter(|_| here)) {
                    (Some(on_tree), _, _) if envelope.via.is_tree() => on_tree.join(message),
                    (_, Some(on_bus), _) if envelope.via.is_bus() => on_bus.join(message),
                    (_, _, Some(copies)) => copies.queue.join(message),
                    (_, _, None) => rank.queue.join(message),
                }
                rank.sends += 1;
                rank.last_send = Some(op);
                self.passed += 1;
            }
            OpKind::Compute { time } => rank.block = Block::Waits(op, time),
            OpKind::Wait => rank.block = Block::Waits(op, 0),
            OpKind::Task { time, cpu } => {
                let waits = rank.window.waits(op);
                self.hold(r, op, Holds::Task(time, cpu), waits);
            }
            OpKind::Started => self.note_start(r, op, now),
        }
    }

    /// A receive is posted, and takes the first message that has come for it.
    pub(super) fn post(&mut self, r: u32, receive: Posted, now: u64) {
        match self.ranks[r as usize].mail.post(receive, &self.letters) {
            Some(id) => {
                self.unmatched -= 1;
                self.receive(id, receive, now);
            }
            None => self.unmatched += 1,
        }
    }

    /// Takes the next message of a terminal, if one may start.
    #[inline]
    pub fn take(&mut self, terminal: u32) -> Option<Message> {
        match &mut self.reading {
            Some(reading) => reading.take(terminal),
            None => self.take_from_ranks(terminal),
        }
    }

    /// The same where it comes from: what ranks send, or answers and data.
    #[inline]
    pub(super) fn take_from_ranks(&mut self, terminal: u32) -> Option<Message> {
        if self.rendezvous.is_some() {
            if let Some(part) = self.take_part(terminal) {
                return Some(part);
            }
        }
        let (place, r) = self.next_rank(terminal)?;
        self.turn[terminal as usize] = (place + 1) % self.ranks_at(terminal).len() as u32;
        let rank = &mut self.ranks[r as usize];
        let message = rank.queue.take()?;
        rank.unsent = rank.unsent.saturating_sub(1);
        let Unsent { to, number, step, .. } = message;
        let id = self.leaves(r, message);
        if self.reads_late {
            // Nothing that can be seen depends on the cycle.
            self.advance_rank(r, 0);
        }
        let flits = self.begin(id, number, step);
        Some(Message { id, number, to: self.terminal_of[to as usize], flits, step, pair: (r, to), read_from: 0 })
    }

    /// A message of a rank is taken: by an injection port, or to be copied. Its number among those under way.
    pub(super) fn leaves(&mut self, r: u32, message: Unsent) -> u32 {
        let Unsent { op, to, tag, envelope, flits, .. } = message;
        let rank = &mut self.ranks[r as usize];
        let order = rank.taken;
        let letter = Letter { from: r, to, tag, envelope, op, order, flits, missing: flits, arrived: 0 };
        let id = self.letters.insert(letter);
        rank.taken += 1;
        rank.under_way.push(id, to);
        if rank.held.as_mut().is_some_and(|held| held.starts(op)) {
            // As a send that is over, it is told in the next cycle.
            self.just_sent.push((r, op + 1));
        }
        id
    }

    /// Whether a terminal still has messages to send.
    pub fn has_unsent(&self, terminal: u32) -> bool {
        self.ranks_at(terminal).iter().any(|&r| {
            let rank = &self.ranks[r as usize];
            rank.unsent > 0 || !rank.queue.is_empty()
        }) || self.next_part(terminal).is_some()
    }

    /// Terminal of a rank.
    pub fn terminal_of(&self, rank: u32) -> u32 {
        self.terminal_of[rank as usize]
    }

    /// The cycle in which an operation of each rank was complete last.
    pub fn last_cycles(&self) -> impl Iterator<Item = u64> + '_ {
        self.ranks.iter().map(|rank| rank.last_cycle)
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// Whether a rank asks what to do next.
    pub fn asks(&self, rank: u32) -> bool {
        self.ranks[rank as usize].asks
    }

    /// Appends the ranks that have begun to ask what to do next since the last call, in the order in which they did.
    pub fn take_asking(&mut self, asking: &mut Vec<u32>) {
        asking.append(&mut self.asking);
    }

    /// What a rank that asks does next. Wakes nobody: call [`Hosts::advance`] for its terminal.
    pub fn give(&mut self, rank: u32, tasks: impl IntoIterator<Item: Into<Task>>) {
        let rank = &mut self.ranks[rank as usize];
        if let Source::Asked { given, .. } = &mut rank.source {
            given.extend(tasks.into_iter().map(Into::into));
            rank.asks = false;
        }
    }

    /// A rank that asks does nothing more.
    pub fn end(&mut self, rank: u32) {
        let rank = &mut self.ranks[rank as usize];
        if let Source::Asked { ended, .. } = &mut rank.source {
            *ended = true;
            rank.asks = false;
        }
    }

    /// Operations of all ranks in memory.
    pub fn live_operations(&self) -> usize {
        self.ranks.iter().map(|rank| rank.window.len()).sum()
    }
}

#[cfg(test)]
mod tests;
