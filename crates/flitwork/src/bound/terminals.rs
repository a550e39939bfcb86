//! What the terminals need to inject and to eject.

use crate::schedule::{Message, Schedule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How fast a terminal can send and receive. Each port moves at most 1 flit a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalLimits {
    /// Messages that a terminal can send at the same time, at least 1.
    pub ports: u32,
    /// Longest packet, 0 for a whole message \[flits].
    pub packet_flits: u32,
    /// Whether messages take turns at the ports, packet by packet, rather than stay at one.
    pub takes_turns: bool,
    /// Whether packets may be sent in two halves.
    pub splits: bool,
    /// Most that a terminal injects [flits/cycle], more than 0.
    pub injection_flits_per_cycle: f64,
    /// Most that a terminal ejects [flits/cycle], more than 0.
    pub ejection_flits_per_cycle: f64,
}

impl TerminalLimits {
    /// The cycles in which injection ports send a message of so many flits at least.
    ///
    /// One port sends it flit by flit. Where messages take turns, its next packet is sent by any port when the one
    /// before has left, and in the same cycle by a port with a higher number: of the first flits of `k` packets one of
    /// every `ports` at most has a cycle of its own.
    fn message_cycles(&self, flits: u64) -> u64 {
        if !self.takes_turns {
            return flits;
        }
        let whole = if self.packet_flits == 0 { 1 } else { flits.div_ceil(self.packet_flits.into()) };
        let packets = flits.min(if self.splits { 2 * whole } else { whole });
        flits - (packets - packets.div_ceil(self.ports.into()))
    }

    /// A terminal with so many injection ports and as many ejection ports of 1 flit a cycle; a message is one packet.
    pub fn of_ports(ports: u32) -> Self {
        let width = f64::from(ports);
        TerminalLimits {
            ports,
            packet_flits: 0,
            takes_turns: false,
            splits: false,
            injection_flits_per_cycle: width,
            ejection_flits_per_cycle: width,
        }
    }
}

/// What the busiest terminals need.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalTimes {
    /// Largest of (flits sent / injection rate) and what one message needs \[cycles].
    pub injection_cycles: f64,
    /// Largest of (flits received / ejection rate) \[cycles].
    pub ejection_cycles: f64,
}

/// What each terminal sends to others and receives from them \[flits]. Messages within a terminal are not counted.
struct Moved<'a> {
    terminal_of: &'a [u32],
    sent: Vec<u64>,
    received: Vec<u64>,
}

impl<'a> Moved<'a> {
    /// Nothing yet; rank `r` is at terminal `terminal_of[r]`.
    fn new(terminal_of: &'a [u32]) -> Self {
        let terminals = terminal_of.iter().max().map_or(0, |&t| t as usize + 1);
        Moved { terminal_of, sent: vec![0; terminals], received: vec![0; terminals] }
    }

    /// Adds a message, if it leaves its terminal; whether it does.
    fn add(&mut self, message: &Message) -> bool {
        let [from, to] = [message.from, message.to].map(|rank| self.terminal_of[rank as usize] as usize);
        if from != to {
            self.sent[from] += message.size;
            self.received[to] += message.size;
        }
        from != to
    }

    /// The most that a terminal sends, and that one receives.
    fn most(&self) -> (u64, u64) {
        let most = |flits: &[u64]| flits.iter().copied().max().unwrap_or(0);
        (most(&self.sent), most(&self.received))
    }
}

/// What terminals need at least; rank `r` is at terminal `terminal_of[r]`. Messages within a terminal are not counted.
///
/// One message to each of P - 1 others gives the limit `(P - 1) / min(ports, width)` messages.
pub fn terminal_times(schedule: &Schedule, terminal_of: &[u32], limits: &TerminalLimits) -> TerminalTimes {
    let (mut moved, mut longest) = (Moved::new(terminal_of), 0);
    for message in schedule.messages_over_network() {
        if moved.add(&message) {
            longest = longest.max(limits.message_cycles(message.size));
        }
    }
    let (sent, received) = moved.most();
    let rate = limits.injection_flits_per_cycle.min(f64::from(limits.ports));
    TerminalTimes {
        injection_cycles: (sent as f64 / rate).max(longest as f64 / rate.min(1.0)),
        ejection_cycles: received as f64 / limits.ejection_flits_per_cycle,
    }
}

/// What the busiest terminals move in one phase: in a group of consecutive steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalPhase {
    /// Number of the group: step / steps of a group.
    pub group: u32,
    /// Most that a terminal sends \[flits].
    pub sent_flits: u64,
    /// Most that a terminal receives \[flits].
    pub received_flits: u64,
}

/// What the busiest terminals move, in all and phase by phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalLoads {
    /// Most that a terminal sends \[flits].
    pub sent_flits: u64,
    /// Most that a terminal receives \[flits].
    pub received_flits: u64,
    /// The phases in the order in which a message leaves its terminal.
    pub phases: Vec<TerminalPhase>,
}

/// What the busiest terminals move in all, and in each group of `group` (at least 1) consecutive steps; rank `r` is at
/// terminal `terminal_of[r]`. Messages within a terminal are not counted.
pub fn terminal_loads(schedule: &Schedule, terminal_of: &[u32], group: u32) -> TerminalLoads {
    let mut in_all = Moved::new(terminal_of);
    let mut messages: Vec<Message> = schedule.messages_over_network().filter(|message| in_all.add(message)).collect();
    let group_of = |message: &Message| message.step / group.max(1);
    messages.sort_unstable_by_key(group_of);
    let mut of_phase = Moved::new(terminal_of);
    let phases = messages.chunk_by(|one, next| group_of(one) == group_of(next)).map(|chunk| {
        of_phase.sent.fill(0);
        of_phase.received.fill(0);
        chunk.iter().for_each(|message| _ = of_phase.add(message));
        let (sent_flits, received_flits) = of_phase.most();
        TerminalPhase { group: group_of(&chunk[0]), sent_flits, received_flits }
    });
    let phases = phases.collect();
    let (sent_flits, received_flits) = in_all.most();
    TerminalLoads { sent_flits, received_flits, phases }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{OpKind, ScheduleBuilder};

    /// Rank 0 sends 100 flits to rank 1 and 20 to rank 2.
    fn schedule() -> Schedule {
        let mut b = ScheduleBuilder::new("test");
        b.op(OpKind::Send { to: 1, size: 100, tag: 0 }, 0, &[]);
        b.op(OpKind::Send { to: 2, size: 20, tag: 0 }, 1, &[]);
        b.end_rank();
        for flits in [100, 20] {
            b.op(OpKind::Receive { from: 0, size: flits, tag: 0 }, 0, &[]);
            b.end_rank();
        }
        b.build()
    }

    #[test]
    fn ports_share_the_work_but_not_a_message() {
        let times = |c| terminal_times(&schedule(), &[0, 1, 2], &TerminalLimits::of_ports(c));
        assert_eq!(times(1), TerminalTimes { injection_cycles: 120.0, ejection_cycles: 100.0 });
        assert_eq!(times(2), TerminalTimes { injection_cycles: 100.0, ejection_cycles: 50.0 });
    }

    /// 120 flits on 3 ports: in packets of 1 flit 3 a cycle; of 4 flits 2 of 3 begin in the cycle in which the one
    /// before ends.
    #[test]
    fn several_ports_send_packets_of_one_message_where_messages_take_turns() {
        let cycles = |ports, packet_flits, splits| {
            let rates = TerminalLimits::of_ports(ports);
            TerminalLimits { takes_turns: true, packet_flits, splits, ..rates }.message_cycles(120)
        };
        assert_eq!((cycles(3, 1, false), cycles(1, 1, false), cycles(3, 0, false)), (40, 120, 120));
        assert_eq!((cycles(3, 4, false), cycles(3, 4, true)), (120 - 20, 120 - 40));
        let times = |packet_flits| {
            let rates = TerminalLimits::of_ports(3);
            terminal_times(&schedule(), &[0, 1, 2], &TerminalLimits { takes_turns: true, packet_flits, ..rates })
        };
        assert_eq!((times(1).injection_cycles, times(50).injection_cycles), (40.0, 99.0));
    }

    #[test]
    fn injection_may_be_narrower_than_the_ports() {
        let rates = TerminalLimits::of_ports(4);
        let limits = TerminalLimits { injection_flits_per_cycle: 0.5, ejection_flits_per_cycle: 2.0, ..rates };
        let times = terminal_times(&schedule(), &[0, 1, 2], &limits);
        assert_eq!(times, TerminalTimes { injection_cycles: 240.0, ejection_cycles: 50.0 });
    }

    #[test]
    fn ranks_of_one_terminal_add_up_and_do_not_use_it_among_themselves() {
        let times = terminal_times(&schedule(), &[0, 0, 1], &TerminalLimits::of_ports(1));
        assert_eq!(times, TerminalTimes { injection_cycles: 20.0, ejection_cycles: 20.0 });
        let times = terminal_times(&schedule(), &[0, 1, 1], &TerminalLimits::of_ports(1));
        assert_eq!(times, TerminalTimes { injection_cycles: 120.0, ejection_cycles: 120.0 });
    }

    #[test]
    fn phases_have_what_the_busiest_terminal_sends_and_receives() {
        let phases = |terminal_of: &[u32], group| {
            let loads = terminal_loads(&schedule(), terminal_of, group);
            let phases = loads.phases.iter().map(|p| (p.group, p.sent_flits, p.received_flits));
            (loads.sent_flits, loads.received_flits, phases.collect::<Vec<_>>())
        };
        assert_eq!(phases(&[0, 1, 2], 1), (120, 100, vec![(0, 100, 100), (1, 20, 20)]));
        assert_eq!(phases(&[0, 1, 2], 2), (120, 100, vec![(0, 120, 100)]));
        assert_eq!(phases(&[0, 1, 1], 2), (120, 120, vec![(0, 120, 120)]));
        assert_eq!(phases(&[0, 0, 1], 1), (20, 20, vec![(1, 20, 20)]));
        assert_eq!(phases(&[0, 0, 0], 1), (0, 0, vec![]));
    }
}
