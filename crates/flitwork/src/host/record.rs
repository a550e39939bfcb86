//! What ranks did and when, where that is recorded: each operation as its program comes to it, begins and is complete.

use super::ranks::{Hosts, Rank};
use super::requests::{Task, TaskKind};
use super::window::Window;
use crate::measure::{OperationKind, OperationRecord, OperationReport};
use crate::schedule::{After, OpId, OpKind, Operation};

const NEVER: u64 = u64::MAX;
const NOBODY: u32 = u32::MAX;

/// The operations of a rank so far.
#[derive(Debug, Default)]
pub(super) struct RankLog {
    rank: u32,
    operations: Vec<OperationRecord>,
    waits_for: Vec<u32>,
    /// Whether its first operation is a start of its own.
    starts_late: bool,
}

impl RankLog {
    fn pass(&mut self, what: (OperationKind, u32, u32, u64), step: u32, after: impl Iterator<Item = OpId>, now: u64) {
        let (kind, peer, tag, amount) = what;
        let before = self.waits_for.len();
        self.waits_for.extend(after);
        self.operations.push(OperationRecord {
            rank: self.rank,
            operation: self.operations.len() as u32,
            kind: if self.starts_late && self.operations.is_empty() { OperationKind::LateStart } else { kind },
            peer,
            tag,
            amount,
            step,
            passed: now,
            began: NEVER,
            ended: NEVER,
            arrived: NEVER,
            from_operation: NOBODY,
            waits_for: (self.waits_for.len() - before) as u32,
        });
    }

    /// An operation begins: a receive is posted, a task gets its CPU.
    pub fn begin(&mut self, op: OpId, now: u64) {
        self.operations[op as usize].began = now;
    }

    /// An operation is complete.
    pub fn complete(&mut self, op: OpId, now: u64) {
        self.operations[op as usize].ended = now;
    }

    /// A receive takes a message of rank `from`, sent by its operation `sent_by`, that arrived in cycle `arrived`.
    pub fn receive(&mut self, op: OpId, from: u32, sent_by: OpId, arrived: u64) {
        let record = &mut self.operations[op as usize];
        (record.peer, record.from_operation, record.arrived) = (from, sent_by, arrived);
    }
}

/// Kind, other rank, tag and amount.
fn described(kind: &OpKind) -> (OperationKind, u32, u32, u64) {
    match *kind {
        OpKind::Send { to, size, tag } => (OperationKind::Send, to, tag, size),
        OpKind::Receive { from, size, tag } => (OperationKind::Receive, from, tag, size),
        OpKind::Compute { time } => (OperationKind::Compute, NOBODY, 0, time),
        OpKind::Wait => (OperationKind::Wait, NOBODY, 0, 0),
        OpKind::WaitUntil { time } => (OperationKind::WaitUntil, NOBODY, 0, time),
        OpKind::Task { time, cpu } => (OperationKind::Task, NOBODY, u32::from(cpu), time),
        OpKind::Started => (OperationKind::Started, NOBODY, 0, 0),
    }
}

/// The program of a rank reads an operation of a schedule; its number.
#[inline]
pub(super) fn pass(window: &mut Window, log: &mut Option<Box<RankLog>>, operation: &Operation, now: u64) -> OpId {
    if let Some(log) = log {
        log.pass(described(&operation.kind), operation.step, operation.after.iter(), now);
    }
    window.push(&operation.after)
}

impl Rank {
    /// The program reads what the rank was supplied with; its number.
    pub(super) fn pass_task(&mut self, task: Task, now: u64) -> OpId {
        let Task { kind, after, .. } = task;
        if let Some(log) = &mut self.log {
            let what = match kind {
                TaskKind::Operation(ref kind) => described(kind),
                TaskKind::WaitAny => (OperationKind::WaitAny, NOBODY, 0, 0),
                TaskKind::Probe { from, tag } => (OperationKind::Probe, from, tag, 0),
                TaskKind::Poll { cycles } => (OperationKind::Poll, NOBODY, 0, cycles),
            };
            log.pass(what, 0, after.iter().copied(), now);
        }
        if kind == TaskKind::WaitAny {
            self.window.push_any(&after)
        } else {
            self.window.push(&After::List(after.into()))
        }
    }
}

impl Hosts {
    /// From now on operations are recorded; `late[r]`: rank `r` begins with its start.
    pub fn record_operations(&mut self, late: impl Fn(usize) -> bool) {
        // What a rank will do is known only when its program has come to it.
        self.reads_late = false;
        self.senders = Some(Vec::new());
        for (number, rank) in self.ranks.iter_mut().enumerate() {
            let (rank_number, starts_late) = (number as u32, late(number));
            rank.log = Some(Box::new(RankLog { rank: rank_number, starts_late, ..RankLog::default() }));
        }
    }

    /// A packet of a message, recorded as `record`, has arrived; before [`Hosts::arrived`].
    #[inline]
    pub fn packet_arrives(&mut self, id: u32, record: u32) {
        if let Some(senders) = &mut self.senders {
            let record = record as usize;
            if senders.len() <= record {
                senders.resize(record + 1, (NOBODY, NOBODY));
            }
            let message = &self.in_flight[id];
            senders[record] = (message.from, message.op);
        }
    }

    /// What was recorded.
    pub fn into_operations(self) -> Option<OperationReport> {
        let mut report = OperationReport { senders: self.senders?, ..OperationReport::default() };
        for log in self.ranks.into_iter().filter_map(|rank| rank.log) {
            report.operations.extend(log.operations);
            report.waits_for.extend(log.waits_for);
        }
        Some(report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::OPERATION_KINDS;

    #[test]
    fn an_operation_has_one_number_wherever_it_is_written() {
        let kinds: Vec<OpKind> = (0..=u8::MAX).filter_map(|kind| OpKind::of_numbers(kind, 3, 4, 5)).collect();
        assert_eq!(kinds.len(), 7, "a kind that is new needs its number in OpKind::of_numbers");
        for operation in kinds {
            let (number, recorded) = (operation.numbers().0, described(&operation).0);
            assert_eq!(number, recorded as u8, "{operation:?}");
            let name = OPERATION_KINDS[usize::from(number)].replace('_', "");
            assert_eq!(name, format!("{recorded:?}").to_lowercase());
        }
    }
}
