//! The loop that drives a simulation, and the kernels, which advance a network. Only what is here runs per cycle.

mod barrier_tree;
mod bus;
pub(crate) mod flit;
mod ideal;
mod knot;
mod network;
mod parallel;
mod result;
mod simulation;

pub use ideal::{IdealResult, Rules, run_goal};
pub use simulation::{Pause, Simulation};

/// How far a simulation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Current cycle \[cycles].
    pub cycle: u64,
    /// Messages (of a schedule) or packets (open loop) that have arrived.
    pub packets_done: u64,
    /// How many there will be, where that is known.
    pub packets_total: Option<u64>,
}
