//! Why ranks cannot go on, in words.

use super::ranks::{Block, Hosts};
use crate::schedule::{OpId, name};

/// Ranks that a message names.
const NAMED: usize = 8;

impl Hosts {
    /// Whether no rank can go on, though no message is in flight and nobody computes or requests operations.
    pub fn is_stuck(&self) -> bool {
        !self.is_complete()
            && !self.due.has_pending()
            && self.due.computing.is_empty()
            && self.noise.as_ref().is_none_or(|noise| noise.is_idle())
            && self.outlets.all().all(|outlet| outlet.is_idle())
            && (0..self.ranks()).all(|rank| self.is_blocked(rank))
    }

    /// Whether neither the program nor a message of a rank can go on.
    fn is_blocked(&self, r: u32) -> bool {
        let rank = &self.ranks[r as usize];
        let blocked = match rank.block {
            Block::Free => rank.ended || self.is_read_far_enough(r),
            Block::Waits(op, _) => rank.window.waits(op),
            Block::Computes(_) | Block::Polls(_) => false,
            Block::Probes(ref probe) => rank.mail.find(probe, &self.in_flight).is_none(),
        };
        blocked && !self.outlets.all().any(|outlet| outlet.may_start(r))
    }

    /// Which ranks cannot finish, and what the first of them wait for.
    pub fn why_stuck(&self) -> String {
        if let Some(fault) = &self.fault {
            return fault.clone();
        }
        let unfinished = |&r: &u32| {
            let rank = &self.ranks[r as usize];
            !rank.ended || self.outlets.has_unsent(r) || rank.mail.first_posted().is_some()
        };
        let stuck: Vec<u32> = (0..self.ranks()).filter(unfinished).collect();
        let mut reasons: Vec<String> = stuck.iter().take(NAMED).filter_map(|&r| self.reason(r)).collect();
        if stuck.is_empty() {
            reasons.extend((0..self.ranks()).filter_map(|r| self.unclaimed(r)).take(NAMED));
        }
        if stuck.is_empty() || reasons.is_empty() {
            return reasons.join("; ");
        }
        let list: Vec<String> = stuck.iter().take(NAMED).map(u32::to_string).collect();
        let more = if stuck.len() > NAMED { ", ..." } else { "" };
        let counts = format!("{} of {} ranks cannot finish ({}{more})", stuck.len(), self.ranks.len(), list.join(", "));
        format!("{counts}: {}", reasons.join("; "))
    }

    /// What a rank waits for.
    fn reason(&self, r: u32) -> Option<String> {
        let rank = &self.ranks[r as usize];
        let pending = || rank.pending.as_ref().and_then(|pending| pending.first_waiting());
        let blocked = self.outlets.first_waiting(r).or_else(pending).or(match rank.block {
            Block::Waits(op, _) | Block::Computes(op) => Some(op),
            Block::Probes(probe) => return Some(format!("{} has no message", self.named(r, probe.op))),
            Block::Polls(_) | Block::Free => None,
        });
        let Some(op) = blocked else {
            let receive = rank.mail.first_posted()?;
            return Some(format!("{} has no message", self.named(r, receive.op)));
        };
        Some(match rank.window.awaited(op) {
            Some(dep) => format!("{} waits for {}", self.named(r, op), self.named(r, dep)),
            None => format!("{} has not been sent", self.named(r, op)),
        })
    }

    /// A message that no receive takes.
    fn unclaimed(&self, r: u32) -> Option<String> {
        let message = &self.in_flight[self.ranks[r as usize].mail.first_unexpected()?];
        Some(format!("{} has no receive", self.named(message.from, message.op)))
    }

    fn named(&self, rank: u32, op: OpId) -> String {
        match self.schedule.operations(rank).nth(op as usize) {
            Some(operation) => name(rank, op, &operation.kind),
            None => format!("rank {rank} operation {op}"),
        }
    }
}
