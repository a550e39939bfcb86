//! Pauses of injection ports by the step of a message: docs/model.md, step 2b. Every route is walked, every channel
//! counted.

use flitwork::Plan;
use flitwork::schedule::{Message, Schedule};
use flitwork::spec::{GapUnit, Over, PacingKind, PacingSpec};
use std::collections::HashMap;

/// Packets' worth of pause, by step.
#[derive(Debug, Clone, Default)]
pub struct Pauses {
    pacing: PacingSpec,
    packet_flits: u32,
    packets: HashMap<u32, u32>,
}

impl Pauses {
    pub fn of(plan: &Plan, schedule: &Schedule, packet_flits: u32) -> Self {
        let pacing = plan.spec.network.nic.pacing.clone();
        let mut steps: HashMap<u32, Vec<Message>> = HashMap::new();
        for message in schedule.messages() {
            steps.entry(message.step).or_default().push(message);
        }
        let all: Vec<Message> = schedule.messages().collect();
        let packets = |messages: &[Message]| pause(plan, &pacing, messages);
        let packets = match pacing.over {
            Over::Schedule => steps.keys().map(|&step| (step, packets(&all))).collect(),
            Over::Step => steps.iter().map(|(&step, messages)| (step, packets(messages))).collect(),
        };
        Pauses { pacing, packet_flits, packets }
    }

    /// The pause after a packet [cycles]; `last`: of its message.
    pub fn cycles(&self, step: u32, flits: u32, last: bool) -> u64 {
        if last && !self.pacing.aggregate {
            return 0;
        }
        let unit = if self.pacing.unit == GapUnit::Packet { flits } else { self.packet_flits };
        u64::from(self.packets.get(&step).copied().unwrap_or(0)) * u64::from(unit)
    }
}

/// The pause of messages that are counted together [packets].
fn pause(plan: &Plan, pacing: &PacingSpec, messages: &[Message]) -> u32 {
    if pacing.kind == PacingKind::Fixed || pacing.kind == PacingKind::None {
        return pacing.gap_packets;
    }
    // Halves of messages on each channel.
    let mut halves: HashMap<(u32, usize), u64> = HashMap::new();
    let mut sent: HashMap<u32, u64> = HashMap::new();
    let mut hops = 0;
    for message in messages {
        let terminal = |rank: u32| plan.placement.terminal_of()[rank as usize];
        let router = |rank: u32| plan.fabric.router_of(terminal(rank));
        let (src, dst) = (router(message.from), router(message.to));
        let ends = (plan.fabric.end(terminal(message.from)), plan.fabric.end(terminal(message.to)));
        if src == dst {
            continue;
        }
        *sent.entry(terminal(message.from)).or_default() += 1;
        for bits in [0, u64::MAX] {
            let path = plan.routing.path(&plan.fabric, ends.0, ends.1, bits);
            hops = hops.max(path.len() as u64);
            path.iter().for_each(|&(router, port, _)| {
                *halves.entry((router, port)).or_default() += u64::from(plan.fabric.cycles_per_flit(router, port));
            });
        }
    }
    let degree = match pacing.kind {
        PacingKind::Hops => 2 * hops,
        _ => halves.values().copied().max().unwrap_or(0),
    };
    let messages = sent.values().copied().max().unwrap_or(1);
    let (shared, among) =
        if pacing.aggregate { (messages.min(u64::from(plan.spec.network.nic.ports)), messages) } else { (1, 1) };
    (degree * shared).div_ceil(2 * among).saturating_sub(1) as u32
}
