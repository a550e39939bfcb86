//! Any schedule as a GOAL program: for LogGOPSim and its family, and for the ideal machine.
//!
//! A schedule has an order where a GOAL program has none. What blocks the program of a rank, a wait or a computation,
//! is waited for by all behind it (a wait is a calc of 0 ns); where messages leave in program order each send waits for
//! the start of the one before.

use super::build::GoalBuilder;
use super::{Goal, GoalKind, GoalOp, MOST_OPERATIONS, Until};
use crate::error::{Error, Result};
use crate::schedule::{OpKind, Schedule, SendQueue, SizeUnit, TimeUnit, Units};

impl Goal {
    /// What `schedule` says as a GOAL program. Flits and cycles become bytes and ns by `units`.
    ///
    /// # Errors
    /// [`Error::Config`] if `units` does not say what flits and cycles are, or for ranks that ask what to do.
    pub fn of_schedule(schedule: &Schedule, units: &Units, queue: SendQueue) -> Result<Goal> {
        if schedule.is_driven() {
            return Err(Error::config(
                "workload",
                "ranks that ask",
                "a schedule",
                "nobody knows yet what they will do",
            ));
        }
        let missing = |field: &str, what: &str| {
            let hint = format!("GOAL is in bytes and ns, schedule {} in {what}", schedule.name());
            Error::config(format!("network.units.{field}"), "none", "a number more than 0", hint)
        };
        let flit_bytes = match schedule.sizes() {
            SizeUnit::Bytes => 1,
            SizeUnit::Flits => units.flit_bytes().ok_or_else(|| missing("flit_bytes", "flits"))?,
        };
        let cycle_ns = match schedule.times() {
            TimeUnit::Ns => 1.0,
            TimeUnit::Cycles => units.cycle_ns().unwrap_or(0.0),
        };
        let mut builder = GoalBuilder::new();
        for rank in 0..schedule.ranks() {
            let mut maker = Maker { builder: &mut builder, of: Vec::new(), blocked_by: None, sent: None };
            for op in schedule.operations(rank) {
                let time = |time: u64| {
                    if time > 0 && cycle_ns == 0.0 {
                        return Err(missing("cycle_ns", "cycles"));
                    }
                    Ok((time as f64 * cycle_ns).round() as u64)
                };
                let size = |size: u64| size.saturating_mul(u64::from(flit_bytes));
                let goal_op = |kind, size| GoalOp { kind, cpu: 0, nic: 0, peer: 0, tag: 0, size };
                let made = match op.kind {
                    OpKind::Send { to, size: s, tag } => GoalOp { peer: to, tag, ..goal_op(GoalKind::Send, size(s)) },
                    OpKind::Receive { from, size: s, tag } => {
                        GoalOp { peer: from, tag, ..goal_op(GoalKind::Receive, size(s)) }
                    }
                    OpKind::Compute { time: t } => goal_op(GoalKind::Calc, time(t)?),
                    OpKind::Task { time: t, cpu } => GoalOp { cpu, ..goal_op(GoalKind::Calc, time(t)?) },
                    OpKind::Wait => goal_op(GoalKind::Calc, 0),
                    OpKind::WaitUntil { time } => {
                        let fault =
                            format!("rank {rank} waits until {time}: GOAL has no operation that waits for a time");
                        return Err(Error::Schedule { name: schedule.name().into(), fault });
                    }
                    OpKind::Started => {
                        maker.started();
                        continue;
                    }
                };
                maker.add(made, op.after.iter(), matches!(op.kind, OpKind::Compute { .. } | OpKind::Wait), queue);
            }
            maker.link();
            if builder.in_all() > MOST_OPERATIONS || builder.end_rank().is_err() {
                let fault = format!("rank {rank}: operations wait for each other, or are more than {MOST_OPERATIONS}");
                return Err(Error::Schedule { name: schedule.name().into(), fault });
            }
        }
        Ok(builder.build())
    }
}

/// Makes the operations of a rank.
struct Maker<'b> {
    builder: &'b mut GoalBuilder,
    /// For each operation of the schedule the one of the program, whether it stands for its end, and what it waits for.
    of: Vec<(u32, Until, Vec<u32>)>,
    blocked_by: Option<u32>,
    sent: Option<u32>,
}

impl Maker<'_> {
    fn add(&mut self, made: GoalOp, after: impl Iterator<Item = u32>, blocks: bool, queue: SendQueue) {
        let op = self.builder.op(made);
        self.of.push((op, Until::Finished, after.collect()));
        if let Some(before) = self.blocked_by {
            self.builder.depend(op, before, Until::Finished);
        }
        if made.kind == GoalKind::Send && queue == SendQueue::ProgramOrder {
            if let Some(before) = self.sent.replace(op) {
                self.builder.depend(op, before, Until::Started);
            }
        }
        if blocks {
            self.blocked_by = Some(op);
        }
    }

    /// The start of the operation that was added last.
    fn started(&mut self) {
        if let Some(&(op, ..)) = self.of.last() {
            self.of.push((op, Until::Started, Vec::new()));
        }
    }

    /// What waits for what: operations may wait for later ones, too.
    fn link(&mut self) {
        for (op, _, after) in &self.of {
            for &on in after {
                if let Some(&(on, until, _)) = self.of.get(on as usize) {
                    self.builder.depend(*op, on, until);
                }
            }
        }
    }
}
