//! Rendezvous: a long message sends a request first, and its data when the receive is posted.
//!
//! A send above the limit sends a *request* in the place of its message. The request takes its receive as a message
//! would; then the NIC of the receiver sends an *acknowledgement*, and when that has come the NIC of the sender sends
//! the *data*. Requests and acknowledgements are short control messages on the network of the data. Acknowledgements
//! and data wait in a queue of the terminal that goes before those of its ranks.

use super::in_flight::InFlight;
use super::ranks::{Hosts, Message};
use crate::schedule::OpId;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// What of a message is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Request,
    Acknowledgement,
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

/// What waits to be sent: (cycle in which it joined, sender of the message, its number in the order of taking, the
/// message).
type Waiting = Reverse<(u64, u32, u32, u32)>;

/// All messages that go by rendezvous.
#[derive(Debug)]
pub(super) struct Rendezvous {
    /// Longest message that goes at once \[flits].
    limit: u64,
    /// Length of control messages \[flits].
    control: u64,
    long: HashMap<u32, Long>,
    /// Acknowledgements and data of each terminal.
    queues: Vec<BinaryHeap<Waiting>>,
}

impl Rendezvous {
    /// Whether nothing waits to be sent.
    pub fn is_idle(&self) -> bool {
        self.queues.iter().all(BinaryHeap::is_empty)
    }
}

impl Hosts {
    /// From now on messages of more than `limit` flits go by rendezvous, with control messages of `control` flits.
    pub fn use_rendezvous(&mut self, limit: u64, control: u32) {
        let queues = (0..self.places.terminals()).map(|_| BinaryHeap::new()).collect();
        // What a receive brings about must not depend on when its program is read.
        self.reads_late = false;
        let rendezvous = Rendezvous { limit, control: u64::from(control), long: HashMap::new(), queues };
        self.outlets.network.rendezvous = Some(Box::new(rendezvous));
    }

    /// What of a message is on its way; `None` of one that goes at once.
    pub(super) fn phase(&self, id: u32) -> Option<Phase> {
        self.outlets.network.rendezvous.as_ref()?.long.get(&id).map(|long| long.phase)
    }

    /// A message is taken; how many flits leave now.
    pub(super) fn begin(&mut self, id: u32, number: u32, step: u32) -> u64 {
        let flits = self.in_flight[id].flits;
        match &mut self.outlets.network.rendezvous {
            Some(rendezvous) if flits > rendezvous.limit => {
                rendezvous.long.insert(id, Long { phase: Phase::Request, number, step, receive: 0 });
                self.in_flight[id].missing = rendezvous.control;
                rendezvous.control
            }
            _ => flits,
        }
    }

    /// A request has taken its receive: the terminal of the receiver sends an acknowledgement.
    pub(super) fn acknowledge(&mut self, id: u32, receive: OpId, now: u64) {
        self.join(id, Phase::Acknowledgement, Some(receive), now);
    }

    /// All flits of an acknowledgement, or of data, have arrived. Returns the terminal that has something to do.
    pub(super) fn proceed(&mut self, id: u32, phase: Phase, now: u64) -> Option<u32> {
        let InFlight { from, to, .. } = self.in_flight[id];
        if phase == Phase::Acknowledgement {
            self.join(id, Phase::Data, None, now);
            return Some(self.terminal_of(from));
        }
        let long = self.outlets.network.rendezvous.as_mut()?.long.remove(&id)?;
        self.in_flight[id].arrived = now;
        self.counts.arrived += 1;
        self.received(id, long.receive, now).then(|| self.terminal_of(to))
    }

    /// The next part of a message joins the queue of its terminal.
    fn join(&mut self, id: u32, phase: Phase, receive: Option<OpId>, now: u64) {
        let InFlight { from, to, order, flits, .. } = self.in_flight[id];
        let at = self.terminal_of(if phase == Phase::Data { from } else { to });
        let Some(rendezvous) = &mut self.outlets.network.rendezvous else { return };
        let Some(long) = rendezvous.long.get_mut(&id) else { return };
        long.phase = phase;
        long.receive = receive.unwrap_or(long.receive);
        self.in_flight[id].missing = if phase == Phase::Data { flits } else { rendezvous.control };
        rendezvous.queues[at as usize].push(Reverse((now, from, order, id)));
    }

    /// The acknowledgement, or the data, that a terminal sends next: the cycle in which it joined, and the ranks that
    /// it goes from and to.
    pub(super) fn next_part(&self, terminal: u32) -> Option<(u64, (u32, u32))> {
        let &Reverse((joined, _, _, id)) =
            self.outlets.network.rendezvous.as_ref()?.queues[terminal as usize].peek()?;
        let InFlight { from, to, .. } = self.in_flight[id];
        Some((joined, if self.phase(id) == Some(Phase::Data) { (from, to) } else { (to, from) }))
    }

    /// Takes the acknowledgement, or the data, that a terminal sends next.
    pub(super) fn take_part(&mut self, terminal: u32) -> Option<Message> {
        let (_, pair) = self.next_part(terminal)?;
        let Reverse((.., id)) = self.outlets.network.rendezvous.as_mut()?.queues[terminal as usize].pop()?;
        let &Long { number, step, .. } = self.outlets.network.rendezvous.as_ref()?.long.get(&id)?;
        let (to, flits) = (self.terminal_of(pair.1), self.in_flight[id].missing);
        Some(Message { id, number, to, flits, step, pair, read_from: 0 })
    }
}
