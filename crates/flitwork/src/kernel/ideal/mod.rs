//! The ideal machine of the LogGOPS model: it executes a GOAL program, event by event, without topology and without
//! contention between messages of different ranks. What is defined here is what LogGOPSim does, to the nanosecond
//! (docs/goal.md states the rules):
//!
//! * Each rank has CPUs, and NICs that send and receive apart. Each knows from when on it is free.
//! * A calc takes its CPU for its time. A send takes CPU and NIC; its message arrives `o + L` later and takes, at the
//!   receiver, the CPU and the NIC *of the same numbers*. A receive takes nothing: it is matched, and the overhead was,
//!   or will be, charged to the arrival.
//! * Operations and arrivals are taken in the order of (time, age). One whose CPU or NIC is busy is taken again when
//!   they are free; it keeps its age.
//! * What becomes ready at once is ordered by kind (`order.rs`). It starts when its own CPU and NIC are free, which on
//!   several CPUs may be before the end of what it waited for: a machine of this model has one time for each CPU, not
//!   one for each operation.
//!
//! Thousands of operations may wait for one CPU. They stand in a line by age, of which the first one alone has an
//! event; so the cost is that of a heap, where taking each one again whenever the CPU is free would be quadratic.

mod events;
mod machine;
mod mailbox;
mod order;
mod params;
mod stuck;

use crate::error::{Error, Result};
use crate::schedule::Goal;
use crate::spec::LogGopsSpec;

/// What came out of a run on the ideal machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdealResult {
    /// When the last CPU of each rank is free for good \[ns].
    pub finish_ns: Vec<u64>,
    /// Messages that were sent.
    pub messages: u64,
    /// Operations and messages that were executed.
    pub events: u64,
    /// The rules by which it was executed.
    pub rules: Rules,
}

/// By which rules a program is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// Those of LogGOPSim, also where they look strange: more than 16 operations that become ready at once are permuted
    /// (`order.rs`), and of a message that came before its receive it is the size *of the receive* that says whether
    /// the send has waited for it.
    LogGopSim,
    /// The same without these two: operations of one kind in the order of the program, and the size of the message. For
    /// programs that cannot end otherwise, so that they end here: LogGOPSim says nothing of them.
    Plain,
}

impl IdealResult {
    /// When the last rank has finished \[ns].
    pub fn completion_ns(&self) -> u64 {
        self.finish_ns.iter().copied().max().unwrap_or_default()
    }
}

/// Executes a GOAL program on the ideal machine. `go_on` is asked now and then, with the number of events so far; it
/// returns false to stop the run. `name` is what errors call the program.
///
/// # Errors
/// [`crate::Error::Schedule`] for a program that cannot end, with what waits for what; [`crate::Error::Interrupted`].
pub fn run_goal(
    goal: &Goal,
    spec: &LogGopsSpec,
    name: &str,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<IdealResult> {
    let mut run = |rules: Rules| machine::Machine::new(goal, spec, rules).run(name, go_on);
    match run(Rules::LogGopSim) {
        Err(Error::Schedule { .. }) => run(Rules::Plain),
        done => done,
    }
}

#[cfg(test)]
mod tests;
