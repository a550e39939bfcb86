//! A source queue: what waits, in order, and since when each entry could have been taken.

use super::TracePacket;
use super::program::{Message, Programs};
use flitwork::schedule::SendQueue;

/// An entry of a queue.
pub enum Job {
    /// Packets of a trace, sent back to back by one injection port.
    Packets(Vec<TracePacket>),
    /// A message of a schedule.
    Message(Message),
    /// The next message that has been read from memory.
    Read,
    /// An answer, or the data, of a rendezvous, by its number, with the ranks that it goes from and to.
    Part(usize, (u32, u32)),
}

/// Entries in the order in which they joined.
pub struct Queue {
    /// With the cycle in which each became ready, once it has.
    entries: Vec<(Job, Option<u64>)>,
    kind: SendQueue,
}

impl Queue {
    pub fn new(kind: SendQueue) -> Self {
        Queue { entries: Vec::new(), kind }
    }

    pub fn push(&mut self, job: Job) {
        self.entries.push((job, None));
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Notes of every entry that may start now, and could not before, that it comes now.
    pub fn look(&mut self, programs: &Option<Programs>, now: u64) {
        for (job, ready) in &mut self.entries {
            match job {
                // Those behind it are created later.
                Job::Packets(packets) if packets[0].created > now => break,
                Job::Packets(packets) => *ready = Some(packets[0].created),
                // They have a queue of their own.
                Job::Part(..) | Job::Read => {}
                Job::Message(message) => {
                    let may_start = programs.as_ref().expect("a schedule").may_start(message.send, now);
                    *ready = ready.or(may_start.then_some(now));
                }
            }
        }
    }

    /// The entry that is next, with the cycle in which it became ready: the first one, if it is; of those that need not
    /// wait for one another the one that was ready first.
    fn next(&self) -> Option<(usize, u64)> {
        match self.kind {
            SendQueue::ProgramOrder => Some((0, self.entries.first()?.1?)),
            SendQueue::AsReady => {
                // Messages that were kept join late: those of one cycle leave in program order.
                let place = |i: usize| match &self.entries[i].0 {
                    Job::Message(message) => message.send.1 as usize,
                    Job::Packets(_) | Job::Part(..) | Job::Read => i,
                };
                let ready = |(i, (_, ready)): (usize, &(Job, Option<u64>))| ready.map(|ready| (i, ready));
                self.entries.iter().enumerate().filter_map(ready).min_by_key(|&(i, ready)| (ready, place(i)))
            }
        }
    }

    /// When the next entry became ready, if it has.
    pub fn next_ready(&self) -> Option<u64> {
        self.next().map(|(_, ready)| ready)
    }

    /// The message that is next.
    pub fn next_message(&self) -> Option<&Message> {
        match &self.entries[self.next()?.0].0 {
            Job::Message(message) => Some(message),
            Job::Packets(_) | Job::Part(..) | Job::Read => None,
        }
    }

    /// Takes the next entry.
    pub fn pop(&mut self) -> Job {
        let (i, _) = self.next().expect("it is ready");
        self.entries.remove(i).0
    }
}
