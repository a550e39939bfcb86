//! Pacing: an injection port pauses after a packet, so that what shares channels with it can pass.
//!
//! A pause is of fixed length ([`Length::Cycles`]), or as long as [`crate::pace`] says for the step of the message
//! ([`Length::Gaps`]). All else knows no more than that a port pauses, and that its terminal wakes when the pause ends.

use super::calendar::Calendar;
use super::job::Job;
use crate::pace::Gaps;
use crate::plan::Plan;

/// The injection ports that pause.
#[derive(Debug)]
pub(crate) struct Pacing {
    length: Length,
    /// When each port that pauses goes on.
    resumes: Calendar,
}

/// How long a port pauses.
#[derive(Debug)]
enum Length {
    /// After every packet so long \[cycles], at least 1.
    Cycles(u64),
    /// By the step of the message; of each port the packet that it sends.
    Gaps(Gaps, Vec<Sending>),
}

/// The packet that a port sends.
#[derive(Debug, Clone, Copy, Default)]
struct Sending {
    step: u32,
    flits: u16,
    background: bool,
}

impl Pacing {
    /// The pacing of a plan; `None` where no port ever pauses.
    pub fn of(plan: &Plan) -> Option<Self> {
        let ports = plan.params.terminals * plan.params.nic_ports;
        let length = match (&plan.gaps, u64::from(plan.spec.network.nic.packet_gap_cycles)) {
            (Some(gaps), _) => Length::Gaps(gaps.clone(), vec![Sending::default(); ports]),
            (None, 0) => return None,
            (None, cycles) => Length::Cycles(cycles),
        };
        Some(Pacing { length, resumes: Calendar::new(ports) })
    }

    /// Port `port`, counted through all terminals, takes a packet of `flits` flits of a message.
    pub fn takes(&mut self, port: usize, message: &Job, flits: u16) {
        if let Length::Gaps(_, sending) = &mut self.length {
            sending[port] = Sending { step: message.step, flits, background: message.background };
        }
    }

    /// The port has sent the last flit of its packet in cycle `now`; `ends`: it was the last packet of its message.
    pub fn pause(&mut self, port: usize, now: u64, ends: bool) {
        let cycles = match &self.length {
            Length::Cycles(cycles) => *cycles,
            Length::Gaps(gaps, sending) => match sending[port] {
                Sending { background: true, .. } => 0,
                Sending { step, flits, .. } => gaps.cycles(step, u32::from(flits), ends),
            },
        };
        if cycles > 0 {
            self.resumes.schedule(port as u32, now, now + 1 + cycles);
        }
    }

    /// Whether a port pauses.
    pub fn pauses(&self, port: usize) -> bool {
        self.resumes.is_scheduled(port as u32)
    }

    /// The start of cycle `now`: calls `resume` for the ports whose pause has ended.
    pub fn advance(&mut self, now: u64, resume: impl FnMut(u32)) {
        self.resumes.advance(now, resume);
    }

    /// The next cycle after `now` in which a pause may end.
    pub fn next_after(&self, now: u64) -> Option<u64> {
        self.resumes.next_after(now)
    }
}
