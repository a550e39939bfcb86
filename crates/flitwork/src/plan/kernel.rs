//! Which kernel runs a plan.

use super::Plan;
use crate::error::{Error, Result};
use crate::measure::KernelName;
use crate::spec::{KernelChoice, Switching};

impl Plan {
    /// The condition of the packet kernel that this plan does not meet: a field, and what it is. `None` where the
    /// packet kernel gives the same result as the flit kernel (see docs/model.md).
    pub fn not_in_whole_packets(&self) -> Option<&'static str> {
        let router = &self.spec.network.router;
        let pipelined = !router.compat.has_batches(router.st_delay_cycles)
            && !router.compat.has_batches(router.routing_delay_cycles);
        let conditions = [
            (router.switching == Switching::VirtualCutThrough, "network.router.switching is not virtual_cut_through"),
            (router.hold_switch_until_tail, "network.router.hold_switch_until_tail is false"),
            (!router.speculative, "network.router.speculative is true"),
            (router.shared_buffer_flits == 0, "network.router.shared_buffer_flits is more than 0"),
            (router.output_speedup == 1, "network.router.output_speedup is more than 1"),
            (pipelined, "network.router.compat.pipelined_stages is false"),
            (self.fabric.slow_channel().is_none(), "a channel takes more than one cycle a flit"),
            (
                self.routing
                    .hop_by_hop()
                    .is_none_or(|routing| routing.congestion_spread().is_none() && routing.bias_flits().is_none()),
                "the routing counts flits in queues",
            ),
            (!self.spec.run.record.stalls, "run.record.stalls is true"),
            (!self.spec.run.record.waits, "run.record.waits is true"),
        ];
        conditions.iter().find(|(met, _)| !met).map(|(_, what)| *what)
    }

    /// The kernel that runs it.
    pub fn kernel(&self) -> KernelName {
        match (self.spec.run.kernel, self.not_in_whole_packets()) {
            (KernelChoice::Auto | KernelChoice::Packet, None) => KernelName::Packet,
            _ => KernelName::Flit,
        }
    }

    /// Refuses the packet kernel for a plan that it cannot simulate.
    pub(super) fn check_kernel(&self) -> Result<()> {
        match (self.spec.run.kernel, self.not_in_whole_packets()) {
            (KernelChoice::Packet, Some(what)) => {
                let expected = format!("auto or flit, because {what}");
                Err(Error::config("run.kernel", "packet", expected, "see the packet kernel on the model page"))
            }
            _ => Ok(()),
        }
    }
}
