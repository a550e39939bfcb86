//! A flit leaves its buffer: downstream the flit, upstream the credit, and what changes behind a tail.

use super::Kernel;
use super::mask::VcMask;
use super::state::{FREE, HEAD};
use super::wheel::{FlitArrival, NONE};

impl<M: VcMask> Kernel<M> {
    /// Sends the front flit of an input VC. `turn` is the cycle in which the output port puts it on the channel: now, unless
    /// output speed-up makes it queue.
    #[inline(always)]
    pub(super) fn traverse(&mut self, router: usize, slot: usize, turn: u64) {
        let shape = self.shape;
        let vc = &mut self.routers.inputs[shape.vc(router, slot)];
        let (port, output, packet) = (vc.port as usize, vc.output as usize, vc.front);
        let head = vc.flags & HEAD != 0;
        vc.flags &= !HEAD;
        vc.occupied -= 1;
        vc.left -= 1;
        let tail = vc.left == 0;
        let out = &mut self.routers.outputs[shape.vc(router, output)];
        out.credits -= 1;
        let blocked = tail || vc.occupied == 0 || out.credits == 0;
        self.flit_hops += 1;

        let (_, out_vc) = shape.port_and_vc(output);
        if port < self.p.network_ports {
            let channel = shape.port(router, port);
            self.routers.link_flits[channel] += 1;
            let flit = FlitArrival {
                vc: self.routers.far_end[channel] + out_vc as u32,
                packet: if head { packet } else { NONE },
            };
            self.wheel.at(turn + u64::from(self.p.hop_cycles)).flits.push(flit);
        } else {
            self.eject(router, port, output, tail.then_some(packet), turn);
        }

        let (in_port, in_vc) = shape.port_and_vc(slot);
        if in_port < self.p.network_ports {
            let upstream = self.routers.far_end[shape.port(router, in_port)] + in_vc as u32;
            self.wheel.at(self.now + u64::from(self.p.credit_cycles)).credits.push(upstream);
        } else {
            let controller = router * self.p.concentration * self.p.controllers + in_port - self.p.network_ports;
            let credit = (controller * self.p.vcs + in_vc) as u32;
            self.wheel.at(self.now + u64::from(self.p.inject_credit_cycles)).controller_credits.push(credit);
        }

        if blocked {
            self.clear_sendable(router, slot, port);
        }
        if tail {
            self.behind_tail(router, slot, port, output);
        }
        if self.stalls.is_some() {
            self.observer.moved(
                shape.vc(router, slot),
                shape.port(router, port),
                shape.port(router, in_port),
                self.now,
            );
        }
    }

    /// A flit goes to the terminal behind `port`; `tail` is its packet if it is the last of it.
    #[inline(always)]
    fn eject(&mut self, router: usize, port: usize, output: usize, tail: Option<u32>, turn: u64) {
        let p = &self.p;
        let arrival = turn + u64::from(p.eject_cycles);
        if let Some(packet) = tail {
            self.wheel.at(arrival).tails.push(packet);
        }
        let credit = self.shape.vc(router, output) as u32;
        self.wheel.at(arrival + u64::from(p.eject_credit_cycles)).credits.push(credit);
        if self.measurement.contains(&arrival) {
            let local = if p.concentration == 1 { 0 } else { (port - p.network_ports) / p.controllers };
            self.ejected[router * p.concentration + local] += 1;
        }
    }

    #[inline(always)]
    fn clear_sendable(&mut self, router: usize, slot: usize, port: usize) {
        let (row, col) = self.row_and_col(slot, port);
        let (_, vc) = self.shape.port_and_vc(slot);
        let sendable = &mut self.routers.sendable[self.shape.row_port(router, row, port)];
        sendable.remove(vc);
        if sendable.is_empty() {
            let requests = &mut self.routers.requests[self.shape.col(router, col)];
            *requests &= !(1 << row);
            if *requests == 0 {
                self.routers.summary[router].requested_cols &= !(1 << col);
            }
        }
    }

    /// The output VC is free again, and the next packet of the buffer comes to the front.
    #[inline(always)]
    fn behind_tail(&mut self, router: usize, slot: usize, port: usize, output: usize) {
        self.routers.outputs[self.shape.vc(router, output)].owner = FREE;
        self.routers.free[self.shape.port(router, port)].insert(self.shape.port_and_vc(output).1);
        let vc = &mut self.routers.inputs[self.shape.vc(router, slot)];
        let next = vc.behind_first;
        vc.front = next;
        vc.flags = 0;
        if next != NONE {
            vc.behind_first = self.pool[next].next;
            self.new_front(router, slot, self.now + 1);
        }
    }
}
