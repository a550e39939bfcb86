//! Why ranks cannot go on, in words.

use super::ranks::{Block, Hosts, Rank};
use crate::schedule::{OpId, name};

/// Ranks that a message names.
const NAMED: usize = 8;

impl Hosts {
    /// Whether no rank can go on, though no message is under way and nobody computes or is asked.
    pub fn is_stuck(&self) -> bool {
        !self.is_complete()
            && self.just_sent.is_empty()
            && self.landed.is_empty()
            && self.late_receives.is_empty()
            && self.computing.is_empty()
            && self.noise.as_ref().is_none_or(|noise| noise.is_idle())
            && self.rendezvous.as_ref().is_none_or(|rendezvous| rendezvous.is_idle())
            && self.copies.as_ref().is_none_or(|copies| copies.is_idle())
            && self.reading.as_ref().is_none_or(|reading| reading.is_idle())
            && self.ranks.iter().all(|rank| {
                let blocked = match rank.block {
                    Block::Free => rank.ended || self.reads_late && !rank.queue.is_empty(),
                    Block::Waits(op, _) => rank.window.waits(op),
                    Block::Computes(_) | Block::Polls(_) => false,
                    Block::Probes(ref probe) => rank.mail.find(probe, &self.letters).is_none(),
                };
                let copies = rank.copies.as_ref().is_some_and(|copies| copies.may_go_on());
                blocked
                    && rank.queue.next().is_none()
                    && !copies
                    && !rank.next_on_bus()
                    && !rank.next_on_tree()
                    && !rank.next_on_tree()
            })
    }

    /// Which ranks cannot finish, and what the first of them wait for.
    pub fn why_stuck(&self) -> String {
        if let Some(fault) = &self.fault {
            return fault.clone();
        }
        let copies = |rank: &Rank| rank.copies.as_ref().is_some_and(|copies| !copies.queue.is_empty());
        let on_bus = |rank: &Rank| rank.on_bus.as_ref().is_some_and(|on_bus| !on_bus.queue.is_empty());
        let unsent = |rank: &Rank| {
            !rank.queue.is_empty()
                || copies(rank)
                || on_bus(rank)
                || rank.on_tree.as_ref().is_some_and(|queue| !queue.is_empty())
        };
        let unfinished = |rank: &Rank| !rank.ended || unsent(rank) || rank.mail.first_posted().is_some();
        let stuck: Vec<u32> = (0..self.ranks.len() as u32).filter(|&r| unfinished(&self.ranks[r as usize])).collect();
        let mut reasons: Vec<String> = stuck.iter().take(NAMED).filter_map(|&r| self.reason(r)).collect();
        if stuck.is_empty() {
            reasons.extend((0..self.ranks.len() as u32).filter_map(|r| self.unclaimed(r)).take(NAMED));
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
        let held = || rank.held.as_ref().and_then(|held| held.first_waiting());
        let copies = || rank.copies.as_ref().and_then(|copies| copies.queue.first_waiting());
        let on_bus = || rank.on_bus.as_ref().and_then(|on_bus| on_bus.queue.first_waiting());
        let on_tree = || rank.on_tree.as_ref().and_then(|queue| queue.first_waiting());
        let blocked = rank.queue.first_waiting().or_else(copies).or_else(on_bus).or_else(on_tree).or_else(held).or(
            match rank.block {
                Block::Waits(op, _) | Block::Computes(op) => Some(op),
                Block::Probes(probe) => return Some(format!("{} has no message", self.named(r, probe.op))),
                Block::Polls(_) | Block::Free => None,
            },
        );
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
        let letter = &self.letters[self.ranks[r as usize].mail.first_unexpected()?];
        Some(format!("{} has no receive", self.named(letter.from, letter.op)))
    }

    fn named(&self, rank: u32, op: OpId) -> String {
        match self.schedule.operations(rank).nth(op as usize) {
            Some(operation) => name(rank, op, &operation.kind),
            None => format!("rank {rank} operation {op}"),
        }
    }
}
