//! The source queue of a terminal: what waits, in order, and since when each entry could have been taken.

use super::TracePacket;
use super::program::{Message, Programs};
use std::collections::VecDeque;

/// An entry of a terminal's queue.
pub enum Job {
    /// Packets of a trace, sent back to back by one controller.
    Packets(Vec<TracePacket>),
    /// A message of a schedule.
    Message(Message),
}

/// Entries in the order in which they are taken.
#[derive(Default)]
pub struct Queue {
    /// With the cycle in which each came, once it has.
    entries: VecDeque<(Job, Option<u64>)>,
}

impl Queue {
    pub fn push(&mut self, job: Job) {
        self.entries.push_back((job, None));
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Notes of every entry that may start now, and could not before, that it comes now.
    pub fn look(&mut self, programs: &Option<Programs>, now: u64) {
        for (job, came) in &mut self.entries {
            match job {
                // Those behind it are created later.
                Job::Packets(packets) if packets[0].created > now => break,
                Job::Packets(packets) => *came = Some(packets[0].created),
                Job::Message(message) => {
                    let may_start = programs.as_ref().expect("a schedule").may_start(message.send, now);
                    *came = came.or(may_start.then_some(now));
                }
            }
        }
    }

    /// When the first entry came, if it has.
    pub fn first_came(&self) -> Option<u64> {
        self.entries.front()?.1
    }

    /// Takes the first entry.
    pub fn pop(&mut self) -> Job {
        self.entries.pop_front().expect("it came").0
    }
}
