//! Runs a schedule: which message each rank may send next. One rank a terminal.

use crate::error::Result;
use crate::schedule::{OpId, OpKind, Schedule, match_messages};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A message that a controller takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Message {
    /// The send operation.
    pub op: OpId,
    pub to: u32,
    pub flits: u32,
}

/// A schedule in execution.
#[derive(Debug)]
pub(crate) struct Program {
    kinds: Vec<OpKind>,
    rank_end: Vec<u32>,
    /// Next operation that the program of each rank has not passed.
    counter: Vec<u32>,
    /// Next operation of each rank that its send queue has not passed; at most `counter`.
    queue: Vec<u32>,
    /// Operations that each operation still waits for.
    waits_for: Vec<u32>,
    /// Reverse dependencies, compressed rows.
    dependents: Vec<OpId>,
    dependents_start: Vec<u32>,
    /// The receive operation that matches each send.
    receive_of: Vec<OpId>,
    /// Flits of each send that have not arrived.
    flits_to_come: Vec<u32>,
    /// Sends whose last flit left in the previous cycle.
    just_sent: Vec<OpId>,
    /// Running computations: (end, rank).
    computing: BinaryHeap<Reverse<(u64, u32)>>,
    is_computing: Vec<bool>,
    messages_left: u64,
    messages: u64,
}

impl Program {
    /// Prepares a schedule.
    ///
    /// # Errors
    /// [`Error::Schedule`] if a send has no matching receive or the other way round.
    pub fn new(schedule: &Schedule) -> Result<Program> {
        let ops = schedule.ops.len();
        let receive_of = match_messages(schedule)?;
        let mut waits_for = vec![0; ops];
        let mut dependents_start = vec![0u32; ops + 1];
        for &dep in &schedule.deps {
            dependents_start[dep as usize + 1] += 1;
        }
        for i in 0..ops {
            dependents_start[i + 1] += dependents_start[i];
        }
        let mut fill = dependents_start.clone();
        let mut dependents = vec![0; schedule.deps.len()];
        for (op, waits) in waits_for.iter_mut().enumerate() {
            let deps = schedule.deps_of(op as OpId);
            *waits = deps.len() as u32;
            for &dep in deps {
                dependents[fill[dep as usize] as usize] = op as OpId;
                fill[dep as usize] += 1;
            }
        }
        let kinds: Vec<OpKind> = schedule.ops.iter().map(|op| op.kind).collect();
        let flits_to_come = kinds.iter().map(|k| if let OpKind::Send { flits, .. } = k { *flits } else { 0 }).collect();
        let messages = kinds.iter().filter(|k| matches!(k, OpKind::Send { .. })).count() as u64;
        let ranks = schedule.ranks() as usize;
        Ok(Program {
            kinds,
            rank_end: schedule.rank_start[1..].to_vec(),
            counter: schedule.rank_start[..ranks].to_vec(),
            queue: schedule.rank_start[..ranks].to_vec(),
            waits_for,
            dependents,
            dependents_start,
            receive_of,
            flits_to_come,
            just_sent: Vec::new(),
            computing: BinaryHeap::new(),
            is_computing: vec![false; ranks],
            messages_left: messages,
            messages,
        })
    }

    /// Messages in all, and messages not received yet.
    pub fn messages(&self) -> (u64, u64) {
        (self.messages, self.messages_left)
    }

    /// Whether every message has arrived and every rank has finished its program.
    pub fn is_complete(&self) -> bool {
        self.messages_left == 0 && self.counter == self.rank_end
    }

    /// Start of a cycle: sends of the previous cycle and computations that end now are complete. Calls `wake` for each rank
    /// that may be able to go on.
    pub fn begin_cycle(&mut self, now: u64, mut wake: impl FnMut(u32)) {
        while let Some(op) = self.just_sent.pop() {
            if self.complete(op) {
                wake(self.rank_of(op));
            }
        }
        while let Some(&Reverse((end, rank))) = self.computing.peek() {
            if end > now {
                break;
            }
            self.computing.pop();
            self.finish_compute(rank);
            wake(rank);
        }
    }

    fn finish_compute(&mut self, rank: u32) {
        let op = self.counter[rank as usize];
        self.is_computing[rank as usize] = false;
        self.counter[rank as usize] += 1;
        self.complete(op);
    }

    fn rank_of(&self, op: OpId) -> u32 {
        self.rank_end.partition_point(|&end| end <= op) as u32
    }

    /// The earliest end of a running computation.
    pub fn next_compute_end(&self) -> Option<u64> {
        self.computing.peek().map(|Reverse((end, _))| *end)
    }

    /// Whether sends of this cycle take effect in the next one.
    pub fn has_pending_completions(&self) -> bool {
        !self.just_sent.is_empty()
    }

    /// Lets the program of `rank` go on as far as it can.
    pub fn advance(&mut self, rank: u32, now: u64) {
        let r = rank as usize;
        while self.counter[r] < self.rank_end[r] && !self.is_computing[r] {
            let op = self.counter[r];
            match self.kinds[op as usize] {
                OpKind::Send { .. } | OpKind::Receive { .. } => {}
                _ if self.waits_for[op as usize] > 0 => return,
                OpKind::Wait => {
                    self.complete(op);
                }
                OpKind::Compute { cycles } => {
                    self.is_computing[r] = true;
                    if cycles > 0 {
                        self.computing.push(Reverse((now + cycles, rank)));
                        return;
                    }
                    self.finish_compute(rank);
                    continue;
                }
            }
            self.counter[r] += 1;
        }
    }

    /// Takes the next message of the send queue of `rank`, if it may start.
    pub fn take(&mut self, rank: u32) -> Option<Message> {
        let r = rank as usize;
        while self.queue[r] < self.counter[r] {
            let op = self.queue[r];
            if let OpKind::Send { to, flits, .. } = self.kinds[op as usize] {
                if self.waits_for[op as usize] > 0 {
                    return None;
                }
                self.queue[r] += 1;
                return Some(Message { op, to, flits });
            }
            self.queue[r] += 1;
        }
        None
    }

    /// Whether `rank` still has messages to send.
    pub fn has_unsent(&self, rank: u32) -> bool {
        let r = rank as usize;
        (self.queue[r]..self.rank_end[r]).any(|op| matches!(self.kinds[op as usize], OpKind::Send { .. }))
    }

    /// The last flit of a message left its terminal.
    pub fn sent(&mut self, op: OpId) {
        self.just_sent.push(op);
    }

    /// `flits` flits of the message of send `op` have arrived. Returns true if something that the receiver waited for is
    /// complete with it.
    pub fn arrived(&mut self, op: OpId, flits: u32) -> bool {
        let to_come = &mut self.flits_to_come[op as usize];
        *to_come -= flits;
        if *to_come > 0 {
            return false;
        }
        self.messages_left -= 1;
        self.complete(self.receive_of[op as usize])
    }

    /// Marks an operation complete; returns whether another one waited for it and need not any more.
    fn complete(&mut self, op: OpId) -> bool {
        let row = self.dependents_start[op as usize] as usize..self.dependents_start[op as usize + 1] as usize;
        let mut released = false;
        for i in row {
            let waits = &mut self.waits_for[self.dependents[i] as usize];
            *waits -= 1;
            released |= *waits == 0;
        }
        released
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::ScheduleBuilder;

    fn send(to: u32) -> OpKind {
        OpKind::Send { to, flits: 5, tag: 0 }
    }

    fn receive(from: u32) -> OpKind {
        OpKind::Receive { from, flits: 5, tag: 0 }
    }

    /// Rank 0 sends, computes, then sends again after an answer; rank 1 answers.
    fn ping_pong() -> Schedule {
        let mut b = ScheduleBuilder::new("ping-pong");
        let answer = b.op(receive(1), 0, &[]);
        b.op(send(1), 0, &[]);
        b.op(OpKind::Compute { cycles: 10 }, 0, &[]);
        b.op(OpKind::Wait, 0, &[answer]);
        b.op(OpKind::Send { to: 1, flits: 5, tag: 1 }, 1, &[]);
        b.end_rank();
        let ping = b.op(receive(0), 0, &[]);
        b.op(OpKind::Receive { from: 0, flits: 5, tag: 1 }, 1, &[]);
        b.op(send(0), 0, &[ping]);
        b.end_rank();
        b.build()
    }

    #[test]
    fn a_program_waits_for_messages_and_time() {
        let mut p = Program::new(&ping_pong()).unwrap();
        (0..2).for_each(|r| p.advance(r, 0));
        let first = p.take(0).unwrap();
        assert_eq!((first.to, p.take(0), p.take(1)), (1, None, None));
        assert!(!p.arrived(first.op, 3), "two flits are missing");
        assert!(p.arrived(first.op, 2));
        let answer = p.take(1).unwrap();
        p.arrived(answer.op, 5);
        p.advance(0, 4);
        assert_eq!(p.take(0), None, "still computing");
        p.begin_cycle(10, |_| {});
        p.advance(0, 10);
        let last = p.take(0).unwrap();
        p.arrived(last.op, 5);
        p.advance(1, 20);
        assert!(p.is_complete());
    }

    #[test]
    fn a_send_without_a_receive_is_an_error() {
        let mut b = ScheduleBuilder::new("lost");
        b.op(send(1), 0, &[]);
        b.end_rank();
        b.end_rank();
        assert!(Program::new(&b.build()).is_err());
    }
}
