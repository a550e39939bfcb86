//! Allocation by iSLIP with one iteration, on bit masks.
//!
//! An input VC asks for VCs of one output port only, so VC allocation falls apart into one small matching a port, and where
//! one packet alone asks for a port (nearly always), every free VC grants it and it accepts the next one after its pointer: no
//! loop at all. The switch is in `switch/islip.rs`.

use crate::kernel::flit::vc_allocation::Ask;
use crate::kernel::flit::{Env, Router, VcMask};

/// Working memory of one router's step, kept to avoid allocation.
#[derive(Debug, Default)]
pub(crate) struct Scratch<M> {
    asks: Vec<Ask<M>>,
    /// Those for one port, with the VCs granted to each.
    rivals: Vec<(Ask<M>, M)>,
    /// The first ask for each port, and behind each ask the next one for its port, or [`LAST`].
    first_of: Vec<u16>,
    next_of: Vec<u16>,
}

const LAST: u16 = u16::MAX;

impl<M: VcMask> Scratch<M> {
    pub fn new(requests: usize) -> Self {
        let rivals = Vec::with_capacity(requests);
        let next_of = Vec::with_capacity(requests);
        Scratch { asks: Vec::with_capacity(requests), rivals, first_of: vec![LAST; 64], next_of }
    }

    /// Links the asks for each port, in their order; the ports asked for.
    fn chain_asks(&mut self) -> u64 {
        let mut ports = 0u64;
        self.next_of.clear();
        self.next_of.resize(self.asks.len(), LAST);
        for (i, ask) in self.asks.iter().enumerate().rev() {
            let first = &mut self.first_of[ask.port as usize & 63];
            self.next_of[i] = if ports >> (ask.port & 63) & 1 == 1 { *first } else { LAST };
            *first = i as u16;
            ports |= 1 << (ask.port & 63);
        }
        ports
    }

    /// Makes those who ask for a port rivals.
    fn take_rivals(&mut self, port: usize) {
        self.rivals.clear();
        let mut i = self.first_of[port & 63];
        while let Some(&ask) = self.asks.get(i as usize) {
            self.rivals.push((ask, M::EMPTY));
            i = self.next_of[i as usize];
        }
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    #[inline(always)]
    pub(crate) fn allocate_vcs_fast(&mut self, me: usize, scratch: &mut Scratch<M>, env: &mut Env) {
        // Ports that more than one waiting packet wants need a matching.
        let look = self.ports_to_look_at(me, env);
        let shared = self.shared_ports & look;
        if self.wanted_ports & look == 0 {
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
        let usable = self.usable::<false>(me, slot, port, env);
        if env.watched {
            env.observer.asked(self.number(me, slot), !usable.is_empty(), env.now);
        }
        if !usable.is_empty() {
            env.streams.asked += 1;
            let out_vc = self.accept(slot, port, &usable);
            self.accept_vc(me, slot, port, out_vc, env);
        }
    }

    /// The same where each packet picks its port anew in each cycle.
    #[inline(never)]
    pub(crate) fn allocate_chosen(&mut self, me: usize, scratch: &mut Scratch<M>, env: &mut Env) {
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
        if shared != 0 {
            self.match_ports(me, shared, scratch, env);
        }
    }

    /// Packets ask for several ports at once: every usable VC grants one of them, every packet accepts one.
    fn match_all(&mut self, me: usize, scratch: &mut Scratch<M>, env: &mut Env) {
        let Scratch { asks, rivals, .. } = scratch;
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
            let turn = (Self::slot(port, out_vc) as u16).wrapping_sub(self.accepts_first(slot) as u16);
            (turn, slot, port, out_vc)
        });
        if let Some((_, slot, port, out_vc)) = offers.min() {
            self.leave_by(me, slot, port, env);
            self.accept_vc(me, slot, port, out_vc, env);
        }
    }

    /// Several packets ask for a port: each usable VC grants the first of them from its pointer on.
    #[inline(never)]
    pub(super) fn match_shared(&mut self, me: usize, shared: u64, scratch: &mut Scratch<M>, env: &mut Env) {
        scratch.asks.clear();
        let mut from = 0;
        while let Some((word, mut bits)) = self.waiting.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let port = self.input(slot).port;
                if shared >> (port & 63) & 1 == 0 {
                    continue;
                }
                let usable = self.usable::<false>(me, slot, port as usize, env);
                if env.watched {
                    env.observer.asked(self.number(me, slot), !usable.is_empty(), env.now);
                }
                if !usable.is_empty() {
                    scratch.asks.push(Ask { slot: slot as u16, port, preference: 0, usable });
                }
            }
            from = word + 1;
        }
        if PACKETS {
            env.streams.asked += scratch.asks.len() as u32;
        }
        self.match_ports(me, !0, scratch, env);
    }

    /// Those of `ports` that are asked for, one by one.
    fn match_ports(&mut self, me: usize, ports: u64, scratch: &mut Scratch<M>, env: &mut Env) {
        let mut ports = ports & scratch.chain_asks();
        while ports != 0 {
            let port = ports.trailing_zeros() as usize;
            ports &= ports - 1;
            self.match_port(me, port, scratch, env);
        }
    }

    fn match_port(&mut self, me: usize, port: usize, scratch: &mut Scratch<M>, env: &mut Env) {
        scratch.take_rivals(port);
        let rivals = &mut scratch.rivals;
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
    pub(super) fn grant_to_two(&mut self, port: usize, one: &mut (Ask<M>, M), other: &mut (Ask<M>, M)) {
        let (a, b) = (one.0, other.0);
        (one.1, other.1) = (a.usable.without(&b.usable), b.usable.without(&a.usable));
        let mut contested = a.usable.without(&one.1);
        while !contested.is_empty() {
            let v = contested.first();
            contested.remove(v);
            let pointer = self.output_of((port, v)).grants_first();
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
            let pointer = self.output_of((port, v)).grants_first();
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
    pub(crate) fn accept(&mut self, slot: usize, port: usize, granted: &M) -> usize {
        let pointer = self.accepts_first(slot);
        let within = pointer.wrapping_sub(Self::slot(port, 0));
        // Which of the two nobody can guess: no branch.
        granted.first_from(if within < VCS { within } else { 0 })
    }

    /// An input VC is given an output VC: the next match starts behind each of them.
    #[inline(always)]
    pub(super) fn move_vc_pointers(&mut self, slot: usize, output: (usize, usize)) {
        self.output_of(output).grant(slot);
        self.input(slot).output = Self::slot(output.0, output.1) as u16;
    }

    /// A match: hands the VC over, which moves the pointers.
    #[inline(always)]
    pub(super) fn accept_vc(&mut self, me: usize, slot: usize, port: usize, out_vc: usize, env: &mut Env) {
        let output = (port, out_vc);
        self.grant_vc(slot, port, out_vc);
        if PACKETS {
            env.streams.granted_vc(env.rules.chooses_ejection_port);
        }
        self.activate_after_delay(me, slot, output, env);
    }
}
