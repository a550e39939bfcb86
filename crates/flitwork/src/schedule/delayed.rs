//! What a machine's software adds to a schedule: late starts, and overheads of sends and receives.
//!
//! They are computations between the operations, so nothing that executes a schedule knows of them:
//! * a rank that starts late computes first;
//! * a send is preceded by a computation of the send overhead (one that goes with the send before it on a bus, or over
//!   the barrier tree, is not);
//! * an operation that waits for `k` receives which no operation before it has waited for is followed by a computation
//!   of `k` receive overheads (receives that belong to one call on a bus have one), and of the time in which what they
//!   received is copied (a computation becomes so much longer). Receives that no operation waits for are waited for at
//!   the end of the program.

use super::{
    After, Feed, Maker, OpId, OpKind, Operation, Operations, Promises, Rate, Schedule, SizeUnit, Via, match_messages,
};
use crate::error::Error;
use std::collections::VecDeque;

/// Delays of ranks, in the unit of the schedule's times.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Delays {
    /// When each rank starts; empty: all at once.
    pub starts: Vec<u64>,
    /// Before each send.
    pub send: u64,
    /// After each receive that is waited for.
    pub receive: u64,
    /// How fast messages that were received are copied then, if they are.
    pub copy: Option<Rate>,
    /// Longest message that is copied.
    pub copy_limit: u64,
}

impl Delays {
    /// Whether they change nothing.
    pub fn is_none(&self) -> bool {
        self.starts.iter().all(|&start| start == 0) && self.send == 0 && self.receives_are_free()
    }

    fn receives_are_free(&self) -> bool {
        self.receive == 0 && self.copy.is_none()
    }

    /// How long messages of so many flits are copied that were received together.
    pub fn copied(&self, flits: impl IntoIterator<Item = u64>) -> u64 {
        let copied = flits.into_iter().filter(|&flits| flits <= self.copy_limit);
        self.copy.map_or(0, |rate| rate.cycles(copied.fold(0, u64::saturating_add)))
    }
}

impl Schedule {
    /// The schedule with delays; it must be in flits, and not ask.
    ///
    /// # Errors
    /// [`Error::Schedule`] if sends and receives of a stored schedule do not match.
    pub fn delayed(self, delays: Delays) -> Result<Schedule, Error> {
        if delays.is_none() {
            return Ok(self);
        }
        debug_assert!(self.sizes() == SizeUnit::Flits && !self.is_driven());
        let names_all = if self.is_made() { self.names_all() } else { match_messages(&self)?.is_some() };
        let (name, ranks) = (self.name().to_string(), self.ranks());
        Ok(Schedule::made(name, ranks, Delayed { inner: self, delays, names_all }))
    }
}

#[derive(Debug)]
struct Delayed {
    inner: Schedule,
    delays: Delays,
    names_all: bool,
}

impl Maker for Delayed {
    fn operations(&self, rank: u32) -> Operations<'static> {
        let start = self.delays.starts.get(rank as usize).copied().unwrap_or(0);
        let program = Program {
            feed: self.inner.feed(rank),
            schedule: self.inner.clone(),
            rank,
            first: u32::from(start > 0),
            read: 0,
            numbers: Numbers { all: Vec::new(), next: u32::from(start > 0) },
            charges: Charges::new(&self.delays),
            pending: VecDeque::new(),
            ended: false,
        };
        Box::new((start > 0).then(|| computation(start)).into_iter().chain(program))
    }

    fn messages(&self, rank: u32) -> u64 {
        self.inner.messages_of(rank)
    }

    fn promises(&self) -> Promises {
        Promises { never_computes: false, names_all: self.names_all, alike: self.inner.is_alike() }
    }
}

/// The time that operations of a rank cost, one after the other.
#[derive(Debug)]
struct Charges {
    send: u64,
    receive: u64,
    copy: Option<(Rate, u64)>,
    /// Of each operation so far, whether it is a receive that nothing has waited for.
    open: Vec<bool>,
    /// Receives for which no software is called.
    joined: Vec<bool>,
    /// The flits of each that are copied, where some are.
    copied: Vec<u64>,
}

/// What an operation costs before and after it; a computation is longer by the latter.
struct Extra {
    before: u64,
    after: u64,
    longer: u64,
}

impl Charges {
    fn new(delays: &Delays) -> Self {
        let copy = delays.copy.map(|rate| (rate, delays.copy_limit));
        Charges {
            send: delays.send,
            receive: delays.receive,
            copy,
            open: Vec::new(),
            joined: Vec::new(),
            copied: Vec::new(),
        }
    }

    /// The same of a rank that has done nothing yet.
    fn afresh(&self) -> Self {
        Charges { open: Vec::new(), joined: Vec::new(), copied: Vec::new(), ..*self }
    }

    fn of(&mut self, op: &Operation) -> Extra {
        self.open.push(matches!(op.kind, OpKind::Receive { .. }));
        self.joined.push(op.via.is_free());
        if let Some((_, limit)) = self.copy {
            self.copied.push(match op.kind {
                OpKind::Receive { size, .. } if size <= limit => size,
                _ => 0,
            });
        }
        let waited: Vec<usize> = match op.kind {
            OpKind::Wait | OpKind::WaitUntil { .. } | OpKind::Compute { .. } => {
                op.after.iter().map(|dep| dep as usize).filter(|&dep| std::mem::take(&mut self.open[dep])).collect()
            }
            OpKind::Send { .. } | OpKind::Receive { .. } | OpKind::Task { .. } | OpKind::Started => Vec::new(),
        };
        let time = self.time_of(&waited);
        match op.kind {
            OpKind::Send { .. } if op.via.is_free() => Extra { before: 0, after: 0, longer: 0 },
            OpKind::Send { .. } => Extra { before: self.send, after: 0, longer: 0 },
            OpKind::Compute { .. } => Extra { before: 0, after: 0, longer: time },
            OpKind::Wait
            | OpKind::WaitUntil { .. }
            | OpKind::Receive { .. }
            | OpKind::Task { .. }
            | OpKind::Started => Extra { before: 0, after: time, longer: 0 },
        }
    }

    /// What receives cost that an operation has waited for.
    fn time_of(&self, receives: &[usize]) -> u64 {
        let copied = self.copy.map_or(0, |(rate, _)| rate.cycles(receives.iter().map(|&op| self.copied[op]).sum()));
        let calls = receives.iter().filter(|&&op| !self.joined[op]).count();
        (calls as u64).saturating_mul(self.receive).saturating_add(copied)
    }

    /// The receives that nothing has waited for.
    fn left(&self) -> Vec<usize> {
        if self.receive == 0 && self.copy.is_none() {
            Vec::new()
        } else {
            (0..self.open.len()).filter(|&op| self.open[op]).collect()
        }
    }
}

/// The numbers that the operations of the schedule have now, as far as they are known.
#[derive(Debug)]
struct Numbers {
    all: Vec<OpId>,
    /// The number behind them.
    next: OpId,
}

impl Numbers {
    /// Of all operations of a rank, the first of which has this number.
    #[cold]
    fn of_all(first: OpId, mut feed: Feed, mut charges: Charges) -> Self {
        let mut numbers = Numbers { all: Vec::new(), next: first };
        while let Some(op) = feed.next() {
            numbers.count(&charges.of(&op));
        }
        numbers
    }

    /// The next operation, with its computations.
    fn count(&mut self, extra: &Extra) {
        self.all.push(self.next + u32::from(extra.before > 0));
        self.next += 1 + u32::from(extra.before > 0) + u32::from(extra.after > 0);
    }
}

/// The operations of a rank with what they cost between them.
struct Program {
    feed: Feed,
    /// The schedule that it reads, of which rank, and the number of its first operation: it is read ahead where an
    /// operation waits for a later one.
    schedule: Schedule,
    rank: u32,
    first: OpId,
    /// Operations of the schedule that have been read.
    read: usize,
    numbers: Numbers,
    charges: Charges,
    /// What comes behind the operation that was given last.
    pending: VecDeque<Operation<'static>>,
    ended: bool,
}

fn computation(time: u64) -> Operation<'static> {
    Operation { kind: OpKind::Compute { time }, via: Via::Network, step: 0, after: After::NOTHING }
}

impl Program {
    /// The next operation of the schedule and what it costs: the first of them, the others are pending.
    fn read(&mut self) -> Option<Operation<'static>> {
        let Program { feed, schedule, rank, first, read, numbers, charges, .. } = self;
        let op = feed.next()?;
        let extra = charges.of(&op);
        *read += 1;
        if numbers.all.len() < *read {
            numbers.count(&extra);
        }
        if op.after.iter().any(|dep| dep as usize >= numbers.all.len()) {
            *numbers = Numbers::of_all(*first, schedule.feed(*rank), charges.afresh());
        }
        let kind = match op.kind {
            OpKind::Compute { time } => OpKind::Compute { time: time.saturating_add(extra.longer) },
            kind => kind,
        };
        let deps: Vec<OpId> = op.after.iter().map(|dep| numbers.all[dep as usize]).collect();
        let operation = Operation { kind, via: op.via, step: op.step, after: After::List(deps.into()) };
        if extra.after > 0 {
            self.pending.push_back(computation(extra.after));
        }
        if extra.before == 0 {
            return Some(operation);
        }
        self.pending.push_front(operation);
        Some(computation(extra.before))
    }

    /// What is left at the end: a wait for receives that nothing has waited for, and their overheads.
    fn end(&mut self) -> Option<Operation<'static>> {
        if std::mem::replace(&mut self.ended, true) {
            return None;
        }
        let left = self.charges.left();
        let deps: Vec<OpId> = left.iter().map(|&op| self.numbers.all[op]).collect();
        let time = self.charges.time_of(&left);
        (!left.is_empty()).then(|| Operation { after: After::List(deps.into()), ..computation(time) })
    }
}

impl Iterator for Program {
    type Item = Operation<'static>;

    fn next(&mut self) -> Option<Operation<'static>> {
        self.pending.pop_front().or_else(|| self.read()).or_else(|| self.end())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ANY, ScheduleBuilder};
    use super::*;

    fn shown(schedule: &Schedule, rank: u32) -> Vec<(OpKind, Vec<u32>)> {
        schedule.operations(rank).map(|op| (op.kind, op.after.iter().collect())).collect()
    }

    #[test]
    fn what_software_costs_is_computed_between_the_operations() {
        let (send, receive) = (OpKind::Send { to: 0, size: 1, tag: 0 }, OpKind::Receive { from: ANY, size: 1, tag: 0 });
        let mut b = ScheduleBuilder::new("s");
        let first = b.op(receive, 0, &[]);
        let second = b.op(receive, 0, &[]);
        let sent = b.op(send, 0, &[first]);
        b.op(OpKind::Wait, 0, &[first, sent]);
        b.op(OpKind::Wait, 0, &[first]);
        b.op(OpKind::Compute { time: 10 }, 0, &[first, second]);
        b.op(send, 0, &[]);
        b.op(receive, 0, &[]);
        b.end_rank();
        let schedule = b.build();
        let compute = |time| OpKind::Compute { time };
        let found =
            shown(&schedule.delayed(Delays { starts: vec![7], send: 5, receive: 3, ..Delays::default() }).unwrap(), 0);
        let expected = [
            (compute(7), vec![]),
            (receive, vec![]),
            (receive, vec![]),
            (compute(5), vec![]),
            (send, vec![1]),
            (OpKind::Wait, vec![1, 4]),
            (compute(3), vec![]),
            (OpKind::Wait, vec![1]),
            (compute(13), vec![1, 2]),
            (compute(5), vec![]),
            (send, vec![]),
            (receive, vec![]),
            (compute(3), vec![11]),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_waits_for_a_later_operation_has_its_new_number() {
        let receive = OpKind::Receive { from: ANY, size: 1, tag: 0 };
        let mut b = ScheduleBuilder::new("s");
        b.op(receive, 0, &[3]);
        b.op(OpKind::Wait, 0, &[0]);
        b.op(OpKind::Send { to: 0, size: 1, tag: 0 }, 0, &[0]);
        b.op(receive, 0, &[]);
        b.end_rank();
        let delays = Delays { starts: vec![7], send: 5, receive: 3, ..Delays::default() };
        let found = shown(&b.build().delayed(delays).unwrap(), 0);
        let after: Vec<_> = found.iter().map(|(_, after)| after.as_slice()).collect();
        assert_eq!(after, [&[][..], &[6], &[1], &[], &[], &[1], &[], &[6]]);
    }

    #[test]
    fn what_is_received_is_copied_up_to_a_limit() {
        let receive = |size| OpKind::Receive { from: ANY, size, tag: 0 };
        let mut b = ScheduleBuilder::new("s");
        let receives = [10, 20, 30].map(|size| b.op(receive(size), 0, &[]));
        b.op(OpKind::Wait, 0, &receives[..1]);
        b.op(OpKind::Compute { time: 4 }, 0, &receives[1..]);
        b.op(receive(7), 0, &[]);
        b.end_rank();
        let delays = Delays { receive: 2, copy: Rate::of(3.0), copy_limit: 20, ..Delays::default() };
        let computed = |(kind, after): (OpKind, Vec<u32>)| match kind {
            OpKind::Compute { time } => Some((time, after)),
            _ => None,
        };
        let found: Vec<_> = shown(&b.build().delayed(delays).unwrap(), 0).into_iter().filter_map(computed).collect();
        assert_eq!(found, [(2 + 4, vec![]), (4 + 2 * 2 + 7, vec![1, 2]), (2 + 3, vec![6])]);
    }

    #[test]
    fn without_delays_it_is_the_same_schedule() {
        let mut b = ScheduleBuilder::new("s");
        b.op(OpKind::Wait, 4, &[]);
        b.end_rank();
        let schedule = b.build().delayed(Delays { starts: vec![0], ..Delays::default() }).unwrap();
        assert!(!schedule.is_made());
    }
}
