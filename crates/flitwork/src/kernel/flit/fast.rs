//! Allocation by iSLIP with one iteration, on bit masks.
//!
//! An input VC asks for VCs of one output port only, so VC allocation falls apart into one small matching a port, and where
//! one packet alone asks for a port (nearly always), every free VC grants it and it accepts the next one after its pointer: no
//! loop at all. The switch is matched on masks of rows and columns; which VC of a row sends is looked up only for the winners.

use super::Kernel;
use super::flat::Flat;
use super::mask::VcMask;
use super::requests::Ask;
use super::shape::Shape;
use crate::plan::Params;

/// The pointers of all routers' allocators. A pointer may be one past the last candidate: the search then starts over.
#[derive(Debug)]
pub(super) struct FastAllocators<M> {
    /// Input VC that an output VC grants first, by output VC, and output VC that an input VC accepts first, by input VC.
    vc_pointers: Flat<VcPointers>,
    /// Row that a column grants first, by port.
    sw_grant: Flat<u8>,
    /// Column that a row accepts first, by port.
    sw_accept: Flat<u8>,
    /// VC that a row sends first, by port.
    sw_vc: Flat<u16>,
    asks: Vec<Ask<M>>,
    /// VCs granted to each ask of one port.
    granted: Vec<M>,
    /// Columns granted to each row.
    columns: [u64; 64],
}

/// The two pointers with the number of one VC.
#[derive(Debug, Clone, Copy)]
struct VcPointers {
    grant: u16,
    accept: u16,
}

impl<M: VcMask> FastAllocators<M> {
    /// Allocators for `routers` routers (0 where the general way is taken).
    pub fn new(p: &Params, shape: &Shape, routers: usize) -> Self {
        FastAllocators {
            vc_pointers: Flat::filled(routers * shape.slots(), VcPointers { grant: 0, accept: 0 }),
            sw_grant: Flat::filled(routers * shape.ports(), 0),
            sw_accept: Flat::filled(routers * shape.ports(), 0),
            sw_vc: Flat::filled(routers * shape.ports(), 0),
            asks: Vec::with_capacity(p.ports * p.vcs),
            granted: Vec::with_capacity(p.ports * p.vcs),
            columns: [0; 64],
        }
    }
}

impl<M: VcMask> Kernel<M> {
    /// One cycle of one router.
    #[inline(always)]
    pub(super) fn step_fast(&mut self, router: usize) {
        let ports = self.routers.summary[router].waiting_ports;
        if ports != 0 {
            self.allocate_vcs_fast(router, ports);
        }
        let cols = self.routers.summary[router].requested_cols;
        if cols != 0 {
            self.allocate_switch_fast(router, cols);
        }
    }

    #[inline(always)]
    fn allocate_vcs_fast(&mut self, router: usize, ports: u64) {
        // Ports that more than one waiting packet wants need a matching; so do ports that are chosen anew each time.
        let shared = if self.rules.chooses_ejection_port { !0 } else { self.shared_ports(router, ports) };
        if shared != !0 {
            let mut left = ports;
            while left != 0 {
                let in_port = left.trailing_zeros() as usize;
                left &= left - 1;
                let mut waiting = self.routers.waiting[self.shape.port(router, in_port)];
                while !waiting.is_empty() {
                    let vc = waiting.first();
                    waiting.remove(vc);
                    self.ask_alone(router, self.shape.slot(in_port, vc), shared);
                }
            }
        }
        if shared != 0 {
            self.match_shared(router, shared);
        }
    }

    /// Output ports that more than one waiting packet wants.
    #[inline(always)]
    fn shared_ports(&self, router: usize, mut ports: u64) -> u64 {
        let (mut seen, mut shared) = (0u64, 0u64);
        while ports != 0 {
            let in_port = ports.trailing_zeros() as usize;
            ports &= ports - 1;
            let mut waiting = self.routers.waiting[self.shape.port(router, in_port)];
            while !waiting.is_empty() {
                let vc = waiting.first();
                waiting.remove(vc);
                let wanted = 1 << self.routers.inputs[self.shape.vc(router, self.shape.slot(in_port, vc))].port;
                shared |= seen & wanted;
                seen |= wanted;
            }
        }
        shared
    }

    /// A waiting packet whose port no other wants: all usable VCs grant it, it accepts the first from its pointer on.
    #[inline(always)]
    fn ask_alone(&mut self, router: usize, slot: usize, shared: u64) {
        let port = self.routers.inputs[self.shape.vc(router, slot)].port as usize;
        if shared >> port & 1 == 1 {
            return;
        }
        let usable = self.usable(router, slot, port);
        if self.stalls.is_some() {
            self.observer.asked(self.shape.vc(router, slot), !usable.is_empty(), self.now);
        }
        if !usable.is_empty() {
            let out_vc = self.accept(router, slot, port, &usable);
            self.accept_vc(router, slot, port, out_vc);
        }
    }

    /// Several packets ask for a port: each usable VC grants the first of them from its pointer on.
    #[inline(never)]
    fn match_shared(&mut self, router: usize, shared: u64) {
        let mut asks = std::mem::take(&mut self.fast.asks);
        self.collect_asks(router, shared, &mut asks);
        let mut ports = asks.iter().fold(0u64, |ports, a| ports | 1 << a.port);
        while ports != 0 {
            let port = ports.trailing_zeros() as usize;
            ports &= ports - 1;
            self.match_port(router, port, &asks);
        }
        self.fast.asks = asks;
    }

    fn match_port(&mut self, router: usize, port: usize, asks: &[Ask<M>]) {
        let mut granted = std::mem::take(&mut self.fast.granted);
        granted.clear();
        granted.resize(asks.len(), M::EMPTY);
        let of_port = |a: &&Ask<M>| a.port as usize == port;
        let mut offered = M::EMPTY;
        asks.iter().filter(of_port).for_each(|a| a.usable.for_each(|v| offered.insert(v)));
        offered.for_each(|v| {
            let pointer = self.fast.vc_pointers[self.shape.vc(router, self.shape.slot(port, v))].grant;
            let turn = |a: &Ask<M>| (a.slot < pointer, a.slot);
            let askers = asks.iter().enumerate().filter(|(_, a)| of_port(a) && a.usable.contains(v));
            if let Some((i, _)) = askers.min_by_key(|(_, a)| turn(a)) {
                granted[i].insert(v);
            }
        });
        for (ask, grants) in asks.iter().zip(&granted) {
            if !grants.is_empty() {
                let out_vc = self.accept(router, ask.slot as usize, port, grants);
                self.accept_vc(router, ask.slot as usize, port, out_vc);
            }
        }
        self.fast.granted = granted;
    }

    /// The VC that input VC `slot` accepts: the first of `granted`, VCs of `port`, at or after its pointer in the cyclic
    /// order of all output VCs.
    #[inline(always)]
    fn accept(&self, router: usize, slot: usize, port: usize, granted: &M) -> usize {
        let pointer = self.fast.vc_pointers[self.shape.vc(router, slot)].accept as usize;
        let within = pointer.wrapping_sub(self.shape.slot(port, 0));
        if within < self.p.vcs { granted.first_from(within) } else { granted.first() }
    }

    /// A match: moves the pointers and hands the VC over.
    #[inline(always)]
    fn accept_vc(&mut self, router: usize, slot: usize, port: usize, out_vc: usize) {
        let output = self.shape.slot(port, out_vc);
        self.fast.vc_pointers[self.shape.vc(router, output)].grant = slot as u16 + 1;
        self.fast.vc_pointers[self.shape.vc(router, slot)].accept = output as u16 + 1;
        self.grant_vc(router, slot, port, out_vc);
        self.activate_after_delay(router, slot);
    }

    #[inline(always)]
    fn allocate_switch_fast(&mut self, router: usize, mut cols: u64) {
        let shape = self.shape;
        let mut rows = 0u64;
        while cols != 0 {
            let col = cols.trailing_zeros() as usize;
            cols &= cols - 1;
            let pointer = self.fast.sw_grant[shape.port(router, col)] as usize;
            let row = self.routers.requests[shape.col(router, col)].first_from(pointer);
            let others = if rows >> row & 1 == 1 { self.fast.columns[row & 63] } else { 0 };
            self.fast.columns[row & 63] = others | 1 << col;
            rows |= 1 << row;
        }
        while rows != 0 {
            let row = rows.trailing_zeros() as usize;
            rows &= rows - 1;
            let at = shape.port(router, row);
            let col = self.fast.columns[row & 63].first_from(self.fast.sw_accept[at] as usize);
            self.fast.sw_accept[at] = (col as u8 + 1) & 63;
            self.fast.sw_grant[shape.port(router, col)] = (row as u8 + 1) & 63;
            let sendable = &self.routers.sendable[shape.row_port(router, row, col)];
            let vc = sendable.first_from(self.fast.sw_vc[at] as usize);
            self.fast.sw_vc[at] = if vc + 1 == self.p.vcs { 0 } else { vc as u16 + 1 };
            self.traverse(router, shape.slot(row, vc), self.now);
        }
    }
}
