//! Ranks that a program drives: their requests for operations, and how the program answers them.

use super::Simulation;
use crate::error::{Error, Result};
use crate::host::{Completion, Task, TaskKind};
use crate::schedule::{ANY, OpId, OpKind, Operation};

impl Simulation {
    /// Ranks that request their next operations, in the order in which they began to.
    pub fn requests(&self) -> impl Iterator<Item = u32> {
        self.requests.iter().copied().filter(|&rank| self.hosts.as_ref().is_some_and(|hosts| hosts.requests(rank)))
    }

    /// Supplies a rank that requests operations with what it does next, from this cycle on. Operations of a rank are
    /// numbered from 0 in the order in which they are supplied; an operation may wait for earlier ones. Without any
    /// operation the rank is at its end.
    ///
    /// # Errors
    /// [`Error::Schedule`] where the rank requests nothing, and where an operation makes no sense; nothing is supplied
    /// then.
    pub fn supply_operations(&mut self, rank: u32, operations: Vec<Operation<'static>>) -> Result<()> {
        self.supply(rank, operations.into_iter().map(Task::from).collect())
    }

    /// Supplies a rank that requests operations with tasks: operations as of a schedule, and those that only a driven
    /// rank has. Like [`Simulation::supply_operations`] otherwise.
    ///
    /// # Errors
    /// [`Error::Schedule`] where the rank requests nothing, and where a task makes no sense; nothing is supplied then.
    pub fn supply(&mut self, rank: u32, tasks: Vec<Task>) -> Result<()> {
        let fault = |fault: String| Err(Error::Schedule { name: self.limits.schedule.clone(), fault });
        let Some(hosts) = self.hosts.as_mut().filter(|hosts| rank < hosts.ranks() && hosts.requests(rank)) else {
            return fault(format!("rank {rank} does not ask what to do next"));
        };
        let (ranks, before) = (self.supplied.len() as u32, self.supplied[rank as usize]);
        for (op, task) in (before..).zip(&tasks) {
            if let Some(what) = wrong(task, op, ranks, (hosts.has_bus(), hosts.has_barrier_tree())) {
                return fault(format!("rank {rank} operation {op} {what}"));
            }
        }
        self.supplied[rank as usize] += tasks.len() as u32;
        if tasks.is_empty() {
            hosts.end(rank);
        } else {
            hosts.supply(rank, tasks);
        }
        self.networks[0].nics.wake(hosts.terminal_of(rank));
        Ok(())
    }

    /// From now on sends and receives that complete are noted, for [`Simulation::take_completions`].
    pub fn note_completions(&mut self) {
        if let Some(hosts) = &mut self.hosts {
            hosts.note_completions();
        }
    }

    /// Sends and receives that have completed since the last call, in that order.
    pub fn take_completions(&mut self) -> Vec<Completion> {
        self.hosts.as_mut().map(|hosts| hosts.take_completions()).unwrap_or_default()
    }

    /// The message that a receive of `rank` (from a rank or [`ANY`], with a tag or [`ANY`], in a context) would take if
    /// it were posted now, by its sender and its send operation. Nothing of a rank that does not exist.
    pub fn probe(&self, rank: u32, from: u32, tag: u32, context: u32) -> Option<(u32, OpId)> {
        self.hosts.as_ref().filter(|hosts| rank < hosts.ranks())?.probe(rank, from, tag, context)
    }

    /// Takes back a receive, if it has no message: it is complete then. Whether it could be.
    pub fn cancel(&mut self, rank: u32, op: OpId) -> bool {
        let now = self.now;
        self.hosts.as_mut().filter(|hosts| rank < hosts.ranks()).is_some_and(|hosts| hosts.cancel(rank, op, now))
    }
}

/// What is wrong with operation number `op` of one of `ranks` ranks.
fn wrong(task: &Task, op: u32, ranks: u32, (has_bus, has_tree): (bool, bool)) -> Option<String> {
    let no_rank = |from: u32| from >= ranks && from != ANY;
    match task.kind {
        TaskKind::Operation(OpKind::Send { to, .. }) if to >= ranks => {
            return Some(format!("sends to rank {to} of {ranks}"));
        }
        TaskKind::Operation(OpKind::Receive { from, .. }) | TaskKind::Probe { from, .. } if no_rank(from) => {
            return Some(format!("receives from rank {from} of {ranks}"));
        }
        TaskKind::Operation(OpKind::Send { size: 0, .. }) => return Some("sends a message of 0 flits".into()),
        TaskKind::Operation(OpKind::Send { .. }) if task.envelope.via.is_bus() && !has_bus => {
            return Some("goes by the bus, and the machine has none: set network.bus".into());
        }
        TaskKind::Operation(OpKind::Send { .. }) if task.envelope.via.is_tree() && !has_tree => {
            return Some("goes by the barrier tree, and the machine has none: set network.barrier_tree".into());
        }
        TaskKind::Operation(OpKind::Send { size, .. }) if task.envelope.via.is_tree() && size > 1 => {
            return Some("sends more than 1 flit by the barrier tree".into());
        }
        TaskKind::WaitAny if task.after.is_empty() => return Some("waits for any of no operations".into()),
        _ => {}
    }
    let later = task.after.iter().find(|&&other| other >= op)?;
    Some(format!("waits for operation {later}, which does not come before it"))
}
