//! The flit kernel: cycle accurate, for everything the model has.
//!
//! A cycle is: deliver, inject, then for each router that has something to do: allocate VCs, allocate the switch, traverse;
//! then observe. Routers hear of each other only through the timing wheel, at least one cycle later, so they may be visited
//! in any order. A router is visited only while a packet waits for a VC or a flit could be sent (the active set); a flit
//! blocked for want of credit costs nothing until the credit arrives.
//!
//! Two ways through allocation give the same result where both apply: `fast.rs` for iSLIP of one iteration without
//! speed-up, holding or speculation, on bit masks alone; `general.rs` for everything, on lists of requests.

#[cfg(feature = "audit")]
mod audit;
mod deadlock;
mod deliver;
mod fast;
mod flat;
mod general;
mod mask;
mod observe;
mod packet;
mod requests;
mod route;
mod shape;
mod state;
mod traverse;
mod wheel;

pub(crate) use packet::{Packet, PacketPool};
pub(crate) use route::RouteTable;
pub(crate) use shape::Shape;
pub(crate) use wheel::{FlitArrival, NONE, Wheel};

use crate::error::{Error, Result};
use crate::measure::{PacketLog, SimulationResult, StallCounter};
use crate::plan::{Params, Plan, Workload};
use crate::run::Progress;
use crate::spec::{AllocatorKind, ArbiterKind, EjectionPort, NetworkSpec, Switching, VcPolicy};
use crate::terminal::{Injector, Program, Terminals};
use fast::FastAllocators;
use general::GeneralAllocators;
use mask::VcMask;
use observe::LinkRecorder;
use state::Routers;
use std::ops::Range;

/// A network in motion.
pub(crate) struct Kernel<M> {
    p: Params,
    shape: Shape,
    rules: Rules,
    routers: Routers<M>,
    pool: PacketPool,
    wheel: Wheel,
    routes: RouteTable,
    terminals: Terminals,
    /// Routers with something to do, one bit each.
    active: Vec<u64>,
    fast: FastAllocators<M>,
    /// Where the fast way does not apply; taken out while a router is being stepped.
    general: Option<Box<GeneralAllocators<M>>>,
    plain: bool,
    /// Cycle in which the head of each front packet arrived, by VC; empty unless some arbiter is FCFS.
    arrivals: Vec<u64>,
    log: PacketLog,
    /// Flits ejected at each terminal in the measurement.
    ejected: Vec<u64>,
    measurement: Range<u64>,
    flit_hops: u64,
    links: Option<LinkRecorder>,
    stalls: Option<StallCounter>,
    observer: observe::Observer,
    now: u64,
    /// Visit routers from last to first; the result must not depend on it.
    reverse: bool,
}

/// The options of the network that the step function asks for.
#[derive(Debug, Clone, Copy)]
struct Rules {
    ejection_port: EjectionPort,
    destination_vc: bool,
    cut_through: bool,
    busy_when_full: bool,
    wait_for_tail_credit: bool,
    /// Any of the three above: usable output VCs depend on credits.
    credits_matter: bool,
    speculative: bool,
    hold: bool,
    fcfs: bool,
    /// Several controllers, and the ejection port is chosen at each request.
    chooses_ejection_port: bool,
    /// Either of the two below is more than 1.
    speedup: bool,
    input_speedup: usize,
    output_speedup: usize,
}

impl Rules {
    fn new(network: &NetworkSpec) -> Self {
        let router = &network.router;
        let cut_through = router.switching == Switching::VirtualCutThrough;
        Rules {
            ejection_port: network.terminal.ejection_port,
            destination_vc: router.vc_policy == VcPolicy::Destination,
            cut_through,
            busy_when_full: router.vc_busy_when_full,
            wait_for_tail_credit: router.wait_for_tail_credit,
            credits_matter: cut_through || router.vc_busy_when_full || router.wait_for_tail_credit,
            speculative: router.speculative,
            hold: router.hold_switch_for_packet,
            fcfs: [router.vc_allocator, router.sw_allocator].iter().any(|a| a.arbiter == ArbiterKind::Fcfs),
            chooses_ejection_port: network.terminal.controllers > 1
                && network.terminal.ejection_port == EjectionPort::Any,
            speedup: router.input_speedup > 1 || router.output_speedup > 1,
            input_speedup: router.input_speedup as usize,
            output_speedup: router.output_speedup as usize,
        }
    }
}

/// Whether the fast way through allocation applies.
fn is_plain(network: &NetworkSpec) -> bool {
    let r = &network.router;
    let islip1 = |a: &crate::spec::AllocatorSpec| a.kind == AllocatorKind::Islip && a.iterations.0 == 1;
    islip1(&r.vc_allocator)
        && islip1(&r.sw_allocator)
        && !r.speculative
        && !r.hold_switch_for_packet
        && r.input_speedup == 1
        && r.output_speedup == 1
}

/// Choices that must not change a result; tests vary them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Variation {
    /// Visit routers from last to first.
    pub reverse: bool,
    /// Take the general way through allocation where the fast one applies.
    pub general: bool,
    /// Use wide masks where narrow ones suffice.
    pub wide: bool,
}

/// Runs a plan. `progress` is called every few milliseconds; it returns false to stop the run.
///
/// # Errors
/// Deadlock, the limit of cycles, or interruption.
pub(crate) fn simulate(
    plan: &Plan,
    variation: Variation,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<SimulationResult> {
    if plan.params.vcs <= 64 && !variation.wide {
        Kernel::<u64>::new(plan, variation)?.run(plan, progress)
    } else {
        Kernel::<[u64; 10]>::new(plan, variation)?.run(plan, progress)
    }
}

impl<M: VcMask> Kernel<M> {
    fn new(plan: &Plan, variation: Variation) -> Result<Self> {
        let p = plan.params.clone();
        let network = &plan.spec.network;
        let run = &plan.spec.run;
        let rules = Rules::new(network);
        let (terminals, measurement) = match &plan.workload {
            Workload::Closed { schedule, packet_flits } => {
                let program = Program::new(schedule)?;
                let t = Terminals::closed(network, &p, &plan.grid, &plan.routing, program, *packet_flits, run.seed);
                (t, 0..u64::MAX)
            }
            Workload::Open(traffic) => {
                let t = Terminals::open(network, &p, &plan.grid, &plan.routing, traffic, run.seed);
                (t, run.warmup_cycles..run.warmup_cycles + run.measurement_cycles)
            }
        };
        let plain = !variation.general && is_plain(network);
        let shape = Shape::new(&p, rules.input_speedup, rules.output_speedup);
        // Reserve for every buffer in use where that is little; larger networks grow while they warm up.
        let events = (p.routers * p.ports).min(1 << 14);
        let packets = (p.routers * p.ports * p.vcs).min(1 << 16);
        Ok(Kernel {
            routers: Routers::new(&p, &shape, &plan.grid),
            pool: PacketPool::new(packets),
            wheel: Wheel::new(longest_delay(&p, &rules), events),
            routes: RouteTable::new(&plan.grid, &plan.routing),
            terminals,
            active: vec![0; p.routers.div_ceil(64)],
            fast: FastAllocators::new(&p, &shape, if plain { p.routers } else { 0 }),
            general: (!plain).then(|| Box::new(GeneralAllocators::new(network, &p, &shape))),
            plain,
            arrivals: vec![0; if rules.fcfs { p.routers * shape.slots() } else { 0 }],
            log: PacketLog::new(measurement.clone(), run.record.packets),
            ejected: vec![0; p.terminals],
            measurement,
            flit_hops: 0,
            links: (run.record.link_window_cycles > 0)
                .then(|| LinkRecorder::new(run.record.link_window_cycles, p.routers * p.network_ports)),
            stalls: run.record.stalls.then(|| StallCounter::new(run.record.link_window_cycles > 0)),
            observer: observe::Observer::new(&p, &shape, run.record.stalls),
            now: 0,
            reverse: variation.reverse,
            shape,
            rules,
            p,
        })
    }

    fn run(mut self, plan: &Plan, progress: &mut dyn FnMut(Progress) -> bool) -> Result<SimulationResult> {
        let run = &plan.spec.run;
        let mut moved = (0, 0);
        let mut report_at = REPORT_FLIT_HOPS;
        let mut report_cycle = REPORT_CYCLES;
        let complete = loop {
            self.step();
            if self.is_done() {
                break true;
            }
            if self.flit_hops != moved.1 {
                moved = (self.now, self.flit_hops);
            } else if self.now - moved.0 >= run.watchdog_cycles && self.pool.live() > 0 && self.wheel.is_idle() {
                return Err(self.deadlock(plan));
            }
            if self.flit_hops >= report_at || self.now >= report_cycle {
                report_at = self.flit_hops + REPORT_FLIT_HOPS;
                report_cycle = self.now + REPORT_CYCLES;
                if !progress(self.progress()) {
                    return Err(Error::Interrupted { cycle: self.now });
                }
            }
            if self.now >= run.max_cycles {
                break false;
            }
            self.now = match self.next_cycle() {
                Some(next) => next.min(run.max_cycles),
                None => return Err(self.stuck(plan)),
            };
        };
        if !complete && self.terminals.program().is_some() {
            let left = self.terminals.program().map_or(0, |p| p.messages().1);
            return Err(Error::CycleLimit { cycles: self.now, detail: format!("{left} messages have not arrived") });
        }
        Ok(self.into_result(plan, complete))
    }

    /// One cycle.
    fn step(&mut self) {
        self.deliver();
        let mut net = Injector {
            pool: &mut self.pool,
            wheel: &mut self.wheel,
            routes: &self.routes,
            log: &mut self.log,
            stalls: self.stalls.as_mut(),
        };
        self.terminals.inject(self.now, &mut net);
        if self.reverse {
            (0..self.active.len()).rev().for_each(|word| self.visit(word));
        } else {
            (0..self.active.len()).for_each(|word| self.visit(word));
        }
        self.observe();
        #[cfg(feature = "audit")]
        self.audit();
    }

    /// Visits the active routers of one word of the active set.
    #[inline]
    fn visit(&mut self, word: usize) {
        let mut bits = self.active[word];
        while bits != 0 {
            let bit = if self.reverse { 63 - bits.leading_zeros() } else { bits.trailing_zeros() };
            bits &= !(1 << bit);
            let router = word * 64 + bit as usize;
            if self.plain {
                self.step_fast(router);
            } else {
                self.step_general(router);
            }
            let s = &self.routers.summary[router];
            if s.waiting_ports == 0 && s.requested_cols == 0 && !self.has_held(router) {
                self.active[word] &= !(1 << bit);
            }
        }
    }

    /// Whether the run is over.
    fn is_done(&mut self) -> bool {
        if self.terminals.program().is_some() {
            return self.terminals.is_complete();
        }
        self.now + 1 >= self.measurement.end
            && self.log.measured_under_way() == 0
            && self.terminals.all_taken_before(self.measurement.end)
    }

    /// The next cycle in which anything can happen; `None` if nothing ever will.
    fn next_cycle(&self) -> Option<u64> {
        if self.pool.live() > 0 || !self.wheel.is_idle() {
            return Some(self.now + 1);
        }
        let mut next = self.terminals.next_turn(self.now)?;
        if let Some(links) = &self.links {
            next = next.min(links.window_end(self.now));
        }
        Some(next)
    }

    fn progress(&self) -> Progress {
        let total = self.terminals.program().map(|p| p.messages());
        Progress {
            cycle: self.now,
            packets_done: total.map_or(self.log.arrived, |(all, left)| all - left),
            packets_total: total.map(|(all, _)| all),
        }
    }
}

/// Work between two calls of the progress callback: a few milliseconds.
const REPORT_FLIT_HOPS: u64 = 200_000;
const REPORT_CYCLES: u64 = 1 << 12;

/// The longest delay of any event [cycles].
fn longest_delay(p: &Params, rules: &Rules) -> u64 {
    let turns = if rules.output_speedup > 1 { p.vcs as u64 * u64::from(p.buffer_flits) } else { 0 };
    let stages = [
        u64::from(p.routing_delay_cycles) + 1,
        u64::from(p.vc_alloc_delay_cycles),
        u64::from(p.hop_cycles) + turns,
        u64::from(p.eject_cycles) + u64::from(p.eject_credit_cycles) + turns,
        u64::from(p.inject_cycles),
        u64::from(p.credit_cycles),
        u64::from(p.inject_credit_cycles),
    ];
    stages.into_iter().max().unwrap_or(0)
}
