//! All-to-all: every rank sends one message to every other, in the order of a named algorithm.
//!
//! The orders are rows of [`ALGORITHMS`]. Here they become schedules, with rules of keeping in step.

mod build;

pub use flitwork_steps::all_to_all::{ALGORITHMS, Algorithm, Offset, find, goes_by_rank, relative_order};

use crate::error::Error;
use crate::schedule::Schedule;
use crate::topology::Grid;
use flitwork_steps::Destinations;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How messages keep in step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sync {
    /// An injection port that becomes free takes the next message at once.
    #[default]
    Async,
    /// Message `m` of a rank waits until the rank has completely received all messages addressed to it whose index is
    /// below `c * floor(m / c)`, where `c` is the number of injection ports.
    Local,
    /// Message `m` of a rank waits until the rank has completely received all messages addressed to it whose index is
    /// at most `m - c`. With one injection port that is `local`; with more, a rank is never held up by the whole group
    /// before.
    LocalSliding,
}

/// What an all-to-all needs to know besides its algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllToAllOptions {
    /// Length of each message \[flits], at least 1.
    pub message_flits: u64,
    /// How messages keep in step.
    pub sync: Sync,
    /// Messages that a terminal can send at the same time, at least 1: `c` of [`Sync::Local`] and
    /// [`Sync::LocalSliding`].
    pub nic_ports: u32,
}

/// The schedule of algorithm `name` on `grid`, one rank a router (rank = router).
///
/// The step of a send is its index in the order of sending, that of a receive the index of its message. Operations are
/// made when they are needed and never stored, so the size of the schedule does not matter.
pub fn all_to_all(name: &str, grid: &Grid, options: &AllToAllOptions) -> Result<Schedule, Error> {
    if options.message_flits == 0 {
        return Err(Error::config("workload.message_flits", 0, "at least 1 flit", ""));
    }
    if options.nic_ports == 0 {
        return Err(Error::config("network.nic.ports", 0, "at least 1 port", ""));
    }
    Ok(build::schedule(name, Destinations::of(name, &grid.into())?, options))
}

#[cfg(test)]
mod tests;
