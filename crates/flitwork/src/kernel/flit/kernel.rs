//! A network in motion: what it consists of, and the visits of its routers.

use crate::compat::BatchStage;
use crate::error::Result;
use crate::kernel::flit::env::{AllocationState, Measured, PortLayout, RouteState, Transit, Visits};
use crate::kernel::flit::observe::{ChannelRecorder, HeadOfLine, Observer};
use crate::kernel::flit::packets::Streams;
use crate::kernel::flit::ports::Injection;
use crate::kernel::flit::route::{FatTreeRoutes, HopByHopRoutes, QueueBoard, RouteTable};
use crate::kernel::flit::router::{ChannelTiming, ClassMasks, Memory, SharedBuffers};
use crate::kernel::flit::rules::{AllocationPath, Arrivals, Compiled, Hold};
use crate::kernel::flit::step::General;
use crate::kernel::flit::vc_allocation::{PrivateVcs, Scratch};
use crate::kernel::flit::{Env, Router, Rules, Variation, VcMask};
use crate::kernel::knot::Waits;
use crate::kernel::network::{Endpoints, Network, Observed};
use crate::kernel::parallel::Border;
use crate::measure::{Arrival, FlitTally, FlitTimes, FlitsUnderWay, StallCounter, StallReport, WaitLog};
use crate::plan::Plan;
use crate::topology::Fabric;
use crate::transit::{Layout, NONE, PacketPool, Wheel};
use crate::unchecked::{at_mut, prefetch_small};
use std::ops::Range;

/// A network in motion. `PORTS`, `VCS` (of a port) and `WORDS` (of a set of slots, ports times VCs: one for 64 of them,
/// and one more where there are many, see `router/slots.rs`) are the sizes that it is compiled for. `M` says where
/// routers keep their ports and VCs: see `router/memory.rs`.
pub(super) struct Kernel<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool> {
    pub(super) routers: Vec<Router<M, PORTS, VCS, WORDS, PACKETS>>,
    pub(super) env: Env,
    pub(super) injection: Injection,
    pub(super) scratch: Scratch<M>,
    /// Where allocation by bit masks does not apply.
    pub(super) general: Option<Box<General<M>>>,
    pub(super) channels: Option<ChannelRecorder>,
    /// The network does not fit the caches: cache lines are prefetched.
    pub(super) ahead: bool,
    /// Visit routers in this order instead of ascending; the result must not depend on it.
    order: Option<Vec<usize>>,
    /// The last cycle in which a flit left a buffer, and the flit-hops then.
    moved: (u64, u64),
    /// For the names of VCs.
    pub(super) fabric: Fabric,
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Kernel<M, PORTS, VCS, WORDS, PACKETS>
{
    pub(super) fn new(plan: &Plan, variation: Variation) -> Result<Self> {
        let mut p = plan.params.clone();
        let router_range = variation.part.map_or(0..p.routers, |part| part.routers(p.routers));
        p.routers = router_range.len();
        let routers = Router::<M, PORTS, VCS, WORDS, PACKETS>::all(&p, &plan.fabric, router_range.start);
        let ports = routers.first().map_or(0, |router| router.memory.ports());
        let slots = ports * VCS;
        let cycles = (u64::from(p.hop_cycles), u64::from(p.credit_cycles));
        let border = variation.part.map(|part| Box::new(Border::new(part, plan.params.routers, slots, cycles)));
        let numbers = || router_range.start as u32..router_range.end as u32;
        let (run, router) = (&plan.spec.run, &plan.spec.network.router);
        let layout = Layout { slots, vcs: VCS };
        let hop_by_hop = HopByHopRoutes::new(plan, layout, &router_range);
        let fat_tree = FatTreeRoutes::of(plan, router_range.start);
        let compiled = Compiled { whole_packets: PACKETS, one_word: WORDS == 1, general_only: variation.general };
        let rules = Rules::new(plan, hop_by_hop.as_deref(), fat_tree.as_deref(), compiled);
        let packets = (p.routers * p.ports * p.vcs).min(1 << 16);
        let fabric = &plan.fabric;
        let watched = run.record.stalls || run.record.waits;
        let waits = run.record.waits.then(|| {
            let log = WaitLog::new(p.routers * slots, p.terminals * p.nic_ports);
            let windowed = run.record.channel_window_cycles > 0;
            Box::new(if windowed { log.with_windows(p.routers, ports) } else { log })
        });
        let most_ports = plan.routing.hop_by_hop().map_or(1, |routing| routing.most_ports());
        let mut kernel = Kernel {
            routers,
            injection: Injection::new(plan, layout, PACKETS, &router_range),
            scratch: Scratch::new(p.ports * p.vcs * most_ports),
            general: (!rules.path.uses_masks()).then(|| Box::new(General::new(plan, rules.switch.hold != Hold::Never))),
            channels: (run.record.channel_window_cycles > 0)
                .then(|| ChannelRecorder::new(run.record.channel_window_cycles, plan.fabric.channels().count())),
            ahead: Self::prefetches(p.routers, variation.ahead),
            order: (variation.shuffle > 0).then(|| shuffled(p.routers as u32, variation.shuffle)),
            moved: (0, 0),
            fabric: plan.fabric.clone(),
            env: Env {
                layout: PortLayout {
                    network_ports_of: numbers().map(|r| fabric.network_ports_of(r) as u8).collect(),
                    first_terminals: numbers().map(|r| fabric.terminals_at(r).start).collect(),
                    router_of: (0..fabric.terminals()).map(|t| fabric.router_of(t)).collect(),
                },
                visits: Visits {
                    active: vec![0; p.routers.div_ceil(64)],
                    changed_ports: vec![0; if PACKETS || hop_by_hop.is_some() { p.routers } else { 0 }],
                },
                route: RouteState {
                    table: RouteTable::of(
                        fabric.routers(),
                        &plan.routing,
                        variation.part.map(|_| router_range.clone()),
                    ),
                    hop_by_hop,
                    queue_board: QueueBoard::of(plan).map(Box::new),
                    fat_tree,
                    batches: BatchStage::new(&router.compat, router.routing_delay_cycles, p.routers),
                },
                allocation: AllocationState {
                    classes: ClassMasks::new(
                        plan.routing.at_source().map_or(0, |routing| routing.ports_with_classes()),
                        p.vcs,
                        router.compat.shared_middle_vc,
                    ),
                    private_vcs: PrivateVcs::new(plan, p.routers * slots),
                    shared_buffers: SharedBuffers::behind_outputs(plan, slots, ports),
                    arrivals: vec![0; if rules.stages.arrivals == Arrivals::OfVcs { p.routers * slots } else { 0 }],
                    staged_at: u64::MAX,
                },
                transit: Transit {
                    wheel: Wheel::with_room(p.longest_delay_cycles, p.routers * p.ports),
                    next_flits: Vec::new(),
                    next_credits: Vec::new(),
                    timing: ChannelTiming::of(plan).map(Box::new),
                    border,
                },
                measured: Measured {
                    measurement: 0..0,
                    counts_ejected: false,
                    ejected: vec![0; p.terminals],
                    late: Vec::new(),
                    flit_hops: 0,
                    flit_times: None,
                    watched,
                    observer: Observer::new(if watched { p.routers } else { 0 }, ports, slots),
                    stalls: run.record.stalls.then(|| StallCounter::new(run.record.channel_window_cycles > 0)),
                    head_of_line: run.record.stalls.then(|| HeadOfLine::new(plan)).flatten().map(Box::new),
                    waits,
                },
                streams: if PACKETS { Streams::new(plan, slots, ports) } else { Streams::none() },
                pool: PacketPool::new(packets),
                slots,
                now: 0,
                rules,
                p,
            },
        };
        kernel.env.make_room();
        Ok(kernel)
    }

    /// Visits the active routers in the shuffled order.
    #[inline(never)]
    fn visit_shuffled(&mut self) {
        let Some(order) = self.order.take() else { return };
        let active = self.env.visits.active.clone();
        order
            .iter()
            .filter(|&&r| active[r / 64] >> (r % 64) & 1 == 1)
            .for_each(|&r| self.visit_router::<false, false, false>(r));
        self.order = Some(order);
    }

    /// Visits the active routers of one word of the active set. The hot loop: out of line, so that nothing else takes
    /// its registers. `COMMON`: see [`Env::rare`]. `SINGLE_FLIT`, with it: the step for packets of one flit;
    /// `ALL_SINGLE_FLIT`: no packet is longer.
    #[inline(never)]
    fn visit<const COMMON: bool, const SINGLE_FLIT: bool, const ALL_SINGLE_FLIT: bool>(&mut self, word: usize) {
        let mut bits = self.env.visits.active[word];
        while bits != 0 {
            let bit = bits.trailing_zeros();
            bits &= bits - 1;
            // The next one's block is fetched while this one is worked on; with none left, the same one: no branch.
            let next = if bits == 0 { bit } else { bits.trailing_zeros() };
            prefetch_small(&self.routers, word * 64 + next as usize);
            self.visit_router::<COMMON, SINGLE_FLIT, ALL_SINGLE_FLIT>(word * 64 + bit as usize);
        }
    }

    /// One cycle of a router; it leaves the active set when it has nothing more to do.
    #[inline(always)]
    fn visit_router<const COMMON: bool, const SINGLE_FLIT: bool, const ALL_SINGLE_FLIT: bool>(&mut self, me: usize) {
        let router = at_mut(&mut self.routers, me);
        if COMMON {
            if SINGLE_FLIT {
                router.step_single_flit::<ALL_SINGLE_FLIT>(me, &mut self.scratch, &mut self.env);
            } else {
                router.step_islip::<true>(me, &mut self.scratch, &mut self.env);
            }
            if router.is_idle() {
                self.env.visits.active[me / 64] &= !(1 << (me % 64));
            }
            return;
        }
        let again = if PACKETS {
            self.step_packets(me)
        } else if let Some(general) = &mut self.general {
            router.step_general(me, general, &mut self.env);
            !router.is_idle() || general.switch.holds(me)
        } else {
            router.step_islip::<false>(me, &mut self.scratch, &mut self.env);
            !router.is_idle()
        };
        if !again {
            self.env.visits.active[me / 64] &= !(1 << (me % 64));
        }
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool> Network
    for Kernel<M, PORTS, VCS, WORDS, PACKETS>
{
    fn deliver(&mut self, now: u64, arrived: &mut Vec<Arrival>) {
        self.env.now = now;
        if let Some(border) = &mut self.env.transit.border {
            border.receive(&mut self.env.transit.wheel, &mut self.env.pool);
        }
        if PACKETS {
            self.deliver_packets_due(arrived);
        } else {
            self.deliver_due(arrived);
        }
    }

    fn step(&mut self, now: u64, ends: &mut Endpoints) {
        self.env.measured.counts_ejected =
            self.env.measured.measurement.contains(&(now + u64::from(self.env.p.eject_cycles)));
        self.note_queues();
        self.injection.step::<PACKETS>(&mut self.env, ends);
        if self.order.is_some() {
            self.visit_shuffled();
        } else {
            // Small routers, as most have, are worth several versions of the loop.
            let versions = !M::Memory::<PORTS, VCS>::COUNTED && !PACKETS;
            let path = if versions { self.env.rules.path } else { AllocationPath::Masks };
            for word in 0..self.env.visits.active.len() {
                if self.ahead {
                    self.prefetch_visits(word);
                }
                match path {
                    AllocationPath::CommonMasks => self.visit::<true, false, false>(word),
                    AllocationPath::SingleFlit => self.visit::<true, true, false>(word),
                    AllocationPath::OnlySingleFlit => self.visit::<true, true, true>(word),
                    _ => self.visit::<false, false, false>(word),
                }
            }
        }
        self.env.close_next_slots();
        self.observe();
        if self.env.measured.flit_hops != self.moved.1 {
            self.moved = (now, self.env.measured.flit_hops);
        }
        #[cfg(feature = "audit")]
        if !PACKETS && self.env.transit.border.is_none() {
            self.audit();
        }
    }

    fn next_event(&self, now: u64) -> Option<u64> {
        if PACKETS {
            return self.next_due(now);
        }
        // Credits are all that outlives the packets, and the last of them are back after the longest delay.
        let credits = now - self.moved.0 <= self.env.p.longest_delay_cycles;
        if self.env.pool.live() > 0 || credits || self.injection.is_active() {
            return Some(now + 1);
        }
        // What another part has sent last, that part waits for.
        debug_assert!(self.env.transit.border.is_some() || self.env.transit.wheel.is_idle());
        None
    }

    fn next_observation(&self, now: u64) -> u64 {
        self.channels.as_ref().map_or(u64::MAX, |channels| channels.window_end(now))
    }

    fn flit_hops(&self) -> u64 {
        self.env.measured.flit_hops
    }

    fn waits(&self, waits: &mut Waits) {
        self.list_waits(waits);
    }

    fn name_of_vc(&self, vc: u32) -> String {
        self.name(vc)
    }

    fn packets_that_stand(&self) -> Option<u64> {
        let env = &self.env;
        let still = env.transit.wheel.is_idle() && env.streams.due.is_idle() && env.allocation.staged_at != env.now;
        still.then(|| env.pool.live() as u64)
    }

    fn measure(&mut self, now: u64, window: Range<u64>) {
        self.count_all_ejected(now);
        for (arrival, terminal) in std::mem::take(&mut self.env.measured.late) {
            if window.contains(&arrival) {
                self.env.measured.ejected[terminal as usize] += 1;
            } else {
                self.env.measured.late.push((arrival, terminal));
            }
        }
        self.env.measured.measurement = window;
    }

    fn keep_flit_times(&mut self, under_way: &FlitsUnderWay) {
        if !PACKETS {
            self.env.measured.flit_times = Some(Box::new(FlitTimes::new(under_way.clone())));
            self.env.rules.path = self.env.rules.path.with_rare_features();
        }
    }

    fn flit_tally(&self, before: u64) -> Option<FlitTally> {
        self.env.measured.flit_times.as_ref().map(|times| times.tally(before))
    }

    fn channel_flits(&self, before: u64, flits: &mut Vec<u64>) {
        let ports = self.env.p.network_ports;
        flits.reserve(self.routers.len() * ports);
        let queued = self.queued_flits(before);
        for (me, router) in self.routers.iter().enumerate() {
            for (number, port) in
                (0..ports).map(|port| (port, router.port_at(port))).filter(|(_, port)| port.far_end != NONE)
            {
                let unsent = self.unsent_flits(me, number, before);
                let queued = queued.get(me * ports + number).copied().unwrap_or(0);
                flits.push(port.flits - unsent - queued);
            }
        }
    }

    fn border(&mut self) -> Option<&mut Border> {
        self.env.transit.border.as_deref_mut()
    }

    fn finish(mut self: Box<Self>, now: u64) -> Observed {
        self.count_all_ejected(now + 1);
        self.env.measured.flit_hops -= self.all_unsent_flits(now + 1);
        let mut channel_flits = Vec::new();
        self.channel_flits(now + 1, &mut channel_flits);
        let Kernel { env, channels, .. } = *self;
        let hol_blocked = env.measured.head_of_line.map(|head_of_line| head_of_line.blocked).unwrap_or_default();
        Observed {
            flit_hops: env.measured.flit_hops,
            channel_windows: channels.map(|channels| channels.finish(now, &channel_flits)),
            channel_flits,
            ejected_flits: env.measured.ejected,
            stalls: env.measured.stalls.map(|stalls| StallReport { hol_blocked, ..stalls.report() }),
            waits: env.measured.waits.map(|waits| waits.report()),
            bus: None,
        }
    }
}

/// The routers in random order.
fn shuffled(routers: u32, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..routers as usize).collect();
    order.sort_by_key(|&r| crate::mix::mix(seed ^ crate::mix::mix(r as u64)));
    order
}
