//! Ejection: a flit leaves the last router for its terminal, and is counted there.

use crate::kernel::flit::{Env, Router, VcMask};
use crate::transit::NONE;

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// [`Router::eject`] out of line, so that it takes no registers from flits that stay in the network.
    #[inline(never)]
    pub(crate) fn eject_out_of_line<const GENERAL: bool>(
        &self,
        me: usize,
        output: (usize, usize),
        tail: Option<u32>,
        turn: u64,
        env: &mut Env,
    ) {
        self.eject::<GENERAL>(me, output, tail, turn, env);
    }

    /// A flit goes to the terminal behind `port`; `tail` is its packet if it is the last of it.
    #[inline(always)]
    pub(crate) fn eject<const GENERAL: bool>(
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
            env.transit.wheel.at(arrival).tails.push(packet);
        }
        let number = me * Self::slots_in(env) + output;
        env.transit.wheel.at(arrival + u64::from(p.eject_credit_cycles)).credits.push(number as u32);
        // Without output speed-up all flits of a cycle arrive in the same one.
        let counts = if GENERAL { env.measured.measurement.contains(&arrival) } else { env.measured.counts_ejected };
        if counts {
            env.measured.ejected[terminal as usize] += 1;
        } else if env.now < env.measured.measurement.end && arrival >= env.measured.measurement.end {
            Self::eject_late(terminal, arrival, env);
        }
    }

    /// Takes note of a flit that goes to a terminal.
    #[inline(never)]
    pub(crate) fn note_flit(&self, port: usize, packet: u32, tail: bool, turn: u64, env: &mut Env) {
        let Some(times) = env.measured.flit_times.as_mut().filter(|_| self.port_at(port).far_end == NONE) else {
            return;
        };
        let arrival = turn + u64::from(env.p.eject_cycles);
        times.arrives(env.pool.origin(packet), tail, arrival, env.now, &env.measured.measurement);
    }

    /// Notes a flit that arrives just behind the end of the measurement.
    #[cold]
    #[inline(never)]
    fn eject_late(terminal: u32, arrival: u64, env: &mut Env) {
        env.measured.late.push((arrival, terminal));
    }
}
