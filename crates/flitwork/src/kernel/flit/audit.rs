//! Conservation, checked after every cycle: no flit and no credit is lost or made, and the masks say what the state says.

use super::Kernel;
use super::mask::VcMask;
use super::state::{ACTIVE, FREE};
use super::wheel::TO_CONTROLLER;

impl<M: VcMask> Kernel<M> {
    /// Panics if a law of conservation is broken.
    pub(super) fn audit(&self) {
        self.audit_credits();
        self.audit_masks();
    }

    /// For every channel and VC: credits + credits under way + flits under way + flits in the buffer = buffer.
    fn audit_credits(&self) {
        let (ports, vcs) = (self.p.ports, self.p.vcs);
        let inputs = ports * vcs;
        let mut under_way = vec![0u32; self.routers.inputs.len()];
        let mut to_controllers = vec![0u32; self.p.terminals * self.p.controllers * vcs];
        let mut to_outputs = vec![0u32; self.routers.outputs.len()];
        for f in self.wheel.flits() {
            under_way[f.router as usize * inputs + f.port as usize * vcs + f.vc as usize] += 1;
        }
        for c in self.wheel.credits() {
            if c.port == TO_CONTROLLER {
                to_controllers[c.target as usize * vcs + c.vc as usize] += 1;
            } else {
                to_outputs[c.target as usize * inputs + c.port as usize * vcs + c.vc as usize] += 1;
            }
        }
        let local_ports = self.p.concentration * self.p.controllers;
        for router in 0..self.p.routers {
            for (port, vc) in (0..ports).flat_map(|port| (0..vcs).map(move |vc| (port, vc))) {
                let here = router * inputs + port * vcs + vc;
                let held = u32::from(self.routers.inputs[here].occupied) + under_way[here];
                let credits = if port < self.p.network_ports {
                    let upstream = self.routers.neighbours[router * self.p.network_ports + port];
                    if upstream == super::NONE {
                        continue;
                    }
                    let there = upstream as usize * inputs + (port ^ 1) * vcs + vc;
                    u32::from(self.routers.outputs[there].credits) + to_outputs[there]
                } else {
                    let controller = router * local_ports + port - self.p.network_ports;
                    u32::from(self.terminals.credits_of(controller, vc)) + to_controllers[controller * vcs + vc]
                };
                assert_eq!(held + credits, self.p.buffer_flits, "router {router} port {port} VC {vc} cycle {}", self.now);
            }
        }
    }

    fn audit_masks(&self) {
        let (ports, vcs) = (self.p.ports, self.p.vcs);
        let inputs = ports * vcs;
        for router in 0..self.p.routers {
            for input in 0..inputs {
                let vc = &self.routers.inputs[router * inputs + input];
                let can_send = vc.flags & ACTIVE != 0
                    && vc.occupied > 0
                    && self.routers.outputs[router * inputs + vc.output as usize].credits > 0;
                let port = vc.port as usize;
                let (row, col) = self.row_and_col(input, port);
                let rows = ports * self.rules.input_speedup;
                let listed = self.routers.sendable[(router * rows + row) * ports + port].contains(input % vcs);
                assert_eq!(can_send, listed, "router {router} input {input} cycle {}", self.now);
                let requested = self.routers.requests[router * ports * self.rules.output_speedup + col] >> row & 1 == 1;
                assert!(!listed || requested, "router {router} input {input} cycle {}", self.now);
            }
            for output in 0..inputs {
                let owner = self.routers.outputs[router * inputs + output].owner;
                assert_eq!(owner == FREE, self.routers.free[router * ports + output / vcs].contains(output % vcs));
                assert!(owner == FREE || self.routers.inputs[router * inputs + owner as usize].output as usize == output);
            }
        }
    }
}
