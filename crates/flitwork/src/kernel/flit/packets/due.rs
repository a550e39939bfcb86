//! What is due later, by cycle. Events of one kind in one cycle commute, as those of the flit kernel do.

use crate::transit::Due;

/// Credits that begin to come back, one a cycle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Returning {
    /// Output VC of a router, or VC of an injection port.
    pub vc: u32,
    pub flits: u16,
}

/// Output ports of a router, one bit each, whose packets wait for no more than enough credits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Revisit {
    pub router: u32,
    pub ports: u64,
}

/// All that is due in one cycle.
#[derive(Debug, Default)]
pub(crate) struct DuePackets {
    /// Input VCs whose packet sent its last flit in the cycle before.
    pub releases: Vec<u32>,
    /// First credits at output VCs, and at VCs of injection ports (`port * vcs + vc`).
    pub credits: Vec<Returning>,
    pub injection_credits: Vec<Returning>,
    /// Ports of routers, and terminals, that wait for no more than enough credits: there may be now.
    pub revisits: Vec<Revisit>,
    pub terminals: Vec<u32>,
    /// Injection ports that send the last flit of their packet in this cycle.
    pub last_flits: Vec<u32>,
}

impl Due for DuePackets {
    fn is_empty(&self) -> bool {
        self.releases.is_empty()
            && self.credits.is_empty()
            && self.injection_credits.is_empty()
            && self.revisits.is_empty()
            && self.terminals.is_empty()
            && self.last_flits.is_empty()
    }

    fn clear(&mut self) {
        self.releases.clear();
        self.credits.clear();
        self.injection_credits.clear();
        self.revisits.clear();
        self.terminals.clear();
        self.last_flits.clear();
    }
}
