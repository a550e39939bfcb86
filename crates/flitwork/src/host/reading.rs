//! Messages that are read from the memory of their terminal before they are sent.
//!
//! A reader takes the messages of a terminal as injection ports would, and reads one after the other at a rate. A message of which the first packet
//! has been read waits in the queue of the NIC, from which injection ports take it; they wait for each packet until all of it has been read.

use super::ranks::{Hosts, Message};
use crate::schedule::Rate;
use crate::timers::Timers;
use std::collections::VecDeque;

#[derive(Debug, Default)]
struct Reader {
    /// When it is free, in parts of a cycle.
    free: u128,
    /// The cycle in which it is looked at next for that.
    looked_at: u64,
    /// Messages that it has taken, with the cycle from which on the first packet is there.
    queue: VecDeque<(u64, Message)>,
}

/// The readers of all terminals.
#[derive(Debug)]
pub(super) struct Reading {
    rate: Rate,
    /// Longest packet [flits].
    packet_flits: u64,
    now: u64,
    readers: Vec<Reader>,
    /// Terminals to look at.
    due: Timers,
}

impl Reading {
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

    /// Takes it.
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
        let readers = (0..self.terminals()).map(|_| Reader::default()).collect();
        let packet_flits = u64::from(packet_flits);
        self.reading = Some(Box::new(Reading { rate, packet_flits, now: 0, readers, due: Timers::default() }));
    }

    /// Step 2b: the readers of a terminal take what they can in cycle `now`.
    pub(super) fn read_at(&mut self, terminal: u32, now: u64) {
        while self.has_next(terminal) {
            if !self.reading.as_mut().is_some_and(|reading| reading.is_free(terminal, now)) {
                return;
            }
            let Some(message) = self.take_from_ranks(terminal) else { return };
            if let Some(reading) = &mut self.reading {
                reading.read(terminal, message, now);
            }
        }
    }

    /// Notes the cycle, for what may be taken in it.
    pub(super) fn read_until(&mut self, now: u64) {
        if let Some(reading) = &mut self.reading {
            reading.now = now;
        }
    }

    /// Whether a terminal has a message that may start.
    fn has_next(&self, terminal: u32) -> bool {
        self.next_part(terminal).is_some() || self.next_rank(terminal).is_some()
    }

    /// The cycle in which the next message of a terminal became ready: its program had passed it, and all that it depends on was
    /// complete. `None` if there is none that may start.
    pub fn next_ready(&self, terminal: u32) -> Option<u64> {
        if let Some(reading) = &self.reading {
            return reading.front(terminal).map(|(joined, _)| joined);
        }
        if let Some((joined, _)) = self.next_part(terminal) {
            return Some(joined);
        }
        let (_, rank) = self.next_rank(terminal)?;
        let rank = &self.ranks[rank as usize];
        rank.queue.next().map(|message| message.ready_since)
    }

    /// The ranks that the next message of a terminal goes from and to.
    pub fn next_pair(&self, terminal: u32) -> Option<(u32, u32)> {
        if let Some(reading) = &self.reading {
            return reading.front(terminal).map(|(_, message)| message.pair);
        }
        if let Some((_, pair)) = self.next_part(terminal) {
            return Some(pair);
        }
        let (_, r) = self.next_rank(terminal)?;
        let rank = &self.ranks[r as usize];
        rank.queue.next().map(|message| (r, message.to))
    }
}
