//! Buffers that the VCs of a port share.
//!
//! What a sender knows of the port ahead is how many places each VC has taken. Its credits ([`OutputVc::credits`], or those of an injection
//! port) follow from that: places of its own that are free, and what is left of the pool. They are kept up to date, for all VCs of a port
//! when its pool changes, so whatever asks for credits knows nothing of pools. Under virtual cut-through a packet takes its places when
//! it is given its VC; until its tail has left the credits of that VC are what it has not used of them.
//!
//! Networks without pools have no such table; those with pools take the general path through allocation.
//!
//! [`OutputVc::credits`]: super::state::OutputVc::credits

use crate::kernel::flit::router::ACTIVE;
use crate::kernel::flit::{Env, Router, VcMask};
use crate::plan::Plan;
use crate::spec::Switching;
use crate::unchecked::{at, at_mut};

/// Places behind ports that send: output ports, or injection ports.
#[derive(Debug)]
pub(crate) struct Pools {
    /// Places that a VC has of its own.
    own: u16,
    /// Packets take their places as a whole, when they are given their VC.
    pub whole: bool,
    /// What is left of each pool, by port.
    left: Vec<u16>,
    /// Places taken behind each VC, `[port][vc]`.
    taken: Vec<u16>,
}

impl Pools {
    /// Nothing taken behind so many ports of so many VCs; `None` without pools.
    pub fn new(plan: &Plan, ports: usize, vcs: usize, whole: bool) -> Option<Box<Self>> {
        let (own, shared) = (plan.params.buffer_flits as u16, plan.params.shared_buffer_flits as u16);
        let left = vec![shared; ports];
        (shared > 0).then(|| Box::new(Pools { own, whole, left, taken: vec![0; ports * vcs] }))
    }

    /// Those behind the output ports of a network, with room for `slots` VCs in `ports` ports of a router.
    pub fn behind_outputs(plan: &Plan, slots: usize, ports: usize) -> Option<Box<Self>> {
        let whole = plan.spec.network.router.switching == Switching::VirtualCutThrough;
        Pools::new(plan, plan.params.routers * ports, slots / ports, whole)
    }

    /// What is left of the pool of a port.
    pub fn left(&self, port: usize) -> u16 {
        *at(&self.left, port)
    }

    /// Flits that a VC of a port may take.
    pub fn credits(&self, port: usize, vc: usize) -> u16 {
        self.own.saturating_sub(*at(&self.taken, vc)) + self.left(port)
    }

    /// A VC takes places for `flits` flits, which there are. Whether some were of the pool.
    pub fn take(&mut self, port: usize, vc: usize, flits: u16) -> bool {
        let taken = at_mut(&mut self.taken, vc);
        let shared = (*taken + flits).saturating_sub(self.own.max(*taken));
        *taken += flits;
        *at_mut(&mut self.left, port) -= shared;
        shared > 0
    }

    /// A credit of a VC comes back. Whether its place was of the pool.
    pub fn give_back(&mut self, port: usize, vc: usize) -> bool {
        let taken = at_mut(&mut self.taken, vc);
        let shared = *taken > self.own;
        *taken -= 1;
        *at_mut(&mut self.left, port) += u16::from(shared);
        shared
    }

    /// Places of a pool that the VCs of its port have taken, and those that are left.
    #[cfg(feature = "audit")]
    pub fn shared_by(&self, port: usize, vcs: std::ops::Range<usize>) -> u32 {
        let shared = |vc: usize| u32::from(self.taken(vc).saturating_sub(self.own));
        vcs.map(shared).sum::<u32>() + u32::from(self.left(port))
    }

    /// Whether VC `vc` has places of the pool.
    pub fn shares(&self, vc: usize) -> bool {
        self.taken(vc) > self.own
    }

    /// Places taken behind VC `vc`.
    pub fn taken(&self, vc: usize) -> u16 {
        *at(&self.taken, vc)
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// The number of the port of an output VC in the whole network.
    fn pool_of(&self, me: usize, output: usize) -> usize {
        self.port_number(me, Self::port_and_vc(output).0)
    }

    /// Whether there are places for the packet that is to be given an output VC, where packets take them as a whole.
    pub(crate) fn has_places(&mut self, slot: usize, output: usize, env: &Env) -> bool {
        let reserves = env.pools.as_ref().is_some_and(|pools| pools.whole);
        !reserves || self.output(output).credits >= env.pool[self.input(slot).front].flits
    }

    /// A packet has been given an output VC: it takes its places, where packets do as a whole.
    pub(crate) fn reserve_places(&mut self, me: usize, slot: usize, output: usize, env: &mut Env) {
        let Some(mut pools) = env.pools.take() else { return };
        if pools.whole {
            let flits = env.pool[self.input(slot).front].flits;
            self.output(output).credits = flits;
            if pools.take(self.pool_of(me, output), self.number(me, output), flits) {
                self.renew_port(me, output, &pools, env);
            }
        }
        env.pools = Some(pools);
    }

    /// A flit has been sent on an output VC, which has a credit less by now.
    #[inline(never)]
    pub(crate) fn take_place(&mut self, me: usize, output: usize, env: &mut Env) {
        let Some(mut pools) = env.pools.take() else { return };
        if !pools.whole && pools.take(self.pool_of(me, output), self.number(me, output), 1) {
            self.renew_port(me, output, &pools, env);
        }
        env.pools = Some(pools);
    }

    /// The tail of a packet has left, and its output VC is free.
    #[inline(never)]
    pub(crate) fn free_places(&mut self, me: usize, output: usize, env: &mut Env) {
        let Some(pools) = env.pools.take() else { return };
        self.renew(me, output, &pools, env);
        env.pools = Some(pools);
        if env.rules.by_choice {
            env.note_change(me, 1 << Self::port_and_vc(output).0);
        }
    }

    /// A credit arrives.
    pub(crate) fn deliver_credit_to_pool(&mut self, me: usize, output: usize, env: &mut Env) {
        let Some(mut pools) = env.pools.take() else { return };
        if pools.give_back(self.pool_of(me, output), self.number(me, output)) {
            self.renew_port(me, output, &pools, env);
        } else {
            self.renew(me, output, &pools, env);
        }
        env.pools = Some(pools);
        if env.rules.by_choice {
            env.note_change(me, 1 << Self::port_and_vc(output).0);
        }
    }

    /// The credits of all VCs of the port of an output VC.
    fn renew_port(&mut self, me: usize, output: usize, pools: &Pools, env: &mut Env) {
        let (port, _) = Self::port_and_vc(output);
        (0..env.p.vcs).for_each(|v| self.renew(me, Self::slot(port, v), pools, env));
    }

    /// The credits of an output VC, and what its owner may do with them.
    fn renew(&mut self, me: usize, output: usize, pools: &Pools, env: &mut Env) {
        let (pool, number) = (self.pool_of(me, output), self.number(me, output));
        let owner = self.owner(output);
        if pools.whole && owner.is_some() {
            return; // It has its places.
        }
        let credits = pools.credits(pool, number);
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

    /// Flits that have left by a port and whose credits have not come back.
    pub(crate) fn flits_behind_pool(&self, me: usize, port: usize, pools: &Pools, vcs: usize) -> u32 {
        let sent = |output: usize| pools.taken(self.number(me, output)) - self.unsent_places(output, pools);
        (0..vcs).map(|v| u32::from(sent(Self::slot(port, v)))).sum()
    }

    /// Places that the owner of an output VC has taken and not used yet.
    pub(crate) fn unsent_places(&self, output: usize, pools: &Pools) -> u16 {
        if pools.whole && self.owner(output).is_some() { self.output_at(output).credits } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vc_takes_its_own_places_first_and_gives_them_back_last() {
        let mut pools = Pools { own: 2, whole: false, left: vec![3], taken: vec![0; 2] };
        assert_eq!((pools.credits(0, 0), pools.credits(0, 1)), (5, 5));
        assert!(!pools.take(0, 0, 2) && pools.take(0, 0, 1));
        assert_eq!((pools.credits(0, 0), pools.credits(0, 1), pools.left(0)), (2, 4, 2));
        assert!(pools.take(0, 1, 4));
        assert_eq!((pools.credits(0, 0), pools.credits(0, 1), pools.left(0)), (0, 0, 0));
        assert!(pools.give_back(0, 0) && !pools.give_back(0, 0));
        assert_eq!((pools.credits(0, 0), pools.credits(0, 1), pools.taken(1)), (2, 1, 4));
    }
}
