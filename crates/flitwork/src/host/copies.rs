//! Messages between ranks of one terminal that are copied in its memory and do not enter the network.
//!
//! Each rank has a send queue of its own for them, of the same order, and copies one message at a time. The memory copies packet by packet at a
//! rate that the ranks share: those that copy at the same time take turns, as cores share a memory. Its time is a fraction of a cycle.

use super::asked::Completion;
use super::queue::Queue;
use super::ranks::Hosts;
use super::under_way::Letter;
use crate::schedule::{Rate, SendQueue, Via};
use crate::timers::Timers;

/// What a rank copies.
#[derive(Debug)]
pub(super) struct Copying {
    /// Messages that are not begun.
    pub queue: Queue,
    /// The one that is: its number under way, and the flits that are left.
    current: Option<(u32, u64)>,
}

impl Copying {
    /// Whether there is something to copy.
    pub fn may_go_on(&self) -> bool {
        self.current.is_some() || self.queue.next().is_some()
    }
}

#[derive(Debug, Default)]
struct Memory {
    /// When it is free, in parts of a cycle.
    free: u128,
    /// Which of the ranks has its turn.
    turn: u32,
    /// Whether it stands in the list of those that will be free.
    due: bool,
}

/// The memories of all terminals.
#[derive(Debug)]
pub(super) struct Copies {
    rate: Rate,
    /// Most that is copied at a time [flits].
    packet_flits: u64,
    memories: Vec<Memory>,
    /// Terminals whose memories go on when they are free.
    due: Timers,
    /// Messages of which all has its place, by their numbers under way, when they have arrived.
    ends: Timers,
}

impl Copies {
    /// Whether no memory works.
    pub fn is_idle(&self) -> bool {
        self.due.is_empty() && self.ends.is_empty()
    }

    /// The next cycle in which a memory goes on or a message has arrived.
    pub fn next(&self) -> Option<u64> {
        [&self.due, &self.ends].into_iter().filter_map(Timers::next).min()
    }
}

impl Hosts {
    /// From now on messages between ranks of one terminal are copied at a rate, so many flits at a time.
    pub fn copy_within_terminals(&mut self, rate: Rate, packet_flits: u32, queue: SendQueue) {
        // The injection ports of a terminal wait for its other messages alone.
        for message in self.schedule.messages() {
            if self.terminal_of(message.from) == self.terminal_of(message.to) && message.via == Via::Network {
                let unsent = &mut self.ranks[message.from as usize].unsent;
                *unsent = unsent.saturating_sub(1);
            }
        }
        for rank in &mut self.ranks {
            rank.copies = Some(Box::new(Copying { queue: Queue::new(queue), current: None }));
        }
        // A program must not wait for the next message of one queue before it fills the other one.
        self.reads_late = false;
        let memories = (0..self.terminals()).map(|_| Memory::default()).collect();
        let (due, ends) = (Timers::default(), Timers::default());
        let packet_flits = u64::from(packet_flits);
        self.copies = Some(Box::new(Copies { rate, packet_flits, memories, due, ends }));
    }

    /// Start of step 2 of a cycle: messages of which the last flit was copied have arrived, and their sends are complete. Terminals
    /// whose memory is free in this cycle wake.
    pub(super) fn end_copies(&mut self, now: u64, wake: &mut impl FnMut(u32)) {
        while let Some(terminal) = self.copies.as_mut().and_then(|copies| copies.due.pop(now)) {
            if let Some(copies) = &mut self.copies {
                copies.memories[terminal as usize].due = false;
            }
            wake(terminal);
        }
        while let Some(id) = self.copies.as_mut().and_then(|copies| copies.ends.pop(now)) {
            let Letter { from, op, envelope, .. } = self.letters[id];
            let sent = Completion { rank: from, op, cycle: now, message: None };
            if !envelope.synchronous && self.complete(sent) {
                wake(self.terminal_of(from));
            }
            self.all_there(id);
            if self.in_order {
                self.landed.push(id);
            } else if let Some(terminal) = self.deliver(id, now) {
                wake(terminal);
            }
        }
    }

    /// Step 2b: the memories of the terminals of `woken` copy, and read, what they can begin in cycle `now`.
    #[inline]
    pub fn use_memory(&mut self, woken: &[u64], now: u64) {
        if self.copies.is_none() && self.reading.is_none() {
            return;
        }
        self.read_until(now);
        for (word, &woken) in woken.iter().enumerate() {
            let mut left = woken;
            while left != 0 {
                let terminal = word as u32 * 64 + left.trailing_zeros();
                self.copy_at(terminal, now);
                if self.reading.is_some() {
                    self.read_at(terminal, now);
                }
                left &= left - 1;
            }
        }
    }

    /// The same of one terminal.
    fn copy_at(&mut self, terminal: u32, now: u64) {
        while let Some((place, r)) = self.next_copier(terminal) {
            let ranks = self.ranks_at(terminal).len() as u32;
            let Some(copies) = &mut self.copies else { return };
            let memory = &mut copies.memories[terminal as usize];
            if memory.free >= copies.rate.at(now + 1) {
                if !std::mem::replace(&mut memory.due, true) {
                    copies.due.push(copies.rate.cycle_of(memory.free), terminal);
                }
                return;
            }
            memory.turn = (place + 1) % ranks;
            let Some((id, left)) = self.next_copy(r) else { return };
            let Some(copies) = &mut self.copies else { return };
            let memory = &mut copies.memories[terminal as usize];
            let flits = left.min(copies.packet_flits);
            memory.free = memory.free.max(copies.rate.at(now)) + copies.rate.parts(flits);
            if flits == left {
                copies.ends.push(copies.rate.cycle_from(memory.free), id);
            } else if let Some(copying) = &mut self.ranks[r as usize].copies {
                copying.current = Some((id, left - flits));
            }
        }
    }

    /// Of the ranks of a terminal the first from the one whose turn it is that has something to copy, with its place.
    fn next_copier(&self, terminal: u32) -> Option<(u32, u32)> {
        let turn = self.copies.as_ref()?.memories[terminal as usize].turn;
        let ranks = self.ranks_at(terminal);
        let (earlier, later) = ranks.split_at(turn as usize);
        later.iter().chain(earlier).enumerate().find_map(|(i, &r)| {
            let rank = &self.ranks[r as usize];
            let may = rank.copies.as_ref().is_some_and(|copies| copies.may_go_on());
            may.then_some(((turn + i as u32) % ranks.len() as u32, r))
        })
    }

    /// The message that a rank goes on with, or begins, and the flits that are left of it.
    fn next_copy(&mut self, r: u32) -> Option<(u32, u64)> {
        let rank = &mut self.ranks[r as usize];
        let copying = rank.copies.as_mut()?;
        if let Some(current) = copying.current.take() {
            return Some(current);
        }
        let message = copying.queue.take()?;
        let flits = message.flits;
        Some((self.leaves(r, message), flits))
    }
}
