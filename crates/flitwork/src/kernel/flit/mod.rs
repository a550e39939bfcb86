//! The flit kernel: cycle accurate, for everything the model has.
//!
//! A cycle is: deliver, inject, then for each router that has something to do: allocate VCs, allocate the switch, traverse;
//! then observe. Routers hear of each other only through the timing wheel, at least one cycle later, so they may be visited
//! in any order. A router is visited only while a packet waits for a VC or a flit could be sent (the active set); a flit
//! blocked for want of credit costs nothing until the credit arrives.
//!
//! Two paths through allocation give the same result where both apply: `fast.rs` for iSLIP of one iteration without
//! speed-up, holding or speculation, on bit masks alone; `general.rs` for everything, on lists of requests.

mod ahead;
#[cfg(feature = "audit")]
mod audit;
mod choices;
mod deadlock;
mod deliver;
mod env;
mod fast;
mod fast_pass;
mod fast_single;
mod fast_switch;
mod general;
mod in_tree;
mod inject;
mod inject_created;
mod lines;
mod mask;
mod memory;
mod news;
mod next_output;
mod observe;
mod own_times;
mod own_vc;
mod packets;
mod pools;
mod requests;
mod route;
mod slots;
mod state;
mod traverse;

use super::knot::Waits;
use super::network::{Endpoints, Network, Observed};
use super::parallel::{self, Border, Part};
use super::simulation::Simulation;
use crate::compat::BatchStage;
use crate::error::Result;
use crate::kernel::Progress;
use crate::measure::{
    Arrival, FlitTally, FlitTimes, FlitsUnderWay, KernelName, SimulationResult, StallCounter, StallReport, WaitLog,
};
use crate::plan::Plan;
use crate::topology::Fabric;
use crate::transit::{CompiledSize, Layout, NONE, PacketPool, Wheel};
use crate::unchecked::{at_mut, prefetch_small};
use choices::Choices;
use env::{Env, Rules};
use fast::Scratch;
use general::GeneralAllocators;
use in_tree::InTree;
use inject::Injection;
use lines::Lines;
use mask::{ClassMasks, VcMask};
use memory::Memory;
use observe::{ChannelRecorder, Observer};
use own_times::OwnTimes;
use own_vc::OwnVcs;
use packets::Streams;
use pools::Pools;
use route::RouteTable;
use state::Router;
use std::ops::Range;

/// A network in motion. `PORTS`, `VCS` (of a port) and `WORDS` (of a set of slots, ports times VCs: one for 64 of them, and one more where
/// there are many, see [`slots::SlotSet`]) are the sizes that it is compiled for. `M` says where routers keep their ports and VCs: see
/// [`memory`].
pub(crate) struct Kernel<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool> {
    routers: Vec<Router<M, PORTS, VCS, WORDS, PACKETS>>,
    env: Env,
    injection: Injection,
    scratch: Scratch<M>,
    /// Where allocation by bit masks does not apply.
    general: Option<Box<GeneralAllocators<M>>>,
    channels: Option<ChannelRecorder>,
    /// The network does not fit the caches: lines of memory are asked for ahead.
    ahead: bool,
    /// Visit routers in this order instead of ascending; the result must not depend on it.
    order: Option<Vec<usize>>,
    /// The last cycle in which a flit left a buffer, and the flit-hops then.
    moved: (u64, u64),
    /// For the names of VCs.
    fabric: Fabric,
}

/// Choices that must not change a result; tests vary them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Variation {
    /// Visit routers in an order shuffled with this seed; 0: ascending.
    pub shuffle: u64,
    /// Take the general path through allocation where the fast one applies.
    pub general: bool,
    /// Count the routers where a compiled size suffices, and number VCs as if ports had so many; 0: as it is for the plan.
    pub counted: usize,
    /// Move flits one by one where packets could move whole.
    pub flits: bool,
    /// Ask for lines of memory ahead where the network would fit the caches.
    pub ahead: bool,
    /// Only this part of the network.
    pub part: Option<Part>,
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
    let threads = plan.threads();
    if threads > 1 {
        return parallel::simulate(plan, threads, parallel::EPOCH, progress);
    }
    let mut simulation = Simulation::on(plan, network(plan, variation)?)?;
    simulation.run(progress)?;
    Ok(simulation.into_result())
}

/// The network of a plan, at rest.
pub(crate) fn network(plan: &Plan, variation: Variation) -> Result<Box<dyn Network>> {
    match plan.kernel() {
        KernelName::Packet if !variation.flits => of_size::<true>(plan, variation),
        KernelName::Packet | KernelName::Flit => of_size::<false>(plan, variation),
    }
}

/// The network compiled for routers of the plan's size.
fn of_size<const PACKETS: bool>(plan: &Plan, variation: Variation) -> Result<Box<dyn Network>> {
    let (ports, vcs) = (plan.params.ports, plan.params.vcs);
    let size = match variation.counted {
        0 => CompiledSize::for_router(ports, vcs),
        more => CompiledSize::counted(ports, vcs.max(more)),
    };
    Ok(match (size.counted, size.ports, size.vcs) {
        (false, 8, 2) => Box::new(Kernel::<u8, 8, 2, 1, PACKETS>::new(plan, variation)?),
        (false, 8, 4) => Box::new(Kernel::<u8, 8, 4, 1, PACKETS>::new(plan, variation)?),
        (false, 8, 8) => Box::new(Kernel::<u8, 8, 8, 1, PACKETS>::new(plan, variation)?),
        (false, 8, 16) => Box::new(Kernel::<u16, 8, 16, 2, PACKETS>::new(plan, variation)?),
        (false, 16, 2) => Box::new(Kernel::<u8, 16, 2, 1, PACKETS>::new(plan, variation)?),
        (false, 16, 4) => Box::new(Kernel::<u8, 16, 4, 1, PACKETS>::new(plan, variation)?),
        (false, 16, 8) => Box::new(Kernel::<u8, 16, 8, 2, PACKETS>::new(plan, variation)?),
        (false, 32, 2) => Box::new(Kernel::<u8, 32, 2, 1, PACKETS>::new(plan, variation)?),
        (false, 32, 4) => Box::new(Kernel::<u8, 32, 4, 2, PACKETS>::new(plan, variation)?),
        (false, 64, 2) => Box::new(Kernel::<u8, 64, 2, 2, PACKETS>::new(plan, variation)?),
        (_, _, 8) => Box::new(Kernel::<u64, 64, 8, 9, PACKETS>::new(plan, variation)?),
        (_, _, 16) => Box::new(Kernel::<u64, 64, 16, 17, PACKETS>::new(plan, variation)?),
        (_, _, 32) => Box::new(Kernel::<u64, 64, 32, 33, PACKETS>::new(plan, variation)?),
        (_, _, 64) => Box::new(Kernel::<u64, 64, 64, 65, PACKETS>::new(plan, variation)?),
        (_, _, 128) => Box::new(Kernel::<[u64; 2], 64, 128, 129, PACKETS>::new(plan, variation)?),
        (_, _, 256) => Box::new(Kernel::<[u64; 4], 64, 256, 257, PACKETS>::new(plan, variation)?),
        (_, _, 512) => Box::new(Kernel::<[u64; 8], 64, 512, 513, PACKETS>::new(plan, variation)?),
        _ => Box::new(Kernel::<[u64; 10], 64, 640, 641, PACKETS>::new(plan, variation)?),
    })
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Kernel<M, PORTS, VCS, WORDS, PACKETS>
{
    fn new(plan: &Plan, variation: Variation) -> Result<Self> {
        let mut p = plan.params.clone();
        let own = variation.part.map_or(0..p.routers, |part| part.routers(p.routers));
        p.routers = own.len();
        let routers = Router::<M, PORTS, VCS, WORDS, PACKETS>::all(&p, &plan.fabric, own.start);
        let ports = routers.first().map_or(0, |router| router.memory.ports());
        let slots = ports * VCS;
        let cycles = (u64::from(p.hop_cycles), u64::from(p.credit_cycles));
        let border = variation.part.map(|part| Box::new(Border::new(part, plan.params.routers, slots, cycles)));
        let numbers = || own.start as u32..own.end as u32;
        let (run, router) = (&plan.spec.run, &plan.spec.network.router);
        let layout = Layout { slots, vcs: VCS };
        let choices = Choices::new(plan, layout, &own);
        let in_tree = InTree::of(plan, own.start);
        let mut rules = Rules::new(plan, choices.as_deref(), in_tree.as_deref(), PACKETS);
        rules.plain &= !variation.general;
        rules.oldest_first &= !variation.general && WORDS == 1;
        rules.lean &= rules.plain;
        rules.routes_in_one &= rules.plain;
        rules.plain_heads &= p.routing_delay_cycles == 0 || rules.routes_in_one;
        rules.allocates_in_one &= rules.plain || rules.oldest_first;
        rules.has_stages = rules.routes_in_one || rules.allocates_in_one;
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
            injection: Injection::new(plan, layout, PACKETS, &own),
            scratch: Scratch::new(p.ports * p.vcs * most_ports),
            general: (!rules.plain).then(|| Box::new(GeneralAllocators::new(plan, rules.hold))),
            channels: (run.record.channel_window_cycles > 0)
                .then(|| ChannelRecorder::new(run.record.channel_window_cycles, plan.fabric.channels().count())),
            ahead: Self::asks_ahead(p.routers, variation.ahead),
            order: (variation.shuffle > 0).then(|| shuffled(p.routers as u32, variation.shuffle)),
            moved: (0, 0),
            fabric: plan.fabric.clone(),
            env: Env {
                pool: PacketPool::new(packets),
                wheel: Wheel::with_room(p.longest_delay_cycles, p.routers * p.ports),
                border,
                streams: if PACKETS { Streams::new(plan, slots, ports) } else { Streams::none() },
                next_flits: Vec::new(),
                next_credits: Vec::new(),
                own_times: OwnTimes::of(plan).map(Box::new),
                own_vcs: OwnVcs::new(plan, p.routers * slots),
                pools: Pools::behind_outputs(plan, slots, ports),
                routes: RouteTable::of(fabric.routers(), &plan.routing, variation.part.map(|_| own.clone())),
                changed_ports: vec![0; if PACKETS || choices.is_some() { p.routers } else { 0 }],
                choices,
                in_tree,
                routing_stage: BatchStage::new(&router.compat, router.routing_delay_cycles, p.routers),
                active: vec![0; p.routers.div_ceil(64)],
                classes: ClassMasks::new(
                    plan.routing.at_source().map_or(0, |routing| routing.ports_with_classes()),
                    p.vcs,
                    router.compat.shared_middle_vc,
                ),
                arrivals: vec![0; if rules.fcfs { p.routers * slots } else { 0 }],
                network_ports_of: numbers().map(|r| fabric.network_ports_of(r) as u8).collect(),
                first_terminals: numbers().map(|r| fabric.terminals_at(r).start).collect(),
                router_of: (0..fabric.terminals()).map(|t| fabric.router_of(t)).collect(),
                ejected: vec![0; p.terminals],
                late: Vec::new(),
                measurement: 0..0,
                counts_ejected: false,
                flit_hops: 0,
                flit_times: None,
                stalls: run.record.stalls.then(|| StallCounter::new(run.record.channel_window_cycles > 0)),
                lines: run.record.stalls.then(|| Lines::new(plan)).flatten().map(Box::new),
                waits,
                watched,
                observer: Observer::new(if watched { p.routers } else { 0 }, ports, slots),
                slots,
                now: 0,
                staged_at: u64::MAX,
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
        let active = self.env.active.clone();
        order
            .iter()
            .filter(|&&r| active[r / 64] >> (r % 64) & 1 == 1)
            .for_each(|&r| self.visit_router::<false, false, false>(r));
        self.order = Some(order);
    }

    /// Visits the active routers of one word of the active set. The hot loop: on its own, so that nothing else takes its registers.
    /// `LEAN`: see [`Env::asks`]. `SINGLES`, with it: packets go as `fast_single.rs` has it; `ALL` there.
    #[inline(never)]
    fn visit<const LEAN: bool, const SINGLES: bool, const ALL: bool>(&mut self, word: usize) {
        let mut bits = self.env.active[word];
        while bits != 0 {
            let bit = bits.trailing_zeros();
            bits &= bits - 1;
            // The next one's block is fetched while this one is worked on; with none left, the same one: no branch.
            let next = if bits == 0 { bit } else { bits.trailing_zeros() };
            prefetch_small(&self.routers, word * 64 + next as usize);
            self.visit_router::<LEAN, SINGLES, ALL>(word * 64 + bit as usize);
        }
    }

    /// One cycle of a router; it leaves the active set when it has nothing more to do.
    #[inline(always)]
    fn visit_router<const LEAN: bool, const SINGLES: bool, const ALL: bool>(&mut self, me: usize) {
        let router = at_mut(&mut self.routers, me);
        if LEAN {
            if SINGLES {
                router.step_singles::<ALL>(me, &mut self.scratch, &mut self.env);
            } else {
                router.step_fast::<true>(me, &mut self.scratch, &mut self.env);
            }
            if router.is_idle() {
                self.env.active[me / 64] &= !(1 << (me % 64));
            }
            return;
        }
        let held = match &mut self.general {
            None => {
                router.step_fast::<false>(me, &mut self.scratch, &mut self.env);
                false
            }
            Some(_) if PACKETS && WORDS == 1 && self.env.rules.oldest_first => {
                if !router.step_oldest_first(me, &mut self.env) {
                    self.env.active[me / 64] &= !(1 << (me % 64));
                }
                return;
            }
            Some(general) => {
                router.step_general(me, general, &mut self.env);
                general.holds(me)
            }
        };
        let again = if PACKETS { self.env.look_again(me) } else { !router.is_idle() || held };
        if !again {
            self.env.active[me / 64] &= !(1 << (me % 64));
        }
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool> Network
    for Kernel<M, PORTS, VCS, WORDS, PACKETS>
{
    fn deliver(&mut self, now: u64, arrived: &mut Vec<Arrival>) {
        self.env.now = now;
        if let Some(border) = &mut self.env.border {
            border.receive(&mut self.env.wheel, &mut self.env.pool);
        }
        if PACKETS {
            self.deliver_packets_due(arrived);
        } else {
            self.deliver_due(arrived);
        }
    }

    fn step(&mut self, now: u64, ends: &mut Endpoints) {
        self.env.counts_ejected = self.env.measurement.contains(&(now + u64::from(self.env.p.eject_cycles)));
        self.injection.step::<PACKETS>(&mut self.env, ends);
        if self.order.is_some() {
            self.visit_shuffled();
        } else {
            // Small routers, as most have, are worth two versions of the loop.
            let lean = !M::Memory::<PORTS, VCS>::COUNTED && !PACKETS && self.env.rules.lean;
            for word in 0..self.env.active.len() {
                if self.ahead {
                    self.ask_for_visits(word);
                }
                let rules = &self.env.rules;
                match (lean, rules.single_stages, rules.all_single) {
                    (false, _, _) => self.visit::<false, false, false>(word),
                    (true, false, _) => self.visit::<true, false, false>(word),
                    (true, true, false) => self.visit::<true, true, false>(word),
                    (true, true, true) => self.visit::<true, true, true>(word),
                }
            }
        }
        self.env.close_next_slots();
        self.observe();
        if self.env.flit_hops != self.moved.1 {
            self.moved = (now, self.env.flit_hops);
        }
        #[cfg(feature = "audit")]
        if !PACKETS && self.env.border.is_none() && audit::is_asked_for() {
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
        debug_assert!(self.env.border.is_some() || self.env.wheel.is_idle());
        None
    }

    fn next_observation(&self, now: u64) -> u64 {
        self.channels.as_ref().map_or(u64::MAX, |channels| channels.window_end(now))
    }

    fn flit_hops(&self) -> u64 {
        self.env.flit_hops
    }

    fn waits(&self, waits: &mut Waits) {
        self.list_waits(waits);
    }

    fn name_of_vc(&self, vc: u32) -> String {
        self.name(vc)
    }

    fn packets_that_stand(&self) -> Option<u64> {
        let env = &self.env;
        let still = env.wheel.is_idle() && env.streams.due.is_idle() && env.staged_at != env.now;
        still.then(|| env.pool.live() as u64)
    }

    fn measure(&mut self, now: u64, window: Range<u64>) {
        if PACKETS {
            self.count_all_ejected(now);
        }
        for (arrival, terminal) in std::mem::take(&mut self.env.late) {
            if window.contains(&arrival) {
                self.env.ejected[terminal as usize] += 1;
            } else {
                self.env.late.push((arrival, terminal));
            }
        }
        self.env.measurement = window;
    }

    fn keep_flit_times(&mut self, under_way: &FlitsUnderWay) {
        if !PACKETS {
            self.env.flit_times = Some(Box::new(FlitTimes::new(under_way.clone())));
            self.env.rules.lean = false;
        }
    }

    fn flit_tally(&self, before: u64) -> Option<FlitTally> {
        self.env.flit_times.as_ref().map(|times| times.tally(before))
    }

    fn channel_flits(&self, before: u64, flits: &mut Vec<u64>) {
        let ports = self.env.p.network_ports;
        flits.reserve(self.routers.len() * ports);
        let queued = self.queued_flits(before);
        for (me, router) in self.routers.iter().enumerate() {
            for (number, port) in
                (0..ports).map(|port| (port, router.port_at(port))).filter(|(_, port)| port.far_end != NONE)
            {
                let unsent = if PACKETS { self.unsent_flits(me, number, before) } else { 0 };
                let queued = queued.get(me * ports + number).copied().unwrap_or(0);
                flits.push(port.flits - unsent - queued);
            }
        }
    }

    fn border(&mut self) -> Option<&mut Border> {
        self.env.border.as_deref_mut()
    }

    fn finish(mut self: Box<Self>, now: u64) -> Observed {
        if PACKETS {
            self.count_all_ejected(now + 1);
            self.env.flit_hops -= self.all_unsent_flits(now + 1);
        }
        let mut channel_flits = Vec::new();
        self.channel_flits(now + 1, &mut channel_flits);
        let Kernel { env, channels, .. } = *self;
        let hol_blocked = env.lines.map(|lines| lines.blocked).unwrap_or_default();
        Observed {
            flit_hops: env.flit_hops,
            channel_windows: channels.map(|channels| channels.finish(now, &channel_flits)),
            channel_flits,
            ejected_flits: env.ejected,
            stalls: env.stalls.map(|stalls| StallReport { hol_blocked, ..stalls.report() }),
            waits: env.waits.map(|waits| waits.report()),
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

#[cfg(test)]
mod scheme_tests;
#[cfg(test)]
mod tests;
