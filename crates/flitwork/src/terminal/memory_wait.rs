//! Injection ports that wait for packets that are being read from memory.

use super::calendar::Calendar;
use super::job::Job;
use crate::plan::Plan;
use crate::schedule::Rate;

/// The ports that wait, where reading takes time.
#[derive(Debug)]
pub(super) struct MemoryWait {
    rate: Rate,
    /// When each port that waits goes on.
    due: Calendar,
}

impl MemoryWait {
    /// The memory waits of a plan; `None` where memory takes no time.
    pub fn of(plan: &Plan) -> Option<Self> {
        let ports = plan.params.terminals * plan.params.nic_ports;
        plan.read_rate.map(|rate| MemoryWait { rate, due: Calendar::new(ports) })
    }

    /// Whether a port has to wait for the next packet of a message; `after`: the message without it. Then it wakes in
    /// time.
    pub fn waits(&mut self, port: usize, after: &Job, now: u64) -> bool {
        let read = self.rate.cycle_from(after.read_from + self.rate.parts(after.flits_cut()));
        let waits = read > now && !after.background;
        if waits {
            self.due.schedule(port as u32, now, read);
        }
        waits
    }

    /// The start of cycle `now`: calls `resume` for the ports whose packet has been read.
    pub fn advance(&mut self, now: u64, resume: impl FnMut(u32)) {
        self.due.advance(now, resume);
    }

    /// The next cycle after `now` in which that may be.
    pub fn next_after(&self, now: u64) -> Option<u64> {
        self.due.next_after(now)
    }
}
