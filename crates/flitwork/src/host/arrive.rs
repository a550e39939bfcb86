//! Messages that have left and that arrive: which receive takes them, and what is complete with that.

use super::in_flight::InFlight;
use super::matching::Posted;
use super::ranks::{Block, Hosts};
use super::rendezvous::Phase;
use super::requests::Completion;
use crate::schedule::OpId;

impl Hosts {
    /// The last flit of a message left its terminal.
    pub fn sent(&mut self, id: u32) {
        let message = &self.in_flight[id];
        let is_control = matches!(self.phase(id), Some(Phase::Request | Phase::Acknowledgement));
        if !message.envelope.synchronous && !is_control {
            self.due.just_sent.push((message.from, message.op));
        }
    }

    /// `flits` flits of a message have arrived in cycle `now`. Returns the terminal of the receiver if something that
    /// it waited for is complete with it already, before [`Hosts::begin_cycle`].
    pub fn arrived(&mut self, id: u32, flits: u32, now: u64) -> Option<u32> {
        let missing = &mut self.in_flight[id].missing;
        *missing = missing.saturating_sub(u64::from(flits));
        if *missing > 0 {
            return None;
        }
        if let Some(phase @ (Phase::Acknowledgement | Phase::Data)) = self.phase(id) {
            return self.proceed(id, phase, now);
        }
        self.all_there(id);
        if self.due.in_order {
            self.due.landed.push(id);
            return None;
        }
        self.deliver(id, now)
    }

    /// All of a message arrives at once, in cycle `now`.
    pub(super) fn arrived_whole(&mut self, id: u32, now: u64) -> Option<u32> {
        self.all_there(id);
        self.deliver(id, now)
    }

    /// All of a message is there.
    pub(super) fn all_there(&mut self, id: u32) {
        let message = &mut self.in_flight[id];
        message.missing = 0;
        self.ranks[message.from as usize].sent.note_arrival();
    }

    /// All of a message has arrived. It is received now, unless it has overtaken another one of the same sender,
    /// receiver and tag (in a context: and context); and so are those that have overtaken it.
    pub(super) fn deliver(&mut self, id: u32, now: u64) -> Option<u32> {
        let InFlight { from, to, tag, envelope, .. } = self.in_flight[id];
        let context = envelope.context;
        let mut released = false;
        let mut at = 0;
        loop {
            let sent = &mut self.ranks[from as usize].sent;
            if !sent.has_arrived() {
                break;
            }
            let Some((place, next)) = sent.next_to(to, at) else { break };
            let message = &self.in_flight[next];
            at = place;
            if message.envelope.context != context || context == 0 && message.tag != tag {
                at += 1;
            } else if message.missing == 0 {
                sent.remove(place);
                released |= self.match_message(next, now);
            } else {
                break;
            }
        }
        released.then(|| self.terminal_of(to))
    }

    /// A message takes its receive, or waits for it.
    fn match_message(&mut self, id: u32, now: u64) -> bool {
        self.in_flight[id].arrived = now;
        self.counts.arrived += u64::from(self.phase(id).is_none());
        let rank = &mut self.ranks[self.in_flight[id].to as usize];
        match rank.mail.arrived(id, &self.in_flight[id]) {
            Some(receive) => {
                self.counts.unmatched -= 1;
                self.receive(id, receive, now)
            }
            None => {
                self.counts.unmatched += 1;
                rank.changed = true;
                matches!(rank.block, Block::Probes(_) | Block::Polls(_))
            }
        }
    }

    /// A receive has its message, or its request; whether somebody has something to do.
    pub(super) fn receive(&mut self, id: u32, receive: Posted, now: u64) -> bool {
        let InFlight { from, to, flits, .. } = self.in_flight[id];
        if flits > receive.flits && self.fault.is_none() {
            let what = format!("a message of {flits} flits from rank {from} to rank {to}");
            self.fault = Some(format!("{what} matches a receive of {} (operation {})", receive.flits, receive.op));
            self.counts.unmatched += 1;
            return false;
        }
        if self.phase(id) == Some(Phase::Request) {
            self.acknowledge(id, receive.op, now);
            return true; // The terminal has an acknowledgement to send.
        }
        self.received(id, receive.op, now)
    }

    /// All of a message has arrived for a receive, which is complete now; whether something waited for it.
    pub(super) fn received(&mut self, id: u32, receive: OpId, now: u64) -> bool {
        let InFlight { from, to, op, envelope, arrived, .. } = self.in_flight[id];
        self.in_flight.remove(id);
        if envelope.synchronous {
            self.due.just_sent.push((from, op));
        }
        if let Some(log) = &mut self.ranks[to as usize].log {
            log.receive(receive, from, op, arrived);
        }
        let completion = Completion { rank: to, op: receive, cycle: now, message: Some((from, op)) };
        if self.due.late && arrived == now {
            self.due.late_receives.push_back((now, completion));
            return false;
        }
        self.complete(completion)
    }

    /// A send or a receive is complete (in a detour of its rank: with its end); whether something waited for it.
    pub(super) fn complete(&mut self, completion: Completion) -> bool {
        if self.put_off(completion) {
            return false;
        }
        if let Some(noted) = &mut self.due.noted {
            noted.push(completion);
        }
        self.finish(completion.rank, completion.op, completion.cycle)
    }
}
