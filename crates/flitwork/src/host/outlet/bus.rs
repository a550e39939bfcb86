//! The bus as an outlet: ranks take turns, and each has a send queue of the same order as that of the network.
//!
//! What the bus takes at a time is a *transfer*: a message and those that go with it, as of a broadcast or scatter
//! function.

use super::super::places::Places;
use super::super::queue::{Queue, Unsent};
use super::super::ranks::{Hosts, Message};
use super::{Outlet, terminals_in};
use crate::schedule::{OpId, SendQueue, Via};
use std::collections::HashMap;

/// What a rank sends over the bus.
#[derive(Debug)]
struct Transfers {
    /// First messages of transfers.
    queue: Queue,
    /// The others, by the send of the first.
    joined: HashMap<OpId, Vec<Unsent>>,
    /// The first message of the transfer that the rank began last.
    last: Option<OpId>,
}

/// A message of a transfer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BusMessage {
    pub message: Message,
    /// Whether the message has the data of the one before it, and so takes no bus time.
    pub same: bool,
}

#[derive(Debug)]
pub(in super::super) struct BusOutlet {
    /// By ranks.
    transfers: Vec<Transfers>,
    /// The rank whose turn it is.
    turn: u32,
    /// Ranks whose next transfer may start, one bit each; some of them perhaps in vain.
    ready: Vec<u64>,
}

impl BusOutlet {
    /// Looks at the ranks of the terminals of `woken`.
    pub(super) fn look(&mut self, woken: &[u64], places: &Places) {
        for terminal in terminals_in(woken) {
            places.ranks_at(terminal).iter().for_each(|&rank| self.look_at(rank));
        }
    }

    fn look_at(&mut self, rank: u32) {
        if self.may_start(rank) {
            self.ready[rank as usize / 64] |= 1 << (rank % 64);
        }
    }

    /// The next transfer, of the first rank from the one whose turn it is that may start one; it becomes the turn of
    /// the rank behind.
    fn take(&mut self) -> Option<(u32, Unsent, Vec<Unsent>)> {
        let ranks = self.transfers.len() as u32;
        let is_ready = |&rank: &u32| self.ready[rank as usize / 64] >> (rank % 64) & 1 == 1;
        let rank = (self.turn..ranks).chain(0..self.turn).find(is_ready)?;
        self.turn = (rank + 1) % ranks;
        self.ready[rank as usize / 64] &= !(1 << (rank % 64));
        let of_rank = &mut self.transfers[rank as usize];
        let first = of_rank.queue.take()?;
        of_rank.last = of_rank.last.filter(|&last| last != first.op);
        let others = of_rank.joined.remove(&first.op).unwrap_or_default();
        self.look_at(rank);
        Some((rank, first, others))
    }
}

impl Outlet for BusOutlet {
    fn accepts(&self, via: Via, _within_terminal: bool) -> bool {
        via.is_bus()
    }

    fn queue(&self, rank: u32) -> &Queue {
        &self.transfers[rank as usize].queue
    }

    fn queue_mut(&mut self, rank: u32) -> &mut Queue {
        &mut self.transfers[rank as usize].queue
    }

    fn join(&mut self, rank: u32, message: Unsent) {
        let of_rank = &mut self.transfers[rank as usize];
        match of_rank.last.filter(|_| message.envelope.via.is_joined()) {
            Some(first) => of_rank.joined.entry(first).or_default().push(message),
            None => {
                of_rank.last = Some(message.op);
                of_rank.queue.join(message);
            }
        }
    }
}

impl Hosts {
    /// From now on there is a bus.
    pub fn use_bus(&mut self, queue: SendQueue) {
        let of_rank = |_| Transfers { queue: Queue::new(queue), joined: HashMap::new(), last: None };
        let ranks = self.ranks();
        let ready = vec![0; ranks.div_ceil(64) as usize];
        let bus = BusOutlet { transfers: (0..ranks).map(of_rank).collect(), turn: 0, ready };
        self.take_from_network(|via, within| bus.accepts(via, within));
        self.outlets.bus = Some(Box::new(bus));
    }

    /// Whether there is a bus.
    pub fn has_bus(&self) -> bool {
        self.outlets.bus.is_some()
    }

    /// Whether some rank has a transfer that may start.
    pub fn wants_bus(&self) -> bool {
        self.outlets.bus.as_ref().is_some_and(|bus| bus.ready.iter().any(|&ready| ready != 0))
    }

    /// Takes the next transfer, if one may start. Returns the terminal that it goes from.
    pub fn take_transfer(&mut self, transfer: &mut Vec<BusMessage>) -> Option<u32> {
        let (rank, first, others) = self.outlets.bus.as_mut()?.take()?;
        for unsent in std::iter::once(first).chain(others) {
            let same = unsent.envelope.via == Via::BusSame;
            let message = self.start_message(rank, unsent);
            transfer.push(BusMessage { message, same });
        }
        Some(self.terminal_of(rank))
    }
}
