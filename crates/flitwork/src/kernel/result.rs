//! The result of a run, put together when it is over.

use super::parallel::gather;
use super::simulation::Simulation;
use crate::host::Hosts;
use crate::measure::{BackgroundResult, Fairness, PacketTable, SimulationResult, Status, starved};
use std::cell::LazyCell;

impl Simulation {
    /// The outcome of a run; of one that has not ended what has happened so far, with [`Status::Interrupted`].
    pub fn into_result(mut self) -> SimulationResult {
        let (now, ended) = (self.now, self.ended);
        self.look(now + 1, false);
        if ended.is_some() {
            self.look(now + 1, true);
        }
        let Simulation { phases, limits, mut networks, parts, others, hosts, .. } = self;
        let bus = others.into_iter().find_map(|network| network.finish(now).bus);
        let window = phases.window();
        let cycles = if limits.completes { (now - limits.start).max(1) } else { window.end - window.start };
        let load = |flits: u64| flits as f64 / (cycles as f64 * limits.terminals as f64);
        let created = window.start..if limits.completes { now + 1 } else { window.end };
        let next_created: Vec<u64> = (0..limits.terminals)
            .map(|terminal| {
                networks[..parts].iter().fold(u64::MAX, |next, part| next.min(part.nics.waiting_since(terminal)))
            })
            .collect();
        let gathered = gather(networks.drain(..parts), now, created);
        let (observed, (untaken, untaken_of_background), mut log) =
            gathered.unwrap_or_else(|| unreachable!("there is a network"));
        let digest = log.digest();
        let background = log.background.take().map(|mut log| BackgroundResult {
            packets: log.totals.packets,
            offered_load: load(log.measured_taken_flits + untaken_of_background.flits),
            accepted_load: load(log.delivered_flits.iter().sum()),
            packet_latency: log.packet_latency.summary(),
            network_latency: log.network_latency.summary(),
            mean_hops: log.mean_hops(),
            deliveries: log.deliveries(now),
        });
        let work = &mut log.workload;
        let accepted = if background.is_some() { &work.delivered_flits } else { &observed.ejected_flits };
        let status = match ended {
            Some(complete) => phases.status(complete),
            None => Status::Interrupted,
        };
        let result = SimulationResult {
            status,
            kernel: limits.kernel,
            kernel_note: limits.kernel_note.map(String::from),
            threads: parts,
            threads_why: limits.threads_why.filter(|_| parts == 1).map(String::from),
            completion_cycles: now - limits.start,
            digest,
            packets: work.totals.packets,
            flit_hops: observed.flit_hops,
            warmup_cycles: window.start,
            measurement_cycles: cycles,
            offered_load: if limits.completes { 0.0 } else { load(work.measured_taken_flits + untaken.flits) },
            accepted_load: load(accepted.iter().sum()),
            packet_latency: work.packet_latency.summary(),
            network_latency: work.network_latency.summary(),
            packet_latency_histogram: work.packet_latency.histogram(),
            network_latency_histogram: work.network_latency.histogram(),
            precision: phases.precision(limits.terminals, status),
            mean_hops: work.mean_hops(),
            measured_channel_flits: phases.measured_channel_flits(&observed.channel_flits),
            ejected_flits: observed.ejected_flits,
            fairness: Fairness::of(&work.delivered_flits, |terminal| work.has_sent[terminal]),
            starved_terminals: starved(&work.delivered_flits, &next_created, window.start..window.end.min(now + 1)),
            delivered_flits: std::mem::take(&mut work.delivered_flits),
            deliveries: work.deliveries(now),
            background,
            bus,
            channel_windows: observed.channel_windows,
            channel_flits: observed.channel_flits,
            stalls: observed.stalls,
            packet_records: PacketTable::default(),
            waits: None,
            operations: None,
        };
        let packet_records = log.into_records();
        let places = LazyCell::new(|| packet_records.places());
        let waits = observed.waits.map(|waits| waits.renumbered(&places));
        let operations = hosts.and_then(Hosts::into_operations).map(|operations| operations.renumbered(&places));
        SimulationResult { packet_records, waits, operations, ..result }
    }
}
