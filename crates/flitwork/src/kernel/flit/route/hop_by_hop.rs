//! Routing hop by hop: what the packet at the front of each buffer may ask for, and what it asks for now.
//!
//! The scheme answers once, when a packet comes to the front; the answer is kept here, beside the routers, because plain
//! dimension order has no use for it. In each cycle in which the packet waits, the ports it may take are looked at for free virtual
//! channels, and one is picked.
//!
//! In a full network most packets find nothing, cycle after cycle. One that has found nothing is *blocked*: it is not looked at again
//! until one of its ports changes, which is when a VC of that port becomes free, or a credit that may make a free one usable comes.

use crate::kernel::flit::route::NewsBoard;
use crate::kernel::flit::router::EJECTING;
use crate::kernel::flit::vc_allocation::Ask;
use crate::kernel::flit::{Env, Router, VcMask};
use crate::measure::Origin;
use crate::mix::{draw_below, mix, packet_bits};
use crate::plan::Plan;
use crate::routing::{At, Choice, Head, HopByHop, OnGrid, Selection, Trip};
use crate::transit::{Layout, Packet};
use crate::unchecked::at;
use std::ops::Range;
use std::sync::Arc;

/// What is kept for the front packet of an input VC.
#[derive(Debug, Clone, Copy, Default)]
struct Kept {
    choice: Choice,
    /// The port that it prefers, by the news; [`UNDECIDED`] before it asks for the first time.
    preferred: u8,
    /// It has found nothing at any of its ports.
    blocked: bool,
    /// First cycle in which it may ask, lowest 32 bits.
    since: u32,
}

const UNDECIDED: u8 = u8::MAX;

/// The routing at work.
#[derive(Debug)]
pub(crate) struct Choices {
    routing: Arc<dyn HopByHop>,
    /// The first router of this part of the network.
    first: u32,
    /// The same without dispatch, if it is a scheme of a grid.
    on_grid: Option<OnGrid>,
    selection: Selection,
    patience_cycles: u32,
    /// A packet asks for one port each time, with all VCs: nothing is kept.
    pub one_port: bool,
    /// First VC of each set, and the one behind its last.
    sets: Vec<(usize, usize)>,
    set_of_vc: Vec<u8>,
    /// By VC.
    kept: Vec<Kept>,
    /// Port that each router looks at first, under round robin.
    turns: Vec<u8>,
    news: Option<NewsBoard>,
    seed: u64,
}

impl Choices {
    /// For routers `own` of a plan whose routing decides hop by hop.
    pub fn new(plan: &Plan, layout: Layout, own: &Range<usize>) -> Option<Box<Self>> {
        let (routing, p, fabric) = (plan.routing.hop_by_hop()?, &plan.params, &plan.fabric);
        let sets = routing.division().sets(p.vcs as u32);
        // The last one: a VC of two sets counts as one of the second (`Division::Overlapping`).
        let set_of = |v: u32| sets.iter().rposition(|s| s.contains(&v)).unwrap_or(0) as u8;
        let one_port = routing.asks_for_one_port();
        Some(Box::new(Choices {
            one_port,
            selection: routing.selection(),
            patience_cycles: routing.patience_cycles(),
            set_of_vc: (0..p.vcs as u32).map(set_of).collect(),
            sets: sets.into_iter().map(|s| (s.start as usize, s.end as usize)).collect(),
            kept: vec![Kept::default(); if one_port { 0 } else { own.len() * layout.slots }],
            turns: vec![0; own.len()],
            first: own.start as u32,
            news: routing.news().zip(fabric.grid()).map(|(news, grid)| NewsBoard::new(grid, p, news, layout)),
            seed: plan.spec.run.seed,
            on_grid: routing.on_grid().cloned(),
            routing: Arc::clone(routing),
        }))
    }

    /// Whether a packet asks for several ports at once.
    pub fn asks_for_all(&self) -> bool {
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

    /// The same where nothing that a packet carries changes on its route.
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

    /// The ports and sets that the front packet of a VC may ask for.
    pub fn candidates(&self, vc: usize) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
        let choice = self.kept[vc].choice;
        let sets = move |port: usize, set: u8| (port, self.sets[set as usize].0..self.sets[set as usize].1);
        bits(choice.ports | u64::from(choice.sideways))
            .map(move |port| sets(port, choice.set_of(port)))
            .chain(choice.escape.map(|(port, set)| sets(port as usize, set)))
    }

    /// Whether the front packet of VC `vc` would find as little as the last time; since then these ports of its router have changed.
    #[inline(always)]
    pub fn blocked(&self, vc: usize, changed_ports: u64) -> bool {
        let kept = at(&self.kept, vc);
        if !kept.blocked {
            return false;
        }
        let Choice { ports, sideways, escape, .. } = kept.choice;
        let wanted = ports | u64::from(sideways) | escape.map_or(0, |(port, _)| 1 << port);
        wanted & changed_ports == 0
    }

    /// What routers tell each other, where they do.
    pub fn news(&mut self) -> Option<&mut NewsBoard> {
        self.news.as_mut()
    }

    /// The same, to look at.
    #[cfg(feature = "audit")]
    pub fn news_seen(&self) -> Option<&NewsBoard> {
        self.news.as_ref()
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
    /// Routes the packet that entered to the front of an input VC: the first port that it may ask for, from cycle `since` on; `None`
    /// at its destination.
    pub(super) fn route_by_choice(&mut self, me: usize, slot: usize, since: u64, env: &mut Env) -> Option<u8> {
        let network_ports = env.network_ports(me);
        let Env { choices, pool, router_of, .. } = env;
        let choices = choices.as_mut()?;
        let (in_port, vc) = Self::port_and_vc(slot);
        let entered = (in_port < network_ports).then_some((in_port as u8, vc));
        let choice = choices.route(me, entered, pool.with_origin(self.input(slot).front), router_of)?;
        choices.kept[self.number(me, slot)] =
            Kept { choice, preferred: UNDECIDED, blocked: false, since: since as u32 };
        let first = choice.escape.map_or(0, |(port, _)| port);
        Some(if choice.ports == 0 { first } else { choice.ports.trailing_zeros() as u8 })
    }

    /// The same where a packet asks for that port and no other: nothing more is to be known.
    pub(super) fn route_to_one_port(&mut self, me: usize, slot: usize, env: &mut Env) -> Option<u8> {
        let network_ports = env.network_ports(me);
        let Env { choices, pool, router_of, .. } = env;
        let (in_port, vc) = Self::port_and_vc(slot);
        let entered = (in_port < network_ports).then_some((in_port as u8, vc));
        let (packet, origin) = pool.with_origin(self.input(slot).front);
        let dst = *at(router_of, packet.dst as usize);
        let choice = choices.as_ref()?.route_unchanged(me, entered, (packet, origin), dst)?;
        packet.hops += 1;
        Some(choice.escape.map_or_else(|| choice.ports.trailing_zeros() as u8, |(port, _)| port))
    }

    /// What a waiting packet asks for now, added to `asks`; whether there is anything.
    pub(crate) fn ask_by_choice(&mut self, me: usize, slot: usize, asks: &mut Vec<Ask<M>>, env: &mut Env) -> bool {
        let Some(mut choices) = env.choices.take() else { return false };
        let before = asks.len();
        if choices.asks_for_all() {
            self.ask_for_all(me, slot, &choices, asks, env);
        } else if let Some((port, usable)) = self.best_offer(me, slot, &mut choices, env) {
            self.input(slot).port = port as u8;
            asks.push(Ask { slot: slot as u16, port: port as u8, preference: 0, usable });
        }
        let found = asks.len() > before;
        let detours_later = self.may_detour_later(me, slot, &choices, env);
        choices.kept[self.number(me, slot)].blocked = !found && !detours_later;
        if PACKETS {
            env.streams.again |= detours_later;
        }
        env.choices = Some(choices);
        found
    }

    fn ask_for_all(&mut self, me: usize, slot: usize, choices: &Choices, asks: &mut Vec<Ask<M>>, env: &Env) {
        let choice = choices.kept[self.number(me, slot)].choice;
        let adaptive = bits(choice.ports).map(|port| (port, choice.set_of(port), 0));
        for (port, set, preference) in adaptive.chain(choice.escape.map(|(port, set)| (port as usize, set, 1))) {
            let usable = self.usable_of_set(me, slot, port, choices.sets[set as usize], env);
            if !usable.is_empty() {
                asks.push(Ask { slot: slot as u16, port: port as u8, preference, usable });
            }
        }
    }

    /// The one port that a packet asks for, with the VCs that it may use: a minimal one, else the escape channel, else a detour.
    fn best_offer(&mut self, me: usize, slot: usize, choices: &mut Choices, env: &Env) -> Option<(usize, M)> {
        let kept = *at(&choices.kept, self.number(me, slot));
        let choice = kept.choice;
        if let Some(offer) = self.select(me, slot, choice.ports, choices, env) {
            return Some(offer);
        }
        if let Some((port, set)) = choice.escape {
            let usable = self.usable_of_set(me, slot, port as usize, choices.sets[set as usize], env);
            if !usable.is_empty() {
                return Some((port as usize, usable));
            }
        }
        if choice.sideways == 0 || self.may_detour_later(me, slot, choices, env) {
            return None;
        }
        self.select(me, slot, u64::from(choice.sideways), choices, env)
    }

    /// Whether a packet may make a detour, but does not ask for it yet.
    fn may_detour_later(&self, me: usize, slot: usize, choices: &Choices, env: &Env) -> bool {
        let kept = at(&choices.kept, self.number(me, slot));
        let waited = (env.now as u32).wrapping_sub(kept.since);
        kept.choice.sideways != 0 && waited < choices.patience_cycles
    }

    /// One of `ports` with a VC to give.
    #[inline(always)]
    fn select(&mut self, me: usize, slot: usize, ports: u64, choices: &mut Choices, env: &Env) -> Option<(usize, M)> {
        if ports & ports.wrapping_sub(1) != 0 {
            return self.select_of_several(me, slot, ports, choices, env);
        }
        if ports == 0 {
            return None;
        }
        let port = ports.trailing_zeros() as usize;
        let usable = self.usable_by_choice(me, slot, port, choices, env);
        (!usable.is_empty()).then_some((port, usable))
    }

    /// The same where there is more than one.
    fn select_of_several(
        &mut self,
        me: usize,
        slot: usize,
        ports: u64,
        choices: &mut Choices,
        env: &Env,
    ) -> Option<(usize, M)> {
        if choices.news.is_some() {
            let port = self.preferred_port(me, slot, choices, env);
            let usable = self.usable_by_choice(me, slot, port, choices, env);
            if !usable.is_empty() {
                return Some((port, usable));
            }
        }
        if matches!(choices.selection, Selection::MostCredits | Selection::All) {
            return self.most_credits(me, slot, ports, choices, env);
        }
        let open = bits(ports).filter(|&port| !self.usable_by_choice(me, slot, port, choices, env).is_empty());
        let open = open.fold(0u64, |open, port| open | 1 << port);
        if open == 0 {
            return None;
        }
        let port = if open.is_power_of_two() {
            open.trailing_zeros() as usize
        } else if choices.selection == Selection::Random {
            // By the model's number of the VC, which does not depend on the compiled size.
            let (in_port, vc) = Self::port_and_vc(slot);
            let number = ((choices.first as usize + me) * env.p.ports + in_port) * env.p.vcs + vc;
            let random = mix(mix(choices.seed ^ env.now) ^ number as u64);
            let n = draw_below(random, u64::from(open.count_ones()));
            bits(open).nth(n as usize)?
        } else {
            let turn = &mut choices.turns[me];
            let later = open & (!0u64).checked_shl(u32::from(*turn)).unwrap_or(0);
            let next = (if later == 0 { open } else { later }).trailing_zeros() as u8;
            *turn = next + 1;
            next as usize
        };
        Some((port, self.usable_by_choice(me, slot, port, choices, env)))
    }

    /// Of `ports`, the one that has the VC with the most credits, the lowest of equals.
    fn most_credits(&mut self, me: usize, slot: usize, ports: u64, choices: &Choices, env: &Env) -> Option<(usize, M)> {
        let mut best = None;
        let mut most = 0;
        for port in bits(ports) {
            let usable = self.usable_by_choice(me, slot, port, choices, env);
            let mut credits = 0;
            usable.for_each(|v| credits = credits.max(self.credits_now(me, Self::slot(port, v), env)));
            if !usable.is_empty() && (best.is_none() || credits > most) {
                (best, most) = (Some((port, usable)), credits);
            }
        }
        best
    }

    /// The free VCs of a port of its choice that a packet may use now.
    #[inline(always)]
    fn usable_by_choice(&mut self, me: usize, slot: usize, port: usize, choices: &Choices, env: &Env) -> M {
        let set = at(&choices.kept, self.number(me, slot)).choice.set_of(port);
        self.usable_of_set(me, slot, port, choices.sets[set as usize], env)
    }

    /// The port that a packet prefers by what its router knew when it asked for the first time.
    fn preferred_port(&mut self, me: usize, slot: usize, choices: &mut Choices, env: &Env) -> usize {
        let Choices { kept, news, .. } = choices;
        let kept = &mut kept[self.number(me, slot)];
        if kept.preferred == UNDECIDED {
            let to = env.pool[self.input(slot).front].walks_to().0 as usize;
            if let Some(news) = news {
                kept.preferred = news.best_port(me, to, kept.choice.ports, env.now) as u8;
            }
        }
        kept.preferred as usize
    }

    /// The free VCs of a set of `port` that a packet may use now.
    #[inline]
    fn usable_of_set(&mut self, me: usize, slot: usize, port: usize, set: (usize, usize), env: &Env) -> M {
        let mut usable = self.port(port).free.at_least(set.0).below(set.1);
        self.keep_own(me, slot, &mut usable, env);
        if env.rules.credits_matter && !usable.is_empty() {
            let flits = env.pool[self.input(slot).front].flits;
            self.keep_credited(me, port, flits, &mut usable, env);
        }
        usable
    }

    /// A packet was given a VC of `port`: what that does to what it carries.
    pub(crate) fn leave_by(&mut self, me: usize, slot: usize, port: usize, env: &mut Env) {
        let Env { choices: Some(choices), pool, .. } = env else { return };
        let number = self.number(me, slot);
        let vc = self.input(slot);
        if choices.one_port || vc.flags & EJECTING != 0 {
            return;
        }
        let choice = choices.kept[number].choice;
        let packet = &mut pool[vc.front];
        packet.hops += 1;
        if choice.ports >> port & 1 == 1 {
            packet.crossed += (u64::from(choice.crossing) >> port & 1) as u8;
        } else if u64::from(choice.sideways) >> port & 1 == 1 {
            packet.misroutes -= 1;
        }
    }
}
