//! Messages that are read from the memory of their terminal before they are sent.
//!
//! A reader takes the messages of a terminal as injection ports would, and reads one after the other at a rate. A
//! message of which the first packet has been read waits in the queue of the NIC, from which injection ports take it;
//! they wait for each packet until all of it has been read.

use super::ranks::{Hosts, Message};
use crate::schedule::Rate;
use crate::timers::Timers;
use std::collections::VecDeque;

#[derive(Debug, Default)]
struct MemoryReader {
    /// When it is free, in parts of a cycle.
    free: u128,
    /// The cycle in which it is looked at next for that.
    looked_at: u64,
    /// Messages that it has taken, with the cycle from which on the first packet is there.
    queue: VecDeque<(u64, Message)>,
}

/// The readers of all terminals.
#[derive(Debug)]
pub(super) struct MemoryReaders {
    rate: Rate,
    /// Longest packet \[flits].
    packet_flits: u64,
    now: u64,
    readers: Vec<MemoryReader>,
    /// Terminals to look at.
    due: Timers,
}

impl MemoryReaders {
    /// Whether nothing is read and nothing waits to be sent.
    pub fn is_idle(&self) -> bool {
        self.readers.iter().all(|reader| reader.queue.is_empty())
    }

    /// The next cycle in which a reader is free or a packet has been read.
    pub fn next(&self) -> Option<u64> {
        self.due.next()
    }

    /// The next message of a terminal, if ports may take it, and the cycle in which it joined their queue.
    pub fn front(&self, terminal: u32) -> Option<(u64, &Message)> {
        let (joined, message) = self.readers[terminal as usize].queue.front()?;
        (*joined <= self.now).then_some((*joined, message))
    }

    /// Takes the next message of a terminal, if ports may take it.
    pub fn take(&mut self, terminal: u32) -> Option<Message> {
        self.front(terminal)?;
        self.readers[terminal as usize].queue.pop_front().map(|(_, message)| message)
    }

    /// The start of cycle `now`: calls `wake` for terminals at which something is due.
    pub fn advance(&mut self, now: u64, mut wake: impl FnMut(u32)) {
        while let Some(terminal) = self.due.pop(now) {
            wake(terminal);
        }
    }

    /// Whether the reader of a terminal is free before cycle `now` ends; if not, it is looked at when it is.
    fn is_free(&mut self, terminal: u32, now: u64) -> bool {
        let reader = &mut self.readers[terminal as usize];
        if reader.free < self.rate.at(now + 1) {
            return true;
        }
        let cycle = self.rate.cycle_of(reader.free);
        if std::mem::replace(&mut reader.looked_at, cycle) != cycle {
            self.due.push(cycle, terminal);
        }
        false
    }

    /// Reads a message that was taken in cycle `now`.
    fn read(&mut self, terminal: u32, mut message: Message, now: u64) {
        let reader = &mut self.readers[terminal as usize];
        let begin = reader.free.max(self.rate.at(now));
        reader.free = begin + self.rate.parts(message.flits);
        message.read_from = begin;
        let first = self.rate.cycle_from(begin + self.rate.parts(message.flits.min(self.packet_flits)));
        reader.queue.push_back((first, message));
        self.due.push(first, terminal);
    }
}

impl Hosts {
    /// From now on messages are read at a rate before ports take them, in packets of at most so many flits.
    pub fn read_from_memory(&mut self, rate: Rate, packet_flits: u32) {
        let readers = (0..self.places.terminals()).map(|_| MemoryReader::default()).collect();
        let packet_flits = u64::from(packet_flits);
        self.outlets.network.memory =
            Some(Box::new(MemoryReaders { rate, packet_flits, now: 0, readers, due: Timers::default() }));
    }

    /// Step 2b: the reader of a terminal takes what it can in cycle `now`.
    pub(super) fn read_at(&mut self, terminal: u32, now: u64) {
        while self.outlets.network.memory.is_some() && self.has_next(terminal) {
            if !self.outlets.network.memory.as_mut().is_some_and(|memory| memory.is_free(terminal, now)) {
                return;
            }
            let Some(message) = self.take_from_ranks(terminal) else { return };
            if let Some(memory) = &mut self.outlets.network.memory {
                memory.read(terminal, message, now);
            }
        }
    }

    /// Notes the cycle, for what may be taken in it.
    pub(super) fn read_until(&mut self, now: u64) {
        if let Some(memory) = &mut self.outlets.network.memory {
            memory.now = now;
        }
    }
}
