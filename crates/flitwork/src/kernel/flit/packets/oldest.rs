//! Allocation of whole packets where both allocators are separable, input first, and serve who came first: on sets of bits, without lists of
//! requests. For routers of which one word holds all VCs; it gives what `general.rs` gives.
//!
//! No two input VCs have the same priority: of heads that arrived in the same cycle the one of the lower slot is first. So only one choice is
//! left to memory: which of the usable VCs of its port a waiting packet picks. That is the first behind the one that it was given last, as in
//! iSLIP, and kept in the same pointer.

use super::super::env::Env;
use super::super::mask::{SlotNumber, VcMask};
use super::super::memory::Memory;
use super::super::state::{Router, UPPER_CLASS};
use crate::unchecked::at;

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// One cycle.
    #[inline(always)]
    pub(in super::super) fn step_oldest_first(&mut self, me: usize, env: &mut Env) {
        if !self.waiting.is_empty() {
            self.give_vcs_to_oldest(me, env);
        }
        if !self.ready.is_empty() {
            self.send_oldest(me, env);
        }
    }

    /// Whether the head of input VC `slot`, which is behind `other` in the order of slots, came first.
    #[inline(always)]
    fn came_before(&self, me: usize, slot: usize, other: usize, env: &Env) -> bool {
        *at(&env.arrivals, self.number(me, slot)) < *at(&env.arrivals, self.number(me, other))
    }

    /// Each waiting packet picks a VC of its port, and each VC the oldest of those that picked it.
    #[inline(never)]
    fn give_vcs_to_oldest(&mut self, me: usize, env: &mut Env) {
        let look = self.ports_to_look_at(me, env);
        if look == 0 {
            return;
        }
        // Output VCs that are picked, and by whom: input VCs in ascending order.
        let (mut picked, mut by) = (0u64, [0u8; 64]);
        let (mut asked, mut granted) = (0, 0);
        let mut left = self.waiting.first_word();
        while left != 0 {
            let slot = left.trailing_zeros() as usize;
            left &= left - 1;
            let port = self.input(slot).port as usize;
            if look >> (port & 63) & 1 == 0 {
                continue;
            }
            let usable = self.usable_by_credits(me, slot, port, env);
            if usable.is_empty() {
                continue;
            }
            asked += 1;
            let output = Self::slot(port, self.accept(slot, port, &usable)) & 63;
            if picked >> output & 1 == 0 || self.came_before(me, slot, by[output] as usize, env) {
                by[output] = slot as u8;
            }
            picked |= 1 << output;
        }
        while picked != 0 {
            let output = picked.trailing_zeros() as usize & 63;
            picked &= picked - 1;
            granted += 1;
            self.give_vc(me, by[output] as usize, output, env);
        }
        env.streams.asked = asked - granted;
        if granted > 0 {
            self.renew_wanted_ports();
        }
    }

    /// The free VCs of its class of `port` that have credits for all of a waiting packet. Of those that will have them it is noted when.
    #[inline(always)]
    fn usable_by_credits(&mut self, me: usize, slot: usize, port: usize, env: &Env) -> M {
        let vc = self.input(slot);
        let (needed, upper) = (vc.left, vc.flags >> UPPER_CLASS.trailing_zeros() & 1);
        let mut usable = self.port(port).free.of_class(&env.classes, port, usize::from(upper));
        let mut left = usable;
        while !left.is_empty() {
            let v = left.first();
            left.remove(v);
            let all = self.output_of((port, v)).credits;
            let output = self.number(me, Self::slot(port, v));
            if env.streams.credits(output, all, env.now) < needed {
                usable.remove(v);
                env.streams.wait_for_credits(output, all, needed);
            }
        }
        usable
    }

    /// A waiting packet is given an output VC, and picks behind it the next time.
    #[inline(always)]
    fn give_vc(&mut self, me: usize, slot: usize, output: usize, env: &mut Env) {
        let (in_port, in_vc) = Self::port_and_vc(slot);
        *self.memory.accept(in_port, in_vc) = M::Slot::of(output + 1);
        let output = Self::port_and_vc(output);
        self.grant_vc(slot, output.0, output.1);
        self.activate_after_delay(me, slot, output, env);
    }

    /// Each input port whose row is free picks the oldest of its ready packets whose column is free, and each output port the oldest of those
    /// that picked it.
    #[inline(never)]
    fn send_oldest(&mut self, me: usize, env: &mut Env) {
        let busy = *at(&env.streams.busy, me);
        // Columns that are picked, and by whom: input VCs in ascending order.
        let (mut picked, mut by) = (0u64, [0u8; 64]);
        let (mut able, mut sending) = (0u64, 0u64);
        let mut left = self.ready.first_word();
        while left != 0 {
            let in_port = left.trailing_zeros() as usize / VCS;
            let row = (!0u64 >> (64 - VCS.min(64))) << (in_port * VCS);
            let mut of_row = left & row;
            left &= !row;
            if busy.rows >> in_port & 1 == 1 {
                continue;
            }
            let mut oldest = None;
            while of_row != 0 {
                let slot = of_row.trailing_zeros() as usize;
                of_row &= of_row - 1;
                let port = self.input(slot).port as usize & 63;
                if busy.cols >> port & 1 == 1 {
                    continue;
                }
                able |= 1 << slot;
                if oldest.is_none_or(|(other, _)| self.came_before(me, slot, other, env)) {
                    oldest = Some((slot, port));
                }
            }
            let Some((slot, port)) = oldest else { continue };
            if picked >> port & 1 == 0 || self.came_before(me, slot, by[port] as usize, env) {
                by[port] = slot as u8;
            }
            picked |= 1 << port;
        }
        while picked != 0 {
            let port = picked.trailing_zeros() as usize & 63;
            picked &= picked - 1;
            sending |= 1 << (by[port] & 63);
        }
        let lost = able & !sending;
        while sending != 0 {
            self.send_packet(me, sending.trailing_zeros() as usize, env);
            sending &= sending - 1;
        }
        if lost != 0 {
            env.streams.again |= self.may_send(me, env);
        }
    }
}
