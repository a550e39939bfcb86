//! Routes in fat trees. The route of each head is looked up without dispatch. Where packets compare up ports, a packet
//! selects the least loaded one at the end of its routing stage, or at its first VC request if there is no such stage,
//! and keeps it.

use crate::kernel::flit::env::RouteState;
use crate::kernel::flit::router::{EJECTING, HEAD, SlotSet, UNDECIDED, WAITING};
use crate::kernel::flit::rules::RouteMode;
use crate::kernel::flit::{Env, Router, VcMask};
use crate::mix::{draw_below, packet_bits};
use crate::plan::Plan;
use crate::routing::{Head, TreeStep, TreeSteps, Trip, draw};
use crate::topology::End;

/// The routing of a tree at work.
#[derive(Debug)]
pub(crate) struct FatTreeRoutes {
    steps: TreeSteps,
    /// The first router of this part of the network.
    first: usize,
    seed: u64,
}

impl FatTreeRoutes {
    /// For a plan, if its routing is one of trees, from router `first` on.
    pub fn of(plan: &Plan, first: usize) -> Option<Box<Self>> {
        let steps = plan.routing.hop_by_hop()?.tree_steps()?.clone();
        Some(Box::new(FatTreeRoutes { steps, first, seed: plan.spec.run.seed }))
    }

    /// How a packet starts.
    #[inline(always)]
    pub fn start(&self, src: End, dst: End) -> Head {
        Head { to: dst.router, label: self.steps.label(src.terminal, dst.terminal), trip: Trip::default() }
    }

    /// Whether packets compare ports.
    pub fn compares_load(&self) -> bool {
        self.steps.compares().is_some()
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// The port that the packet that came to the front of an input VC requests, with its flags.
    #[inline(always)]
    pub(super) fn next_in_fat_tree(&mut self, me: usize, slot: usize, env: &mut Env) -> (u8, u8) {
        let Env { route: RouteState { fat_tree: Some(tree), .. }, pool, .. } = env else { return (0, HEAD) };
        let front = self.input(slot).front;
        let (packet, origin) = pool.with_origin(front);
        let (to, label) = packet.walks_to();
        let bits = || packet_bits(tree.seed, origin.src, origin.sequence);
        let step = tree.steps.next(tree.first + me, to, label, bits);
        let (port, flags) = match step {
            TreeStep::Here => return (env.ejection_port(me, front), HEAD | EJECTING),
            TreeStep::Port(port) => (port, HEAD),
            TreeStep::Up => (0, HEAD | UNDECIDED),
        };
        packet.hops += 1;
        (port, flags)
    }

    /// Packets that compare up ports select one, if this is the cycle in which they do.
    #[inline(always)]
    pub(crate) fn select_up_ports(&mut self, me: usize, env: &mut Env) {
        if env.rules.route == RouteMode::FatTreeInStage {
            if !self.routed.is_empty() {
                self.select_up_ports_of_routed(me, env);
            }
        } else if !self.waiting.is_empty() {
            self.select_up_ports_of_waiting(me, env);
        }
    }

    /// The front packet of an input VC is in the routing stage until cycle `requests_from`, when it requests a VC; it
    /// selects a port in the last cycle of that stage.
    #[inline(never)]
    pub(super) fn schedule_selection(&mut self, me: usize, slot: usize, flags: u8, requests_from: u64, env: &mut Env) {
        self.input(slot).flags = flags;
        let selects_up_port = requests_from - 1;
        if selects_up_port == env.now {
            self.routed.insert(slot);
            env.activate(me);
        } else {
            env.transit.wheel.at(selects_up_port).wakes.push(self.number(me, slot) as u32);
        }
    }

    /// Packets at the end of the routing stage select a port; they request VCs from the next cycle on.
    #[inline(never)]
    fn select_up_ports_of_routed(&mut self, me: usize, env: &mut Env) {
        let mut least = 0u64;
        let routed = self.routed;
        if !env.rules.stages.routing_in_router {
            self.routed = SlotSet::EMPTY;
        }
        let mut from = 0;
        while let Some((word, mut bits)) = routed.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if self.input(slot).flags & UNDECIDED == 0 {
                    continue;
                }
                self.select_up_port(me, slot, &mut least, env);
                if env.rules.stages.routing_in_router {
                    self.input(slot).flags |= WAITING;
                } else {
                    env.transit.wheel.at(env.now + 1).wakes.push(self.number(me, slot) as u32);
                }
            }
            from = word + 1;
        }
    }

    /// Waiting packets that have not selected a port yet do so now.
    #[inline(never)]
    fn select_up_ports_of_waiting(&mut self, me: usize, env: &mut Env) {
        // The ports with the fewest flits behind them, found for the first packet that needs them: no flit leaves
        // meanwhile.
        let (mut least, mut from) = (0u64, 0);
        while let Some((word, mut bits)) = self.waiting.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if self.input(slot).flags & UNDECIDED != 0 {
                    self.select_up_port(me, slot, &mut least, env);
                }
            }
            from = word + 1;
        }
        self.renew_requests();
    }

    /// The front packet of an input VC selects the least loaded of some up ports, drawn at random, or of all in cyclic
    /// order from one that is drawn. Of equals the first. `least`: see [`Router::least_loaded`]; nothing where that is
    /// not known.
    #[inline(always)]
    fn select_up_port(&mut self, me: usize, slot: usize, least: &mut u64, env: &mut Env) {
        let Some(tree) = &env.route.fat_tree else { return };
        let parents = tree.steps.parents(tree.first + me);
        let origin = env.pool.origin(self.input(slot).front);
        let bits = packet_bits(tree.seed, origin.src, origin.sequence);
        let drawn = |i: u32| draw_below(draw(bits, (tree.first + me) as u32, i), u64::from(parents)) as u32;
        let port = match tree.steps.compares() {
            Some(candidates) if candidates > 0 => {
                // The first of equals is the minimum.
                let port = (0..candidates).map(drawn).min_by_key(|&port| self.flits_behind(me, port as usize, env));
                port.unwrap_or_default()
            }
            _ => {
                if *least == 0 {
                    *least = self.least_loaded(me, parents, env);
                }
                least.first_from(drawn(0) as usize) as u32
            }
        };
        let vc = self.input(slot);
        vc.port = port as u8;
        vc.flags &= !UNDECIDED;
        Self::note_selected_port(me, port, env);
    }

    /// Of the first `ports` ports those with the fewest flits behind them, as bits.
    #[inline(always)]
    fn least_loaded(&self, me: usize, ports: u32, env: &Env) -> u64 {
        let (mut fewest, mut least) = (u32::MAX, 0u64);
        // Unpredictable, so computed without a branch.
        let mut compare = |port: usize, behind: u32| {
            least = if behind < fewest { 0 } else { least };
            fewest = fewest.min(behind);
            least |= u64::from(behind == fewest) << port;
        };
        let ports = 0..(ports as usize).min(PORTS);
        if !Self::COUNTS_RETURNED || env.allocation.shared_buffers.is_some() {
            ports.for_each(|port| compare(port, self.flits_behind(me, port, env)));
        } else {
            for port in ports {
                let of_port = self.port_at(port);
                compare(port, (of_port.flits as u32).wrapping_sub(of_port.returned));
            }
        }
        least
    }

    /// Flits that have left by a port and whose credits have not come back.
    #[inline(always)]
    pub(crate) fn flits_behind(&self, me: usize, port: usize, env: &Env) -> u32 {
        if let Some(buffers) = &env.allocation.shared_buffers {
            return self.flits_behind_shared(me, port, buffers, env.p.vcs);
        }
        self.flits_without_credit(me, port, env)
    }
}
