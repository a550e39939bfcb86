//! The end of a cycle: link use per window, why flits stand still, and the result of a run.

use super::Kernel;
use super::mask::VcMask;
use super::shape::Shape;
use super::state::{ACTIVE, EJECTING, GRANTED, WAITING};
use super::wheel::NONE;
use crate::measure::{LinkWindows, SimulationResult, StallReason, Status};
use crate::plan::{Params, Plan};
use crate::schedule::OpKind;

/// Flits over each channel per window.
#[derive(Debug)]
pub(super) struct LinkRecorder {
    window_cycles: u64,
    /// Totals at the end of the last window.
    before: Vec<u64>,
    flits: Vec<u32>,
}

impl LinkRecorder {
    pub fn new(window_cycles: u64, links: usize) -> Self {
        LinkRecorder { window_cycles, before: vec![0; links], flits: Vec::new() }
    }

    /// The last cycle of the window that the cycle after `now` belongs to.
    pub fn window_end(&self, now: u64) -> u64 {
        (now + 1).div_ceil(self.window_cycles).max(1) * self.window_cycles - 1
    }

    fn ends_with(&self, cycle: u64) -> bool {
        (cycle + 1).is_multiple_of(self.window_cycles)
    }

    fn close(&mut self, totals: &[u64]) {
        for (before, &total) in self.before.iter_mut().zip(totals) {
            self.flits.push((total - *before) as u32);
            *before = total;
        }
    }
}

/// When things happened last, to tell why others did not; empty unless stalls are recorded.
#[derive(Debug)]
pub(super) struct Observer {
    /// Cycle + 1 in which an input VC sent a flit, by VC.
    moved: Vec<u64>,
    /// Cycle + 1 in which an input VC asked for a free output VC.
    asked: Vec<u64>,
    /// Cycle + 1 in which an output port, and an input port, sent a flit, by port.
    port_out: Vec<u64>,
    port_in: Vec<u64>,
}

impl Observer {
    pub fn new(p: &Params, shape: &Shape, enabled: bool) -> Self {
        let routers = if enabled { p.routers } else { 0 };
        Observer {
            moved: vec![0; routers * shape.slots()],
            asked: vec![0; routers * shape.slots()],
            port_out: vec![0; routers * shape.ports()],
            port_in: vec![0; routers * shape.ports()],
        }
    }

    pub fn moved(&mut self, input: usize, out_port: usize, in_port: usize, now: u64) {
        self.moved[input] = now + 1;
        self.port_out[out_port] = now + 1;
        self.port_in[in_port] = now + 1;
    }

    pub fn asked(&mut self, input: usize, for_something_free: bool, now: u64) {
        if for_something_free {
            self.asked[input] = now + 1;
        }
    }
}

impl<M: VcMask> Kernel<M> {
    /// Observes the cycle that has just been simulated.
    #[inline]
    pub(super) fn observe(&mut self) {
        if self.stalls.is_some() {
            self.count_stalls();
        }
        if self.links.as_ref().is_some_and(|links| links.ends_with(self.now)) {
            let totals = self.link_flits();
            if let Some(links) = &mut self.links {
                links.close(&totals);
                if let Some(stalls) = &mut self.stalls {
                    stalls.next_window();
                }
            }
        }
    }

    fn count_stalls(&mut self) {
        for router in 0..self.p.routers {
            for slot in 0..self.shape.slots() {
                let at = self.shape.vc(router, slot);
                let vc = &self.routers.inputs[at];
                if vc.front == NONE || vc.occupied == 0 || self.observer.moved[at] == self.now + 1 {
                    continue;
                }
                let (tail, flags, port) = (vc.left == 1, vc.flags, vc.port as usize);
                let reason = self.stall_reason(router, slot);
                let idle_ejection = flags & EJECTING != 0 && {
                    let local = (port - self.p.network_ports) / self.p.controllers * self.p.controllers;
                    let first = self.p.network_ports + local;
                    let idle = |q| self.observer.port_out[self.shape.port(router, q)] != self.now + 1;
                    (first..first + self.p.controllers).any(idle)
                };
                if let Some(stalls) = &mut self.stalls {
                    stalls.count(reason, tail, idle_ejection);
                }
            }
        }
    }

    /// Why the front flit of an input VC did not move in this cycle.
    fn stall_reason(&self, router: usize, slot: usize) -> StallReason {
        let at = self.shape.vc(router, slot);
        let vc = &self.routers.inputs[at];
        let ejecting = vc.flags & EJECTING != 0;
        let or_ejection = |reason| if ejecting { StallReason::EjectionPortBusy } else { reason };
        if vc.flags & GRANTED == 0 {
            if vc.flags & WAITING == 0 {
                return StallReason::Pipeline;
            }
            let asked = self.observer.asked[at] == self.now + 1;
            return or_ejection(if asked { StallReason::LostVcAllocation } else { StallReason::NoVc });
        }
        if vc.flags & ACTIVE == 0 {
            return StallReason::Pipeline;
        }
        if self.routers.outputs[self.shape.vc(router, vc.output as usize)].credits == 0 {
            return StallReason::NoCredit;
        }
        let (in_port, _) = self.shape.port_and_vc(slot);
        let in_port_sent = self.observer.port_in[self.shape.port(router, in_port)] == self.now + 1;
        if in_port_sent && self.rules.input_speedup == 1 {
            return StallReason::InputPortBusy;
        }
        or_ejection(StallReason::LostSwitch)
    }

    /// Flits sent over every network channel so far, `[router][network port]`, flattened.
    fn link_flits(&self) -> Vec<u64> {
        let ports = self.p.network_ports;
        let all = self.routers.link_flits.as_slice().chunks(self.shape.ports());
        all.flat_map(|router| router[..ports].iter().copied()).collect()
    }

    /// The outcome of the run.
    pub(super) fn into_result(mut self, plan: &Plan, complete: bool) -> SimulationResult {
        let closed = self.terminals.program().is_some();
        let cycles = if closed { self.now.max(1) } else { plan.spec.run.measurement_cycles };
        let terminal_cycles = cycles as f64 * self.p.terminals as f64;
        let created = self.log.measured_taken + self.terminals.untaken_before(self.measurement.end.min(1 << 50));
        let offered_load = match &plan.workload {
            crate::plan::Workload::Open(traffic) => created as f64 * f64::from(traffic.packet_flits) / terminal_cycles,
            crate::plan::Workload::Closed { .. } => 0.0,
        };
        let link_flits = self.link_flits();
        if let Some(links) = &mut self.links {
            if !links.ends_with(self.now) {
                links.close(&link_flits);
            }
        }
        SimulationResult {
            status: if complete { Status::Complete } else { Status::Saturated },
            completion_cycles: self.now,
            digest: self.log.digest(),
            packets: self.log.arrived,
            flit_hops: self.flit_hops,
            offered_load,
            accepted_load: self.ejected.iter().sum::<u64>() as f64 / terminal_cycles,
            packet_latency: self.log.packet_latency.summary(),
            network_latency: self.log.network_latency.summary(),
            mean_hops: self.log.mean_hops(),
            link_flits,
            ejected_flits: self.ejected,
            link_windows: self.links.map(|l| LinkWindows { window_cycles: l.window_cycles, flits: l.flits }),
            stalls: self.stalls.map(|s| s.report()),
            packet_records: with_message_numbers(self.log.into_records(), plan),
        }
    }
}

/// Replaces operations of a schedule by the index of the message in its sender's order.
fn with_message_numbers(
    mut records: Vec<crate::measure::PacketRecord>,
    plan: &Plan,
) -> Vec<crate::measure::PacketRecord> {
    if let crate::plan::Workload::Closed { schedule, .. } = &plan.workload {
        let mut number = vec![0; schedule.ops.len()];
        for rank in 0..schedule.ranks() {
            let sends =
                schedule.ops_of(rank).filter(|&op| matches!(schedule.ops[op as usize].kind, OpKind::Send { .. }));
            sends.enumerate().for_each(|(i, op)| number[op as usize] = i as u32);
        }
        records.iter_mut().for_each(|r| r.message = number[r.message as usize]);
    }
    records
}
