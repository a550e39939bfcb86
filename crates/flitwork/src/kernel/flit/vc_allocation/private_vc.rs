//! VC policies under which a packet may use one VC of each port only, its *private* VC: by destination, by service
//! level, or by the output port that it takes next (virtual output queues).
//!
//! The VC is found when a packet comes to the front of a buffer, or to an injection port, and kept: a waiting packet
//! requests it in every cycle.

use crate::kernel::flit::route::NextOutputs;
use crate::kernel::flit::router::{EJECTING, UPPER_CLASS};
use crate::kernel::flit::{Env, Router, VcMask};
use crate::plan::Plan;
use crate::spec::{ServiceLevel, VcPolicy};

/// Any VC of the port will do.
pub(crate) const ANY_VC: u16 = u16::MAX;

/// How a packet comes to its VC.
#[derive(Debug)]
enum Policy {
    Destination,
    ServiceLevel { level: ServiceLevel, vls: Vec<u16> },
    NextOutput(NextOutputs),
}

/// The private VCs of packets.
#[derive(Debug)]
pub(crate) struct PrivateVcs {
    policy: Policy,
    /// VCs of a dateline class.
    per_class: u16,
    terminals: u32,
    /// The VC that the front packet of each input VC requests, or [`ANY_VC`].
    wanted: Vec<u16>,
}

impl PrivateVcs {
    /// For a plan with `slots` input VCs; `None` where packets choose among VCs.
    pub fn new(plan: &Plan, slots: usize) -> Option<Box<Self>> {
        let (router, p) = (&plan.spec.network.router, &plan.params);
        let policy = match router.vc_policy {
            VcPolicy::Dateline => return None,
            VcPolicy::Destination => Policy::Destination,
            VcPolicy::ServiceLevel => Policy::ServiceLevel {
                level: plan.spec.network.nic.service_level,
                vls: router.sl_to_vl.iter().map(|&vl| vl as u16).collect(),
            },
            VcPolicy::VirtualOutputQueues => Policy::NextOutput(NextOutputs::of(plan)?),
        };
        let terminals = p.terminals as u32;
        let per_class = router.private_vcs(p.terminals, p.ports) as u16;
        Some(Box::new(PrivateVcs { policy, per_class, terminals, wanted: vec![ANY_VC; slots] }))
    }

    /// The VC that the front packet of input VC `vc` requests, or [`ANY_VC`].
    #[inline(always)]
    pub fn wanted(&self, vc: usize) -> u16 {
        self.wanted[vc]
    }

    /// The VC of a packet on a channel to router `to`, into its input port `entered` (`None`: from a terminal).
    fn at(&self, to: usize, entered: Option<u8>, id: u32, env: &Env) -> u16 {
        let dst = env.pool[id].dst;
        match &self.policy {
            Policy::Destination => dst as u16,
            Policy::ServiceLevel { level, vls } => {
                let number = level.of(env.pool.origin(id).src, dst, self.terminals) as usize;
                vls[number % vls.len()]
            }
            Policy::NextOutput(next) => u16::from(next.port(to, entered, id, env)),
        }
    }
}

impl Env {
    /// The private VC of a packet at its injection port; [`ANY_VC`] if it chooses. `upper`: in the upper dateline
    /// class.
    pub fn private_vc_at_source(&self, id: u32, upper: bool) -> u16 {
        let Some(private) = &self.allocation.private_vcs else { return ANY_VC };
        private.at(self.router_of(self.pool.origin(id).src as usize), None, id, self)
            + if upper { private.per_class } else { 0 }
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Notes which VC of `port` the front packet of an input VC will request.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_private_vc(&mut self, me: usize, slot: usize, port: u8, flags: u8, env: &mut Env) {
        let Some(mut private) = env.allocation.private_vcs.take() else { return };
        let packet = self.input(slot).front;
        let number = self.number(me, slot);
        private.wanted[number] = if flags & EJECTING == 0 {
            let far_end = self.port(port as usize).far_end as usize;
            let entered = Self::port_and_vc(far_end % self.slots()).0 as u8;
            let upper = if flags & UPPER_CLASS != 0 { private.per_class } else { 0 };
            private.at(far_end / self.slots(), Some(entered), packet, env) + upper
        } else {
            match private.policy {
                Policy::Destination => private.at(me, None, packet, env),
                // The terminal takes what comes.
                Policy::ServiceLevel { .. } | Policy::NextOutput(_) => ANY_VC,
            }
        };
        env.allocation.private_vcs = Some(private);
    }
}
