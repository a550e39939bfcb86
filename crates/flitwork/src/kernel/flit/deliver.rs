//! The start of a cycle: flits, credits and pipeline stages that are due now; and what becomes of a new front packet.

use super::mask::VcMask;
use super::state::{ACTIVE, EJECTING, FREE, GRANTED, HEAD, WAITING};
use super::wheel::{CreditArrival, FlitArrival, NONE, TO_CONTROLLER, Wake};
use super::Kernel;
use crate::spec::EjectionPort;

impl<M: VcMask> Kernel<M> {
    /// Delivers everything that is due now.
    pub(super) fn deliver(&mut self) {
        let slot = self.wheel.take(self.now);
        for credit in &slot.credits {
            self.deliver_credit(credit);
        }
        for flit in &slot.flits {
            self.deliver_flit(flit);
        }
        for wake in &slot.wakes {
            self.deliver_wake(wake);
        }
        for &packet in &slot.tails {
            self.deliver_tail(packet);
        }
        self.wheel.put_back(self.now, slot);
    }

    #[inline(always)]
    fn deliver_credit(&mut self, credit: &CreditArrival) {
        if credit.port == TO_CONTROLLER {
            self.terminals.credit(credit.target, credit.vc);
            return;
        }
        let router = credit.target as usize;
        let base = router * self.p.ports * self.p.vcs;
        let output = &mut self.routers.outputs[base + credit.port as usize * self.p.vcs + credit.vc as usize];
        output.credits += 1;
        if output.credits == 1 && output.owner != FREE {
            let input = output.owner as usize;
            let vc = &self.routers.inputs[base + input];
            if vc.flags & ACTIVE != 0 && vc.occupied > 0 {
                self.set_sendable(router, input, credit.port as usize);
            }
        }
    }

    #[inline(always)]
    fn deliver_flit(&mut self, flit: &FlitArrival) {
        let router = flit.router as usize;
        let input = flit.port as usize * self.p.vcs + flit.vc as usize;
        let base = router * self.p.ports * self.p.vcs;
        let vc = &mut self.routers.inputs[base + input];
        vc.occupied += 1;
        if flit.packet == NONE {
            if vc.occupied == 1 && vc.flags & ACTIVE != 0 {
                let (output, port) = (vc.output as usize, vc.port as usize);
                if self.routers.outputs[base + output].credits > 0 {
                    self.set_sendable(router, input, port);
                }
            }
            return;
        }
        if self.rules.fcfs {
            self.pool[flit.packet].here = self.now;
        }
        if vc.front == NONE {
            vc.front = flit.packet;
            self.new_front(router, input, self.now + u64::from(self.p.routing_delay_cycles));
        } else {
            self.pool[flit.packet].next = NONE;
            if vc.behind_first == NONE {
                vc.behind_first = flit.packet;
            } else {
                self.pool[vc.behind_last].next = flit.packet;
            }
            vc.behind_last = flit.packet;
        }
    }

    /// Routes the packet that came to the front of an input VC; it waits for an output VC from cycle `from` on.
    #[inline(always)]
    pub(super) fn new_front(&mut self, router: usize, input: usize, from: u64) {
        let vc = &mut self.routers.inputs[router * self.p.ports * self.p.vcs + input];
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
            self.arrivals[router * self.p.ports * self.p.vcs + input] = packet.here;
        }
        // A packet that comes to the front behind a tail does so after this cycle's requests were made.
        if from <= self.now || (self.p.routing_delay_cycles == 0 && from == self.now + 1) {
            self.set_waiting(router, input);
        } else {
            self.wheel.at(from).wakes.push(Wake { router: router as u32, input: input as u16 });
        }
    }

    #[inline(always)]
    fn set_waiting(&mut self, router: usize, input: usize) {
        let port = self.port_of[input] as usize;
        self.routers.inputs[router * self.p.ports * self.p.vcs + input].flags |= WAITING;
        self.routers.waiting[router * self.p.ports + port].insert(input - port * self.p.vcs);
        self.routers.summary[router].waiting_ports |= 1 << port;
        self.active[router / 64] |= 1 << (router % 64);
    }

    #[inline(always)]
    fn deliver_wake(&mut self, wake: &Wake) {
        let router = wake.router as usize;
        let input = wake.input as usize;
        if self.routers.inputs[router * self.p.ports * self.p.vcs + input].flags & GRANTED != 0 {
            self.activate(router, input);
        } else {
            self.set_waiting(router, input);
        }
    }

    /// The front packet, which owns an output VC, may request the switch.
    #[inline(always)]
    pub(super) fn activate(&mut self, router: usize, input: usize) {
        let base = router * self.p.ports * self.p.vcs;
        let vc = &mut self.routers.inputs[base + input];
        vc.flags |= ACTIVE;
        let port = vc.port as usize;
        if vc.occupied > 0 && self.routers.outputs[base + vc.output as usize].credits > 0 {
            self.set_sendable(router, input, port);
        }
    }

    /// Input VC `input` has a flit and a credit for output port `port`.
    #[inline(always)]
    pub(super) fn set_sendable(&mut self, router: usize, input: usize, port: usize) {
        let (row, col) = self.row_and_col(input, port);
        let in_port = self.port_of[input] as usize;
        let rows = self.p.ports * self.rules.input_speedup;
        self.routers.sendable[(router * rows + row) * self.p.ports + port].insert(input - in_port * self.p.vcs);
        self.routers.requests[router * self.p.ports * self.rules.output_speedup + col] |= 1 << row;
        self.routers.summary[router].requested_cols |= 1 << col;
        self.active[router / 64] |= 1 << (router % 64);
    }

    /// Row and column of the switch for a flit of `input` to output port `port`.
    #[inline(always)]
    pub(super) fn row_and_col(&self, input: usize, port: usize) -> (usize, usize) {
        let in_port = self.port_of[input] as usize;
        if self.rules.input_speedup == 1 && self.rules.output_speedup == 1 {
            return (in_port, port);
        }
        let vc = input - in_port * self.p.vcs;
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
