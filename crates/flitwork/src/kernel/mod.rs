//! Kernels: the ways to advance the one model. Only what is here runs per cycle.

pub(crate) mod flit;

/// How far a simulation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Current cycle [cycles].
    pub cycle: u64,
    /// Messages (closed loop) or packets (open loop) that have arrived.
    pub packets_done: u64,
    /// How many there will be, where that is known.
    pub packets_total: Option<u64>,
}
