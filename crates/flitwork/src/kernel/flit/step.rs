//! One cycle of a router, as the textbook pipeline has it: VC allocation, switch allocation, switch traversal. Routing
//! precedes it: the route of a packet is found when it comes to the front of its buffer (`route/front.rs`).
//!
//! Four functions give the same result where they apply: iSLIP on bit masks, iSLIP for packets of one flit in a
//! pipeline, first come first served for whole packets, and the general one.

use crate::kernel::flit::router::{ACTIVE, GRANTED, SlotSet};
use crate::kernel::flit::switch::GeneralSwitch;
use crate::kernel::flit::vc_allocation::{GeneralVcAllocation, Scratch};
use crate::kernel::flit::{Env, Router, VcMask};
use crate::plan::Plan;

/// The allocators of the general path.
#[derive(Debug)]
pub(super) struct General<M> {
    pub vcs: GeneralVcAllocation<M>,
    pub switch: GeneralSwitch,
}

impl<M> General<M> {
    /// For a plan; `holds`: packets hold their path through the switch.
    pub fn new(plan: &Plan, holds: bool) -> Self {
        General { vcs: GeneralVcAllocation::new(plan), switch: GeneralSwitch::new(plan, holds) }
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// One cycle.
    #[inline(always)]
    pub(super) fn step_islip<const COMMON: bool>(&mut self, me: usize, scratch: &mut Scratch<M>, env: &mut Env) {
        if env.rules.route.selects_up_port() {
            self.select_up_ports(me, env);
        }
        if !self.waiting.is_empty() {
            if env.rare::<COMMON>(|rules| rules.ports.selects_any) {
                self.allocate_selected(me, scratch, env);
            } else if env.rules.stages.bypass {
                self.allocate_vcs_to_flits::<COMMON, true>(me, scratch, env);
            } else {
                self.allocate_vcs_to_flits::<COMMON, false>(me, scratch, env);
            }
        }
        if !self.ready.is_empty() {
            self.allocate_switch_islip::<COMMON>(me, env);
        }
        if env.rules.stages.any_in_router {
            self.end_stages(env);
        }
    }

    /// One cycle. `ALL_SINGLE_FLIT`: all packets have one flit.
    #[inline(always)]
    pub(super) fn step_single_flit<const ALL_SINGLE_FLIT: bool>(
        &mut self,
        me: usize,
        scratch: &mut Scratch<M>,
        env: &mut Env,
    ) {
        if env.rules.route.selects_up_port() {
            self.select_up_ports(me, env);
        }
        let conflict_free =
            if self.waiting.is_empty() { SlotSet::EMPTY } else { self.allocate_vcs_single_flit(me, scratch, env) };
        if !self.ready.is_empty() {
            self.allocate_switch_single_flit::<ALL_SINGLE_FLIT>(me, env);
        }
        self.conflict_free = if WORDS == 1 { conflict_free.first_word() } else { 0 };
        self.end_stages(env);
    }

    /// One cycle.
    pub(super) fn step_general(&mut self, me: usize, general: &mut General<M>, env: &mut Env) {
        let General { vcs, switch } = general;
        vcs.fresh.clear();
        vcs.speculative.clear();
        switch.sending.clear();
        if env.rules.route.selects_up_port() {
            self.select_up_ports(me, env);
        }
        if !self.waiting.is_empty() {
            self.allocate_vcs_general(me, vcs, env);
        }
        let rows = self.mark_busy_paths(me, switch, env);
        self.allocate_switch_general(me, switch, vcs, rows, env);
        self.send(me, switch, env);
        self.note_losers(me, env);
        // What won its VC but not the switch makes a certain request from the next cycle on.
        for &slot in &vcs.fresh {
            let flags = self.input(slot as usize).flags;
            if flags & GRANTED != 0 && flags & ACTIVE == 0 {
                self.activate(slot as usize);
            }
        }
    }
}
