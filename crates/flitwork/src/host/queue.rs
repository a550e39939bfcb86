//! The send queue of a rank: which of its messages may leave next.

use super::requests::Envelope;
use crate::schedule::{OpId, SendQueue};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// A message that waits to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unsent {
    /// The cycle from which on it may be taken: its program had passed it, and all that it depends on was complete.
    pub ready_since: u64,
    /// The send operation.
    pub op: OpId,
    pub to: u32,
    pub tag: u32,
    pub envelope: Envelope,
    pub flits: u64,
    /// Index in the order of sending of its rank.
    pub number: u32,
    /// Step of the algorithm.
    pub step: u32,
    /// Whether the send waits for operations that are not complete.
    pub waits: bool,
}

#[derive(Debug)]
pub(super) enum Queue {
    /// In program order; one that waits holds up those behind it.
    ProgramOrder(VecDeque<Unsent>),
    /// Those that may start in the order in which they became ready.
    AsReady { waiting: HashMap<OpId, Unsent>, ready: BinaryHeap<Reverse<Unsent>> },
}

impl Queue {
    pub fn new(kind: SendQueue) -> Self {
        match kind {
            SendQueue::ProgramOrder => Queue::ProgramOrder(VecDeque::with_capacity(4)),
            SendQueue::AsReady => Queue::AsReady { waiting: HashMap::new(), ready: BinaryHeap::new() },
        }
    }

    /// A message joins.
    pub fn join(&mut self, message: Unsent) {
        match self {
            Queue::ProgramOrder(queue) => queue.push_back(message),
            Queue::AsReady { waiting, .. } if message.waits => {
                waiting.insert(message.op, message);
            }
            Queue::AsReady { ready, .. } => ready.push(Reverse(message)),
        }
    }

    /// A message need not wait any more.
    pub fn release(&mut self, op: OpId, now: u64) {
        match self {
            Queue::ProgramOrder(queue) => {
                if let Ok(at) = queue.binary_search_by_key(&op, |message| message.op) {
                    (queue[at].ready_since, queue[at].waits) = (now, false);
                }
            }
            Queue::AsReady { waiting, ready } => {
                if let Some(message) = waiting.remove(&op) {
                    ready.push(Reverse(Unsent { ready_since: now, waits: false, ..message }));
                }
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        match self {
            Queue::ProgramOrder(queue) => queue.is_empty(),
            Queue::AsReady { waiting, ready } => waiting.is_empty() && ready.is_empty(),
        }
    }

    /// The next message, if it may start.
    pub fn next(&self) -> Option<&Unsent> {
        match self {
            Queue::ProgramOrder(queue) => queue.front().filter(|message| !message.waits),
            Queue::AsReady { ready, .. } => ready.peek().map(|Reverse(message)| message),
        }
    }

    /// Takes the next message, if it may start.
    pub fn take(&mut self) -> Option<Unsent> {
        self.next()?;
        match self {
            Queue::ProgramOrder(queue) => queue.pop_front(),
            Queue::AsReady { ready, .. } => ready.pop().map(|Reverse(message)| message),
        }
    }

    /// A message that waits: the first in program order.
    pub fn first_waiting(&self) -> Option<OpId> {
        match self {
            Queue::ProgramOrder(queue) => queue.front().map(|message| message.op),
            Queue::AsReady { waiting, .. } => waiting.keys().min().copied(),
        }
    }
}
