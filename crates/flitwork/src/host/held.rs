//! What does not go by program order: receives and tasks that wait for operations, CPUs that are busy, and who wants to know of a start.
//!
//! The program of a rank passes them without stopping. In each cycle, and before the program goes on, what may start does: the first in
//! program order first, a task by joining the line of its CPU; then CPUs that are free take the first of their lines, the lowest CPU
//! first; and again from the beginning, as each start may let others start. A rank that has nothing of all this has no [`Held`].

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

/// What a program passed that starts by and by.
#[derive(Debug, Clone, Copy)]
pub(super) enum Holds {
    /// A receive.
    Receive(Posted),
    /// A task: its duration and its CPU.
    Task(u64, u8),
}

/// Operations of a rank that its program has passed and that have not started.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Receives and tasks that wait for operations or have not been looked at since.
    waiting: HashMap<OpId, Holds>,
    /// Those of them that wait no longer.
    ready: BinaryHeap<Reverse<OpId>>,
    /// Tasks in front of a CPU, and those on one, with the CPU.
    in_line: HashSet<OpId>,
    running: HashMap<OpId, u8>,
    cpus: BTreeMap<u8, Cpu>,
    /// Operations whose start completes the operation behind them.
    watched: HashSet<OpId>,
}

impl Held {
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

    /// Whether somebody wants to know that this operation starts.
    pub fn starts(&mut self, op: OpId) -> bool {
        !self.watched.is_empty() && self.watched.remove(&op)
    }

    /// Whether a receive or a task has not started.
    fn is_held(&self, op: OpId) -> bool {
        self.waiting.contains_key(&op) || self.in_line.contains(&op)
    }

    /// The task that a free CPU takes next: CPU, operation, duration.
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
    /// A program passes a receive or a task that starts by and by.
    pub(super) fn hold(&mut self, r: u32, op: OpId, what: Holds, waits: bool) {
        let held = self.ranks[r as usize].held.get_or_insert_default();
        held.waiting.insert(op, what);
        if !waits {
            held.ready.push(Reverse(op));
        }
        self.unfinished += 1;
    }

    /// A program passes an operation that is complete when the one in front of it starts. A send has not started yet: no NIC takes it
    /// while the program goes on.
    pub(super) fn note_start(&mut self, r: u32, op: OpId, now: u64) {
        let rank = &mut self.ranks[r as usize];
        let before = op.wrapping_sub(1);
        let is_send = rank.last_send == Some(before);
        let held = rank.held.get_or_insert_default();
        if is_send || held.is_held(before) {
            held.watched.insert(before);
        } else {
            rank.complete(op, now);
        }
    }

    /// What a rank holds starts as far as it can.
    pub(super) fn start_held(&mut self, r: u32, now: u64) {
        loop {
            let rank = &mut self.ranks[r as usize];
            let Some(held) = &mut rank.held else { return };
            if let Some(Reverse(op)) = held.ready.pop() {
                match held.waiting.remove(&op) {
                    Some(Holds::Receive(receive)) => {
                        self.unfinished -= 1;
                        self.tell_start(r, op, now);
                        self.post(r, receive, now);
                    }
                    Some(Holds::Task(time, cpu)) => {
                        held.in_line.insert(op);
                        held.cpus.entry(cpu).or_default().line.push(Reverse((now, op, time)));
                    }
                    None => {}
                }
            } else if let Some((op, time)) = held.take_task() {
                self.tell_start(r, op, now);
                if time == 0 {
                    let rank = &mut self.ranks[r as usize];
                    if let Some(held) = &mut rank.held {
                        held.end_task(op);
                    }
                    rank.complete(op, now);
                    self.unfinished -= 1;
                } else {
                    let end = self.work_end(r, now, time);
                    self.computing.push(Reverse((end, r, op)));
                }
            } else {
                return;
            }
        }
    }

    /// An operation starts: the one behind it, if it waits for that, is complete.
    fn tell_start(&mut self, r: u32, op: OpId, now: u64) {
        let rank = &mut self.ranks[r as usize];
        if let Some(log) = &mut rank.log {
            log.begin(op, now);
        }
        if rank.held.as_mut().is_some_and(|held| held.starts(op)) {
            rank.complete(op + 1, now);
        }
    }
}
