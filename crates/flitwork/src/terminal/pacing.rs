//! Pacing: an injection port pauses after each packet, so that what shares channels with it can pass.
//!
//! The one rule today is a gap of fixed length. A rule that depends on the message decides in [`Pacing::pause`]; all else knows no more
//! than that a port pauses, and that its terminal wakes when the pause ends.

use super::calendar::Calendar;
use crate::plan::Plan;

/// The injection ports that pause.
#[derive(Debug)]
pub(crate) struct Pacing {
    /// Length of a pause [cycles], at least 1.
    gap: u64,
    /// When each port that pauses goes on.
    resumes: Calendar,
}

impl Pacing {
    /// Of a plan; `None` where no port ever pauses.
    pub fn of(plan: &Plan) -> Option<Self> {
        let gap = u64::from(plan.spec.network.nic.packet_gap_cycles);
        (gap > 0).then(|| Pacing { gap, resumes: Calendar::new(plan.params.terminals * plan.params.nic_ports) })
    }

    /// Port `port`, counted through all terminals, has sent the last flit of a packet in cycle `now`.
    pub fn pause(&mut self, port: usize, now: u64) {
        self.resumes.schedule(port as u32, now, now + 1 + self.gap);
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
