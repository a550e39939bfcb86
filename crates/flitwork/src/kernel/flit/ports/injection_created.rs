//! Injection of packets that go as traffic creates them, where ports request nothing but credits: a packet whose head
//! has a credit at once is drawn, made and sent in one go, and a port remembers only what it has begun.

use super::injection::{Injection, choose_vc};
use crate::kernel::flit::Env;
use crate::kernel::network::Endpoints;
use crate::transit::{FlitArrival, NONE};
use crate::unchecked::{at, at_mut};

impl Injection {
    /// Whether all ports are served so.
    pub(super) fn sends_as_created(&self, env: &Env, ends: &Endpoints) -> bool {
        let rules = &env.rules;
        let only_credits_matter = !env.measured.watched
            && env.measured.flit_times.is_none()
            && !rules.vcs.private
            && self.shared_buffers.is_none()
            && !self.whole_buffer;
        only_credits_matter && env.p.nic_ports == 1 && ends.hosts.is_none() && ends.nics.sends_as_created()
    }

    /// One cycle of one terminal's port; false if it need not be visited before something wakes it.
    #[inline]
    pub(super) fn step_created(&mut self, terminal: usize, env: &mut Env, ends: &mut Endpoints) -> bool {
        let port = *at(&self.ports, terminal);
        if port.packet != NONE && port.head_sent {
            return self.send_more(terminal, env, ends);
        }
        let (packet, flits) = if port.packet == NONE {
            let Some(outgoing) = ends.nics.next_created(terminal, env.now) else { return false };
            (self.packet(terminal, 0, outgoing, env, ends), outgoing.flits)
        } else {
            (port.packet, port.left)
        };
        let p = &env.p;
        let first = terminal * p.vcs;
        let needed = if self.cut_through { flits } else { 1 };
        let credits = &mut self.credits[first..first + p.vcs];
        let chosen = choose_vc(self.injection_vc, credits, port.last_vc as usize, needed, p.buffer_flits as u16);
        let Some(vc) = chosen else {
            let port = at_mut(&mut self.ports, terminal);
            (port.packet, port.left, port.head_sent) = (packet, flits, false);
            return self.starve(terminal);
        };
        credits[vc] -= 1;
        let flit = FlitArrival { vc: port.entry + vc as u32, packet };
        env.transit.wheel.at(env.now + u64::from(p.inject_cycles)).flits.push(flit);
        let origin = env.pool.origin_mut(packet);
        origin.injected = env.now;
        ends.log.injected(origin.record, terminal as u32, flits, env.now);
        let port = at_mut(&mut self.ports, terminal);
        port.last_vc = vc as u16;
        if flits > 1 {
            (port.packet, port.left, port.vc, port.head_sent) = (packet, flits - 1, vc as u16, true);
            return true;
        }
        port.packet = NONE;
        ends.nics.is_due(terminal, env.now)
    }

    /// The next flit of a packet whose head has left.
    #[inline(always)]
    fn send_more(&mut self, terminal: usize, env: &mut Env, ends: &mut Endpoints) -> bool {
        let port = at_mut(&mut self.ports, terminal);
        let credits = at_mut(&mut self.credits, terminal * env.p.vcs + usize::from(port.vc));
        if *credits == 0 {
            return self.starve(terminal);
        }
        *credits -= 1;
        let flit = FlitArrival { vc: port.entry + u32::from(port.vc), packet: NONE };
        env.transit.wheel.at(env.now + u64::from(env.p.inject_cycles)).flits.push(flit);
        port.left -= 1;
        if port.left > 0 {
            return true;
        }
        port.packet = NONE;
        ends.nics.is_due(terminal, env.now)
    }

    /// A port without a credit sleeps until one arrives.
    #[inline(always)]
    fn starve(&mut self, terminal: usize) -> bool {
        self.starved[terminal / 64] |= 1 << (terminal % 64);
        false
    }
}
