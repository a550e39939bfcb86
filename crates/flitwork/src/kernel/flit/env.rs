//! What all routers share: the network's numbers and rules, the packets, and what is under way.

use super::choices::Choices;
use super::in_tree::InTree;
use super::lines::Lines;
use super::mask::ClassMasks;
use super::observe::Observer;
use super::own_times::OwnTimes;
use super::own_vc::OwnVcs;
use super::packets::Streams;
use super::pools::Pools;
use super::route::RouteTable;
use super::state::UNDECIDED;
use crate::compat::BatchStage;
use crate::kernel::parallel::Border;
use crate::measure::{FlitTimes, StallCounter, WaitLog};
use crate::plan::{Params, Plan, Workload};
use crate::spec::{AllocatorKind, AllocatorSpec, ArbiterKind, EjectionPort, InjectionPriority, Pipeline, Switching};
use crate::traffic::{Drawn, Lengths, Packets, Traffic};
use crate::transit::PacketPool;
use crate::transit::{FlitArrival, Wheel};
use crate::unchecked::{at, at_mut};
use std::ops::Range;

/// Shared by all routers while they are stepped.
pub(super) struct Env {
    pub p: Params,
    /// VCs that are numbered in a router.
    pub slots: usize,
    pub rules: Rules,
    pub pool: PacketPool,
    pub wheel: Wheel,
    /// Flits and credits that network channels carry from this cycle on, at hand: most events are of these. At its end they go to the wheel.
    /// There is room for all of them: see [`Env::make_room`].
    pub next_flits: Vec<FlitArrival>,
    pub next_credits: Vec<u32>,
    /// Where this is a part of a network.
    pub border: Option<Box<Border>>,
    pub routes: RouteTable,
    /// Where the route is decided hop by hop.
    pub choices: Option<Box<Choices>>,
    /// And that in a tree.
    pub in_tree: Option<Box<InTree>>,
    /// Ports of each router at which something has changed since its waiting packets were looked at; empty where all of them are looked at
    /// in every cycle.
    pub changed_ports: Vec<u64>,
    /// Route computation, if it takes a batch at a time.
    pub routing_stage: Option<BatchStage>,
    /// Where a packet has one VC of each port.
    pub own_vcs: Option<Box<OwnVcs>>,
    /// Where the VCs of a port share places.
    pub pools: Option<Box<Pools>>,
    /// Where channels are not all alike.
    pub own_times: Option<Box<OwnTimes>>,
    /// Routers with something to do, one bit each.
    pub active: Vec<u64>,
    /// The VCs of each dateline class.
    pub classes: ClassMasks,
    /// Cycle in which the head of each front packet arrived, by VC; empty unless some arbiter is FCFS.
    pub arrivals: Vec<u64>,
    /// Network ports of each router.
    pub network_ports_of: Vec<u8>,
    /// First terminal of each router.
    pub first_terminals: Vec<u32>,
    /// Router of each terminal.
    pub router_of: Vec<u32>,
    /// Flits ejected at each terminal in the measurement.
    pub ejected: Vec<u64>,
    /// Arrivals behind the end of the measurement of flits that were sent before it: cycle and terminal. They count where the
    /// measurement becomes longer.
    pub late: Vec<(u64, u32)>,
    pub measurement: Range<u64>,
    /// Whether what is sent to a terminal in this cycle arrives in the measurement.
    pub counts_ejected: bool,
    pub flit_hops: u64,
    /// When flits leave terminals and arrive, where that is asked for. Then no network is lean, and no packet sent as it is created.
    pub flit_times: Option<Box<FlitTimes>>,
    pub stalls: Option<StallCounter>,
    /// Where lines are looked at that wait behind their heads.
    pub lines: Option<Box<Lines>>,
    /// Where and why packets wait.
    pub waits: Option<Box<WaitLog>>,
    /// Whether one of these two is counted.
    pub watched: bool,
    pub observer: Observer,
    /// Where packets move whole: what they do later.
    pub streams: Streams,
    pub now: u64,
    /// The last cycle in which a stage of one cycle ended: what left it can move on in the next one.
    pub staged_at: u64,
}

/// The options of the network that the step function asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub ejection_port: EjectionPort,
    /// A packet has one VC of each port.
    pub own_vc: bool,
    pub cut_through: bool,
    pub busy_when_full: bool,
    pub wait_for_tail_credit: bool,
    /// Any of the three above: usable output VCs depend on credits.
    pub credits_matter: bool,
    /// Not every free VC of its class is usable: `own_vc` or `credits_matter`.
    pub picky: bool,
    pub speculative: bool,
    /// Another simulator's rule of speculation.
    pub speculation_needs_all_sets: bool,
    /// Packets hold their path through the switch: while they flow, or until their tails.
    pub hold: bool,
    pub until_tail: bool,
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
    pub chooses_ejection_port: bool,
    /// The route is decided hop by hop.
    pub hop_by_hop: bool,
    /// And that in a tree.
    pub in_tree: bool,
    /// Where packets compare up ports, and decide for one.
    pub decides: bool,
    /// They do so in a routing stage, not when they ask.
    pub decides_routing: bool,
    /// The route is decided hop by hop, and a packet may have a choice, or not all VCs of its port.
    pub by_choice: bool,
    /// Either: packets pick their port anew in each cycle.
    pub chooses_port: bool,
    /// When a free VC becomes of use.
    pub first_use: FirstUse,
    /// Routing takes one cycle, and so does VC allocation: what leaves them is noted in its router instead of in the wheel. Not where stages are
    /// looked at.
    pub routes_in_one: bool,
    pub allocates_in_one: bool,
    /// One of the two.
    pub has_stages: bool,
    /// Nothing but the next port is to be found out for a head that comes to the front, and it asks for a VC in the same cycle or the next.
    pub plain_heads: bool,
    /// There are packets of one flit, which may leave in the cycle in which they are given a VC, and nobody watches how they wait.
    pub short_packets: bool,
    /// Packets of one flit are no exception, and VC allocation takes a cycle, which is noted in the router.
    pub single_stages: bool,
    /// All packets have one flit.
    pub all_single: bool,
    /// Allocation by bit masks applies: iSLIP of one iteration, without speed-up, holding, speculation, batches in the switch,
    /// channels with times of their own or shared buffers.
    pub plain: bool,
    /// Where packets move whole: who came first is served first, and nothing else matters, as `packets/oldest.rs` has it.
    pub oldest_first: bool,
    /// Beyond that, nothing of what few networks ask for: see [`Env::asks`].
    pub lean: bool,
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

    /// Whether some packet may use a free VC with so many credits.
    #[inline(always)]
    pub fn are_enough(&self, credits: u16) -> bool {
        credits >= self.least
    }

    /// Whether the last of so many credits may have made the difference.
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
    pub fn new(plan: &Plan, choices: Option<&Choices>, in_tree: Option<&InTree>, packets: bool) -> Self {
        let (network, run) = (&plan.spec.network, &plan.spec.run);
        let router = &network.router;
        let cut_through = router.switching == Switching::VirtualCutThrough;
        let credits_matter = cut_through || router.vc_busy_when_full || router.wait_for_tail_credit;
        let own_vc = router.vc_policy.gives_one_vc();
        let several_ejection_ports = network.nic.ports > 1 && network.nic.ejection_port == EjectionPort::Any;
        let islip1 = |a: &AllocatorSpec| a.kind == AllocatorKind::Islip && a.iterations.0 == 1;
        let watched = run.record.stalls || run.record.waits;
        let fcfs = [router.vc_allocator, router.sw_allocator].iter().any(|a| a.arbiter.asks_for_arrivals());
        let by_choice = choices.is_some_and(|choices| !choices.one_port);
        let batches = router.compat.has_batches(router.st_delay_cycles);
        let plain = islip1(&router.vc_allocator)
            && islip1(&router.sw_allocator)
            && !router.speculative
            && (packets || !router.hold_switch_for_packet && !router.hold_switch_until_tail)
            && router.input_speedup == 1
            && router.output_speedup == 1
            && !batches
            && router.shared_buffer_flits == 0
            && !plan.fabric.has_own_times();
        let chooses_port = by_choice || several_ejection_ports;
        let picky = credits_matter || own_vc;
        let one_step = choices.is_none() || in_tree.is_some();
        let lean = plain && !packets && !watched && !picky && !chooses_port && !fcfs && one_step;
        let in_one = plain && !packets && !watched && !by_choice;
        let batches_of_routing = BatchStage::new(&router.compat, router.routing_delay_cycles, 0).is_some();
        let routes_in_one = in_one && router.routing_delay_cycles == 1 && !batches_of_routing;
        let decides = in_tree.is_some_and(InTree::compares);
        let injection_last = router.injection_priority == InjectionPriority::Last;
        let pipelined = router.pipeline == Pipeline::Pipelined
            && (router.routing_delay_cycles > 0 || router.vc_alloc_delay_cycles > 0);
        let in_order_of_arrival =
            |a: &AllocatorSpec| a.kind == AllocatorKind::SeparableInputFirst && a.arbiter == ArbiterKind::Fcfs;
        let oldest_first = packets
            && in_order_of_arrival(&router.vc_allocator)
            && in_order_of_arrival(&router.sw_allocator)
            && (router.input_speedup == 1 || router.input_speedup == router.vcs)
            && !(chooses_port || decides || own_vc || router.wait_for_tail_credit || injection_last);
        Rules {
            ejection_port: network.nic.ejection_port,
            own_vc,
            cut_through,
            busy_when_full: router.vc_busy_when_full,
            wait_for_tail_credit: router.wait_for_tail_credit,
            credits_matter,
            picky,
            speculative: router.speculative,
            speculation_needs_all_sets: router.compat.speculation_needs_all_sets
                && choices.is_some_and(Choices::asks_for_all),
            hold: !packets && (router.hold_switch_for_packet || router.hold_switch_until_tail),
            input_speedup: router.input_speedup as usize,
            until_tail: router.hold_switch_until_tail,
            injection_last,
            fcfs,
            pipelined,
            notes_arrivals: fcfs || pipelined,
            chooses_ejection_port: several_ejection_ports,
            hop_by_hop: choices.is_some(),
            in_tree: in_tree.is_some(),
            decides,
            decides_routing: decides && router.routing_delay_cycles > 0 && !pipelined,
            by_choice,
            chooses_port,
            first_use: FirstUse::new(plan),
            short_packets: !watched && router.vc_alloc_delay_cycles == 0 && has_short_packets(plan),
            routes_in_one,
            allocates_in_one: (in_one || oldest_first && !watched) && router.vc_alloc_delay_cycles == 1,
            has_stages: false,
            plain_heads: !fcfs && !own_vc && (router.routing_delay_cycles == 0 || routes_in_one) && one_step,
            single_stages: in_one && !pipelined && router.vc_alloc_delay_cycles == 1 && short_packets_are_usual(plan),
            all_single: lengths_of_all(plan) == (Some(1), Some(1)),
            plain,
            oldest_first,
            lean: lean && !injection_last,
        }
    }
}

impl Env {
    /// The end of a cycle: the flits and credits at hand go to the wheel, with what others (terminals, ejection) have put into the same slots.
    pub fn close_next_slots(&mut self) {
        if let Some(news) = self.choices.as_mut().and_then(|choices| choices.news()) {
            news.flits_leave(&self.next_flits);
            news.post(self.now);
        }
        if let Some(border) = &mut self.border {
            border.send(self.now, &mut self.next_flits, &mut self.next_credits, &mut self.pool);
        }
        let (flits, credits) = (self.now + u64::from(self.p.hop_cycles), self.now + u64::from(self.p.credit_cycles));
        let slot = &mut self.wheel.at(flits).flits;
        std::mem::swap(slot, &mut self.next_flits);
        slot.append(&mut self.next_flits);
        let slot = &mut self.wheel.at(credits).credits;
        std::mem::swap(slot, &mut self.next_credits);
        slot.append(&mut self.next_credits);
        // The memory of what was delivered in this cycle is still in the cache: the next one writes to it.
        let delivered = self.wheel.at(self.now);
        std::mem::swap(&mut delivered.flits, &mut self.next_flits);
        std::mem::swap(&mut delivered.credits, &mut self.next_credits);
        self.make_room();
    }

    /// Makes room for all flits and credits that network channels can carry in a cycle.
    pub fn make_room(&mut self) {
        let channels = self.p.routers * self.p.network_ports;
        self.next_flits.reserve(channels);
        self.next_credits.reserve(channels * self.rules.input_speedup);
    }

    /// Whether a rule holds, in code that is compiled twice: `LEAN` is for networks where none holds that is asked for by this, so that the
    /// compiler leaves out the question and the answer.
    #[inline(always)]
    pub fn asks<const LEAN: bool>(&self, rule: impl Fn(&Rules) -> bool) -> bool {
        !LEAN && rule(&self.rules)
    }

    /// The same of whether somebody watches how packets wait.
    #[inline(always)]
    pub fn is_watched<const LEAN: bool>(&self) -> bool {
        !LEAN && self.watched
    }

    /// When `packet`, whose head comes to the front in cycle `since`, may ask for an output VC.
    #[inline(always)]
    pub fn asks_from(&mut self, router: usize, packet: u32, since: u64) -> u64 {
        if self.p.routing_delay_cycles == 0 {
            return since;
        }
        if self.rules.pipelined {
            return since.max(self.now + self.cycles_to(packet, self.p.routing_delay_cycles));
        }
        let start = self.routing_stage.as_mut().map_or(since, |stage| stage.enter(router, since));
        start + u64::from(self.p.routing_delay_cycles)
    }

    /// Whether a packet with these flags decides for a port in its routing stage.
    #[inline(always)]
    pub fn decides_in_stage(&self, flags: u8) -> bool {
        flags & UNDECIDED != 0 && self.rules.decides_routing
    }

    /// Cycles from now until `delay` cycles have passed since the head of `packet` arrived in its router; 0 if they have. Only where arrivals
    /// are noted.
    #[inline(always)]
    pub fn cycles_to(&self, packet: u32, delay: u32) -> u64 {
        u64::from(delay.saturating_sub((self.now as u32).wrapping_sub(self.pool[packet].here)))
    }

    /// A flit leaves its router now, and goes on its channel in cycle `turn`.
    pub fn send_later(&mut self, flit: FlitArrival, turn: u64) {
        self.wheel.at(turn + u64::from(self.p.hop_cycles)).flits.push(flit);
        if let Some(news) = self.choices.as_mut().and_then(|choices| choices.news()) {
            news.flits_leave(&[flit]);
        }
    }

    /// Where packets move whole: whether a router has to be looked at in the next cycle, now that it has been in this one. Where a
    /// packet waits for credits alone it will be looked at when they have come.
    pub fn look_again(&mut self, router: usize) -> bool {
        let (lost, looked_at) = self.streams.end_of_visit(router, self.now);
        if lost {
            self.note_change(router, looked_at);
        }
        std::mem::take(&mut self.streams.again) || lost
    }

    /// The output port of a packet at a router, under a route that is decided at the source.
    pub fn output_at_source(&self, router: usize, id: u32) -> u8 {
        let packet = &self.pool[id];
        match self.routes.next_field(router, packet.key) {
            Some(field) => (2 * field) as u8 + (packet.minus >> field & 1),
            None => self.ejection_port(router, id),
        }
    }

    /// The ejection port of a packet at its destination; under `any`, the first port of its terminal: the port is chosen at each
    /// request.
    #[inline(always)]
    pub fn ejection_port(&self, router: usize, id: u32) -> u8 {
        let (p, first) = (&self.p, self.network_ports(router));
        if p.concentration == 1 && p.nic_ports == 1 {
            return first as u8;
        }
        let packet = &self.pool[id];
        let terminal = packet.dst as usize - self.first_terminal(router);
        let chosen = match self.rules.ejection_port {
            EjectionPort::Any => 0,
            EjectionPort::SamePort => packet.injection_port as usize,
            EjectionPort::BySource => self.pool.origin(id).src as usize % p.nic_ports,
        };
        (first + terminal * p.nic_ports + chosen) as u8
    }

    /// The router of a terminal.
    #[inline(always)]
    pub fn router_of(&self, terminal: usize) -> usize {
        *at(&self.router_of, terminal) as usize
    }

    /// The network ports of a router; behind them are those of its terminals.
    #[inline(always)]
    pub fn network_ports(&self, router: usize) -> usize {
        usize::from(*at(&self.network_ports_of, router))
    }

    /// The first terminal of a router.
    #[inline(always)]
    pub fn first_terminal(&self, router: usize) -> usize {
        *at(&self.first_terminals, router) as usize
    }

    /// Something has changed at `ports` of a router: what waits for a VC of them may find one. Only where changes are noted.
    #[inline(always)]
    pub fn note_change(&mut self, router: usize, ports: u64) {
        *at_mut(&mut self.changed_ports, router) |= ports;
    }

    /// Marks a router as having something to do.
    #[inline(always)]
    pub fn activate(&mut self, router: usize) {
        *at_mut(&mut self.active, router / 64) |= 1 << (router % 64);
    }
}
