//! GOAL programs: the schedule format of LogGOPSim and its family, as text and as binary.
//!
//! A [`Goal`] says for each rank which operations there are (send, receive, calc), on which CPU and NIC of the rank
//! they run, and which of them wait for the end (`requires`) or the start (`irequires`) of others. There is no program
//! order: what waits for nothing may start at once. A `Goal` holds neither labels nor comments, so what is written
//! again is the same program, with the labels `l1`, `l2`, ... in the order of its operations.
//!
//! Dependencies are stored the way they are used, and the way the binary form has them: beside each operation those
//! that wait for it, in the order in which the file names them. That order is part of a program: machines take what
//! becomes ready at once in it.

mod binary;
mod build;
mod of_schedule;
mod on_network;
mod text;
mod write;

pub use build::GoalBuilder;

use super::ANY;
use crate::error::Result;

/// What an operation of a [`Goal`] does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GoalKind {
    /// Send `size` bytes to `peer`.
    Send,
    /// Receive from `peer`, or from any rank.
    Receive,
    /// Compute for `size` ns.
    Calc,
}

/// One operation of a [`Goal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoalOp {
    /// What the operation does.
    pub kind: GoalKind,
    /// CPU of the rank that it runs on.
    pub cpu: u8,
    /// NIC of the rank that it uses; 0 of a calc.
    pub nic: u8,
    /// The other rank, or [`ANY`] of a receive; 0 of a calc.
    pub peer: u32,
    /// Tag of the message, or [`ANY`]; 0 of a calc.
    pub tag: u32,
    /// Length of the message \[bytes], or of the calc \[ns].
    pub size: u64,
}

impl GoalOp {
    /// A name for it in messages.
    pub(crate) fn describe(&self) -> String {
        let name = |value: u32| if value == ANY { "-1".into() } else { value.to_string() };
        let GoalOp { size, peer, tag, .. } = *self;
        match self.kind {
            GoalKind::Send => format!("send {size}b to {peer} tag {}", name(tag)),
            GoalKind::Receive => format!("recv {size}b from {} tag {}", name(peer), name(tag)),
            GoalKind::Calc => format!("calc {size}"),
        }
    }
}

/// What of another operation an operation waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Its end: `requires`.
    Finished,
    /// Its start: `irequires`.
    Started,
}

/// What every rank does. Read from a file, or made by a [`GoalBuilder`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Goal {
    /// Operations of all ranks, rank after rank.
    ops: Vec<GoalOp>,
    /// For each operation those of its rank that wait for its end, then those that wait for its start.
    dependants: Vec<u32>,
    /// Where these lists begin, two for each operation; at the end where the last one ends.
    lists: Vec<usize>,
    /// How many dependencies each operation has.
    needs: Vec<u32>,
    /// Where the operations of each rank begin; at the end where those of the last one end.
    ranks: Vec<usize>,
}

/// Most operations of a program.
pub(crate) const MOST_OPERATIONS: usize = u32::MAX as usize;

impl Goal {
    /// Reads a GOAL file, text or binary. `name` is what errors call it.
    ///
    /// # Errors
    /// [`crate::Error::Config`] with line and column (binary: the byte) of what is wrong.
    pub fn read(bytes: &[u8], name: &str) -> Result<Self> {
        // Some editors begin a text with a mark of its byte order.
        let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        if binary::is_binary(bytes) { binary::read(bytes, name) } else { text::read(text, name) }
    }

    /// The program as GOAL text.
    pub fn to_text(&self) -> String {
        write::to_text(self)
    }

    /// The program as GOAL binary.
    pub fn to_binary(&self) -> Vec<u8> {
        binary::write(self)
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        (self.ranks.len() - 1) as u32
    }

    /// Number of operations of all ranks.
    pub fn operations(&self) -> usize {
        self.ops.len()
    }

    /// All operations, rank after rank.
    pub fn ops(&self) -> &[GoalOp] {
        &self.ops
    }

    /// Number of the first operation of a rank among those of all ranks.
    pub fn first(&self, rank: u32) -> usize {
        self.ranks[rank as usize]
    }

    /// The operations of a rank.
    pub fn of_rank(&self, rank: u32) -> &[GoalOp] {
        &self.ops[self.ranks[rank as usize]..self.ranks[rank as usize + 1]]
    }

    /// The operations of the same rank, by their numbers in it, that wait for operation `op` of all.
    pub fn waiting_for(&self, op: usize, until: Until) -> &[u32] {
        let list = 2 * op + usize::from(until == Until::Started);
        &self.dependants[self.lists[list]..self.lists[list + 1]]
    }

    /// How many dependencies each operation has.
    pub fn needs(&self) -> &[u32] {
        &self.needs
    }

    /// Number of dependencies of all operations.
    pub fn dependencies(&self) -> usize {
        self.dependants.len()
    }

    /// The highest number of a CPU, and of a NIC.
    pub fn highest_streams(&self) -> (u8, u8) {
        self.ops.iter().fold((0, 0), |(cpu, nic), op| (cpu.max(op.cpu), nic.max(op.nic)))
    }
}

#[cfg(test)]
mod tests;
