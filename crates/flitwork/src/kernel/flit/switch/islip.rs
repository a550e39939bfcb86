//! Switch allocation by iSLIP with one iteration, on bit masks.
//!
//! The algorithm. A VC is ready if it has a flit, an output VC and a credit for it.
//!
//! ```text
//! for each output port p:
//!     p grants the first input port from p's pointer on that has a ready VC for p
//! for each input port i with a grant:
//!     i accepts the first output port from i's pointer on that grants i
//!     i sends a flit of the first VC from its VC pointer on that is ready for that port
//!     all three pointers move behind their partners
//! ```
//!
//! Departures from it, none of which changes the matching:
//!
//! 1. *Without conflict everything is granted.* If no two ready VCs share an input port or want the same output port,
//!    each is the only request of both (`is_conflict_free`). In routers of more than 64 VCs with several ready ones in
//!    a word, a conflict is nearly certain, so this is not tested.
//! 2. *Two VCs in conflict are compared directly.* They meet at one output port, at one input port, or at both. The
//!    pointer of the place where they meet decides (`winner_of_two`).
//! 3. *Output ports see VCs instead of input ports*, where one word holds all VCs of a router. Slots are ordered by
//!    port, so the first ready VC from the first slot of port `pointer` on belongs to the first input port from the
//!    pointer on. VCs without conflict are granted beside the matching: no other VC requests their ports, so they can
//!    neither win nor lose.
//! 4. *Output ports see input ports as bits*, where a router has more VCs (`match_rows`): one pass over the ready VCs
//!    collects them.
//! 5. *The VC that sends is looked up for winners only.* Grant and accept do not depend on it.
//! 6. *A pointer is the last partner*, and wraps by the compiled number of ports or VCs. Ports and VCs beyond those of
//!    the network are never ready.
//! 7. *Winners are sent in any order.* Each has its own input and output port, and events of one cycle commute.

use crate::kernel::flit::router::{SlotNumber, SlotSet};
use crate::kernel::flit::{Env, Router, VcMask};
use crate::unchecked::{at, at_mut, lowest};

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    #[inline(always)]
    pub(crate) fn allocate_switch_islip<const COMMON: bool>(&mut self, me: usize, env: &mut Env) {
        // Of many ready VCs some nearly always meet: it is skipped whether they do.
        let conflict_free = self.ready.has_few() && self.is_conflict_free();
        if WORDS > 1 && !conflict_free {
            return self.match_rows::<COMMON>(me, env);
        }
        let won = if conflict_free {
            self.ready
        } else if let Some(slot) = self.winner_if_two::<COMMON>(env) {
            SlotSet::from_first_word(1 << slot)
        } else {
            self.match_switch::<COMMON>(me, env)
        };
        let mut from = 0;
        while let Some((word, mut bits)) = won.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let port = self.input(slot).port as usize;
                self.move_switch_pointers(slot, port);
                self.send_front::<false, COMMON>(me, slot, env.now, env);
            }
            from = word + 1;
        }
    }

    /// Whether no two ready VCs share an input port or want the same output port: then each is granted what it
    /// requests.
    #[inline(always)]
    fn is_conflict_free(&self) -> bool {
        self.ready.has_one_per_port::<VCS>() && self.outputs_are_conflict_free()
    }

    /// Whether no two ready VCs want the same output port.
    #[inline(always)]
    pub(super) fn outputs_are_conflict_free(&self) -> bool {
        let (mut ports, mut from) = (0u64, 0);
        while let Some((word, mut bits)) = self.ready.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let port = 1 << (self.input_at(slot).port & 63);
                if ports & port != 0 {
                    return false;
                }
                ports |= port;
            }
            from = word + 1;
        }
        true
    }

    /// The switch sends a flit of input VC `slot` to `port`: the next match starts behind each of them.
    #[inline(always)]
    pub(crate) fn move_switch_pointers(&mut self, slot: usize, port: usize) {
        let (in_port, vc) = Self::port_and_vc(slot);
        let row = self.port(in_port);
        row.accepted_last = port as u8;
        row.sent_last = M::Slot::of(vc);
        self.port(port).granted_last = in_port as u8;
    }

    /// Every output port grants an input port, every input port accepts an output port, and sends.
    // The loop of `match_switch` again: with one for both, by a closure, trees take a hundredth more instructions.
    #[inline(always)]
    fn match_rows<const COMMON: bool>(&mut self, me: usize, env: &mut Env) {
        let mut granted = [0u64; PORTS];
        let mut rows = self.grant_by_rows::<COMMON>(me, &mut granted, env);
        while rows != 0 {
            let in_port = rows.trailing_zeros() as usize;
            rows &= rows - 1;
            let port = at(&granted, in_port).first_from(self.port_accepts_first(in_port));
            let slot = Self::slot(in_port, self.vc_to_send(in_port, port));
            self.move_switch_pointers(slot, port);
            self.send_front::<false, COMMON>(me, slot, env.now, env);
        }
    }

    /// Output ports granted to each input port, and the input ports that have any, as bits.
    #[inline(always)]
    fn grant_by_rows<const COMMON: bool>(&mut self, me: usize, granted: &mut [u64; PORTS], env: &mut Env) -> u64 {
        let mut rows_of = [0u64; PORTS];
        let ports = self.switch_requests(&mut rows_of);
        if env.rare::<COMMON>(|rules| rules.ports.injection_last) {
            Self::yield_switch_to_transit(env.network_ports(me), &mut rows_of);
        }
        self.grant_rows(&rows_of, ports, granted)
    }

    /// The VCs that are granted the switch, where some ready VCs may conflict; where one word holds all VCs, some do.
    #[inline(never)]
    pub(super) fn match_switch<const COMMON: bool>(&mut self, me: usize, env: &mut Env) -> SlotSet<WORDS> {
        let injection_last = env.rare::<COMMON>(|rules| rules.ports.injection_last);
        if WORDS == 1 && !injection_last {
            return SlotSet::from_first_word(self.match_in_one_word());
        }
        let mut granted = [0u64; PORTS];
        let mut rows = self.grant_by_rows::<COMMON>(me, &mut granted, env);
        let mut won = SlotSet::EMPTY;
        while rows != 0 {
            let in_port = rows.trailing_zeros() as usize;
            rows &= rows - 1;
            let port = at(&granted, in_port).first_from(self.port_accepts_first(in_port));
            won.insert(Self::slot(in_port, self.vc_to_send(in_port, port)));
        }
        won
    }

    /// The VCs that are granted the switch, where one word holds all VCs. Some conflict; most do not, and nearly always
    /// only two do.
    #[inline(always)]
    fn match_in_one_word(&self) -> u64 {
        let ready = self.ready.first_word();
        let mut senders = [0u64; PORTS];
        let (ports, mut shared) = self.senders_by_port(ready, &mut senders);
        let mut meet = ready & self.ready.crowded_ports::<VCS>();
        while shared != 0 {
            meet |= *at(&senders, lowest(shared));
            shared &= shared - 1;
        }
        debug_assert!(meet.count_ones() > 1);
        let more = meet & (meet - 1);
        if more & (more - 1) == 0 {
            return ready & !meet | 1 << self.winner_of_two(meet, more);
        }
        // Output ports granted to each input port.
        let mut granted = [0u64; PORTS];
        let (mut rows, mut won) = (self.grant_in_one_word(&senders, ports, &mut granted), 0);
        while rows != 0 {
            let in_port = lowest(rows);
            rows &= rows - 1;
            let port = at(&granted, in_port).first_from(self.port_accepts_first(in_port));
            let of_port = *at(&senders, port) >> (Self::slot(in_port, 0) & 63) & ((1 << VCS) - 1);
            won |= 1 << Self::slot(in_port, of_port.first_from(self.sends_first(in_port)));
        }
        won
    }

    /// Where one word holds all VCs: the one that is granted the switch if two are all that is ready.
    #[inline(always)]
    fn winner_if_two<const COMMON: bool>(&self, env: &Env) -> Option<usize> {
        let ready = self.ready.first_word();
        let more = ready & ready.wrapping_sub(1);
        if env.rare::<COMMON>(|rules| rules.ports.injection_last) || more & more.wrapping_sub(1) != 0 {
            return None;
        }
        Some(self.winner_of_two(ready, more))
    }

    /// The one that is granted the switch of the two of `meet`, one of which is in `more`.
    #[inline(always)]
    fn winner_of_two(&self, meet: u64, more: u64) -> usize {
        let (a, b) = (lowest(meet), lowest(more));
        let (port_a, port_b) = (usize::from(self.input_at(a).port), usize::from(self.input_at(b).port));
        let ((row_a, vc_a), (row_b, vc_b)) = (Self::port_and_vc(a), Self::port_and_vc(b));
        let turn = |i: usize, first: usize, of: usize| i.wrapping_sub(first) & (of - 1);
        let first_wins = if row_a != row_b {
            // One output port for two input ports.
            let first = self.port_grants_first(port_a);
            turn(row_a, first, PORTS) < turn(row_b, first, PORTS)
        } else if port_a != port_b {
            // Both output ports grant the one input port.
            let first = self.port_accepts_first(row_a);
            turn(port_a, first, 64) < turn(port_b, first, 64)
        } else {
            // Two VCs of one input port, for the same output port.
            let first = self.sends_first(row_a);
            turn(vc_a, first, VCS) < turn(vc_b, first, VCS)
        };
        if first_wins { a } else { b }
    }

    /// The VCs of `ready` that send to each port. The ports that any of them sends to, as bits, and those that more
    /// than one does.
    #[inline(always)]
    fn senders_by_port(&self, ready: u64, senders: &mut [u64; PORTS]) -> (u64, u64) {
        let (mut wanted, mut shared, mut left) = (0u64, 0u64, ready);
        while left != 0 {
            let slot = lowest(left);
            left &= left - 1;
            let port = self.input_at(slot).port;
            *at_mut(senders, port as usize) |= 1 << slot;
            shared |= wanted & 1u64.wrapping_shl(u32::from(port));
            wanted |= 1u64.wrapping_shl(u32::from(port));
        }
        (wanted, shared)
    }

    /// Every output port of `ports` grants the first ready VC of those that send to it. The input ports granted, as
    /// bits.
    #[inline(always)]
    fn grant_in_one_word(&self, senders: &[u64; PORTS], mut ports: u64, granted: &mut [u64; PORTS]) -> u64 {
        let mut rows = 0;
        while ports != 0 {
            let port = ports.trailing_zeros() as usize;
            ports &= ports - 1;
            let first = Self::slot(self.port_grants_first(port), 0);
            let (in_port, _) = Self::port_and_vc(at(senders, port).first_from(first & 63));
            *at_mut(granted, in_port) |= 1 << port;
            rows |= 1 << in_port;
        }
        rows
    }

    /// Every output port of `ports` grants the first input port that requests it from its pointer on. The input ports
    /// granted, as bits.
    #[inline(always)]
    fn grant_rows(&self, rows_of: &[u64; PORTS], mut ports: u64, granted: &mut [u64; PORTS]) -> u64 {
        let mut rows = 0;
        while ports != 0 {
            let port = ports.trailing_zeros() as usize;
            ports &= ports - 1;
            let in_port = at(rows_of, port).first_from(self.port_grants_first(port));
            *at_mut(granted, in_port) |= 1 << port;
            rows |= 1 << in_port;
        }
        rows
    }

    /// Injection ports yield: they do not request an output port that a network port requests.
    #[inline(never)]
    fn yield_switch_to_transit(network_ports: usize, rows_of: &mut [u64; PORTS]) {
        for rows in rows_of {
            let transit = rows.below(network_ports);
            *rows = if transit == 0 { *rows } else { transit };
        }
    }

    /// Adds the input ports that have a ready VC for each output port to `rows_of`. The output ports requested, as
    /// bits.
    #[inline(always)]
    pub(super) fn switch_requests(&mut self, rows_of: &mut [u64; PORTS]) -> u64 {
        let (mut ports, mut from) = (0u64, 0);
        while let Some((word, mut bits)) = self.ready.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let port = self.input(slot).port;
                *at_mut(rows_of, port as usize) |= 1 << Self::port_and_vc(slot).0;
                ports |= 1u64.wrapping_shl(u32::from(port));
            }
            from = word + 1;
        }
        ports
    }

    /// The VC of an input port that sends to `port`: of those ready for it, the first from the pointer on.
    #[inline(always)]
    fn vc_to_send(&self, in_port: usize, port: usize) -> usize {
        let send_first = self.sends_first(in_port);
        let mut ready: M = self.ready.of_port(in_port, VCS);
        loop {
            let vc = ready.first_from(send_first);
            if self.input_at(Self::slot(in_port, vc)).port as usize == port {
                return vc;
            }
            ready.remove(vc);
        }
    }
}
