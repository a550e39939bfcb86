//! Input ports that are blocked by the head of a line: "Head-of-line blocking" of docs/model.md.

use super::machine::Packet;
use super::router::{Outcome, Router};
use flitwork::spec::EjectionPort;
use std::ops::Range;

impl Router<'_> {
    /// The input ports that were blocked in the cycle that has just been simulated, with this outcome. Only where
    /// packets have one path.
    pub fn blocked_ports(&self, outcome: &Outcome) -> Vec<usize> {
        let sent_nothing = |port: &usize| outcome.freed.iter().all(|vc| vc.0 != *port);
        let has_room = |port: usize| !outcome.granted.contains(&port);
        let holds_up = |port: usize, packet: &Packet| self.ports_of(port, packet).any(has_room);
        let blocked = |port: &usize| self.behind_fronts(*port).any(|packet| holds_up(*port, packet));
        (0..self.machine.ports()).filter(sent_nothing).filter(blocked).collect()
    }

    /// The output ports that a packet which came by `port` may leave by.
    fn ports_of(&self, port: usize, packet: &Packet) -> Range<usize> {
        let network_ports = self.machine.fabric.network_ports_of(self.id);
        let first = self.machine.port_at(self.id, (port < network_ports).then_some(port), packet);
        let any = first >= network_ports && self.machine.nic.ejection_port == EjectionPort::Any;
        first..first + if any { self.machine.nic_ports } else { 1 }
    }
}
