//! A flit leaves its buffer: downstream the flit, upstream the credit, and what changes behind a tail.

use super::Kernel;
use super::mask::VcMask;
use super::state::{FREE, HEAD};
use super::wheel::{CreditArrival, FlitArrival, NONE, TO_CONTROLLER};

impl<M: VcMask> Kernel<M> {
    /// Sends the front flit of an input VC. `turn` is the cycle in which the output port puts it on the channel: now, unless
    /// output speed-up makes it queue.
    #[inline(always)]
    pub(super) fn traverse(&mut self, router: usize, input: usize, turn: u64) {
        let p = &self.p;
        let (vcs, ports) = (p.vcs, p.ports);
        let base = router * ports * vcs;
        let vc = &mut self.routers.inputs[base + input];
        let (port, output, packet) = (vc.port as usize, vc.output as usize, vc.front);
        let head = vc.flags & HEAD != 0;
        vc.flags &= !HEAD;
        vc.occupied -= 1;
        vc.left -= 1;
        let tail = vc.left == 0;
        let out = &mut self.routers.outputs[base + output];
        out.credits -= 1;
        let blocked = tail || vc.occupied == 0 || out.credits == 0;
        self.flit_hops += 1;

        let out_vc = output - port * vcs;
        if port < p.network_ports {
            let link = router * p.network_ports + port;
            self.routers.link_flits[link] += 1;
            self.wheel.at(turn + u64::from(p.hop_cycles)).flits.push(FlitArrival {
                router: self.routers.neighbours[link],
                packet: if head { packet } else { NONE },
                vc: out_vc as u16,
                port: port as u16 ^ 1,
            });
        } else {
            let arrival = turn + u64::from(p.eject_cycles);
            if tail {
                self.wheel.at(arrival).tails.push(packet);
            }
            self.wheel.at(arrival + u64::from(p.eject_credit_cycles)).credits.push(CreditArrival {
                target: router as u32,
                vc: out_vc as u16,
                port: port as u16,
            });
            if self.measurement.contains(&arrival) {
                let local = if p.concentration == 1 { 0 } else { (port - p.network_ports) / p.controllers };
                self.ejected[router * p.concentration + local] += 1;
            }
        }

        let in_port = self.port_of[input] as usize;
        let in_vc = (input - in_port * vcs) as u16;
        if in_port < p.network_ports {
            self.wheel.at(self.now + u64::from(p.credit_cycles)).credits.push(CreditArrival {
                target: self.routers.neighbours[router * p.network_ports + in_port],
                vc: in_vc,
                port: in_port as u16 ^ 1,
            });
        } else {
            let local_ports = p.concentration * p.controllers;
            self.wheel.at(self.now + u64::from(p.inject_credit_cycles)).credits.push(CreditArrival {
                target: (router * local_ports + in_port - p.network_ports) as u32,
                vc: in_vc,
                port: TO_CONTROLLER,
            });
        }

        if blocked {
            self.clear_sendable(router, input, port);
        }
        if tail {
            self.behind_tail(router, input, port, out_vc);
        }
        if self.stalls.is_some() {
            self.observer.moved(base + input, router * ports + port, router * ports + in_port, self.now);
        }
    }

    #[inline(always)]
    fn clear_sendable(&mut self, router: usize, input: usize, port: usize) {
        let (row, col) = self.row_and_col(input, port);
        let in_port = self.port_of[input] as usize;
        let rows = self.p.ports * self.rules.input_speedup;
        let sendable = &mut self.routers.sendable[(router * rows + row) * self.p.ports + port];
        sendable.remove(input - in_port * self.p.vcs);
        if sendable.is_empty() {
            let requests = &mut self.routers.requests[router * self.p.ports * self.rules.output_speedup + col];
            *requests &= !(1 << row);
            if *requests == 0 {
                self.routers.summary[router].requested_cols &= !(1 << col);
            }
        }
    }

    /// The output VC is free again, and the next packet of the buffer comes to the front.
    #[inline(always)]
    fn behind_tail(&mut self, router: usize, input: usize, port: usize, out_vc: usize) {
        let base = router * self.p.ports * self.p.vcs;
        self.routers.outputs[base + port * self.p.vcs + out_vc].owner = FREE;
        self.routers.free[router * self.p.ports + port].insert(out_vc);
        let vc = &mut self.routers.inputs[base + input];
        let next = vc.behind_first;
        vc.front = next;
        vc.flags = 0;
        if next != NONE {
            vc.behind_first = self.pool[next].next;
            self.new_front(router, input, self.now + 1 + u64::from(self.p.routing_delay_cycles));
        }
    }
}
