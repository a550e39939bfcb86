//! Allocation by iSLIP with one iteration, on bit masks.
//!
//! An input VC asks for VCs of one output port only, so VC allocation falls apart into one small matching a port, and where
//! one packet alone asks for a port (nearly always), every free VC grants it and it accepts the next one after its pointer: no
//! loop at all. The switch is matched on masks of ports; which VC of a port sends is looked up only for the winners.

use super::env::Env;
use super::mask::VcMask;
use super::requests::Ask;
use super::slots::SlotSet;
use super::state::Router;
use crate::unchecked::{at, at_mut};

/// Working memory of one router's step, kept to avoid allocation.
#[derive(Debug, Default)]
pub(super) struct Scratch<M> {
    asks: Vec<Ask<M>>,
    /// Those for one port, with the VCs granted to each.
    rivals: Vec<(Ask<M>, M)>,
}

impl<M: VcMask> Scratch<M> {
    pub fn new(requests: usize) -> Self {
        Scratch { asks: Vec::with_capacity(requests), rivals: Vec::with_capacity(requests) }
    }
}

impl<M: VcMask, const PORTS: usize, const SLOTS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, SLOTS, WORDS, PACKETS>
{
    /// One cycle.
    #[inline(always)]
    pub(super) fn step_fast(&mut self, me: usize, scratch: &mut Scratch<M>, env: &mut Env) {
        if !self.waiting.is_empty() {
            self.allocate_vcs_fast(me, scratch, env);
        }
        if self.ready.is_empty() {
            return;
        }
        if PACKETS {
            let aside = self.set_busy_aside(me, env);
            if !self.ready.is_empty() {
                self.allocate_switch_fast(me, env);
                env.streams.again |= self.may_send(me, env);
            }
            self.ready.insert_all(&aside);
        } else {
            self.allocate_switch_fast(me, env);
        }
    }

    #[inline(always)]
    fn allocate_vcs_fast(&mut self, me: usize, scratch: &mut Scratch<M>, env: &mut Env) {
        if env.rules.chooses_port {
            return self.allocate_chosen(me, scratch, env);
        }
        // Ports that more than one waiting packet wants need a matching.
        let look = if PACKETS { self.ports_to_look_at(me, env) } else { !0 };
        let shared = self.shared_ports & look;
        if PACKETS && self.wanted_ports & look == 0 {
            return;
        }
        if self.wanted_ports & look & !shared != 0 {
            // A loop, not a closure: the compiler must not put it into a function of its own.
            let mut from = 0;
            while let Some((word, mut bits)) = self.waiting.word_from(from) {
                while bits != 0 {
                    let slot = word * 64 + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    self.ask_alone(me, slot, shared | !look, env);
                }
                from = word + 1;
            }
        }
        if shared != 0 {
            self.match_shared(me, shared, scratch, env);
        }
        self.renew_wanted_ports();
    }

    /// A waiting packet whose port no other wants: all usable VCs grant it, it accepts the first from its pointer on. Nothing is done for
    /// one whose port is in `others`.
    #[inline(always)]
    fn ask_alone(&mut self, me: usize, slot: usize, others: u64, env: &mut Env) {
        let port = self.input(slot).port as usize;
        if others >> port & 1 == 1 {
            return;
        }
        let usable = self.usable(me, slot, port, env);
        if env.watched {
            env.observer.asked(me * SLOTS + slot, !usable.is_empty(), env.now);
        }
        if !usable.is_empty() {
            if PACKETS {
                env.streams.asked += 1;
            }
            let out_vc = self.accept(slot, port, &usable);
            self.accept_vc(me, slot, port, out_vc, env);
        }
    }

    /// The same where each packet picks its port anew in each cycle.
    #[inline(never)]
    fn allocate_chosen(&mut self, me: usize, scratch: &mut Scratch<M>, env: &mut Env) {
        self.collect_asks(me, !0, &mut scratch.asks, env);
        // One packet alone (nearly always): all that it asks for grants it.
        match (scratch.asks.first(), scratch.asks.last()) {
            (Some(first), Some(last)) if first.slot == last.slot => {
                return self.accept_first(me, scratch.asks.iter().map(|&ask| (ask, ask.usable)), env);
            }
            (None, _) => return,
            _ => {}
        }
        if env.choices.as_ref().is_some_and(|choices| choices.asks_for_all()) {
            return self.match_all(me, scratch, env);
        }
        let (mut asked, mut shared) = (0u64, 0u64);
        for ask in &scratch.asks {
            shared |= asked & 1 << ask.port;
            asked |= 1 << ask.port;
        }
        for i in 0..scratch.asks.len() {
            let Ask { slot, port, usable, .. } = scratch.asks[i];
            if shared >> port & 1 == 0 {
                let out_vc = self.accept(slot as usize, port as usize, &usable);
                self.leave_by(me, slot as usize, port as usize, env);
                self.accept_vc(me, slot as usize, port as usize, out_vc, env);
            }
        }
        while shared != 0 {
            let port = shared.trailing_zeros() as usize;
            shared &= shared - 1;
            self.match_port(me, port, scratch, env);
        }
    }

    /// Packets ask for several ports at once: every usable VC grants one of them, every packet accepts one.
    fn match_all(&mut self, me: usize, scratch: &mut Scratch<M>, env: &mut Env) {
        let Scratch { asks, rivals } = scratch;
        rivals.clear();
        rivals.extend(asks.iter().map(|&ask| (ask, M::EMPTY)));
        let mut ports = asks.iter().fold(0u64, |ports, ask| ports | 1 << ask.port);
        while ports != 0 {
            let port = ports.trailing_zeros() as usize;
            ports &= ports - 1;
            if env.rules.injection_last {
                Self::yield_to_transit(port, env.network_ports(me), rivals);
            }
            self.grant_port(port, rivals);
        }
        // The asks of one packet lie side by side.
        for own in rivals.chunk_by(|a, b| a.0.slot == b.0.slot) {
            self.accept_first(me, own.iter().copied().filter(|(_, grants)| !grants.is_empty()), env);
        }
    }

    /// A packet accepts the first from its pointer on of the VCs that were granted to it, by port.
    #[inline(always)]
    fn accept_first(&mut self, me: usize, grants: impl Iterator<Item = (Ask<M>, M)>, env: &mut Env) {
        let offers = grants.map(|(ask, granted)| {
            let (slot, port) = (ask.slot as usize, ask.port as usize);
            let out_vc = self.accept(slot, port, &granted);
            // Slots before the pointer come after all others.
            let turn = (Self::slot(port, out_vc) as u16).wrapping_sub(self.pointers(slot).accept);
            (turn, slot, port, out_vc)
        });
        if let Some((_, slot, port, out_vc)) = offers.min() {
            self.leave_by(me, slot, port, env);
            self.accept_vc(me, slot, port, out_vc, env);
        }
    }

    /// Several packets ask for a port: each usable VC grants the first of them from its pointer on.
    #[inline(never)]
    fn match_shared(&mut self, me: usize, shared: u64, scratch: &mut Scratch<M>, env: &mut Env) {
        self.collect_asks(me, shared, &mut scratch.asks, env);
        let mut ports = scratch.asks.iter().fold(0u64, |ports, a| ports | 1 << a.port);
        while ports != 0 {
            let port = ports.trailing_zeros() as usize;
            ports &= ports - 1;
            self.match_port(me, port, scratch, env);
        }
    }

    fn match_port(&mut self, me: usize, port: usize, scratch: &mut Scratch<M>, env: &mut Env) {
        let Scratch { asks, rivals } = scratch;
        rivals.clear();
        rivals.extend(asks.iter().filter(|a| a.port as usize == port).map(|&ask| (ask, M::EMPTY)));
        if env.rules.injection_last {
            Self::yield_to_transit(port, env.network_ports(me), rivals);
        }
        match &mut rivals[..] {
            [one, other] => self.grant_to_two(port, one, other),
            rivals => self.grant_port(port, rivals),
        }
        for (ask, grants) in rivals.iter() {
            if !grants.is_empty() {
                let out_vc = self.accept(ask.slot as usize, port, grants);
                self.leave_by(me, ask.slot as usize, port, env);
                self.accept_vc(me, ask.slot as usize, port, out_vc, env);
            }
        }
    }

    /// Packets at injection ports do not ask for VCs of `port` that a packet at a network port asks for.
    #[inline(never)]
    fn yield_to_transit(port: usize, network_ports: usize, rivals: &mut [(Ask<M>, M)]) {
        let in_transit = |ask: &Ask<M>| Self::port_and_vc(ask.slot as usize).0 < network_ports;
        let of_port = |ask: &Ask<M>| ask.port as usize == port;
        let mut taken = M::EMPTY;
        let transit = rivals.iter().filter(|(ask, _)| of_port(ask) && in_transit(ask));
        transit.for_each(|(ask, _)| taken = taken.or(&ask.usable));
        for (ask, _) in rivals.iter_mut().filter(|(ask, _)| of_port(ask) && !in_transit(ask)) {
            ask.usable = ask.usable.without(&taken);
        }
    }

    /// [`Router::grant_port`] for the usual number of rivals.
    #[inline(always)]
    fn grant_to_two(&mut self, port: usize, one: &mut (Ask<M>, M), other: &mut (Ask<M>, M)) {
        let (a, b) = (one.0, other.0);
        (one.1, other.1) = (a.usable.without(&b.usable), b.usable.without(&a.usable));
        let mut contested = a.usable.without(&one.1);
        while !contested.is_empty() {
            let v = contested.first();
            contested.remove(v);
            let pointer = self.pointers(Self::slot(port, v)).grant;
            let first = a.slot.wrapping_sub(pointer) < b.slot.wrapping_sub(pointer);
            (if first { &mut one.1 } else { &mut other.1 }).insert(v);
        }
    }

    /// Each VC of `port` that is asked for grants the first of those who ask from its pointer on.
    #[inline(always)]
    fn grant_port(&mut self, port: usize, rivals: &mut [(Ask<M>, M)]) {
        let of_port = |ask: &Ask<M>| ask.port as usize == port;
        let mut offered = M::EMPTY;
        rivals.iter().filter(|(ask, _)| of_port(ask)).for_each(|(ask, _)| offered = offered.or(&ask.usable));
        while !offered.is_empty() {
            let v = offered.first();
            offered.remove(v);
            let pointer = self.pointers(Self::slot(port, v)).grant;
            // Slots before the pointer come after all others.
            let turn = |ask: &Ask<M>| ask.slot.wrapping_sub(pointer);
            let (mut winner, mut best) = (0, u32::MAX);
            for (i, (ask, _)) in rivals.iter().enumerate() {
                let turn = u32::from(turn(ask));
                if of_port(ask) && ask.usable.contains(v) && turn < best {
                    (winner, best) = (i, turn);
                }
            }
            rivals[winner].1.insert(v);
        }
    }

    /// The VC that input VC `slot` accepts: the first of `granted`, VCs of `port`, at or after its pointer in the cyclic
    /// order of all output VCs.
    #[inline(always)]
    fn accept(&mut self, slot: usize, port: usize, granted: &M) -> usize {
        let pointer = self.pointers(slot).accept as usize;
        let within = pointer.wrapping_sub(Self::slot(port, 0));
        if within < Self::VCS { granted.first_from(within) } else { granted.first() }
    }

    /// A match: moves the pointers and hands the VC over.
    #[inline(always)]
    fn accept_vc(&mut self, me: usize, slot: usize, port: usize, out_vc: usize, env: &mut Env) {
        let output = Self::slot(port, out_vc);
        self.pointers(output).grant = slot as u16 + 1;
        self.pointers(slot).accept = output as u16 + 1;
        self.grant_vc(slot, port, out_vc);
        if PACKETS {
            env.streams.granted_vc(env.rules.chooses_ejection_port);
        }
        self.activate_after_delay(me, slot, output, env);
    }

    #[inline(always)]
    fn allocate_switch_fast(&mut self, me: usize, env: &mut Env) {
        if self.ready_are_apart() {
            return self.send_all_ready(me, env);
        }
        self.match_switch(me, env);
    }

    /// Whether no two ready VCs share an input port or want the same output port: then each is granted what it asks for.
    #[inline(always)]
    fn ready_are_apart(&mut self) -> bool {
        let (mut rows, mut ports) = (0u64, 0u64);
        let mut from = 0;
        while let Some((word, mut bits)) = self.ready.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let (row, port) = (1 << Self::port_and_vc(slot).0, 1 << (self.input(slot).port & 63));
                if (rows & row | ports & port) != 0 {
                    return false;
                }
                rows |= row;
                ports |= port;
            }
            from = word + 1;
        }
        true
    }

    /// Sends a flit of every ready VC; pointers move as they would in the matching.
    #[inline(always)]
    fn send_all_ready(&mut self, me: usize, env: &mut Env) {
        let mut from = 0;
        while let Some((word, mut bits)) = self.ready.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let port = self.input(slot).port as usize;
                self.move_switch_pointers(slot, port);
                self.traverse::<false>(me, slot, env.now, env);
            }
            from = word + 1;
        }
    }

    /// The switch sends a flit of input VC `slot` to `port`: the next match starts behind each of them.
    #[inline(always)]
    fn move_switch_pointers(&mut self, slot: usize, port: usize) {
        let (in_port, vc) = Self::port_and_vc(slot);
        let row = self.port(in_port);
        row.accept_first = (port as u8 + 1) & 63;
        row.send_first = ((vc + 1) % Self::VCS) as u16;
        self.port(port).grant_first = (Self::slot(in_port + 1, 0) % SLOTS) as u16;
    }

    #[inline(always)]
    fn match_switch(&mut self, me: usize, env: &mut Env) {
        // Output ports granted to each input port.
        let mut granted = [0u64; PORTS];
        let mut rows = 0u64;
        if env.rules.injection_last {
            rows = self.grant_transit_first(env.network_ports(me), &mut granted);
        } else if SlotSet::<WORDS>::GROUPED {
            let mut ports = self.ports_of_ready();
            while ports != 0 {
                rows |= self.grant_input(&self.ready, ports.trailing_zeros() as usize, &mut granted);
                ports &= ports - 1;
            }
        } else {
            let mut left = self.ready;
            // Each ready VC sends to one port: take the ports of those left one by one.
            while let Some(slot) = left.first() {
                let port = self.input(slot).port as usize;
                left.remove_all(at(&self.senders, port));
                rows |= self.grant_input(&self.ready, port, &mut granted);
            }
        }
        while rows != 0 {
            let in_port = rows.trailing_zeros() as usize;
            rows &= rows - 1;
            let row = self.port(in_port);
            let port = at(&granted, in_port).first_from(row.accept_first as usize);
            let send_first = row.send_first as usize;
            let sendable: M = self.ready.common_of_port(at(&self.senders, port), in_port, Self::VCS);
            let vc = sendable.first_from(send_first);
            self.move_switch_pointers(Self::slot(in_port, vc), port);
            self.traverse::<false>(me, Self::slot(in_port, vc), env.now, env);
        }
    }

    /// Every output port grants a ready VC at a network port, if one asks for it, else one at an injection port.
    #[inline(never)]
    fn grant_transit_first(&mut self, network_ports: usize, granted: &mut [u64; PORTS]) -> u64 {
        let transit = self.ready.below(Self::slot(network_ports, 0));
        let (mut rows, mut ports) = (0, self.ports_of_ready());
        while ports != 0 {
            let port = ports.trailing_zeros() as usize;
            ports &= ports - 1;
            let first = self.grant_input(&transit, port, granted);
            rows |= if first == 0 { self.grant_input(&self.ready, port, granted) } else { first };
        }
        rows
    }

    /// The output port grants the first VC of `ready` from its pointer on: notes it for the input port, and returns that as a bit.
    #[inline(always)]
    fn grant_input(&self, ready: &SlotSet<WORDS>, port: usize, granted: &mut [u64; PORTS]) -> u64 {
        let first = at(&self.ports, port).grant_first as usize;
        let Some(slot) = ready.first_common_from(at(&self.senders, port), first) else { return 0 };
        let (in_port, _) = Self::port_and_vc(slot);
        *at_mut(granted, in_port) |= 1 << port;
        1 << in_port
    }

    /// The output ports that ready VCs send to.
    fn ports_of_ready(&mut self) -> u64 {
        let (mut ports, mut from) = (0, 0);
        while let Some((word, bits)) = self.ready.word_from(from) {
            bits.for_each(|bit| ports |= 1 << (self.input(word * 64 + bit).port & 63));
            from = word + 1;
        }
        ports
    }
}
