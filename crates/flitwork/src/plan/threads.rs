//! How many threads advance the network of a plan.

use super::{Plan, Workload, memory};
use crate::error::Result;
use crate::measure::KernelName;
use crate::spec::{ArbiterKind, Threads};

/// Fewest flit-hops of a thread in a window under `auto`: with fewer, threads wait for each other as long as they work.
/// With 100 two threads are 1.1 to 1.4 times as fast as one, with 50 slower (docs/performance.md).
const FLIT_HOPS_OF_A_THREAD: f64 = 100.0;
/// And fewest routers: of smaller parts too much goes over the border.
const ROUTERS_OF_A_THREAD: usize = 16;

/// Cycles of a window at most: with more, threads hardly wait less, but it takes longer until a run notices that it
/// shall stop.
const LONGEST_WINDOW: u32 = 16;

impl Plan {
    /// The condition of several threads that this plan does not meet: a field, and what it is. `None` where the network
    /// may be cut in parts (see docs/performance.md).
    pub fn not_in_parts(&self) -> Option<&'static str> {
        let (network, run) = (&self.spec.network, &self.spec.run);
        let (router, record) = (&network.router, &run.record);
        let batches =
            router.compat.has_batches(router.st_delay_cycles) || router.compat.has_batches(router.routing_delay_cycles);
        let of_packet =
            [router.vc_allocator, router.sw_allocator].iter().any(|a| a.arbiter == ArbiterKind::OldestFirst);
        let observes = record.keeps_packets()
            || record.stalls
            || record.operations
            || record.channel_window_cycles > 0
            || record.delivery_window_cycles > 0;
        let hears_of_others = self
            .routing
            .hop_by_hop()
            .is_some_and(|routing| routing.congestion_spread().is_some() || routing.watches_other_routers());
        let conditions = [
            (!matches!(self.workload, Workload::Schedule { .. }), "the workload is of ranks"),
            (self.background.is_none(), "there is a background"),
            (self.kernel() == KernelName::Flit, "the packet kernel runs"),
            (!hears_of_others, "routers hear of more than their own ports"),
            (!self.fabric.channels_differ(), "channels are not all alike"),
            (router.output_speedup == 1, "network.router.output_speedup is more than 1"),
            (router.shared_buffer_flits == 0, "network.router.shared_buffer_flits is more than 0"),
            (!router.vc_policy.assigns_one_vc(), "network.router.vc_policy gives a packet one VC"),
            (!of_packet, "an arbiter is oldest_first"),
            (!batches, "network.router.compat.pipelined_stages is false"),
            (!observes, "run.record asks for more than the summary"),
        ];
        conditions.iter().find(|(met, _)| !met).map(|(_, what)| *what)
    }

    /// The threads that the run is cut up for.
    pub fn threads(&self) -> usize {
        let routers = self.params.routers;
        let requested = match self.spec.run.threads {
            Threads::Count(count) => (count as usize).min(routers),
            Threads::Auto => self.threads_that_pay(std::thread::available_parallelism().map_or(1, usize::from)),
        };
        if requested > 1 && self.not_in_parts().is_none() { requested } else { 1 }
    }

    /// The same plan on another number of threads: nothing else of it depends on them.
    ///
    /// # Errors
    /// [`crate::Error::Config`] where the tables of so many threads do not fit into memory.
    pub fn on_threads(&self, threads: u32) -> Result<Plan> {
        let mut plan = self.clone();
        plan.spec.run.threads = Threads::Count(threads);
        memory::check_threads(&plan.spec.run, plan.threads(), plan.memory_bytes())?;
        Ok(plan)
    }

    /// Estimated memory of the run, with the tables of all its threads \[bytes].
    pub fn memory_bytes(&self) -> u64 {
        let further = self.threads() as u64 - 1;
        self.estimated_memory_bytes.saturating_add(further.saturating_mul(memory::part(&self.params)))
    }

    /// The number of threads that have enough to do and that memory leaves room for, `most` at most; one where it may
    /// not be cut in parts.
    pub fn threads_that_pay(&self, most: usize) -> usize {
        if self.not_in_parts().is_some() {
            return 1;
        }
        let room = memory::limit(&self.spec.run).saturating_sub(self.estimated_memory_bytes);
        let room = room / memory::part(&self.params).max(1);
        let fit = usize::try_from(room).unwrap_or(usize::MAX).saturating_add(1);
        let busy = (self.flit_hops_a_cycle() * self.window_cycles() as f64 / FLIT_HOPS_OF_A_THREAD) as usize;
        most.min(busy).min(self.params.routers / ROUTERS_OF_A_THREAD).min(Threads::MOST).min(fit).max(1)
    }

    /// Cycles that the parts of the network may advance without a word between them: what one of them sends, another
    /// has no earlier. Of a workload that completes also not more than a packet is under way at least, as it may be the
    /// last one; and not more than the watchdog waits.
    pub fn window_cycles(&self) -> u64 {
        let p = &self.params;
        let channel = p.hop_cycles.min(p.credit_cycles);
        let under_way = p.inject_cycles + p.eject_cycles;
        let window = if self.workload.completes() { channel.min(under_way) } else { channel };
        u64::from(window.clamp(1, LONGEST_WINDOW)).min(self.spec.run.watchdog_cycles)
    }

    /// Why it runs on one thread where more are asked for.
    pub fn why_one_thread(&self) -> Option<&'static str> {
        let wants_more = self.spec.run.threads != Threads::ONE;
        let small = || {
            (self.threads() == 1)
                .then_some("the network is too small or has too little to do, or the machine has one core")
        };
        self.not_in_parts().or_else(small).filter(|_| wants_more)
    }
}
