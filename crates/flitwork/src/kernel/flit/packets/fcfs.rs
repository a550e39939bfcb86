//! Allocation of whole packets, first come first served: both allocators are separable, input first, with FCFS
//! arbiters. On bit masks, for routers of which one word holds all VCs.
//!
//! The algorithm. A packet *came first* if its head arrived earlier; of heads that arrived in one cycle, the one in the
//! lower slot.
//!
//! ```text
//! for each waiting packet:
//!     it picks, of the usable VCs of its port, the first behind the one that it was given last
//! for each output VC that was picked:
//!     it is given to the packet that came first of those that picked it
//! for each free row of the switch (an input port, or with full input speed-up an input VC):
//!     it picks, of its ready packets whose column is free, the one that came first
//! for each column (output port) that was picked:
//!     it sends the packet that came first of those that picked it
//! ```
//!
//! Departures from it, none of which changes a result:
//!
//! 1. *Arbiters have no memory.* A round-robin pointer decides between equal priorities only, and no two input VCs have
//!    the same one. The one pointer that matters is the VC that a packet picks; it is the VC that its slot was given
//!    last, as in iSLIP.
//! 2. *Only ports with a change are visited.* What a waiting packet can get changes when a packet joins it, a VC is
//!    released, or credits return. A packet that found nothing finds nothing until then. Ports where a packet lost are
//!    visited again in the next cycle.
//! 3. *Ports without a free VC are skipped*, and their changes forgotten: the release of a VC is a change.
//! 4. *The cycle of enough credits is known.* Credits return one a cycle, so a packet that waits for credits alone is
//!    visited when they are enough.
//! 5. *A lone request picks and gets its VC at once*, and a lone ready packet is sent if its row and column are free.

use crate::kernel::flit::router::UPPER_CLASS;
use crate::kernel::flit::{Env, Router, VcMask};
use crate::unchecked::{at, at_mut};

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// One cycle; whether the router has something to do in the next one, too.
    #[inline(always)]
    pub(super) fn step_fcfs(&mut self, me: usize, env: &mut Env) -> bool {
        let mut again = false;
        // Asked here: half of all visits end with it.
        let look = self.requested_ports & *at(&env.visits.changed_ports, me);
        if look != 0 {
            again = self.allocate_vcs_fcfs(me, look, env);
        }
        if !self.ready.is_empty() {
            again |= self.allocate_switch_fcfs(me, env);
        }
        let staged = !self.allocated.is_empty();
        self.end_stages(env);
        again | staged
    }

    /// Whether the head of input VC `slot`, which is behind `other` in the order of slots, came first.
    #[inline(always)]
    fn came_before(&self, me: usize, slot: usize, other: usize, env: &Env) -> bool {
        *at(&env.allocation.arrivals, self.number(me, slot)) < *at(&env.allocation.arrivals, self.number(me, other))
    }

    /// Each packet that waits for one of the ports `look` picks a VC of it, and each VC the oldest of those that picked
    /// it. These are the ports where something has changed; those where a packet lost are visited again in the next
    /// cycle. Whether there are such.
    #[inline(never)]
    fn allocate_vcs_fcfs(&mut self, me: usize, mut look: u64, env: &mut Env) -> bool {
        let mut lost = 0u64;
        while look != 0 {
            let port = look.trailing_zeros() as usize;
            look &= look - 1;
            // Where no VC is free, its release is a change.
            if self.port(port).free.is_empty() {
                continue;
            }
            let mut enough_at = u64::MAX;
            lost |= u64::from(self.allocate_port_fcfs(me, port, &mut enough_at, env)) << port;
            if enough_at != u64::MAX {
                env.streams.revisit_at((me, 1 << port), enough_at.max(env.now + 1));
            }
        }
        *at_mut(&mut env.visits.changed_ports, me) = lost;
        lost != 0
    }

    /// Allocates the VCs of one port, of which one is free; whether a packet lost. `enough_at`: the first cycle in
    /// which there will be enough credits for a packet that waits for no more than that.
    #[inline(always)]
    fn allocate_port_fcfs(&mut self, me: usize, port: usize, enough_at: &mut u64, env: &mut Env) -> bool {
        let mut left = *at(&env.streams.requesters, self.port_number(me, port));
        if left & left.wrapping_sub(1) == 0 {
            let slot = left.trailing_zeros() as usize & 63;
            let usable = self.usable_by_credits(me, slot, port, enough_at, env);
            if !usable.is_empty() {
                let out_vc = self.accept(slot, port, &usable);
                self.take_vc(me, slot, (port, out_vc), env);
            }
            return false;
        }
        // VCs that are picked, and by whom: input VCs in ascending order.
        let (mut picked, mut by) = (0u64, [0u8; VCS]);
        let (mut requested, mut granted) = (0, 0);
        while left != 0 {
            let slot = left.trailing_zeros() as usize;
            left &= left - 1;
            let usable = self.usable_by_credits(me, slot, port, enough_at, env);
            if usable.is_empty() {
                continue;
            }
            requested += 1;
            let out_vc = self.accept(slot, port, &usable);
            let picker = at_mut(&mut by, out_vc);
            if picked >> out_vc & 1 == 0 || self.came_before(me, slot, usize::from(*picker), env) {
                *picker = slot as u8;
            }
            picked |= 1 << out_vc;
        }
        while picked != 0 {
            let out_vc = picked.trailing_zeros() as usize;
            picked &= picked - 1;
            granted += 1;
            self.take_vc(me, usize::from(*at(&by, out_vc)), (port, out_vc), env);
        }
        requested > granted
    }

    /// The free VCs of its class of `port` that have credits for all of a waiting packet. Of those that will have them
    /// it is noted when.
    #[inline(always)]
    fn usable_by_credits(&mut self, me: usize, slot: usize, port: usize, enough_at: &mut u64, env: &Env) -> M {
        let vc = self.input(slot);
        let (needed, upper) = (vc.left, vc.flags >> UPPER_CLASS.trailing_zeros() & 1);
        let mut usable = self.port(port).free.of_class(&env.allocation.classes, port, usize::from(upper));
        let mut left = usable;
        while !left.is_empty() {
            let v = left.first();
            left.remove(v);
            let all = self.output_of((port, v)).credits;
            let credits = env.streams.credits_of(self.number(me, Self::slot(port, v)), all);
            if credits.by(env.now) < needed {
                usable.remove(v);
                *enough_at = (*enough_at).min(credits.enough_from(needed).unwrap_or(u64::MAX));
            }
        }
        usable
    }

    /// A waiting packet is given an output VC, and picks behind it the next time.
    #[inline(always)]
    fn take_vc(&mut self, me: usize, slot: usize, (port, out_vc): (usize, usize), env: &mut Env) {
        let requesters = at_mut(&mut env.streams.requesters, self.port_number(me, port));
        *requesters &= !(1 << slot);
        if *requesters == 0 {
            self.requested_ports &= !(1 << port);
        }
        self.grant_vc(slot, port, out_vc);
        self.activate_after_delay(me, slot, (port, out_vc), env);
    }

    /// Each free row picks the oldest of its ready packets whose column is free, and each output port the oldest of
    /// those that picked it: a row is an input port, or, where each VC has an input of the crossbar, a VC. Whether one
    /// lost that may be sent in the next cycle.
    #[inline(never)]
    fn allocate_switch_fcfs(&mut self, me: usize, env: &mut Env) -> bool {
        let busy = *at(&env.streams.busy, me);
        let ready = self.ready.first_word();
        if ready & (ready - 1) == 0 {
            let slot = ready.trailing_zeros() as usize;
            if self.is_free_to_go(slot, busy, env) {
                self.send_packet(me, slot, env);
            }
            return false;
        }
        // Columns that are picked, and by whom: input VCs in ascending order.
        let (mut picked, mut by) = (0u64, [0u8; 64]);
        let (mut able, mut sending) = (0u64, 0u64);
        let mut left = ready;
        let row_per_vc = env.rules.switch.input_speedup > 1;
        while left != 0 {
            let (in_port, in_vc) = Self::port_and_vc(left.trailing_zeros() as usize);
            let of_port = (!0u64 >> (64 - VCS.min(64))) << (in_port * VCS);
            let row = if row_per_vc { left & left.wrapping_neg() } else { of_port };
            let mut of_row = left & row;
            left &= !row;
            if busy.rows >> env.streams.row(in_port, in_vc) & 1 == 1 {
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
        lost != 0 && self.may_send(me, env)
    }
}
