//! One cycle of a router, as the textbook pipeline has it: VC allocation, switch allocation, switch traversal. Routing precedes it: the route of a
//! packet is found when it comes to the front of its buffer (`route/front.rs`).
//!
//! Four functions give the same result where they apply: iSLIP on bit masks, iSLIP for packets of one flit in a pipeline, first come first served for
//! whole packets, and the general one.

use crate::kernel::flit::router::{ACTIVE, GRANTED, SlotSet};
use crate::kernel::flit::switch::GeneralSwitch;
use crate::kernel::flit::vc_allocation::{GeneralVcAllocation, Scratch};
use crate::kernel::flit::{Env, Router, VcMask};
use crate::plan::Plan;
use crate::unchecked::at;

/// The allocators of the general path.
#[derive(Debug)]
pub(super) struct General<M> {
    pub vcs: GeneralVcAllocation<M>,
    pub switch: GeneralSwitch,
}

impl<M> General<M> {
    /// Of a plan; `holds`: packets hold their path through the switch.
    pub fn new(plan: &Plan, holds: bool) -> Self {
        General { vcs: GeneralVcAllocation::new(plan), switch: GeneralSwitch::new(plan, holds) }
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// One cycle.
    #[inline(always)]
    pub(super) fn step_fast<const LEAN: bool>(&mut self, me: usize, scratch: &mut Scratch<M>, env: &mut Env) {
        if env.rules.decides {
            self.decide_due(me, env);
        }
        if !self.waiting.is_empty() {
            if env.asks::<LEAN>(|rules| rules.chooses_port) {
                self.allocate_chosen(me, scratch, env);
            } else if PACKETS {
                self.allocate_vcs_fast(me, scratch, env);
            } else if env.rules.short_packets {
                self.serve_waiting::<LEAN, true>(me, scratch, env);
            } else {
                self.serve_waiting::<LEAN, false>(me, scratch, env);
            }
        }
        if PACKETS {
            if self.ready.is_empty() {
                return;
            }
            let aside = self.set_busy_aside(me, env);
            if !self.ready.is_empty() {
                self.allocate_switch_fast::<false>(me, env);
                env.streams.again |= self.may_send(me, env);
            }
            self.ready.insert_all(&aside);
            return;
        }
        if !self.ready.is_empty() {
            self.allocate_switch_fast::<LEAN>(me, env);
        }
        if env.rules.has_stages {
            self.end_stages(env);
        }
    }

    /// One cycle. `ALL`: all packets have one flit.
    #[inline(always)]
    pub(super) fn step_singles<const ALL: bool>(&mut self, me: usize, scratch: &mut Scratch<M>, env: &mut Env) {
        if env.rules.decides {
            self.decide_due(me, env);
        }
        let apart = if self.waiting.is_empty() { SlotSet::EMPTY } else { self.allocate_in_stage(me, scratch, env) };
        if !self.ready.is_empty() {
            self.send_ready::<ALL>(me, env);
        }
        self.apart = if WORDS == 1 { apart.first_word() } else { 0 };
        self.end_stages(env);
    }

    /// One cycle; whether the router has something to do in the next one, too.
    #[inline(always)]
    pub(super) fn step_oldest_first(&mut self, me: usize, env: &mut Env) -> bool {
        let mut again = false;
        // Asked here: half of all visits end with it.
        let look = self.wanted_ports & *at(&env.changed_ports, me);
        if look != 0 {
            again = self.give_vcs_to_oldest(me, look, env);
        }
        if !self.ready.is_empty() {
            again |= self.send_oldest(me, env);
        }
        let staged = !self.allocated.is_empty();
        self.end_stages(env);
        again | staged
    }

    /// One cycle.
    pub(super) fn step_general(&mut self, me: usize, general: &mut General<M>, env: &mut Env) {
        let General { vcs, switch } = general;
        vcs.fresh.clear();
        vcs.speculative.clear();
        switch.sending.clear();
        if env.rules.decides {
            self.decide_due(me, env);
        }
        if !self.waiting.is_empty() {
            self.allocate_vcs(me, vcs, env);
        }
        // Without output speed-up, which slow channels exclude, a column is a port.
        let busy = env.own_times.as_ref().map_or(0, |own| own.busy_ports(me, env.now));
        switch.set_busy_cols(if PACKETS { env.streams.busy[me].cols } else { busy });
        let rows = if PACKETS {
            env.streams.busy[me].rows
        } else if env.rules.hold {
            self.serve_held(me, switch, busy, env)
        } else {
            0
        };
        self.allocate_switch(me, switch, vcs, rows, env);
        self.send(me, switch, env);
        if PACKETS {
            env.streams.again |= self.may_send(me, env);
        }
        // What won its VC but not the switch asks without speculation from the next cycle on.
        for &slot in &vcs.fresh {
            let flags = self.input(slot as usize).flags;
            if flags & GRANTED != 0 && flags & ACTIVE == 0 {
                self.activate(slot as usize);
            }
        }
    }
}
