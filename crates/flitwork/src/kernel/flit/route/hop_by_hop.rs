//! Routing hop by hop: the candidate output ports of the packet at the front of each buffer, and which of them it
//! requests now.
//!
//! The routing function answers once, when a packet comes to the front. Its candidates are stored here, beside the
//! routers, because dimension order does not need them. In each cycle in which the packet waits, its candidate ports
//! are searched for free virtual channels, and one is picked.
//!
//! In a full network most packets find nothing, cycle after cycle. One that has found nothing is *blocked*: it is
//! skipped until one of its ports changes, which is when a VC of that port becomes free, or a credit that may make a
//! free one usable comes.

use crate::kernel::flit::env::{PortLayout, RouteState};
use crate::kernel::flit::route::CongestionBoard;
use crate::kernel::flit::router::{EJECTING, Memory};
use crate::kernel::flit::vc_allocation::VcRequest;
use crate::kernel::flit::{Env, Router, VcMask};
use crate::measure::Origin;
use crate::mix::{draw_below, mix, packet_bits};
use crate::plan::Plan;
use crate::routing::{At, Choice, Head, HopByHop, OnGrid, Selection, Trip};
use crate::transit::{Layout, NONE, Packet};
use crate::unchecked::at;
use std::ops::Range;
use std::sync::Arc;

/// The candidates of the front packet of an input VC.
#[derive(Debug, Clone, Copy, Default)]
struct Candidates {
    choice: Choice,
    /// The port that it prefers by congestion information; [`UNDECIDED`] before its first request.
    preferred: u8,
    /// It has found nothing at any of its ports.
    blocked: bool,
    /// First cycle in which it may request a VC, lowest 32 bits.
    since: u32,
}

const UNDECIDED: u8 = u8::MAX;

/// The routing at work.
#[derive(Debug)]
pub(crate) struct HopByHopRoutes {
    routing: Arc<dyn HopByHop>,
    /// The first router of this part of the network.
    first: u32,
    /// The routing without dispatch, if it is a scheme of a grid.
    on_grid: Option<OnGrid>,
    selection: Selection,
    patience_cycles: u32,
    /// A packet has one candidate port, with all its VCs: `candidates` is empty.
    pub single_port: bool,
    /// First VC of each set, and the one behind its last.
    sets: Vec<(usize, usize)>,
    set_of_vc: Vec<u8>,
    /// By VC.
    candidates: Vec<Candidates>,
    /// Port that each router looks at first, under round robin.
    turns: Vec<u8>,
    congestion: Option<CongestionBoard>,
    seed: u64,
}

impl HopByHopRoutes {
    /// For routers `router_range` of a plan; `None` unless its routing decides hop by hop.
    pub fn new(plan: &Plan, layout: Layout, router_range: &Range<usize>) -> Option<Box<Self>> {
        let (routing, p, fabric) = (plan.routing.hop_by_hop()?, &plan.params, &plan.fabric);
        let sets = routing.division().sets(p.vcs as u32);
        // The last one: a VC of two sets counts as one of the second (`Division::Overlapping`).
        let set_of = |v: u32| sets.iter().rposition(|s| s.contains(&v)).unwrap_or(0) as u8;
        let single_port = routing.requests_one_port();
        Some(Box::new(HopByHopRoutes {
            single_port,
            selection: routing.selection(),
            patience_cycles: routing.patience_cycles(),
            set_of_vc: (0..p.vcs as u32).map(set_of).collect(),
            sets: sets.into_iter().map(|s| (s.start as usize, s.end as usize)).collect(),
            candidates: vec![Candidates::default(); if single_port { 0 } else { router_range.len() * layout.slots }],
            turns: vec![0; router_range.len()],
            first: router_range.start as u32,
            congestion: routing
                .congestion_spread()
                .zip(fabric.grid())
                .map(|(spread, grid)| CongestionBoard::new(grid, p, spread, layout)),
            seed: plan.spec.run.seed,
            on_grid: routing.on_grid().cloned(),
            routing: Arc::clone(routing),
        }))
    }

    /// Whether a packet requests several ports at once.
    pub fn requests_all_ports(&self) -> bool {
        self.selection == Selection::All
    }

    /// The next step of a packet at the front of a buffer of router `me`; `None` at its destination.
    /// `router_of` tells the router of each terminal.
    fn route(
        &mut self,
        me: usize,
        entered: Option<(u8, usize)>,
        (packet, origin): (&mut Packet, &Origin),
        router_of: &[u32],
    ) -> Option<Choice> {
        let dst = *at(router_of, packet.dst as usize);
        let mut head = packet.head();
        let bits = || packet_bits(self.seed, origin.src, origin.sequence);
        let set = entered.map(|(_, vc)| self.set_of_vc[vc]);
        let place = At { router: self.first + me as u32, port: entered.map(|(port, _)| port), set };
        let choice = match &self.on_grid {
            Some(routing) => routing.next_choice(&place, dst, &mut head, &bits),
            None => self.routing.next(&place, dst, &mut head, &bits),
        };
        packet.set_head(head);
        choice
    }

    /// The next step of a packet whose header does not change on its route; `None` at its destination.
    #[inline(always)]
    fn route_unchanged(
        &self,
        me: usize,
        entered: Option<(u8, usize)>,
        (packet, origin): (&Packet, &Origin),
        dst: u32,
    ) -> Option<Choice> {
        let (to, label) = packet.walks_to();
        let mut head = Head { to, label, trip: Trip::default() };
        let place = At { router: self.first + me as u32, port: entered.map(|(port, _)| port), set: entered.map(|_| 0) };
        self.routing.next(&place, dst, &mut head, &|| packet_bits(self.seed, origin.src, origin.sequence))
    }

    /// The ports and sets that the front packet of a VC may request.
    pub fn candidates(&self, vc: usize) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
        // Where queues were compared it waits for one port alone.
        let choice = self.candidates[vc].choice;
        let sets = move |port: usize, set: u8| (port, self.sets[set as usize].0..self.sets[set as usize].1);
        bits(choice.ports | u64::from(choice.sideways))
            .map(move |port| sets(port, choice.set_of(port)))
            .chain(choice.escape.map(|(port, set)| sets(port as usize, set)))
    }

    /// Whether the front packet of VC `vc` would find as little as the last time; since then these ports of its router
    /// have changed.
    #[inline(always)]
    pub fn blocked(&self, vc: usize, changed_ports: u64) -> bool {
        let candidates = at(&self.candidates, vc);
        if !candidates.blocked {
            return false;
        }
        let Choice { ports, sideways, escape, .. } = candidates.choice;
        let wanted = ports | u64::from(sideways) | escape.map_or(0, |(port, _)| 1 << port);
        wanted & changed_ports == 0
    }

    /// Congestion information, where the routing uses it.
    pub fn congestion(&mut self) -> Option<&mut CongestionBoard> {
        self.congestion.as_mut()
    }

    /// Congestion information, read only.
    #[cfg(feature = "audit")]
    pub fn congestion_ref(&self) -> Option<&CongestionBoard> {
        self.congestion.as_ref()
    }
}

/// The numbers of the bits that are set.
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(bit)
    })
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Routes the packet that entered to the front of an input VC: the first port that it may request, from cycle
    /// `since` on; `None` at its destination.
    pub(super) fn route_to_candidates(&mut self, me: usize, slot: usize, since: u64, env: &mut Env) -> Option<u8> {
        let network_ports = env.network_ports(me);
        let Env { route: RouteState { hop_by_hop, .. }, pool, layout: PortLayout { router_of, .. }, .. } = env;
        let hop_by_hop = hop_by_hop.as_mut()?;
        let (in_port, vc) = Self::port_and_vc(slot);
        let entered = (in_port < network_ports).then_some((in_port as u8, vc));
        let choice = hop_by_hop.route(me, entered, pool.with_origin(self.input(slot).front), router_of)?;
        hop_by_hop.candidates[self.number(me, slot)] =
            Candidates { choice, preferred: UNDECIDED, blocked: false, since: since as u32 };
        let first = choice.escape.map_or(0, |(port, _)| port);
        Some(if choice.ports == 0 { first } else { choice.ports.trailing_zeros() as u8 })
    }

    /// Routes the packet that entered to the front of an input VC, where it has one candidate port only; `None` at its
    /// destination.
    pub(super) fn route_to_single_port(&mut self, me: usize, slot: usize, env: &mut Env) -> Option<u8> {
        let network_ports = env.network_ports(me);
        let Env { route: RouteState { hop_by_hop, .. }, pool, layout: PortLayout { router_of, .. }, .. } = env;
        let (in_port, vc) = Self::port_and_vc(slot);
        let entered = (in_port < network_ports).then_some((in_port as u8, vc));
        let (packet, origin) = pool.with_origin(self.input(slot).front);
        let dst = *at(router_of, packet.dst as usize);
        let choice = hop_by_hop.as_ref()?.route_unchanged(me, entered, (packet, origin), dst)?;
        packet.hops += 1;
        Some(choice.escape.map_or_else(|| choice.ports.trailing_zeros() as u8, |(port, _)| port))
    }

    /// Adds the requests that a waiting packet makes now to `vc_requests`; whether there are any.
    pub(crate) fn request_candidates(
        &mut self,
        me: usize,
        slot: usize,
        vc_requests: &mut Vec<VcRequest<M>>,
        env: &mut Env,
    ) -> bool {
        let Some(mut hop_by_hop) = env.route.hop_by_hop.take() else { return false };
        let before = vc_requests.len();
        if hop_by_hop.requests_all_ports() {
            self.request_all_ports(me, slot, &hop_by_hop, vc_requests, env);
        } else if let Some((port, usable)) = self.select_candidate(me, slot, &mut hop_by_hop, env) {
            self.input(slot).port = port as u8;
            vc_requests.push(VcRequest { slot: slot as u16, port: port as u8, preference: 0, usable });
        }
        let found = vc_requests.len() > before;
        let detours_later = self.may_detour_later(me, slot, &hop_by_hop, env);
        hop_by_hop.candidates[self.number(me, slot)].blocked = !found && !detours_later;
        Self::note_later_request(detours_later, env);
        env.route.hop_by_hop = Some(hop_by_hop);
        found
    }

    fn request_all_ports(
        &mut self,
        me: usize,
        slot: usize,
        hop_by_hop: &HopByHopRoutes,
        vc_requests: &mut Vec<VcRequest<M>>,
        env: &Env,
    ) {
        let choice = hop_by_hop.candidates[self.number(me, slot)].choice;
        let adaptive = bits(choice.ports).map(|port| (port, choice.minimal_set_of(port), 0));
        for (port, set, preference) in adaptive.chain(choice.escape.map(|(port, set)| (port as usize, set, 1))) {
            let usable = self.usable_of_set(me, slot, port, hop_by_hop.sets[set as usize], env);
            if !usable.is_empty() {
                vc_requests.push(VcRequest { slot: slot as u16, port: port as u8, preference, usable });
            }
        }
    }

    /// The one port that a packet requests, with the VCs that it may use: a minimal one, else the escape channel, else
    /// a detour.
    fn select_candidate(
        &mut self,
        me: usize,
        slot: usize,
        hop_by_hop: &mut HopByHopRoutes,
        env: &Env,
    ) -> Option<(usize, M)> {
        let candidates = *at(&hop_by_hop.candidates, self.number(me, slot));
        let choice = candidates.choice;
        if let Some((other, _)) = choice.nonminimal {
            let port = self.shorter_queue(me, slot, other as usize, hop_by_hop, env);
            let set = at(&hop_by_hop.candidates, self.number(me, slot)).choice.set_of(port);
            let set = hop_by_hop.sets[set as usize];
            let usable = self.usable_of_set(me, slot, port, set, env);
            return (!usable.is_empty()).then_some((port, usable));
        }
        if let Some(offer) = self.select_port(me, slot, choice.ports, hop_by_hop, env) {
            return Some(offer);
        }
        if let Some((port, set)) = choice.escape {
            let usable = self.usable_of_set(me, slot, port as usize, hop_by_hop.sets[set as usize], env);
            if !usable.is_empty() {
                return Some((port as usize, usable));
            }
        }
        if choice.sideways == 0 || self.may_detour_later(me, slot, hop_by_hop, env) {
            return None;
        }
        self.select_port(me, slot, u64::from(choice.sideways), hop_by_hop, env)
    }

    /// Whether a packet may make a detour, but does not request it yet.
    fn may_detour_later(&self, me: usize, slot: usize, hop_by_hop: &HopByHopRoutes, env: &Env) -> bool {
        let candidates = at(&hop_by_hop.candidates, self.number(me, slot));
        let waited = (env.now as u32).wrapping_sub(candidates.since);
        candidates.choice.sideways != 0 && waited < hop_by_hop.patience_cycles
    }

    /// One of `ports` with a VC to give.
    #[inline(always)]
    fn select_port(
        &mut self,
        me: usize,
        slot: usize,
        ports: u64,
        hop_by_hop: &mut HopByHopRoutes,
        env: &Env,
    ) -> Option<(usize, M)> {
        if ports & ports.wrapping_sub(1) != 0 {
            return self.select_of_several(me, slot, ports, hop_by_hop, env);
        }
        if ports == 0 {
            return None;
        }
        let port = ports.trailing_zeros() as usize;
        let usable = self.usable_at(me, slot, port, hop_by_hop, env);
        (!usable.is_empty()).then_some((port, usable))
    }

    /// One of several `ports` with a VC to give, by the selection function.
    fn select_of_several(
        &mut self,
        me: usize,
        slot: usize,
        ports: u64,
        hop_by_hop: &mut HopByHopRoutes,
        env: &Env,
    ) -> Option<(usize, M)> {
        if hop_by_hop.congestion.is_some() {
            let port = self.preferred_port(me, slot, hop_by_hop, env);
            let usable = self.usable_at(me, slot, port, hop_by_hop, env);
            if !usable.is_empty() {
                return Some((port, usable));
            }
        }
        if matches!(hop_by_hop.selection, Selection::MostCredits | Selection::All) {
            return self.most_credits(me, slot, ports, hop_by_hop, env);
        }
        let open = bits(ports).filter(|&port| !self.usable_at(me, slot, port, hop_by_hop, env).is_empty());
        let open = open.fold(0u64, |open, port| open | 1 << port);
        if open == 0 {
            return None;
        }
        let port = if open.is_power_of_two() {
            open.trailing_zeros() as usize
        } else if hop_by_hop.selection == Selection::Random {
            // By the model's number of the VC, which does not depend on the compiled size.
            let (in_port, vc) = Self::port_and_vc(slot);
            let number = ((hop_by_hop.first as usize + me) * env.p.ports + in_port) * env.p.vcs + vc;
            let random = mix(mix(hop_by_hop.seed ^ env.now) ^ number as u64);
            let n = draw_below(random, u64::from(open.count_ones()));
            bits(open).nth(n as usize)?
        } else {
            let turn = &mut hop_by_hop.turns[me];
            let later = open & (!0u64).checked_shl(u32::from(*turn)).unwrap_or(0);
            let next = (if later == 0 { open } else { later }).trailing_zeros() as u8;
            *turn = next + 1;
            next as usize
        };
        Some((port, self.usable_at(me, slot, port, hop_by_hop, env)))
    }

    /// Of `ports`, the one that has the VC with the most credits, the lowest of equals.
    fn most_credits(
        &mut self,
        me: usize,
        slot: usize,
        ports: u64,
        hop_by_hop: &HopByHopRoutes,
        env: &Env,
    ) -> Option<(usize, M)> {
        let mut best = None;
        let mut most = 0;
        for port in bits(ports) {
            let usable = self.usable_at(me, slot, port, hop_by_hop, env);
            let mut credits = 0;
            usable.for_each(|v| credits = credits.max(self.credits_now(me, Self::slot(port, v), env)));
            if !usable.is_empty() && (best.is_none() || credits > most) {
                (best, most) = (Some((port, usable)), credits);
            }
        }
        best
    }

    /// Of a minimal port and another one, that with the shorter queue, each times the channels of the route by it: what
    /// a packet decides once, at its first request.
    fn shorter_queue(
        &mut self,
        me: usize,
        slot: usize,
        other: usize,
        hop_by_hop: &mut HopByHopRoutes,
        env: &Env,
    ) -> usize {
        let number = self.number(me, slot);
        let candidates = *at(&hop_by_hop.candidates, number);
        if candidates.preferred == UNDECIDED {
            let minimal = candidates.choice.decided(false).ports.trailing_zeros() as usize;
            let head = env.pool[self.input(slot).front].head();
            let here = hop_by_hop.first + me as u32;
            let channels = hop_by_hop.routing.lengths(here, &head);
            let queues = match &env.route.queue_board {
                Some(board) => hop_by_hop.routing.watched(here, &head).map(|channel| board.queue(channel)),
                None => self.queues(me, [minimal, other], hop_by_hop, env),
            };
            let [weight, other_weight] = [0, 1].map(|i| u64::from(channels[i]) * u64::from(queues[i]));
            let takes_other = weight > other_weight + u64::from(hop_by_hop.routing.bias_flits().unwrap_or(0));
            let port = if takes_other { other } else { minimal };
            let candidates = &mut hop_by_hop.candidates[number];
            (candidates.preferred, candidates.choice) = (port as u8, candidates.choice.decided(takes_other));
            self.input(slot).port = port as u8;
        }
        hop_by_hop.candidates[number].preferred as usize
    }

    /// The queues of two network ports \[flits]: what was sent and has no credit back, and what packets have yet to
    /// send.
    fn queues(&self, me: usize, ports: [usize; 2], hop_by_hop: &HopByHopRoutes, env: &Env) -> [u32; 2] {
        let mut queues = ports.map(|port| self.flits_behind(me, port, env));
        for (port, flits) in self.yet_to_send(me, hop_by_hop, env) {
            if let Some(i) = ports.iter().position(|&compared| compared == port) {
                queues[i] += flits;
            }
        }
        queues
    }

    /// What the packets that asked for a network port in an earlier cycle have yet to send: port, and flits. Those that
    /// ask in this cycle are left out, so that the order in which they are looked at makes no difference.
    pub(super) fn yet_to_send(
        &self,
        me: usize,
        hop_by_hop: &HopByHopRoutes,
        env: &Env,
    ) -> impl Iterator<Item = (usize, u32)> {
        self.memory.inputs().filter_map(move |(slot, input)| {
            let waits = input.front != NONE && input.flags & EJECTING == 0;
            let asked_before = || {
                let since = at(&hop_by_hop.candidates, self.number(me, slot)).since;
                (env.now as u32).wrapping_sub(since) as i32 > 0
            };
            (waits && asked_before()).then(|| (usize::from(input.port), u32::from(input.left)))
        })
    }

    /// The free VCs of a candidate port that a packet may use now.
    #[inline(always)]
    fn usable_at(&mut self, me: usize, slot: usize, port: usize, hop_by_hop: &HopByHopRoutes, env: &Env) -> M {
        let set = at(&hop_by_hop.candidates, self.number(me, slot)).choice.minimal_set_of(port);
        self.usable_of_set(me, slot, port, hop_by_hop.sets[set as usize], env)
    }

    /// The port that a packet prefers by what its router knew at its first request.
    fn preferred_port(&mut self, me: usize, slot: usize, hop_by_hop: &mut HopByHopRoutes, env: &Env) -> usize {
        let HopByHopRoutes { candidates, congestion, .. } = hop_by_hop;
        let candidates = &mut candidates[self.number(me, slot)];
        if candidates.preferred == UNDECIDED {
            let to = env.pool[self.input(slot).front].walks_to().0 as usize;
            if let Some(congestion) = congestion {
                candidates.preferred = congestion.best_port(me, to, candidates.choice.ports, env.now) as u8;
            }
        }
        candidates.preferred as usize
    }

    /// The free VCs of a set of `port` that a packet may use now.
    #[inline]
    fn usable_of_set(&mut self, me: usize, slot: usize, port: usize, set: (usize, usize), env: &Env) -> M {
        let mut usable = self.port(port).free.at_least(set.0).below(set.1);
        self.keep_private(me, slot, &mut usable, env);
        if env.rules.vcs.by_credits && !usable.is_empty() {
            let flits = env.pool[self.input(slot).front].flits;
            self.keep_credited(me, port, flits, &mut usable, env);
        }
        usable
    }

    /// A packet was given a VC of `port`: updates hops, crossings and misroutes in its header.
    pub(crate) fn record_hop(&mut self, me: usize, slot: usize, port: usize, env: &mut Env) {
        let Env { route: RouteState { hop_by_hop: Some(hop_by_hop), .. }, pool, .. } = env else { return };
        let number = self.number(me, slot);
        let vc = self.input(slot);
        if hop_by_hop.single_port || vc.flags & EJECTING != 0 {
            return;
        }
        let choice = hop_by_hop.candidates[number].choice;
        let packet = &mut pool[vc.front];
        packet.hops += 1;
        if choice.ports >> port & 1 == 1 {
            packet.crossed += choice.counted(port);
        } else if u64::from(choice.sideways) >> port & 1 == 1 {
            packet.misroutes -= 1;
        }
    }
}
