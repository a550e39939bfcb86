//! The barrier tree, over which signals go without waiting: docs/model.md, "Barrier tree".

use super::bus::Carried;
use super::program::{Message, Programs, Send};
use super::queue::{Job, Queue};
use flitwork::schedule::SendQueue;

pub struct Signals {
    hop_cycles: u64,
    /// What each rank has to send.
    queues: Vec<Queue>,
    ends: Vec<(u64, Send)>,
}

impl Signals {
    pub fn new(hop_cycles: u64, ranks: u32) -> Self {
        let queues = (0..ranks).map(|_| Queue::new(SendQueue::ProgramOrder)).collect();
        Signals { hop_cycles, queues, ends: Vec::new() }
    }

    pub fn push(&mut self, message: Message) {
        self.queues[message.send.0 as usize].push(Job::Message(message));
    }

    /// Step 1: signals that have arrived.
    pub fn arrive(&mut self, programs: &mut Programs, now: u64) {
        let (due, later): (Vec<_>, Vec<_>) = self.ends.drain(..).partition(|(cycle, _)| *cycle == now);
        self.ends = later;
        due.into_iter().for_each(|(_, send)| programs.carried(send));
    }

    /// Step 2b, behind the bus: all that may start leaves.
    pub fn carry(&mut self, programs: &mut Option<Programs>, now: u64) -> Vec<Carried> {
        let mut carried = Vec::new();
        for queue in &mut self.queues {
            queue.look(programs, now);
            while queue.next_ready().is_some() {
                let Job::Message(message) = queue.pop() else { panic!("a message") };
                let programs = programs.as_mut().expect("a schedule");
                programs.taken(&message, now);
                programs.complete(message.send, now + 1);
                self.ends.push((now + self.hop_cycles, message.send));
                carried.push(Carried { message, injected: now, arrived: now + self.hop_cycles });
            }
        }
        carried
    }

    pub fn idle(&self) -> bool {
        self.ends.is_empty() && self.queues.iter().all(Queue::is_empty)
    }
}
