//! A flit leaves its buffer: downstream the flit, upstream the credit, and what changes behind a tail.

use super::env::Env;
use super::mask::VcMask;
use super::state::{HEAD, Router};
use crate::transit::{FlitArrival, NONE};
use crate::unchecked::push_within;

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Sends the front flit of an input VC. `turn` is the cycle in which the output port puts it on the channel: now, unless
    /// output speed-up makes it queue. `OWN`: channels may have times of their own, and VCs share places.
    #[inline(always)]
    pub(super) fn traverse<const OWN: bool, const LEAN: bool>(
        &mut self,
        me: usize,
        slot: usize,
        turn: u64,
        env: &mut Env,
    ) {
        if PACKETS {
            return self.send_packet(me, slot, env);
        }
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
        if OWN && env.pools.is_some() {
            self.take_place(me, Self::slot(output.0, output.1), env);
        }
        self.send_on::<OWN>(me, output, packet, (head, tail), turn, env);
        if !LEAN && env.flit_times.is_some() {
            self.note_flit(port, packet, tail, turn, env);
        }
        self.return_credit::<OWN>(me, slot, env);

        if blocked {
            self.ready.remove(slot);
        }
        if tail {
            self.behind_tail::<LEAN>(me, slot, output, env);
            if OWN && env.pools.is_some() {
                self.free_places(me, Self::slot(output.0, output.1), env);
            }
        }
        if env.is_watched::<LEAN>() {
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

    /// A flit of `packet` goes on the channel or to the terminal behind output VC `output`; whether it is the first and the last of it.
    #[inline(always)]
    pub(super) fn send_on<const OWN: bool>(
        &mut self,
        me: usize,
        (port, out_vc): (usize, usize),
        packet: u32,
        (head, tail): (bool, bool),
        turn: u64,
        env: &mut Env,
    ) {
        env.flit_hops += 1;
        let out_port = self.port(port);
        if out_port.far_end == NONE {
            let tail = tail.then_some(packet);
            // Out of line only for routers of at most 64 VCs: larger ones, as in trees, have terminals at many of their ports.
            return if WORDS == 1 {
                self.eject_apart::<OWN>(me, (port, out_vc), tail, turn, env)
            } else {
                self.eject::<OWN>(me, (port, out_vc), tail, turn, env)
            };
        }
        out_port.flits += 1;
        let flit = FlitArrival { vc: out_port.far_end + out_vc as u32, packet: if head { packet } else { NONE } };
        if let Some(own) = env.own_times.as_mut().filter(|_| OWN) {
            own.granted(me, port, env.now);
            env.wheel.at(turn + u64::from(own.hop_cycles[own.at(me, port)])).flits.push(flit);
        } else if !OWN || turn == env.now {
            push_within(&mut env.next_flits, flit);
        } else {
            env.send_later(flit, turn);
        }
    }

    /// The place that a flit leaves becomes free upstream.
    #[inline(always)]
    pub(super) fn return_credit<const OWN: bool>(&mut self, me: usize, slot: usize, env: &mut Env) {
        let (in_port, in_vc) = Self::port_and_vc(slot);
        let feeder = self.port(in_port).feeder;
        if feeder != NONE {
            let upstream = feeder + in_vc as u32;
            match env.own_times.as_ref().filter(|_| OWN) {
                None => push_within(&mut env.next_credits, upstream),
                Some(own) => {
                    let cycles = own.credit_cycles[own.at(me, in_port)];
                    env.wheel.at(env.now + u64::from(cycles)).credits.push(upstream);
                }
            }
        } else {
            let credit = self.port(in_port).injection + in_vc as u32;
            env.wheel.at(env.now + u64::from(env.p.inject_credit_cycles)).injection_credits.push(credit);
        }
    }

    /// [`Router::eject`] on its own: of flits on their way it must take no registers.
    #[inline(never)]
    fn eject_apart<const OWN: bool>(
        &self,
        me: usize,
        output: (usize, usize),
        tail: Option<u32>,
        turn: u64,
        env: &mut Env,
    ) {
        self.eject::<OWN>(me, output, tail, turn, env);
    }

    /// A flit goes to the terminal behind `port`; `tail` is its packet if it is the last of it.
    #[inline(always)]
    fn eject<const OWN: bool>(
        &self,
        me: usize,
        (port, out_vc): (usize, usize),
        tail: Option<u32>,
        turn: u64,
        env: &mut Env,
    ) {
        let (output, terminal) = (Self::slot(port, out_vc), self.port_at(port).terminal);
        let p = &env.p;
        let arrival = turn + u64::from(p.eject_cycles);
        if let Some(packet) = tail {
            env.wheel.at(arrival).tails.push(packet);
        }
        let number = me * Self::slots_in(env) + output;
        env.wheel.at(arrival + u64::from(p.eject_credit_cycles)).credits.push(number as u32);
        // Without output speed-up all flits of a cycle arrive in the same one.
        let counts = if OWN { env.measurement.contains(&arrival) } else { env.counts_ejected };
        if counts {
            env.ejected[terminal as usize] += 1;
        } else if env.now < env.measurement.end && arrival >= env.measurement.end {
            Self::eject_late(terminal, arrival, env);
        }
    }

    /// Takes note of a flit that goes to a terminal.
    #[inline(never)]
    fn note_flit(&self, port: usize, packet: u32, tail: bool, turn: u64, env: &mut Env) {
        let Some(times) = env.flit_times.as_mut().filter(|_| self.port_at(port).far_end == NONE) else { return };
        let arrival = turn + u64::from(env.p.eject_cycles);
        times.arrives(env.pool.origin(packet), tail, arrival, env.now, &env.measurement);
    }

    /// The same of a flit that arrives just behind the end of the measurement.
    #[cold]
    #[inline(never)]
    fn eject_late(terminal: u32, arrival: u64, env: &mut Env) {
        env.late.push((arrival, terminal));
    }

    /// The output VC is free again, and the next packet of the buffer comes to the front.
    #[inline(always)]
    pub(super) fn behind_tail<const LEAN: bool>(
        &mut self,
        me: usize,
        slot: usize,
        (port, out_vc): (usize, usize),
        env: &mut Env,
    ) {
        let credits = self.output_of((port, out_vc)).credits;
        self.port(port).free.insert(out_vc);
        if env.asks::<LEAN>(|rules| rules.by_choice) && env.rules.first_use.are_enough(credits) {
            env.note_change(me, 1 << port);
        }
        self.next_front(me, slot, env);
    }

    /// The front packet of an input VC has left: the next one comes to the front.
    #[inline(always)]
    pub(super) fn next_front(&mut self, me: usize, slot: usize, env: &mut Env) {
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
}
