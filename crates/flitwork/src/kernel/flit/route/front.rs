//! What becomes of the packet that comes to the front of an input VC: its route is found, then it waits for an output VC.

use crate::kernel::flit::router::{EJECTING, HEAD, UPPER_CLASS, WAITING};
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
        let alone = if PACKETS { vc.behind_last == NONE } else { vc.occupied == 0 };
        debug_assert!(alone == (vc.behind_last == NONE));
        if alone {
            vc.front = NONE;
        } else {
            self.next_in_line(me, slot, env);
        }
    }

    /// The same where there is one. On its own: it is not the rule, and must take no registers from what is.
    #[inline(never)]
    fn next_in_line(&mut self, me: usize, slot: usize, env: &mut Env) {
        let vc = self.input(slot);
        let last = vc.behind_last;
        let next = env.pool[last].next;
        vc.front = next;
        if next == last {
            vc.behind_last = NONE;
        } else {
            env.pool[last].next = env.pool[next].next;
        }
        // Whole packets are released at the start of the cycle behind their tails.
        self.new_front(me, slot, env.now + u64::from(!PACKETS), env);
    }

    /// Routes the packet that came to the front of an input VC in cycle `since`: now, or the next one if it came to the front
    /// behind a tail that has just left.
    #[inline(always)]
    pub(crate) fn new_front(&mut self, me: usize, slot: usize, since: u64, env: &mut Env) {
        if env.rules.hop_by_hop {
            return self.new_front_hop_by_hop(me, slot, since, env);
        }
        self.new_front_at_source::<false>(me, slot, since, env);
    }

    /// The same where the route is decided at the source.
    #[inline(always)]
    pub(crate) fn new_front_at_source<const PLAIN: bool>(&mut self, me: usize, slot: usize, since: u64, env: &mut Env) {
        let front = self.input(slot).front;
        let packet = &mut env.pool[front];
        let (port, flags) = match env.routes.next_field(me, packet.key) {
            Some(field) => {
                packet.wraps |=
                    env.routes.raises_class(me, 2 * field + usize::from(packet.minus >> field & 1)) << field;
                // Both bits of the field with one shift.
                let bits = u16::from_le_bytes([packet.minus, packet.wraps]) >> field;
                let upper = (bits >> (8 - UPPER_CLASS.trailing_zeros())) as u8 & UPPER_CLASS;
                ((2 * field) as u8 + (bits as u8 & 1), HEAD | upper)
            }
            None => (env.ejection_port(me, front), HEAD | EJECTING),
        };
        self.settle::<PLAIN>(me, slot, port, flags, since, env);
    }

    /// The same in a tree.
    #[inline(always)]
    pub(crate) fn new_front_in_tree<const PLAIN: bool>(&mut self, me: usize, slot: usize, since: u64, env: &mut Env) {
        let (port, flags) = self.step_in_tree(me, slot, env);
        self.settle::<PLAIN>(me, slot, port, flags, since, env);
    }

    /// The same where the route is decided hop by hop.
    #[inline(never)]
    fn new_front_hop_by_hop(&mut self, me: usize, slot: usize, since: u64, env: &mut Env) {
        if env.rules.in_tree {
            return self.new_front_in_tree::<false>(me, slot, since, env);
        }
        let found = if env.rules.by_choice {
            let asks_from = env.asks_from(me, self.input(slot).front, since);
            self.route_by_choice(me, slot, asks_from, env)
        } else {
            self.route_to_one_port(me, slot, env)
        };
        let (port, flags) = match found {
            Some(port) => (port, HEAD),
            None => (env.ejection_port(me, self.input(slot).front), HEAD | EJECTING),
        };
        self.settle::<false>(me, slot, port, flags, since, env);
    }

    /// The front packet wants `port`.
    #[inline(always)]
    fn settle<const PLAIN: bool>(&mut self, me: usize, slot: usize, port: u8, flags: u8, since: u64, env: &mut Env) {
        let vc = self.input(slot);
        let packet = &env.pool[vc.front];
        vc.left = packet.flits;
        vc.port = port;
        if PLAIN {
            if env.decides_in_stage(flags) {
                let asks_from = env.asks_from(me, vc.front, since);
                return self.decide_in_stage(me, slot, flags, asks_from, env);
            }
            vc.flags = flags | WAITING;
            if env.rules.routes_in_one {
                self.routed.insert(slot);
                return env.activate(me);
            }
            return self.want(me, slot, port, env);
        }
        if env.rules.own_vc {
            self.note_own_vc(me, slot, port, flags, env);
        }
        let vc = self.input(slot);
        if env.rules.fcfs {
            // The cycle of the lowest 32 bits that is not later than now.
            let here = env.pool[vc.front].here;
            let number = me * Self::slots_in(env) + slot;
            env.arrivals[number] = env.now - u64::from((env.now as u32).wrapping_sub(here));
        }
        let asks_from = env.asks_from(me, vc.front, since);
        // Behind a tail this cycle's requests have been made already, so waiting from now on is waiting from `since` on.
        if asks_from == since {
            vc.flags = flags | WAITING;
            self.want(me, slot, port, env);
        } else if env.decides_in_stage(flags) {
            self.decide_in_stage(me, slot, flags, asks_from, env);
        } else if env.rules.routes_in_one && since == env.now {
            vc.flags = flags | WAITING;
            self.routed.insert(slot);
            env.activate(me);
        } else {
            vc.flags = flags;
            env.wheel.at(asks_from).wakes.push(self.number(me, slot) as u32);
        }
    }
}
