//! Stored schedules outside of memory: from columns, one row an operation, and to bytes and back.
//!
//! Whoever hands over columns or bytes may be wrong about them: lengths, ranks and dependencies are checked here, so
//! that a schedule in memory is always in form ([`super::check_form`]).

use super::op::{Packed, number};
use super::{ANY, Body, OpKind, Schedule, ScheduleBuilder, SizeUnit, Stored, TimeUnit, Via, check_form};
use crate::error::Error;
use std::sync::Arc;

/// The operations of a schedule as columns, those of rank 0 first, each rank's in program order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScheduleColumns {
    /// Operations of each rank.
    pub operations: Vec<u64>,
    /// What each does: the kind of its [`OpKind::numbers`].
    pub kind: Vec<u8>,
    /// The other rank of a send or a receive, [`ANY`] for a receive from any; of a task its CPU.
    pub peer: Vec<u32>,
    /// Size or time.
    pub amount: Vec<u64>,
    /// Tag; [`ANY`] for a receive of any.
    pub tag: Vec<u32>,
    /// Step.
    pub step: Vec<u32>,
    /// By which network, as [`Via::code`] counts them; nothing: all by the network of routers and channels.
    pub via: Vec<u8>,
    /// Dependencies of each operation.
    pub dependencies: Vec<u32>,
    /// All dependencies, one operation's behind the other's.
    pub after: Vec<u32>,
}

impl Schedule {
    /// A stored schedule from its columns.
    ///
    /// # Errors
    /// [`Error::Schedule`] where columns do not fit each other, or an operation makes no sense.
    pub fn from_columns(
        name: impl Into<String>,
        (sizes, times): (SizeUnit, TimeUnit),
        columns: &ScheduleColumns,
    ) -> Result<Schedule, Error> {
        let name = name.into();
        let mut b = ScheduleBuilder::new(&name).in_units(sizes, times);
        columns.check().map_err(|fault| Error::Schedule { name, fault: fault.into() })?;
        let (mut op, mut dep) = (0, 0);
        for &operations in &columns.operations {
            for _ in 0..operations {
                let after = &columns.after[dep..dep + columns.dependencies[op] as usize];
                let via = columns.via.get(op).and_then(|&code| Via::of_code(code)).unwrap_or_default();
                b.op_via(columns.operation(op).unwrap_or(OpKind::Wait), via, columns.step[op], after);
                (op, dep) = (op + 1, dep + after.len());
            }
            b.end_rank();
        }
        let schedule = b.build();
        check_form(&schedule)?;
        Ok(schedule)
    }

    /// Its operations as columns, as [`Schedule::from_columns`] takes them.
    pub fn to_columns(&self) -> ScheduleColumns {
        let mut columns = ScheduleColumns::default();
        for rank in 0..self.ranks {
            let before = columns.kind.len();
            for op in self.operations(rank) {
                let (kind, peer, amount, tag) = op.kind.numbers();
                columns.kind.push(kind);
                columns.peer.push(peer);
                columns.amount.push(amount);
                columns.tag.push(tag);
                columns.step.push(op.step);
                columns.via.push(op.via.code());
                let waits = columns.after.len();
                columns.after.extend(op.after.iter());
                columns.dependencies.push((columns.after.len() - waits) as u32);
            }
            columns.operations.push((columns.kind.len() - before) as u64);
        }
        columns
    }

    /// Operations and dependencies that it stores.
    pub(crate) fn stored_rows(&self) -> (u64, u64) {
        match &self.body {
            Body::Stored(stored) => (stored.ops.len() as u64, stored.deps.len() as u64),
            Body::Made(_) | Body::Driven => (0, 0),
        }
    }

    /// Bytes in memory.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let (ops, deps) = self.stored_rows();
        ops * size_of::<Packed>() as u64 + deps * size_of::<u32>() as u64 + 16 * u64::from(self.ranks)
    }

    /// What is in a stored schedule, piece by piece; of others nothing.
    pub(crate) fn write(&self, sink: &mut dyn FnMut(&[u8])) {
        let Body::Stored(stored) = &self.body else { return };
        let units = [u8::from(self.sizes == SizeUnit::Bytes), u8::from(self.times == TimeUnit::Ns)];
        sink(&units);
        [u64::from(self.ranks), stored.ops.len() as u64, stored.deps.len() as u64, self.name.len() as u64]
            .iter()
            .for_each(|number| sink(&number.to_le_bytes()));
        sink(self.name.as_bytes());
        stored.ends.windows(2).for_each(|ends| sink(&((ends[1].0 - ends[0].0) as u64).to_le_bytes()));
        stored.ops.iter().for_each(|op| sink(&op.to_bytes()));
        stored.deps.iter().for_each(|dep| sink(&dep.to_le_bytes()));
    }

    /// What [`Schedule::write`] wrote; `None` of all else.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Schedule> {
        let mut rest = Reader(bytes);
        let units = rest.take(2)?;
        let (in_bytes, in_ns) = (units[0] == 1, units[1] == 1);
        let [ranks, ops, deps, name] = [rest.number()?, rest.number()?, rest.number()?, rest.number()?];
        let name = String::from_utf8(rest.take(name)?.to_vec()).ok()?;
        let counts: Vec<usize> =
            rest.take(ranks.checked_mul(8)?)?.chunks_exact(8).map(|b| number(b) as usize).collect();
        let ops: Vec<Packed> =
            rest.take(ops.checked_mul(Packed::BYTES)?)?.chunks_exact(Packed::BYTES).map(Packed::from_bytes).collect();
        let deps: Vec<u32> = rest.take(deps.checked_mul(4)?)?.chunks_exact(4).map(|b| number(b) as u32).collect();
        let mut ends = vec![(0, 0)];
        let (mut op, mut dep) = (0usize, 0usize);
        for count in counts {
            let of_rank = ops.get(op..op.checked_add(count)?)?;
            dep = of_rank.iter().try_fold(dep, |dep, op| dep.checked_add(op.deps()))?;
            op += count;
            ends.push((op, dep));
        }
        if !rest.0.is_empty() || (op, dep) != (ops.len(), deps.len()) {
            return None;
        }
        let body = Body::Stored(Arc::new(Stored { ops, deps, ends }));
        let sizes = if in_bytes { SizeUnit::Bytes } else { SizeUnit::Flits };
        let times = if in_ns { TimeUnit::Ns } else { TimeUnit::Cycles };
        let schedule = Schedule { name, ranks: ranks as u32, sizes, times, body };
        check_form(&schedule).is_ok().then_some(schedule)
    }
}

impl ScheduleColumns {
    /// Whether the columns fit each other.
    fn check(&self) -> Result<(), &'static str> {
        let rows = self.kind.len();
        let same = [self.peer.len(), self.amount.len(), self.tag.len(), self.step.len(), self.dependencies.len()];
        let operations = self.operations.iter().try_fold(0u64, |sum, &count| sum.checked_add(count));
        let via = self.via.is_empty() || self.via.len() == rows;
        if !via || same.iter().any(|&len| len != rows) || operations != Some(rows as u64) {
            return Err("has columns of different lengths");
        }
        if self.dependencies.iter().map(|&deps| u64::from(deps)).sum::<u64>() != self.after.len() as u64 {
            return Err("has other dependencies than its operations say");
        }
        if self.operations.len() >= ANY as usize || rows > u32::MAX as usize {
            return Err("has more than 2^32 ranks or operations");
        }
        if self.via.iter().any(|&code| Via::of_code(code).is_none()) {
            return Err("has an operation by no network");
        }
        match (0..rows).all(|op| self.operation(op).is_some()) {
            true => Ok(()),
            false => Err("has an operation of no kind"),
        }
    }

    fn operation(&self, op: usize) -> Option<OpKind> {
        OpKind::of_numbers(self.kind[op], self.peer[op], self.amount[op], self.tag[op])
    }
}

/// Bytes that have not been read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<usize> {
        self.take(8).map(|bytes| number(bytes) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> ScheduleColumns {
        ScheduleColumns {
            operations: vec![2, 5],
            kind: vec![0, 3, 1, 2, 4, 5, 10],
            peer: vec![1, 0, ANY, 0, 3, 0, 0],
            amount: vec![1 << 40, 0, 1 << 41, 9, 5, 0, 70],
            tag: vec![7, 0, ANY, 0, 0, 0, 0],
            step: vec![3, 0, 3, 0, 0, 0, 2],
            via: vec![1, 0, 0, 0, 0, 0, 0],
            dependencies: vec![0, 1, 0, 1, 2, 0, 0],
            after: vec![0, 0, 0, 1],
        }
    }

    fn schedule() -> Schedule {
        Schedule::from_columns("pair", (SizeUnit::Bytes, TimeUnit::Ns), &columns()).unwrap()
    }

    #[test]
    fn columns_come_back_as_they_were_given() {
        assert_eq!(schedule().to_columns(), columns());
        let every = (0..=u8::MAX).filter(|&kind| OpKind::of_numbers(kind, 0, 0, 0).is_some());
        assert!(every.into_iter().all(|kind| columns().kind.contains(&kind)), "a row of every kind");
    }

    fn same(a: &Schedule, b: &Schedule) -> bool {
        let all =
            |s: &Schedule| (0..s.ranks()).map(|r| s.operations(r).map(|op| format!("{op:?}")).collect()).collect();
        let (left, right): (Vec<Vec<String>>, Vec<Vec<String>>) = (all(a), all(b));
        (a.name(), a.ranks(), a.sizes(), a.times()) == (b.name(), b.ranks(), b.sizes(), b.times()) && left == right
    }

    fn bytes(s: &Schedule) -> Vec<u8> {
        let mut bytes = Vec::new();
        s.write(&mut |piece| bytes.extend_from_slice(piece));
        bytes
    }

    #[test]
    fn a_schedule_survives_its_bytes_and_no_other() {
        let (s, whole) = (schedule(), bytes(&schedule()));
        assert!(same(&Schedule::from_bytes(&whole).unwrap(), &s));
        for cut in 0..whole.len() {
            assert!(Schedule::from_bytes(&whole[..cut]).is_none(), "{cut}");
        }
        // Whatever byte is changed, it is refused or another schedule in form.
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x41;
            if let Some(other) = Schedule::from_bytes(&changed) {
                check_form(&other).unwrap();
            }
        }
    }

    #[test]
    fn columns_that_make_no_sense_are_refused() {
        let good = ScheduleColumns {
            operations: vec![1, 1],
            kind: vec![0, 1],
            peer: vec![1, 0],
            amount: vec![4, 4],
            tag: vec![0, 0],
            step: vec![0, 0],
            via: vec![],
            dependencies: vec![0, 0],
            after: vec![],
        };
        let fault = |columns: &ScheduleColumns| {
            Schedule::from_columns("s", (SizeUnit::Flits, TimeUnit::Cycles), columns).unwrap_err().to_string()
        };
        assert!(Schedule::from_columns("s", (SizeUnit::Flits, TimeUnit::Cycles), &good).is_ok());
        assert!(fault(&ScheduleColumns { peer: vec![1], ..good.clone() }).contains("different lengths"));
        assert!(
            fault(&ScheduleColumns { operations: vec![u64::MAX, 3], ..good.clone() }).contains("different lengths")
        );
        assert!(fault(&ScheduleColumns { dependencies: vec![1, 0], ..good.clone() }).contains("other dependencies"));
        assert!(fault(&ScheduleColumns { kind: vec![0, 6], ..good.clone() }).contains("no kind"));
        assert!(fault(&ScheduleColumns { kind: vec![0, 4], peer: vec![1, 256], ..good.clone() }).contains("no kind"));
        assert!(fault(&ScheduleColumns { via: vec![0], ..good.clone() }).contains("different lengths"));
        assert!(fault(&ScheduleColumns { via: vec![9, 0], ..good.clone() }).contains("by no network"));
        assert!(
            fault(&ScheduleColumns { via: vec![2, 0], ..good.clone() }).contains("has no message before it on the bus")
        );
        assert!(fault(&ScheduleColumns { peer: vec![2, 0], ..good.clone() }).contains("names rank 2 of 2"));
        assert!(fault(&ScheduleColumns { amount: vec![0, 4], ..good.clone() }).contains("0 flits"));
    }
}
