//! Ranks that a program drives: they request their next operations while they run. What they can be supplied with, and
//! what the program can see.
//!
//! Beyond the operations of a schedule there are those whose outcome decides what comes next: wait for any of several
//! operations, probe for a message, poll. Messages belong to *contexts*, as those of MPI to communicators: a receive
//! takes messages of its context only, also where it leaves the tag open.

use super::matching::Posted;
use super::ranks::{Block, Hosts, Then};
use super::source::Source;
use crate::schedule::{OpId, OpKind, Operation, Via};

/// An operation that a program supplies to a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// What the task does.
    pub kind: TaskKind,
    /// Envelope of a send or a receive: context, mode and network of its message.
    pub envelope: Envelope,
    /// Operations of the rank that must be complete before (of [`TaskKind::WaitAny`]: of which one must).
    pub after: Vec<OpId>,
}

/// Context, mode and network of a message. Messages of schedules differ in the network alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Envelope {
    /// The group of messages that it belongs to.
    pub context: u32,
    /// Whether its send is complete when it has been received, and not when its last flit has left.
    pub synchronous: bool,
    /// By which network it goes.
    pub via: Via,
}

/// What a [`Task`] does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskKind {
    /// An operation as in a schedule, in flits and cycles.
    Operation(OpKind),
    /// Block the program until one of the operations `after` is complete.
    WaitAny,
    /// Block the program until a message waits that a receive would take.
    Probe {
        /// Sending rank, or [`crate::schedule::ANY`].
        from: u32,
        /// Tag, or [`crate::schedule::ANY`].
        tag: u32,
    },
    /// Block the program until an operation of the rank completes or a message comes that no receive takes, at most so
    /// long ([`u64::MAX`]: for ever).
    Poll {
        /// Longest duration \[cycles].
        cycles: u64,
    },
}

impl From<Operation<'_>> for Task {
    fn from(operation: Operation<'_>) -> Self {
        let kind = TaskKind::Operation(operation.kind);
        let envelope = Envelope { via: operation.via, ..Envelope::default() };
        Task { kind, envelope, after: operation.after.iter().collect() }
    }
}

/// A send or a receive that is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Completion {
    /// The rank.
    pub rank: u32,
    /// The operation.
    pub op: OpId,
    /// The cycle from which on it counts as complete.
    pub cycle: u64,
    /// The message of a completed receive, by the rank that sent it and its send operation.
    pub message: Option<(u32, OpId)>,
}

impl Hosts {
    /// The program of a rank passes what it was supplied with, or is blocked by it.
    pub(super) fn start_task(&mut self, r: u32, Task { kind, envelope, after }: Task, now: u64) {
        let rank = &mut self.ranks[r as usize];
        let op = rank.pass_task(Task { kind, envelope, after }, now);
        match kind {
            TaskKind::Operation(kind) => self.start(r, op, (kind, 0), envelope, now),
            TaskKind::Probe { from, tag } => {
                let context = envelope.context;
                rank.block = Block::Probes(Posted { from, tag, context, op, flits: 0 });
            }
            // It is over in this cycle, before its time would be looked at.
            TaskKind::Poll { cycles: 0 } | TaskKind::WaitAny => rank.block = Block::Waits(op, Then::Nothing),
            TaskKind::Poll { cycles } => {
                rank.block = Block::Polls(op);
                if cycles < u64::MAX {
                    self.due.ends(now.saturating_add(cycles), r, op);
                }
            }
        }
    }

    /// Whether a rank requests its next operations.
    pub fn requests(&self, rank: u32) -> bool {
        self.ranks[rank as usize].requests
    }

    /// Supplies a rank with its next operations. Wakes nobody: call [`Hosts::advance`] for its terminal.
    pub fn supply(&mut self, rank: u32, tasks: impl IntoIterator<Item: Into<Task>>) {
        let rank = &mut self.ranks[rank as usize];
        if let Source::Driven { supplied, .. } = &mut rank.source {
            supplied.extend(tasks.into_iter().map(Into::into));
            rank.requests = false;
        }
    }

    /// The program of a rank is at its end.
    pub fn end(&mut self, rank: u32) {
        let rank = &mut self.ranks[rank as usize];
        if let Source::Driven { ended, .. } = &mut rank.source {
            *ended = true;
            rank.requests = false;
        }
    }

    /// From now on what completes is noted, for [`Hosts::take_completions`].
    pub fn note_completions(&mut self) {
        self.due.noted.get_or_insert_default();
    }

    /// What has completed since the last call, in that order.
    pub fn take_completions(&mut self) -> Vec<Completion> {
        self.due.noted.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The message that a receive of `rank` would take if it were posted now: who sent it, and by which operation.
    pub fn probe(&self, rank: u32, from: u32, tag: u32, context: u32) -> Option<(u32, OpId)> {
        let receive = Posted { from, tag, context, op: 0, flits: 0 };
        let message = &self.in_flight[self.ranks[rank as usize].mail.find(&receive, &self.in_flight)?];
        Some((message.from, message.op))
    }

    /// Takes back a receive that has no message, which is complete then; whether it could be.
    pub fn cancel(&mut self, rank: u32, op: OpId, now: u64) -> bool {
        let found = self.ranks[rank as usize].mail.withdraw(op);
        if found {
            self.counts.unmatched -= 1;
            self.finish(rank, op, now);
        }
        found
    }
}
