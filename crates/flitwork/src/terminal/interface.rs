//! All terminals: their controllers take messages from the source queues, cut them into packets and send them flit by flit.

use super::calendar::Calendar;
use super::controller::{Controller, choose_vc};
use super::queue::{Job, SourceQueues, Untaken};
use crate::error::Result;
use crate::host::Hosts;
use crate::measure::{PacketLog, PacketRecord, StallCounter};
use crate::mix::packet_bits;
use crate::plan::{Params, Plan, Workload};
use crate::routing::Routing;
use crate::spec::{InjectionVc, SourceQueue, Switching, VcPolicy};
use crate::topology::{Coords, Grid};
use crate::transit::{FlitArrival, Layout, NONE, Packet, PacketPool, Wheel};
use std::ops::Range;

/// What injection needs of the rest of the network.
pub(crate) struct Injector<'a> {
    pub pool: &'a mut PacketPool,
    pub wheel: &'a mut Wheel,
    /// What routers look up for each destination router.
    pub route_keys: &'a [u64],
    pub log: &'a mut PacketLog,
    pub stalls: Option<&'a mut StallCounter>,
}

/// All terminals.
#[derive(Debug)]
pub(crate) struct Terminals {
    controllers: Vec<Controller>,
    /// Free places in the injection port's buffers, indexed `[controller][vc]`.
    credits: Vec<u16>,
    credits_per_terminal: u32,
    /// Terminals that may be able to do something, one bit each.
    active: Vec<u64>,
    /// Terminals with a controller that sleeps until a credit arrives, one bit each.
    starved: Vec<u64>,
    queues: SourceQueues,
    /// Cycle of t = 0, the first in which programs run.
    start: u64,
    /// Packets so far, by terminal.
    sequence: Vec<u32>,
    calendar: Calendar,
    grid: Grid,
    /// Coordinates of each router.
    coords: Vec<Coords>,
    routing: Routing,
    seed: u64,
    params: Params,
    layout: Layout,
    injection_vc: InjectionVc,
    destination_vc: bool,
    cut_through: bool,
    whole_buffer: bool,
}

impl Terminals {
    /// The terminals of a plan.
    ///
    /// # Errors
    /// [`crate::Error::Schedule`] if the messages of a schedule do not match.
    pub fn new(plan: &Plan, layout: Layout) -> Result<Self> {
        let Plan { params, fabric, routing, .. } = plan;
        let grid = fabric.needs_grid("network.topology.kind", "this")?;
        let network = &plan.spec.network;
        let controllers = params.terminals * params.controllers;
        let mut terminals = Terminals {
            controllers: vec![Controller::idle(params.vcs); controllers],
            credits: vec![params.buffer_flits as u16; controllers * params.vcs],
            credits_per_terminal: (params.controllers * params.vcs) as u32,
            active: vec![0; params.terminals.div_ceil(64)],
            starved: vec![0; params.terminals.div_ceil(64)],
            queues: queues(plan)?,
            start: plan.start_cycle,
            sequence: vec![0; params.terminals],
            calendar: Calendar::new(params.terminals),
            grid: grid.clone(),
            coords: (0..grid.routers()).map(|r| grid.coords(r)).collect(),
            routing: routing.clone(),
            seed: plan.spec.run.seed,
            params: params.clone(),
            layout,
            injection_vc: network.terminal.injection_vc,
            destination_vc: network.router.vc_policy == VcPolicy::Destination,
            cut_through: network.router.switching == Switching::VirtualCutThrough,
            whole_buffer: network.router.wait_for_tail_credit,
        };
        terminals.wake_all();
        Ok(terminals)
    }

    /// The schedule in execution, if the workload is one.
    pub fn program(&self) -> Option<&Hosts> {
        self.queues.program()
    }

    /// Packets of traffic that has an end; `None` of all else.
    pub fn finite_packets(&self) -> Option<u64> {
        self.queues.finite_packets()
    }

    /// Whether the workload is traffic without end.
    pub fn is_open_loop(&self) -> bool {
        self.program().is_none() && self.finite_packets().is_none()
    }

    /// Cycle of t = 0.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Whether controllers have taken all that traffic with an end has.
    pub fn all_taken(&self) -> bool {
        self.queues.all_taken()
    }

    /// What was created in `window` and no controller has taken: of an open-loop workload, and of the background.
    pub fn untaken(&self, window: Range<u64>) -> (Untaken, Untaken) {
        let (mut work, mut background) = self.queues.untaken(window.clone());
        // Second halves whose first half a controller has taken.
        for job in self.controllers.iter().filter_map(|c| c.job.as_ref()) {
            if job.created.is_some_and(|created| window.contains(&created)) {
                let untaken = if job.background { &mut background } else { &mut work };
                untaken.flits += job.flits_left + u64::from(job.second_half);
            }
        }
        (work, background)
    }

    /// Whether all traffic has moved on to packets created at or after `end`.
    pub fn all_taken_before(&self, end: u64) -> bool {
        self.queues.all_taken_before(end)
    }

    #[inline]
    fn wake(&mut self, terminal: u32) {
        self.active[terminal as usize / 64] |= 1 << (terminal % 64);
    }

    fn wake_all(&mut self) {
        (0..self.params.terminals).for_each(|t| self.wake(t as u32));
    }

    /// A credit arrived for VC `at`, `controller * vcs + vc`.
    #[inline(always)]
    pub fn credit(&mut self, at: usize) {
        self.credits[at] += 1;
        let terminal = at as u32 / self.credits_per_terminal;
        let (word, bit) = (terminal as usize / 64, 1 << (terminal % 64));
        let starved = &mut self.starved[word];
        if *starved & bit != 0 {
            *starved &= !bit;
            self.active[word] |= bit;
        }
    }

    /// A tail arrived: its message may be complete, and let its receiver go on.
    pub fn arrived(&mut self, packet: &Packet, now: u64) {
        if packet.background {
            return;
        }
        let Some(program) = self.queues.program_mut() else { return };
        if let Some(terminal) = program.arrived(packet.message, u32::from(packet.flits), now) {
            self.wake(terminal);
        }
    }

    /// The next cycle after `now` in which a terminal may do something by itself; `None` if it waits for the network.
    pub fn next_turn(&self, now: u64) -> Option<u64> {
        if self.active.iter().any(|&w| w != 0) {
            return Some(now + 1);
        }
        let program = match self.program() {
            Some(_) if now < self.start => Some(self.start),
            Some(program) if program.has_pending_completions() => Some(now + 1),
            Some(program) => program.next_compute_end(),
            None => None,
        };
        match (self.calendar.next_after(now), program) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// One cycle of all terminals.
    pub fn inject(&mut self, now: u64, net: &mut Injector) {
        if now == self.start {
            self.wake_all();
        }
        let mut woken = std::mem::take(&mut self.active);
        self.calendar.advance(now, |t| woken[t as usize / 64] |= 1 << (t % 64));
        if let Some(program) = self.queues.program_mut() {
            program.begin_cycle(now, |t| woken[t as usize / 64] |= 1 << (t % 64));
        }
        for (word, bits) in woken.iter_mut().enumerate() {
            let mut left = *bits;
            while left != 0 {
                let bit = left & left.wrapping_neg();
                left ^= bit;
                if !self.step(word * 64 + bit.trailing_zeros() as usize, now, net) {
                    *bits ^= bit;
                }
            }
        }
        self.active = woken;
        if let Some(stalls) = &mut net.stalls {
            self.count_sync_waits(now, stalls);
        }
    }

    /// One cycle of one terminal; false if it need not be looked at before something wakes it.
    fn step(&mut self, terminal: usize, now: u64, net: &mut Injector) -> bool {
        if now >= self.start {
            if let Some(program) = self.queues.program_mut() {
                program.advance(terminal as u32, now);
            }
        }
        let mut busy = false;
        for k in 0..self.params.controllers {
            let c = terminal * self.params.controllers + k;
            if self.controllers[c].packet == NONE && !self.next_packet(terminal, k, now, net) {
                continue;
            }
            // A controller without a credit sleeps until one arrives, unless its waiting is counted.
            let asleep = !self.send(terminal, c, now, net) && net.stalls.is_none();
            if asleep {
                self.starved[terminal / 64] |= 1 << (terminal % 64);
            }
            busy |= !asleep && (self.controllers[c].is_busy() || self.may_take(terminal, now));
        }
        busy
    }

    /// Whether it pays to look at an idle terminal in the next cycle; otherwise its next turn is on the calendar, or comes
    /// with what it waits for.
    fn may_take(&mut self, terminal: usize, now: u64) -> bool {
        if self.queues.program().is_some() {
            return true;
        }
        let next = self.queues.next_creation(terminal);
        if next > now + 1 {
            self.schedule(terminal, now, next);
        }
        next <= now + 1
    }

    /// Puts the next turn of a terminal on the calendar, if there is one.
    fn schedule(&mut self, terminal: usize, now: u64, next: u64) {
        if next < u64::MAX {
            self.calendar.schedule(terminal as u32, now, next);
        }
    }

    /// Gives controller `k` its next packet; false if there is none now.
    fn next_packet(&mut self, terminal: usize, k: usize, now: u64, net: &mut Injector) -> bool {
        let c = terminal * self.params.controllers + k;
        let Some(mut job) = self.controllers[c].job.take().or_else(|| self.take_job(terminal, now)) else {
            return false;
        };
        let src = &self.coords[terminal / self.params.concentration];
        let dst_router = job.dst / self.params.concentration as u32;
        let dst = &self.coords[dst_router as usize];
        let (flits, coins) = job.next_packet(self.routing.splits(), || self.has_tie(src, dst));
        let sequence = self.sequence[terminal];
        let bits = || packet_bits(self.seed, terminal as u32, sequence);
        let (start, hops) = self.routing.start(&self.grid, src, dst, coins, bits);
        let header = start.trip.header;
        let created = job.created.unwrap_or(now);
        let record = net.log.taken(job.background, terminal, created, flits, || PacketRecord {
            src: terminal as u32,
            sequence,
            dst: job.dst,
            flits: u32::from(flits),
            message: job.number,
            controller: k as u32,
            minus: header.minus,
            wraps: header.wraps,
            hops,
            created,
            injected: u64::MAX,
            arrived: u64::MAX,
            background: job.background,
        });
        let id = net.pool.insert(Packet {
            key: net.route_keys[self.grid.id(&start.to) as usize],
            created,
            injected: u64::MAX,
            next: NONE,
            src: terminal as u32,
            dst: job.dst,
            sequence,
            message: job.message,
            record,
            here: 0,
            flits,
            hops: hops as u16,
            minus: header.minus,
            wraps: header.wraps,
            controller: k as u8,
            crossed: start.trip.crossed,
            mode: start.trip.mode,
            misroutes: start.trip.misroutes,
            background: job.background,
        });
        self.sequence[terminal] += 1;
        let controller = &mut self.controllers[c];
        controller.job = job.has_more().then_some(job);
        controller.packet = id;
        controller.left = flits;
        controller.head_sent = false;
        true
    }

    /// Whether some dimension of the way between two routers is a tie.
    fn has_tie(&self, src: &Coords, dst: &Coords) -> bool {
        self.routing.dimension_order().is_some_and(|order| order.has_tie(&self.grid, src, dst))
    }

    /// The next message of a terminal's queue, if it may start now; if not, its next turn is on the calendar where it is known.
    fn take_job(&mut self, terminal: usize, now: u64) -> Option<Job> {
        let job = self.queues.take(terminal, now, self.sequence[terminal]);
        if job.is_none() {
            let next = self.queues.next_creation(terminal);
            self.schedule(terminal, now, next);
        }
        job
    }

    /// Sends the next flit of a controller's packet; false if there is no credit for it.
    #[inline]
    fn send(&mut self, terminal: usize, c: usize, now: u64, net: &mut Injector) -> bool {
        let vcs = self.params.vcs;
        let credits = &mut self.credits[c * vcs..(c + 1) * vcs];
        let controller = &mut self.controllers[c];
        let head = !controller.head_sent;
        let vc = if head {
            let packet = &net.pool[controller.packet];
            let router = terminal / self.params.concentration;
            let needed = if self.whole_buffer {
                self.params.buffer_flits as u16
            } else if self.cut_through {
                packet.flits
            } else {
                1
            };
            let choice = if self.destination_vc {
                let dst = &self.coords[packet.dst as usize / self.params.concentration];
                let order = self.routing.dimension_order();
                let first = order.and_then(|order| order.first_dimension(&self.coords[router], dst));
                let class = first.map_or(0, |d| (packet.wraps >> d & 1) as usize);
                let vc = packet.dst as usize + class * self.params.terminals;
                (credits[vc] >= needed).then_some(vc)
            } else {
                choose_vc(
                    self.injection_vc,
                    credits,
                    controller.last_vc as usize,
                    needed,
                    self.params.buffer_flits as u16,
                )
            };
            choice.map(|vc| vc as u16)
        } else {
            (credits[controller.vc as usize] > 0).then_some(controller.vc)
        };
        let Some(vc) = vc else {
            if let Some(stalls) = &mut net.stalls {
                stalls.source_no_credit(controller.left == 1);
            }
            return false;
        };
        credits[vc as usize] -= 1;
        if head {
            controller.vc = vc;
            controller.last_vc = vc;
            controller.head_sent = true;
            let packet = &mut net.pool[controller.packet];
            packet.injected = now;
            net.log.injected(packet.record, now);
        }
        let router = terminal / self.params.concentration;
        let local = c - router * self.params.concentration * self.params.controllers;
        let slot = self.layout.slot(self.params.network_ports + local, vc as usize);
        net.wheel.at(now + u64::from(self.params.inject_cycles)).flits.push(FlitArrival {
            vc: self.layout.vc(router, slot) as u32,
            packet: if head { controller.packet } else { NONE },
        });
        controller.left -= 1;
        if controller.left == 0 {
            let Packet { message, background, .. } = net.pool[controller.packet];
            controller.packet = NONE;
            if controller.job.is_none() && !background {
                if let Some(program) = self.queues.program_mut() {
                    program.sent(message);
                }
            }
        }
        true
    }

    /// Controllers that could send but for a message that their rank should have received before.
    fn count_sync_waits(&self, now: u64, stalls: &mut StallCounter) {
        let Some(program) = self.program().filter(|_| now >= self.start) else { return };
        for terminal in 0..self.params.terminals {
            let first = terminal * self.params.controllers;
            let idle =
                self.controllers[first..first + self.params.controllers].iter().filter(|c| c.packet == NONE).count();
            if idle > 0 && program.has_unsent(terminal as u32) {
                stalls.source_waits_for_sync(idle as u64);
            }
        }
    }

    /// Credits for VC `at`, `controller * vcs + vc`.
    #[cfg(feature = "audit")]
    pub fn credits_at(&self, at: usize) -> u16 {
        self.credits[at]
    }
}

/// The source queues of a plan.
fn queues(plan: &Plan) -> Result<SourceQueues> {
    let terminals = plan.params.terminals as u32;
    let queues = match &plan.workload {
        Workload::Closed { schedule, packet_flits } => {
            SourceQueues::of_program(Hosts::new(schedule)?, *packet_flits, terminals, plan.spec.run.seed)
        }
        Workload::Open(traffic) | Workload::Finite(traffic) => SourceQueues::of_traffic(traffic, terminals),
    };
    let alternate = plan.spec.network.terminal.source_queue == SourceQueue::Alternate;
    Ok(match &plan.background {
        Some(traffic) => queues.with_background(traffic, terminals, alternate),
        None => queues,
    })
}
