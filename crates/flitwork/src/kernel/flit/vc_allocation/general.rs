//! VC allocation of every kind, on a list of requests: any allocator and arbiter.
//!
//! Rows and columns of the VC allocator are the model's (`port * vcs + vc`), which a wavefront depends on; the state's
//! slots leave gaps between ports.

use crate::kernel::flit::rules::Speculation;
use crate::kernel::flit::vc_allocation::VcRequest;
use crate::kernel::flit::{Env, Router, VcMask};
use crate::measure::Origin;
use crate::plan::Plan;
use crate::router::{Allocator, Priority, Request, Waiting, YIELDS};
use crate::spec::ArbiterKind;

/// The VC allocator and its working memory.
#[derive(Debug)]
pub(crate) struct GeneralVcAllocation<M> {
    allocator: Allocator,
    arbiter: ArbiterKind,
    vcs: usize,
    vc_requests: Vec<VcRequest<M>>,
    requests: Vec<Request>,
    grants: Vec<(u16, u16)>,
    /// Packets that wait for a VC and may request the switch in the same cycle: (input, port).
    pub speculative: Vec<(u16, u8)>,
    /// Input VCs that were granted an output VC in this cycle.
    pub fresh: Vec<u16>,
}

impl<M> GeneralVcAllocation<M> {
    /// For a plan.
    pub fn new(plan: &Plan) -> Self {
        let (router, p) = (&plan.spec.network.router, &plan.params);
        let vcs_of_router = p.ports * p.vcs;
        GeneralVcAllocation {
            allocator: Allocator::new(&router.vc_allocator, p.routers, vcs_of_router, vcs_of_router),
            arbiter: router.vc_allocator.arbiter,
            vcs: p.vcs,
            vc_requests: Vec::with_capacity(vcs_of_router),
            requests: Vec::with_capacity(vcs_of_router * p.vcs.min(64)),
            grants: Vec::with_capacity(vcs_of_router),
            speculative: Vec::with_capacity(vcs_of_router),
            fresh: Vec::with_capacity(vcs_of_router),
        }
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// The number of a slot in the model.
    fn model_number(slot: usize, vcs: usize) -> u16 {
        let (port, vc) = Self::port_and_vc(slot);
        (port * vcs + vc) as u16
    }

    /// The slot of a number in the model.
    fn slot_of(number: u16, vcs: usize) -> usize {
        Self::slot(number as usize / vcs, number as usize % vcs)
    }

    /// The priority of the front packet of input VC `slot` under an arbiter; the smaller, the better.
    pub(crate) fn priority(&self, me: usize, slot: usize, arbiter: ArbiterKind, env: &Env) -> u128 {
        let yields = env.rules.ports.injection_last && Self::port_and_vc(slot).0 >= env.network_ports(me);
        let class = if yields { YIELDS } else { 0 };
        let (Priority::OfPacket(priority) | Priority::OfArrival(priority)) = arbiter.priority() else { return class };
        let Origin { created, src, sequence, .. } = *env.pool.origin(self.input_at(slot).front);
        let arrived = env.allocation.arrivals.get(self.number(me, slot)).copied().unwrap_or(0);
        class | priority(&Waiting { created, src, sequence, arrived, slot: slot as u32 })
    }

    pub(crate) fn allocate_vcs_general(&mut self, me: usize, general: &mut GeneralVcAllocation<M>, env: &mut Env) {
        // What nothing has changed for would find as little as before.
        let by_port = Self::requests_by_port(env);
        let look = if by_port { self.ports_to_visit(me, env) } else { !0 };
        if look == 0 {
            return;
        }
        let mut vc_requests = std::mem::take(&mut general.vc_requests);
        self.collect_requests(me, look, &mut vc_requests, env);
        general.requests.clear();
        // A single request needs no priority.
        let contenders = vc_requests.len() > 1;
        for request in &vc_requests {
            let slot = request.slot as usize;
            let priority = if contenders { self.priority(me, slot, general.arbiter, env) } else { 0 };
            let row = Self::model_number(request.slot as usize, general.vcs);
            let mut credit = false;
            request.usable.for_each(|v| {
                let output = Self::slot(request.port as usize, v);
                let col = Self::model_number(output, general.vcs);
                general.requests.push(Request { row, col, priority, preference: request.preference });
                credit |= self.output(output).credits > 0;
            });
            if env.rules.switch.speculation != Speculation::Never && credit {
                general.speculative.push((request.slot, request.port));
            }
        }
        general.vc_requests = vc_requests;
        general.grants.clear();
        general.allocator.allocate(me, &general.requests, &mut general.grants);
        if by_port && general.grants.is_empty() {
            return; // The requests of waiting packets have not changed.
        }
        if env.allocation.shared_buffers.is_some() {
            // In this order grants take shared places.
            general.grants.sort_unstable();
        }
        for &(row, col) in &general.grants {
            let output = Self::slot_of(col, general.vcs);
            let (port, out_vc) = Self::port_and_vc(output);
            let slot = Self::slot_of(row, general.vcs);
            if !self.has_room(slot, output, env) {
                continue;
            }
            self.grant_vc(slot, port, out_vc);
            self.reserve_room(me, slot, output, env);
            Self::count_grant(env);
            self.record_hop(me, slot, port, env);
            if env.rules.switch.speculation != Speculation::Never {
                general.fresh.push(slot as u16);
            } else {
                self.activate_after_delay(me, slot, (port, out_vc), env);
            }
        }
        self.renew_requests();
    }
}
