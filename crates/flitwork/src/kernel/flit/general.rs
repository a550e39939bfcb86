//! Allocation of every kind, on lists of requests: any allocator and arbiter, speed-ups, held switches, speculation.

use super::fast::Ask;
use super::mask::VcMask;
use super::state::{ACTIVE, GRANTED};
use super::wheel::Wake;
use super::{Allocation, Kernel};
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
    /// VC that a row sends first, `[router][row]`.
    sw_vc: Vec<u16>,
    /// Held ways through the switch, `[router]`: the rows, and for each row the input VC.
    held_rows: Vec<u64>,
    held_input: Vec<u16>,
    /// Cycle in which each output port can put the next flit on its channel, `[router][port]`; empty without speed-up.
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
    pub fn new(network: &NetworkSpec, p: &Params) -> Self {
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
            sw_vc: (0..p.routers * rows).map(|row| (row % speedup) as u16).collect(),
            held_rows: vec![0; if router.hold_switch_for_packet { p.routers } else { 0 }],
            held_input: vec![0; if router.hold_switch_for_packet { p.routers * rows } else { 0 }],
            next_turn: vec![0; if router.output_speedup > 1 { p.routers * p.ports } else { 0 }],
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
        match &self.allocation {
            Allocation::Fast(_) => false,
            Allocation::General(general) => {
                self.rules.hold && general.as_ref().is_some_and(|g| g.held_rows[router] != 0)
            }
        }
    }

    /// One cycle of one router.
    pub(super) fn step_general(&mut self, router: usize) {
        let Allocation::General(slot) = &mut self.allocation else { return };
        let Some(mut general) = slot.take() else { return };
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
        for i in 0..general.fresh.len() {
            let input = general.fresh[i] as usize;
            let vc = &self.routers.inputs[router * self.p.ports * self.p.vcs + input];
            if vc.flags & GRANTED != 0 && vc.flags & ACTIVE == 0 {
                self.activate(router, input);
            }
        }
        self.allocation = Allocation::General(Some(general));
    }

    /// The priority of the front packet of `input` under an arbiter; the smaller, the better.
    fn priority(&self, arbiter: ArbiterKind, router: usize, input: usize) -> u128 {
        let at = router * self.p.ports * self.p.vcs + input;
        match arbiter {
            ArbiterKind::RoundRobin | ArbiterKind::Matrix => 0,
            ArbiterKind::OldestFirst => {
                let packet = &self.pool[self.routers.inputs[at].front];
                // 63 bits of time leave the highest for speculation.
                u128::from(packet.created) << 64 | u128::from(packet.src) << 32 | u128::from(packet.sequence)
            }
            ArbiterKind::Fcfs => u128::from(self.arrivals[at]) << 64 | input as u128,
        }
    }

    fn allocate_vcs(&mut self, router: usize, general: &mut GeneralAllocators<M>) {
        let mut asks = std::mem::take(&mut general.asks);
        self.collect_asks(router, &mut asks);
        general.requests.clear();
        for ask in &asks {
            let priority = self.priority(general.vc_arbiter, router, ask.input as usize);
            let first = ask.port as usize * self.p.vcs;
            let mut credit = false;
            ask.usable.for_each(|v| {
                general.requests.push(Request { row: ask.input, col: (first + v) as u16, priority });
                credit |= self.routers.outputs[router * self.p.ports * self.p.vcs + first + v].credits > 0;
            });
            if self.rules.speculative && credit {
                general.speculative.push((ask.input, ask.port));
            }
        }
        general.asks = asks;
        general.grants.clear();
        general.vc_allocator.allocate(router, &general.requests, &mut general.grants);
        for i in 0..general.grants.len() {
            let (row, col) = general.grants[i];
            let (input, port) = (row as usize, self.port_of[col as usize] as usize);
            self.grant_vc(router, input, port, col as usize - port * self.p.vcs);
            if self.rules.speculative {
                general.fresh.push(row);
            } else if self.p.vc_alloc_delay_cycles == 0 {
                self.activate(router, input);
            } else {
                let at = self.now + u64::from(self.p.vc_alloc_delay_cycles);
                self.wheel.at(at).wakes.push(Wake { router: router as u32, input: row });
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
            let input = general.held_input[router * self.p.ports * self.rules.input_speedup + row];
            let base = router * self.p.ports * self.p.vcs;
            let vc = &self.routers.inputs[base + input as usize];
            let (_, col) = self.row_and_col(input as usize, vc.port as usize);
            cols |= 1 << col;
            let can_send = self.routers.outputs[base + vc.output as usize].credits > 0;
            if can_send {
                general.sending.push((row as u16, input));
            }
            if !can_send || vc.left == 1 || vc.occupied == 1 {
                general.held_rows[router] &= !(1 << row);
            }
        }
        (held, cols)
    }

    /// The VC that a row sends for a column, of those in `candidates`: the best priority, then the first in turn.
    fn pick_vc(&self, general: &GeneralAllocators<M>, router: usize, row: usize, in_port: usize, candidates: &M) -> usize {
        let vcs = self.p.vcs;
        let pointer = general.sw_vc[router * self.p.ports * self.rules.input_speedup + row] as usize;
        if matches!(general.sw_arbiter, ArbiterKind::RoundRobin | ArbiterKind::Matrix) {
            return candidates.first_from(pointer);
        }
        let mut best = (u128::MAX, vcs, 0);
        candidates.for_each(|v| {
            let priority = self.priority(general.sw_arbiter, router, in_port * vcs + v);
            best = best.min((priority, (v + vcs - pointer) % vcs, v));
        });
        best.2
    }

    fn allocate_switch(&mut self, router: usize, general: &mut GeneralAllocators<M>, busy_rows: u64, busy_cols: u64) {
        let speedup = self.rules.input_speedup;
        let rows = self.p.ports * speedup;
        let cols_per_port = self.rules.output_speedup;
        general.requests.clear();
        general.senders.clear();
        let mut cols = self.routers.summary[router].requested_cols & !busy_cols;
        while cols != 0 {
            let col = cols.trailing_zeros() as usize;
            cols &= cols - 1;
            let mut asking = self.routers.requests[router * self.p.ports * cols_per_port + col] & !busy_rows;
            while asking != 0 {
                let row = asking.trailing_zeros() as usize;
                asking &= asking - 1;
                let in_port = row / speedup;
                let sendable = self.routers.sendable[(router * rows + row) * self.p.ports + col / cols_per_port];
                let vc = self.pick_vc(general, router, row, in_port, &sendable);
                let input = in_port * self.p.vcs + vc;
                let priority = self.priority(general.sw_arbiter, router, input);
                general.requests.push(Request { row: row as u16, col: col as u16, priority });
                general.senders.push(input as u16);
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
            let input = general.senders[at];
            let vc = input as usize % self.p.vcs;
            general.sw_vc[router * rows + row as usize] = ((vc + speedup) % self.p.vcs) as u16;
            if general.requests[at].priority & SPECULATIVE == 0 || self.speculation_came_true(router, input, col, general) {
                general.sending.push((row, input));
            }
        }
    }

    /// Adds the requests of packets that wait for a VC, where no other VC of the row asks for the column.
    fn add_speculative(&mut self, router: usize, general: &mut GeneralAllocators<M>, busy_rows: u64, busy_cols: u64) {
        let certain = general.requests.len();
        let rows = self.p.ports * self.rules.input_speedup;
        for i in 0..general.speculative.len() {
            let (input, port) = general.speculative[i];
            let (row, col) = self.row_and_col(input as usize, port as usize);
            if busy_rows >> row & 1 == 1 || busy_cols >> col & 1 == 1 {
                continue;
            }
            let priority = SPECULATIVE | self.priority(general.sw_arbiter, router, input as usize);
            let request = Request { row: row as u16, col: col as u16, priority };
            let rival = general.requests.iter().position(|r| (r.row, r.col) == (request.row, request.col));
            match rival {
                None => {
                    general.requests.push(request);
                    general.senders.push(input);
                }
                Some(at) if at >= certain => {
                    let pointer = general.sw_vc[router * rows + row] as usize;
                    let turn = |input: u16| (input as usize % self.p.vcs + self.p.vcs - pointer) % self.p.vcs;
                    let (old, old_input) = (general.requests[at].priority, general.senders[at]);
                    if (priority, turn(input)) < (old, turn(old_input)) {
                        general.requests[at] = request;
                        general.senders[at] = input;
                    }
                }
                Some(_) => {}
            }
        }
    }

    /// Whether a packet that was granted the switch on speculation has won a VC with a credit at that port as well.
    fn speculation_came_true(&self, router: usize, input: u16, col: u16, general: &GeneralAllocators<M>) -> bool {
        let base = router * self.p.ports * self.p.vcs;
        let vc = &self.routers.inputs[base + input as usize];
        general.fresh.contains(&input)
            && self.row_and_col(input as usize, vc.port as usize).1 == col as usize
            && self.routers.outputs[base + vc.output as usize].credits > 0
    }

    /// Moves this cycle's flits, in ascending order of rows, and notes which ways stay held.
    fn send(&mut self, router: usize, general: &mut GeneralAllocators<M>) {
        general.sending.sort_unstable();
        let base = router * self.p.ports * self.p.vcs;
        for i in 0..general.sending.len() {
            let (row, input) = general.sending[i];
            let vc = &mut self.routers.inputs[base + input as usize];
            vc.flags |= ACTIVE;
            let port = vc.port as usize;
            let hold = self.rules.hold && vc.left > 1 && vc.occupied > 1;
            let turn = match general.next_turn.get_mut(router * self.p.ports + port) {
                Some(next) => {
                    let turn = (*next).max(self.now);
                    *next = turn + 1;
                    turn
                }
                None => self.now,
            };
            if self.rules.speculative && !self.is_listed(router, input as usize, port) {
                // Sent on speculation: the request masks learn of it now.
                self.activate(router, input as usize);
            }
            self.traverse(router, input as usize, turn);
            if hold {
                general.held_rows[router] |= 1 << row;
                general.held_input[router * self.p.ports * self.rules.input_speedup + row as usize] = input;
            }
        }
    }

    /// Whether the masks say that `input` has a flit for `port`.
    fn is_listed(&self, router: usize, input: usize, port: usize) -> bool {
        let (row, _) = self.row_and_col(input, port);
        let rows = self.p.ports * self.rules.input_speedup;
        self.routers.sendable[(router * rows + row) * self.p.ports + port].contains(input % self.p.vcs)
    }
}
