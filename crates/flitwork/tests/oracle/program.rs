//! The programs of the ranks: what `schedule/mod.rs` says operations mean, step 1 (receives) and step 2 (programs).

use super::driven::Decide;
use super::noise::Away;
use flitwork::host::TaskKind;
use flitwork::schedule::{ANY, OpKind, Placement, Schedule, Via};

/// A send: its rank, and the number of the operation there.
pub type Send = (u32, u32);

/// A message that joined a send queue.
#[derive(Debug, Clone)]
pub struct Message {
    pub send: Send,
    /// Destination terminal.
    pub dst: u32,
    /// Destination rank.
    pub to: u32,
    pub flits: u32,
    /// Its number in the order of sending of its rank.
    pub number: u32,
    /// Step of the algorithm.
    pub step: u32,
    /// By which network it goes.
    pub via: Via,
}

struct Op {
    kind: OpKind,
    via: Via,
    /// Of a wait of a rank that asks: what else it is.
    special: Option<TaskKind>,
    step: u32,
    after: Vec<u32>,
    /// From which cycle on it counts as complete.
    complete_from: Option<u64>,
    /// Of a receive or a task: whether it was posted, or runs or has run.
    started: bool,
    /// Of a task: the cycle in which it came.
    came: Option<u64>,
}

impl Op {
    /// What a rank that asks was told.
    fn of_task((kind, after): (TaskKind, Vec<u32>)) -> Self {
        match kind {
            TaskKind::Operation(kind) => Op::new(kind, Via::Network, 0, after),
            special => Op { special: Some(special), ..Op::new(OpKind::Wait, Via::Network, 0, after) },
        }
    }

    fn new(kind: OpKind, via: Via, step: u32, after: Vec<u32>) -> Self {
        Op { kind, via, special: None, step, after, complete_from: None, started: false, came: None }
    }
}

/// One rank's place in its program.
struct Rank {
    ops: Vec<Op>,
    next: u32,
    /// The compute operation that blocks the program, and when it is complete.
    computing: Option<(u32, u64)>,
    /// The tasks that run, and when each is complete.
    tasks: Vec<(u32, u64)>,
    sends: u32,
    /// The time of the last wait until a time, if no send came behind it; and sends that were late.
    due: Option<u64>,
    kept: Vec<u32>,
    /// How often it has asked what to do next, and whether it was told nothing.
    turns: u32,
    ended: bool,
    /// When it asked last: operations that were complete, and messages that had come and found no receive.
    known: (usize, usize),
    /// Messages that came and found no receive.
    surprises: usize,
    /// When the poll that blocks the program is over at the latest.
    polls_until: Option<u64>,
    /// Receives that have been posted and have no message, in the order in which they were.
    posted: Vec<u32>,
    /// Messages that have come and have no receive, in that order, with the cycle.
    unexpected: Vec<(Send, u64)>,
}

/// How a message goes: at once, or by rendezvous.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    AtOnce,
    Request,
    Answer,
    Data,
    Over,
}

/// A message that has left its queue.
struct Taken {
    message: Message,
    send: Send,
    to: u32,
    tag: u32,
    missing: u32,
    /// Whether it, or its request, has been handed to its rank.
    delivered: bool,
    phase: Phase,
    /// The receive that its request took.
    receive: u32,
    /// The cycle in which its answer, or its data, joined the queue of the terminal, while it is there.
    waits_since: Option<u64>,
}

/// Which messages ask before they go, and the length of what is asked and answered.
pub struct Rendezvous {
    pub limit: Option<u64>,
    pub control: u32,
}

pub struct Programs<'s> {
    placement: &'s Placement,
    ranks: Vec<Rank>,
    /// In the order in which they were taken.
    taken: Vec<Taken>,
    /// Cycles from a message that comes to its receive that is complete.
    receive_cycles: u64,
    /// Whether messages within a terminal are copied.
    copies: bool,
    away: Away,
    rendezvous: Rendezvous,
    decide: Option<Decide>,
    /// The cycle from which on times count, and how late a send may be that is not kept for later.
    start: u64,
    tolerance: Option<u64>,
}

impl<'s> Programs<'s> {
    pub fn new(
        schedule: &Schedule,
        placement: &'s Placement,
        (late_receives, copies): (bool, bool),
        (away, start, tolerance): (Away, u64, Option<u64>),
        rendezvous: Rendezvous,
        decide: Option<Decide>,
    ) -> Self {
        let op = |op: flitwork::schedule::Operation| Op::new(op.kind, op.via, op.step, op.after.iter().collect());
        let rank = |r| Rank {
            ops: if decide.is_some() { vec![] } else { schedule.operations(r).map(op).collect() },
            turns: 0,
            ended: decide.is_none(),
            known: (0, 0),
            surprises: 0,
            polls_until: None,
            next: 0,
            computing: None,
            tasks: Vec::new(),
            sends: 0,
            due: None,
            kept: Vec::new(),
            posted: Vec::new(),
            unexpected: Vec::new(),
        };
        let ranks = (0..schedule.ranks()).map(rank).collect();
        let receive_cycles = u64::from(late_receives);
        let taken = Vec::new();
        Programs { placement, ranks, taken, receive_cycles, copies, away, rendezvous, decide, start, tolerance }
    }

    /// The terminal of a rank.
    pub fn terminal_of(&self, rank: u32) -> u32 {
        self.placement.terminal_of()[rank as usize]
    }

    /// The ranks of a terminal, in ascending order.
    pub fn ranks_at(&self, terminal: u32) -> Vec<u32> {
        let here = self.placement.terminal_of().iter().enumerate().filter(|(_, at)| **at == terminal);
        here.map(|(rank, _)| rank as u32).collect()
    }

    /// Whether all that an operation depends on is complete, and its rank in no detour.
    pub fn may_start(&self, (rank, op): Send, now: u64) -> bool {
        let ops = &self.ranks[rank as usize].ops;
        !self.away.is(rank, now)
            && ops[op as usize].after.iter().all(|&dep| ops[dep as usize].complete_from.is_some_and(|from| from <= now))
    }

    fn kind(&self, (rank, op): Send) -> OpKind {
        self.ranks[rank as usize].ops[op as usize].kind
    }

    /// An injection port took a message in cycle `now`.
    pub fn taken(&mut self, message: &Message, now: u64) {
        let send = message.send;
        self.tell_start(send, now + 1);
        let OpKind::Send { to, size, tag } = self.kind(send) else { panic!("a send") };
        let needs_rendezvous = self.needs_rendezvous(send, to, size);
        self.taken.push(Taken {
            message: message.clone(),
            send,
            to,
            tag,
            missing: message.flits,
            delivered: false,
            phase: if needs_rendezvous { Phase::Request } else { Phase::AtOnce },
            receive: 0,
            waits_since: None,
        });
    }

    /// Whether a message goes by rendezvous; one that is copied, or goes over a bus, does not.
    fn needs_rendezvous(&self, (from, op): Send, to: u32, size: u64) -> bool {
        let at = self.placement.terminal_of();
        let copied = self.copies && at[from as usize] == at[to as usize];
        let on_bus = self.ranks[from as usize].ops[op as usize].via != Via::Network;
        !copied && !on_bus && self.rendezvous.limit.is_some_and(|limit| size > limit)
    }

    /// Flits that a send lets go first: those of its message, or of a request.
    fn first_flits(&self, send: Send, to: u32, size: u64) -> u32 {
        if self.needs_rendezvous(send, to, size) { self.rendezvous.control } else { size as u32 }
    }

    /// The last flit of a message was copied by cycle `now`.
    pub fn copied(&mut self, send: Send, now: u64) {
        let message = self.taken.iter_mut().find(|message| message.send == send).expect("the message was begun");
        message.missing = 0;
        self.ranks[send.0 as usize].ops[send.1 as usize].complete_from = Some(now);
    }

    /// All flits of a message have come by the bus.
    pub fn carried(&mut self, send: Send) {
        let message = self.taken.iter_mut().find(|message| message.send == send).expect("the message was taken");
        message.missing = 0;
    }

    /// A send is complete from a cycle on.
    pub fn complete(&mut self, (rank, op): Send, from: u64) {
        self.ranks[rank as usize].ops[op as usize].complete_from = Some(from);
    }

    /// Of the answers and data that wait at a terminal the one that is next: the cycle in which it joined, which it is,
    /// and the ranks that it goes from and to.
    pub fn next_part(&self, terminal: u32) -> Option<(u64, usize, (u32, u32))> {
        let ends = |taken: &Taken| match taken.phase {
            Phase::Answer => (taken.to, taken.send.0),
            _ => (taken.send.0, taken.to),
        };
        let here = |taken: &Taken| self.placement.terminal_of()[ends(taken).0 as usize] == terminal;
        let waiting = self.taken.iter().enumerate().filter(|(_, taken)| taken.waits_since.is_some() && here(taken));
        let (i, taken) = waiting.min_by_key(|(i, taken)| (taken.waits_since, taken.send.0, *i))?;
        Some((taken.waits_since?, i, ends(taken)))
    }

    /// Takes it.
    pub fn take_part(&mut self, part: usize, (_, to): (u32, u32)) -> Message {
        let dst = self.placement.terminal_of()[to as usize];
        let taken = &mut self.taken[part];
        taken.waits_since = None;
        Message { dst, flits: taken.missing, ..taken.message.clone() }
    }

    /// A receive has its message, or its request, in cycle `now`.
    fn matched(&mut self, i: usize, receive: u32, complete_from: u64, now: u64) {
        let Taken { to, phase, .. } = self.taken[i];
        if phase == Phase::Request {
            let control = self.rendezvous.control;
            let taken = &mut self.taken[i];
            (taken.phase, taken.receive, taken.missing, taken.waits_since) =
                (Phase::Answer, receive, control, Some(now));
        } else {
            self.ranks[to as usize].ops[receive as usize].complete_from = Some(complete_from);
        }
    }

    /// Answers and data that have come.
    fn proceed(&mut self, now: u64) {
        for i in 0..self.taken.len() {
            let Taken { send, to, missing, phase, receive, .. } = self.taken[i];
            match phase {
                Phase::Answer if missing == 0 => {
                    let OpKind::Send { size, .. } = self.kind(send) else { panic!("a send") };
                    let taken = &mut self.taken[i];
                    (taken.phase, taken.missing, taken.waits_since) = (Phase::Data, size as u32, Some(now));
                }
                Phase::Data if missing == 0 => {
                    self.taken[i].phase = Phase::Over;
                    self.ranks[to as usize].ops[receive as usize].complete_from = Some(now + self.receive_cycles);
                }
                _ => {}
            }
        }
    }

    /// A flit of a message arrived.
    pub fn flit_arrived(&mut self, send: Send) {
        let message = self.taken.iter_mut().find(|message| message.send == send).expect("the message was sent");
        message.missing -= 1;
    }

    /// All flits of the cycle have arrived: messages that are complete, and have not overtaken another one of the same
    /// sender, receiver and tag, take their receives; in ascending order of their senders, those of one sender in the
    /// order in which they left.
    pub fn deliver(&mut self, now: u64) {
        self.proceed(now);
        let mut order: Vec<usize> = (0..self.taken.len()).collect();
        order.sort_by_key(|&i| self.taken[i].send.0);
        for i in order {
            let Taken { send, to, tag, missing, delivered, .. } = self.taken[i];
            let same = |other: &Taken| (other.send.0, other.to, other.tag) == (send.0, to, tag);
            let overtook = self.taken[..i].iter().any(|other| same(other) && !other.delivered);
            if missing > 0 || delivered || overtook {
                continue;
            }
            self.taken[i].delivered = true;
            let fits = |op: &u32| self.fits(send, to, *op);
            match self.ranks[to as usize].posted.iter().position(fits) {
                Some(at) => {
                    let receive = self.ranks[to as usize].posted.remove(at);
                    self.matched(i, receive, now + self.receive_cycles, now);
                }
                None => {
                    let rank = &mut self.ranks[to as usize];
                    rank.unexpected.push((send, now));
                    rank.surprises += 1;
                }
            }
        }
    }

    /// Whether the receive `op` of rank `to` can take a message.
    fn fits(&self, send: Send, to: u32, op: u32) -> bool {
        let OpKind::Receive { from, tag, .. } = self.kind((to, op)) else { panic!("a receive") };
        self.is_from(send, from) && self.has_tag(send, tag)
    }

    /// The last flit of a message left its terminal in cycle `now`.
    pub fn sent(&mut self, (rank, op): Send, now: u64) {
        let message = self.taken.iter().find(|message| message.send == (rank, op)).expect("the message was taken");
        if [Phase::Request, Phase::Answer].contains(&message.phase) {
            return;
        }
        self.ranks[rank as usize].ops[op as usize].complete_from = Some(now + 1);
    }

    /// Advances the program of `rank` as far as it can; the messages that join the rank's send queue, in order.
    pub fn advance(&mut self, rank: u32, now: u64) -> Vec<Message> {
        let mut messages = Vec::new();
        if self.away.is(rank, now) {
            return messages;
        }
        loop {
            let r = &mut self.ranks[rank as usize];
            r.tasks.retain(|(_, end)| *end > now);
            if self.start_one(rank, now) {
                continue;
            }
            let r = &mut self.ranks[rank as usize];
            if let Some((op, end)) = r.computing {
                if now < end {
                    break;
                }
                r.ops[op as usize].complete_from = Some(end);
                r.computing = None;
            }
            let op = r.next;
            let at_end = op as usize == r.ops.len();
            let holds_up = |kind| !matches!(kind, OpKind::Receive { .. } | OpKind::Task { .. } | OpKind::Started);
            if at_end || holds_up(self.kind((rank, op))) && !self.may_start((rank, op), now) {
                for op in std::mem::take(&mut self.ranks[rank as usize].kept) {
                    messages.push(self.message(rank, op));
                }
            }
            if at_end {
                if self.request_tasks(rank, now) {
                    continue;
                }
                break;
            }
            match self.kind((rank, op)) {
                // They start above.
                OpKind::Receive { .. } | OpKind::Task { .. } => (),
                OpKind::Started => {
                    let ops = &mut self.ranks[rank as usize].ops;
                    if ops[op as usize - 1].started {
                        ops[op as usize].complete_from = Some(now);
                    }
                }
                OpKind::Send { .. } => {
                    let due = self.ranks[rank as usize].due.take();
                    let late = self.tolerance.zip(due).is_some_and(|(tolerance, due)| now - due > tolerance);
                    let by_network = self.ranks[rank as usize].ops[op as usize].via == Via::Network;
                    if late && by_network && self.may_start((rank, op), now) {
                        self.ranks[rank as usize].kept.push(op);
                    } else {
                        messages.push(self.message(rank, op));
                    }
                }
                OpKind::Wait if !self.may_pass(rank, op, now) => break,
                OpKind::Compute { .. } if !self.may_start((rank, op), now) => break,
                OpKind::Compute { time } => {
                    self.ranks[rank as usize].computing = Some((op, self.away.work(rank, now, time)));
                }
                OpKind::WaitUntil { time } if !self.may_start((rank, op), now) || now < self.start + time => break,
                OpKind::WaitUntil { time } => {
                    self.ranks[rank as usize].due = Some(self.start + time);
                    self.ranks[rank as usize].ops[op as usize].complete_from = Some(now);
                }
                OpKind::Wait => self.ranks[rank as usize].ops[op as usize].complete_from = Some(now),
            }
            self.ranks[rank as usize].next += 1;
        }
        messages
    }

    /// The next message of a rank.
    fn message(&mut self, rank: u32, op: u32) -> Message {
        let send = (rank, op);
        let OpKind::Send { to, size, .. } = self.kind(send) else { panic!("a send") };
        let Op { step, via, .. } = self.ranks[rank as usize].ops[op as usize];
        let number = self.ranks[rank as usize].sends;
        self.ranks[rank as usize].sends += 1;
        let dst = self.placement.terminal_of()[to as usize];
        Message { send, dst, to, flits: self.first_flits(send, to, size), number, step, via }
    }

    /// Whether a wait is over.
    fn may_pass(&mut self, rank: u32, op: u32, now: u64) -> bool {
        if let Some(TaskKind::Poll { cycles }) = self.ranks[rank as usize].ops[op as usize].special {
            return self.may_end_poll(rank, cycles, now);
        }
        let r = &self.ranks[rank as usize];
        let op_at = &r.ops[op as usize];
        let complete = |dep: &u32| r.ops[*dep as usize].complete_from.is_some_and(|from| from <= now);
        match op_at.special {
            None => self.may_start((rank, op), now),
            Some(TaskKind::WaitAny) => op_at.after.iter().any(complete),
            Some(TaskKind::Probe { from, tag }) => {
                r.unexpected.iter().any(|(send, _)| self.is_from(*send, from) && self.has_tag(*send, tag))
            }
            Some(other) => panic!("the oracle does not know {other:?}"),
        }
    }

    /// Whether a poll that the program comes to, or has come to, is over.
    fn may_end_poll(&mut self, rank: u32, cycles: u64, now: u64) -> bool {
        let progressed = self.seen(rank, now) != self.ranks[rank as usize].known;
        let r = &mut self.ranks[rank as usize];
        let until = *r.polls_until.get_or_insert(now + cycles);
        let over = progressed || now >= until;
        if over {
            r.polls_until = None;
        }
        over
    }

    /// How many operations of a rank are complete, and how many messages have come to it that found no receive.
    fn seen(&self, rank: u32, now: u64) -> (usize, usize) {
        let r = &self.ranks[rank as usize];
        let complete = r.ops.iter().filter(|op| op.complete_from.is_some_and(|from| from <= now)).count();
        (complete, r.surprises)
    }

    fn is_from(&self, send: Send, from: u32) -> bool {
        from == ANY || from == send.0
    }

    fn has_tag(&self, send: Send, tag: u32) -> bool {
        let OpKind::Send { tag: sent, .. } = self.kind(send) else { panic!("a send") };
        tag == ANY || tag == sent
    }

    /// A rank at the end of its program asks for more, if it is one that does; whether it was told anything.
    fn request_tasks(&mut self, rank: u32, now: u64) -> bool {
        let known = self.seen(rank, now);
        let r = &mut self.ranks[rank as usize];
        let Some(decide) = self.decide.as_ref().filter(|_| !r.ended) else { return false };
        r.known = known;
        let tasks = decide(rank, r.turns, r.next, now);
        r.turns += 1;
        r.ended = tasks.is_empty();
        r.ops.extend(tasks.into_iter().map(Op::of_task));
        !r.ended
    }

    /// Of what the program has passed one thing starts that can: the first receive or task that waits for nothing more,
    /// a task by joining the line of its CPU; else the first task in the line of the lowest CPU that is free. Whether
    /// there was one.
    fn start_one(&mut self, rank: u32, now: u64) -> bool {
        let passed = 0..self.ranks[rank as usize].next;
        let ops = |op: u32| &self.ranks[rank as usize].ops[op as usize];
        let unstarted = |op: &u32| !ops(*op).started && ops(*op).came.is_none();
        let holds = |op: &u32| matches!(ops(*op).kind, OpKind::Receive { .. } | OpKind::Task { .. });
        let first = passed.clone().find(|op| holds(op) && unstarted(op) && self.may_start((rank, *op), now));
        if let Some(op) = first {
            match self.kind((rank, op)) {
                OpKind::Task { .. } => self.ranks[rank as usize].ops[op as usize].came = Some(now),
                _ => {
                    self.ranks[rank as usize].ops[op as usize].started = true;
                    self.tell_start((rank, op), now);
                    self.post(rank, op, now);
                }
            }
            return true;
        }
        let cpu_of = |op: u32| match ops(op).kind {
            OpKind::Task { cpu, .. } => cpu,
            _ => panic!("a task"),
        };
        let busy = |cpu: u8| self.ranks[rank as usize].tasks.iter().any(|(op, _)| cpu_of(*op) == cpu);
        let in_line = |op: &u32| ops(*op).came.is_some() && !ops(*op).started && !busy(cpu_of(*op));
        let Some(op) = passed.filter(in_line).min_by_key(|&op| (cpu_of(op), ops(op).came, op)) else { return false };
        let OpKind::Task { time, .. } = self.kind((rank, op)) else { panic!("a task") };
        self.ranks[rank as usize].ops[op as usize].started = true;
        self.tell_start((rank, op), now);
        let end = self.away.work(rank, now, time);
        let r = &mut self.ranks[rank as usize];
        r.ops[op as usize].complete_from = Some(end);
        r.tasks.push((op, end));
        r.tasks.retain(|(_, end)| *end > now);
        true
    }

    /// An operation starts: the one behind it is complete from cycle `from` on, if it waits for that and the program
    /// has passed it.
    fn tell_start(&mut self, (rank, op): Send, from: u64) {
        let r = &mut self.ranks[rank as usize];
        let passed = op + 1 < r.next;
        if let Some(behind) = r.ops.get_mut(op as usize + 1) {
            if passed && behind.kind == OpKind::Started {
                behind.complete_from = Some(from);
            }
        }
    }

    /// A receive is posted: it takes the first message that came and that it can take.
    fn post(&mut self, rank: u32, op: u32, now: u64) {
        let fits = |(send, _): &(Send, u64)| self.fits(*send, rank, op);
        match self.ranks[rank as usize].unexpected.iter().position(fits) {
            Some(at) => {
                let (send, came) = self.ranks[rank as usize].unexpected.remove(at);
                let i = self.taken.iter().position(|taken| taken.send == send).expect("it was taken");
                self.matched(i, op, now.max(came + self.receive_cycles), now);
            }
            None => self.ranks[rank as usize].posted.push(op),
        }
    }

    /// Whether every program is at its end.
    pub fn finished(&self) -> bool {
        let all_started = |r: &Rank| {
            let starts = |op: &&Op| matches!(op.kind, OpKind::Receive { .. } | OpKind::Task { .. });
            r.ops.iter().filter(starts).all(|op| op.started)
        };
        let ended = |r: &Rank| r.ended && r.next as usize == r.ops.len() && r.computing.is_none() && r.tasks.is_empty();
        let arrived = |taken: &Taken| [Phase::AtOnce, Phase::Over].contains(&taken.phase);
        self.ranks.iter().all(|r| ended(r) && all_started(r)) && self.taken.iter().all(arrived)
    }
}
