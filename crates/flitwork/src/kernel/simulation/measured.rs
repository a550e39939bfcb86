//! What is measured of a run: its phases, and what is noted of packets.

use crate::measure::{DeliveryRecorder, Expected, PacketLog, Phases, TrafficLog};
use crate::plan::{Params, Plan, Workload};
use crate::traffic::{Packets, Process, Processes, Traffic};

/// What is measured of a run.
pub(super) fn phases(plan: &Plan) -> Phases {
    let (p, run) = (&plan.params, &plan.spec.run);
    let channels = plan.fabric.channels().count();
    match (&plan.workload, &run.steady) {
        (Workload::Schedule { .. } | Workload::Finite(_), _) => Phases::whole_run(plan.start_cycle, channels),
        (Workload::OpenLoop(traffic), Some(steady)) => {
            Phases::steady(steady, p.longest_delay_cycles, channels).of(expected(traffic, p), p.terminals)
        }
        (Workload::OpenLoop(traffic), None) => {
            Phases::fixed(run.fixed_window(), channels).of(expected(traffic, p), p.terminals)
        }
    }
}

/// What is known of an open loop before it runs.
fn expected(traffic: &Traffic, p: &Params) -> Expected {
    let Packets::Drawn(drawn) = &traffic.packets else { return Expected::default() };
    let processes = match &drawn.process {
        Processes::Alike(process) => std::slice::from_ref(process),
        Processes::Each(processes) => &processes[..p.terminals],
    };
    let dispersion = processes.iter().map(Process::dispersion).fold(0.0, f64::max) + drawn.lengths.variation();
    Expected {
        gap_cycles: processes.iter().map(Process::mean_gap_cycles).collect(),
        dispersion,
        flits: drawn.lengths.mean_flits(),
        injection_cycles: f64::from(p.inject_cycles),
        // A flit that asks for the switch in a cycle is in the next one at the earliest beyond it.
        router_cycles: f64::from(p.routing_delay_cycles + p.vc_alloc_delay_cycles + p.hop_cycles) + 1.0,
    }
}

/// What is noted of the packets of workload and background, both in the same window.
pub(super) fn packet_log(plan: &Plan, phases: &Phases) -> PacketLog {
    let record = &plan.spec.run.record;
    let traffic_log = || {
        let window_cycles = record.delivery_window_cycles;
        let deliveries = (window_cycles > 0).then(|| DeliveryRecorder::new(plan.start_cycle, window_cycles));
        TrafficLog::new(phases.window(), plan.params.terminals, deliveries)
    };
    let mut log = PacketLog::new(traffic_log(), plan.background.is_some().then(traffic_log), record.keeps_packets());
    if record.to_file {
        log.hand_over_records();
    }
    log
}
