//! Switch traversal: a flit leaves its buffer and goes downstream, its credit goes upstream, and behind a tail the
//! output VC becomes free.

use crate::kernel::flit::router::HEAD;
use crate::kernel::flit::{Env, Router, VcMask};
use crate::transit::{FlitArrival, NONE};
use crate::unchecked::push_within;

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Sends the front flit of an input VC. `turn` is the cycle in which the output port puts it on the channel: now,
    /// unless output speed-up makes it queue. `GENERAL`: channels may have their own timing, and VCs may share buffer
    /// places.
    #[inline(always)]
    pub(crate) fn traverse<const GENERAL: bool, const COMMON: bool>(
        &mut self,
        me: usize,
        slot: usize,
        turn: u64,
        env: &mut Env,
    ) {
        let vc = self.input(slot);
        let (port, output, packet) = (vc.port as usize, vc.output as usize, vc.front);
        let head = vc.flags & HEAD != 0;
        if head {
            vc.flags &= !HEAD;
        }
        vc.occupied -= 1;
        vc.left -= 1;
        let (tail, empty) = (vc.left == 0, vc.occupied == 0);
        let output = (port, output % VCS);
        let out = self.output_of(output);
        out.credits -= 1;
        let blocked = tail || empty || out.credits == 0;
        if GENERAL && env.allocation.shared_buffers.is_some() {
            self.take_place(me, Self::slot(output.0, output.1), env);
        }
        self.send_on::<GENERAL>(me, output, packet, (head, tail), turn, env);
        if !COMMON && env.measured.flit_times.is_some() {
            self.note_flit(port, packet, tail, turn, env);
        }
        self.return_credit::<GENERAL>(me, slot, env);

        if blocked {
            self.ready.remove(slot);
        }
        if tail {
            self.behind_tail::<COMMON>(me, slot, output, env);
            if GENERAL && env.allocation.shared_buffers.is_some() {
                self.free_places(me, Self::slot(output.0, output.1), env);
            }
        }
        if env.is_watched::<COMMON>() {
            let head = head.then_some(packet);
            let (in_port, _) = Self::port_and_vc(slot);
            env.note_move(
                self.number(me, slot),
                (self.port_number(me, port), self.port_number(me, in_port)),
                head,
                port >= env.network_ports(me),
                turn,
            );
        }
    }

    /// A flit of `packet` goes on the channel or to the terminal behind output VC `output`; whether it is the first and
    /// the last of it.
    #[inline(always)]
    pub(crate) fn send_on<const GENERAL: bool>(
        &mut self,
        me: usize,
        (port, out_vc): (usize, usize),
        packet: u32,
        (head, tail): (bool, bool),
        turn: u64,
        env: &mut Env,
    ) {
        env.measured.flit_hops += 1;
        let out_port = self.port(port);
        if out_port.far_end == NONE {
            let tail = tail.then_some(packet);
            // Out of line only for routers of at most 64 VCs: larger ones, as in trees, have terminals at many of their
            // ports.
            return if WORDS == 1 {
                self.eject_out_of_line::<GENERAL>(me, (port, out_vc), tail, turn, env)
            } else {
                self.eject::<GENERAL>(me, (port, out_vc), tail, turn, env)
            };
        }
        out_port.flits += 1;
        let flit = FlitArrival { vc: out_port.far_end + out_vc as u32, packet: if head { packet } else { NONE } };
        if let Some(timing) = env.transit.timing.as_mut().filter(|_| GENERAL) {
            timing.granted(me, port, env.now);
            env.transit.wheel.at(turn + u64::from(timing.hop_cycles[timing.at(me, port)])).flits.push(flit);
        } else if !GENERAL || turn == env.now {
            push_within(&mut env.transit.next_flits, flit);
        } else {
            env.send_later(flit, turn);
        }
    }

    /// The place that a flit leaves becomes free upstream.
    #[inline(always)]
    pub(crate) fn return_credit<const GENERAL: bool>(&mut self, me: usize, slot: usize, env: &mut Env) {
        let (in_port, in_vc) = Self::port_and_vc(slot);
        let feeder = self.port(in_port).feeder;
        if feeder != NONE {
            let upstream = feeder + in_vc as u32;
            match env.transit.timing.as_ref().filter(|_| GENERAL) {
                None => push_within(&mut env.transit.next_credits, upstream),
                Some(timing) => {
                    let cycles = timing.credit_cycles[timing.at(me, in_port)];
                    env.transit.wheel.at(env.now + u64::from(cycles)).credits.push(upstream);
                }
            }
        } else {
            let credit = self.port(in_port).injection + in_vc as u32;
            env.transit.wheel.at(env.now + u64::from(env.p.inject_credit_cycles)).injection_credits.push(credit);
        }
    }

    /// The output VC is free again, and the next packet of the buffer comes to the front.
    #[inline(always)]
    pub(crate) fn behind_tail<const COMMON: bool>(
        &mut self,
        me: usize,
        slot: usize,
        (port, out_vc): (usize, usize),
        env: &mut Env,
    ) {
        let credits = self.output_of((port, out_vc)).credits;
        self.port(port).free.insert(out_vc);
        if env.rare::<COMMON>(|rules| rules.route.is_adaptive()) && env.rules.vcs.first_use.are_enough(credits) {
            env.note_change(me, 1 << port);
        }
        self.next_front(me, slot, env);
    }
}
