//! The memory of a terminal, which copies messages between its ranks: step 2b of docs/model.md.

use super::program::{Message, Programs, Send};
use super::queue::{Job, Queue};
use flitwork::schedule::SendQueue;

/// A rate as the fraction with the smallest denominator that is the number in double precision: flits in cycles.
pub fn fraction(rate: f64) -> (u64, u64) {
    let of = |cycles: u64| ((rate * cycles as f64).round() as u64, cycles);
    (1..1000).map(of).find(|&(flits, cycles)| flits as f64 / cycles as f64 == rate).expect("a simple fraction")
}

/// A message that has been begun.
struct Copy {
    send: Send,
    left: u32,
}

pub struct Memory {
    rate: (u64, u64),
    packet_flits: u32,
    /// What each rank has to copy, and what it is at.
    ranks: Vec<(Queue, Option<Copy>)>,
    turn: usize,
    /// When it is free: so many cycles and so many parts of one, of which `rate.0` are a cycle.
    free: (u64, u64),
    /// Messages whose last flit is copied by then.
    ends: Vec<(u64, Send)>,
}

impl Memory {
    pub fn new(rate: (u64, u64), packet_flits: u32, ranks: usize, kind: SendQueue) -> Self {
        let ranks = (0..ranks).map(|_| (Queue::new(kind), None)).collect();
        Memory { rate, packet_flits, ranks, turn: 0, free: (0, 0), ends: Vec::new() }
    }

    /// A message joins the queue of a rank.
    pub fn push(&mut self, rank: usize, message: Message) {
        self.ranks[rank].0.push(Job::Message(message));
    }

    /// Step 1: messages that have arrived.
    pub fn arrive(&mut self, programs: &mut Programs, now: u64) {
        let (due, later): (Vec<_>, Vec<_>) = self.ends.drain(..).partition(|(cycle, _)| *cycle == now);
        self.ends = later;
        due.into_iter().for_each(|(_, send)| programs.copied(send, now));
    }

    /// Step 2b.
    pub fn copy(&mut self, programs: &mut Option<Programs>, now: u64) {
        self.ranks.iter_mut().for_each(|(queue, _)| queue.look(programs, now));
        while self.free.0 <= now {
            let n = self.ranks.len();
            let has_some = |&i: &usize| self.ranks[i].1.is_some() || self.ranks[i].0.next_ready().is_some();
            let Some(rank) = (0..n).map(|i| (self.turn + i) % n).find(has_some) else { return };
            self.turn = (rank + 1) % n;
            let (queue, current) = &mut self.ranks[rank];
            let mut copy = current.take().unwrap_or_else(|| {
                let Job::Message(message) = queue.pop() else { panic!("a message") };
                programs.as_mut().expect("a schedule").taken(&message, now);
                Copy { send: message.send, left: message.flits }
            });
            let flits = copy.left.min(self.packet_flits);
            copy.left -= flits;
            if self.free.0 < now {
                self.free = (now, 0);
            }
            let parts = self.free.1 + u64::from(flits) * self.rate.1;
            self.free = (self.free.0 + parts / self.rate.0, parts % self.rate.0);
            if copy.left > 0 {
                self.ranks[rank].1 = Some(copy);
            } else {
                self.ends.push((self.free.0 + u64::from(self.free.1 > 0), copy.send));
            }
        }
    }

    pub fn idle(&self) -> bool {
        self.ends.is_empty() && self.ranks.iter().all(|(queue, current)| queue.is_empty() && current.is_none())
    }
}
