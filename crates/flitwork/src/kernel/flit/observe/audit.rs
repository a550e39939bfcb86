//! Conservation, checked after every cycle if [`is_enabled`]: no flit and no credit is lost or made, and the masks
//! agree with the state.

use crate::kernel::flit::router::{ACTIVE, EJECTING, GRANTED, Memory, SharedBuffers, WAITING};
use crate::kernel::flit::{Kernel, Router, VcMask};
use crate::transit::NONE;
use std::sync::LazyLock;

/// Whether the audit is on in this process: the variable `FLITWORK_AUDIT` is set. It makes runs slow.
fn is_enabled() -> bool {
    static ENABLED: LazyLock<bool> = LazyLock::new(|| std::env::var_os("FLITWORK_AUDIT").is_some());
    *ENABLED
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Kernel<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Panics if a law of conservation is broken.
    pub(crate) fn audit(&mut self) {
        if !is_enabled() {
            return;
        }
        self.audit_credits();
        self.audit_shared_buffers();
        self.audit_congestion();
        self.audit_flits_behind();
        self.audit_blocked();
        for (r, router) in self.routers.iter().enumerate() {
            router.audit_masks(r, self.env.now);
        }
    }

    /// Congestion information: the places counted as taken are those without a credit.
    fn audit_congestion(&self) {
        let places = self.env.p.port_places();
        let Some(congestion) = self.env.route.hop_by_hop.as_ref().and_then(|hop_by_hop| hop_by_hop.congestion_ref())
        else {
            return;
        };
        for (r, router) in self.routers.iter().enumerate() {
            for port in (0..self.env.network_ports(r)).filter(|&port| router.port_at(port).far_end != NONE) {
                let outputs = (0..self.env.p.vcs).map(|vc| router.memory.output_at(port, vc));
                let credits = || outputs.clone().map(|output| u32::from(output.credits)).sum::<u32>();
                let of_pool = |buffers: &SharedBuffers| router.flits_behind_shared(r, port, buffers, self.env.p.vcs);
                let taken = self
                    .env
                    .allocation
                    .shared_buffers
                    .as_ref()
                    .map_or_else(|| places - credits(), |buffers| of_pool(buffers));
                assert_eq!(congestion.taken(r, port), taken, "router {r} port {port} cycle {}", self.env.now);
            }
        }
    }

    /// Where packets compare ports: the flits behind a port are those without a credit.
    fn audit_flits_behind(&self) {
        let p = &self.env.p;
        if !self.env.rules.route.selects_up_port() || self.env.allocation.shared_buffers.is_some() {
            return;
        }
        for (r, router) in self.routers.iter().enumerate() {
            for port in (0..self.env.network_ports(r)).filter(|&port| router.port_at(port).far_end != NONE) {
                let outputs = (0..p.vcs).map(|vc| router.memory.output_at(port, vc));
                let taken: u32 = outputs.map(|output| p.buffer_flits - u32::from(output.credits)).sum();
                let behind = router.flits_behind(r, port, &self.env);
                assert_eq!(behind, taken, "router {r} port {port} cycle {}", self.env.now);
            }
        }
    }

    /// A packet that is skipped as blocked would find no usable VC.
    fn audit_blocked(&self) {
        let Kernel { routers, env, .. } = self;
        let Some(hop_by_hop) = env.route.hop_by_hop.as_ref().filter(|hop_by_hop| !hop_by_hop.single_port) else {
            return;
        };
        for (r, router) in routers.iter().enumerate() {
            for slot in (0..self.slots()).filter(|&slot| router.waiting.contains(slot)) {
                let (vc, front) = (router.number(r, slot), router.input_at(slot).front);
                if router.input_at(slot).flags & EJECTING != 0 || !hop_by_hop.blocked(vc, env.visits.changed_ports[r]) {
                    continue;
                }
                for (port, set) in hop_by_hop.candidates(vc) {
                    let mut usable = router.port_at(port).free.at_least(set.start).below(set.end);
                    router.keep_private(r, slot, &mut usable, env);
                    router.keep_credited(r, port, env.pool[front].flits, &mut usable, env);
                    assert!(usable.is_empty(), "router {r} slot {slot} port {port} cycle {}", env.now);
                }
            }
        }
    }

    /// For every channel and VC: credits + credits under way + flits under way + flits in the buffer = buffer; where
    /// VCs share buffer places, what is not credits = places taken.
    fn audit_credits(&self) {
        let p = &self.env.p;
        let mut flits = vec![0u32; self.routers.len() * self.slots()];
        let mut credits = flits.clone();
        let mut injection_credits = vec![0u32; p.terminals * p.nic_ports * p.vcs];
        for slot in self.env.transit.wheel.slots() {
            slot.flits.iter().for_each(|f| flits[f.vc as usize] += 1);
            slot.credits.iter().for_each(|&c| credits[c as usize] += 1);
            slot.injection_credits.iter().for_each(|&c| injection_credits[c as usize] += 1);
        }
        for (r, router) in self.routers.iter().enumerate() {
            for (port, vc) in (0..p.ports).flat_map(|port| (0..p.vcs).map(move |vc| (port, vc))) {
                let slot = Router::<M, PORTS, VCS, WORDS, PACKETS>::slot(port, vc);
                let stored = u32::from(router.input_at(slot).occupied) + flits[router.number(r, slot)];
                let network_ports = self.env.network_ports(r);
                let (free, places) = if port < network_ports {
                    let feeder = router.port_at(port).feeder;
                    if feeder == NONE {
                        continue;
                    }
                    let upstream = feeder as usize + vc;
                    let (router, output) = self.router_and_slot(upstream);
                    let router = &self.routers[router];
                    let (kept, places) = match &self.env.allocation.shared_buffers {
                        None => (router.output_at(output).credits, p.buffer_flits),
                        Some(buffers) => (router.unsent_places(output, buffers), u32::from(buffers.taken(upstream))),
                    };
                    (u32::from(kept) + credits[upstream], places)
                } else {
                    let terminals = self.fabric.terminals_at(r as u32);
                    if port - network_ports >= terminals.len() * p.nic_ports {
                        continue;
                    }
                    let port = terminals.start as usize * p.nic_ports + port - network_ports;
                    let at = port * p.vcs + vc;
                    if self.injection.never_fills(vc) {
                        continue;
                    }
                    match &self.injection.shared_buffers {
                        None => (u32::from(self.injection.credits_at(at)) + injection_credits[at], p.buffer_flits),
                        Some(buffers) => (injection_credits[at], u32::from(buffers.taken(at))),
                    }
                };
                assert_eq!(stored + free, places, "router {r} port {port} VC {vc} cycle {}", self.env.now);
            }
        }
    }

    /// The credits of every VC follow from the places taken behind its port.
    fn audit_shared_buffers(&self) {
        let (Some(buffers), p) = (&self.env.allocation.shared_buffers, &self.env.p) else { return };
        for (r, router) in self.routers.iter().enumerate() {
            for port in 0..p.ports {
                let first = Router::<M, PORTS, VCS, WORDS, PACKETS>::slot(port, 0);
                let (pool, number) = (router.port_number(r, port), router.number(r, first));
                let shared = buffers.shared_by(pool, number..number + p.vcs);
                assert_eq!(shared, p.shared_buffer_flits, "router {r} port {port} cycle {}", self.env.now);
                for output in (first..first + p.vcs).filter(|&o| !buffers.whole_packets || router.owner(o).is_none()) {
                    let credits = buffers.credits(pool, router.number(r, output));
                    assert_eq!(router.output_at(output).credits, credits, "router {r} output {output}");
                }
            }
        }
        let Some(buffers) = &self.injection.shared_buffers else { return };
        for port in 0..p.terminals * p.nic_ports {
            let shared = buffers.shared_by(port, port * p.vcs..(port + 1) * p.vcs);
            assert_eq!(shared, p.shared_buffer_flits, "injection port {port} cycle {}", self.env.now);
            for vc in (0..p.vcs).filter(|&vc| !self.injection.never_fills(vc)) {
                let at = port * p.vcs + vc;
                assert_eq!(self.injection.credits_at(at), buffers.credits(port, at), "injection port {port} VC {vc}");
            }
        }
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    fn audit_masks(&self, me: usize, now: u64) {
        for (slot, input) in self.memory.inputs() {
            let port = input.port as usize;
            let can_send =
                input.flags & ACTIVE != 0 && input.occupied > 0 && self.output_at(input.output as usize).credits > 0;
            assert_eq!(can_send, self.ready.contains(slot), "router {me} slot {slot} cycle {now}");
            assert_eq!(input.flags & WAITING != 0, self.waiting.contains(slot), "router {me} slot {slot} cycle {now}");
            if input.flags & GRANTED != 0 {
                let (out_port, _) = Self::port_and_vc(input.output as usize);
                assert_eq!(port, out_port, "router {me} slot {slot} cycle {now}");
                assert_eq!(self.owner(input.output as usize), Some(slot), "router {me} slot {slot} cycle {now}");
            }
            let Some(owner) = self.owner(slot) else { continue };
            assert!(self.input_at(owner).flags & GRANTED != 0, "router {me} output {slot} cycle {now}");
            assert_eq!(self.input_at(owner).output as usize, slot, "router {me} output {slot} cycle {now}");
        }
    }
}
