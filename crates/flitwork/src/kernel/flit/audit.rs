//! Conservation, checked after every cycle: no flit and no credit is lost or made, and the masks say what the state says.

use super::Kernel;
use super::mask::VcMask;
use super::state::{ACTIVE, FREE};
use super::wheel::NONE;

impl<M: VcMask> Kernel<M> {
    /// Panics if a law of conservation is broken.
    pub(super) fn audit(&self) {
        self.audit_credits();
        for router in 0..self.p.routers {
            self.audit_masks(router);
        }
    }

    /// For every channel and VC: credits + credits under way + flits under way + flits in the buffer = buffer.
    fn audit_credits(&self) {
        let shape = self.shape;
        let mut flits = vec![0u32; self.routers.inputs.as_slice().len()];
        let mut credits = flits.clone();
        let mut controller_credits = vec![0u32; self.p.terminals * self.p.controllers * self.p.vcs];
        for slot in self.wheel.slots() {
            slot.flits.iter().for_each(|f| flits[f.vc as usize] += 1);
            slot.credits.iter().for_each(|&c| credits[c as usize] += 1);
            slot.controller_credits.iter().for_each(|&c| controller_credits[c as usize] += 1);
        }
        for router in 0..self.p.routers {
            for (port, vc) in (0..self.p.ports).flat_map(|port| (0..self.p.vcs).map(move |vc| (port, vc))) {
                let here = shape.vc(router, shape.slot(port, vc));
                let held = u32::from(self.routers.inputs[here].occupied) + flits[here];
                let free = if port < self.p.network_ports {
                    let far_end = self.routers.far_end[shape.port(router, port)];
                    if far_end == NONE {
                        continue;
                    }
                    let upstream = far_end as usize + vc;
                    u32::from(self.routers.outputs[upstream].credits) + credits[upstream]
                } else {
                    let local_ports = self.p.concentration * self.p.controllers;
                    let at = (router * local_ports + port - self.p.network_ports) * self.p.vcs + vc;
                    u32::from(self.terminals.credits_at(at)) + controller_credits[at]
                };
                assert_eq!(held + free, self.p.buffer_flits, "router {router} port {port} VC {vc} cycle {}", self.now);
            }
        }
    }

    fn audit_masks(&self, router: usize) {
        let shape = self.shape;
        for slot in (0..self.p.ports).flat_map(|port| (0..self.p.vcs).map(move |vc| shape.slot(port, vc))) {
            let input = &self.routers.inputs[shape.vc(router, slot)];
            let can_send = input.flags & ACTIVE != 0
                && input.occupied > 0
                && self.routers.outputs[shape.vc(router, input.output as usize)].credits > 0;
            let (row, col) = self.row_and_col(slot, input.port as usize);
            let (port, vc) = shape.port_and_vc(slot);
            let listed = self.routers.sendable[shape.row_port(router, row, input.port as usize)].contains(vc);
            assert_eq!(can_send, listed, "router {router} slot {slot} cycle {}", self.now);
            let requested = self.routers.requests[shape.col(router, col)] >> row & 1 == 1;
            assert!(!listed || requested, "router {router} slot {slot} cycle {}", self.now);
            let owner = self.routers.outputs[shape.vc(router, slot)].owner;
            assert_eq!(owner == FREE, self.routers.free[shape.port(router, port)].contains(vc));
            let owned = |o: u16| self.routers.inputs[shape.vc(router, o as usize)].output as usize == slot;
            assert!(owner == FREE || owned(owner), "router {router} output {slot} cycle {}", self.now);
        }
    }
}
