//! When nothing moves any more: which virtual channels wait for each other.

use super::Kernel;
use super::mask::VcMask;
use super::state::{ACTIVE, EJECTING, GRANTED, Router};
use crate::transit::NONE;

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Kernel<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Who waits for whom in a network in which no flit can move, in words.
    pub(super) fn who_waits(&self) -> String {
        let names: Vec<String> = self.waiting_cycle().iter().map(|&vc| self.name(vc)).collect();
        if names.is_empty() {
            format!("{} packets are in the network and none moves", self.env.pool.live())
        } else {
            format!("{} -> {}", names.join(" -> "), names[0])
        }
    }

    /// Input VCs (global numbers) that each wait for the next, in a ring; empty if there is none.
    fn waiting_cycle(&self) -> Vec<usize> {
        // 0: not seen, 1: on the path, 2: done.
        let mut state = vec![0u8; self.routers.len() * self.slots()];
        for start in 0..state.len() {
            let (router, slot) = self.router_and_slot(start);
            if state[start] != 0 || self.routers[router].input_at(slot).front == NONE {
                continue;
            }
            let mut path = vec![(start, self.waits_for(start))];
            state[start] = 1;
            while let Some((at, next)) = path.last_mut() {
                match next.pop() {
                    None => {
                        state[*at] = 2;
                        path.pop();
                    }
                    Some(n) if state[n] == 1 => {
                        let from = path.iter().position(|(vc, _)| *vc == n).unwrap_or(0);
                        return path[from..].iter().map(|(vc, _)| *vc).collect();
                    }
                    Some(n) if state[n] == 0 => {
                        state[n] = 1;
                        let waits = self.waits_for(n);
                        path.push((n, waits));
                    }
                    Some(_) => {}
                }
            }
        }
        Vec::new()
    }

    /// The input VCs that the front packet of an input VC waits for.
    fn waits_for(&self, vc: usize) -> Vec<usize> {
        let (r, slot) = self.router_and_slot(vc);
        let router = &self.routers[r];
        let state = &router.input_at(slot);
        if state.front == NONE {
            return Vec::new();
        }
        if !PACKETS && state.occupied == 0 {
            // The rest of the packet is upstream.
            let (in_port, in_vc) = Router::<M, PORTS, VCS, WORDS, PACKETS>::port_and_vc(slot);
            let feeder = router.port_at(in_port).feeder;
            if feeder == NONE {
                return Vec::new();
            }
            let (upstream, output) = self.router_and_slot(feeder as usize + in_vc);
            let owner = self.routers[upstream].owner(output);
            return owner.map(|owner| router.number(upstream, owner)).into_iter().collect();
        }
        if state.flags & (GRANTED | ACTIVE | EJECTING) == 0 {
            if let Some(choices) = self.env.choices.as_ref().filter(|choices| !choices.one_port) {
                let slots = choices
                    .candidates(vc)
                    .flat_map(|(port, vcs)| vcs.map(move |v| Router::<M, PORTS, VCS, WORDS, PACKETS>::slot(port, v)));
                let owners = slots.filter_map(|slot| router.owner(slot));
                return owners.map(|owner| router.number(r, owner)).collect();
            }
        }
        if state.flags & (GRANTED | ACTIVE) == 0 {
            let first = Router::<M, PORTS, VCS, WORDS, PACKETS>::slot(state.port as usize, 0);
            return (first..first + self.env.p.vcs)
                .filter_map(|output| router.owner(output))
                .map(|owner| router.number(r, owner))
                .collect();
        }
        let (port, out_vc) = Router::<M, PORTS, VCS, WORDS, PACKETS>::port_and_vc(state.output as usize);
        let far_end = router.port_at(port).far_end;
        if far_end == NONE || router.output_at(state.output as usize).credits > 0 {
            return Vec::new();
        }
        vec![far_end as usize + out_vc]
    }

    fn name(&self, vc: usize) -> String {
        let (router, slot) = self.router_and_slot(vc);
        let (port, vc) = Router::<M, PORTS, VCS, WORDS, PACKETS>::port_and_vc(slot);
        let name = self.fabric.router_name(router as u32);
        let network_ports = self.env.network_ports(router);
        let side = if port >= network_ports {
            format!("injection port {}", port - network_ports)
        } else {
            self.fabric.input_name(router as u32, port)
        };
        format!("{name} {side} VC {vc}")
    }
}
