//! From operations to a schedule.

use super::op::Packed;
use super::{Body, OpId, OpKind, Schedule, SizeUnit, Stored, TimeUnit, Via};
use std::sync::Arc;

/// Collects the operations of one rank after the other into a [`Schedule`].
#[derive(Debug)]
pub struct ScheduleBuilder {
    name: String,
    sizes: SizeUnit,
    times: TimeUnit,
    stored: Stored,
}

impl ScheduleBuilder {
    /// An empty schedule in flits and cycles; add rank 0's operations first.
    pub fn new(name: impl Into<String>) -> Self {
        let stored = Stored { ops: Vec::new(), deps: Vec::new(), ends: vec![(0, 0)] };
        ScheduleBuilder { name: name.into(), sizes: SizeUnit::Flits, times: TimeUnit::Cycles, stored }
    }

    /// In other units.
    #[must_use]
    pub fn in_units(self, sizes: SizeUnit, times: TimeUnit) -> Self {
        ScheduleBuilder { sizes, times, ..self }
    }

    /// Appends an operation to the current rank and returns its number there; it waits for `after`, operations of the
    /// same rank.
    pub fn op(&mut self, kind: OpKind, step: u32, after: &[OpId]) -> OpId {
        self.op_via(kind, Via::Network, step, after)
    }

    /// Adds an operation of a rank that goes by `via`, a network of the machine.
    pub fn op_via(&mut self, kind: OpKind, via: Via, step: u32, after: &[OpId]) -> OpId {
        let id = self.next_op();
        self.stored.ops.push(Packed::new(kind, via, step, after.len()));
        self.stored.deps.extend_from_slice(after);
        id
    }

    /// The number that the next operation gets.
    pub fn next_op(&self) -> OpId {
        let first = self.stored.ends.last().map_or(0, |end| end.0);
        (self.stored.ops.len() - first) as OpId
    }

    /// Ends the current rank; what follows belongs to the next one.
    pub fn end_rank(&mut self) {
        self.stored.ends.push((self.stored.ops.len(), self.stored.deps.len()));
    }

    /// The finished schedule.
    pub fn build(self) -> Schedule {
        let ranks = self.stored.ends.len() as u32 - 1;
        let body = Body::Stored(Arc::new(self.stored));
        Schedule { name: self.name, ranks, sizes: self.sizes, times: self.times, body }
    }
}
