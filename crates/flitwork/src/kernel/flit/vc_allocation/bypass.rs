//! VC allocation where each packet asks for VCs of one port and flits move one by one, and the short way for what is in nobody's way.
//!
//! A packet of one flit that is alone on its way through the router is given a VC, is granted the switch and leaves in one cycle. It never
//! owns the VC: what it would take and give back within the cycle is not written.

use crate::kernel::flit::router::SlotSet;
use crate::kernel::flit::vc_allocation::{Ask, Scratch};
use crate::kernel::flit::{Env, Router, VcMask};

/// Which ports packets want to go between, as bits: output ports, and, where a router is small enough for the short way, input ports below
/// them. And those that more than one packet wants.
#[derive(Debug, Clone, Copy, Default)]
struct Ways {
    wanted: u64,
    shared: u64,
}

impl Ways {
    #[inline(always)]
    fn add(&mut self, way: u64) {
        self.shared |= self.wanted & way;
        self.wanted |= way;
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Routers with a short way.
    const SHORT_WAY: bool = PORTS <= 32 && !SlotSet::<WORDS>::GROUPED;

    /// Waiting packets are given VCs; some leave.
    #[inline(never)]
    pub(crate) fn serve_waiting<const LEAN: bool, const SHORT: bool>(
        &mut self,
        me: usize,
        scratch: &mut Scratch<M>,
        env: &mut Env,
    ) {
        let (mut ways, mut from) = (Ways::default(), 0);
        // Loops, not closures: the compiler must not put them into functions of their own.
        while let Some((word, mut bits)) = self.waiting.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                ways.add(self.way::<SHORT>(slot));
            }
            from = word + 1;
        }
        // Ports that more than one waiting packet wants need a matching.
        let shared = if SHORT && Self::SHORT_WAY { ways.shared >> 32 } else { ways.shared };
        if shared != 0 {
            self.serve_shared::<LEAN>(me, shared, scratch, env);
        }
        // Of many ready VCs some are nearly always in the way.
        let short_way = SHORT && Self::SHORT_WAY && self.ready.has_few();
        if short_way {
            self.add_ready(&mut ways);
        }
        let mut from = 0;
        while let Some((word, mut bits)) = self.waiting.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let port = self.input(slot).port as usize;
                if shared >> port & 1 == 1 {
                    continue;
                }
                let usable = self.usable::<LEAN>(me, slot, port, env);
                if env.is_watched::<LEAN>() {
                    env.observer.asked(self.number(me, slot), !usable.is_empty(), env.now);
                }
                if usable.is_empty() {
                    continue;
                }
                // No other waits for the port: all usable VCs grant it, it accepts the first from its pointer on.
                let out_vc = self.accept(slot, port, &usable);
                if short_way && self.passes(slot, port, out_vc, &ways) {
                    self.pass::<LEAN>(me, slot, (port, out_vc), env);
                } else if SHORT {
                    self.accept_vc_apart(me, slot, port, out_vc, env);
                } else {
                    self.accept_vc(me, slot, port, out_vc, env);
                }
            }
            from = word + 1;
        }
    }

    /// [`Router::accept_vc`] where most packets pass: on its own, so that it takes no registers from those.
    #[inline(never)]
    fn accept_vc_apart(&mut self, me: usize, slot: usize, port: usize, out_vc: usize, env: &mut Env) {
        self.accept_vc(me, slot, port, out_vc, env);
    }

    /// Waiting packets of ports that more than one wants, nearly always two: these are matched without lists.
    #[inline(always)]
    pub(super) fn serve_shared<const LEAN: bool>(
        &mut self,
        me: usize,
        shared: u64,
        scratch: &mut Scratch<M>,
        env: &mut Env,
    ) {
        let (mut many, mut left) = (shared, shared);
        if env.is_watched::<LEAN>() || env.asks::<LEAN>(|rules| rules.injection_last) {
            left = 0;
        }
        while left != 0 {
            let port = left.trailing_zeros() as usize;
            left &= left - 1;
            if let Some(two) = self.two_that_want(port) {
                self.match_two::<LEAN>(me, port, two, env);
                many &= !(1 << port);
            }
        }
        if many != 0 {
            self.match_shared(me, many, scratch, env);
        }
    }

    /// The two waiting packets that want `port`, by their input VCs; `None` if there are more.
    #[inline(always)]
    fn two_that_want(&mut self, port: usize) -> Option<(usize, usize)> {
        let (mut found, mut last, mut before, mut from) = (0, 0, 0, 0);
        while let Some((word, mut bits)) = self.waiting.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if self.input(slot).port as usize == port {
                    (found, before, last) = (found + 1, last, slot);
                }
            }
            from = word + 1;
        }
        (found == 2).then_some((before, last))
    }

    /// VC allocation of `port` where these two packets alone want it.
    #[inline(never)]
    fn match_two<const LEAN: bool>(&mut self, me: usize, port: usize, (one, other): (usize, usize), env: &mut Env) {
        let ask = |slot: usize, usable: M| (Ask { slot: slot as u16, port: port as u8, preference: 0, usable }, usable);
        let mut one = ask(one, self.usable::<LEAN>(me, one, port, env));
        let mut other = ask(other, self.usable::<LEAN>(me, other, port, env));
        if !one.1.is_empty() && !other.1.is_empty() {
            self.grant_to_two(port, &mut one, &mut other);
        }
        for (ask, granted) in [one, other] {
            if !granted.is_empty() {
                let out_vc = self.accept(ask.slot as usize, port, &granted);
                self.accept_vc(me, ask.slot as usize, port, out_vc, env);
            }
        }
    }

    /// Adds the ways of what may request the switch.
    #[inline(always)]
    fn add_ready(&mut self, ways: &mut Ways) {
        let mut from = 0;
        while let Some((word, mut bits)) = self.ready.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                ways.add(self.way::<true>(slot));
            }
            from = word + 1;
        }
    }

    /// From where to where the front packet of an input VC goes; without a `SHORT` way only where to.
    #[inline(always)]
    fn way<const SHORT: bool>(&mut self, slot: usize) -> u64 {
        let port = 1 << (self.input(slot).port & 63);
        if SHORT && Self::SHORT_WAY { port << 32 | 1 << (Self::port_and_vc(slot).0 & 31) } else { port }
    }

    /// Whether the front packet of an input VC has one flit, a credit for it, and nothing in its way.
    #[inline(always)]
    fn passes(&mut self, slot: usize, port: usize, out_vc: usize, ways: &Ways) -> bool {
        ways.shared & self.way::<true>(slot) == 0
            && self.input(slot).left == 1
            && self.output_of((port, out_vc)).credits > 0
    }

    /// The front packet, of one flit, leaves by output VC `output`.
    #[inline(always)]
    fn pass<const LEAN: bool>(&mut self, me: usize, slot: usize, output: (usize, usize), env: &mut Env) {
        self.move_vc_pointers(slot, output);
        self.move_switch_pointers(slot, output.0);
        self.waiting.remove(slot);
        self.send_whole(me, slot, output, env);
    }

    /// The front packet, of one flit, leaves its buffer by output VC `output`.
    #[inline(always)]
    pub(crate) fn send_whole(&mut self, me: usize, slot: usize, output: (usize, usize), env: &mut Env) {
        self.output_of(output).credits -= 1;
        let vc = self.input(slot);
        vc.occupied -= 1;
        let packet = vc.front;
        self.send_on::<false>(me, output, packet, (true, true), env.now, env);
        self.return_credit::<false>(me, slot, env);
        self.next_front(me, slot, env);
    }
}
