//! The output port that a packet will take at a router, known beforehand under a routing with one path.

use crate::kernel::flit::Env;
use crate::mix::packet_bits;
use crate::plan::Plan;
use crate::routing::{At, Division, HopByHop};
use std::sync::Arc;

/// The routing, if it decides hop by hop.
#[derive(Debug)]
pub(crate) struct NextOutputs {
    routing: Option<Arc<dyn HopByHop>>,
    seed: u64,
}

impl NextOutputs {
    /// For a plan; `None` where packets have several candidates.
    pub fn of(plan: &Plan) -> Option<Self> {
        let routing = plan.routing.hop_by_hop();
        let known = routing.is_none_or(|routing| routing.is_fixed() && routing.division() == Division::Equal(1));
        known.then(|| NextOutputs { routing: routing.cloned(), seed: plan.spec.run.seed })
    }

    /// The output port of a packet at router `at`, by its input port `entered` (`None`: from a terminal); where it may
    /// take any ejection port, the first of its terminal.
    pub fn port(&self, at: usize, entered: Option<u8>, id: u32, env: &Env) -> u8 {
        let Some(routing) = &self.routing else { return env.output_at_source(at, id) };
        let (packet, origin) = (&env.pool[id], env.pool.origin(id));
        let mut head = packet.head();
        let place = At { router: at as u32, port: entered, set: entered.map(|_| 0) };
        let dst = env.router_of(packet.dst as usize) as u32;
        let bits = || packet_bits(self.seed, origin.src, origin.sequence);
        match routing.next(&place, dst, &mut head, &bits) {
            None => env.ejection_port(at, id),
            Some(choice) if choice.ports == 0 => choice.escape.map_or(0, |(port, _)| port),
            Some(choice) => choice.ports.trailing_zeros() as u8,
        }
    }
}
