//! The memory of an input port as the sender in front of it counts it: "Shared buffers" of docs/model.md.

use super::machine::Machine;
use flitwork::spec::Switching;

/// The places behind an output port or an injection port.
pub struct Places {
    /// `B` and `S`.
    private: u64,
    shared: u64,
    /// Those of each VC that are taken, reserved ones among them.
    taken: Vec<u64>,
    /// Those of each VC that are reserved for flits of its owner which have not been sent.
    reserved: Vec<u64>,
}

impl Places {
    pub fn new(machine: &Machine) -> Self {
        let none = vec![0; machine.vcs];
        Places { private: machine.buffer, shared: machine.shared_buffer, taken: none.clone(), reserved: none }
    }

    /// Whether packets reserve places behind an output port.
    pub fn reserves(machine: &Machine) -> bool {
        machine.shared_buffer > 0 && machine.router.switching == Switching::VirtualCutThrough
    }

    /// `s`, places of the pool that are not taken.
    fn left(&self) -> u64 {
        self.shared - self.taken.iter().map(|taken| taken.saturating_sub(self.private)).sum::<u64>()
    }

    /// Flits that may be sent to VC `v` now.
    pub fn credits(&self, v: usize) -> u64 {
        if self.reserved[v] > 0 {
            return self.reserved[v];
        }
        self.private.saturating_sub(self.taken[v]) + self.left()
    }

    /// Whether all places of VC `v` are back.
    pub fn is_empty(&self, v: usize) -> bool {
        self.taken[v] == 0
    }

    /// A packet of so many flits has been given VC `v`.
    pub fn reserve(&mut self, v: usize, flits: u64) {
        assert!(self.reserved[v] == 0 && self.credits(v) >= flits, "there is room");
        self.taken[v] += flits;
        self.reserved[v] = flits;
    }

    /// A flit is sent to VC `v`.
    pub fn send(&mut self, v: usize) {
        assert!(self.credits(v) > 0, "a flit needs a credit");
        if self.reserved[v] > 0 {
            self.reserved[v] -= 1;
        } else {
            self.taken[v] += 1;
        }
    }

    /// A credit of VC `v` comes back.
    pub fn release(&mut self, v: usize) {
        assert!(self.taken[v] > self.reserved[v], "a credit too many");
        self.taken[v] -= 1;
    }

    /// Flits that were sent and whose credits have not come back.
    pub fn sent(&self) -> u64 {
        self.taken.iter().sum::<u64>() - self.reserved.iter().sum::<u64>()
    }
}
