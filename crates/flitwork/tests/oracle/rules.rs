//! What a packet may ask a router for: the rules of steps 3 and 4 of docs/model.md, and of speculation.

use super::allocators::Priority;
use super::machine::Packet;
use super::requests::Want;
use super::router::{Front, OutputVc, Router, VcId};
use flitwork::routing::Selection;
use flitwork::spec::{AllocatorSpec, ArbiterKind, EjectionPort, InjectionPriority, Switching, VcPolicy};
use std::collections::BTreeSet;

impl Router<'_> {
    /// The output port of `packet` here.
    pub(super) fn output_port(&self, packet: &Packet) -> usize {
        let m = self.machine;
        match m.next_dimension(self.id, m.router_of(packet.dst)) {
            Some(d) => 2 * d + usize::from(packet.minus >> d & 1),
            None => m.local_port(packet.dst, self.ejection_port_of(packet)),
        }
    }

    fn ejection_port_of(&self, packet: &Packet) -> usize {
        let m = self.machine;
        match m.nic.ejection_port {
            EjectionPort::SamePort => packet.injection_port,
            EjectionPort::BySource => packet.src as usize % m.nic_ports,
            EjectionPort::Any => {
                let free = |k: usize| {
                    self.outputs[m.local_port(packet.dst, k)].iter().filter(|output| output.owner.is_none()).count()
                };
                let most = (0..m.nic_ports).map(free).max().expect("a NIC has a port");
                (0..m.nic_ports).find(|&k| free(k) == most).expect("some port has the most")
            }
        }
    }

    /// Whether the VC policy lets `packet` use VC `v` of output port `out`; the offers of a choice have their own VCs.
    fn may_use(&self, packet: &Packet, out: usize, v: usize) -> bool {
        let m = self.machine;
        if m.router.vc_policy != VcPolicy::Dateline {
            return m.private_vc(self.id, out, packet).is_none_or(|private| v == private);
        }
        if m.hop_by_hop() {
            return true;
        }
        let dimension = (out < m.fabric.network_ports_of(self.id)).then_some(out / 2);
        match dimension {
            Some(d) if m.fabric.grid().is_some_and(|grid| grid.wraps(d)) => {
                let h = m.vcs / 2;
                let odd = if m.router.compat.shared_middle_vc { 0 } else { m.vcs % 2 };
                if m.class(packet, d, self.id) == 0 { v < m.vcs - h } else { v >= h + odd }
            }
            _ => true,
        }
    }

    /// Whether `packet` requests VC `v` of output port `out` in step 4: free, allowed, and with the credits it must
    /// have.
    pub(super) fn may_request(&self, packet: &Packet, out: usize, v: usize) -> bool {
        let m = self.machine;
        let OutputVc { owner } = &self.outputs[out][v];
        let credits = self.credits((out, v));
        let cut_through = m.router.switching == Switching::VirtualCutThrough;
        owner.is_none()
            && self.may_use(packet, out, v)
            && (!cut_through || credits >= u64::from(packet.flits))
            && (!m.router.vc_busy_when_full || credits > 0)
            && (!m.router.wait_for_tail_credit || self.places[out].is_empty(v))
    }

    /// The ports at which a packet that asks for `wants` requests the switch speculatively, as of the start of step 4.
    pub(super) fn speculates_on(&self, wants: &[Want]) -> BTreeSet<usize> {
        let with_credit = wants.iter().filter(|want| self.machine.router.speculative && self.credits(want.output) > 0);
        with_credit.map(|want| want.output.0).collect()
    }

    /// Whether what the waiting packet of `vc` requests speculatively is in vain, as of the start of step 4.
    pub(super) fn speculates_in_vain(&self, vc: VcId) -> bool {
        let m = self.machine;
        let Front { packet, choice: Some(choice), .. } = self.front(vc) else { return false };
        let is_good = |port, v| self.may_request(packet, port, v) && self.credits((port, v)) > 0;
        m.router.speculative
            && m.router.compat.speculation_needs_all_sets
            && m.selection() == Selection::All
            && choice.minimal.iter().chain(&choice.escape).any(|o| !o.vcs.clone().any(|v| is_good(o.port, v)))
    }

    /// The key of the priority of the packet at the front of `vc`.
    pub(super) fn priority(&self, allocator: AllocatorSpec, vc: VcId, speculative: bool) -> Priority {
        let front = self.front(vc);
        let key = match allocator.arbiter {
            ArbiterKind::OldestFirst => {
                [front.packet.created, u64::from(front.packet.src), u64::from(front.packet.sequence)]
            }
            ArbiterKind::Fcfs => [front.head_arrived, vc.0 as u64, vc.1 as u64],
            _ => [0; 3],
        };
        let yields = self.machine.router.injection_priority == InjectionPriority::Last;
        (speculative, yields && vc.0 >= self.machine.fabric.network_ports_of(self.id), key)
    }
}
