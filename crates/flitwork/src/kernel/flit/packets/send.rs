//! A packet is granted the switch: all that its flits do follows.

use super::due::Returning;
use super::streams::Busy;
use crate::kernel::flit::router::{HEAD, SlotSet};
use crate::kernel::flit::{Env, Router, VcMask};
use crate::transit::{FlitArrival, NONE};
use crate::unchecked::at_mut;

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Sends the front packet of an input VC, whose head leaves now.
    pub(super) fn send_packet(&mut self, me: usize, slot: usize, env: &mut Env) {
        let now = env.now;
        let vc = self.input(slot);
        let (port, output, packet, flits) = (vc.port as usize, vc.output as usize, vc.front, vc.left);
        vc.flags &= !HEAD;
        let out_vc = output % VCS;
        self.output_of((port, out_vc)).credits -= flits;
        env.measured.flit_hops += u64::from(flits);
        self.ready.remove(slot);

        let streams = &mut env.streams;
        let (in_port, in_vc) = Self::port_and_vc(slot);
        let row = streams.row(in_port, in_vc);
        let busy = &mut streams.busy[me];
        busy.rows |= 1 << row;
        busy.cols |= 1 << port;
        let until = now + u64::from(flits);
        let (port_number, number) = (self.port_number(me, port), self.number(me, slot));
        let stream = &mut streams.streams[port_number];
        (stream.until, stream.uncounted) = (until, now);
        streams.due.at(until).releases.push(number as u32);

        let far_end = self.port(port).far_end;
        if far_end != NONE {
            let out_port = self.port(port);
            out_port.flits += u64::from(flits);
            let head = FlitArrival { vc: far_end + out_vc as u32, packet };
            match env.transit.timing.as_ref() {
                None => env.transit.next_flits.push(head),
                Some(timing) => {
                    let cycles = timing.hop_cycles[timing.at(me, port)];
                    env.transit.wheel.at(now + u64::from(cycles)).flits.push(head);
                }
            }
        } else {
            let arrival = now + u64::from(env.p.eject_cycles);
            env.transit.wheel.at(arrival + u64::from(flits) - 1).tails.push(packet);
            let returns = arrival + u64::from(env.p.eject_credit_cycles);
            let credits = Returning { vc: self.number(me, output) as u32, flits };
            env.streams.due.at(returns).credits.push(credits);
        }
        self.return_credits(me, in_port, in_vc, flits, env);
    }

    /// The places in the buffer that the packet leaves become free upstream.
    fn return_credits(&mut self, me: usize, in_port: usize, in_vc: usize, flits: u16, env: &mut Env) {
        let now = env.now;
        let feeder = self.port(in_port).feeder;
        if feeder != NONE {
            let vc = feeder + in_vc as u32;
            let cycles = env
                .transit
                .timing
                .as_ref()
                .map_or(env.p.credit_cycles, |timing| timing.credit_cycles[timing.at(me, in_port)]);
            env.streams.due.at(now + u64::from(cycles)).credits.push(Returning { vc, flits });
        } else {
            let vc = self.port(in_port).injection + in_vc as u32;
            let due = env.streams.due.at(now + u64::from(env.p.inject_credit_cycles));
            due.injection_credits.push(Returning { vc, flits });
        }
    }

    /// An output VC has been released, or has more credits: whether a packet waits that may request it now. Credits of
    /// a VC that has an owner are of use when it is released, and who will wait for the port later visits it anyway.
    #[inline(always)]
    pub(super) fn note_if_requested(&mut self, me: usize, (port, vc): (usize, usize), env: &mut Env) -> bool {
        let chooses = env.rules.ports.selects_any;
        let wanted = if chooses {
            !self.waiting.is_empty()
        } else {
            self.requested_ports >> port & 1 == 1 && self.port(port).free.contains(vc)
        };
        if wanted || chooses {
            env.note_change(me, 1 << port);
        }
        wanted
    }

    /// The ports that packets wait for, that have changed, and that have a free VC: they are visited now, and again in
    /// the next cycle where one of their packets loses. Where no VC is free, its release is a change.
    pub(crate) fn ports_to_visit(&mut self, me: usize, env: &mut Env) -> u64 {
        let mut look = std::mem::take(at_mut(&mut env.visits.changed_ports, me)) & self.requested_ports;
        let mut left = look;
        while left != 0 {
            let port = left.trailing_zeros() as usize;
            left &= left - 1;
            if self.port(port).free.is_empty() {
                look &= !(1 << port);
            }
        }
        env.streams.visited_ports = look;
        look
    }

    /// Whether row and column of an input VC that may request the switch are not in use.
    #[inline(always)]
    pub(super) fn is_free_to_go(&mut self, slot: usize, busy: Busy, env: &Env) -> bool {
        let (in_port, in_vc) = Self::port_and_vc(slot);
        let row = env.streams.row(in_port, in_vc);
        (busy.rows >> row | busy.cols >> (self.input(slot).port & 63)) & 1 == 0
    }

    /// Takes the VCs whose row or column is in use out of `ready`, and returns them.
    pub(super) fn set_busy_aside(&mut self, me: usize, env: &Env) -> SlotSet<WORDS> {
        let (busy, all) = (env.streams.busy[me], self.ready);
        let (mut aside, mut from) = (SlotSet::EMPTY, 0);
        if busy.rows == 0 {
            return aside;
        }
        while let Some((word, mut bits)) = all.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if !self.is_free_to_go(slot, busy, env) {
                    self.ready.remove(slot);
                    aside.insert(slot);
                }
            }
            from = word + 1;
        }
        aside
    }

    /// Whether something that is ready was not granted, although its row and column are free: it may be granted in the
    /// next cycle.
    pub(super) fn may_send(&mut self, me: usize, env: &Env) -> bool {
        let (busy, mut from) = (env.streams.busy[me], 0);
        while let Some((word, mut bits)) = self.ready.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if self.is_free_to_go(slot, busy, env) {
                    return true;
                }
            }
            from = word + 1;
        }
        false
    }
}
