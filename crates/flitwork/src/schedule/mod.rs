//! The schedule: what each rank does, in which order, after what. The narrow waist of flitwork: collective algorithms
//! make one, kernels run it, bounds and checks read it.
//!
//! A rank executes its operations in program order:
//! * **Receive** is posted and does not block. It is complete when the last flit of the message that it matches has arrived.
//! * **Send** joins the rank's send queue and does not block. The queue is first in, first out over the controllers of the
//!   rank's terminal: a controller that becomes free takes the next message, once the operations it depends on are
//!   complete; a message that has to wait holds up those behind it. A send is complete when its last flit has left the
//!   terminal.
//! * **Compute** starts when the operations it depends on are complete, blocks the program for its cycles, then completes.
//! * **Wait** blocks the program until the operations it depends on are complete.
//!
//! Dependencies are between operations of one rank. A send matches the receive of its peer that has the same tag.

mod check;

pub use check::{ExchangeReport, check_complete, check_exchange, match_messages};

/// Index of an operation in [`Schedule::ops`].
pub type OpId = u32;

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpKind {
    /// Send a message of `flits` flits to rank `to`.
    Send {
        /// Receiving rank.
        to: u32,
        /// Message length [flits].
        flits: u32,
        /// Distinguishes messages of one pair of ranks.
        tag: u32,
    },
    /// Receive the message that rank `from` sends with the same tag.
    Receive {
        /// Sending rank.
        from: u32,
        /// Message length [flits].
        flits: u32,
        /// Distinguishes messages of one pair of ranks.
        tag: u32,
    },
    /// Occupy the rank for this long [cycles].
    Compute {
        /// Duration [cycles].
        cycles: u64,
    },
    /// Block the program until the dependencies are complete.
    Wait,
}

/// One operation of one rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Op {
    /// What it does.
    pub kind: OpKind,
    /// The phase of the algorithm it belongs to: the index of the message in the rank's send order (for a receive: in the
    /// sender's). Link loads per phase are sums over a phase's messages.
    pub phase: u32,
}

/// What every rank does. Built by [`ScheduleBuilder`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Name for tables and messages, such as `a2at`.
    pub name: String,
    /// All operations, grouped by rank, in program order within a rank.
    pub ops: Vec<Op>,
    /// `rank_start[r]..rank_start[r + 1]` are the operations of rank `r`.
    pub rank_start: Vec<u32>,
    /// `dep_start[i]..dep_start[i + 1]` are the entries of `deps` that belong to operation `i`.
    pub dep_start: Vec<u32>,
    /// Operations (of the same rank) that must be complete before the depending one may start.
    pub deps: Vec<OpId>,
}

impl Schedule {
    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.rank_start.len() as u32 - 1
    }

    /// The operations of `rank`, as a range of [`OpId`].
    pub fn ops_of(&self, rank: u32) -> std::ops::Range<u32> {
        self.rank_start[rank as usize]..self.rank_start[rank as usize + 1]
    }

    /// What operation `op` waits for.
    pub fn deps_of(&self, op: OpId) -> &[OpId] {
        &self.deps[self.dep_start[op as usize] as usize..self.dep_start[op as usize + 1] as usize]
    }

    /// All messages in order of (sender, send order): (from, to, flits, phase).
    pub fn messages(&self) -> impl Iterator<Item = (u32, u32, u32, u32)> + '_ {
        (0..self.ranks()).flat_map(move |rank| {
            self.ops_of(rank).filter_map(move |i| {
                let op = self.ops[i as usize];
                match op.kind {
                    OpKind::Send { to, flits, .. } => Some((rank, to, flits, op.phase)),
                    _ => None,
                }
            })
        })
    }
}

/// Collects the operations of one rank after the other into a [`Schedule`].
#[derive(Debug)]
pub struct ScheduleBuilder {
    schedule: Schedule,
}

impl ScheduleBuilder {
    /// An empty schedule; add rank 0's operations first.
    pub fn new(name: impl Into<String>) -> Self {
        ScheduleBuilder {
            schedule: Schedule {
                name: name.into(),
                ops: Vec::new(),
                rank_start: vec![0],
                dep_start: vec![0],
                deps: Vec::new(),
            },
        }
    }

    /// Appends an operation to the current rank; it waits for `after`, operations of the same rank added before.
    pub fn op(&mut self, kind: OpKind, phase: u32, after: &[OpId]) -> OpId {
        let id = self.schedule.ops.len() as OpId;
        self.schedule.ops.push(Op { kind, phase });
        self.schedule.deps.extend_from_slice(after);
        self.schedule.dep_start.push(self.schedule.deps.len() as u32);
        id
    }

    /// Ends the current rank; what follows belongs to the next one.
    pub fn end_rank(&mut self) {
        self.schedule.rank_start.push(self.schedule.ops.len() as u32);
    }

    /// The finished schedule.
    pub fn build(self) -> Schedule {
        self.schedule
    }
}
