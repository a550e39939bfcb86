//! The start of a cycle of the packet kernel, and what it counts of packets that are on their way.

use super::credits::complete_from;
use super::due::{Returning, Revisit};
use crate::kernel::flit::{Env, Kernel, Router, VcMask};
use crate::measure::Arrival;
use crate::unchecked::at_mut;

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Kernel<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Delivers everything that is due now. Releases come first: they are the end of the cycle before.
    pub(crate) fn deliver_packets_due(&mut self, arrived: &mut Vec<Arrival>) {
        let now = self.env.now;
        let due = self.env.streams.take_due(now);
        for &vc in &due.releases {
            let (router, slot) = self.router_and_slot(vc as usize);
            self.release(router, slot);
        }
        for &Returning { vc, flits } in &due.credits {
            self.credits_return(vc as usize, flits);
        }
        for &Returning { vc, flits } in &due.injection_credits {
            self.injection.credits_return(vc as usize, flits, now);
        }
        due.terminals.iter().for_each(|&terminal| self.injection.wake_starved(terminal as usize));
        for &port in &due.last_flits {
            self.injection.last_flit_due(port as usize, self.env.p.nic_ports);
        }
        for &Revisit { router, ports } in &due.revisits {
            // All that waits there is visited again, whatever it found before.
            self.env.note_change(router as usize, ports);
            self.env.activate(router as usize);
        }
        self.env.streams.put_back(due);

        let slot = self.env.transit.wheel.take(now);
        self.deliver_flits_and_rest(slot, arrived);
    }

    /// The packet at the front of an input VC has sent its last flit.
    fn release(&mut self, me: usize, slot: usize) {
        let router = at_mut(&mut self.routers, me);
        let vc = *router.input(slot);
        let (port, output) = (vc.port as usize, vc.output as usize);
        let (in_port, in_vc) = Router::<M, PORTS, VCS, WORDS, PACKETS>::port_and_vc(slot);
        let streams = &mut self.env.streams;
        let row = streams.row(in_port, in_vc);
        let busy = &mut streams.busy[me];
        busy.rows &= !(1 << row);
        busy.cols &= !(1 << port);
        if port >= self.env.network_ports(me) {
            let now = self.env.now;
            let at = router.port_number(me, port);
            Self::count_ejected(&mut self.env, (router.port_at(port).terminal, at), now);
        }
        let router = at_mut(&mut self.routers, me);
        router.behind_tail::<false>(me, slot, (port, output % VCS), &mut self.env);
        if !router.ready.is_empty() | router.note_if_requested(me, (port, output % VCS), &mut self.env) {
            self.env.activate(me);
        }
    }

    /// `flits` credits begin to come back to an output VC, the first of them now.
    fn credits_return(&mut self, vc: usize, flits: u16) {
        let (me, output) = self.router_and_slot(vc);
        let router = at_mut(&mut self.routers, me);
        router.output(output).credits += flits;
        let complete = &mut self.env.streams.complete[vc];
        debug_assert!(*complete < self.env.now, "credits come back one a cycle");
        *complete = complete_from(self.env.now, flits);
        if router.note_if_requested(me, (output / VCS, output % VCS), &mut self.env) {
            self.env.activate(me);
        }
    }

    /// Counts the flits that an ejection port has sent before cycle `before` and that arrive in the measurement.
    fn count_ejected(env: &mut Env, (terminal, number): (u32, usize), before: u64) {
        let stream = &mut env.streams.streams[number];
        let sent = stream.uncounted..stream.until.min(before).max(stream.uncounted);
        stream.uncounted = sent.end;
        let delay = u64::from(env.p.eject_cycles);
        let first = (sent.start + delay).max(env.measured.measurement.start);
        let end = (sent.end + delay).min(env.measured.measurement.end);
        if first < end {
            env.measured.ejected[terminal as usize] += end - first;
        }
        // Sent before the end of the measurement, and there behind it.
        let (sent_before, behind) = (sent.end.min(env.measured.measurement.end), env.measured.measurement.end);
        for arrival in (sent.start + delay).max(behind)..sent_before.saturating_add(delay) {
            env.measured.late.push((arrival, terminal));
        }
    }

    /// Counts the flits that all ejection ports have sent before cycle `before`.
    pub(crate) fn count_all_ejected(&mut self, before: u64) {
        if !PACKETS {
            return; // Flits are counted one by one.
        }
        for me in 0..self.routers.len() {
            for port in self.env.network_ports(me)..self.env.p.ports {
                let router = &self.routers[me];
                let (terminal, number) = (router.port_at(port).terminal, router.port_number(me, port));
                Self::count_ejected(&mut self.env, (terminal, number), before);
            }
        }
    }

    /// Flits of packets that have been granted the switch and have not been sent before cycle `before`, at a port.
    pub(crate) fn unsent_flits(&self, me: usize, port: usize, before: u64) -> u64 {
        if PACKETS {
            u64::from(self.env.streams.unsent_flits(self.routers[me].port_number(me, port), before))
        } else {
            0
        }
    }

    /// Flits in the whole network that have been granted the switch and have not been sent before cycle `before`.
    pub(crate) fn all_unsent_flits(&self, before: u64) -> u64 {
        self.env.streams.streams.iter().map(|stream| stream.until.saturating_sub(before)).sum()
    }

    /// The next cycle in which something is due.
    pub(crate) fn next_due(&self, now: u64) -> Option<u64> {
        if self.env.visits.active.iter().any(|&word| word != 0) || self.injection.is_active() {
            return Some(now + 1);
        }
        let size = self.env.transit.wheel.cycles();
        let due = |&cycle: &u64| !self.env.transit.wheel.is_empty_at(cycle) || !self.env.streams.due.is_empty_at(cycle);
        // Packets without anything due wait for each other: the watchdog will say so.
        (now + 1..now + size).find(due).or((self.env.pool.live() > 0).then_some(now + 1))
    }
}
