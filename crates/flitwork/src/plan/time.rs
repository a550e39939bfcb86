//! How much a run has to do, and how long that takes: estimated, to start the longest first, to share out threads and
//! to say how long something will take.

use super::{Plan, Workload};
use crate::measure::KernelName;
use crate::schedule::Schedule;
use crate::spec::WorkloadSpec;
use crate::traffic::{Packets, Process, Traffic};

/// What a terminal without anything to do costs in a cycle [flit-hops].
const IDLE: f64 = 0.1;
/// Of a schedule that is read message by message, the route of one in so many is looked up.
const ROUTED: usize = 37;

/// What a core takes for a hop of a flit and a hop of a packet in the flit kernel, and in the packet kernel \[ns].
/// Measured on one core of a server of 2024 (docs/performance.md); another core, or a congested network, may take twice
/// as long.
const FLIT_KERNEL: (f64, f64) = (22.0, 60.0);
const PACKET_KERNEL: (f64, f64) = (2.0, 110.0);

/// What there is to do in a run, roughly.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Work {
    /// Hops of flits, with what idle terminals cost.
    pub flit_hops: f64,
    /// Hops of packets.
    pub packet_hops: f64,
}

impl Work {
    /// How long one core takes.
    pub fn seconds(&self, kernel: KernelName) -> f64 {
        let (flit, packet) = match kernel {
            KernelName::Packet => PACKET_KERNEL,
            KernelName::Flit => FLIT_KERNEL,
        };
        (self.flit_hops * flit + self.packet_hops * packet) * 1e-9
    }
}

/// What a workload sends that completes, roughly.
#[derive(Debug, Clone, Copy, Default)]
struct Sent {
    flits: f64,
    packets: f64,
    /// Hops of a flit, on the average, with the router at the destination.
    hops: f64,
    /// Flits of the terminal that sends most.
    most: f64,
    /// Cycles that it takes to create them.
    least_cycles: f64,
}

impl Plan {
    /// What there is to do.
    pub(super) fn work(&self) -> Work {
        let terminals = f64::from(self.fabric.terminals());
        let background = self.background.as_ref().and(self.spec.background.as_ref());
        let run = &self.spec.run;
        let drawn = |cycles: f64, spec: Option<&WorkloadSpec>| {
            let (load, packet_flits) = spec.map_or((0.0, 1.0), offered);
            let flit_hops = terminals * cycles * load * self.hops();
            Work { flit_hops: flit_hops + terminals * cycles * IDLE, packet_hops: flit_hops / packet_flits }
        };
        if !self.runs_to_completion() {
            // A steady run takes at least this long.
            let steady = run.steady.as_ref();
            let cycles = steady.map_or(run.fixed_window().end, |s| s.min_warmup_cycles + s.min_measurement_cycles);
            let (measured, other) = (drawn(cycles as f64, Some(&self.spec.workload)), drawn(cycles as f64, background));
            let flit_hops = measured.flit_hops + other.flit_hops - terminals * cycles as f64 * IDLE;
            return Work { flit_hops, packet_hops: measured.packet_hops + other.packet_hops };
        }
        let (sent, cycles) = self.sent_in();
        let other = drawn(cycles + self.start_cycle as f64, background);
        Work {
            flit_hops: sent.flits * sent.hops + other.flit_hops,
            packet_hops: sent.packets * sent.hops + other.packet_hops,
        }
    }

    /// Flit-hops of a cycle, roughly: those of the offered load, as far as the network accepts it; of a workload that
    /// completes the mean.
    pub(super) fn flit_hops_a_cycle(&self) -> f64 {
        if self.runs_to_completion() {
            let (sent, cycles) = self.sent_in();
            return sent.flits * sent.hops / cycles.max(1.0);
        }
        let accepted = offered(&self.spec.workload).0.min(self.uniform_capacity().unwrap_or(1.0));
        f64::from(self.fabric.terminals()) * accepted * self.hops()
    }

    /// Hops of a packet, on the average of all pairs, with the router at the destination.
    fn hops(&self) -> f64 {
        1.0 + self.fabric.mean_hops()
    }

    /// Of a workload that completes: what it sends, and cycles in which that can be sent, roughly.
    fn sent_in(&self) -> (Sent, f64) {
        let sent = self.sent();
        (sent, (sent.most / self.uniform_capacity().unwrap_or(1.0)).max(sent.least_cycles))
    }

    fn sent(&self) -> Sent {
        match &self.workload {
            Workload::Schedule { schedule, packet_flits } => self.scheduled(schedule, *packet_flits),
            Workload::OpenLoop(traffic) | Workload::Finite(traffic) => {
                Sent { hops: self.hops(), ..created(traffic, 0..self.fabric.terminals()) }
            }
        }
    }

    /// What ranks send. Where all send alike, one is read: an all-to-all of 100,000 ranks has 10^10 messages.
    fn scheduled(&self, schedule: &Schedule, packet_flits: u32) -> Sent {
        let terminal_of = self.placement.terminal_of();
        let mut of = vec![0u64; self.fabric.terminals() as usize];
        let packets_of = |size: u64| size.div_ceil(u64::from(packet_flits.max(1))).max(1);
        let mut packets = 0;
        if schedule.is_alike() && schedule.ranks() > 0 {
            let one =
                schedule.messages_from(0).fold((0, 0), |(flits, all), m| (flits + m.size, all + packets_of(m.size)));
            terminal_of.iter().for_each(|&terminal| of[terminal as usize] += one.0);
            let flits = one.0 as f64 * f64::from(schedule.ranks());
            let packets = one.1 as f64 * f64::from(schedule.ranks());
            return Sent { flits, packets, hops: self.hops(), most: most(&of), least_cycles: 0.0 };
        }
        let (mut hops, mut routed) = (0.0, 0.0);
        for (i, message) in schedule.messages().enumerate() {
            let [from, to] = [message.from, message.to].map(|rank| terminal_of[rank as usize]);
            of[from as usize] += message.size;
            packets += packets_of(message.size);
            if i % ROUTED == 0 && from != to {
                let (from, to) = (self.fabric.end(from), self.fabric.end(to));
                hops += message.size as f64 * (1 + self.routing.path(&self.fabric, from, to, 0).len()) as f64;
                routed += message.size as f64;
            }
        }
        let hops = if routed > 0.0 { hops / routed } else { self.hops() };
        Sent { flits: of.iter().sum::<u64>() as f64, packets: packets as f64, hops, most: most(&of), least_cycles: 0.0 }
    }
}

fn most(of: &[u64]) -> f64 {
    of.iter().max().copied().unwrap_or(0) as f64
}

/// Packets that are given one by one, or those of a burst.
fn created(traffic: &Traffic, terminals: std::ops::Range<u32>) -> Sent {
    let sum = |of: &mut dyn Iterator<Item = u64>| of.fold((0, 0), |(all, most), one| (all + one, most.max(one)));
    match &traffic.packets {
        Packets::Given(trace) => {
            let packets: usize = terminals.clone().map(|t| trace.of(t).count()).sum();
            let (all, most) = sum(&mut terminals.map(|t| trace.of(t).map(|packet| u64::from(packet.flits)).sum()));
            let (flits, packets, most) = (all as f64, packets as f64, most as f64);
            Sent { flits, packets, most, least_cycles: trace.last_cycle() as f64, hops: 0.0 }
        }
        Packets::Drawn(drawn) => {
            let flits = drawn.lengths.mean_flits();
            let (all, most) = sum(&mut terminals.map(|t| drawn.packets_of(t)));
            let gap_cycles = match drawn.process.of(0) {
                Process::AtOnce => 0.0,
                Process::Bernoulli(process) => process.mean_gap_cycles(),
                Process::OnOff(process) => process.mean_gap_cycles(),
            };
            let (packets, most) = (all as f64, most as f64);
            Sent { flits: packets * flits, packets, most: most * flits, least_cycles: most * gap_cycles, hops: 0.0 }
        }
    }
}

/// The load that is offered, and the length of its packets on the average \[flits].
fn offered(workload: &WorkloadSpec) -> (f64, f64) {
    match workload {
        WorkloadSpec::Uniform { offered_load, packet_flits, .. }
        | WorkloadSpec::Traffic { offered_load, packet_flits, .. } => (*offered_load, packet_flits.mean_flits()),
        _ => (0.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::from_json;

    fn plan(size: u32, algorithm: &str, router: &str) -> Plan {
        let text = format!(
            r#"{{"network":{{"topology":{{"kind":"torus","size":[{size},{size}]}},"router":{router}}},
                "workload":{{"kind":"collective","operation":"all_to_all","algorithm":"{algorithm}",
                "message_flits":64,"packet_flits":64}}}}"#
        );
        Plan::new(&from_json(&text).unwrap()).unwrap()
    }

    #[test]
    fn what_is_read_of_one_rank_is_what_all_send() {
        let plan = plan(4, "pairwise_shift", r#"{"buffer_flits":64}"#);
        let sent = plan.sent();
        assert_eq!((sent.flits, sent.packets, sent.most), (16.0 * 15.0 * 64.0, 16.0 * 15.0, 15.0 * 64.0));
        let Workload::Schedule { schedule, .. } = &plan.workload else { panic!() };
        assert!(schedule.is_alike());
        let read: u64 = schedule.messages().map(|message| message.size).sum();
        assert_eq!(read as f64, sent.flits);
    }

    #[test]
    fn whole_packets_take_less_time_than_flits() {
        let whole = r#"{"vcs":2,"buffer_flits":64,"switching":"virtual_cut_through","hold_switch_until_tail":true}"#;
        let [flits, packets] =
            [r#"{"vcs":2,"buffer_flits":64}"#, whole].map(|router| plan(8, "pairwise_shift", router));
        let seconds = |plan: &Plan| plan.work().seconds(plan.kernel());
        assert!(seconds(&flits) > 4.0 * seconds(&packets));
    }

    #[test]
    fn a_plan_of_10_000_ranks_is_a_formula() {
        let plan = plan(100, "pairwise_shift", r#"{"vcs":2,"buffer_flits":64}"#);
        assert_eq!(plan.sent().packets, 10_000.0 * 9_999.0);
    }
}
