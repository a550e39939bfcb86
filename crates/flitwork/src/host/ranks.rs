//! Runs a schedule: which message each rank may send next. One rank a terminal.

use crate::error::Result;
use crate::schedule::{OpId, OpKind, Schedule, match_messages};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
}

/// A schedule in execution.
#[derive(Debug)]
pub(crate) struct Hosts {
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
    /// From which cycle on each send may start; empty unless asked for.
    came: Vec<u64>,
    /// Messages of each rank that were taken.
    taken: Vec<u32>,
    messages_left: u64,
    messages: u64,
}

impl Hosts {
    /// Prepares a schedule.
    ///
    /// # Errors
    /// [`Error::Schedule`] if a send has no matching receive or the other way round.
    pub fn new(schedule: &Schedule) -> Result<Hosts> {
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
        Ok(Hosts {
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
            came: Vec::new(),
            taken: vec![0; ranks],
            messages_left: messages,
            messages,
        })
    }

    /// Messages in all, and messages not received yet.
    pub fn messages(&self) -> (u64, u64) {
        (self.messages, self.messages_left)
    }

    /// From now on takes note of the cycle from which on each send may start, for [`Hosts::next_came`].
    pub fn note_when_sends_come(&mut self) {
        self.came = vec![u64::MAX; self.kinds.len()];
    }

    /// The cycle in which the next message of the send queue of `rank` came: its program had passed it, and all that it depends
    /// on was complete. `None` if there is none that may start.
    pub fn next_came(&self, rank: u32) -> Option<u64> {
        let r = rank as usize;
        let next = (self.queue[r]..self.counter[r]).find(|&op| self.is_send(op))?;
        (self.waits_for[next as usize] == 0).then(|| self.came[next as usize])
    }

    fn is_send(&self, op: OpId) -> bool {
        matches!(self.kinds[op as usize], OpKind::Send { .. })
    }

    /// Whether no rank can go on, though no message is under way and nobody computes.
    pub fn is_stuck(&self) -> bool {
        let blocked = |op: u32, end: u32| op == end || self.waits_for[op as usize] > 0;
        !self.is_complete()
            && self.just_sent.is_empty()
            && self.computing.is_empty()
            && (0..self.counter.len()).all(|r| {
                let unsent = (self.queue[r]..self.counter[r]).find(|&op| self.is_send(op));
                blocked(self.counter[r], self.rank_end[r]) && unsent.is_none_or(|op| self.waits_for[op as usize] > 0)
            })
    }

    /// Whether every message has arrived and every rank has finished its program.
    pub fn is_complete(&self) -> bool {
        self.messages_left == 0 && self.counter == self.rank_end
    }

    /// Start of a cycle: sends of the previous cycle and computations that end now are complete. Calls `wake` for each
    /// terminal that may be able to go on.
    pub fn begin_cycle(&mut self, now: u64, mut wake: impl FnMut(u32)) {
        while let Some(op) = self.just_sent.pop() {
            if self.complete(op, now) {
                wake(self.rank_of(op));
            }
        }
        while let Some(&Reverse((end, rank))) = self.computing.peek() {
            if end > now {
                break;
            }
            self.computing.pop();
            self.finish_compute(rank, now);
            wake(rank);
        }
    }

    fn finish_compute(&mut self, rank: u32, now: u64) {
        let op = self.counter[rank as usize];
        self.is_computing[rank as usize] = false;
        self.counter[rank as usize] += 1;
        self.complete(op, now);
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
                OpKind::Receive { .. } => {}
                OpKind::Send { .. } => self.note_coming(op, now),
                _ if self.waits_for[op as usize] > 0 => return,
                OpKind::Wait => {
                    self.complete(op, now);
                }
                OpKind::Compute { cycles } => {
                    self.is_computing[r] = true;
                    if cycles > 0 {
                        self.computing.push(Reverse((now + cycles, rank)));
                        return;
                    }
                    self.finish_compute(rank, now);
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
                let number = self.taken[r];
                self.taken[r] += 1;
                return Some(Message { id: op, number, to, flits: u64::from(flits) });
            }
            self.queue[r] += 1;
        }
        None
    }

    /// Takes note of a send that its program has passed, if it may start now.
    fn note_coming(&mut self, op: OpId, now: u64) {
        if self.waits_for[op as usize] == 0 {
            if let Some(came) = self.came.get_mut(op as usize) {
                *came = now;
            }
        }
    }

    /// Whether `rank` still has messages to send.
    pub fn has_unsent(&self, rank: u32) -> bool {
        let r = rank as usize;
        (self.queue[r]..self.rank_end[r]).any(|op| self.is_send(op))
    }

    /// The last flit of a message left its terminal.
    pub fn sent(&mut self, id: u32) {
        self.just_sent.push(id);
    }

    /// `flits` flits of a message have arrived in cycle `now`. Returns the terminal of the receiver if something that it waited for
    /// is complete with it.
    pub fn arrived(&mut self, id: u32, flits: u32, now: u64) -> Option<u32> {
        let to_come = &mut self.flits_to_come[id as usize];
        *to_come -= flits;
        if *to_come > 0 {
            return None;
        }
        self.messages_left -= 1;
        let receive = self.receive_of[id as usize];
        self.complete(receive, now).then(|| self.rank_of(receive))
    }

    /// Marks an operation complete in cycle `now`; returns whether another one waited for it and need not any more.
    fn complete(&mut self, op: OpId, now: u64) -> bool {
        let row = self.dependents_start[op as usize] as usize..self.dependents_start[op as usize + 1] as usize;
        let mut released = false;
        for i in row {
            let dependent = self.dependents[i];
            let waits = &mut self.waits_for[dependent as usize];
            *waits -= 1;
            if *waits == 0 {
                released = true;
                // A send whose program has not passed it yet comes when it does.
                if !self.came.is_empty() && dependent < self.counter[self.rank_of(dependent) as usize] {
                    self.came[dependent as usize] = now;
                }
            }
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
        let mut p = Hosts::new(&ping_pong()).unwrap();
        (0..2).for_each(|r| p.advance(r, 0));
        let first = p.take(0).unwrap();
        assert_eq!((first.to, p.take(0), p.take(1)), (1, None, None));
        assert_eq!(p.arrived(first.id, 3, 1), None, "two flits are missing");
        assert_eq!(p.arrived(first.id, 2, 2), Some(1));
        let answer = p.take(1).unwrap();
        p.arrived(answer.id, 5, 4);
        p.advance(0, 4);
        assert_eq!(p.take(0), None, "still computing");
        p.begin_cycle(10, |_| {});
        p.advance(0, 10);
        let last = p.take(0).unwrap();
        p.arrived(last.id, 5, 20);
        p.advance(1, 20);
        assert!(p.is_complete());
    }

    #[test]
    fn a_send_comes_when_all_it_depends_on_is_complete() {
        let mut p = Hosts::new(&ping_pong()).unwrap();
        p.note_when_sends_come();
        (0..2).for_each(|r| p.advance(r, 3));
        assert_eq!((p.next_came(0), p.next_came(1)), (Some(3), None));
        let ping = p.take(0).unwrap();
        assert!(!p.is_stuck(), "rank 0 computes");
        p.arrived(ping.id, 5, 8);
        assert_eq!(p.next_came(1), Some(8));
        p.begin_cycle(13, |_| {});
        p.advance(0, 13);
        let answer = p.take(1).unwrap();
        assert!(p.is_stuck(), "all wait, and what is under way is not for the program to know");
        p.arrived(answer.id, 5, 15);
        assert!(!p.is_stuck());
        p.advance(0, 15);
        assert_eq!(p.next_came(0), Some(15));
    }

    #[test]
    fn a_send_without_a_receive_is_an_error() {
        let mut b = ScheduleBuilder::new("lost");
        b.op(send(1), 0, &[]);
        b.end_rank();
        b.end_rank();
        assert!(Hosts::new(&b.build()).is_err());
    }
}
