//! The start of a cycle: flits, credits and pipeline stages that are due now; and what becomes of a new front packet.

use super::Kernel;
use super::mask::VcMask;
use super::state::{ACTIVE, EJECTING, FREE, GRANTED, HEAD, WAITING};
use super::wheel::{FlitArrival, NONE};
use crate::spec::EjectionPort;

impl<M: VcMask> Kernel<M> {
    /// Delivers everything that is due now.
    pub(super) fn deliver(&mut self) {
        let slot = self.wheel.take(self.now);
        for &vc in &slot.credits {
            self.deliver_credit(vc as usize);
        }
        for &vc in &slot.controller_credits {
            self.terminals.credit(vc as usize);
        }
        for flit in &slot.flits {
            self.deliver_flit(flit);
        }
        for &vc in &slot.wakes {
            self.deliver_wake(vc as usize);
        }
        for &packet in &slot.tails {
            self.deliver_tail(packet);
        }
        self.wheel.put_back(self.now, slot);
    }

    #[inline(always)]
    fn deliver_credit(&mut self, vc: usize) {
        let output = &mut self.routers.outputs[vc];
        output.credits += 1;
        if output.credits == 1 && output.owner != FREE {
            let owner = output.owner as usize;
            let (router, _) = self.shape.router_and_slot(vc);
            let input = &self.routers.inputs[self.shape.vc(router, owner)];
            if input.flags & ACTIVE != 0 && input.occupied > 0 {
                let port = input.port as usize;
                self.set_sendable(router, owner, port);
            }
        }
    }

    #[inline(always)]
    fn deliver_flit(&mut self, flit: &FlitArrival) {
        let at = flit.vc as usize;
        let input = &mut self.routers.inputs[at];
        input.occupied += 1;
        if flit.packet == NONE {
            if input.occupied == 1 && input.flags & ACTIVE != 0 {
                let (output, port) = (input.output as usize, input.port as usize);
                let (router, slot) = self.shape.router_and_slot(at);
                if self.routers.outputs[self.shape.vc(router, output)].credits > 0 {
                    self.set_sendable(router, slot, port);
                }
            }
            return;
        }
        if self.rules.fcfs {
            self.pool[flit.packet].here = self.now;
        }
        if input.front == NONE {
            input.front = flit.packet;
            let (router, slot) = self.shape.router_and_slot(at);
            self.new_front(router, slot, self.now);
        } else {
            self.pool[flit.packet].next = NONE;
            if input.behind_first == NONE {
                input.behind_first = flit.packet;
            } else {
                self.pool[input.behind_last].next = flit.packet;
            }
            input.behind_last = flit.packet;
        }
    }

    /// Routes the packet that came to the front of an input VC in cycle `since`: now, or the next one if it came to the front
    /// behind a tail that has just left.
    #[inline(always)]
    pub(super) fn new_front(&mut self, router: usize, slot: usize, since: u64) {
        let at = self.shape.vc(router, slot);
        let vc = &mut self.routers.inputs[at];
        let packet = &self.pool[vc.front];
        vc.left = packet.flits;
        vc.output = FREE;
        vc.flags = HEAD;
        match self.routes.next_dimension(router, packet.key) {
            Some(d) => {
                vc.port = (2 * d) as u8 + (packet.minus >> d & 1);
                vc.class = packet.wraps >> d & 1;
            }
            None => {
                let c = self.p.controllers;
                let terminal = if self.p.concentration == 1 { 0 } else { packet.dst as usize % self.p.concentration };
                let chosen = match self.rules.ejection_port {
                    // The port is chosen at each request.
                    EjectionPort::Any => 0,
                    EjectionPort::SameController => packet.controller as usize,
                    EjectionPort::BySource => packet.src as usize % c,
                };
                vc.port = (self.p.network_ports + terminal * c + chosen) as u8;
                vc.class = 0;
                vc.flags |= EJECTING;
            }
        }
        if self.rules.fcfs {
            self.arrivals[at] = packet.here;
        }
        // Behind a tail this cycle's requests have been made already, so waiting from now on is waiting from `since` on.
        if self.p.routing_delay_cycles == 0 {
            self.set_waiting(router, slot);
        } else {
            self.wheel.at(since + u64::from(self.p.routing_delay_cycles)).wakes.push(at as u32);
        }
    }

    #[inline(always)]
    fn set_waiting(&mut self, router: usize, slot: usize) {
        let (port, vc) = self.shape.port_and_vc(slot);
        self.routers.inputs[self.shape.vc(router, slot)].flags |= WAITING;
        self.routers.waiting[self.shape.port(router, port)].insert(vc);
        self.routers.summary[router].waiting_ports |= 1 << port;
        self.active[router / 64] |= 1 << (router % 64);
    }

    #[inline(always)]
    fn deliver_wake(&mut self, vc: usize) {
        let (router, slot) = self.shape.router_and_slot(vc);
        if self.routers.inputs[vc].flags & GRANTED != 0 {
            self.activate(router, slot);
        } else {
            self.set_waiting(router, slot);
        }
    }

    /// The front packet, which owns an output VC, may request the switch.
    #[inline(always)]
    pub(super) fn activate(&mut self, router: usize, slot: usize) {
        let vc = &mut self.routers.inputs[self.shape.vc(router, slot)];
        vc.flags |= ACTIVE;
        let (port, output) = (vc.port as usize, vc.output as usize);
        if vc.occupied > 0 && self.routers.outputs[self.shape.vc(router, output)].credits > 0 {
            self.set_sendable(router, slot, port);
        }
    }

    /// Input VC `slot` has a flit and a credit for output port `port`.
    #[inline(always)]
    pub(super) fn set_sendable(&mut self, router: usize, slot: usize, port: usize) {
        let (row, col) = self.row_and_col(slot, port);
        let (_, vc) = self.shape.port_and_vc(slot);
        self.routers.sendable[self.shape.row_port(router, row, port)].insert(vc);
        self.routers.requests[self.shape.col(router, col)] |= 1 << row;
        self.routers.summary[router].requested_cols |= 1 << col;
        self.active[router / 64] |= 1 << (router % 64);
    }

    /// Row and column of the switch for a flit of input VC `slot` to output port `port`.
    #[inline(always)]
    pub(super) fn row_and_col(&self, slot: usize, port: usize) -> (usize, usize) {
        let (in_port, vc) = self.shape.port_and_vc(slot);
        if !self.rules.speedup {
            return (in_port, port);
        }
        let row = in_port * self.rules.input_speedup + vc % self.rules.input_speedup;
        (row, port * self.rules.output_speedup + in_port % self.rules.output_speedup)
    }

    fn deliver_tail(&mut self, packet: u32) {
        let record = self.pool[packet];
        self.log.arrived(&record, self.now);
        self.terminals.arrived(&record);
        self.pool.remove(packet);
    }
}
