//! When nothing moves any more: which virtual channels wait for each other.

use super::Kernel;
use super::mask::VcMask;
use super::state::{ACTIVE, FREE, GRANTED};
use super::wheel::NONE;
use crate::error::Error;
use crate::plan::Plan;

impl<M: VcMask> Kernel<M> {
    /// The error for a network in which no flit can move.
    pub(super) fn deadlock(&self, plan: &Plan) -> Error {
        let cycle = self.waiting_cycle();
        let names: Vec<String> = cycle.iter().map(|&vc| self.name(plan, vc)).collect();
        let waiting = if names.is_empty() {
            format!("{} packets are in the network and none moves", self.pool.live())
        } else {
            format!("{} -> {}", names.join(" -> "), names[0])
        };
        Error::Deadlock { cycle: self.now, waiting }
    }

    /// The error for a schedule that waits for something that never comes.
    pub(super) fn stuck(&self, plan: &Plan) -> Error {
        let left = self.terminals.program().map_or(0, |p| p.messages().1);
        let name = match &plan.workload {
            crate::plan::Workload::Closed { schedule, .. } => schedule.name.clone(),
            crate::plan::Workload::Open(_) => String::new(),
        };
        Error::Schedule {
            name,
            fault: format!("{left} messages can never be sent: every rank waits for an operation that cannot complete"),
        }
    }

    /// Input VCs (global numbers) that each wait for the next, in a ring; empty if there is none.
    fn waiting_cycle(&self) -> Vec<usize> {
        // 0: not seen, 1: on the way, 2: done.
        let mut state = vec![0u8; self.routers.inputs.len()];
        for start in 0..state.len() {
            if state[start] != 0 || self.routers.inputs[start].front == NONE {
                continue;
            }
            let mut way = vec![(start, self.waits_for(start))];
            state[start] = 1;
            while let Some((at, next)) = way.last_mut() {
                match next.pop() {
                    None => {
                        state[*at] = 2;
                        way.pop();
                    }
                    Some(n) if state[n] == 1 => {
                        let from = way.iter().position(|(vc, _)| *vc == n).unwrap_or(0);
                        return way[from..].iter().map(|(vc, _)| *vc).collect();
                    }
                    Some(n) if state[n] == 0 => {
                        state[n] = 1;
                        let waits = self.waits_for(n);
                        way.push((n, waits));
                    }
                    Some(_) => {}
                }
            }
        }
        Vec::new()
    }

    /// The input VCs that the front packet of an input VC waits for.
    fn waits_for(&self, vc: usize) -> Vec<usize> {
        let (ports, vcs) = (self.p.ports, self.p.vcs);
        let inputs = ports * vcs;
        let (router, input) = (vc / inputs, vc % inputs);
        let state = &self.routers.inputs[vc];
        if state.front == NONE {
            return Vec::new();
        }
        if state.occupied == 0 {
            // The rest of the packet is upstream.
            let in_port = input / vcs;
            if in_port >= self.p.network_ports {
                return Vec::new();
            }
            let upstream = self.routers.neighbours[router * self.p.network_ports + in_port] as usize;
            let owner = self.routers.outputs[upstream * inputs + (in_port ^ 1) * vcs + input % vcs].owner;
            return if owner == FREE { Vec::new() } else { vec![upstream * inputs + owner as usize] };
        }
        if state.flags & (GRANTED | ACTIVE) == 0 {
            let port = state.port as usize;
            let owners = (0..vcs).map(|v| self.routers.outputs[router * inputs + port * vcs + v].owner);
            return owners.filter(|&o| o != FREE).map(|o| router * inputs + o as usize).collect();
        }
        let (port, out_vc) = (state.output as usize / vcs, state.output as usize % vcs);
        if port >= self.p.network_ports || self.routers.outputs[router * inputs + state.output as usize].credits > 0 {
            return Vec::new();
        }
        let downstream = self.routers.neighbours[router * self.p.network_ports + port] as usize;
        vec![downstream * inputs + (port ^ 1) * vcs + out_vc]
    }

    fn name(&self, plan: &Plan, vc: usize) -> String {
        let inputs = self.p.ports * self.p.vcs;
        let (router, input) = (vc / inputs, vc % inputs);
        let (port, vc) = (input / self.p.vcs, input % self.p.vcs);
        let coords = &plan.grid.coords(router as u32)[..plan.grid.dims()];
        let side = if port >= self.p.network_ports {
            format!("injection port {}", port - self.p.network_ports)
        } else {
            format!("{}{} input", if port % 2 == 0 { '+' } else { '-' }, ["x", "y", "z", "u", "v", "w"][port / 2])
        };
        format!("router {coords:?} {side} VC {vc}")
    }
}
