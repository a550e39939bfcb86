//! A GOAL program as a schedule, for networks with routers.
//!
//! A program is no sequence: each operation starts when what it waits for allows it. So operations are put in an order
//! in which each stands behind what it waits for (of those that could be next the first in the file), and nothing in it
//! blocks: receives are posted and tasks run as their dependencies allow, sends leave as they are ready
//! (`send_queue = "as_ready"`). A dependency on a start is one on a [`OpKind::Started`] behind that operation.

use super::{Goal, GoalKind, Until};
use crate::error::{Error, Result};
use crate::schedule::{ANY, OpId, OpKind, Schedule, ScheduleBuilder, SizeUnit, TimeUnit};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

impl Goal {
    /// The program as a schedule in bytes and ns. CPUs stay; which NIC an operation names is left out, as a terminal
    /// has one. Receives take messages of any length.
    ///
    /// # Errors
    /// [`Error::Schedule`] for a send with any tag: no receive could name it.
    pub fn to_schedule(&self, name: &str) -> Result<Schedule> {
        let longest = self.ops.iter().filter(|op| op.kind == GoalKind::Send).map(|op| op.size).max().unwrap_or(0);
        let mut builder = ScheduleBuilder::new(name).in_units(SizeUnit::Bytes, TimeUnit::Ns);
        for rank in 0..self.ranks() {
            self.rank_to_schedule(rank, longest, &mut builder).map_err(|op| {
                let what = self.of_rank(rank)[op].describe();
                let fault = format!("rank {rank} operation {} ({what}) has no tag that a receive could name", op + 1);
                Error::Schedule { name: name.into(), fault }
            })?;
            builder.end_rank();
        }
        Ok(builder.build())
    }

    /// The operations of a rank; the number of one that cannot be translated.
    fn rank_to_schedule(&self, rank: u32, longest: u64, builder: &mut ScheduleBuilder) -> Result<(), usize> {
        let (first, ops) = (self.first(rank), self.of_rank(rank));
        let mut left = self.needs[first..first + ops.len()].to_vec();
        // Operations of the schedule that each waits for.
        let mut after: Vec<Vec<OpId>> = vec![Vec::new(); ops.len()];
        let mut next: BinaryHeap<Reverse<usize>> = (0..ops.len()).filter(|&op| left[op] == 0).map(Reverse).collect();
        while let Some(Reverse(op)) = next.pop() {
            let mut waits = std::mem::take(&mut after[op]);
            waits.sort_unstable();
            waits.dedup();
            let (peer, tag, size) = (ops[op].peer, ops[op].tag, ops[op].size);
            let kind = match ops[op].kind {
                GoalKind::Send if tag == ANY => return Err(op),
                GoalKind::Send => OpKind::Send { to: peer, size, tag },
                GoalKind::Receive => OpKind::Receive { from: peer, size: longest, tag },
                GoalKind::Calc => OpKind::Task { time: size, cpu: ops[op].cpu },
            };
            let end = builder.op(kind, 0, &waits);
            let watched = !self.waiting_for(first + op, Until::Started).is_empty();
            let start = if watched { builder.op(OpKind::Started, 0, &[]) } else { end };
            for (until, on) in [(Until::Finished, end), (Until::Started, start)] {
                for &of in self.waiting_for(first + op, until) {
                    let of = of as usize;
                    after[of].push(on);
                    left[of] -= 1;
                    if left[of] == 0 {
                        next.push(Reverse(of));
                    }
                }
            }
        }
        Ok(())
    }
}
