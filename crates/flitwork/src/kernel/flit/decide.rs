//! Packets that decide for one of several ports when they first ask, the least loaded, and keep to it.

use super::choices::{Choices, bits};
use super::env::Env;
use super::mask::VcMask;
use super::state::Router;
use crate::mix::draw_below;
use crate::routing::draw;

impl<M: VcMask, const PORTS: usize, const SLOTS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, SLOTS, WORDS, PACKETS>
{
    /// The port that the front packet of an input VC asks for from now on: the least loaded of so many candidates, drawn at random, or of
    /// all its ports in cyclic order from one that is drawn (0). Of equals the first.
    #[inline(never)]
    pub(super) fn decide(
        &mut self,
        me: usize,
        slot: usize,
        candidates: u32,
        choices: &mut Choices,
        env: &Env,
    ) -> usize {
        let vc = me * SLOTS + slot;
        let ports = choices.minimal_ports(vc);
        let packet_bits = choices.bits_of(&env.pool[self.input(slot).front]);
        let drawn = |i: u32| {
            let n = draw_below(draw(packet_bits, me as u32, i), u64::from(ports.count_ones()));
            bits(ports).nth(n as usize).unwrap_or(0)
        };
        let first = drawn(0);
        let mut best = (self.flits_behind(me, first, env), first);
        let mut compare = |port: usize| {
            let flits = self.flits_behind(me, port, env);
            if flits < best.0 {
                best = (flits, port);
            }
        };
        if candidates == 0 {
            let later = ports & !0 << first;
            bits(later).chain(bits(ports & !later)).skip(1).for_each(&mut compare);
        } else {
            (1..candidates).map(drawn).for_each(&mut compare);
        }
        choices.keep_to(vc, best.1);
        self.input(slot).port = best.1 as u8;
        best.1
    }

    /// Flits that have left by a port and whose credits have not come back.
    fn flits_behind(&self, me: usize, port: usize, env: &Env) -> u32 {
        if let Some(pools) = &env.pools {
            return self.flits_behind_pool(me, port, pools, env.p.vcs);
        }
        let credits = |v: usize| u32::from(self.credits_now(me, Self::slot(port, v), env));
        let taken = env.p.vcs as u32 * env.p.buffer_flits - (0..env.p.vcs).map(credits).sum::<u32>();
        // Where packets move whole, those of their flits that are yet to leave have been taken off already.
        if PACKETS { taken - env.streams.unsent_flits(me * PORTS + port, env.now) } else { taken }
    }
}
