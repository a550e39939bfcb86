//! Messages that go over the bus: each rank has a send queue of its own for them, of the same order as its other one.
//!
//! What the bus takes at a time is a *transfer*: a message and those that go with it, as of a broadcast or scatter function.

use super::queue::{Queue, Unsent};
use super::ranks::{Hosts, Message, Rank};
use crate::schedule::{OpId, SendQueue, Via};
use std::collections::HashMap;

/// What a rank sends over the bus.
#[derive(Debug)]
pub(super) struct OnBus {
    /// First messages of transfers.
    pub queue: Queue,
    /// The others, by the send of the first.
    joined: HashMap<OpId, Vec<Unsent>>,
    /// The first message of the transfer that the rank began last.
    last: Option<OpId>,
}

impl OnBus {
    /// A message joins.
    pub fn join(&mut self, message: Unsent) {
        match self.last.filter(|_| message.envelope.via.is_joined()) {
            Some(first) => self.joined.entry(first).or_default().push(message),
            None => {
                self.last = Some(message.op);
                self.queue.join(message);
            }
        }
    }
}

/// A message of a transfer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BusMessage {
    pub message: Message,
    /// Whether it has the same data as the one before it, and takes no time of its own.
    pub same: bool,
}

/// Whose turn it is.
#[derive(Debug)]
pub(super) struct BusTurns {
    turn: u32,
    /// Ranks whose next transfer may start, one bit each; some of them perhaps in vain.
    ready: Vec<u64>,
}

impl Hosts {
    /// From now on there is a bus.
    pub fn use_bus(&mut self, queue: SendQueue) {
        // The injection ports of a terminal wait for its other messages alone.
        for message in self.schedule.messages().filter(|message| message.via.is_bus()) {
            let unsent = &mut self.ranks[message.from as usize].unsent;
            *unsent = unsent.saturating_sub(1);
        }
        for rank in &mut self.ranks {
            rank.on_bus = Some(Box::new(OnBus { queue: Queue::new(queue), joined: HashMap::new(), last: None }));
        }
        // A program must not wait for the next message of one queue before it fills the other one.
        self.reads_late = false;
        self.bus = Some(Box::new(BusTurns { turn: 0, ready: vec![0; self.ranks.len().div_ceil(64)] }));
    }

    /// Whether there is a bus.
    pub fn has_bus(&self) -> bool {
        self.bus.is_some()
    }

    /// Step 2b: ranks of the terminals of `woken` may have something for the bus.
    pub fn look_at_bus(&mut self, woken: &[u64]) {
        let Some(mut bus) = self.bus.take() else { return };
        for (word, &woken) in woken.iter().enumerate() {
            let mut left = woken;
            while left != 0 {
                let terminal = word as u32 * 64 + left.trailing_zeros();
                for &rank in self.ranks_at(terminal) {
                    if self.ranks[rank as usize].next_on_bus() {
                        bus.ready[rank as usize / 64] |= 1 << (rank % 64);
                    }
                }
                left &= left - 1;
            }
        }
        self.bus = Some(bus);
    }

    /// Whether some rank has a transfer that may start.
    pub fn wants_bus(&self) -> bool {
        self.bus.as_ref().is_some_and(|bus| bus.ready.iter().any(|&ready| ready != 0))
    }

    /// Takes the next transfer, if one may start: the first rank from the one whose turn it is that has one; it becomes the turn of the
    /// rank behind. Returns the terminal that it goes from.
    pub fn take_transfer(&mut self, transfer: &mut Vec<BusMessage>) -> Option<u32> {
        let bus = self.bus.as_mut()?;
        let ranks = self.ranks.len() as u32;
        let is_ready = |&rank: &u32| bus.ready[rank as usize / 64] >> (rank % 64) & 1 == 1;
        let r = (bus.turn..ranks).chain(0..bus.turn).find(is_ready)?;
        bus.turn = (r + 1) % ranks;
        bus.ready[r as usize / 64] &= !(1 << (r % 64));
        let rank = &mut self.ranks[r as usize];
        let on_bus = rank.on_bus.as_mut()?;
        let first = on_bus.queue.take()?;
        on_bus.last = on_bus.last.filter(|&last| last != first.op);
        let others = on_bus.joined.remove(&first.op).unwrap_or_default();
        if rank.next_on_bus() {
            bus.ready[r as usize / 64] |= 1 << (r % 64);
        }
        for unsent in std::iter::once(first).chain(others) {
            let Unsent { to, number, step, flits, envelope, .. } = unsent;
            let id = self.leaves(r, unsent);
            let to_terminal = self.terminal_of(to);
            let message = Message { id, number, to: to_terminal, flits, step, pair: (r, to), read_from: 0 };
            transfer.push(BusMessage { message, same: envelope.via == Via::BusSame });
        }
        Some(self.terminal_of(r))
    }
}

impl Rank {
    /// Whether its next transfer may start.
    pub(super) fn next_on_bus(&self) -> bool {
        self.on_bus.as_ref().is_some_and(|on_bus| on_bus.queue.next().is_some())
    }
}
