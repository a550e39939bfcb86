//! The memory of a terminal as an outlet: messages between its ranks that are copied and do not enter the network.
//!
//! Each rank has a send queue of the same order as that of the network, and copies one message at a time. The memory
//! copies packet by packet at a rate that the ranks share: those that copy at the same time take turns, as cores share
//! a memory. Its time is a fraction of a cycle.

use super::super::queue::Queue;
use super::super::ranks::Hosts;
use super::super::requests::Completion;
use super::{Outlet, terminals_in};
use crate::host::in_flight::InFlight;
use crate::schedule::{Rate, SendQueue, Via};
use crate::timers::Timers;

/// What a rank copies.
#[derive(Debug)]
struct Copying {
    /// Messages that are not begun.
    queue: Queue,
    /// The one that is: its number in flight, and the flits that are left.
    current: Option<(u32, u64)>,
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

#[derive(Debug)]
pub(in super::super) struct CopyOutlet {
    rate: Rate,
    /// Most that is copied at a time \[flits].
    packet_flits: u64,
    /// By ranks.
    copying: Vec<Copying>,
    /// By terminals.
    memories: Vec<Memory>,
    /// Terminals whose memories go on when they are free.
    due: Timers,
    /// Messages of which all has its place, by their numbers in flight, when they have arrived.
    ends: Timers,
}

impl CopyOutlet {
    /// A memory copies a packet of a message of which so many flits are left, from cycle `now` on.
    fn copy(&mut self, terminal: u32, rank: u32, (id, left): (u32, u64), now: u64) {
        let memory = &mut self.memories[terminal as usize];
        let flits = left.min(self.packet_flits);
        memory.free = memory.free.max(self.rate.at(now)) + self.rate.parts(flits);
        if flits == left {
            self.ends.push(self.rate.cycle_from(memory.free), id);
        } else {
            self.copying[rank as usize].current = Some((id, left - flits));
        }
    }

    /// Whether the memory of a terminal is free before cycle `now` ends; if not, the terminal wakes when it is.
    fn is_free(&mut self, terminal: u32, now: u64) -> bool {
        let memory = &mut self.memories[terminal as usize];
        if memory.free < self.rate.at(now + 1) {
            return true;
        }
        if !std::mem::replace(&mut memory.due, true) {
            self.due.push(self.rate.cycle_of(memory.free), terminal);
        }
        false
    }
}

impl Outlet for CopyOutlet {
    fn accepts(&self, via: Via, within_terminal: bool) -> bool {
        within_terminal && via == Via::Network
    }

    fn queue(&self, rank: u32) -> &Queue {
        &self.copying[rank as usize].queue
    }

    fn queue_mut(&mut self, rank: u32) -> &mut Queue {
        &mut self.copying[rank as usize].queue
    }

    fn may_start(&self, rank: u32) -> bool {
        let of_rank = &self.copying[rank as usize];
        of_rank.current.is_some() || of_rank.queue.next().is_some()
    }

    fn next_cycle(&self) -> Option<u64> {
        [&self.due, &self.ends].into_iter().filter_map(Timers::next).min()
    }

    fn is_idle(&self) -> bool {
        self.due.is_empty() && self.ends.is_empty()
    }
}

impl Hosts {
    /// From now on messages between ranks of one terminal are copied at a rate, so many flits at a time.
    pub fn copy_within_terminals(&mut self, rate: Rate, packet_flits: u32, queue: SendQueue) {
        let copies = CopyOutlet {
            rate,
            packet_flits: u64::from(packet_flits),
            copying: (0..self.ranks()).map(|_| Copying { queue: Queue::new(queue), current: None }).collect(),
            memories: (0..self.places.terminals()).map(|_| Memory::default()).collect(),
            due: Timers::default(),
            ends: Timers::default(),
        };
        self.take_from_network(|via, within| copies.accepts(via, within));
        self.outlets.copies = Some(Box::new(copies));
    }

    /// Start of step 2 of a cycle: messages of which the last flit was copied have arrived, and their sends are
    /// complete. Terminals whose memory is free in this cycle wake.
    pub(in super::super) fn end_copies(&mut self, now: u64, wake: &mut impl FnMut(u32)) {
        while let Some(terminal) = self.outlets.copies.as_mut().and_then(|copies| copies.due.pop(now)) {
            if let Some(copies) = &mut self.outlets.copies {
                copies.memories[terminal as usize].due = false;
            }
            wake(terminal);
        }
        while let Some(id) = self.outlets.copies.as_mut().and_then(|copies| copies.ends.pop(now)) {
            let InFlight { from, op, envelope, .. } = self.in_flight[id];
            let sent = Completion { rank: from, op, cycle: now, message: None };
            if !envelope.synchronous && self.complete(sent) {
                wake(self.terminal_of(from));
            }
            self.all_there(id);
            if self.due.in_order {
                self.due.landed.push(id);
            } else if let Some(terminal) = self.deliver(id, now) {
                wake(terminal);
            }
        }
    }

    /// The memories of the terminals of `woken` copy, and are read for the network, as far as they can begin in cycle
    /// `now`.
    pub(super) fn use_memory(&mut self, woken: &[u64], now: u64) {
        self.read_until(now);
        for terminal in terminals_in(woken) {
            self.copy_at(terminal, now);
            self.read_at(terminal, now);
        }
    }

    /// The ranks of a terminal copy what its memory can begin in cycle `now`.
    fn copy_at(&mut self, terminal: u32, now: u64) {
        loop {
            let Hosts { places, outlets, .. } = self;
            let Some(copies) = &mut outlets.copies else { return };
            let turn = copies.memories[terminal as usize].turn;
            let found = places.next_in_turn(terminal, turn, |rank| copies.may_start(rank));
            let Some((rank, next)) = found.filter(|_| copies.is_free(terminal, now)) else { return };
            copies.memories[terminal as usize].turn = next;
            let Some(copied) = self.next_copy(rank) else { return };
            if let Some(copies) = &mut self.outlets.copies {
                copies.copy(terminal, rank, copied, now);
            }
        }
    }

    /// The message that a rank goes on with, or begins, and the flits that are left of it.
    fn next_copy(&mut self, rank: u32) -> Option<(u32, u64)> {
        let copying = &mut self.outlets.copies.as_mut()?.copying[rank as usize];
        if let Some(current) = copying.current.take() {
            return Some(current);
        }
        let message = copying.queue.take()?;
        Some((self.leaves(rank, message), message.flits))
    }
}
