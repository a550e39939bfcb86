//! What the packet kernel knows besides the routers: streams of flits through switches, credits that are coming back,
//! and when to visit a router again.

use super::credits::Credits;
use super::due::{DuePackets, Revisit};
use crate::kernel::flit::Env;
use crate::plan::Plan;
use crate::transit::{Due, Wheel};
use crate::unchecked::at;
use std::cell::Cell;

/// Paths through a switch that are in use, one bit for each row and each column.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Busy {
    pub rows: u64,
    pub cols: u64,
}

/// The flits of a packet that an output port sends, one in each of the cycles before `until`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stream {
    /// The cycle behind its last flit.
    pub until: u64,
    /// At an ejection port: the first cycle whose flit has not been counted at its terminal.
    pub uncounted: u64,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Streams {
    pub due: Wheel<DuePackets>,
    /// What was due in an earlier cycle, emptied: its memory is used again.
    spare: Option<Box<DuePackets>>,
    /// Length of the longest packet so far.
    longest: u16,
    /// Cycle in which the last credit that is coming back to an output VC arrives, by VC: the router's count has all of
    /// them already.
    pub(crate) complete: Vec<u64>,
    /// By router.
    pub busy: Vec<Busy>,
    /// By output port, `[router][port]`.
    pub(crate) streams: Vec<Stream>,
    /// Input VCs whose packets wait for a VC of an output port, `[router][port]`; kept where [`super::fcfs`] allocates.
    pub requesters: Vec<u64>,
    /// Requests of packets for VCs in this router's cycle that have not been granted, and the ports whose packets were
    /// visited.
    pub requested: u32,
    pub visited_ports: u64,
    /// Whether the router has to be visited in the next cycle, and the first later cycle in which it will have enough
    /// credits for a packet that waits; set while it is visited.
    pub revisit: bool,
    pub(crate) enough_at: Cell<u64>,
    pub(crate) input_speedup: usize,
}

impl Streams {
    /// For a plan in the packet kernel's domain.
    pub fn new(plan: &Plan, slots: usize, ports: usize) -> Self {
        let p = &plan.params;
        Streams {
            due: Wheel::new(p.longest_delay_cycles),
            spare: None,
            longest: 0,
            complete: vec![0; p.routers * slots],
            busy: vec![Busy::default(); p.routers],
            streams: vec![Stream::default(); p.routers * ports],
            requesters: vec![0; p.routers * ports],
            requested: 0,
            visited_ports: 0,
            revisit: false,
            enough_at: Cell::new(u64::MAX),
            input_speedup: plan.spec.network.router.input_speedup as usize,
        }
    }

    /// Empty, for networks whose flits move one by one.
    pub fn none() -> Self {
        Streams {
            due: Wheel::new(0),
            spare: None,
            longest: 0,
            complete: Vec::new(),
            busy: Vec::new(),
            streams: Vec::new(),
            requesters: Vec::new(),
            requested: 0,
            visited_ports: 0,
            revisit: false,
            enough_at: Cell::new(u64::MAX),
            input_speedup: 1,
        }
    }

    /// Takes what is due in cycle `now`; give it back with [`Streams::put_back`].
    #[inline(always)]
    pub(super) fn take_due(&mut self, now: u64) -> Box<DuePackets> {
        let mut taken = self.spare.take().unwrap_or_default();
        std::mem::swap(&mut *taken, self.due.at(now));
        taken
    }

    /// Returns what [`Streams::take_due`] took.
    #[inline(always)]
    pub(crate) fn put_back(&mut self, mut taken: Box<DuePackets>) {
        taken.clear();
        self.spare = Some(taken);
    }

    /// Flits of the packet that has been granted a port (numbered across routers) that have not been sent before cycle
    /// `before`.
    pub fn unsent_flits(&self, port: usize, before: u64) -> u32 {
        self.streams[port].until.saturating_sub(before) as u32
    }

    /// Credits of output VC `vc`, of which `all` have come back or are coming.
    #[inline(always)]
    pub(super) fn credits_of(&self, vc: usize, all: u16) -> Credits {
        Credits { all, complete: *at(&self.complete, vc) }
    }

    /// Credits of output VC `vc` that have come back by cycle `now`.
    #[inline(always)]
    pub fn credits(&self, vc: usize, all: u16, now: u64) -> u16 {
        self.credits_of(vc, all).by(now)
    }

    /// A packet needs `needed` credits of an output VC that has fewer now: its router will be visited when there are
    /// enough, if that is known.
    #[inline]
    pub fn wait_for_credits(&self, vc: usize, all: u16, needed: u16) {
        if let Some(cycle) = (Credits { all, complete: self.complete[vc] }).enough_from(needed) {
            self.enough_at.set(self.enough_at.get().min(cycle));
        }
    }

    /// A router has been visited in cycle `now`: whether a packet was refused a VC, and the ports that were visited.
    pub fn end_of_visit(&mut self, router: usize, now: u64) -> (bool, u64) {
        let enough_at = self.enough_at.replace(u64::MAX);
        if enough_at != u64::MAX {
            self.revisit_at((router, !0), enough_at.max(now + 1));
        }
        (std::mem::take(&mut self.requested) > 0, std::mem::take(&mut self.visited_ports))
    }

    /// These output ports of a router are visited in cycle `at`.
    #[inline]
    pub(super) fn revisit_at(&mut self, (router, ports): (usize, u64), at: u64) {
        self.due.at(at).revisits.push(Revisit { router: router as u32, ports });
    }

    /// A request was granted a VC. Where packets select the ejection port with the most free VCs, that may be another
    /// one now.
    #[inline(always)]
    pub fn granted_vc(&mut self, selects_ejection_port: bool) {
        self.requested -= 1;
        self.revisit |= selects_ejection_port;
    }

    /// The row of an input VC in the switch.
    #[inline(always)]
    pub(crate) fn row(&self, in_port: usize, vc: usize) -> usize {
        if self.input_speedup == 1 { in_port } else { in_port * self.input_speedup + vc % self.input_speedup }
    }
}

impl Env {
    /// A packet of `flits` flits is to be sent. What is known of it the longest time before is when its last flit
    /// comes: the wheels reach as far as that of the longest so far, and no further, so that what is due lies in little
    /// memory.
    #[inline(always)]
    pub(super) fn make_room_for(&mut self, flits: u16) {
        if flits > self.streams.longest {
            self.reach_further(flits);
        }
    }

    #[cold]
    fn reach_further(&mut self, flits: u16) {
        self.streams.longest = flits;
        let longest = self.p.longest_delay_cycles + u64::from(flits);
        self.transit.wheel.reach(self.now, longest);
        self.streams.due.reach(self.now, longest);
    }
}
