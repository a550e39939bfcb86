//! The end of a cycle: what is counted of it, and the use of channels by window.

use crate::kernel::flit::{Kernel, Router, VcMask};
use crate::kernel::network::Network;
use crate::measure::ChannelWindows;
use crate::transit::NONE;

/// Flits over each channel per window.
#[derive(Debug)]
pub(crate) struct ChannelRecorder {
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

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Kernel<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Observes the cycle that has just been simulated.
    #[inline]
    pub(crate) fn observe(&mut self) {
        if self.env.measured.stalls.is_some() {
            self.count_stalls();
            self.count_head_of_line();
        }
        if self.env.measured.waits.is_some() {
            self.count_waits();
        }
        if self.channels.as_ref().is_some_and(|channels| channels.ends_with(self.env.now)) {
            let mut totals = Vec::new();
            self.channel_flits(self.env.now + 1, &mut totals);
            if let Some(channels) = &mut self.channels {
                channels.close(&totals);
            }
            if let Some(stalls) = &mut self.env.measured.stalls {
                stalls.next_window();
            }
            if let Some(waits) = &mut self.env.measured.waits {
                waits.next_window();
            }
        }
    }

    /// Flits that have been granted a channel and wait for their turn on it, which is not before cycle `before`,
    /// `[router][network port]`; empty where no flit waits behind the switch.
    pub(crate) fn queued_flits(&self, before: u64) -> Vec<u64> {
        let (p, wheel) = (&self.env.p, &self.env.transit.wheel);
        if !self.general.as_ref().is_some_and(|general| general.switch.queues_outputs()) {
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
                let hop = self
                    .env
                    .transit
                    .timing
                    .as_ref()
                    .map_or(p.hop_cycles, |timing| timing.hop_cycles[timing.at(from, port)]);
                queued[from * p.network_ports + port] += u64::from(due >= before + u64::from(hop));
            }
        }
        queued
    }
}
