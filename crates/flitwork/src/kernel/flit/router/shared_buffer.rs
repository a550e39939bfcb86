//! Buffers of which the VCs of a port share a part.
//!
//! A VC has places of its own (its *private* places) and takes more from the *shared* part of its port's buffer. The
//! sender keeps, for the port ahead, how many places each VC has taken. Credits ([`OutputVc::credits`], or those of an
//! injection port) follow from it: the VC's free private places, plus the free shared places of the port. They are
//! updated for all VCs of a port when its shared part changes, so the code that reads credits needs no rule for shared
//! buffers. Under virtual cut-through a packet takes its places when it is given its VC; until its tail has left, the
//! credits of that VC are the places that the packet has not used yet.
//!
//! A network without shared buffers has no such table. One with them takes the general path through allocation.
//!
//! [`OutputVc::credits`]: super::state::OutputVc::credits

use crate::kernel::flit::router::ACTIVE;
use crate::kernel::flit::{Env, Router, VcMask};
use crate::plan::Plan;
use crate::spec::Switching;
use crate::unchecked::{at, at_mut};

/// Places behind the ports that send: output ports, or injection ports.
#[derive(Debug)]
pub(crate) struct SharedBuffers {
    /// Private places of a VC.
    private: u16,
    /// A packet takes all its places when it is given its VC.
    pub whole_packets: bool,
    /// Free shared places, by port.
    free: Vec<u16>,
    /// Places taken behind each VC, `[port][vc]`.
    taken: Vec<u16>,
}

impl SharedBuffers {
    /// Empty buffers behind `ports` ports, with `vcs` VCs in all; `None` if the plan has no shared buffers.
    pub fn new(plan: &Plan, ports: usize, vcs: usize, whole_packets: bool) -> Option<Box<Self>> {
        let (private, shared) = (plan.params.buffer_flits as u16, plan.params.shared_buffer_flits as u16);
        let free = vec![shared; ports];
        (shared > 0).then(|| Box::new(SharedBuffers { private, whole_packets, free, taken: vec![0; ports * vcs] }))
    }

    /// The buffers behind all output ports of a network. A router has room for `slots` VCs in `ports` ports.
    pub fn behind_outputs(plan: &Plan, slots: usize, ports: usize) -> Option<Box<Self>> {
        let whole_packets = plan.spec.network.router.switching == Switching::VirtualCutThrough;
        SharedBuffers::new(plan, plan.params.routers * ports, slots / ports, whole_packets)
    }

    /// Free shared places of a port.
    pub fn free(&self, port: usize) -> u16 {
        *at(&self.free, port)
    }

    /// Flits that a VC of a port may take.
    pub fn credits(&self, port: usize, vc: usize) -> u16 {
        self.private.saturating_sub(*at(&self.taken, vc)) + self.free(port)
    }

    /// A VC takes places for `flits` flits; they must be free. Returns whether shared places are among them.
    pub fn take(&mut self, port: usize, vc: usize, flits: u16) -> bool {
        let taken = at_mut(&mut self.taken, vc);
        let shared = (*taken + flits).saturating_sub(self.private.max(*taken));
        *taken += flits;
        *at_mut(&mut self.free, port) -= shared;
        shared > 0
    }

    /// A credit of a VC comes back. Returns whether it frees a shared place.
    pub fn release(&mut self, port: usize, vc: usize) -> bool {
        let taken = at_mut(&mut self.taken, vc);
        let shared = *taken > self.private;
        *taken -= 1;
        *at_mut(&mut self.free, port) += u16::from(shared);
        shared
    }

    /// Shared places of a port: the taken ones and the free ones.
    #[cfg(feature = "audit")]
    pub fn shared_by(&self, port: usize, vcs: std::ops::Range<usize>) -> u32 {
        let shared = |vc: usize| u32::from(self.taken(vc).saturating_sub(self.private));
        vcs.map(shared).sum::<u32>() + u32::from(self.free(port))
    }

    /// Whether VC `vc` has taken shared places.
    pub fn shares(&self, vc: usize) -> bool {
        self.taken(vc) > self.private
    }

    /// Places taken behind VC `vc`.
    pub fn taken(&self, vc: usize) -> u16 {
        *at(&self.taken, vc)
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// The number, in the whole network, of the port of an output VC.
    fn buffer_of(&self, me: usize, output: usize) -> usize {
        self.port_number(me, Self::port_and_vc(output).0)
    }

    /// Whether the buffer behind an output VC has room for the front packet of input VC `slot`, if packets take all
    /// their places at once.
    pub(crate) fn has_room(&mut self, slot: usize, output: usize, env: &Env) -> bool {
        let reserves = env.allocation.shared_buffers.as_ref().is_some_and(|buffers| buffers.whole_packets);
        !reserves || self.output(output).credits >= env.pool[self.input(slot).front].flits
    }

    /// A packet has been given an output VC: it takes its places, if packets take all at once.
    pub(crate) fn reserve_room(&mut self, me: usize, slot: usize, output: usize, env: &mut Env) {
        let Some(mut buffers) = env.allocation.shared_buffers.take() else { return };
        if buffers.whole_packets {
            let flits = env.pool[self.input(slot).front].flits;
            self.output(output).credits = flits;
            if buffers.take(self.buffer_of(me, output), self.number(me, output), flits) {
                self.update_port_credits(me, output, &buffers, env);
            }
        }
        env.allocation.shared_buffers = Some(buffers);
    }

    /// A flit has been sent on an output VC, whose credits have been reduced already.
    #[inline(never)]
    pub(crate) fn take_place(&mut self, me: usize, output: usize, env: &mut Env) {
        let Some(mut buffers) = env.allocation.shared_buffers.take() else { return };
        if !buffers.whole_packets && buffers.take(self.buffer_of(me, output), self.number(me, output), 1) {
            self.update_port_credits(me, output, &buffers, env);
        }
        env.allocation.shared_buffers = Some(buffers);
    }

    /// The tail of a packet has left, and its output VC is free.
    #[inline(never)]
    pub(crate) fn free_places(&mut self, me: usize, output: usize, env: &mut Env) {
        let Some(buffers) = env.allocation.shared_buffers.take() else { return };
        self.update_credits(me, output, &buffers, env);
        env.allocation.shared_buffers = Some(buffers);
        if env.rules.route.is_adaptive() {
            env.note_change(me, 1 << Self::port_and_vc(output).0);
        }
    }

    /// A credit arrives.
    pub(crate) fn deliver_shared_credit(&mut self, me: usize, output: usize, env: &mut Env) {
        let Some(mut buffers) = env.allocation.shared_buffers.take() else { return };
        if buffers.release(self.buffer_of(me, output), self.number(me, output)) {
            self.update_port_credits(me, output, &buffers, env);
        } else {
            self.update_credits(me, output, &buffers, env);
        }
        env.allocation.shared_buffers = Some(buffers);
        if env.rules.route.is_adaptive() {
            env.note_change(me, 1 << Self::port_and_vc(output).0);
        }
    }

    /// Updates the credits of all VCs of the port of an output VC.
    fn update_port_credits(&mut self, me: usize, output: usize, buffers: &SharedBuffers, env: &mut Env) {
        let (port, _) = Self::port_and_vc(output);
        (0..env.p.vcs).for_each(|v| self.update_credits(me, Self::slot(port, v), buffers, env));
    }

    /// Updates the credits of an output VC, and whether its owner is ready to send.
    fn update_credits(&mut self, me: usize, output: usize, buffers: &SharedBuffers, env: &mut Env) {
        let (pool, number) = (self.buffer_of(me, output), self.number(me, output));
        let owner = self.owner(output);
        if buffers.whole_packets && owner.is_some() {
            return; // Its owner has its places.
        }
        let credits = buffers.credits(pool, number);
        self.output(output).credits = credits;
        let Some(owner) = owner else { return };
        let input = self.input(owner);
        if input.flags & ACTIVE == 0 || input.occupied == 0 {
            return;
        }
        if credits == 0 {
            self.ready.remove(owner);
        } else {
            self.ready.insert(owner);
            env.activate(me);
        }
    }

    /// Flits that have left through a port and whose credits have not come back.
    pub(crate) fn flits_behind_shared(&self, me: usize, port: usize, buffers: &SharedBuffers, vcs: usize) -> u32 {
        let sent = |output: usize| buffers.taken(self.number(me, output)) - self.unsent_places(output, buffers);
        (0..vcs).map(|v| u32::from(sent(Self::slot(port, v)))).sum()
    }

    /// Places that the owner of an output VC has taken and not used yet.
    pub(crate) fn unsent_places(&self, output: usize, buffers: &SharedBuffers) -> u16 {
        if buffers.whole_packets && self.owner(output).is_some() { self.output_at(output).credits } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vc_takes_its_private_places_first_and_gives_them_back_last() {
        let mut buffers = SharedBuffers { private: 2, whole_packets: false, free: vec![3], taken: vec![0; 2] };
        assert_eq!((buffers.credits(0, 0), buffers.credits(0, 1)), (5, 5));
        assert!(!buffers.take(0, 0, 2) && buffers.take(0, 0, 1));
        assert_eq!((buffers.credits(0, 0), buffers.credits(0, 1), buffers.free(0)), (2, 4, 2));
        assert!(buffers.take(0, 1, 4));
        assert_eq!((buffers.credits(0, 0), buffers.credits(0, 1), buffers.free(0)), (0, 0, 0));
        assert!(buffers.release(0, 0) && !buffers.release(0, 0));
        assert_eq!((buffers.credits(0, 0), buffers.credits(0, 1), buffers.taken(1)), (2, 1, 4));
    }
}
