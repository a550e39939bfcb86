//! What ranks did and when: a row for each operation, with what it waited for.

use super::Places;

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum OperationKind {
    /// Sends a message.
    Send,
    /// Receives one.
    Receive,
    /// Occupies the rank.
    Compute,
    /// Blocks the program until what it depends on is complete.
    Wait,
    /// Occupies a CPU of the rank.
    Task,
    /// Complete when the operation in front of it starts.
    Started,
    /// Blocks the program until one of several operations is complete.
    WaitAny,
    /// Blocks the program until there is a message.
    Probe,
    /// Blocks the program until something happens.
    Poll,
    /// Occupies the rank until it begins: `host.start`.
    LateStart,
    /// Blocks the program until a time.
    WaitUntil,
}

/// Names of all kinds, in the order of their numbers.
pub const OPERATION_KINDS: [&str; 11] =
    ["send", "receive", "compute", "wait", "task", "started", "wait_any", "probe", "poll", "late_start", "wait_until"];

/// One operation. Cycles are absolute; `u64::MAX` means that it had not happened when the run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationRecord {
    /// Rank.
    pub rank: u32,
    /// Number of the operation in the program of the rank.
    pub operation: u32,
    /// What the operation does.
    pub kind: OperationKind,
    /// The other rank of a message; `u32::MAX` where it is open, or there is none.
    pub peer: u32,
    /// Tag of a message; of a task its CPU.
    pub tag: u32,
    /// Length of a message \[flits], or of a computation or a task \[cycles].
    pub amount: u64,
    /// Step of the algorithm that it belongs to.
    pub step: u32,
    /// The program of the rank came to it.
    pub passed: u64,
    /// Cycle in which the operation began: a computation, a task on its CPU, a receive that was posted late. Of all
    /// else `u64::MAX`.
    pub began: u64,
    /// Cycle in which the operation was complete.
    pub ended: u64,
    /// Cycle in which the message of a receive arrived.
    pub arrived: u64,
    /// The operation that sent the message of a receive; `u32::MAX` of all else.
    pub from_operation: u32,
    /// Operations of the rank that it waits for.
    pub waits_for: u32,
}

/// All operations of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OperationReport {
    /// In order of rank and number.
    pub operations: Vec<OperationRecord>,
    /// The numbers of the operations that each waits for, one after the other.
    pub waits_for: Vec<u32>,
    /// The rank and the operation that sent each packet, indexed as the packet records; `u32::MAX` where it has not
    /// arrived.
    pub senders: Vec<(u32, u32)>,
}

impl OperationReport {
    /// The same, each packet numbered by the place of its record.
    pub(crate) fn renumbered(self, places: &Places) -> OperationReport {
        OperationReport { senders: places.put_in_order(&self.senders, (u32::MAX, u32::MAX)), ..self }
    }
}
