//! The VC policies that leave a packet one VC of each port: step 4 of docs/model.md.

use super::machine::{Machine, Packet};
use flitwork::spec::{EjectionPort, ServiceLevel, VcPolicy};

impl Machine {
    /// The VC that `packet` may use of output port `out` of a router, if the policy leaves it only one.
    pub fn private_vc(&self, router: u32, out: usize, packet: &Packet) -> Option<usize> {
        let is_channel = out < self.fabric.network_ports_of(router);
        match is_channel.then(|| self.fabric.peer(router, out)).flatten() {
            Some((next, entered)) => {
                let class = if self.hop_by_hop() { 0 } else { self.class(packet, out / 2, router) };
                self.private_vc_into(next, Some(entered), packet).map(|vc| vc + class * self.vcs_of_a_class())
            }
            None if self.router.vc_policy == VcPolicy::Destination => Some(packet.dst as usize),
            None => None,
        }
    }

    /// The VC of its injection port that `packet` must use, if the policy leaves it only one.
    pub fn private_vc_at_source(&self, packet: &Packet) -> Option<usize> {
        let (src, dst) = (self.router_of(packet.src), self.router_of(packet.dst));
        let first = if self.hop_by_hop() { None } else { self.next_dimension(src, dst) };
        let class = first.map_or(0, |d| self.class(packet, d, self.router_of(packet.src)));
        self.private_vc_into(src, None, packet).map(|vc| vc + class * self.vcs_of_a_class())
    }

    /// Of class 0, into a router.
    fn private_vc_into(&self, router: u32, entered: Option<usize>, packet: &Packet) -> Option<usize> {
        match self.router.vc_policy {
            VcPolicy::Dateline => None,
            VcPolicy::Destination => Some(packet.dst as usize),
            VcPolicy::ServiceLevel => {
                let terminals = self.terminals() as u32;
                let level = match self.nic.service_level {
                    ServiceLevel::Destination => packet.dst,
                    ServiceLevel::Source => packet.src,
                    ServiceLevel::Offset => (packet.dst + terminals - packet.src) % terminals,
                };
                Some(self.router.sl_to_vl[level as usize % self.router.sl_to_vl.len()] as usize)
            }
            VcPolicy::VirtualOutputQueues => Some(self.port_at(router, entered, packet)),
        }
    }

    fn vcs_of_a_class(&self) -> usize {
        match self.router.vc_policy {
            VcPolicy::Dateline => self.vcs,
            VcPolicy::Destination => self.terminals(),
            VcPolicy::ServiceLevel => 1 + *self.router.sl_to_vl.iter().max().expect("a level") as usize,
            VcPolicy::VirtualOutputQueues => self.ports(),
        }
    }

    /// The output port that `packet` takes at a router under a routing with one path; the first ejection port of its
    /// terminal where it may take any.
    pub(super) fn port_at(&self, router: u32, entered: Option<usize>, packet: &Packet) -> usize {
        let eject = || {
            let k = match self.nic.ejection_port {
                EjectionPort::Any => 0,
                EjectionPort::SamePort => packet.injection_port,
                EjectionPort::BySource => packet.src as usize % self.nic_ports,
            };
            self.local_port(packet.dst, k)
        };
        if let Some(mut trip) = self.trip(packet) {
            let came_by = (entered.unwrap_or(self.fabric.network_ports()), 0);
            let choice = self.choose(router, came_by, packet, &mut trip);
            return choice.map_or_else(eject, |choice| choice.minimal[0].port);
        }
        match self.next_dimension(router, self.router_of(packet.dst)) {
            Some(d) => 2 * d + usize::from(packet.minus >> d & 1),
            None => eject(),
        }
    }
}
