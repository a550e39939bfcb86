//! What is measured of a run: its phases, and what is noted of packets.

use crate::measure::{Creation, DeliveryRecorder, PacketLog, Phases, TrafficLog};
use crate::plan::{Plan, Workload};
use crate::traffic::{Packets, Process, Processes, Traffic};

/// What is measured of a run.
pub(super) fn phases(plan: &Plan) -> Phases {
    let (p, run) = (&plan.params, &plan.spec.run);
    let channels = plan.fabric.channels().count();
    match (&plan.workload, &run.steady) {
        (Workload::Schedule { .. } | Workload::Finite(_), _) => Phases::whole_run(plan.start_cycle, channels),
        (Workload::OpenLoop(traffic), Some(steady)) => {
            Phases::steady(steady, p.longest_delay_cycles, channels).of(creation(traffic, p.terminals), p.terminals)
        }
        (Workload::OpenLoop(traffic), None) => {
            Phases::fixed(run.fixed_window(), channels).of(creation(traffic, p.terminals), p.terminals)
        }
    }
}

/// When the terminals of an open loop create packets.
fn creation(traffic: &Traffic, terminals: usize) -> Creation {
    let Packets::Drawn(drawn) = &traffic.packets else { return Creation::default() };
    let processes = match &drawn.process {
        Processes::Alike(process) => std::slice::from_ref(process),
        Processes::Each(processes) => &processes[..terminals],
    };
    let dispersion = processes.iter().map(Process::dispersion).fold(0.0, f64::max) + drawn.lengths.variation();
    Creation { gap_cycles: processes.iter().map(Process::mean_gap_cycles).collect(), dispersion }
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
