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
mod batch_stage;
mod choices;
mod deadlock;
mod deliver;
mod env;
mod fast;
mod general;
mod mask;
mod news;
mod observe;
mod requests;
mod result;
mod route;
mod slots;
mod state;
mod traverse;

use crate::error::{Error, Result};
use crate::kernel::Progress;
use crate::measure::{ClassLog, DeliveryRecorder, PacketLog, Phases, SimulationResult, StallCounter, View};
use crate::plan::{Plan, Workload};
use crate::terminal::{Injector, Terminals};
use crate::transit::{CompiledSize, Layout, PacketPool, Wheel};
use crate::unchecked::{at_mut, prefetch_small};
use batch_stage::BatchStage;
use choices::Choices;
use env::{Env, Rules};
use fast::Scratch;
use general::GeneralAllocators;
use mask::{ClassMasks, VcMask};
use observe::{LinkRecorder, Observer};
use route::RouteTable;
use state::Router;

/// A network in motion. `PORTS`, `SLOTS` (ports times VCs) and `WORDS` (of a set of slots: one for 64 of them, and one more where
/// there are many, see [`slots::SlotSet`]) are the sizes that it is compiled for.
pub(crate) struct Kernel<M, const PORTS: usize, const SLOTS: usize, const WORDS: usize> {
    routers: Vec<Router<M, PORTS, SLOTS, WORDS>>,
    env: Env,
    terminals: Terminals,
    scratch: Scratch<M>,
    /// Where allocation by bit masks does not apply.
    general: Option<Box<GeneralAllocators<M>>>,
    log: PacketLog,
    links: Option<LinkRecorder>,
    /// Visit routers in this order instead of ascending; the result must not depend on it.
    order: Option<Vec<usize>>,
    phases: Phases,
}

/// Choices that must not change a result; tests vary them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Variation {
    /// Visit routers in an order shuffled with this seed; 0: ascending.
    pub shuffle: u64,
    /// Take the general way through allocation where the fast one applies.
    pub general: bool,
    /// Use the largest compiled size where a smaller one suffices.
    pub large: bool,
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
    let size = if variation.large { (64, 64) } else { (plan.params.ports, plan.params.vcs) };
    let size = CompiledSize::for_router(size.0, size.1);
    match (size.ports, size.vcs) {
        (8, 2) => Kernel::<u64, 8, 16, 1>::new(plan, variation)?.run(plan, progress),
        (8, 8) => Kernel::<u64, 8, 64, 1>::new(plan, variation)?.run(plan, progress),
        (8, 16) => Kernel::<u64, 8, 128, 2>::new(plan, variation)?.run(plan, progress),
        (16, 8) => Kernel::<u64, 16, 128, 2>::new(plan, variation)?.run(plan, progress),
        (64, 64) => Kernel::<u64, 64, 4096, 65>::new(plan, variation)?.run(plan, progress),
        (8, _) => Kernel::<[u64; 10], 8, 8192, 129>::new(plan, variation)?.run(plan, progress),
        _ => Kernel::<[u64; 10], 64, 65_536, 1025>::new(plan, variation)?.run(plan, progress),
    }
}

impl<M: VcMask, const PORTS: usize, const SLOTS: usize, const WORDS: usize> Kernel<M, PORTS, SLOTS, WORDS> {
    fn new(plan: &Plan, variation: Variation) -> Result<Self> {
        let p = plan.params.clone();
        let run = &plan.spec.run;
        let layout = Layout { slots: SLOTS, vcs: SLOTS / PORTS };
        let choices = Choices::new(plan, layout);
        let mut rules = Rules::new(plan, choices.as_deref());
        rules.plain &= !variation.general;
        let terminals = Terminals::new(plan, layout)?;
        let phases = phases(plan);
        let packets = (p.routers * p.ports * p.vcs).min(1 << 16);
        let grid = plan.fabric.needs_grid("network.topology.kind", "this")?;
        let dateline = |port: usize| grid.has_dateline(port / 2);
        Ok(Kernel {
            routers: Router::all(&p, &plan.fabric),
            terminals,
            // A packet may ask for a port of each dimension and an escape channel.
            scratch: Scratch::new(p.ports * p.vcs * if rules.by_choice { grid.dims() + 1 } else { 1 }),
            general: (!rules.plain).then(|| Box::new(GeneralAllocators::new(plan))),
            log: packet_log(plan, &phases),
            links: (run.record.link_window_cycles > 0)
                .then(|| LinkRecorder::new(run.record.link_window_cycles, p.routers * p.network_ports)),
            order: (variation.shuffle > 0).then(|| shuffled(p.routers as u32, variation.shuffle)),
            env: Env {
                pool: PacketPool::new(packets),
                wheel: Wheel::new(p.longest_delay_cycles, p.routers * p.ports),
                next_flits: Vec::new(),
                next_credits: Vec::new(),
                next_flits_before: 0,
                routes: RouteTable::of(grid, &plan.routing),
                choices,
                routing_stage: BatchStage::of_routing(plan),
                active: vec![0; p.routers.div_ceil(64)],
                classes: ClassMasks::new(
                    (0..p.network_ports).filter(|&q| dateline(q)).fold(0, |ports, q| ports | 1 << q),
                    p.vcs,
                    plan.spec.network.router.shared_middle_vc,
                ),
                arrivals: vec![0; if rules.fcfs { p.routers * SLOTS } else { 0 }],
                ejected: vec![0; p.terminals],
                measurement: phases.window(),
                flit_hops: 0,
                stalls: run.record.stalls.then(|| StallCounter::new(run.record.link_window_cycles > 0)),
                observer: Observer::new(if run.record.stalls { p.routers } else { 0 }, PORTS, SLOTS),
                now: 0,
                rules,
                p,
            },
            phases,
        })
    }

    fn run(mut self, plan: &Plan, progress: &mut dyn FnMut(Progress) -> bool) -> Result<SimulationResult> {
        let run = &plan.spec.run;
        let mut moved = (0, 0);
        let mut report_at = REPORT_FLIT_HOPS;
        let mut report_cycle = REPORT_CYCLES;
        let complete = loop {
            if self.env.now >= self.phases.next() {
                self.look(self.env.now);
            }
            self.step();
            if self.is_done() {
                break true;
            }
            if self.env.flit_hops != moved.1 {
                moved = (self.env.now, self.env.flit_hops);
            } else if self.env.now - moved.0 >= run.watchdog_cycles
                && self.env.pool.live() > 0
                && self.env.wheel.is_idle()
            {
                return Err(self.deadlock(plan));
            }
            if self.env.flit_hops >= report_at || self.env.now >= report_cycle {
                report_at = self.env.flit_hops + REPORT_FLIT_HOPS;
                report_cycle = self.env.now + REPORT_CYCLES;
                if !progress(self.progress()) {
                    return Err(Error::Interrupted { cycle: self.env.now });
                }
                if self.is_stuck() {
                    return Err(self.stuck(plan));
                }
            }
            if self.env.now >= run.max_cycles {
                break false;
            }
            self.env.now = match self.next_cycle(moved.0) {
                Some(next) => next.min(run.max_cycles),
                None => return Err(self.stuck(plan)),
            };
        };
        if !complete && plan.workload.completes() {
            return Err(Error::CycleLimit { cycles: self.env.now, detail: self.what_is_left() });
        }
        Ok(self.into_result(plan, complete))
    }

    /// What of a workload that completes has not arrived.
    fn what_is_left(&self) -> String {
        match (self.terminals.program(), self.terminals.finite_packets()) {
            (Some(program), _) => format!("{} messages have not arrived", program.messages().1),
            (None, packets) => {
                format!("{} of {} packets have arrived", self.log.workload.totals.packets, packets.unwrap_or_default())
            }
        }
    }

    /// Whether a schedule cannot go on though packets of a background move.
    fn is_stuck(&self) -> bool {
        let under_way = self.log.workload.taken > self.log.workload.totals.packets;
        self.log.background.is_some()
            && !under_way
            && self.env.now > self.terminals.start()
            && self.terminals.program().is_some_and(|program| program.is_stuck())
    }

    /// One cycle.
    fn step(&mut self) {
        self.deliver();
        let env = &mut self.env;
        let mut net = Injector {
            pool: &mut env.pool,
            wheel: &mut env.wheel,
            route_keys: env.routes.keys(),
            log: &mut self.log,
            stalls: env.stalls.as_mut(),
        };
        self.terminals.inject(env.now, &mut net);
        if self.order.is_some() {
            self.visit_shuffled();
        } else {
            (0..self.env.active.len()).for_each(|word| self.visit(word));
        }
        self.env.close_next_slots();
        self.observe();
        #[cfg(feature = "audit")]
        self.audit();
    }

    /// Visits the active routers in the shuffled order.
    #[inline(never)]
    fn visit_shuffled(&mut self) {
        let Some(order) = self.order.take() else { return };
        let active = self.env.active.clone();
        order.iter().filter(|&&r| active[r / 64] >> (r % 64) & 1 == 1).for_each(|&r| self.visit_router(r));
        self.order = Some(order);
    }

    /// Visits the active routers of one word of the active set. The hot loop: on its own, so that nothing else takes its registers.
    #[inline(never)]
    fn visit(&mut self, word: usize) {
        let mut bits = self.env.active[word];
        while bits != 0 {
            let bit = bits.trailing_zeros();
            bits &= bits - 1;
            // The next one's block is fetched while this one is worked on; with none left, the same one: no branch.
            let next = if bits == 0 { bit } else { bits.trailing_zeros() };
            prefetch_small(&self.routers, word * 64 + next as usize);
            self.visit_router(word * 64 + bit as usize);
        }
    }

    /// One cycle of a router; it leaves the active set when it has nothing more to do.
    #[inline(always)]
    fn visit_router(&mut self, me: usize) {
        let router = at_mut(&mut self.routers, me);
        let held = match &mut self.general {
            None => {
                router.step_fast(me, &mut self.scratch, &mut self.env);
                false
            }
            Some(general) => {
                router.step_general(me, general, &mut self.env);
                general.holds(me)
            }
        };
        if router.is_idle() && !held {
            self.env.active[me / 64] &= !(1 << (me % 64));
        }
    }

    /// Lets the phases of the run see its state at the beginning of cycle `now`; they may decide what is measured.
    #[inline(never)]
    fn look(&mut self, now: u64) {
        let Kernel { phases, terminals, routers, log, env, .. } = self;
        let ports = env.p.network_ports;
        let view = View {
            totals: log.workload.totals,
            untaken_before: &|cycle| terminals.untaken(0..cycle).0.packets,
            link_flits: &|flits| flits.extend(routers.iter().flat_map(|r| &r.ports[..ports]).map(|port| port.flits)),
        };
        if phases.look(now, &view) {
            env.measurement = phases.window();
            log.measure(&phases.window());
        }
    }

    /// Whether the run is over.
    fn is_done(&mut self) -> bool {
        if self.env.now < self.terminals.start() {
            return false; // A workload without anything to send is over when it starts.
        }
        if let Some(program) = self.terminals.program() {
            return program.is_complete();
        }
        if self.terminals.finite_packets().is_some() {
            let work = &self.log.workload;
            return work.taken == work.totals.packets && self.terminals.all_taken();
        }
        let end = self.env.measurement.end;
        self.env.now + 1 >= end
            && (!self.phases.drains() || self.log.measured_under_way() == 0 && self.terminals.all_taken_before(end))
    }

    /// The next cycle in which anything can happen; `None` if nothing ever will. A flit left a buffer last in cycle `moved`.
    fn next_cycle(&self, moved: u64) -> Option<u64> {
        // Credits are all that outlives the packets, and the last of them are back after the longest delay.
        if self.env.pool.live() > 0 || self.env.now - moved <= self.env.p.longest_delay_cycles {
            return Some(self.env.now + 1);
        }
        debug_assert!(self.env.wheel.is_idle());
        // Where all sources of an open loop are silent, the measurement still ends.
        let last = self.terminals.is_open_loop().then(|| self.env.measurement.end - 1);
        let next = self.terminals.next_turn(self.env.now).or(last.filter(|&end| end > self.env.now))?;
        let mut next = next.min(self.phases.next_check());
        if self.env.now < self.terminals.start() {
            next = next.min(self.terminals.start());
        }
        if let Some(links) = &self.links {
            next = next.min(links.window_end(self.env.now));
        }
        debug_assert!(next > self.env.now, "time stands still in cycle {next}");
        Some(next)
    }

    fn progress(&self) -> Progress {
        let (done, total) = match (self.terminals.program().map(|p| p.messages()), self.terminals.finite_packets()) {
            (Some((all, left)), _) => (all - left, Some(all)),
            // Where ties cut packets in two, more arrive than were created.
            (None, Some(all)) => (self.log.workload.totals.packets.min(all), Some(all)),
            (None, None) => (self.log.workload.totals.packets, None),
        };
        Progress { cycle: self.env.now, packets_done: done, packets_total: total }
    }
}

/// What is measured of a run.
fn phases(plan: &Plan) -> Phases {
    let (p, run) = (&plan.params, &plan.spec.run);
    let links = p.routers * p.network_ports;
    match (&plan.workload, &run.steady) {
        (Workload::Closed { .. } | Workload::Finite(_), _) => Phases::whole_run(plan.start_cycle, links),
        (Workload::Open(_), Some(steady)) => Phases::steady(steady, p.longest_delay_cycles, links),
        (Workload::Open(_), None) => Phases::fixed(run.fixed_window(), links),
    }
}

/// What is noted of the packets of workload and background, both in the same window.
fn packet_log(plan: &Plan, phases: &Phases) -> PacketLog {
    let record = &plan.spec.run.record;
    let class = || {
        let window_cycles = record.delivery_window_cycles;
        let deliveries = (window_cycles > 0).then(|| DeliveryRecorder::new(plan.start_cycle, window_cycles));
        ClassLog::new(phases.window(), plan.params.terminals, deliveries)
    };
    PacketLog::new(class(), plan.background.is_some().then(class), record.packets)
}

/// The routers in random order.
fn shuffled(routers: u32, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..routers as usize).collect();
    order.sort_by_key(|&r| crate::mix::mix(seed ^ crate::mix::mix(r as u64)));
    order
}

/// Work between two calls of the progress callback: a few milliseconds.
const REPORT_FLIT_HOPS: u64 = 200_000;
const REPORT_CYCLES: u64 = 1 << 12;

#[cfg(test)]
mod scheme_tests;
#[cfg(test)]
mod tests;
