//! Allocation of every kind, on lists of requests: any allocator and arbiter, speed-ups, held switches, speculation.
//!
//! Rows and columns of the VC allocator are the model's (`port * vcs + vc`), which a wavefront depends on; the state's slots
//! leave gaps between ports.

use super::Kernel;
use super::mask::VcMask;
use super::requests::Ask;
use super::shape::Shape;
use super::state::{ACTIVE, GRANTED};
use crate::plan::Params;
use crate::router::{Allocator, Request};
use crate::spec::{ArbiterKind, NetworkSpec};

/// Allocators and their working memory.
#[derive(Debug)]
pub(super) struct GeneralAllocators<M> {
    vc_allocator: Allocator,
    sw_allocator: Allocator,
    vc_arbiter: ArbiterKind,
    sw_arbiter: ArbiterKind,
    /// VC that a row sends first, by row.
    sw_vc: Vec<u16>,
    /// Held ways through the switch: the rows of each router, and the input VC (slot) of each row.
    held_rows: Vec<u64>,
    held_slot: Vec<u16>,
    /// Cycle in which each output port can put the next flit on its channel, by port; empty without speed-up.
    next_turn: Vec<u64>,
    asks: Vec<Ask<M>>,
    requests: Vec<Request>,
    grants: Vec<(u16, u16)>,
    /// Input VC behind each switch request.
    senders: Vec<u16>,
    /// Packets that wait for a VC and may ask for the switch in the same cycle: (input, port).
    speculative: Vec<(u16, u8)>,
    /// Input VCs that were granted an output VC in this cycle.
    fresh: Vec<u16>,
    /// Input VCs that send in this cycle, by row.
    sending: Vec<(u16, u16)>,
}

/// A speculative request is worse than any other.
const SPECULATIVE: u128 = 1 << 127;

impl<M> GeneralAllocators<M> {
    pub fn new(network: &NetworkSpec, p: &Params, shape: &Shape) -> Self {
        let router = &network.router;
        let vcs_of_router = p.ports * p.vcs;
        let rows = p.ports * router.input_speedup as usize;
        let cols = p.ports * router.output_speedup as usize;
        let speedup = router.input_speedup as usize;
        GeneralAllocators {
            vc_allocator: Allocator::new(&router.vc_allocator, p.routers, vcs_of_router, vcs_of_router),
            sw_allocator: Allocator::new(&router.sw_allocator, p.routers, rows, cols),
            vc_arbiter: router.vc_allocator.arbiter,
            sw_arbiter: router.sw_allocator.arbiter,
            sw_vc: (0..p.routers * shape.rows()).map(|row| (row % shape.rows() % speedup) as u16).collect(),
            held_rows: vec![0; if router.hold_switch_for_packet { p.routers } else { 0 }],
            held_slot: vec![0; if router.hold_switch_for_packet { p.routers * shape.rows() } else { 0 }],
            next_turn: vec![0; if router.output_speedup > 1 { p.routers * shape.ports() } else { 0 }],
            asks: Vec::with_capacity(vcs_of_router),
            requests: Vec::with_capacity(vcs_of_router * p.vcs.min(64)),
            grants: Vec::with_capacity(vcs_of_router),
            senders: Vec::with_capacity(rows * cols),
            speculative: Vec::with_capacity(vcs_of_router),
            fresh: Vec::with_capacity(vcs_of_router),
            sending: Vec::with_capacity(2 * rows),
        }
    }
}

impl<M: VcMask> Kernel<M> {
    /// Whether some way through the switch of `router` is held.
    #[inline(always)]
    pub(super) fn has_held(&self, router: usize) -> bool {
        self.rules.hold && self.general.as_ref().is_some_and(|g| g.held_rows[router] != 0)
    }

    /// One cycle of one router.
    pub(super) fn step_general(&mut self, router: usize) {
        let Some(mut general) = self.general.take() else { return };
        general.fresh.clear();
        general.speculative.clear();
        general.sending.clear();
        if self.routers.summary[router].waiting_ports != 0 {
            self.allocate_vcs(router, &mut general);
        }
        let (rows, cols) = if self.rules.hold { self.serve_held(router, &mut general) } else { (0, 0) };
        self.allocate_switch(router, &mut general, rows, cols);
        self.send(router, &mut general);
        // What won its VC but not the switch asks without speculation from the next cycle on.
        for &slot in &general.fresh {
            let vc = &self.routers.inputs[self.shape.vc(router, slot as usize)];
            if vc.flags & GRANTED != 0 && vc.flags & ACTIVE == 0 {
                self.activate(router, slot as usize);
            }
        }
        self.general = Some(general);
    }

    /// The number of a slot in the model.
    fn model_number(&self, slot: usize) -> u16 {
        let (port, vc) = self.shape.port_and_vc(slot);
        (port * self.p.vcs + vc) as u16
    }

    /// The slot of a number in the model.
    fn slot_of(&self, number: u16) -> usize {
        let number = number as usize;
        self.shape.slot(number / self.p.vcs, number % self.p.vcs)
    }

    /// The priority of the front packet of input VC `slot` under an arbiter; the smaller, the better.
    fn priority(&self, arbiter: ArbiterKind, router: usize, slot: usize) -> u128 {
        let at = self.shape.vc(router, slot);
        match arbiter {
            ArbiterKind::RoundRobin | ArbiterKind::Matrix => 0,
            ArbiterKind::OldestFirst => {
                let packet = &self.pool[self.routers.inputs[at].front];
                // 63 bits of time leave the highest for speculation.
                u128::from(packet.created) << 64 | u128::from(packet.src) << 32 | u128::from(packet.sequence)
            }
            ArbiterKind::Fcfs => u128::from(self.arrivals[at]) << 64 | slot as u128,
        }
    }

    fn allocate_vcs(&mut self, router: usize, general: &mut GeneralAllocators<M>) {
        let mut asks = std::mem::take(&mut general.asks);
        self.collect_asks(router, !0, &mut asks);
        general.requests.clear();
        for ask in &asks {
            let priority = self.priority(general.vc_arbiter, router, ask.slot as usize);
            let row = self.model_number(ask.slot as usize);
            let mut credit = false;
            ask.usable.for_each(|v| {
                let output = self.shape.slot(ask.port as usize, v);
                general.requests.push(Request { row, col: self.model_number(output), priority });
                credit |= self.routers.outputs[self.shape.vc(router, output)].credits > 0;
            });
            if self.rules.speculative && credit {
                general.speculative.push((ask.slot, ask.port));
            }
        }
        general.asks = asks;
        general.grants.clear();
        general.vc_allocator.allocate(router, &general.requests, &mut general.grants);
        for &(row, col) in &general.grants {
            let (port, out_vc) = self.shape.port_and_vc(self.slot_of(col));
            let slot = self.slot_of(row);
            self.grant_vc(router, slot, port, out_vc);
            if self.rules.speculative {
                general.fresh.push(slot as u16);
            } else {
                self.activate_after_delay(router, slot);
            }
        }
    }

    /// Sends the next flit of each held way, or gives the way up; returns the rows and columns that take no part in switch
    /// allocation in this cycle.
    fn serve_held(&mut self, router: usize, general: &mut GeneralAllocators<M>) -> (u64, u64) {
        let held = general.held_rows[router];
        let (mut left, mut cols) = (held, 0u64);
        while left != 0 {
            let row = left.trailing_zeros() as usize;
            left &= left - 1;
            let slot = general.held_slot[self.shape.row(router, row)];
            let vc = &self.routers.inputs[self.shape.vc(router, slot as usize)];
            cols |= 1 << self.row_and_col(slot as usize, vc.port as usize).1;
            let can_send = self.routers.outputs[self.shape.vc(router, vc.output as usize)].credits > 0;
            if can_send {
                general.sending.push((row as u16, slot));
            }
            if !can_send || vc.left == 1 || vc.occupied == 1 {
                general.held_rows[router] &= !(1 << row);
            }
        }
        (held, cols)
    }

    /// The VC that a row sends for a column, of those in `candidates`: the best priority, then the first in turn.
    fn pick_vc(&self, general: &GeneralAllocators<M>, router: usize, row: usize, candidates: &M) -> usize {
        let vcs = self.p.vcs;
        let pointer = general.sw_vc[self.shape.row(router, row)] as usize;
        if matches!(general.sw_arbiter, ArbiterKind::RoundRobin | ArbiterKind::Matrix) {
            return candidates.first_from(pointer);
        }
        let in_port = row / self.rules.input_speedup;
        let mut best = (u128::MAX, vcs, 0);
        candidates.for_each(|v| {
            let priority = self.priority(general.sw_arbiter, router, self.shape.slot(in_port, v));
            best = best.min((priority, (v + vcs - pointer) % vcs, v));
        });
        best.2
    }

    fn allocate_switch(&mut self, router: usize, general: &mut GeneralAllocators<M>, busy_rows: u64, busy_cols: u64) {
        let (is, os) = (self.rules.input_speedup, self.rules.output_speedup);
        general.requests.clear();
        general.senders.clear();
        let mut cols = self.routers.summary[router].requested_cols & !busy_cols;
        while cols != 0 {
            let col = cols.trailing_zeros() as usize;
            cols &= cols - 1;
            let mut asking = self.routers.requests[self.shape.col(router, col)] & !busy_rows;
            while asking != 0 {
                let row = asking.trailing_zeros() as usize;
                asking &= asking - 1;
                let sendable = self.routers.sendable[self.shape.row_port(router, row, col / os)];
                let slot = self.shape.slot(row / is, self.pick_vc(general, router, row, &sendable));
                let priority = self.priority(general.sw_arbiter, router, slot);
                general.requests.push(Request { row: row as u16, col: col as u16, priority });
                general.senders.push(slot as u16);
            }
        }
        if self.rules.speculative {
            self.add_speculative(router, general, busy_rows, busy_cols);
        }
        general.grants.clear();
        general.sw_allocator.allocate(router, &general.requests, &mut general.grants);
        for i in 0..general.grants.len() {
            let (row, col) = general.grants[i];
            let Some(at) = general.requests.iter().position(|r| (r.row, r.col) == (row, col)) else { continue };
            let slot = general.senders[at];
            let (_, vc) = self.shape.port_and_vc(slot as usize);
            general.sw_vc[self.shape.row(router, row as usize)] = ((vc + is) % self.p.vcs) as u16;
            let certain = general.requests[at].priority & SPECULATIVE == 0;
            if certain || self.speculation_came_true(router, slot, col, general) {
                general.sending.push((row, slot));
            }
        }
    }

    /// Adds the requests of packets that wait for a VC, where no other VC of the row asks for the column.
    fn add_speculative(&mut self, router: usize, general: &mut GeneralAllocators<M>, busy_rows: u64, busy_cols: u64) {
        let certain = general.requests.len();
        for &(slot, port) in &general.speculative {
            let (row, col) = self.row_and_col(slot as usize, port as usize);
            if busy_rows >> row & 1 == 1 || busy_cols >> col & 1 == 1 {
                continue;
            }
            let priority = SPECULATIVE | self.priority(general.sw_arbiter, router, slot as usize);
            let request = Request { row: row as u16, col: col as u16, priority };
            match general.requests.iter().position(|r| (r.row, r.col) == (request.row, request.col)) {
                None => {
                    general.requests.push(request);
                    general.senders.push(slot);
                }
                Some(at) if at >= certain => {
                    let pointer = general.sw_vc[self.shape.row(router, row)] as usize;
                    let vc = |slot: u16| self.shape.port_and_vc(slot as usize).1;
                    let turn = |slot: u16| (vc(slot) + self.p.vcs - pointer) % self.p.vcs;
                    let (old, old_slot) = (general.requests[at].priority, general.senders[at]);
                    if (priority, turn(slot)) < (old, turn(old_slot)) {
                        general.requests[at] = request;
                        general.senders[at] = slot;
                    }
                }
                Some(_) => {}
            }
        }
    }

    /// Whether a packet that was granted the switch on speculation has won a VC with a credit at that port as well.
    fn speculation_came_true(&self, router: usize, slot: u16, col: u16, general: &GeneralAllocators<M>) -> bool {
        let vc = &self.routers.inputs[self.shape.vc(router, slot as usize)];
        general.fresh.contains(&slot)
            && self.row_and_col(slot as usize, vc.port as usize).1 == col as usize
            && self.routers.outputs[self.shape.vc(router, vc.output as usize)].credits > 0
    }

    /// Moves this cycle's flits, in ascending order of rows, and notes which ways stay held.
    fn send(&mut self, router: usize, general: &mut GeneralAllocators<M>) {
        general.sending.sort_unstable();
        for i in 0..general.sending.len() {
            let (row, slot) = general.sending[i];
            let vc = &self.routers.inputs[self.shape.vc(router, slot as usize)];
            let port = vc.port as usize;
            let hold = self.rules.hold && vc.left > 1 && vc.occupied > 1;
            if vc.flags & ACTIVE == 0 {
                // Sent on speculation: the request masks learn of it now.
                self.activate(router, slot as usize);
            }
            let turn = match general.next_turn.get_mut(self.shape.port(router, port)) {
                Some(next) => {
                    let turn = (*next).max(self.now);
                    *next = turn + 1;
                    turn
                }
                None => self.now,
            };
            self.traverse(router, slot as usize, turn);
            if hold {
                general.held_rows[router] |= 1 << row;
                general.held_slot[self.shape.row(router, row as usize)] = slot;
            }
        }
    }
}
