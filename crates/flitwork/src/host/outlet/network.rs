//! The network as an outlet: the ranks of a terminal take turns, and the NIC takes a message when an injection port is
//! free.
//!
//! In front of the messages that ranks start go the acknowledgements and data of
//! [`rendezvous`](crate::host::rendezvous). Where reading from memory takes time,
//! [`memory_reader`](crate::host::memory_reader) takes all of them, and the NIC takes what has been read.

use super::super::memory_reader::MemoryReaders;
use super::super::places::Places;
use super::super::queue::Queue;
use super::super::ranks::{Hosts, Message};
use super::super::rendezvous::Rendezvous;
use super::Outlet;
use crate::schedule::{SendQueue, Via};

#[derive(Debug)]
pub(in super::super) struct NetworkOutlet {
    /// By ranks.
    queues: Vec<Queue>,
    /// By ranks: messages that have not been taken, as far as they are known.
    unsent: Vec<u64>,
    /// By terminals: which of the ranks has its turn.
    turn: Vec<u32>,
    /// Where long messages wait for their receives.
    pub(in super::super) rendezvous: Option<Box<Rendezvous>>,
    /// Where reading from memory takes time.
    pub(in super::super) memory: Option<Box<MemoryReaders>>,
}

impl NetworkOutlet {
    /// The outlet of `terminals` terminals to the network; `unsent`: how many messages each rank will send, as far as
    /// that is known.
    pub fn new(queue: SendQueue, unsent: Vec<u64>, terminals: usize) -> Self {
        let queues = unsent.iter().map(|_| Queue::new(queue)).collect();
        NetworkOutlet { queues, unsent, turn: vec![0; terminals], rendezvous: None, memory: None }
    }

    /// A message of a rank leaves by another outlet.
    pub(super) fn drop_expected(&mut self, rank: u32) {
        let unsent = &mut self.unsent[rank as usize];
        *unsent = unsent.saturating_sub(1);
    }

    /// The rank of a terminal whose message is next, if one may start, and whose turn it is then.
    #[inline]
    fn next_rank(&self, places: &Places, terminal: u32) -> Option<(u32, u32)> {
        let ready = |rank: u32| self.queues[rank as usize].next().is_some();
        places.next_in_turn(terminal, self.turn[terminal as usize], ready)
    }
}

impl Outlet for NetworkOutlet {
    fn accepts(&self, _via: Via, _within_terminal: bool) -> bool {
        true
    }

    fn queue(&self, rank: u32) -> &Queue {
        &self.queues[rank as usize]
    }

    fn queue_mut(&mut self, rank: u32) -> &mut Queue {
        &mut self.queues[rank as usize]
    }

    fn next_cycle(&self) -> Option<u64> {
        self.memory.as_ref().and_then(|memory| memory.next())
    }

    fn is_idle(&self) -> bool {
        self.rendezvous.as_ref().is_none_or(|rendezvous| rendezvous.is_idle())
            && self.memory.as_ref().is_none_or(|memory| memory.is_idle())
    }
}

impl Hosts {
    /// Takes the next message of a terminal, if one may start.
    #[inline]
    pub fn take(&mut self, terminal: u32) -> Option<Message> {
        match &mut self.outlets.network.memory {
            Some(memory) => memory.take(terminal),
            None => self.take_from_ranks(terminal),
        }
    }

    /// Takes the next message of a terminal, if one may start, where it comes from: a part of a rendezvous, or what a
    /// rank sends.
    #[inline]
    pub(in super::super) fn take_from_ranks(&mut self, terminal: u32) -> Option<Message> {
        if self.outlets.network.rendezvous.is_some() {
            if let Some(part) = self.take_part(terminal) {
                return Some(part);
            }
        }
        let (rank, next) = self.outlets.network.next_rank(&self.places, terminal)?;
        let network = &mut self.outlets.network;
        network.turn[terminal as usize] = next;
        let unsent = network.queues[rank as usize].take()?;
        network.drop_expected(rank);
        let message = self.start_message(rank, unsent);
        if self.reads_late {
            // Nothing that can be seen depends on the cycle.
            self.advance_rank(rank, 0);
        }
        let flits = self.begin(message.id, message.number, message.step);
        Some(Message { flits, ..message })
    }

    /// Whether a terminal still has messages to send.
    pub fn has_unsent(&self, terminal: u32) -> bool {
        let network = &self.outlets.network;
        let has_unsent = |&rank: &u32| network.unsent[rank as usize] > 0 || !network.queue(rank).is_empty();
        self.places.ranks_at(terminal).iter().any(has_unsent) || self.next_part(terminal).is_some()
    }

    /// Whether a terminal has a message that may start.
    pub(in super::super) fn has_next(&self, terminal: u32) -> bool {
        self.next_part(terminal).is_some() || self.outlets.network.next_rank(&self.places, terminal).is_some()
    }

    /// The cycle in which the next message of a terminal became ready: its program had passed it, and all that it
    /// depends on was complete. `None` if there is none that may start.
    pub fn next_ready(&self, terminal: u32) -> Option<u64> {
        let network = &self.outlets.network;
        if let Some(memory) = &network.memory {
            return memory.front(terminal).map(|(joined, _)| joined);
        }
        if let Some((joined, _)) = self.next_part(terminal) {
            return Some(joined);
        }
        let (rank, _) = network.next_rank(&self.places, terminal)?;
        network.queue(rank).next().map(|message| message.ready_since)
    }

    /// The ranks that the next message of a terminal goes from and to.
    pub fn next_pair(&self, terminal: u32) -> Option<(u32, u32)> {
        let network = &self.outlets.network;
        if let Some(memory) = &network.memory {
            return memory.front(terminal).map(|(_, message)| message.pair);
        }
        if let Some((_, pair)) = self.next_part(terminal) {
            return Some(pair);
        }
        let (rank, _) = network.next_rank(&self.places, terminal)?;
        network.queue(rank).next().map(|message| (rank, message.to))
    }
}
