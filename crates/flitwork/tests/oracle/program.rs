//! The programs of the ranks: what `schedule/mod.rs` says operations mean, step 1 (receives) and step 2 (programs).

use flitwork::schedule::{OpId, OpKind, Schedule};
use std::collections::HashMap;

/// A message that joined a send queue.
#[derive(Debug, Clone)]
pub struct Message {
    pub send: OpId,
    pub dst: u32,
    pub flits: u32,
    /// Its number in the order of sending of its rank.
    pub number: u32,
}

/// One rank's place in its program.
struct Rank {
    next: OpId,
    end: OpId,
    /// The compute operation that blocks the program, and when it is complete.
    computing: Option<(OpId, u64)>,
    sends: u32,
}

pub struct Programs<'s> {
    schedule: &'s Schedule,
    ranks: Vec<Rank>,
    /// From which cycle on each operation counts as complete.
    complete_from: Vec<Option<u64>>,
    /// Flits of each message, by its send operation, that have not arrived.
    missing: HashMap<OpId, u32>,
    /// The receive operation that matches each send operation.
    receive_of: HashMap<OpId, OpId>,
}

impl<'s> Programs<'s> {
    pub fn new(schedule: &'s Schedule) -> Self {
        let mut receives = HashMap::new();
        let mut sends = HashMap::new();
        let mut missing = HashMap::new();
        for rank in 0..schedule.ranks() {
            for op in schedule.ops_of(rank) {
                match schedule.ops[op as usize].kind {
                    OpKind::Receive { from, tag, .. } => {
                        assert!(receives.insert((from, rank, tag), op).is_none(), "two receives of one message");
                    }
                    OpKind::Send { to, flits, tag } => {
                        assert!(sends.insert((rank, to, tag), op).is_none(), "two messages of one name");
                        missing.insert(op, flits);
                    }
                    OpKind::Compute { .. } | OpKind::Wait => {}
                }
            }
        }
        let receive_of = sends.iter().filter_map(|(name, &send)| receives.get(name).map(|&r| (send, r))).collect();
        let rank = |r| {
            let ops = schedule.ops_of(r);
            Rank { next: ops.start, end: ops.end, computing: None, sends: 0 }
        };
        Programs {
            schedule,
            ranks: (0..schedule.ranks()).map(rank).collect(),
            complete_from: vec![None; schedule.ops.len()],
            missing,
            receive_of,
        }
    }

    /// Whether all that `op` depends on is complete.
    pub fn may_start(&self, op: OpId, now: u64) -> bool {
        self.schedule.deps_of(op).iter().all(|&d| self.complete_from[d as usize].is_some_and(|from| from <= now))
    }

    /// A flit of the message of `send` arrived.
    pub fn flit_arrived(&mut self, send: OpId, now: u64) {
        let missing = self.missing.get_mut(&send).expect("the message was sent");
        *missing -= 1;
        if *missing == 0 {
            if let Some(&receive) = self.receive_of.get(&send) {
                self.complete_from[receive as usize] = Some(now);
            }
        }
    }

    /// The last flit of the message of `send` left its terminal in cycle `now`.
    pub fn sent(&mut self, send: OpId, now: u64) {
        self.complete_from[send as usize] = Some(now + 1);
    }

    /// Advances the program of `rank` as far as it can; the messages that join the rank's send queue, in order.
    pub fn advance(&mut self, rank: u32, now: u64) -> Vec<Message> {
        let mut messages = Vec::new();
        loop {
            let r = &mut self.ranks[rank as usize];
            if let Some((op, end)) = r.computing {
                if now < end {
                    break;
                }
                self.complete_from[op as usize] = Some(end);
                r.computing = None;
            }
            if r.next == r.end {
                break;
            }
            let op = r.next;
            match self.schedule.ops[op as usize].kind {
                OpKind::Receive { .. } => {}
                OpKind::Send { to, flits, .. } => {
                    messages.push(Message { send: op, dst: to, flits, number: r.sends });
                    r.sends += 1;
                }
                OpKind::Compute { cycles } => {
                    if !self.may_start(op, now) {
                        break;
                    }
                    self.ranks[rank as usize].computing = Some((op, now + cycles));
                }
                OpKind::Wait => {
                    if !self.may_start(op, now) {
                        break;
                    }
                    self.complete_from[op as usize] = Some(now);
                }
            }
            self.ranks[rank as usize].next += 1;
        }
        messages
    }

    /// Whether every program is at its end.
    pub fn finished(&self) -> bool {
        self.ranks.iter().all(|r| r.next == r.end && r.computing.is_none())
    }
}
