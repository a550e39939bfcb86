//! What waiting packets ask for, and what happens when they get it: common to both ways through allocation.

use super::Kernel;
use super::mask::VcMask;
use super::state::{EJECTING, GRANTED, WAITING};

/// A packet that asks for VCs of an output port.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ask<M> {
    /// Input VC.
    pub slot: u16,
    pub port: u8,
    /// Free VCs that it may use; not empty.
    pub usable: M,
}

impl<M: VcMask> Kernel<M> {
    /// Collects what those waiting packets ask for that want one of the output ports `of`.
    pub(super) fn collect_asks(&mut self, router: usize, of: u64, asks: &mut Vec<Ask<M>>) {
        asks.clear();
        let mut ports = self.routers.summary[router].waiting_ports;
        while ports != 0 {
            let in_port = ports.trailing_zeros() as usize;
            ports &= ports - 1;
            let waiting = self.routers.waiting[self.shape.port(router, in_port)];
            waiting.for_each(|vc| {
                let slot = self.shape.slot(in_port, vc);
                let port = self.wanted_port(router, slot);
                if of >> port & 1 == 0 {
                    return;
                }
                let usable = self.usable(router, slot, port);
                if !usable.is_empty() {
                    asks.push(Ask { slot: slot as u16, port: port as u8, usable });
                }
                if self.stalls.is_some() {
                    self.observer.asked(self.shape.vc(router, slot), !usable.is_empty(), self.now);
                }
            });
        }
    }

    /// The output port that a waiting packet asks for now.
    fn wanted_port(&self, router: usize, slot: usize) -> usize {
        let vc = &self.routers.inputs[self.shape.vc(router, slot)];
        let port = vc.port as usize;
        if !self.rules.chooses_ejection_port || vc.flags & EJECTING == 0 {
            return port;
        }
        // The port with the most free VCs, the lowest of equals.
        let c = self.p.controllers;
        let first = (port - self.p.network_ports) / c * c + self.p.network_ports;
        let free = |q: usize| self.routers.free[self.shape.port(router, q)].count();
        (first..first + c).fold(first, |best, q| if free(q) > free(best) { q } else { best })
    }

    /// The free VCs of `port` that a waiting packet may use.
    #[inline(always)]
    pub(super) fn usable(&self, router: usize, slot: usize, port: usize) -> M {
        let vc = &self.routers.inputs[self.shape.vc(router, slot)];
        let free = self.routers.free[self.shape.port(router, port)];
        let mut usable = if self.rules.destination_vc {
            let packet = &self.pool[vc.front];
            let wanted = packet.dst as usize + vc.class as usize * self.p.terminals;
            let mut one = M::EMPTY;
            if free.contains(wanted) {
                one.insert(wanted);
            }
            one
        } else {
            free.and(&self.routers.allowed[port][vc.class as usize & 1])
        };
        if self.rules.credits_matter {
            self.keep_credited(router, port, self.pool[vc.front].flits, &mut usable);
        }
        usable
    }

    /// Takes out the VCs whose credits do not allow a new packet of `flits` flits.
    fn keep_credited(&self, router: usize, port: usize, flits: u16, usable: &mut M) {
        let mut needed = u16::from(self.rules.busy_when_full);
        if self.rules.cut_through {
            needed = needed.max(flits);
        }
        if self.rules.wait_for_tail_credit {
            needed = self.p.buffer_flits as u16;
        }
        let candidates = *usable;
        candidates.for_each(|v| {
            if self.routers.outputs[self.shape.vc(router, self.shape.slot(port, v))].credits < needed {
                usable.remove(v);
            }
        });
    }

    /// Gives output VC `out_vc` of `port` to the waiting packet of input VC `slot`.
    #[inline(always)]
    pub(super) fn grant_vc(&mut self, router: usize, slot: usize, port: usize, out_vc: usize) {
        let shape = self.shape;
        let output = shape.slot(port, out_vc);
        self.routers.outputs[shape.vc(router, output)].owner = slot as u16;
        self.routers.free[shape.port(router, port)].remove(out_vc);
        let vc = &mut self.routers.inputs[shape.vc(router, slot)];
        vc.flags = vc.flags & !WAITING | GRANTED;
        vc.output = output as u16;
        vc.port = port as u8;
        let (in_port, in_vc) = shape.port_and_vc(slot);
        let waiting = &mut self.routers.waiting[shape.port(router, in_port)];
        waiting.remove(in_vc);
        if waiting.is_empty() {
            self.routers.summary[router].waiting_ports &= !(1 << in_port);
        }
    }

    /// Lets a packet that was granted its output VC request the switch, when allocation is through.
    #[inline(always)]
    pub(super) fn activate_after_delay(&mut self, router: usize, slot: usize) {
        if self.p.vc_alloc_delay_cycles == 0 {
            self.activate(router, slot);
        } else {
            let at = self.now + u64::from(self.p.vc_alloc_delay_cycles);
            self.wheel.at(at).wakes.push(self.shape.vc(router, slot) as u32);
        }
    }
}
