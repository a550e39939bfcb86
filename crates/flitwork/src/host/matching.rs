//! Which receive of a rank takes which message: as in MPI, by lists.
//!
//! A message that has arrived takes the first receive, in program order, that fits it; a receive that is posted takes the first
//! message, in order of arrival, that fits it. Messages of one sender with one tag arrive in the order in which they left; one that
//! overtook another waits for it ([`super::Hosts`] sees to that). The match is usually at the front, so lists are searched from there.

use super::under_way::{Letter, UnderWay};
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
    /// Longest message that it takes [flits].
    pub flits: u64,
}

impl Posted {
    fn fits(&self, letter: &Letter) -> bool {
        // Long lists are searched: what differs most is compared first.
        let wanted = [(self.from, letter.from), (self.tag, letter.tag)];
        wanted.iter().all(|&(wanted, is)| wanted == ANY || wanted == is) && self.context == letter.envelope.context
    }
}

/// What a rank waits for, and what waits for it.
#[derive(Debug)]
pub(super) struct Mailbox {
    posted: VecDeque<Posted>,
    /// Messages that arrived before their receives were posted, in order of arrival.
    unexpected: VecDeque<u32>,
}

impl Default for Mailbox {
    fn default() -> Self {
        Mailbox { posted: VecDeque::with_capacity(16), unexpected: VecDeque::with_capacity(16) }
    }
}

impl Mailbox {
    /// The receive that takes message `id`; without one the message waits.
    pub fn arrived(&mut self, id: u32, letter: &Letter) -> Option<Posted> {
        let found = self.posted.iter().position(|posted| posted.fits(letter));
        if found.is_none() {
            self.unexpected.push_back(id);
        }
        found.and_then(|at| self.posted.remove(at))
    }

    /// The message that a receive takes; without one the receive waits.
    pub fn post(&mut self, receive: Posted, messages: &UnderWay) -> Option<u32> {
        let found = self.unexpected.iter().position(|&id| receive.fits(&messages[id]));
        if found.is_none() {
            self.posted.push_back(receive);
        }
        found.and_then(|at| self.unexpected.remove(at))
    }

    /// The message that a receive would take if it were posted now.
    pub fn find(&self, receive: &Posted, messages: &UnderWay) -> Option<u32> {
        self.unexpected.iter().copied().find(|&id| receive.fits(&messages[id]))
    }

    /// Takes back a receive that has no message; whether there was one.
    pub fn withdraw(&mut self, op: OpId) -> bool {
        let found = self.posted.iter().position(|posted| posted.op == op);
        found.and_then(|at| self.posted.remove(at)).is_some()
    }

    /// The first receive that waits.
    pub fn first_posted(&self) -> Option<&Posted> {
        self.posted.front()
    }

    /// The first message that waits.
    pub fn first_unexpected(&self) -> Option<u32> {
        self.unexpected.front().copied()
    }
}
