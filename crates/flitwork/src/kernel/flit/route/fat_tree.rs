//! Fat trees: the route of each head is looked up without dispatch, and where packets compare up ports they decide for the least loaded
//! at the end of the routing stage, or when they first ask if there is none, and keep to it.

use crate::kernel::flit::router::{EJECTING, HEAD, SlotSet, UNDECIDED, WAITING};
use crate::kernel::flit::{Env, Router, VcMask};
use crate::mix::{draw_below, packet_bits};
use crate::plan::Plan;
use crate::routing::{Head, TreeStep, TreeSteps, Trip, draw};
use crate::topology::End;

/// The routing of a tree at work.
#[derive(Debug)]
pub(crate) struct InTree {
    steps: TreeSteps,
    /// The first router of this part of the network.
    first: usize,
    seed: u64,
}

impl InTree {
    /// Of a plan, if its routing is one of trees, from router `first` on.
    pub fn of(plan: &Plan, first: usize) -> Option<Box<Self>> {
        let steps = plan.routing.hop_by_hop()?.tree_steps()?.clone();
        Some(Box::new(InTree { steps, first, seed: plan.spec.run.seed }))
    }

    /// How a packet starts.
    #[inline(always)]
    pub fn start(&self, src: End, dst: End) -> Head {
        Head { to: dst.router, label: self.steps.label(src.terminal, dst.terminal), trip: Trip::default() }
    }

    /// Whether packets compare ports.
    pub fn compares(&self) -> bool {
        self.steps.compares().is_some()
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// The port that the packet that came to the front of an input VC asks for, with its flags.
    #[inline(always)]
    pub(super) fn step_in_tree(&mut self, me: usize, slot: usize, env: &mut Env) -> (u8, u8) {
        let Env { in_tree: Some(tree), pool, .. } = env else { return (0, HEAD) };
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

    /// Packets that compare ports decide for one, if this is the cycle in which they do.
    #[inline(always)]
    pub(crate) fn decide_due(&mut self, me: usize, env: &mut Env) {
        if env.rules.decides_routing {
            if !self.routed.is_empty() {
                self.decide_routed(me, env);
            }
        } else if !self.waiting.is_empty() {
            self.decide_waiting(me, env);
        }
    }

    /// The front packet of an input VC is routed until it asks in cycle `asks_from`, and decides for a port in the last cycle of that stage.
    #[inline(never)]
    pub(super) fn decide_in_stage(&mut self, me: usize, slot: usize, flags: u8, asks_from: u64, env: &mut Env) {
        self.input(slot).flags = flags;
        let decides = asks_from - 1;
        if decides == env.now {
            self.routed.insert(slot);
            env.activate(me);
        } else {
            env.wheel.at(decides).wakes.push(self.number(me, slot) as u32);
        }
    }

    /// Packets at the end of the routing stage decide for a port; they ask from the next cycle on.
    #[inline(never)]
    fn decide_routed(&mut self, me: usize, env: &mut Env) {
        let mut least = 0u64;
        let routed = self.routed;
        if !env.rules.routes_in_one {
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
                self.decide(me, slot, &mut least, env);
                if env.rules.routes_in_one {
                    self.input(slot).flags |= WAITING;
                } else {
                    env.wheel.at(env.now + 1).wakes.push(self.number(me, slot) as u32);
                }
            }
            from = word + 1;
        }
    }

    /// Waiting packets that have yet to decide for a port do.
    #[inline(never)]
    fn decide_waiting(&mut self, me: usize, env: &mut Env) {
        // The ports with the fewest flits behind them, once a packet asks: no flit leaves meanwhile.
        let (mut least, mut from) = (0u64, 0);
        while let Some((word, mut bits)) = self.waiting.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if self.input(slot).flags & UNDECIDED != 0 {
                    self.decide(me, slot, &mut least, env);
                }
            }
            from = word + 1;
        }
        if PACKETS {
            self.renew_wanted_ports();
        }
    }

    /// The front packet of an input VC decides for the least loaded of so many up ports, drawn at random, or of all in cyclic order from
    /// one that is drawn. Of equals the first. `least`: see [`Router::least_loaded`]; nothing where that is not known.
    #[inline(always)]
    fn decide(&mut self, me: usize, slot: usize, least: &mut u64, env: &mut Env) {
        let Some(tree) = &env.in_tree else { return };
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
        if PACKETS {
            env.note_change(me, 1 << port);
        }
    }

    /// Of the first `ports` ports those with the fewest flits behind them, as bits.
    #[inline(always)]
    fn least_loaded(&self, me: usize, ports: u32, env: &Env) -> u64 {
        let (mut fewest, mut least) = (u32::MAX, 0u64);
        // Which has fewer nobody can guess: no branch.
        let mut compare = |port: usize, behind: u32| {
            least = if behind < fewest { 0 } else { least };
            fewest = fewest.min(behind);
            least |= u64::from(behind == fewest) << port;
        };
        let ports = 0..(ports as usize).min(PORTS);
        if PACKETS || env.pools.is_some() {
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
        if let Some(pools) = &env.pools {
            return self.flits_behind_pool(me, port, pools, env.p.vcs);
        }
        if !PACKETS {
            let port = self.port_at(port);
            return (port.flits as u32).wrapping_sub(port.returned);
        }
        // Those of their flits that are yet to leave have been taken off already.
        let credits = |v: usize| u32::from(self.credits_now(me, Self::slot(port, v), env));
        let taken = env.p.vcs as u32 * env.p.buffer_flits - (0..env.p.vcs).map(credits).sum::<u32>();
        taken - env.streams.unsent_flits(self.port_number(me, port), env.now)
    }
}
