//! What becomes of the packet that comes to the front of an input VC: its route is found, then it waits for an output
//! VC.

use crate::kernel::flit::router::{EJECTING, HEAD, UPPER_CLASS, WAITING};
use crate::kernel::flit::rules::{Arrivals, RouteMode};
use crate::kernel::flit::{Env, Router, VcMask};
use crate::transit::NONE;

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// The front packet of an input VC has left: the next one comes to the front.
    #[inline(always)]
    pub(crate) fn next_front(&mut self, me: usize, slot: usize, env: &mut Env) {
        let vc = self.input(slot);
        vc.flags = 0;
        // Flits that are left are of packets behind it.
        let alone = Self::is_empty_behind(vc);
        debug_assert!(alone == (vc.behind_last == NONE));
        if alone {
            vc.front = NONE;
        } else {
            self.bring_next_to_front(me, slot, env);
        }
    }

    /// Brings the next packet of a VC to its front. Out of line: it is rare, and must take no registers from the usual
    /// case.
    #[inline(never)]
    fn bring_next_to_front(&mut self, me: usize, slot: usize, env: &mut Env) {
        let vc = self.input(slot);
        let last = vc.behind_last;
        let next = env.pool[last].next;
        vc.front = next;
        if next == last {
            vc.behind_last = NONE;
        } else {
            env.pool[last].next = env.pool[next].next;
        }
        self.route_front(me, slot, Self::next_front_since(env), env);
    }

    /// Routes the packet that came to the front of an input VC in cycle `since`: now, or the next one if it came to the
    /// front behind a tail that has just left.
    #[inline(always)]
    pub(crate) fn route_front(&mut self, me: usize, slot: usize, since: u64, env: &mut Env) {
        if env.rules.route != RouteMode::AtSource {
            return self.route_front_hop_by_hop(me, slot, since, env);
        }
        self.route_front_at_source::<false>(me, slot, since, env);
    }

    /// Routes a new front packet whose route is decided at the source.
    #[inline(always)]
    pub(crate) fn route_front_at_source<const PORT_ONLY: bool>(
        &mut self,
        me: usize,
        slot: usize,
        since: u64,
        env: &mut Env,
    ) {
        let front = self.input(slot).front;
        let packet = &mut env.pool[front];
        let (port, flags) = match env.route.table.next_field(me, packet.key) {
            Some(field) => {
                // A branch, as most networks have none: without it a hop of a 1-flit packet takes 10 instructions more.
                if let Some(ports) = env.route.table.datelines(me) {
                    let port = 2 * field + usize::from(packet.minus >> field & 1);
                    packet.wraps |= ((ports >> port & 1) as u8) << field;
                }
                // Both bits of the field with one shift.
                let bits = u16::from_le_bytes([packet.minus, packet.wraps]) >> field;
                let upper = (bits >> (8 - UPPER_CLASS.trailing_zeros())) as u8 & UPPER_CLASS;
                ((2 * field) as u8 + (bits as u8 & 1), HEAD | upper)
            }
            None => (env.ejection_port(me, front), HEAD | EJECTING),
        };
        self.set_route::<PORT_ONLY>(me, slot, port, flags, since, env);
    }

    /// Routes a new front packet in a fat tree.
    #[inline(always)]
    pub(crate) fn route_front_in_fat_tree<const PORT_ONLY: bool>(
        &mut self,
        me: usize,
        slot: usize,
        since: u64,
        env: &mut Env,
    ) {
        let (port, flags) = self.next_in_fat_tree(me, slot, env);
        self.set_route::<PORT_ONLY>(me, slot, port, flags, since, env);
    }

    /// Routes a new front packet hop by hop.
    #[inline(never)]
    fn route_front_hop_by_hop(&mut self, me: usize, slot: usize, since: u64, env: &mut Env) {
        if env.rules.route.is_fat_tree() {
            return self.route_front_in_fat_tree::<false>(me, slot, since, env);
        }
        let found = if env.rules.route.is_adaptive() {
            let requests_from = env.requests_from(me, self.input(slot).front, since);
            self.route_to_candidates(me, slot, requests_from, env)
        } else {
            self.route_to_single_port(me, slot, env)
        };
        let (port, flags) = match found {
            Some(port) => (port, HEAD),
            None => (env.ejection_port(me, self.input(slot).front), HEAD | EJECTING),
        };
        self.set_route::<false>(me, slot, port, flags, since, env);
    }

    /// The front packet wants `port`.
    #[inline(always)]
    fn set_route<const PORT_ONLY: bool>(
        &mut self,
        me: usize,
        slot: usize,
        port: u8,
        flags: u8,
        since: u64,
        env: &mut Env,
    ) {
        let vc = self.input(slot);
        let packet = &env.pool[vc.front];
        vc.left = packet.flits;
        vc.port = port;
        if PORT_ONLY {
            if env.selects_in_stage(flags) {
                let requests_from = env.requests_from(me, vc.front, since);
                return self.schedule_selection(me, slot, flags, requests_from, env);
            }
            vc.flags = flags | WAITING;
            if env.rules.stages.routing_in_router {
                self.routed.insert(slot);
                return env.activate(me);
            }
            return self.request_vc(me, slot, port, env);
        }
        if env.rules.vcs.private {
            self.note_private_vc(me, slot, port, flags, env);
        }
        let vc = self.input(slot);
        if env.rules.stages.arrivals == Arrivals::OfVcs {
            // The cycle of the lowest 32 bits that is not later than now.
            let here = env.pool[vc.front].here;
            let number = me * Self::slots_in(env) + slot;
            env.allocation.arrivals[number] = env.now - u64::from((env.now as u32).wrapping_sub(here));
        }
        let requests_from = env.requests_from(me, vc.front, since);
        // Behind a tail this cycle's requests have been made already, so waiting from now on is waiting from `since`
        // on.
        if requests_from == since {
            vc.flags = flags | WAITING;
            self.request_vc(me, slot, port, env);
        } else if env.selects_in_stage(flags) {
            self.schedule_selection(me, slot, flags, requests_from, env);
        } else if env.rules.stages.routing_in_router && since == env.now {
            vc.flags = flags | WAITING;
            self.routed.insert(slot);
            env.activate(me);
        } else {
            vc.flags = flags;
            env.transit.wheel.at(requests_from).wakes.push(self.number(me, slot) as u32);
        }
    }
}
