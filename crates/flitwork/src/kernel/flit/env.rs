//! What all routers share: the network's numbers and rules, the packets, and what is under way.

use crate::compat::BatchStage;
use crate::kernel::flit::Rules;
use crate::kernel::flit::observe::{HeadOfLine, Observer};
use crate::kernel::flit::packets::Streams;
use crate::kernel::flit::route::{CongestionBoard, FatTreeRoutes, HopByHopRoutes, QueueBoard, RouteTable};
use crate::kernel::flit::router::{ChannelTiming, ClassMasks, SharedBuffers, UNDECIDED};
use crate::kernel::flit::rules::RouteMode;
use crate::kernel::flit::vc_allocation::PrivateVcs;
use crate::kernel::parallel::Border;
use crate::measure::{FlitTimes, StallCounter, WaitLog};
use crate::plan::Params;
use crate::spec::EjectionPort;
use crate::transit::{FlitArrival, PacketPool, Wheel};
use crate::unchecked::{at, at_mut};
use std::ops::Range;

/// The state that all routers of a kernel share, by purpose.
pub(super) struct Env {
    pub p: Params,
    pub rules: Rules,
    /// VCs of a router, as numbered: those of all its compiled ports.
    pub slots: usize,
    /// The current cycle.
    pub now: u64,
    pub pool: PacketPool,
    pub layout: PortLayout,
    pub route: RouteState,
    pub allocation: AllocationState,
    pub transit: Transit,
    pub visits: Visits,
    pub measured: Measured,
    /// Packets that move whole: what they do later.
    pub streams: Streams,
}

/// Which ports of a router lead where.
pub(super) struct PortLayout {
    /// Network ports of each router.
    pub network_ports_of: Vec<u8>,
    /// First terminal of each router.
    pub first_terminals: Vec<u32>,
    /// Router of each terminal.
    pub router_of: Vec<u32>,
}

/// Route computation.
pub(super) struct RouteState {
    /// Routes that are decided at the source.
    pub table: RouteTable,
    /// Candidates of front packets, where the route is decided hop by hop.
    pub hop_by_hop: Option<Box<HopByHopRoutes>>,
    /// Where packets compare queues of other routers.
    pub queue_board: Option<Box<QueueBoard>>,
    /// Routes in a fat tree.
    pub fat_tree: Option<Box<FatTreeRoutes>>,
    /// The routing stage, if it takes a batch at a time.
    pub batches: Option<BatchStage>,
}

/// VC allocation, besides the state of each router.
pub(super) struct AllocationState {
    /// The VCs of each dateline class.
    pub classes: ClassMasks,
    /// The private VC of a packet at each port, where it may use no other.
    pub private_vcs: Option<Box<PrivateVcs>>,
    /// Buffers that the VCs of a port share.
    pub shared_buffers: Option<Box<SharedBuffers>>,
    /// Cycle in which the head of each front packet arrived, by VC; empty unless some arbiter is FCFS.
    pub arrivals: Vec<u64>,
    /// The last cycle in which a stage of one cycle ended: what left it can move on in the next one.
    pub staged_at: u64,
}

/// Flits and credits in channels.
pub(super) struct Transit {
    pub wheel: Wheel,
    /// Flits that enter network channels in this cycle: most events are of these and of `next_credits`. They go to the
    /// wheel at its end. There is room for all of them: see [`Env::make_room`].
    pub next_flits: Vec<FlitArrival>,
    /// Credits that enter network channels in this cycle.
    pub next_credits: Vec<u32>,
    /// Latency and bandwidth of each channel, where channels differ.
    pub timing: Option<Box<ChannelTiming>>,
    /// The channels to other parts, where the kernel simulates a part of a network.
    pub border: Option<Box<Border>>,
}

/// Which routers are visited in a cycle.
pub(super) struct Visits {
    /// Routers with something to do, one bit each.
    pub active: Vec<u64>,
    /// Ports of each router at which something has changed since its waiting packets were visited; empty where all of
    /// them are visited in every cycle.
    pub changed_ports: Vec<u64>,
}

/// What is measured and recorded.
pub(super) struct Measured {
    /// The cycles of the measurement.
    pub measurement: Range<u64>,
    /// Whether what is sent to a terminal in this cycle arrives in the measurement.
    pub counts_ejected: bool,
    /// Flits ejected at each terminal in the measurement.
    pub ejected: Vec<u64>,
    /// Arrivals behind the end of the measurement of flits that were sent before it: cycle and terminal. They count
    /// where the measurement becomes longer.
    pub late: Vec<(u64, u32)>,
    pub flit_hops: u64,
    /// When flits leave terminals and arrive, if they are recorded. Recording turns off the version of the step for the
    /// common case, and packets sent as they are created.
    pub flit_times: Option<Box<FlitTimes>>,
    /// Whether stalls or waits are counted.
    pub watched: bool,
    /// What moved in this cycle, where stalls or waits are counted.
    pub observer: Observer,
    pub stalls: Option<StallCounter>,
    /// Where head-of-line blocking is counted.
    pub head_of_line: Option<Box<HeadOfLine>>,
    /// Where and why packets wait.
    pub waits: Option<Box<WaitLog>>,
}

impl Env {
    /// Congestion information, where the routing uses it.
    #[inline(always)]
    pub fn congestion(&mut self) -> Option<&mut CongestionBoard> {
        self.route.hop_by_hop.as_mut().and_then(|hop_by_hop| hop_by_hop.congestion())
    }

    /// Ends a cycle: the flits and credits collected in it go to the wheel, to those that terminals and ejection have
    /// put into the same slots.
    pub fn close_next_slots(&mut self) {
        // The field alone is borrowed: the flits beside it are read.
        if let Some(congestion) = self.route.hop_by_hop.as_mut().and_then(|hop_by_hop| hop_by_hop.congestion()) {
            congestion.flits_leave(&self.transit.next_flits);
            congestion.post(self.now);
        }
        if let Some(border) = &mut self.transit.border {
            border.send(self.now, &mut self.transit.next_flits, &mut self.transit.next_credits, &mut self.pool);
        }
        let (flits, credits) = (self.now + u64::from(self.p.hop_cycles), self.now + u64::from(self.p.credit_cycles));
        let slot = &mut self.transit.wheel.at(flits).flits;
        std::mem::swap(slot, &mut self.transit.next_flits);
        slot.append(&mut self.transit.next_flits);
        let slot = &mut self.transit.wheel.at(credits).credits;
        std::mem::swap(slot, &mut self.transit.next_credits);
        slot.append(&mut self.transit.next_credits);
        // The memory of what was delivered in this cycle is still in the cache: the next one writes to it.
        let delivered = self.transit.wheel.at(self.now);
        std::mem::swap(&mut delivered.flits, &mut self.transit.next_flits);
        std::mem::swap(&mut delivered.credits, &mut self.transit.next_credits);
        self.make_room();
    }

    /// Makes room for all flits and credits that network channels can carry in a cycle.
    pub fn make_room(&mut self) {
        let channels = self.p.routers * self.p.network_ports;
        self.transit.next_flits.reserve(channels);
        self.transit.next_credits.reserve(channels * self.rules.switch.input_speedup);
    }

    /// Whether a rare feature is on, in code that is compiled twice: `COMMON` is the version for networks without any
    /// rare feature, in which the compiler leaves out the test and what depends on it.
    #[inline(always)]
    pub fn rare<const COMMON: bool>(&self, rule: impl Fn(&Rules) -> bool) -> bool {
        !COMMON && rule(&self.rules)
    }

    /// Whether stalls or waits are counted; never in the version for the common case.
    #[inline(always)]
    pub fn is_watched<const COMMON: bool>(&self) -> bool {
        !COMMON && self.measured.watched
    }

    /// When `packet`, whose head comes to the front in cycle `since`, may request an output VC.
    #[inline(always)]
    pub fn requests_from(&mut self, router: usize, packet: u32, since: u64) -> u64 {
        if self.p.routing_delay_cycles == 0 {
            return since;
        }
        if self.rules.stages.pipelined {
            return since.max(self.now + self.cycles_to(packet, self.p.routing_delay_cycles));
        }
        let start = self.route.batches.as_mut().map_or(since, |stage| stage.enter(router, since));
        start + u64::from(self.p.routing_delay_cycles)
    }

    /// Whether a packet with these flags selects an up port in its routing stage.
    #[inline(always)]
    pub fn selects_in_stage(&self, flags: u8) -> bool {
        flags & UNDECIDED != 0 && self.rules.route == RouteMode::FatTreeInStage
    }

    /// Cycles from now until `delay` cycles have passed since the head of `packet` arrived in its router; 0 if they
    /// have. Only where arrivals are noted.
    #[inline(always)]
    pub fn cycles_to(&self, packet: u32, delay: u32) -> u64 {
        u64::from(delay.saturating_sub((self.now as u32).wrapping_sub(self.pool[packet].here)))
    }

    /// A flit leaves its router now, and enters its channel in cycle `turn`.
    pub fn send_later(&mut self, flit: FlitArrival, turn: u64) {
        self.transit.wheel.at(turn + u64::from(self.p.hop_cycles)).flits.push(flit);
        if let Some(congestion) = self.congestion() {
            congestion.flits_leave(&[flit]);
        }
    }

    /// Where packets move whole: whether a router has to be visited in the next cycle, now that it has been in this
    /// one. Where a packet waits for credits alone it will be visited when they have come.
    pub fn visit_again(&mut self, router: usize) -> bool {
        let (lost, visited_ports) = self.streams.end_of_visit(router, self.now);
        if lost {
            self.note_change(router, visited_ports);
        }
        std::mem::take(&mut self.streams.revisit) || lost
    }

    /// The output port of a packet at a router, under a route that is decided at the source.
    pub fn output_at_source(&self, router: usize, id: u32) -> u8 {
        let packet = &self.pool[id];
        match self.route.table.next_field(router, packet.key) {
            Some(field) => (2 * field) as u8 + (packet.minus >> field & 1),
            None => self.ejection_port(router, id),
        }
    }

    /// The ejection port of a packet at its destination; under `any`, the first port of its terminal: the port is
    /// chosen at each request.
    #[inline(always)]
    pub fn ejection_port(&self, router: usize, id: u32) -> u8 {
        let (p, first) = (&self.p, self.network_ports(router));
        if p.concentration == 1 && p.nic_ports == 1 {
            return first as u8;
        }
        let packet = &self.pool[id];
        let terminal = packet.dst as usize - self.first_terminal(router);
        let chosen = match self.rules.ports.ejection {
            EjectionPort::Any => 0,
            EjectionPort::SamePort => packet.injection_port as usize,
            EjectionPort::BySource => self.pool.origin(id).src as usize % p.nic_ports,
        };
        (first + terminal * p.nic_ports + chosen) as u8
    }

    /// The router of a terminal.
    #[inline(always)]
    pub fn router_of(&self, terminal: usize) -> usize {
        *at(&self.layout.router_of, terminal) as usize
    }

    /// The network ports of a router; behind them are those of its terminals.
    #[inline(always)]
    pub fn network_ports(&self, router: usize) -> usize {
        usize::from(*at(&self.layout.network_ports_of, router))
    }

    /// The first terminal of a router.
    #[inline(always)]
    pub fn first_terminal(&self, router: usize) -> usize {
        *at(&self.layout.first_terminals, router) as usize
    }

    /// Notes a change at `ports` of a router: packets that wait for their VCs may find one. Only where changes are
    /// noted.
    #[inline(always)]
    pub fn note_change(&mut self, router: usize, ports: u64) {
        *at_mut(&mut self.visits.changed_ports, router) |= ports;
    }

    /// Marks a router as having something to do.
    #[inline(always)]
    pub fn activate(&mut self, router: usize) {
        *at_mut(&mut self.visits.active, router / 64) |= 1 << (router % 64);
    }
}
