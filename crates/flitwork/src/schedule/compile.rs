//! From bytes and ns to the flits and cycles of a network.

use super::{Body, OpKind, Schedule, SizeUnit, Stored, TimeUnit};
use crate::error::Error;
use crate::units::Units;
use std::sync::Arc;

impl Schedule {
    /// The schedule in flits and cycles. Sizes and times that are so already stay as they are.
    ///
    /// # Errors
    /// [`Error::Config`] if the schedule is in bytes or ns and `units` does not say what these are, or if it is not
    /// stored.
    pub fn compile(&self, units: &Units) -> Result<Schedule, Error> {
        let (in_bytes, in_ns) = (self.sizes == SizeUnit::Bytes, self.times == TimeUnit::Ns);
        if !in_bytes && !in_ns {
            return Ok(self.clone());
        }
        let missing = |field: &str, what: &str| {
            let hint = format!("schedule {} is in {what}", self.name);
            Err(Error::config(format!("network.units.{field}"), "none", "a number more than 0", hint))
        };
        if in_bytes && units.flit_bytes().is_none() {
            return missing("flit_bytes", "bytes");
        }
        if in_ns && units.cycle().is_none() {
            return missing("cycle_ns", "ns");
        }
        let Body::Stored(stored) = &self.body else {
            let fault = "is made as it is needed: make it in flits and cycles".to_string();
            return Err(Error::Schedule { name: self.name.clone(), fault });
        };
        let amount = |kind| match kind {
            OpKind::Send { size, .. } | OpKind::Receive { size, .. } if in_bytes => units.flits(size).unwrap_or(size),
            OpKind::Send { size, .. } | OpKind::Receive { size, .. } => size,
            OpKind::Compute { time } | OpKind::Task { time, .. } | OpKind::WaitUntil { time } if in_ns => {
                units.cycles(time).unwrap_or(time)
            }
            OpKind::Compute { time } | OpKind::Task { time, .. } | OpKind::WaitUntil { time } => time,
            OpKind::Wait | OpKind::Started => 0,
        };
        let ops = stored.ops.iter().map(|op| op.with_amount(amount)).collect();
        let stored = Stored { ops, deps: stored.deps.clone(), ends: stored.ends.clone() };
        let body = Body::Stored(Arc::new(stored));
        Ok(Schedule {
            sizes: SizeUnit::Flits,
            times: TimeUnit::Cycles,
            body,
            name: self.name.clone(),
            ranks: self.ranks,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::ScheduleBuilder;
    use super::*;
    use crate::units::Exact;

    #[test]
    fn bytes_and_ns_are_rounded_up() {
        let mut b = ScheduleBuilder::new("bytes").in_units(SizeUnit::Bytes, TimeUnit::Ns);
        for size in [0, 1, 16, 17, 1 << 40] {
            b.op(OpKind::Send { to: 1, size, tag: 0 }, 3, &[]);
        }
        b.op(OpKind::Compute { time: 5 }, 0, &[4, 1]);
        b.end_rank();
        b.end_rank();
        let schedule = b.build();
        let units = Units::new(Some(16), Some(Exact::from_integer(2))).unwrap();
        let compiled = schedule.compile(&units).unwrap();
        let sizes: Vec<u64> = compiled.messages().map(|m| m.size).collect();
        assert_eq!(sizes, [1, 1, 1, 2, 1 << 36]);
        let last = compiled.operations(0).last().unwrap();
        assert_eq!((last.kind, last.after.iter().collect::<Vec<_>>()), (OpKind::Compute { time: 3 }, vec![4, 1]));
        assert_eq!(compiled.compile(&Units::default()).unwrap().sizes(), SizeUnit::Flits);
        let fault = |units: &Units| schedule.compile(units).unwrap_err().to_string();
        assert!(fault(&Units::default()).contains("network.units.flit_bytes"));
        assert!(fault(&Units::new(Some(16), None).unwrap()).contains("network.units.cycle_ns"));
    }
}
