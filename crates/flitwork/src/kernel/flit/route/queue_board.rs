//! The queues of all network ports before the routers of a cycle are visited: what UGAL-G compares. A packet may look
//! at other routers than its own, and some of them have been visited in this cycle before it asks.

use crate::kernel::flit::route::HopByHopRoutes;
use crate::kernel::flit::{Env, Kernel, Router, VcMask};
use crate::plan::Plan;

/// Flits behind each network port, by router and port.
#[derive(Debug)]
pub(crate) struct QueueBoard {
    ports: usize,
    queues: Vec<u32>,
}

impl QueueBoard {
    /// Empty queues, if packets of this plan compare those of other routers.
    pub fn of(plan: &Plan) -> Option<Self> {
        let (routers, ports) = (plan.params.routers, plan.params.network_ports);
        let compares = plan.routing.hop_by_hop().is_some_and(|routing| routing.watches_other_routers());
        compares.then(|| QueueBoard { ports, queues: vec![0; routers * ports] })
    }

    /// The queue of a port \[flits].
    pub fn queue(&self, (router, port): (u32, u8)) -> u32 {
        self.queues[router as usize * self.ports + usize::from(port)]
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Kernel<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Notes all queues, where packets compare those of other routers.
    pub(crate) fn note_queues(&mut self) {
        let Some(mut board) = self.env.route.queue_board.take() else { return };
        if let Some(hop_by_hop) = &self.env.route.hop_by_hop {
            for (me, router) in self.routers.iter().enumerate() {
                let queues = &mut board.queues[me * board.ports..][..board.ports];
                router.note_queues(me, hop_by_hop, &self.env, queues);
            }
        }
        self.env.route.queue_board = Some(board);
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    fn note_queues(&self, me: usize, hop_by_hop: &HopByHopRoutes, env: &Env, queues: &mut [u32]) {
        for (port, queue) in queues.iter_mut().enumerate() {
            *queue = self.flits_behind(me, port, env);
        }
        for (port, flits) in self.yet_to_send(me, hop_by_hop, env) {
            queues[port] += flits;
        }
    }
}
