//! Injection: each port between a terminal and its router sends the flits of one packet at a time, as far as it has
//! credits.

use crate::kernel::flit::Env;
use crate::kernel::flit::router::SharedBuffers;
use crate::kernel::flit::vc_allocation::ANY_VC;
use crate::kernel::network::Endpoints;
use crate::measure::{Origin, PacketRecord};
use crate::mix::packet_bits;
use crate::plan::Plan;
use crate::routing::Routing;
use crate::spec::{InjectionVc, Switching};
use crate::terminal::Outgoing;
use crate::topology::End;
use crate::transit::{FlitArrival, Layout, NONE, Packet};
use crate::unchecked::{at, at_mut};
use std::ops::Range;

/// An injection port.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InjectionPort {
    /// The packet that it sends, or [`NONE`].
    pub packet: u32,
    /// Flits of the packet not sent yet. Where packets move whole: all of them until the cycle of the last one.
    pub left: u16,
    pub vc: u16,
    pub last_vc: u16,
    pub head_sent: bool,
    /// The private VC of the packet, or [`ANY_VC`].
    pub private_vc: u16,
    /// First input VC (see [`Layout::vc`]) at its router.
    pub entry: u32,
}

/// All injection ports of a network.
#[derive(Debug)]
pub(crate) struct Injection {
    pub(crate) ports: Vec<InjectionPort>,
    /// Free places in the buffers behind each port, `[port][vc]`. Where packets move whole: with those that are coming
    /// back, the last of them in the cycle of `complete`.
    pub(crate) credits: Vec<u16>,
    pub(crate) complete: Vec<u64>,
    /// Credits of one port that have come back.
    pub(crate) credits_now: Vec<u16>,
    /// Places taken, where VCs share a buffer.
    pub(crate) shared_buffers: Option<Box<SharedBuffers>>,
    pub(crate) credits_per_terminal: u32,
    vcs: usize,
    /// Terminals with a port that may be able to send in the next cycle, one bit each.
    pub(crate) active: Vec<u64>,
    /// Terminals with a port that sleeps until a credit arrives, one bit each.
    pub(crate) starved: Vec<u64>,
    /// The words of these with terminals that are there.
    words: Range<usize>,
    routing: Routing,
    seed: u64,
    pub(crate) injection_vc: InjectionVc,
    pub(crate) cut_through: bool,
    pub(crate) whole_buffer: bool,
    /// The VCs that terminals may fill; all, if there are none.
    fillable: Vec<u32>,
}

impl Injection {
    /// The injection ports of a plan, idle; `packets`: packets move whole; `router_range`: the routers that are there.
    pub fn new(plan: &Plan, layout: Layout, packets: bool, router_range: &Range<usize>) -> Self {
        let Plan { params: p, fabric, routing, .. } = plan;
        let network = &plan.spec.network;
        let ports = p.terminals * p.nic_ports;
        let idle = InjectionPort {
            packet: NONE,
            left: 0,
            vc: 0,
            last_vc: p.vcs as u16 - 1,
            head_sent: false,
            entry: 0,
            private_vc: ANY_VC,
        };
        let port = |number: usize| {
            let terminal = (number / p.nic_ports) as u32;
            let router = fabric.router_of(terminal);
            let local = (terminal - fabric.terminals_at(router).start) as usize * p.nic_ports + number % p.nic_ports;
            let slot = layout.slot(fabric.network_ports_of(router) + local, 0);
            let entry = (layout.vc(router as usize, slot) as u32).wrapping_sub(layout.vc(router_range.start, 0) as u32);
            InjectionPort { entry, ..idle }
        };
        // A VC that terminals may not fill has no credits.
        let filled = &network.nic.injection_vcs;
        let may_fill = |vc: usize| filled.is_empty() || filled.contains(&(vc as u32));
        let all = (p.buffer_flits + p.shared_buffer_flits) as u16;
        let credits: Vec<u16> = (0..p.vcs).map(|vc| if may_fill(vc) { all } else { 0 }).collect();
        Injection {
            ports: (0..ports).map(port).collect(),
            credits: credits.repeat(ports),
            complete: vec![0; if packets { ports * p.vcs } else { 0 }],
            credits_now: Vec::new(),
            shared_buffers: SharedBuffers::new(plan, ports, p.vcs, false),
            credits_per_terminal: (p.nic_ports * p.vcs) as u32,
            vcs: p.vcs,
            active: vec![0; p.terminals.div_ceil(64)],
            starved: vec![0; p.terminals.div_ceil(64)],
            words: words_of(plan, router_range),
            routing: routing.clone(),
            seed: plan.spec.run.seed,
            injection_vc: network.nic.injection_vc,
            cut_through: network.router.switching == Switching::VirtualCutThrough,
            whole_buffer: network.router.wait_for_tail_credit,
            fillable: filled.clone(),
        }
    }

    /// A credit arrived for VC `at`, `port * vcs + vc`.
    #[inline(always)]
    pub fn credit(&mut self, at: usize) {
        *at_mut(&mut self.credits, at) += 1;
        self.wake_starved((at as u32 / self.credits_per_terminal) as usize);
    }

    /// A credit arrived for VC `at`, where VCs share a buffer.
    pub fn shared_credit(&mut self, at: usize) {
        let port = at / self.vcs;
        if let Some(buffers) = &mut self.shared_buffers {
            buffers.release(port, at);
            self.renew_credits(port);
        }
        self.wake_starved((at as u32 / self.credits_per_terminal) as usize);
    }

    /// Updates the credits of a port whose VCs share a buffer, after places were taken or came back.
    #[inline(never)]
    fn renew_credits(&mut self, port: usize) {
        let Some(buffers) = &self.shared_buffers else { return };
        for vc in 0..self.vcs {
            let at = port * self.vcs + vc;
            if !self.never_fills(vc) {
                self.credits[at] = buffers.credits(port, at);
            }
        }
    }

    /// A terminal with a port that sleeps for want of credits may be able to send.
    #[inline(always)]
    pub(crate) fn wake_starved(&mut self, terminal: usize) {
        let (word, bit) = (terminal / 64, 1 << (terminal % 64));
        let starved = &mut self.starved[word];
        if *starved & bit != 0 {
            *starved &= !bit;
            self.active[word] |= bit;
        }
    }

    /// Whether some port may be able to send.
    pub fn is_active(&self) -> bool {
        self.active.iter().any(|&word| word != 0)
    }

    /// Advances all injection ports by one cycle.
    #[inline(never)]
    pub fn step<const PACKETS: bool>(&mut self, env: &mut Env, ends: &mut Endpoints) {
        let created = !PACKETS && self.sends_as_created(env, ends);
        for word in self.words.clone() {
            let mut left = self.active[word] | ends.nics.take_woken(word);
            let mut active = left;
            while left != 0 {
                let bit = left & left.wrapping_neg();
                left ^= bit;
                let terminal = word * 64 + bit.trailing_zeros() as usize;
                let busy = if PACKETS {
                    self.step_packets(terminal, env, ends)
                } else if created {
                    self.step_created(terminal, env, ends)
                } else {
                    self.step_terminal(terminal, env, ends)
                };
                if !busy {
                    active ^= bit;
                }
            }
            self.active[word] = active;
        }
        if env.measured.stalls.is_some() {
            self.count_sync_waits(env, ends);
        }
    }

    /// One cycle of one terminal's ports; false if they need not be visited before something wakes them.
    #[inline]
    fn step_terminal(&mut self, terminal: usize, env: &mut Env, ends: &mut Endpoints) -> bool {
        let mut busy = false;
        for k in 0..env.p.nic_ports {
            let port = terminal * env.p.nic_ports + k;
            if at(&self.ports, port).packet == NONE {
                let Some(outgoing) = ends.next_packet(terminal, k, env.now) else { continue };
                self.load(terminal, k, outgoing, env, ends);
            }
            if self.send(terminal, k, env, ends) {
                busy |= at(&self.ports, port).packet != NONE
                    || !ends.nics.pauses(terminal, k)
                        && (!ends.nics.message_done(terminal, k) || ends.nics.is_due(terminal, env.now));
            } else if !env.measured.watched {
                // A port without a credit sleeps until one arrives, unless its waiting is counted.
                self.starved[terminal / 64] |= 1 << (terminal % 64);
            } else {
                busy = true;
            }
        }
        busy
    }

    /// Gives port `k` of a terminal its next packet.
    #[inline(always)]
    pub(crate) fn load(&mut self, terminal: usize, k: usize, outgoing: Outgoing, env: &mut Env, ends: &mut Endpoints) {
        let packet = self.packet(terminal, k, outgoing, env, ends);
        let private_vc = if env.rules.vcs.private { self.private_vc(packet, env) } else { ANY_VC };
        let port = &mut self.ports[terminal * env.p.nic_ports + k];
        port.packet = packet;
        port.private_vc = private_vc;
        port.left = outgoing.flits;
        port.head_sent = false;
    }

    /// A packet that port `k` of a terminal is to send, among those under way.
    #[inline(always)]
    pub(crate) fn packet(
        &self,
        terminal: usize,
        k: usize,
        outgoing: Outgoing,
        env: &mut Env,
        ends: &mut Endpoints,
    ) -> u32 {
        let Outgoing { dst, sequence, message, number, flits, tie_bits, created, background } = outgoing;
        let (from, to) = (env.router_of(terminal), env.router_of(dst as usize));
        let bits = || packet_bits(self.seed, terminal as u32, sequence);
        let end = |router: usize, terminal: u32| End { router: router as u32, terminal };
        let (head, hops) = match &env.route.fat_tree {
            Some(tree) => (tree.start(end(from, terminal as u32), end(to, dst)), 0),
            None => self.routing.start(end(from, terminal as u32), end(to, dst), tie_bits, bits),
        };
        let header = head.trip.header;
        let record = ends.log.taken(background, terminal, created, flits, || PacketRecord {
            src: terminal as u32,
            sequence,
            dst,
            flits: u32::from(flits),
            message: number,
            injection_port: k as u32,
            minus: header.minus,
            wraps: header.wraps,
            hops,
            created,
            injected: u64::MAX,
            arrived: u64::MAX,
            background,
        });
        let packet = Packet {
            key: Packet::key(*at(env.route.table.keys(), head.to as usize), head.label),
            next: NONE,
            here: 0,
            dst,
            flits,
            hops: hops as u16,
            minus: header.minus,
            wraps: self.routing.classes(header),
            crossed: head.trip.crossed,
            mode: head.trip.mode,
            misroutes: head.trip.misroutes,
            injection_port: k as u8,
            background,
        };
        env.pool.insert(packet, Origin { created, injected: u64::MAX, src: terminal as u32, sequence, message, record })
    }

    /// The private VC of a packet at its injection port, in the class of the first dimension of its route.
    #[cold]
    #[inline(never)]
    fn private_vc(&self, packet: u32, env: &Env) -> u16 {
        let (src, Packet { dst, wraps, .. }) = (env.pool.origin(packet).src, env.pool[packet]);
        let router = |terminal: u32| env.router_of(terminal as usize) as u32;
        let at_source = self.routing.at_source();
        let first = at_source.and_then(|routing| routing.first_field(router(src), router(dst)));
        env.private_vc_at_source(packet, first.is_some_and(|field| wraps >> field & 1 == 1))
    }

    /// Sends the next flit of the packet at port `k` of a terminal; false if there is no credit for it.
    #[inline]
    fn send(&mut self, terminal: usize, k: usize, env: &mut Env, ends: &mut Endpoints) -> bool {
        let number = terminal * env.p.nic_ports + k;
        let first = number * env.p.vcs;
        let InjectionPort { packet, head_sent, mut vc, .. } = *at(&self.ports, number);
        let can_send = if head_sent {
            *at(&self.credits, first + usize::from(vc)) > 0
        } else {
            let credits = &self.credits[first..first + env.p.vcs];
            match self.vc_for(&env.pool[packet], number, credits, env) {
                Some(chosen) => {
                    vc = chosen;
                    true
                }
                None => false,
            }
        };
        if !can_send {
            let port = at(&self.ports, number);
            if let Some(stalls) = &mut env.measured.stalls {
                stalls.source_no_credit(port.left == 1);
            }
            if env.measured.watched {
                env.wait_at_source(terminal, k, packet, head_sent);
            }
            return false;
        }
        *at_mut(&mut self.credits, first + usize::from(vc)) -= 1;
        if let Some(buffers) = &mut self.shared_buffers {
            buffers.take(number, first + usize::from(vc), 1);
            self.renew_credits(number);
        }
        let port = at_mut(&mut self.ports, number);
        if !head_sent {
            (port.vc, port.last_vc, port.head_sent) = (vc, vc, true);
            let flits = env.pool[packet].flits;
            let origin = env.pool.origin_mut(packet);
            origin.injected = env.now;
            ends.log.injected(origin.record, origin.src, flits, env.now);
        }
        if let Some(times) = &mut env.measured.flit_times {
            times.left(env.pool.origin(packet), env.now);
        }
        let flit = FlitArrival { vc: port.entry + u32::from(vc), packet: if head_sent { NONE } else { packet } };
        env.transit.wheel.at(env.now + u64::from(env.p.inject_cycles)).flits.push(flit);
        port.left -= 1;
        if port.left == 0 {
            port.packet = NONE;
            let (background, message) = (env.pool[packet].background, env.pool.origin(packet).message);
            ends.packet_sent(terminal, k, env.now, message, background);
        }
        true
    }

    /// The VC for the head of a packet at port `number`, if there is one with the credits that it needs; `credits` are
    /// the port's.
    #[inline(always)]
    pub(crate) fn vc_for(&self, packet: &Packet, number: usize, credits: &[u16], env: &Env) -> Option<u16> {
        let p = &env.p;
        let most = p.buffer_flits as u16 + self.shared_buffers.as_ref().map_or(0, |buffers| buffers.free(number));
        let needed = if self.whole_buffer {
            most
        } else if self.cut_through {
            packet.flits
        } else {
            1
        };
        let port = &self.ports[number];
        let vc = if port.private_vc == ANY_VC {
            choose_vc(self.injection_vc, credits, port.last_vc as usize, needed, most)
        } else {
            let vc = port.private_vc as usize;
            (credits[vc] >= needed).then_some(vc)
        };
        vc.map(|vc| vc as u16)
    }

    /// Ports that could send but for a message that a rank should have received before.
    fn count_sync_waits(&self, env: &mut Env, ends: &Endpoints) {
        let Some(stalls) = &mut env.measured.stalls else { return };
        for (terminal, ports) in self.ports.chunks(env.p.nic_ports).enumerate() {
            let idle = |&(k, port): &(usize, &InjectionPort)| port.packet == NONE && !ends.nics.pauses(terminal, k);
            let idle = ports.iter().enumerate().filter(idle).count();
            if idle > 0 && ends.has_unsent(terminal as u32) {
                stalls.source_waits_for_sync(idle as u64);
            }
        }
    }

    /// Whether no terminal may fill a VC of its injection port.
    pub fn never_fills(&self, vc: usize) -> bool {
        !self.fillable.is_empty() && !self.fillable.contains(&(vc as u32))
    }

    /// Credits for VC `at`, `port * vcs + vc`.
    #[cfg(feature = "audit")]
    pub fn credits_at(&self, at: usize) -> u16 {
        self.credits[at]
    }
}

/// The words of a set of terminals that those at some routers are in.
fn words_of(plan: &Plan, routers: &Range<usize>) -> Range<usize> {
    let of_part = |&terminal: &u32| routers.contains(&(plan.fabric.router_of(terminal) as usize));
    let mut terminals = (0..plan.params.terminals as u32).filter(of_part);
    let first = terminals.next().unwrap_or(0);
    let last = terminals.last().unwrap_or(first);
    first as usize / 64..last as usize / 64 + 1
}

/// The VC for a new packet among those with at least `needed` credits, of at most `most`.
#[inline(always)]
pub(super) fn choose_vc(rule: InjectionVc, credits: &[u16], last: usize, needed: u16, most: u16) -> Option<usize> {
    let vcs = credits.len();
    match rule {
        InjectionVc::RoundRobin => {
            // Nearly always the first.
            let first = if last + 1 < vcs { last + 1 } else { 0 };
            if credits[first] >= needed {
                return Some(first);
            }
            (first + 1..vcs).chain(0..=last).find(|&v| credits[v] >= needed)
        }
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
