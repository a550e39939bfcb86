//! The options of a network, as the step function requests them.

use crate::compat::BatchStage;
use crate::kernel::flit::route::{FatTreeRoutes, HopByHopRoutes};
use crate::plan::{Plan, Workload};
use crate::spec::{AllocatorKind, AllocatorSpec, ArbiterKind, EjectionPort, InjectionPriority, Pipeline, Switching};
use crate::traffic::{Drawn, Lengths, Packets, Traffic};

/// The options of the network that the step function requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub ejection_port: EjectionPort,
    /// A packet has one VC of each port.
    pub private_vc: bool,
    pub cut_through: bool,
    pub busy_when_full: bool,
    pub wait_for_tail_credit: bool,
    /// Any of the three above: usable output VCs depend on credits.
    pub credits_matter: bool,
    /// Not every free VC of its class is usable: `private_vc` or `credits_matter`.
    pub restricts_vcs: bool,
    pub speculative: bool,
    /// Another simulator's rule of speculation.
    pub speculation_needs_all_sets: bool,
    /// Packets hold their path through the switch: while they flow, or until their tails.
    pub holds_switch: bool,
    pub holds_until_tail: bool,
    /// Flits that may leave an input port in one cycle.
    pub input_speedup: usize,
    /// Injection ports yield to network ports.
    pub injection_last: bool,
    pub fcfs: bool,
    /// Route computation and VC allocation count from the arrival of a head, and one of them takes time.
    pub pipelined: bool,
    /// The router keeps when the head of a packet arrived: one of the two rules above holds.
    pub notes_arrivals: bool,
    /// NICs have several ports, and the ejection port is chosen at each request.
    pub selects_ejection_port: bool,
    /// The route is decided hop by hop.
    pub hop_by_hop: bool,
    /// Hop by hop, in a fat tree.
    pub fat_tree: bool,
    /// Where packets compare up ports, and select one.
    pub selects_up_port: bool,
    /// They do so in a routing stage, not when they request VCs.
    pub selects_up_port_in_stage: bool,
    /// The route is decided hop by hop, and a packet may have a choice, or not all VCs of its port.
    pub adaptive: bool,
    /// Either: packets pick their port anew in each cycle.
    pub selects_port: bool,
    /// When a free VC becomes of use.
    pub first_use: FirstUse,
    /// Routing takes one cycle, and so does VC allocation: what leaves them is noted in its router instead of in the wheel. Not where stages are
    /// looked at.
    pub routing_in_one_cycle: bool,
    pub allocation_in_one_cycle: bool,
    /// One of the two.
    pub has_one_cycle_stages: bool,
    /// Nothing but the next port is to be found out for a head that comes to the front, and it requests a VC in the same cycle or the next.
    pub port_only_heads: bool,
    /// There are packets of one flit, which may leave in the cycle in which they are given a VC, and nobody watches how they wait.
    pub bypass: bool,
    /// Packets of one flit are no exception, and VC allocation takes a cycle, which is noted in the router.
    pub single_flit_stages: bool,
    /// All packets have one flit.
    pub all_single_flit: bool,
    /// Allocation by bit masks applies: iSLIP of one iteration, without speed-up, holding, speculation, batches in the switch,
    /// channels with their own timing or shared buffers.
    pub bit_masks: bool,
    /// Where packets move whole: who came first is served first, and nothing else matters, as `packets/fcfs.rs` has it.
    pub first_come: bool,
    /// `bit_masks`, and no rare feature: see [`Env::rare`].
    pub common_case: bool,
}

/// The credits that a free VC needs for its first packet. With fewer than `least` it is of no use to any packet; with more than
/// `least + span` it was of use before.
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

/// The length of all packets of the workload, and of all of the background, where they have one [flits]; without a background the former
/// twice.
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

impl Rules {
    /// Of a plan; `packets`: they move whole, which keeps their paths through the switch by itself.
    pub fn new(
        plan: &Plan,
        hop_by_hop: Option<&HopByHopRoutes>,
        fat_tree: Option<&FatTreeRoutes>,
        packets: bool,
    ) -> Self {
        let (network, run) = (&plan.spec.network, &plan.spec.run);
        let router = &network.router;
        let cut_through = router.switching == Switching::VirtualCutThrough;
        let credits_matter = cut_through || router.vc_busy_when_full || router.wait_for_tail_credit;
        let private_vc = router.vc_policy.gives_one_vc();
        let several_ejection_ports = network.nic.ports > 1 && network.nic.ejection_port == EjectionPort::Any;
        let islip1 = |a: &AllocatorSpec| a.kind == AllocatorKind::Islip && a.iterations.0 == 1;
        let watched = run.record.stalls || run.record.waits;
        let fcfs = [router.vc_allocator, router.sw_allocator].iter().any(|a| a.arbiter.asks_for_arrivals());
        let adaptive = hop_by_hop.is_some_and(|hop_by_hop| !hop_by_hop.single_port);
        let batches = router.compat.has_batches(router.st_delay_cycles);
        let bit_masks = islip1(&router.vc_allocator)
            && islip1(&router.sw_allocator)
            && !router.speculative
            && (packets || !router.hold_switch_for_packet && !router.hold_switch_until_tail)
            && router.input_speedup == 1
            && router.output_speedup == 1
            && !batches
            && router.shared_buffer_flits == 0
            && !plan.fabric.has_own_times();
        let selects_port = adaptive || several_ejection_ports;
        let restricts_vcs = credits_matter || private_vc;
        let one_step = hop_by_hop.is_none() || fat_tree.is_some();
        let common_case = bit_masks && !packets && !watched && !restricts_vcs && !selects_port && !fcfs && one_step;
        let in_one = bit_masks && !packets && !watched && !adaptive;
        let batches_of_routing = BatchStage::new(&router.compat, router.routing_delay_cycles, 0).is_some();
        let routing_in_one_cycle = in_one && router.routing_delay_cycles == 1 && !batches_of_routing;
        let selects_up_port = fat_tree.is_some_and(FatTreeRoutes::compares_load);
        let injection_last = router.injection_priority == InjectionPriority::Last;
        let pipelined = router.pipeline == Pipeline::Pipelined
            && (router.routing_delay_cycles > 0 || router.vc_alloc_delay_cycles > 0);
        let in_order_of_arrival =
            |a: &AllocatorSpec| a.kind == AllocatorKind::SeparableInputFirst && a.arbiter == ArbiterKind::Fcfs;
        let first_come = packets
            && in_order_of_arrival(&router.vc_allocator)
            && in_order_of_arrival(&router.sw_allocator)
            && (router.input_speedup == 1 || router.input_speedup == router.vcs)
            && !(selects_port || selects_up_port || private_vc || router.wait_for_tail_credit || injection_last);
        Rules {
            ejection_port: network.nic.ejection_port,
            private_vc,
            cut_through,
            busy_when_full: router.vc_busy_when_full,
            wait_for_tail_credit: router.wait_for_tail_credit,
            credits_matter,
            restricts_vcs,
            speculative: router.speculative,
            speculation_needs_all_sets: router.compat.speculation_needs_all_sets
                && hop_by_hop.is_some_and(HopByHopRoutes::requests_all_ports),
            holds_switch: !packets && (router.hold_switch_for_packet || router.hold_switch_until_tail),
            input_speedup: router.input_speedup as usize,
            holds_until_tail: router.hold_switch_until_tail,
            injection_last,
            fcfs,
            pipelined,
            notes_arrivals: fcfs || pipelined,
            selects_ejection_port: several_ejection_ports,
            hop_by_hop: hop_by_hop.is_some(),
            fat_tree: fat_tree.is_some(),
            selects_up_port,
            selects_up_port_in_stage: selects_up_port && router.routing_delay_cycles > 0 && !pipelined,
            adaptive,
            selects_port,
            first_use: FirstUse::new(plan),
            bypass: !watched && router.vc_alloc_delay_cycles == 0 && has_short_packets(plan),
            routing_in_one_cycle,
            allocation_in_one_cycle: (in_one || first_come && !watched) && router.vc_alloc_delay_cycles == 1,
            has_one_cycle_stages: false,
            port_only_heads: !fcfs
                && !private_vc
                && (router.routing_delay_cycles == 0 || routing_in_one_cycle)
                && one_step,
            single_flit_stages: in_one
                && !pipelined
                && router.vc_alloc_delay_cycles == 1
                && short_packets_are_usual(plan),
            all_single_flit: lengths_of_all(plan) == (Some(1), Some(1)),
            bit_masks,
            first_come,
            common_case: common_case && !injection_last,
        }
    }
}
