//! The start of a cycle: flits, credits and pipeline stages that are due now.

use crate::kernel::flit::router::{ACTIVE, GRANTED, WAITING};
use crate::kernel::flit::rules::Arrivals;
use crate::kernel::flit::{Env, Kernel, Router, VcMask};
use crate::measure::Arrival;
use crate::transit::{FlitArrival, NONE, Slot};
use crate::unchecked::at_mut;

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Kernel<M, PORTS, VCS, WORDS, PACKETS>
{
    /// The router of a VC, and which of its VCs it is.
    #[inline(always)]
    pub(crate) fn router_and_slot(&self, vc: usize) -> (usize, usize) {
        (vc / self.slots(), vc % self.slots())
    }

    /// VCs that are numbered in a router.
    #[inline(always)]
    pub(crate) fn slots(&self) -> usize {
        Self::slots_in(&self.env)
    }

    /// [`Kernel::slots`] where the routers are borrowed.
    #[inline(always)]
    pub(crate) fn slots_in(env: &Env) -> usize {
        Router::<M, PORTS, VCS, WORDS, PACKETS>::slots_in(env)
    }

    /// Delivers everything that is due now. Each loop is out of line, so that nothing else takes its registers.
    pub(crate) fn deliver_due(&mut self, arrived: &mut Vec<Arrival>) {
        let now = self.env.now;
        let slot = self.env.transit.wheel.take(now);
        if self.env.allocation.shared_buffers.is_some() {
            self.deliver_shared_credits(&slot.credits);
        } else if self.env.rules.route.is_adaptive() {
            self.deliver_credits_and_note(&slot.credits);
        } else if self.env.rules.route.selects_up_port() {
            self.deliver_credits_and_count(&slot.credits);
        } else {
            let nothing = |_: &Self, _: &u32| {};
            let request = |kernel: &Self, &vc: &u32| kernel.prefetch_credits(vc);
            self.deliver_ahead(&slot.credits, (request, nothing), Self::deliver_credits);
        }
        if self.injection.shared_buffers.is_some() {
            slot.injection_credits.iter().for_each(|&vc| self.injection.shared_credit(vc as usize));
        } else {
            slot.injection_credits.iter().for_each(|&vc| self.injection.credit(vc as usize));
        }
        self.deliver_flits_and_rest(slot, arrived);
    }

    /// What is due in this cycle but credits.
    #[inline(always)]
    pub(crate) fn deliver_flits_and_rest(&mut self, slot: Slot, arrived: &mut Vec<Arrival>) {
        self.deliver_ahead(&slot.flits, (Self::prefetch_input, Self::prefetch_output), |kernel, flits| {
            match (kernel.env.rules.route.is_fat_tree(), kernel.env.rules.stages.port_only_heads) {
                (false, true) => kernel.deliver_flits::<false, true>(flits),
                (false, false) => kernel.deliver_flits::<false, false>(flits),
                (true, true) => kernel.deliver_flits::<true, true>(flits),
                (true, false) => kernel.deliver_flits::<true, false>(flits),
            }
        });
        for &vc in &slot.wakes {
            let (router, input) = self.router_and_slot(vc as usize);
            at_mut(&mut self.routers, router).deliver_wake(router, input, &mut self.env);
        }
        // At once, so that there is one look at the room for them.
        arrived.extend(slot.tails.iter().map(|&packet| self.env.pool.arrival(packet)));
        slot.tails.iter().for_each(|&packet| self.env.pool.remove(packet));
        self.env.transit.wheel.put_back(self.env.now, slot);
    }

    #[inline(never)]
    fn deliver_credits(&mut self, credits: &[u32]) {
        for &vc in credits {
            let (router, output) = self.router_and_slot(vc as usize);
            at_mut(&mut self.routers, router).deliver_credit(router, output, &mut self.env);
        }
    }

    /// `FAT_TREE`: the network is a tree. `PORT_ONLY`: heads are `port_only_heads` of
    /// [`Stages`](crate::kernel::flit::rules::Stages).
    #[inline(never)]
    fn deliver_flits<const FAT_TREE: bool, const PORT_ONLY: bool>(&mut self, flits: &[FlitArrival]) {
        for flit in flits {
            let (router, slot) = self.router_and_slot(flit.vc as usize);
            at_mut(&mut self.routers, router).deliver_flit::<FAT_TREE, PORT_ONLY>(router, slot, flit, &mut self.env);
        }
    }

    /// Delivers credits where packets compare how many have come back.
    #[inline(never)]
    fn deliver_credits_and_count(&mut self, credits: &[u32]) {
        for &vc in credits {
            let (router, output) = self.router_and_slot(vc as usize);
            let at = at_mut(&mut self.routers, router);
            at.deliver_credit(router, output, &mut self.env);
            let port = at.port(output / VCS);
            port.returned = port.returned.wrapping_add(1);
        }
    }

    /// Credits, where VCs share buffer places.
    #[inline(never)]
    fn deliver_shared_credits(&mut self, credits: &[u32]) {
        for &vc in credits {
            let (router, output) = self.router_and_slot(vc as usize);
            at_mut(&mut self.routers, router).deliver_shared_credit(router, output, &mut self.env);
        }
        if let Some(congestion) = self.env.congestion() {
            congestion.credits_come(credits);
        }
    }

    /// Delivers credits where blocked packets are skipped until a VC of one of their ports becomes usable.
    #[inline(never)]
    fn deliver_credits_and_note(&mut self, credits: &[u32]) {
        for &vc in credits {
            let (router, output) = self.router_and_slot(vc as usize);
            let at = at_mut(&mut self.routers, router);
            at.deliver_credit(router, output, &mut self.env);
            let credits = at.output(output).credits;
            if self.env.rules.vcs.first_use.may_be_at(credits) && at.owner(output).is_none() {
                self.env.note_change(router, 1 << (output / VCS));
            }
        }
        if let Some(congestion) = self.env.congestion() {
            congestion.credits_come(credits);
        }
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    #[inline(always)]
    fn deliver_credit(&mut self, me: usize, output: usize, env: &mut Env) {
        let out = self.output(output);
        out.credits += 1;
        if out.credits != 1 {
            return;
        }
        if let Some(slot) = self.owner(output) {
            let input = self.input(slot);
            if input.flags & ACTIVE != 0 && input.occupied > 0 {
                self.ready.insert(slot);
                env.activate(me);
            }
        }
    }

    #[inline(always)]
    fn deliver_flit<const FAT_TREE: bool, const PORT_ONLY: bool>(
        &mut self,
        me: usize,
        slot: usize,
        flit: &FlitArrival,
        env: &mut Env,
    ) {
        let input = self.input(slot);
        Self::count_flit(input);
        if flit.packet == NONE {
            if input.occupied == 1 && input.flags & ACTIVE != 0 {
                let output = input.output as usize;
                if self.output(output).credits > 0 {
                    self.ready.insert(slot);
                    env.activate(me);
                }
            }
            return;
        }
        if env.rules.stages.arrivals != Arrivals::Unused {
            env.pool[flit.packet].here = env.now as u32;
        }
        if input.front == NONE {
            input.front = flit.packet;
            if FAT_TREE {
                self.route_front_in_fat_tree::<PORT_ONLY>(me, slot, env.now, env);
            } else if PORT_ONLY {
                self.route_front_at_source::<true>(me, slot, env.now, env);
            } else {
                self.route_front(me, slot, env.now, env);
            }
        } else {
            let last = std::mem::replace(&mut input.behind_last, flit.packet);
            let first =
                if last == NONE { flit.packet } else { std::mem::replace(&mut env.pool[last].next, flit.packet) };
            env.pool[flit.packet].next = first;
        }
    }

    #[inline(always)]
    fn deliver_wake(&mut self, me: usize, slot: usize, env: &mut Env) {
        let flags = self.input(slot).flags;
        if flags & GRANTED != 0 {
            self.activate(slot);
            env.activate(me);
        } else if env.selects_in_stage(flags) {
            self.routed.insert(slot);
            env.activate(me);
        } else {
            let vc = self.input(slot);
            vc.flags |= WAITING;
            let port = vc.port;
            self.request_vc(me, slot, port, env);
        }
    }
}
