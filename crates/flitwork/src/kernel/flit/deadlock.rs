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
        let mut state = vec![0u8; self.routers.inputs.as_slice().len()];
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
        let shape = self.shape;
        let (router, slot) = shape.router_and_slot(vc);
        let state = &self.routers.inputs[vc];
        if state.front == NONE {
            return Vec::new();
        }
        if state.occupied == 0 {
            // The rest of the packet is upstream.
            let (in_port, in_vc) = shape.port_and_vc(slot);
            let far_end = self.routers.far_end[shape.port(router, in_port)];
            if far_end == NONE {
                return Vec::new();
            }
            let upstream = far_end as usize + in_vc;
            let owner = self.routers.outputs[upstream].owner;
            let (upstream_router, _) = shape.router_and_slot(upstream);
            return if owner == FREE { Vec::new() } else { vec![shape.vc(upstream_router, owner as usize)] };
        }
        if state.flags & (GRANTED | ACTIVE) == 0 {
            let outputs = (0..self.p.vcs).map(|v| shape.vc(router, shape.slot(state.port as usize, v)));
            let owners = outputs.map(|output| self.routers.outputs[output].owner);
            return owners.filter(|&o| o != FREE).map(|o| shape.vc(router, o as usize)).collect();
        }
        let (port, out_vc) = shape.port_and_vc(state.output as usize);
        let far_end = self.routers.far_end[shape.port(router, port)];
        if far_end == NONE || self.routers.outputs[shape.vc(router, state.output as usize)].credits > 0 {
            return Vec::new();
        }
        vec![far_end as usize + out_vc]
    }

    fn name(&self, plan: &Plan, vc: usize) -> String {
        let (router, slot) = self.shape.router_and_slot(vc);
        let (port, vc) = self.shape.port_and_vc(slot);
        let coords = &plan.grid.coords(router as u32)[..plan.grid.dims()];
        let side = if port >= self.p.network_ports {
            format!("injection port {}", port - self.p.network_ports)
        } else {
            format!("{}{} input", if port % 2 == 0 { '+' } else { '-' }, ["x", "y", "z", "u", "v", "w"][port / 2])
        };
        format!("router {coords:?} {side} VC {vc}")
    }
}
