//! Which receive of a rank takes which message: as in MPI, by lists.
//!
//! A message that has arrived takes the first receive, in program order, that fits it; a receive that is posted takes
//! the first message, in order of arrival, that fits it. Messages of one sender with one tag arrive in the order in
//! which they left; one that overtook another waits for it ([`super::Hosts`] sees to that). Messages are searched from
//! the front, where the match usually is.

use super::in_flight::{InFlight, InFlightTable};
use crate::schedule::{ANY, OpId};
use std::collections::VecDeque;

/// A receive that waits for its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Posted {
    pub from: u32,
    pub tag: u32,
    /// Group of messages that it takes one of.
    pub context: u32,
    pub op: OpId,
    /// Longest message that it takes \[flits].
    pub flits: u64,
}

impl Posted {
    fn fits(&self, message: &InFlight) -> bool {
        // Long lists are searched: what differs most is compared first.
        let wanted = [(self.from, message.from), (self.tag, message.tag)];
        wanted.iter().all(|&(wanted, is)| wanted == ANY || wanted == is) && self.context == message.envelope.context
    }
}

/// No receive.
const NONE: u32 = u32::MAX;

/// A receive in one of the chains of [`PostedReceives`], with when it was posted and the place of the next one.
#[derive(Debug, Clone, Copy)]
struct Place {
    receive: Posted,
    posted: u32,
    next: u32,
}

/// Posted receives that wait for a message, in chains by their senders: senders whose numbers end in the same bits
/// share one, receives from any sender have another. Each chain is in the order of posting. A rank may post thousands
/// at once, and their messages come in any order.
#[derive(Debug)]
struct PostedReceives {
    places: Vec<Place>,
    /// First of the list of unused places.
    free: u32,
    waiting: u32,
    /// Receives so far.
    posted: u32,
    /// The last of each chain, or [`NONE`]: its `next` is the first. Their number is a power of two.
    last: Vec<u32>,
    /// The last receive from any sender, or [`NONE`].
    last_open: u32,
}

impl Default for PostedReceives {
    fn default() -> Self {
        let (places, last) = (Vec::with_capacity(16), vec![NONE; 8]);
        PostedReceives { places, free: NONE, waiting: 0, posted: 0, last, last_open: NONE }
    }
}

impl PostedReceives {
    /// The last receive in the chain of a sender.
    fn chain(&mut self, from: u32) -> &mut u32 {
        let chains = self.last.len() as u32;
        if from == ANY { &mut self.last_open } else { &mut self.last[(from & (chains - 1)) as usize] }
    }

    fn push(&mut self, receive: Posted) {
        if self.waiting as usize == 2 * self.last.len() {
            self.spread();
        }
        let place = Place { receive, posted: self.posted, next: NONE };
        self.posted = self.posted.wrapping_add(1);
        self.waiting += 1;
        let at = match self.places.get_mut(self.free as usize) {
            Some(unused) => {
                let at = std::mem::replace(&mut self.free, unused.next);
                *unused = place;
                at
            }
            None => {
                self.places.push(place);
                self.places.len() as u32 - 1
            }
        };
        self.append(at);
    }

    /// A place becomes the last of its chain.
    fn append(&mut self, at: u32) {
        let from = self.places[at as usize].receive.from;
        let last = std::mem::replace(self.chain(from), at);
        let first = if last == NONE { at } else { std::mem::replace(&mut self.places[last as usize].next, at) };
        self.places[at as usize].next = first;
    }

    /// Twice as many chains: each of before becomes two, in which the order is the same.
    fn spread(&mut self) {
        let waiting: Vec<u32> = self.chain_by_chain().collect();
        let chains = 2 * self.last.len();
        (self.last, self.last_open) = (vec![NONE; chains], NONE);
        waiting.into_iter().for_each(|at| self.append(at));
    }

    /// How many receives have been posted since one that waits was.
    fn age(&self, at: u32) -> u32 {
        self.posted.wrapping_sub(self.places[at as usize].posted)
    }

    /// Where the receives of a chain are, each with the one before it.
    fn of_chain(&self, last: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let mut before = last;
        let mut ended = last == NONE;
        std::iter::from_fn(move || {
            if ended {
                return None;
            }
            let at = self.places[before as usize].next;
            ended = at == last;
            Some((std::mem::replace(&mut before, at), at))
        })
    }

    fn chain_by_chain(&self) -> impl Iterator<Item = u32> + '_ {
        let chains = self.last.iter().chain([&self.last_open]);
        chains.flat_map(|&last| self.of_chain(last)).map(|(_, at)| at)
    }

    /// The first of a chain that fits, with the one before it.
    fn first_that(&self, last: u32, fits: impl Fn(&Posted) -> bool) -> Option<(u32, u32)> {
        self.of_chain(last).find(|&(_, at)| fits(&self.places[at as usize].receive))
    }

    /// Takes the first that was posted of those that fit a message.
    fn take(&mut self, message: &InFlight) -> Option<Posted> {
        let last = *self.chain(message.from);
        let named = self.first_that(last, |receive| receive.fits(message));
        if self.last_open == NONE {
            return named.map(|found| self.remove(found));
        }
        let open = self.first_that(self.last_open, |receive| receive.fits(message));
        let first = named.into_iter().chain(open).max_by_key(|&(_, at)| self.age(at));
        first.map(|found| self.remove(found))
    }

    /// Takes a receive out of its chain; `before` is the one before it there.
    fn remove(&mut self, (before, at): (u32, u32)) -> Posted {
        let Place { receive, next, .. } = self.places[at as usize];
        self.places[before as usize].next = next;
        let last = self.chain(receive.from);
        if *last == at {
            *last = if before == at { NONE } else { before };
        }
        self.places[at as usize].next = std::mem::replace(&mut self.free, at);
        self.waiting -= 1;
        receive
    }

    /// Takes the receive of an operation.
    fn take_operation(&mut self, op: OpId) -> Option<Posted> {
        let of_op = |&last: &u32| self.first_that(last, |receive| receive.op == op);
        let found = self.last.iter().chain([&self.last_open]).find_map(of_op)?;
        Some(self.remove(found))
    }

    /// The one that was posted first.
    fn first(&self) -> Option<&Posted> {
        self.chain_by_chain().max_by_key(|&at| self.age(at)).map(|at| &self.places[at as usize].receive)
    }
}

/// What a rank waits for, and what waits for it.
#[derive(Debug)]
pub(super) struct Mailbox {
    posted: PostedReceives,
    /// Messages that arrived before their receives were posted, in order of arrival.
    unexpected: VecDeque<u32>,
}

impl Default for Mailbox {
    fn default() -> Self {
        Mailbox { posted: PostedReceives::default(), unexpected: VecDeque::with_capacity(16) }
    }
}

impl Mailbox {
    /// The receive that takes message `id`; without one the message waits.
    pub fn arrived(&mut self, id: u32, message: &InFlight) -> Option<Posted> {
        let found = self.posted.take(message);
        if found.is_none() {
            self.unexpected.push_back(id);
        }
        found
    }

    /// The message that a receive takes; without one the receive waits.
    pub fn post(&mut self, receive: Posted, messages: &InFlightTable) -> Option<u32> {
        let found = self.unexpected.iter().position(|&id| receive.fits(&messages[id]));
        if found.is_none() {
            self.posted.push(receive);
        }
        found.and_then(|at| self.unexpected.remove(at))
    }

    /// The message that a receive would take if it were posted now.
    pub fn find(&self, receive: &Posted, messages: &InFlightTable) -> Option<u32> {
        self.unexpected.iter().copied().find(|&id| receive.fits(&messages[id]))
    }

    /// Takes back a receive that has no message; whether there was one.
    pub fn withdraw(&mut self, op: OpId) -> bool {
        self.posted.take_operation(op).is_some()
    }

    /// The first receive that waits.
    pub fn first_posted(&self) -> Option<&Posted> {
        self.posted.first()
    }

    /// The first message that waits.
    pub fn first_unexpected(&self) -> Option<u32> {
        self.unexpected.front().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::super::requests::Envelope;
    use super::*;

    fn message(from: u32, tag: u32, context: u32) -> InFlight {
        let envelope = Envelope { context, ..Envelope::default() };
        InFlight { from, to: 0, tag, envelope, op: 0, order: 0, flits: 1, missing: 0, arrived: 0 }
    }

    /// Receives of few and of many senders, some of any, posted, withdrawn and matched at random: as in one list that
    /// is searched from its front.
    #[test]
    fn a_message_takes_the_receive_that_was_posted_first() {
        for senders in [3, 200] {
            let (mut mailbox, mut list) = (Mailbox::default(), Vec::<Posted>::new());
            let mut state = 1u32;
            let mut draw = |below: u32| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) % below
            };
            let messages = InFlightTable::with_room(0);
            for op in 0..20_000 {
                // First more is posted than arrives, then less.
                if draw(10_000) * 2 > op {
                    let from = if draw(8) == 0 { ANY } else { draw(senders) };
                    let receive =
                        Posted { from, tag: if draw(4) == 0 { ANY } else { draw(2) }, context: draw(2), op, flits: 1 };
                    list.push(receive);
                    assert_eq!(mailbox.post(receive, &messages), None);
                } else if draw(50) == 0 && !list.is_empty() {
                    let op = list.remove(draw(list.len() as u32) as usize).op;
                    assert!(mailbox.withdraw(op) && !mailbox.withdraw(op));
                } else {
                    let message = message(draw(senders), draw(2), draw(2));
                    let expected = list.iter().position(|receive| receive.fits(&message)).map(|at| list.remove(at));
                    assert_eq!(mailbox.arrived(0, &message), expected);
                    mailbox.unexpected.clear();
                }
                if op % 64 == 0 {
                    assert_eq!(mailbox.first_posted(), list.first());
                }
            }
        }
    }
}
