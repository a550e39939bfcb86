//! Rendezvous: a long message asks first, and goes when its receive is posted.
//!
//! A send above the limit sends a *request* in the place of its message. The request takes its receive as a message would; then the NIC of
//! the receiver *answers*, and when the answer has come the NIC of the sender sends the data. Request and answer are short messages on the
//! same network. Answers and data wait in a queue of the terminal that goes before those of its ranks.

use super::ranks::{Hosts, Message};
use super::under_way::Letter;
use crate::schedule::OpId;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// What of a message is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Request,
    Answer,
    Data,
}

/// A message that goes by rendezvous.
#[derive(Debug, Clone, Copy)]
struct Long {
    phase: Phase,
    /// Of [`Message`].
    number: u32,
    step: u32,
    /// The receive that it takes.
    receive: OpId,
}

/// What waits to be sent: (cycle in which it joined, sender of the message, its number in the order of taking, the message).
type Waiting = Reverse<(u64, u32, u32, u32)>;

/// All messages that go by rendezvous.
#[derive(Debug)]
pub(super) struct Rendezvous {
    /// Longest message that goes at once [flits].
    limit: u64,
    /// Length of requests and answers [flits].
    control: u64,
    long: HashMap<u32, Long>,
    /// Answers and data of each terminal.
    queues: Vec<BinaryHeap<Waiting>>,
}

impl Rendezvous {
    /// Whether nothing waits to be sent.
    pub fn is_idle(&self) -> bool {
        self.queues.iter().all(BinaryHeap::is_empty)
    }
}

impl Hosts {
    /// From now on messages of more than `limit` flits go by rendezvous, with requests and answers of `control` flits.
    pub fn ask_above(&mut self, limit: u64, control: u32) {
        let queues = (0..self.terminals()).map(|_| BinaryHeap::new()).collect();
        // What a receive brings about must not depend on when its program is read.
        self.reads_late = false;
        let rendezvous = Rendezvous { limit, control: u64::from(control), long: HashMap::new(), queues };
        self.rendezvous = Some(Box::new(rendezvous));
    }

    /// What of a message is on its way; `None` of one that goes at once.
    pub(super) fn phase(&self, id: u32) -> Option<Phase> {
        self.rendezvous.as_ref()?.long.get(&id).map(|long| long.phase)
    }

    /// A message is taken; how many flits leave now.
    pub(super) fn begin(&mut self, id: u32, number: u32, step: u32) -> u64 {
        let flits = self.letters[id].flits;
        match &mut self.rendezvous {
            Some(rendezvous) if flits > rendezvous.limit => {
                rendezvous.long.insert(id, Long { phase: Phase::Request, number, step, receive: 0 });
                self.letters[id].missing = rendezvous.control;
                rendezvous.control
            }
            _ => flits,
        }
    }

    /// A request has taken its receive: the terminal of the receiver answers.
    pub(super) fn answer(&mut self, id: u32, receive: OpId, now: u64) {
        self.join(id, Phase::Answer, Some(receive), now);
    }

    /// All flits of an answer, or of data, have arrived. Returns the terminal that has something to do.
    pub(super) fn proceed(&mut self, id: u32, phase: Phase, now: u64) -> Option<u32> {
        let Letter { from, to, .. } = self.letters[id];
        if phase == Phase::Answer {
            self.join(id, Phase::Data, None, now);
            return Some(self.terminal_of(from));
        }
        let long = self.rendezvous.as_mut()?.long.remove(&id)?;
        self.letters[id].arrived = now;
        self.arrived += 1;
        self.received(id, long.receive, now).then(|| self.terminal_of(to))
    }

    /// The next part of a message joins the queue of its terminal.
    fn join(&mut self, id: u32, phase: Phase, receive: Option<OpId>, now: u64) {
        let Letter { from, to, order, flits, .. } = self.letters[id];
        let at = self.terminal_of(if phase == Phase::Data { from } else { to });
        let Some(rendezvous) = &mut self.rendezvous else { return };
        let Some(long) = rendezvous.long.get_mut(&id) else { return };
        long.phase = phase;
        long.receive = receive.unwrap_or(long.receive);
        self.letters[id].missing = if phase == Phase::Data { flits } else { rendezvous.control };
        rendezvous.queues[at as usize].push(Reverse((now, from, order, id)));
    }

    /// The answer, or the data, that a terminal sends next: the cycle in which it joined, and the ranks that it goes from and to.
    pub(super) fn next_part(&self, terminal: u32) -> Option<(u64, (u32, u32))> {
        let &Reverse((joined, _, _, id)) = self.rendezvous.as_ref()?.queues[terminal as usize].peek()?;
        let Letter { from, to, .. } = self.letters[id];
        Some((joined, if self.phase(id) == Some(Phase::Data) { (from, to) } else { (to, from) }))
    }

    /// Takes it.
    pub(super) fn take_part(&mut self, terminal: u32) -> Option<Message> {
        let (_, pair) = self.next_part(terminal)?;
        let Reverse((.., id)) = self.rendezvous.as_mut()?.queues[terminal as usize].pop()?;
        let &Long { number, step, .. } = self.rendezvous.as_ref()?.long.get(&id)?;
        let (to, flits) = (self.terminal_of(pair.1), self.letters[id].missing);
        Some(Message { id, number, to, flits, step, pair, read_from: 0 })
    }
}
