//! Controllers and what feeds them.

use super::calendar::Calendar;
use super::program::Program;
use crate::measure::{PacketLog, PacketRecord, StallCounter};
use crate::mix::packet_bits;
use crate::plan::{Params, Plan};
use crate::routing::Routing;
use crate::spec::{InjectionVc, Switching, VcPolicy};
use crate::topology::{Coords, Grid};
use crate::traffic::{OpenLoop, Source, terminal_rng};
use crate::transit::{FlitArrival, Layout, NONE, Packet, PacketPool, Wheel};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// The rest of a message that a controller is sending.
#[derive(Debug, Clone, Copy, Default)]
struct Job {
    dst: u32,
    /// Operation in the schedule, or sequence number of the packet.
    message: u32,
    /// Flits not in a packet yet.
    flits_left: u32,
    /// Flits of the second half of a packet that a tie cuts in two; 0 if there is none.
    second_half: u16,
    created: u64,
    coins: u8,
}

/// One communication controller.
#[derive(Debug, Clone, Copy)]
struct Controller {
    packet: u32,
    /// Flits of the packet not sent yet.
    left: u16,
    vc: u16,
    last_vc: u16,
    head_sent: bool,
    job: Option<Job>,
}

/// What is sent.
#[derive(Debug)]
enum Load {
    Open { traffic: OpenLoop, sources: Vec<Source> },
    Closed { program: Box<Program>, packet_flits: u32, coins: Vec<Pcg64Mcg> },
}

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
    load: Load,
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
    fn new(plan: &Plan, layout: Layout, load: Load) -> Self {
        let Plan { params, grid, routing, .. } = plan;
        let network = &plan.spec.network;
        let controllers = params.terminals * params.controllers;
        let idle =
            Controller { packet: NONE, left: 0, vc: 0, last_vc: params.vcs as u16 - 1, head_sent: false, job: None };
        let mut terminals = Terminals {
            controllers: vec![idle; controllers],
            credits: vec![params.buffer_flits as u16; controllers * params.vcs],
            credits_per_terminal: (params.controllers * params.vcs) as u32,
            active: vec![0; params.terminals.div_ceil(64)],
            load,
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
        (0..params.terminals).for_each(|t| terminals.wake(t as u32));
        terminals
    }

    /// Terminals with open-loop traffic.
    pub fn open(plan: &Plan, layout: Layout, traffic: &OpenLoop) -> Self {
        let terminals = plan.params.terminals as u64;
        let sources = (0..terminals).map(|t| Source::new(traffic, plan.spec.run.seed, t)).collect();
        Self::new(plan, layout, Load::Open { traffic: traffic.clone(), sources })
    }

    /// Terminals that execute a schedule, one rank each.
    pub fn closed(plan: &Plan, layout: Layout, program: Program, packet_flits: u32) -> Self {
        let coins = (0..plan.params.terminals as u64).map(|t| terminal_rng(plan.spec.run.seed, t)).collect();
        Self::new(plan, layout, Load::Closed { program: Box::new(program), packet_flits, coins })
    }

    /// The schedule in execution, if the loop is closed.
    pub fn program(&self) -> Option<&Program> {
        match &self.load {
            Load::Closed { program, .. } => Some(program.as_ref()),
            Load::Open { .. } => None,
        }
    }

    #[inline]
    fn wake(&mut self, terminal: u32) {
        self.active[terminal as usize / 64] |= 1 << (terminal % 64);
    }

    /// A credit arrived for VC `at`, `controller * vcs + vc`.
    #[inline(always)]
    pub fn credit(&mut self, at: usize) {
        self.credits[at] += 1;
        // The controller may have fallen asleep for want of it.
        self.wake(at as u32 / self.credits_per_terminal);
    }

    /// A tail arrived: its message may be complete, and let its receiver go on.
    pub fn arrived(&mut self, packet: &Packet) {
        if let Load::Closed { program, .. } = &mut self.load {
            if program.arrived(packet.message, u32::from(packet.flits)) {
                self.wake(packet.dst);
            }
        }
    }

    /// The next cycle after `now` in which a terminal may do something by itself; `None` if it waits for the network.
    pub fn next_turn(&self, now: u64) -> Option<u64> {
        if self.active.iter().any(|&w| w != 0) {
            return Some(now + 1);
        }
        let program = match &self.load {
            Load::Closed { program, .. } if program.has_pending_completions() => Some(now + 1),
            Load::Closed { program, .. } => program.next_compute_end(),
            Load::Open { .. } => None,
        };
        match (self.calendar.next_after(now), program) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// One cycle of all terminals.
    pub fn inject(&mut self, now: u64, net: &mut Injector) {
        let mut woken = std::mem::take(&mut self.active);
        self.calendar.advance(now, |t| woken[t as usize / 64] |= 1 << (t % 64));
        if let Load::Closed { program, .. } = &mut self.load {
            program.begin_cycle(now, |rank| woken[rank as usize / 64] |= 1 << (rank % 64));
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
            self.count_sync_waits(stalls);
        }
    }

    /// One cycle of one terminal; false if it need not be looked at before something wakes it.
    fn step(&mut self, terminal: usize, now: u64, net: &mut Injector) -> bool {
        if let Load::Closed { program, .. } = &mut self.load {
            program.advance(terminal as u32, now);
        }
        let mut busy = false;
        for k in 0..self.params.controllers {
            let c = terminal * self.params.controllers + k;
            if self.controllers[c].packet == NONE && !self.next_packet(terminal, k, now, net) {
                continue;
            }
            // A controller without a credit sleeps until one arrives, unless its waiting is counted.
            let asleep = !self.send(terminal, c, now, net) && net.stalls.is_none();
            let controller = &self.controllers[c];
            busy |= !asleep && (controller.packet != NONE || controller.job.is_some() || self.may_take(terminal, now));
        }
        busy
    }

    /// Whether it pays to look at an idle terminal in the next cycle; otherwise its next turn is on the calendar, or comes
    /// with what it waits for.
    fn may_take(&mut self, terminal: usize, now: u64) -> bool {
        match &self.load {
            Load::Closed { .. } => true,
            Load::Open { sources, .. } => {
                let next = sources[terminal].next_creation();
                if next > now + 1 {
                    self.calendar.schedule(terminal as u32, now, next);
                }
                next <= now + 1
            }
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
        let (flits, coins) = if job.second_half > 0 {
            (std::mem::take(&mut job.second_half), !0)
        } else {
            let limit = match &self.load {
                Load::Closed { packet_flits, .. } => *packet_flits,
                Load::Open { traffic, .. } => traffic.packet_flits,
            };
            let whole = job.flits_left.min(limit);
            job.flits_left -= whole;
            if self.routing.splits() && whole > 1 && self.has_tie(src, dst) {
                job.second_half = (whole / 2) as u16;
                ((whole - whole / 2) as u16, 0)
            } else {
                (whole as u16, if self.routing.splits() { 0 } else { job.coins })
            }
        };
        let bits = || packet_bits(self.seed, terminal as u32, self.sequence[terminal]);
        let (start, hops) = self.routing.start(&self.grid, src, dst, coins, bits);
        let header = start.trip.header;
        // Under a closed loop the later packets of a message are created when their turn comes.
        let created = if matches!(self.load, Load::Closed { .. }) { now } else { job.created };
        let record = net.log.taken(created, flits, || PacketRecord {
            src: terminal as u32,
            sequence: self.sequence[terminal],
            dst: job.dst,
            flits: u32::from(flits),
            message: job.message,
            controller: k as u32,
            minus: header.minus,
            wraps: header.wraps,
            hops,
            created,
            injected: u64::MAX,
            arrived: u64::MAX,
        });
        let id = net.pool.insert(Packet {
            key: net.route_keys[self.grid.id(&start.to) as usize],
            created,
            injected: u64::MAX,
            next: NONE,
            src: terminal as u32,
            dst: job.dst,
            sequence: self.sequence[terminal],
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
        });
        self.sequence[terminal] += 1;
        let controller = &mut self.controllers[c];
        controller.job = (job.flits_left > 0 || job.second_half > 0).then_some(job);
        controller.packet = id;
        controller.left = flits;
        controller.head_sent = false;
        true
    }

    /// Whether some dimension of the way between two routers is a tie.
    fn has_tie(&self, src: &Coords, dst: &Coords) -> bool {
        self.routing.dimension_order().is_some_and(|order| order.has_tie(&self.grid, src, dst))
    }

    /// The next message of a terminal's queue, if it may start now.
    fn take_job(&mut self, terminal: usize, now: u64) -> Option<Job> {
        match &mut self.load {
            Load::Closed { program, coins, .. } => {
                let message = program.take(terminal as u32)?;
                Some(Job {
                    dst: message.to,
                    message: message.op,
                    flits_left: message.flits,
                    second_half: 0,
                    created: now,
                    coins: coins[terminal].next_u32() as u8,
                })
            }
            Load::Open { traffic, sources } => {
                let source = &mut sources[terminal];
                let created = source.next_creation();
                if created > now {
                    self.calendar.schedule(terminal as u32, now, created);
                    return None;
                }
                let (dst, coins) = source.draw(traffic, terminal as u32, self.params.terminals as u32);
                Some(Job {
                    dst,
                    message: self.sequence[terminal],
                    flits_left: traffic.packet_flits,
                    second_half: 0,
                    created,
                    coins,
                })
            }
        }
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
            let message = net.pool[controller.packet].message;
            controller.packet = NONE;
            if controller.job.is_none() {
                if let Load::Closed { program, .. } = &mut self.load {
                    program.sent(message);
                }
            }
        }
        true
    }

    /// Controllers that could send but for a message that their rank should have received before.
    fn count_sync_waits(&mut self, stalls: &mut StallCounter) {
        let Load::Closed { program, .. } = &self.load else { return };
        for terminal in 0..self.params.terminals {
            let first = terminal * self.params.controllers;
            let idle =
                self.controllers[first..first + self.params.controllers].iter().filter(|c| c.packet == NONE).count();
            if idle > 0 && program.has_unsent(terminal as u32) {
                stalls.source_waits_for_sync(idle as u64);
            }
        }
    }

    /// Whether every controller is idle and, for a closed loop, the schedule is complete.
    pub fn is_complete(&self) -> bool {
        self.program().is_some_and(Program::is_complete)
    }

    /// Whether a terminal has sent anything.
    pub fn has_sent(&self, terminal: usize) -> bool {
        self.sequence[terminal] > 0
    }

    /// Packets that open-loop sources created before `end` but that no controller has taken.
    pub fn untaken_before(&self, end: u64) -> u64 {
        let Load::Open { traffic, sources } = &self.load else { return 0 };
        let terminals = self.params.terminals as u32;
        let count = |(t, source): (usize, &Source)| {
            let mut source = source.clone();
            let mut untaken = 0;
            while source.next_creation() < end {
                source.draw(traffic, t as u32, terminals);
                untaken += 1;
            }
            untaken
        };
        sources.iter().enumerate().map(count).sum()
    }

    /// Whether every open-loop source has moved on to packets created at or after `end`.
    pub fn all_taken_before(&self, end: u64) -> bool {
        match &self.load {
            Load::Open { sources, .. } => sources.iter().all(|s| s.next_creation() >= end),
            Load::Closed { .. } => true,
        }
    }

    /// Credits for VC `at`, `controller * vcs + vc`.
    #[cfg(feature = "audit")]
    pub fn credits_at(&self, at: usize) -> u16 {
        self.credits[at]
    }
}

/// The VC for a new packet among those with at least `needed` credits, of at most `most`.
fn choose_vc(rule: InjectionVc, credits: &[u16], last: usize, needed: u16, most: u16) -> Option<usize> {
    let vcs = credits.len();
    match rule {
        InjectionVc::RoundRobin => (last + 1..vcs).chain(0..=last).find(|&v| credits[v] >= needed),
        InjectionVc::Emptiest => {
            let mut best = (0, 0);
            for (v, &free) in credits.iter().enumerate() {
                if free > best.1 {
                    best = (v, free);
                    if free == most {
                        break;
                    }
                }
            }
            (best.1 >= needed).then_some(best.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_emptiest_vc_is_the_lowest_of_equals() {
        assert_eq!(choose_vc(InjectionVc::Emptiest, &[1, 3, 3], 0, 1, 9), Some(1));
        assert_eq!(choose_vc(InjectionVc::Emptiest, &[1, 3, 3], 0, 1, 3), Some(1));
        assert_eq!(choose_vc(InjectionVc::Emptiest, &[1, 3, 3], 0, 4, 9), None);
    }

    #[test]
    fn round_robin_starts_behind_the_last_and_ends_with_it() {
        assert_eq!(choose_vc(InjectionVc::RoundRobin, &[1, 1, 0], 0, 1, 9), Some(1));
        assert_eq!(choose_vc(InjectionVc::RoundRobin, &[1, 0, 0], 0, 1, 9), Some(0));
        assert_eq!(choose_vc(InjectionVc::RoundRobin, &[0, 0, 0], 0, 1, 9), None);
    }
}
