//! VC requests of waiting packets, and what follows a grant: common to all paths through allocation.

use crate::kernel::flit::router::{ACTIVE, EJECTING, GRANTED, UPPER_CLASS, WAITING};
use crate::kernel::flit::vc_allocation::ANY_VC;
use crate::kernel::flit::{Env, Router, VcMask};
use crate::unchecked::{at, at_mut};

/// A packet that requests VCs of an output port.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VcRequest<M> {
    /// Input VC.
    pub slot: u16,
    pub port: u8,
    /// The packet prefers its requests with a smaller number.
    pub preference: u8,
    /// Free VCs that it may use; not empty.
    pub usable: M,
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Collects the requests of the waiting packets that want one of the output ports `of`; of all, where packets
    /// select their port.
    pub(super) fn collect_requests(&mut self, me: usize, of: u64, vc_requests: &mut Vec<VcRequest<M>>, env: &mut Env) {
        vc_requests.clear();
        let by_port = Self::requests_by_port(env);
        let mut from = 0;
        while let Some((word, bits)) = self.waiting.word_from(from) {
            bits.for_each(|bit| {
                let slot = word * 64 + bit;
                let port = self.input(slot).port;
                if of == !0 || of >> (port & 63) & 1 == 1 {
                    if by_port {
                        let found = self.request_at(me, slot, port as usize, vc_requests, env);
                        Self::count_requests(usize::from(found), env);
                    } else {
                        self.collect_request(me, slot, vc_requests, env);
                    }
                }
            });
            from = word + 1;
        }
        if env.rules.route.is_adaptive() {
            *at_mut(&mut env.visits.changed_ports, me) = 0;
        }
    }

    /// Collects the request of a packet at one output port; whether there is one.
    #[inline(always)]
    fn request_at(
        &mut self,
        me: usize,
        slot: usize,
        port: usize,
        vc_requests: &mut Vec<VcRequest<M>>,
        env: &mut Env,
    ) -> bool {
        let usable = self.usable::<false>(me, slot, port, env);
        if !usable.is_empty() {
            vc_requests.push(VcRequest { slot: slot as u16, port: port as u8, preference: 0, usable });
        }
        !usable.is_empty()
    }

    #[inline(never)]
    fn collect_request(&mut self, me: usize, slot: usize, vc_requests: &mut Vec<VcRequest<M>>, env: &mut Env) {
        let found = if env.rules.route.is_adaptive() && self.input(slot).flags & EJECTING == 0 {
            let changed = *at(&env.visits.changed_ports, me);
            let blocked = env
                .route
                .hop_by_hop
                .as_ref()
                .is_some_and(|hop_by_hop| hop_by_hop.blocked(self.number(me, slot), changed));
            !blocked && self.request_candidates(me, slot, vc_requests, env)
        } else {
            let port = self.requested_port(me, slot, env);
            self.request_at(me, slot, port, vc_requests, env)
        };
        Self::count_requests(usize::from(found), env);
        if env.measured.watched {
            env.measured.observer.requested(self.number(me, slot), found, env.now);
        }
    }

    /// Brings `requested_ports` and `contended_ports` up to date when VC allocation is through.
    #[inline(always)]
    pub(crate) fn update_requested_ports(&mut self) {
        self.requested_ports = 0;
        self.contended_ports = 0;
        let mut from = 0;
        while let Some((word, bits)) = self.waiting.word_from(from) {
            bits.for_each(|bit| {
                let wanted = 1 << (self.input(word * 64 + bit).port & 63);
                self.contended_ports |= self.requested_ports & wanted;
                self.requested_ports |= wanted;
            });
            from = word + 1;
        }
    }

    /// The output port that a waiting packet requests now.
    fn requested_port(&mut self, me: usize, slot: usize, env: &Env) -> usize {
        let vc = self.input(slot);
        let port = vc.port as usize;
        if !env.rules.ports.selects_ejection || vc.flags & EJECTING == 0 {
            return port;
        }
        // The port with the most free VCs, the lowest of equals.
        let c = env.p.nic_ports;
        let network_ports = env.network_ports(me);
        let first = (port - network_ports) / c * c + network_ports;
        let free = |q: usize| self.port_at(q).free.count();
        (first..first + c).fold(first, |best, q| if free(q) > free(best) { q } else { best })
    }

    /// The free VCs of `port` that a waiting packet may use.
    #[inline(always)]
    pub(crate) fn usable<const COMMON: bool>(&mut self, me: usize, slot: usize, port: usize, env: &Env) -> M {
        if env.rare::<COMMON>(|rules| rules.vcs.restricted) {
            self.usable_of(me, slot, port, env)
        } else {
            self.free_of_class(slot, port, env)
        }
    }

    /// The free VCs of its dateline class.
    #[inline(always)]
    fn free_of_class(&mut self, slot: usize, port: usize, env: &Env) -> M {
        let free = self.port(port).free;
        let upper = self.input(slot).flags >> UPPER_CLASS.trailing_zeros() & 1;
        free.of_class(&env.allocation.classes, port, upper as usize)
    }

    /// The free VCs of `port` that a packet may use by the VC policy and by their credits.
    #[inline(never)]
    fn usable_of(&mut self, me: usize, slot: usize, port: usize, env: &Env) -> M {
        let mut usable = if env.rules.vcs.private {
            let mut usable = self.port(port).free;
            self.keep_private(me, slot, &mut usable, env);
            usable
        } else {
            self.free_of_class(slot, port, env)
        };
        if env.rules.vcs.by_credits {
            let flits = env.pool[self.input(slot).front].flits;
            self.keep_credited(me, port, flits, &mut usable, env);
        }
        usable
    }

    /// Takes out all VCs but the packet's private one, where it has one.
    #[inline(always)]
    pub(crate) fn keep_private(&self, me: usize, slot: usize, usable: &mut M, env: &Env) {
        let Some(private) = &env.allocation.private_vcs else { return };
        let wanted = private.wanted(self.number(me, slot));
        if wanted != ANY_VC {
            let free = usable.contains(wanted as usize);
            *usable = M::EMPTY;
            if free {
                usable.insert(wanted as usize);
            }
        }
    }

    /// Takes out the VCs whose credits do not allow a new packet of `flits` flits.
    pub(crate) fn keep_credited(&self, me: usize, port: usize, flits: u16, usable: &mut M, env: &Env) {
        let needed = self.credits_needed(me, port, flits, env);
        let candidates = *usable;
        candidates.for_each(|v| {
            let slot = Self::slot(port, v);
            if self.credits_now(me, slot, env) < needed {
                usable.remove(v);
                self.note_missing_credits(me, slot, needed, env);
            }
        });
    }

    /// The credits of a free VC of `port` that allow a new packet of `flits` flits.
    #[inline(always)]
    pub(crate) fn credits_needed(&self, me: usize, port: usize, flits: u16, env: &Env) -> u16 {
        let mut needed = u16::from(env.rules.vcs.busy_when_full);
        if env.rules.vcs.cut_through {
            needed = needed.max(flits);
        }
        if env.rules.vcs.wait_for_tail_credit {
            let pool =
                env.allocation.shared_buffers.as_ref().map_or(0, |buffers| buffers.free(self.port_number(me, port)));
            needed = env.p.buffer_flits as u16 + pool;
        }
        needed
    }

    /// Gives output VC `out_vc` of `port` to the waiting packet of input VC `slot`.
    #[inline(always)]
    pub(crate) fn grant_vc(&mut self, slot: usize, port: usize, out_vc: usize) {
        self.move_vc_pointers(slot, (port, out_vc));
        self.port(port).free.remove(out_vc);
        let vc = self.input(slot);
        vc.flags = vc.flags & !WAITING | GRANTED;
        vc.port = port as u8;
        self.waiting.remove(slot);
    }

    /// Lets a packet that was granted its output VC request the switch, when allocation is through.
    #[inline(always)]
    pub(crate) fn activate_after_delay(&mut self, me: usize, slot: usize, output: (usize, usize), env: &mut Env) {
        let mut delay = env.p.vc_alloc_delay_cycles;
        if env.rules.stages.pipelined {
            delay = env.cycles_to(self.input(slot).front, env.p.routing_delay_cycles + delay) as u32;
        }
        if delay == 0 {
            // Its head is in the buffer: a flit there is.
            self.input(slot).flags |= ACTIVE;
            if self.has_credit(output) {
                self.ready.insert(slot);
            }
        } else if env.rules.stages.allocation_in_router {
            self.input(slot).flags |= ACTIVE;
            if self.output_of(output).credits > 0 {
                self.allocated.insert(slot);
            }
        } else {
            let at = env.now + u64::from(delay);
            env.transit.wheel.at(at).wakes.push(self.number(me, slot) as u32);
        }
    }

    /// The front packet of an input VC waits for a VC of `port`.
    #[inline(always)]
    pub(crate) fn request_vc(&mut self, me: usize, slot: usize, port: u8, env: &mut Env) {
        self.waiting.insert(slot);
        self.note_request(me, slot, port, env);
        env.activate(me);
    }
}
