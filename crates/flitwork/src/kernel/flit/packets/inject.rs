//! Injection of whole packets: a port sends a head, and is visited again when the last flit leaves.

use super::credits::{Credits, complete_from};
use crate::kernel::flit::Env;
use crate::kernel::flit::ports::Injection;
use crate::kernel::network::Endpoints;
use crate::transit::{FlitArrival, NONE};

impl Injection {
    /// `flits` credits begin to come back to a VC of an injection port, the first of them now.
    pub(super) fn credits_return(&mut self, at: usize, flits: u16, now: u64) {
        self.credits[at] += flits;
        self.complete[at] = complete_from(now, flits);
        self.wake_starved((at as u32 / self.credits_per_terminal) as usize);
    }

    /// The last flit of the packet of an injection port leaves in this cycle.
    pub(super) fn last_flit_due(&mut self, port: usize, ports: usize) {
        self.ports[port].left = 1;
        let terminal = port / ports;
        self.active[terminal / 64] |= 1 << (terminal % 64);
    }

    /// One cycle of one terminal's ports; false if they need not be visited before something wakes them.
    pub(crate) fn step_packets(&mut self, terminal: usize, env: &mut Env, ends: &mut Endpoints) -> bool {
        let mut busy = false;
        for k in 0..env.p.nic_ports {
            let number = terminal * env.p.nic_ports + k;
            if self.ports[number].packet == NONE {
                let Some(outgoing) = ends.next_packet(terminal, k, env.now) else { continue };
                env.make_room_for(outgoing.flits);
                self.load(terminal, k, outgoing, env, ends);
            }
            if !self.ports[number].head_sent && !self.send_head(terminal, number, env, ends) {
                continue;
            }
            let port = &mut self.ports[number];
            if port.left > 1 {
                continue; // The rest follows by itself.
            }
            let packet = std::mem::replace(&mut port.packet, NONE);
            let (background, message) = (env.pool[packet].background, env.pool.origin(packet).message);
            ends.packet_sent(terminal, k, env.now, message, background);
            busy |= !ends.nics.pauses(terminal, k)
                && (!ends.nics.message_done(terminal, k) || ends.nics.is_due(terminal, env.now));
        }
        busy
    }

    /// Sends the head of a port's packet; false if no VC has credits enough.
    fn send_head(&mut self, terminal: usize, number: usize, env: &mut Env, ends: &mut Endpoints) -> bool {
        let id = self.ports[number].packet;
        let first = number * env.p.vcs;
        let mut credits = std::mem::take(&mut self.credits_now);
        credits.clear();
        credits.extend(self.credits_of(first, env).map(|credits| credits.by(env.now)));
        let vc = self.vc_for(&env.pool[id], number, &credits, env);
        self.credits_now = credits;
        let flits = env.pool[id].flits;
        let Some(vc) = vc else {
            let needed = if self.whole_buffer { env.p.buffer_flits as u16 } else { flits };
            self.wait_for_credits(terminal, first, needed, env);
            return false;
        };
        let origin = env.pool.origin_mut(id);
        origin.injected = env.now;
        ends.log.injected(origin.record, origin.src, flits, env.now);
        self.credits[first + usize::from(vc)] -= flits;
        let port = &mut self.ports[number];
        (port.vc, port.last_vc, port.head_sent) = (vc, vc, true);
        let head = FlitArrival { vc: port.entry + u32::from(vc), packet: id };
        env.transit.wheel.at(env.now + u64::from(env.p.inject_cycles)).flits.push(head);
        if flits > 1 {
            env.streams.due.at(env.now + u64::from(flits) - 1).last_flits.push(number as u32);
        }
        true
    }

    /// The credits of the VCs of a port, the first of which is VC `first`.
    fn credits_of(&self, first: usize, env: &Env) -> impl Iterator<Item = Credits> {
        let all = first..first + env.p.vcs;
        let pairs = self.credits[all.clone()].iter().zip(&self.complete[all]);
        pairs.map(|(&all, &complete)| Credits { all, complete })
    }

    /// A port sleeps until credits come back, or until those that are coming are `needed`.
    fn wait_for_credits(&mut self, terminal: usize, first: usize, needed: u16, env: &mut Env) {
        self.starved[terminal / 64] |= 1 << (terminal % 64);
        let enough = self.credits_of(first, env).filter_map(|credits| credits.enough_from(needed));
        if let Some(cycle) = enough.filter(|&cycle| cycle > env.now).min() {
            env.streams.due.at(cycle).terminals.push(terminal as u32);
        }
    }
}
