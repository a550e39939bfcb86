//! The modes of a network: which path its routers take through allocation, how routes are decided, which VCs a packet
//! may use, what its ports, its pipeline and its switch do. All are known when the network is made; the step function
//! only compares them.

use crate::compat::BatchStage;
use crate::kernel::flit::route::{FatTreeRoutes, HopByHopRoutes};
use crate::plan::{Plan, Workload};
use crate::spec::{AllocatorKind, AllocatorSpec, ArbiterKind, EjectionPort, InjectionPriority, Pipeline, Switching};
use crate::traffic::{Drawn, Lengths, Packets, Traffic};

/// The modes of a network.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub path: AllocationPath,
    pub route: RouteMode,
    pub vcs: VcEligibility,
    pub ports: PortRules,
    pub stages: Stages,
    pub switch: SwitchRules,
}

/// The path of a router through allocation. All give the same result where they apply; a later one applies to fewer
/// networks and is faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(super) enum AllocationPath {
    /// Every allocator, arbiter and option, on lists of requests.
    General,
    /// Whole packets, first come first served (`packets/fcfs.rs`): both allocators are separable, input first, with
    /// FCFS arbiters, and nothing else influences who is served. For routers of which one word holds all VCs.
    FirstCome,
    /// iSLIP of one iteration on bit masks: without speed-up, held paths, speculation, batches in the switch, shared
    /// buffers, or channels with their own timing.
    Masks,
    /// [`AllocationPath::Masks`] without rare features ([`Env::rare`](super::Env::rare)): compiled again without the
    /// tests for them, because these tests are a measurable part of a hop.
    CommonMasks,
    /// [`AllocationPath::CommonMasks`], where VC allocation takes a cycle and packets of one flit are usual: these
    /// leave in one go.
    SingleFlit,
    /// [`AllocationPath::SingleFlit`] without longer packets.
    OnlySingleFlit,
}

impl AllocationPath {
    /// Whether VCs and the switch are allocated by iSLIP on bit masks.
    pub fn uses_masks(self) -> bool {
        self >= AllocationPath::Masks
    }

    /// The path that supports rare features, too.
    pub fn with_rare_features(self) -> Self {
        if self.uses_masks() { AllocationPath::Masks } else { self }
    }
}

/// Where the route of a packet is decided. The order matters: the modes of fat trees come last, those in which packets
/// select up ports behind the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(super) enum RouteMode {
    /// At the source: routers look the next output port up (`route/table.rs`).
    AtSource,
    /// Hop by hop, with one candidate port and all its VCs: nothing need be stored between requests.
    SinglePort,
    /// Hop by hop, with several candidates, or not all VCs of a port (`route/hop_by_hop.rs`): a packet selects among
    /// them at each request.
    Candidates,
    /// In a fat tree, without comparing up ports (`route/fat_tree.rs`).
    FatTree,
    /// In a fat tree, where a packet selects the least loaded up port at its first request.
    FatTreeAtRequest,
    /// In a fat tree, where a packet selects the least loaded up port at the end of its routing stage.
    FatTreeInStage,
}

impl RouteMode {
    fn new(
        plan: &Plan,
        pipelined: bool,
        hop_by_hop: Option<&HopByHopRoutes>,
        fat_tree: Option<&FatTreeRoutes>,
    ) -> Self {
        match (hop_by_hop, fat_tree) {
            (_, Some(tree)) if !tree.compares_load() => RouteMode::FatTree,
            (_, Some(_)) if plan.spec.network.router.routing_delay_cycles > 0 && !pipelined => {
                RouteMode::FatTreeInStage
            }
            (_, Some(_)) => RouteMode::FatTreeAtRequest,
            (Some(routes), None) if routes.single_port => RouteMode::SinglePort,
            (Some(_), None) => RouteMode::Candidates,
            (None, None) => RouteMode::AtSource,
        }
    }

    /// Whether packets have several candidates.
    #[inline(always)]
    pub fn is_adaptive(self) -> bool {
        self == RouteMode::Candidates
    }

    #[inline(always)]
    pub fn is_fat_tree(self) -> bool {
        self >= RouteMode::FatTree
    }

    /// Whether packets compare up ports and select one.
    #[inline(always)]
    pub fn selects_up_port(self) -> bool {
        self >= RouteMode::FatTreeAtRequest
    }
}

/// Which free VCs of its output port a packet may request, beyond its dateline class.
#[derive(Debug, Clone, Copy)]
pub(super) struct VcEligibility {
    /// Not all of them: `private` or `by_credits`.
    pub restricted: bool,
    /// A packet may use its private VC only (`vc_allocation/private_vc.rs`).
    pub private: bool,
    /// VCs with enough credits only: one of the three rules below holds.
    pub by_credits: bool,
    /// Room for the whole packet, under virtual cut-through.
    pub cut_through: bool,
    /// At least one credit.
    pub busy_when_full: bool,
    /// All credits: the tail of the packet before must have left the buffer ahead.
    pub wait_for_tail_credit: bool,
    /// When a free VC becomes usable.
    pub first_use: FirstUse,
}

impl VcEligibility {
    fn new(plan: &Plan) -> Self {
        let router = &plan.spec.network.router;
        let cut_through = router.switching == Switching::VirtualCutThrough;
        let by_credits = cut_through || router.vc_busy_when_full || router.wait_for_tail_credit;
        let private = router.vc_policy.assigns_one_vc();
        VcEligibility {
            restricted: by_credits || private,
            private,
            by_credits,
            cut_through,
            busy_when_full: router.vc_busy_when_full,
            wait_for_tail_credit: router.wait_for_tail_credit,
            first_use: FirstUse::new(plan),
        }
    }
}

/// What packets do at ports.
#[derive(Debug, Clone, Copy)]
pub(super) struct PortRules {
    /// The ejection port of a packet.
    pub ejection: EjectionPort,
    /// NICs have several ports, and a packet selects its ejection port at each request.
    pub selects_ejection: bool,
    /// Packets select ports anew at each request: ejection ports, or, with several candidates, output ports.
    pub selects_any: bool,
    /// Injection ports yield to network ports.
    pub injection_last: bool,
}

impl PortRules {
    fn new(plan: &Plan, route: RouteMode) -> Self {
        let network = &plan.spec.network;
        let selects_ejection = network.nic.ports > 1 && network.nic.ejection_port == EjectionPort::Any;
        PortRules {
            ejection: network.nic.ejection_port,
            selects_ejection,
            selects_any: selects_ejection || route.is_adaptive(),
            injection_last: network.router.injection_priority == InjectionPriority::Last,
        }
    }
}

/// Who needs to know when heads arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrivals {
    Unused,
    /// The pipeline: the cycle is noted in the packet.
    OfPackets,
    /// FCFS arbiters: the cycle is noted for each input VC, too.
    OfVcs,
}

/// The stages of the pipeline before the switch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stages {
    /// Route computation and VC allocation count from the arrival of a head, and one of them takes time.
    pub pipelined: bool,
    /// Routing takes one cycle, and packets that leave it are noted in their router instead of in the wheel: that is
    /// cheaper. Not where waits are recorded.
    pub routing_in_router: bool,
    /// VC allocation takes one cycle, and packets that leave it are noted in their router instead of in the wheel.
    pub allocation_in_router: bool,
    /// Either of the two.
    pub any_in_router: bool,
    /// A new head needs its output port only, and requests a VC in the same cycle or the next: its route has a shorter
    /// path.
    pub port_only_heads: bool,
    /// VC allocation takes no time and there may be packets of one flit: those without competitors bypass the switch
    /// allocator. Not where waits are recorded.
    pub bypass: bool,
    pub arrivals: Arrivals,
}

/// Whether packets that wait for a VC may request the switch in the same cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speculation {
    Never,
    Always,
    /// A packet with several candidates must have found a credit in all sets of VCs that it requested: a rule of
    /// another simulator.
    WithAllSets,
}

/// How long a packet holds its path through the switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    Never,
    /// As long as a flit follows in every cycle.
    WhileFlowing,
    UntilTail,
}

/// What the switch does.
#[derive(Debug, Clone, Copy)]
pub(super) struct SwitchRules {
    pub speculation: Speculation,
    /// Never for whole packets, which keep their path by themselves.
    pub hold: Hold,
    /// Flits that may leave an input port in one cycle.
    pub input_speedup: usize,
}

impl SwitchRules {
    fn new(plan: &Plan, whole_packets: bool, hop_by_hop: Option<&HopByHopRoutes>) -> Self {
        let router = &plan.spec.network.router;
        let all_sets =
            router.compat.speculation_needs_all_sets && hop_by_hop.is_some_and(HopByHopRoutes::requests_all_ports);
        SwitchRules {
            speculation: match (router.speculative, all_sets) {
                (false, _) => Speculation::Never,
                (true, false) => Speculation::Always,
                (true, true) => Speculation::WithAllSets,
            },
            hold: match (router.hold_switch_for_packet, router.hold_switch_until_tail) {
                _ if whole_packets => Hold::Never,
                (_, true) => Hold::UntilTail,
                (true, false) => Hold::WhileFlowing,
                (false, false) => Hold::Never,
            },
            input_speedup: router.input_speedup as usize,
        }
    }
}

/// The credits that a free VC needs for its first packet. With fewer than `least` it is of no use to any packet; with
/// more than `least + span` it was of use before.
#[derive(Debug, Clone, Copy)]
pub(super) struct FirstUse {
    least: u16,
    span: u16,
}

impl FirstUse {
    fn new(plan: &Plan) -> Self {
        let router = &plan.spec.network.router;
        let least = u16::from(router.vc_busy_when_full);
        if router.wait_for_tail_credit {
            return FirstUse { least: plan.params.buffer_flits as u16, span: 0 };
        }
        if router.switching == Switching::Wormhole {
            return FirstUse { least, span: 0 };
        }
        match lengths_of_all(plan) {
            (Some(a), Some(b)) => FirstUse { least: a.min(b), span: a.abs_diff(b) },
            _ => FirstUse { least: 1, span: u16::MAX },
        }
    }

    /// Whether some packet may use a free VC with `credits` credits.
    #[inline(always)]
    pub fn are_enough(&self, credits: u16) -> bool {
        credits >= self.least
    }

    /// Whether the last of `credits` credits may have made the VC usable.
    #[inline(always)]
    pub fn may_be_at(&self, credits: u16) -> bool {
        credits.wrapping_sub(self.least) <= self.span
    }
}

/// The length of all packets of the workload, and of all of the background, where they have one \[flits]; without a
/// background the former twice.
fn lengths_of_all(plan: &Plan) -> (Option<u16>, Option<u16>) {
    let split = plan.routing.splits();
    let one_length = |traffic: &Traffic| match &traffic.packets {
        Packets::Drawn(Drawn { lengths: Lengths::Fixed(flits), .. }) if !split => Some(*flits as u16),
        _ => None,
    };
    let workload = match &plan.workload {
        Workload::Schedule { .. } => None,
        Workload::OpenLoop(traffic) | Workload::Finite(traffic) => one_length(traffic),
    };
    (workload, plan.background.as_ref().map_or(workload, one_length))
}

/// Whether there may be packets of one flit.
fn has_short_packets(plan: &Plan) -> bool {
    let (workload, background) = lengths_of_all(plan);
    [workload, background].iter().any(|length| length.is_none_or(|flits| flits == 1))
}

/// Whether packets of one flit may be more than the ends of longer messages.
fn short_packets_are_usual(plan: &Plan) -> bool {
    let long = matches!(plan.workload, Workload::Schedule { packet_flits, .. } if packet_flits > 1);
    !long && has_short_packets(plan)
}

/// What a compiled kernel supports, and what a test forbids.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compiled {
    /// Packets move whole.
    pub whole_packets: bool,
    /// Whether one word holds all VCs of a router.
    pub one_word: bool,
    /// Take the general path where a faster one applies.
    pub general_only: bool,
}

/// Whether iSLIP on bit masks applies.
fn masks_apply(plan: &Plan, whole_packets: bool) -> bool {
    let router = &plan.spec.network.router;
    let islip1 = |a: &AllocatorSpec| a.kind == AllocatorKind::Islip && a.iterations.0 == 1;
    islip1(&router.vc_allocator)
        && islip1(&router.sw_allocator)
        && !router.speculative
        && (whole_packets || !router.hold_switch_for_packet && !router.hold_switch_until_tail)
        && router.input_speedup == 1
        && router.output_speedup == 1
        && !router.compat.has_batches(router.st_delay_cycles)
        && router.shared_buffer_flits == 0
        && !plan.fabric.channels_differ()
}

/// Whether both allocators serve packets in the order of their arrival, as far as allocators go.
fn serves_first_come(plan: &Plan) -> bool {
    let router = &plan.spec.network.router;
    let in_order_of_arrival =
        |a: &AllocatorSpec| a.kind == AllocatorKind::SeparableInputFirst && a.arbiter == ArbiterKind::Fcfs;
    in_order_of_arrival(&router.vc_allocator)
        && in_order_of_arrival(&router.sw_allocator)
        && (router.input_speedup == 1 || router.input_speedup == router.vcs)
}

impl Rules {
    /// The modes of a plan, on a kernel that is `compiled` so.
    pub fn new(
        plan: &Plan,
        hop_by_hop: Option<&HopByHopRoutes>,
        fat_tree: Option<&FatTreeRoutes>,
        compiled: Compiled,
    ) -> Self {
        let (router, run) = (&plan.spec.network.router, &plan.spec.run);
        let Compiled { whole_packets, one_word, general_only } = compiled;
        let watched = run.record.stalls || run.record.waits;
        let fcfs = [router.vc_allocator, router.sw_allocator].iter().any(|a| a.arbiter.needs_arrival_order());
        let pipelined = router.pipeline == Pipeline::Pipelined
            && (router.routing_delay_cycles > 0 || router.vc_alloc_delay_cycles > 0);
        let route = RouteMode::new(plan, pipelined, hop_by_hop, fat_tree);
        let (vcs, ports) = (VcEligibility::new(plan), PortRules::new(plan, route));

        let masks = !general_only && masks_apply(plan, whole_packets);
        let only_order_matters = !(ports.selects_any
            || route.selects_up_port()
            || vcs.private
            || vcs.wait_for_tail_credit
            || ports.injection_last);
        let first_come = !general_only && whole_packets && one_word && only_order_matters && serves_first_come(plan);
        // Packets need nothing but the next port from their route.
        let port_is_all = route == RouteMode::AtSource || route.is_fat_tree();
        let common = masks
            && !whole_packets
            && !watched
            && !vcs.restricted
            && !ports.selects_any
            && !ports.injection_last
            && !fcfs
            && port_is_all;
        let single_flit = !pipelined && router.vc_alloc_delay_cycles == 1 && short_packets_are_usual(plan);
        let path = match (masks, common, single_flit) {
            (false, _, _) if first_come => AllocationPath::FirstCome,
            (false, _, _) => AllocationPath::General,
            (true, false, _) => AllocationPath::Masks,
            (true, true, false) => AllocationPath::CommonMasks,
            (true, true, true) if lengths_of_all(plan) == (Some(1), Some(1)) => AllocationPath::OnlySingleFlit,
            (true, true, true) => AllocationPath::SingleFlit,
        };

        let stays_in_router = masks && !whole_packets && !watched && !route.is_adaptive();
        let batches = BatchStage::new(&router.compat, router.routing_delay_cycles, 0).is_some();
        let routing_in_router = stays_in_router && router.routing_delay_cycles == 1 && !batches;
        let allocation_in_router = (stays_in_router || first_come && !watched) && router.vc_alloc_delay_cycles == 1;
        let stages = Stages {
            pipelined,
            routing_in_router,
            allocation_in_router,
            any_in_router: routing_in_router || allocation_in_router,
            port_only_heads: !fcfs
                && !vcs.private
                && (router.routing_delay_cycles == 0 || routing_in_router)
                && port_is_all,
            bypass: !watched && router.vc_alloc_delay_cycles == 0 && has_short_packets(plan),
            arrivals: match (fcfs, pipelined) {
                (true, _) => Arrivals::OfVcs,
                (false, true) => Arrivals::OfPackets,
                (false, false) => Arrivals::Unused,
            },
        };
        Rules { path, route, vcs, ports, stages, switch: SwitchRules::new(plan, whole_packets, hop_by_hop) }
    }
}
