//! Pipeline stages that take one cycle: what leaves them is noted in the router instead of in the wheel.

use crate::kernel::flit::router::{ACTIVE, SlotSet};
use crate::kernel::flit::{Env, Router, VcMask};

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// The end of a cycle of a router in which stages take one: what ends them waits, or may request the switch, from
    /// the next cycle on.
    #[inline(always)]
    pub(crate) fn end_stages(&mut self, env: &mut Env) {
        let any = !(self.routed.is_empty() && self.allocated.is_empty());
        // Unpredictable, so computed without a branch.
        env.allocation.staged_at = if any { env.now } else { env.allocation.staged_at };
        self.waiting.insert_all(&self.routed);
        self.ready.insert_all(&self.allocated);
        self.routed = SlotSet::EMPTY;
        self.allocated = SlotSet::EMPTY;
    }

    /// The front packet, which owns an output VC, may request the switch.
    #[inline(always)]
    pub(crate) fn activate(&mut self, slot: usize) {
        let vc = self.input(slot);
        vc.flags |= ACTIVE;
        let (output, has_flit) = (Self::port_and_vc(vc.output as usize), Self::has_flit(vc));
        if has_flit && self.has_credit(output) {
            self.ready.insert(slot);
        }
    }
}
