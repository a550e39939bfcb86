//! The result of a run, put together when it is over.

use super::Kernel;
use super::mask::VcMask;
use crate::measure::{BackgroundResult, Fairness, SimulationResult};
use crate::plan::Plan;

impl<M: VcMask, const PORTS: usize, const SLOTS: usize, const WORDS: usize> Kernel<M, PORTS, SLOTS, WORDS> {
    /// The outcome of the run.
    pub(super) fn into_result(mut self, plan: &Plan, complete: bool) -> SimulationResult {
        let now = self.env.now;
        self.look(now + 1);
        let (window, completes) = (self.env.measurement.clone(), plan.workload.completes());
        let cycles = if completes { (now - plan.start_cycle).max(1) } else { window.end - window.start };
        let load = |flits: u64| flits as f64 / (cycles as f64 * plan.params.terminals as f64);
        let created = window.start..if completes { now + 1 } else { window.end };
        let (untaken, untaken_beside) = self.terminals.untaken(created);
        let (digest, link_flits) = (self.log.digest(), self.link_flits());
        let background = self.log.background.take().map(|mut log| BackgroundResult {
            packets: log.totals.packets,
            offered_load: load(log.measured_taken_flits + untaken_beside.flits),
            accepted_load: load(log.delivered_flits.iter().sum()),
            packet_latency: log.packet_latency.summary(),
            network_latency: log.network_latency.summary(),
            mean_hops: log.mean_hops(),
            deliveries: log.deliveries(now),
        });
        let log = &mut self.log.workload;
        let accepted = if background.is_some() { &log.delivered_flits } else { &self.env.ejected };
        let status = self.phases.status(complete, log.measured_taken + untaken.packets);
        SimulationResult {
            status,
            completion_cycles: now - plan.start_cycle,
            digest,
            packets: log.totals.packets,
            flit_hops: self.env.flit_hops,
            warmup_cycles: window.start,
            measurement_cycles: cycles,
            offered_load: if completes { 0.0 } else { load(log.measured_taken_flits + untaken.flits) },
            accepted_load: load(accepted.iter().sum()),
            packet_latency: log.packet_latency.summary(),
            network_latency: log.network_latency.summary(),
            packet_latency_histogram: log.packet_latency.histogram(),
            network_latency_histogram: log.network_latency.histogram(),
            precision: self.phases.precision(plan.params.terminals, status),
            mean_hops: log.mean_hops(),
            measured_link_flits: self.phases.measured_link_flits(&link_flits),
            ejected_flits: self.env.ejected,
            fairness: Fairness::of(&log.delivered_flits, |terminal| log.has_sent[terminal]),
            delivered_flits: std::mem::take(&mut log.delivered_flits),
            deliveries: log.deliveries(now),
            background,
            link_windows: self.links.map(|links| links.finish(now, &link_flits)),
            link_flits,
            stalls: self.env.stalls.map(|s| s.report()),
            packet_records: self.log.into_records(),
        }
    }
}
