//! The end of a cycle: channel use per window, and why flits stand still.

use super::Kernel;
use super::env::Env;
use super::mask::VcMask;
use super::memory::Memory;
use super::state::{ACTIVE, EJECTING, GRANTED, HEAD, Router, WAITING};
use crate::kernel::network::Network;
use crate::measure::{BEHIND_PACKET, ChannelWindows, StallReason, WaitRecord};
use crate::transit::NONE;

/// Flits over each channel per window.
#[derive(Debug)]
pub(super) struct ChannelRecorder {
    window_cycles: u64,
    /// Totals at the end of the last window.
    before: Vec<u64>,
    flits: Vec<u32>,
}

impl ChannelRecorder {
    pub fn new(window_cycles: u64, channels: usize) -> Self {
        ChannelRecorder { window_cycles, before: vec![0; channels], flits: Vec::new() }
    }

    /// The last cycle of the window that the cycle after `now` belongs to.
    pub fn window_end(&self, now: u64) -> u64 {
        ((now + 1) / self.window_cycles + 1) * self.window_cycles - 1
    }

    fn ends_with(&self, cycle: u64) -> bool {
        (cycle + 1).is_multiple_of(self.window_cycles)
    }

    /// What was recorded, if the run ends after cycle `now` with these totals.
    pub fn finish(mut self, now: u64, totals: &[u64]) -> ChannelWindows {
        if !self.ends_with(now) {
            self.close(totals);
        }
        ChannelWindows { window_cycles: self.window_cycles, flits: self.flits }
    }

    fn close(&mut self, totals: &[u64]) {
        for (before, &total) in self.before.iter_mut().zip(totals) {
            self.flits.push((total - *before) as u32);
            *before = total;
        }
    }
}

/// When things happened last, to tell why others did not; empty unless stalls or waits are recorded.
#[derive(Debug)]
pub(super) struct Observer {
    /// Cycle + 1 in which an input VC sent a flit, by VC.
    moved: Vec<u64>,
    /// Cycle + 1 in which an input VC asked for a free output VC.
    asked: Vec<u64>,
    /// Cycle + 1 in which an output port, and an input port, sent a flit, by port.
    port_out: Vec<u64>,
    port_in: Vec<u64>,
}

impl Observer {
    pub fn new(routers: usize, ports: usize, slots: usize) -> Self {
        Observer {
            moved: vec![0; routers * slots],
            asked: vec![0; routers * slots],
            port_out: vec![0; routers * ports],
            port_in: vec![0; routers * ports],
        }
    }

    pub fn moved(&mut self, input: usize, out_port: usize, in_port: usize, now: u64) {
        self.moved[input] = now + 1;
        self.port_out[out_port] = now + 1;
        self.port_in[in_port] = now + 1;
    }

    /// Whether an input port sent a flit in this cycle.
    pub fn sent(&self, in_port: usize, now: u64) -> bool {
        self.port_in[in_port] == now + 1
    }

    /// Whether an output port sent no flit in this cycle.
    pub fn is_idle(&self, out_port: usize, now: u64) -> bool {
        self.port_out[out_port] != now + 1
    }

    pub fn asked(&mut self, input: usize, for_something_free: bool, now: u64) {
        if for_something_free {
            self.asked[input] = now + 1;
        }
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Kernel<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Observes the cycle that has just been simulated.
    #[inline]
    pub(super) fn observe(&mut self) {
        if self.env.stalls.is_some() {
            self.count_stalls();
            self.count_lines();
        }
        if self.env.waits.is_some() {
            self.count_waits();
        }
        if self.channels.as_ref().is_some_and(|channels| channels.ends_with(self.env.now)) {
            let mut totals = Vec::new();
            self.channel_flits(self.env.now + 1, &mut totals);
            if let Some(channels) = &mut self.channels {
                channels.close(&totals);
            }
            if let Some(stalls) = &mut self.env.stalls {
                stalls.next_window();
            }
            if let Some(waits) = &mut self.env.waits {
                waits.next_window();
            }
        }
    }

    /// Flits that have been granted a channel and wait for their turn on it, which is not before cycle `before`, `[router][network port]`;
    /// empty where no flit waits behind the switch.
    pub(super) fn queued_flits(&self, before: u64) -> Vec<u64> {
        let (p, wheel) = (&self.env.p, &self.env.wheel);
        if !self.general.as_ref().is_some_and(|general| general.queues_outputs()) {
            return Vec::new();
        }
        let place = |vc: u32| {
            let (router, slot) = self.router_and_slot(vc as usize);
            (router, Router::<M, PORTS, VCS, WORDS, PACKETS>::port_and_vc(slot).0)
        };
        let mut queued = vec![0; self.routers.len() * p.network_ports];
        for due in before..before + wheel.cycles() {
            for flit in &wheel.peek(due).flits {
                let (to, in_port) = place(flit.vc);
                let feeder = self.routers[to].port_at(in_port).feeder;
                if feeder == NONE {
                    continue; // It comes from a terminal.
                }
                let (from, port) = place(feeder);
                let hop = self.env.own_times.as_ref().map_or(p.hop_cycles, |own| own.hop_cycles[own.at(from, port)]);
                queued[from * p.network_ports + port] += u64::from(due >= before + u64::from(hop));
            }
        }
        queued
    }

    fn count_stalls(&mut self) {
        let Env { p, observer, stalls, now, network_ports_of, .. } = &mut self.env;
        let Some(stalls) = stalls else { return };
        for (r, router) in self.routers.iter().enumerate() {
            for (slot, vc) in router.memory.inputs() {
                if vc.front == NONE || vc.occupied == 0 || observer.moved[router.number(r, slot)] == *now + 1 {
                    continue;
                }
                let idle_ejection = vc.flags & EJECTING != 0 && {
                    let network_ports = usize::from(network_ports_of[r]);
                    let local = (vc.port as usize - network_ports) / p.nic_ports * p.nic_ports;
                    let first = router.port_number(r, network_ports + local);
                    (first..first + p.nic_ports).any(|q| observer.port_out[q] != *now + 1)
                };
                stalls.count(router.stall_reason(r, slot, observer, *now), vc.left == 1, idle_ejection);
            }
        }
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Kernel<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Which packets stood still, and why: the front packet of each VC, unless it moved, and those whose heads are behind it.
    fn count_waits(&mut self) {
        let Env { pool, observer, waits, now, own_times, .. } = &mut self.env;
        let Some(waits) = waits else { return };
        for (r, router) in self.routers.iter().enumerate() {
            for (slot, vc) in router.memory.inputs() {
                if vc.front == NONE {
                    continue;
                }
                let (head, moved) = (vc.flags & HEAD != 0, observer.moved[router.number(r, slot)] == *now + 1);
                let wait = |reason, id, body| WaitRecord {
                    packet: pool.origin(id).record,
                    hop: 0,
                    router: r as u32,
                    port: u32::from(vc.port),
                    reason,
                    body,
                    cycles: 1,
                };
                if moved && head {
                    // What moved was the tail before it.
                    waits.count_behind(vc.front, wait(BEHIND_PACKET, vc.front, false));
                } else if !moved && vc.occupied > 0 {
                    let reason = router.stall_reason(r, slot, observer, *now);
                    let slow = !head && own_times.as_ref().is_some_and(|own| own.is_busy(r, vc.port.into(), *now));
                    if reason != StallReason::Pipeline && !slow {
                        waits.count_in_router(router.number(r, slot), wait(reason as u8, vc.front, !head));
                    }
                }
                let mut behind = vc.behind_last;
                while behind != NONE {
                    behind = pool[behind].next;
                    waits.count_behind(behind, wait(BEHIND_PACKET, behind, false));
                    behind = if behind == vc.behind_last { NONE } else { behind };
                }
            }
        }
    }
}

impl Env {
    /// A flit leaves input VC `vc` from one port of the network to another, `ports`. If it is the `head` of a packet: whether it
    /// `leaves` the network; the turn of its port is in cycle `turn`.
    #[cold]
    #[inline(never)]
    pub(super) fn note_move(&mut self, vc: usize, ports: (usize, usize), head: Option<u32>, leaves: bool, turn: u64) {
        self.observer.moved(vc, ports.0, ports.1, self.now);
        if let (Some(waits), Some(packet)) = (&mut self.waits, head) {
            let record = self.pool.origin(packet).record;
            waits.head_leaves(vc, record);
            if leaves {
                waits.head_arrives(record, turn + u64::from(self.p.eject_cycles));
            }
        }
    }

    /// The next flit of the packet at port `k` of a terminal has no credit.
    #[cold]
    #[inline(never)]
    pub(super) fn wait_at_source(&mut self, terminal: usize, k: usize, packet: u32, body: bool) {
        let router = self.router_of(terminal);
        let local = self.network_ports(router) + (terminal - self.first_terminal(router)) * self.p.nic_ports;
        let Env { p, pool, waits, .. } = self;
        if let Some(waits) = waits {
            let port = (local + k) as u32;
            let of = WaitRecord {
                packet: pool.origin(packet).record,
                router: router as u32,
                port,
                body,
                ..StallReason::SourceNoCredit.into()
            };
            waits.count_at_source(terminal * p.nic_ports + k, of);
        }
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Why the front flit of an input VC did not move in this cycle.
    fn stall_reason(&self, me: usize, slot: usize, observer: &Observer, now: u64) -> StallReason {
        let vc = &self.input_at(slot);
        let ejecting = vc.flags & EJECTING != 0;
        if vc.flags & GRANTED == 0 {
            if vc.flags & WAITING == 0 {
                return StallReason::Pipeline;
            }
            let asked = observer.asked[self.number(me, slot)] == now + 1;
            return match (ejecting, asked) {
                (true, _) => StallReason::NoEjectionVc,
                (false, true) => StallReason::LostVcAllocation,
                (false, false) => StallReason::NoVc,
            };
        }
        if vc.flags & ACTIVE == 0 {
            return StallReason::Pipeline;
        }
        if self.output_at(vc.output as usize).credits == 0 {
            return StallReason::NoCredit;
        }
        let (in_port, _) = Self::port_and_vc(slot);
        if observer.port_in[self.port_number(me, in_port)] == now + 1 {
            return StallReason::InputPortBusy;
        }
        let port_used = observer.port_out[self.port_number(me, vc.port as usize)] == now + 1;
        if ejecting && port_used { StallReason::EjectionPortBusy } else { StallReason::LostSwitch }
    }
}
