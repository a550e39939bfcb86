//! Allocation by iSLIP with one iteration, on bit masks.
//!
//! An input VC asks for VCs of one output port only, so VC allocation falls apart into one small matching a port, and where
//! one packet alone asks for a port (nearly always), every free VC grants it and it accepts the next one after its pointer: no
//! loop at all. The switch is matched on masks of rows and columns; which VC of a row sends is looked up only for the winners.

use super::mask::VcMask;
use super::state::{EJECTING, FREE, GRANTED, WAITING};
use super::wheel::Wake;
use super::{Allocation, Kernel};
use crate::plan::Params;
use crate::spec::EjectionPort;

/// A packet that asks for VCs of an output port.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ask<M> {
    pub input: u16,
    pub port: u8,
    pub usable: M,
}

/// The pointers of all routers' allocators.
#[derive(Debug)]
pub(super) struct FastAllocators<M> {
    /// Input VC that an output VC grants first, `[router][port * vcs + vc]`.
    vc_grant: Vec<u16>,
    /// Output VC that an input VC accepts first, `[router][port * vcs + vc]`.
    vc_accept: Vec<u16>,
    /// Row that a column grants first, `[router][port]`.
    sw_grant: Vec<u8>,
    /// Column that a row accepts first, `[router][port]`.
    sw_accept: Vec<u8>,
    /// VC that a row sends first, `[router][port]`.
    sw_vc: Vec<u16>,
    asks: Vec<Ask<M>>,
    /// VCs granted to each ask of one port.
    granted: Vec<M>,
    /// Columns granted to each row.
    columns: Vec<u64>,
}

impl<M: VcMask> FastAllocators<M> {
    pub fn new(p: &Params) -> Self {
        let vcs_of_router = p.ports * p.vcs;
        FastAllocators {
            vc_grant: vec![0; p.routers * vcs_of_router],
            vc_accept: vec![0; p.routers * vcs_of_router],
            sw_grant: vec![0; p.routers * p.ports],
            sw_accept: vec![0; p.routers * p.ports],
            sw_vc: vec![0; p.routers * p.ports],
            asks: Vec::with_capacity(vcs_of_router),
            granted: Vec::with_capacity(vcs_of_router),
            columns: vec![0; p.ports],
        }
    }
}

impl<M: VcMask> Kernel<M> {
    /// One cycle of one router.
    #[inline]
    pub(super) fn step_fast(&mut self, router: usize) {
        if self.routers.summary[router].waiting_ports != 0 {
            self.allocate_vcs_fast(router);
        }
        if self.routers.summary[router].requested_cols != 0 {
            self.allocate_switch_fast(router);
        }
    }

    /// Collects what the waiting packets ask for; returns the ports that more than one asks for.
    #[inline(always)]
    pub(super) fn collect_asks(&mut self, router: usize, asks: &mut Vec<Ask<M>>) -> u64 {
        asks.clear();
        let (mut seen, mut shared) = (0u64, 0u64);
        let mut ports = self.routers.summary[router].waiting_ports;
        while ports != 0 {
            let in_port = ports.trailing_zeros() as usize;
            ports &= ports - 1;
            let waiting = self.routers.waiting[router * self.p.ports + in_port];
            waiting.for_each(|vc| {
                let input = in_port * self.p.vcs + vc;
                let (port, usable) = self.usable(router, input);
                if !usable.is_empty() {
                    asks.push(Ask { input: input as u16, port: port as u8, usable });
                    shared |= seen & 1 << port;
                    seen |= 1 << port;
                }
                if self.stalls.is_some() {
                    self.observer.asked(router * self.p.ports * self.p.vcs + input, !usable.is_empty(), self.now);
                }
            });
        }
        shared
    }

    /// The output port that a waiting packet asks for now, and the free VCs there that it may use.
    #[inline(always)]
    fn usable(&self, router: usize, input: usize) -> (usize, M) {
        let base = router * self.p.ports;
        let vc = &self.routers.inputs[base * self.p.vcs + input];
        let mut port = vc.port as usize;
        if self.p.controllers > 1 && vc.flags & EJECTING != 0 && self.rules.ejection_port == EjectionPort::Any {
            // The port with the most free VCs, the lowest of equals.
            let first = (port - self.p.network_ports) / self.p.controllers * self.p.controllers + self.p.network_ports;
            let free = |q: usize| self.routers.free[base + q].count();
            port = (first..first + self.p.controllers).fold(first, |best, q| if free(q) > free(best) { q } else { best });
        }
        let free = self.routers.free[base + port];
        let mut usable = if self.rules.destination_vc {
            let packet = &self.pool[vc.front];
            let wanted = packet.dst as usize + vc.class as usize * self.p.terminals;
            let mut one = M::EMPTY;
            if free.contains(wanted) {
                one.insert(wanted);
            }
            one
        } else {
            free.and(&self.routers.allowed[port][vc.class as usize])
        };
        if self.rules.credits_matter {
            self.keep_credited(router, port, self.pool[vc.front].flits, &mut usable);
        }
        (port, usable)
    }

    /// Takes out the VCs whose credits do not allow a new packet of `flits` flits.
    fn keep_credited(&self, router: usize, port: usize, flits: u16, usable: &mut M) {
        let first = (router * self.p.ports + port) * self.p.vcs;
        let mut needed = 0;
        if self.rules.busy_when_full {
            needed = 1;
        }
        if self.rules.cut_through {
            needed = needed.max(flits);
        }
        if self.rules.wait_for_tail_credit {
            needed = self.p.buffer_flits as u16;
        }
        let candidates = *usable;
        candidates.for_each(|v| {
            if self.routers.outputs[first + v].credits < needed {
                usable.remove(v);
            }
        });
    }

    /// Gives output VC `out_vc` of `port` to the waiting packet of `input`.
    #[inline(always)]
    pub(super) fn grant_vc(&mut self, router: usize, input: usize, port: usize, out_vc: usize) {
        let (vcs, ports) = (self.p.vcs, self.p.ports);
        let output = port * vcs + out_vc;
        self.routers.outputs[router * ports * vcs + output].owner = input as u16;
        self.routers.free[router * ports + port].remove(out_vc);
        let vc = &mut self.routers.inputs[router * ports * vcs + input];
        vc.flags = vc.flags & !WAITING | GRANTED;
        vc.output = output as u16;
        vc.port = port as u8;
        debug_assert_ne!(vc.output, FREE);
        let in_port = self.port_of[input] as usize;
        let waiting = &mut self.routers.waiting[router * ports + in_port];
        waiting.remove(input - in_port * vcs);
        if waiting.is_empty() {
            self.routers.summary[router].waiting_ports &= !(1 << in_port);
        }
    }

    fn allocate_vcs_fast(&mut self, router: usize) {
        let Allocation::Fast(fast) = &mut self.allocation else { return };
        let mut asks = std::mem::take(&mut fast.asks);
        let shared = self.collect_asks(router, &mut asks);
        for ask in &asks {
            if shared >> ask.port & 1 == 0 {
                self.grant_alone(router, ask);
            }
        }
        let mut ports = shared;
        while ports != 0 {
            let port = ports.trailing_zeros() as usize;
            ports &= ports - 1;
            self.grant_shared(router, port, &asks);
        }
        if let Allocation::Fast(fast) = &mut self.allocation {
            fast.asks = asks;
        }
    }

    /// The only packet that asks for a port: all usable VCs grant it, it accepts the first from its pointer on.
    #[inline(always)]
    fn grant_alone(&mut self, router: usize, ask: &Ask<M>) {
        let Allocation::Fast(fast) = &self.allocation else { return };
        let pointer = fast.vc_accept[router * self.p.ports * self.p.vcs + ask.input as usize] as usize;
        let out_vc = accept(&ask.usable, pointer, ask.port as usize * self.p.vcs, self.p.vcs);
        self.accept_vc(router, ask.input as usize, ask.port as usize, out_vc);
    }

    /// Several packets ask for a port: each usable VC grants the first of them from its pointer on.
    fn grant_shared(&mut self, router: usize, port: usize, asks: &[Ask<M>]) {
        let (vcs, inputs) = (self.p.vcs, self.p.ports * self.p.vcs);
        let Allocation::Fast(fast) = &mut self.allocation else { return };
        let mut granted = std::mem::take(&mut fast.granted);
        granted.clear();
        granted.resize(asks.len(), M::EMPTY);
        let mut offered = M::EMPTY;
        asks.iter().filter(|a| a.port as usize == port).for_each(|a| a.usable.for_each(|v| offered.insert(v)));
        offered.for_each(|v| {
            let pointer = fast.vc_grant[router * inputs + port * vcs + v];
            let distance = |input: u16| if input >= pointer { input - pointer } else { input + inputs as u16 - pointer };
            let first = asks
                .iter()
                .enumerate()
                .filter(|(_, a)| a.port as usize == port && a.usable.contains(v))
                .min_by_key(|(_, a)| distance(a.input));
            if let Some((i, _)) = first {
                granted[i].insert(v);
            }
        });
        for (ask, grants) in asks.iter().zip(&granted) {
            if !grants.is_empty() {
                let Allocation::Fast(fast) = &self.allocation else { return };
                let pointer = fast.vc_accept[router * inputs + ask.input as usize] as usize;
                let out_vc = accept(grants, pointer, port * vcs, vcs);
                self.accept_vc(router, ask.input as usize, port, out_vc);
            }
        }
        if let Allocation::Fast(fast) = &mut self.allocation {
            fast.granted = granted;
        }
    }

    /// A match: moves the pointers and hands the VC over.
    #[inline(always)]
    fn accept_vc(&mut self, router: usize, input: usize, port: usize, out_vc: usize) {
        let inputs = self.p.ports * self.p.vcs;
        let output = port * self.p.vcs + out_vc;
        let Allocation::Fast(fast) = &mut self.allocation else { return };
        fast.vc_grant[router * inputs + output] = after(input, inputs) as u16;
        fast.vc_accept[router * inputs + input] = after(output, inputs) as u16;
        self.grant_vc(router, input, port, out_vc);
        if self.p.vc_alloc_delay_cycles == 0 {
            self.activate(router, input);
        } else {
            let at = self.now + u64::from(self.p.vc_alloc_delay_cycles);
            self.wheel.at(at).wakes.push(Wake { router: router as u32, input: input as u16 });
        }
    }

    #[inline(always)]
    fn allocate_switch_fast(&mut self, router: usize) {
        let (ports, vcs) = (self.p.ports, self.p.vcs);
        let base = router * ports;
        let Allocation::Fast(fast) = &mut self.allocation else { return };
        let mut cols = self.routers.summary[router].requested_cols;
        let mut rows = 0u64;
        while cols != 0 {
            let col = cols.trailing_zeros() as usize;
            cols &= cols - 1;
            let row = self.routers.requests[base + col].first_from(fast.sw_grant[base + col] as usize);
            fast.columns[row] = if rows >> row & 1 == 1 { fast.columns[row] } else { 0 } | 1 << col;
            rows |= 1 << row;
        }
        while rows != 0 {
            let row = rows.trailing_zeros() as usize;
            rows &= rows - 1;
            let Allocation::Fast(fast) = &mut self.allocation else { return };
            let col = fast.columns[row].first_from(fast.sw_accept[base + row] as usize);
            fast.sw_accept[base + row] = after(col, ports) as u8;
            fast.sw_grant[base + col] = after(row, ports) as u8;
            let vc = self.routers.sendable[(base + row) * ports + col].first_from(fast.sw_vc[base + row] as usize);
            fast.sw_vc[base + row] = after(vc, vcs) as u16;
            self.traverse(router, row * vcs + vc, self.now);
        }
    }
}

/// The next of `n` numbers in a ring.
#[inline(always)]
fn after(i: usize, n: usize) -> usize {
    if i + 1 == n { 0 } else { i + 1 }
}

/// The VC that an input VC accepts: the first of `granted`, VCs of the port that starts at column `first`, at or after the
/// pointer, in the cyclic order of all columns.
#[inline(always)]
fn accept<M: VcMask>(granted: &M, pointer: usize, first: usize, vcs: usize) -> usize {
    let within = pointer.wrapping_sub(first);
    if within < vcs { granted.first_from(within) } else { granted.first() }
}
