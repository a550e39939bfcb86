//! What packets wait for, for the search for deadlocks ([`crate::kernel::knot`]).

use crate::kernel::flit::router::{EJECTING, GRANTED, InputVc, Memory, UNDECIDED, UPPER_CLASS, WAITING};
use crate::kernel::flit::vc_allocation::ANY_VC;
use crate::kernel::flit::{Env, Kernel, Router, VcMask};
use crate::kernel::knot::{Alternative, Waits};
use crate::transit::NONE;

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Kernel<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Adds what the packets at the front of all input VCs wait for.
    pub(crate) fn list_waits(&self, waits: &mut Waits) {
        let env = &self.env;
        for (r, router) in self.routers.iter().enumerate() {
            for (slot, vc) in router.memory.inputs().filter(|(_, vc)| vc.front != NONE) {
                let number = env.number_in_all(router.number(r, slot) as u32);
                let flits = Router::<M, PORTS, VCS, WORDS, PACKETS>::buffered_flits(vc, env);
                waits.occupied(number, flits, |alternatives| {
                    router.list_alternatives(r, slot, alternatives, env).is_some()
                });
                if let Some(to) = router.sends_to(vc) {
                    waits.feeds(number, env.number_in_all(to), router.unreturned(r, usize::from(vc.output), env));
                }
            }
        }
    }

    /// The name of an input VC of the whole network.
    pub(crate) fn name(&self, vc: u32) -> String {
        let (router, slot) = self.router_and_slot(vc as usize);
        let (port, vc) = Router::<M, PORTS, VCS, WORDS, PACKETS>::port_and_vc(slot);
        let name = self.fabric.router_name(router as u32);
        let network_ports = self.fabric.network_ports_of(router as u32);
        let side = if port >= network_ports {
            format!("injection port {}", port - network_ports)
        } else {
            self.fabric.input_name(router as u32, port)
        };
        format!("{name} {side} VC {vc}")
    }
}

impl Env {
    /// The number in the whole network of an input VC that this part knows by another one.
    fn number_in_all(&self, vc: u32) -> u32 {
        self.transit.border.as_ref().map_or(vc, |border| border.in_all(vc))
    }

    /// Flits of the packets in an input VC.
    pub(crate) fn flits_of_all(&self, vc: &InputVc) -> u32 {
        let mut flits = u32::from(self.pool[vc.front].flits);
        let (last, mut behind) = (vc.behind_last, NONE);
        while behind != last {
            behind = self.pool[if behind == NONE { last } else { behind }].next;
            flits += u32::from(self.pool[behind].flits);
        }
        flits
    }
}

/// No alternatives are listed because one of them is open.
type Listed = Option<()>;

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// The input VC that the front packet of `vc` is being sent to, if it is one.
    fn sends_to(&self, vc: &InputVc) -> Option<u32> {
        if !Self::may_wait_for_credits(vc.flags) {
            return None;
        }
        let (port, out_vc) = Self::port_and_vc(usize::from(vc.output));
        let far_end = self.port_at(port).far_end;
        (far_end != NONE).then(|| far_end.wrapping_add(out_vc as u32))
    }

    /// Flits that have left on an output VC and whose credits have not come back.
    fn unreturned(&self, me: usize, output: usize, env: &Env) -> u32 {
        match &env.allocation.shared_buffers {
            Some(buffers) => u32::from(buffers.taken(self.number(me, output)) - self.unsent_places(output, buffers)),
            None => env.p.buffer_flits - u32::from(self.output_at(output).credits),
        }
    }

    /// Adds the alternatives for the front packet of an input VC to `alternatives`; `None` if one of them is open: it
    /// waits for nothing but its turn, or will request something later.
    fn list_alternatives(&self, me: usize, slot: usize, alternatives: &mut Vec<Alternative>, env: &Env) -> Listed {
        let vc = self.input_at(slot);
        if vc.flags & GRANTED == 0 {
            return self.alternatives_for_grant(me, slot, alternatives, env);
        }
        if !Self::may_wait_for_credits(vc.flags) {
            return None;
        }
        if vc.occupied == 0 {
            // A terminal goes on sending.
            let (in_port, _) = Self::port_and_vc(slot);
            alternatives.push(Alternative::Flits);
            return (self.port_at(in_port).feeder != NONE).then_some(());
        }
        let output = usize::from(vc.output);
        if self.output_at(output).credits > 0 {
            None
        } else {
            self.alternatives_for_room(me, output, alternatives, env)
        }
    }

    /// Adds the alternatives of a packet that owns no output VC; `None` if one of them is open.
    fn alternatives_for_grant(&self, me: usize, slot: usize, alternatives: &mut Vec<Alternative>, env: &Env) -> Listed {
        let vc = self.input_at(slot);
        if vc.flags & WAITING == 0 || vc.flags & UNDECIDED != 0 {
            return None;
        }
        let ejects = vc.flags & EJECTING != 0;
        if let Some(hop_by_hop) = env.route.hop_by_hop.as_ref().filter(|_| env.rules.route.is_adaptive() && !ejects) {
            for (port, set) in hop_by_hop.candidates(self.number(me, slot)) {
                self.alternatives_by_vcs(me, slot, port, M::range(set.start, set.end), alternatives, env)?;
            }
            return Some(());
        }
        let upper = vc.flags & UPPER_CLASS != 0;
        let any_of_terminal = ejects && env.rules.ports.selects_ejection;
        for port in usize::from(vc.port)..usize::from(vc.port) + if any_of_terminal { env.p.nic_ports } else { 1 } {
            let all = M::range(0, env.p.vcs);
            let vcs = if env.rules.vcs.private {
                all
            } else {
                all.of_class(&env.allocation.classes, port, usize::from(upper))
            };
            self.alternatives_by_vcs(me, slot, port, vcs, alternatives, env)?;
        }
        Some(())
    }

    /// Adds the alternatives through the output VCs `vcs` of a port; `None` if one of them is open.
    fn alternatives_by_vcs(
        &self,
        me: usize,
        slot: usize,
        port: usize,
        mut vcs: M,
        alternatives: &mut Vec<Alternative>,
        env: &Env,
    ) -> Listed {
        let private =
            env.allocation.private_vcs.as_ref().map_or(ANY_VC, |private| private.wanted(self.number(me, slot)));
        let flits = env.pool[self.input_at(slot).front].flits;
        while !vcs.is_empty() {
            let v = vcs.first();
            vcs.remove(v);
            if private != ANY_VC && usize::from(private) != v {
                continue;
            }
            let output = Self::slot(port, v);
            if let Some(owner) = self.owner(output) {
                alternatives.push(Alternative::Release(env.number_in_all(self.number(me, owner) as u32)));
            } else if self.port_at(port).free.contains(v) {
                // Credits of whole packets are counted when they begin to come back.
                if self.output_at(output).credits >= self.credits_needed(me, port, flits, env) {
                    return None;
                }
                self.alternatives_for_room(me, output, alternatives, env)?;
            }
        }
        Some(())
    }

    /// Adds the alternatives of a packet that waits for room behind an output VC; `None` if one of them is open.
    fn alternatives_for_room(
        &self,
        me: usize,
        output: usize,
        alternatives: &mut Vec<Alternative>,
        env: &Env,
    ) -> Listed {
        let (port, out_vc) = Self::port_and_vc(output);
        let far_end = self.port_at(port).far_end;
        if far_end == NONE {
            return None; // A terminal takes all that comes.
        }
        let vc = |v: usize| env.number_in_all(far_end.wrapping_add(v as u32));
        let Some(buffers) = &env.allocation.shared_buffers else {
            alternatives.push(Alternative::Room { vc: vc(out_vc), flits: self.unreturned(me, output, env) });
            return Some(());
        };
        // Room comes from the VC itself, or, unless it has to be empty, from any VC that has taken shared places.
        let any = !env.rules.vcs.wait_for_tail_credit;
        for v in 0..env.p.vcs {
            let (other, number) = (Self::slot(port, v), self.number(me, Self::slot(port, v)));
            if v != out_vc && !(any && buffers.shares(number)) {
                continue;
            }
            if self.unsent_places(other, buffers) > 0 {
                return None;
            }
            alternatives.push(Alternative::Room { vc: vc(v), flits: u32::from(buffers.taken(number)) });
        }
        Some(())
    }
}
