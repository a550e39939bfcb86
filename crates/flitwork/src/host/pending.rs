//! Pending operations, which do not start in program order: receives and tasks that wait for other operations or for a
//! busy CPU. And operations that are complete when another one starts.
//!
//! The program of a rank passes them without stopping. In each cycle, and before the program goes on, what may start
//! does: the first in program order first, a task by joining the line of its CPU; then CPUs that are free take the
//! first of their lines, the lowest CPU first; and again from the beginning, as each start may let others start. A rank
//! without pending operations has no [`PendingOperations`].

use super::matching::Posted;
use super::ranks::Hosts;
use crate::schedule::OpId;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};

/// The line in front of a CPU: (cycle since which, operation, duration).
#[derive(Debug, Default)]
struct Cpu {
    busy: bool,
    line: BinaryHeap<Reverse<(u64, OpId, u64)>>,
}

/// What is pending.
#[derive(Debug, Clone, Copy)]
pub(super) enum PendingKind {
    /// A receive.
    Receive(Posted),
    /// A task: its duration and its CPU.
    Task(u64, u8),
}

/// Operations of a rank that its program has passed and that have not started.
#[derive(Debug, Default)]
pub(super) struct PendingOperations {
    /// Receives and tasks that wait for operations or have not been looked at since.
    waiting: HashMap<OpId, PendingKind>,
    /// Entries of `waiting` that wait no longer.
    ready: BinaryHeap<Reverse<OpId>>,
    /// Tasks in front of a CPU, and tasks on a CPU, with its number.
    in_line: HashSet<OpId>,
    running: HashMap<OpId, u8>,
    cpus: BTreeMap<u8, Cpu>,
    /// Operations whose start completes the operation behind them.
    watched: HashSet<OpId>,
}

impl PendingOperations {
    /// An operation waits no longer; whether it is one of these.
    pub fn release(&mut self, op: OpId) -> bool {
        let here = self.waiting.contains_key(&op);
        if here {
            self.ready.push(Reverse(op));
        }
        here
    }

    /// A task is over; whether there was one of this number.
    pub fn end_task(&mut self, op: OpId) -> bool {
        let cpu = self.running.remove(&op).and_then(|cpu| self.cpus.get_mut(&cpu));
        cpu.map(|cpu| cpu.busy = false).is_some()
    }

    /// Whether another operation is complete when this one starts.
    pub fn starts(&mut self, op: OpId) -> bool {
        !self.watched.is_empty() && self.watched.remove(&op)
    }

    /// Whether a receive or a task has not started.
    fn is_pending(&self, op: OpId) -> bool {
        self.waiting.contains_key(&op) || self.in_line.contains(&op)
    }

    /// The task that a free CPU takes next: operation, duration.
    fn take_task(&mut self) -> Option<(OpId, u64)> {
        let (&number, cpu) = self.cpus.iter_mut().find(|(_, cpu)| !cpu.busy && !cpu.line.is_empty())?;
        let Reverse((_, op, time)) = cpu.line.pop()?;
        cpu.busy = true;
        self.in_line.remove(&op);
        self.running.insert(op, number);
        Some((op, time))
    }

    /// The first in program order that waits for operations.
    pub fn first_waiting(&self) -> Option<OpId> {
        self.waiting.keys().min().copied()
    }
}

impl Hosts {
    /// A program passes a receive or a task that is pending.
    pub(super) fn add_pending(&mut self, r: u32, op: OpId, what: PendingKind, waits: bool) {
        let pending = self.ranks[r as usize].pending.get_or_insert_default();
        pending.waiting.insert(op, what);
        if !waits {
            pending.ready.push(Reverse(op));
        }
        self.counts.unfinished += 1;
    }

    /// A program passes an operation that is complete when the one in front of it starts. A send has not started yet:
    /// no NIC takes it while the program goes on.
    pub(super) fn note_start(&mut self, r: u32, op: OpId, now: u64) {
        let rank = &mut self.ranks[r as usize];
        let before = op.wrapping_sub(1);
        let is_send = rank.last_send == Some(before);
        let pending = rank.pending.get_or_insert_default();
        if is_send || pending.is_pending(before) {
            pending.watched.insert(before);
        } else {
            self.finish(r, op, now);
        }
    }

    /// Pending operations of a rank start as far as they can.
    pub(super) fn start_pending(&mut self, r: u32, now: u64) {
        loop {
            let rank = &mut self.ranks[r as usize];
            let Some(pending) = &mut rank.pending else { return };
            if let Some(Reverse(op)) = pending.ready.pop() {
                match pending.waiting.remove(&op) {
                    Some(PendingKind::Receive(receive)) => {
                        self.counts.unfinished -= 1;
                        self.note_started(r, op, now);
                        self.post(r, receive, now);
                    }
                    Some(PendingKind::Task(time, cpu)) => {
                        pending.in_line.insert(op);
                        pending.cpus.entry(cpu).or_default().line.push(Reverse((now, op, time)));
                    }
                    None => {}
                }
            } else if let Some((op, time)) = pending.take_task() {
                self.note_started(r, op, now);
                if time == 0 {
                    let rank = &mut self.ranks[r as usize];
                    if let Some(pending) = &mut rank.pending {
                        pending.end_task(op);
                    }
                    self.finish(r, op, now);
                    self.counts.unfinished -= 1;
                } else {
                    let end = self.work_end(r, now, time);
                    self.due.ends(end, r, op);
                }
            } else {
                return;
            }
        }
    }

    /// An operation starts: the one behind it, if it waits for that, is complete.
    fn note_started(&mut self, r: u32, op: OpId, now: u64) {
        let rank = &mut self.ranks[r as usize];
        if let Some(log) = &mut rank.log {
            log.begin(op, now);
        }
        if rank.pending.as_mut().is_some_and(|pending| pending.starts(op)) {
            self.finish(r, op + 1, now);
        }
    }
}
