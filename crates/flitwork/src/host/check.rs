//! Is a schedule what it claims to be? Every message received, nobody waiting for ever, every pair exactly once: it is
//! run on a network that takes no time.
//!
//! Without receives that leave their sender open, what a rank may do next depends only on which operations are
//! complete, and nothing that is complete is ever undone: a network that takes time ends in the same state. With such
//! receives another order of arrivals may match otherwise, so a check that succeeds is then a proof for this network
//! only.

use super::Hosts;
use crate::error::Error;
use crate::schedule::{OpKind, Placement, Schedule, SendQueue, check_form, fault, match_messages};
use serde::Serialize;
use std::collections::VecDeque;

/// What a checked schedule amounts to. Sizes are in the unit of the schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ExchangeReport {
    /// Number of ranks.
    pub ranks: u32,
    /// Number of messages.
    pub messages: u64,
    /// Length of all messages together \[flits].
    pub flits: u64,
    /// Longest message \[flits].
    pub longest_flits: u64,
    /// Shortest message \[flits].
    pub shortest_flits: u64,
    /// Number of steps: 1 more than the largest step of a message.
    pub phases: u32,
}

/// Checks that every ordered pair of distinct ranks exchanges exactly one message, on top of [`check_complete`].
///
/// # Errors
/// [`Error::Schedule`] names the ranks.
pub fn check_exchange(s: &Schedule) -> Result<ExchangeReport, Error> {
    let report = check_complete(s)?;
    // seen[to] is 1 + the last sender that was seen sending there.
    let mut seen = vec![0u32; s.ranks() as usize];
    for rank in 0..s.ranks() {
        let mut sent = 0;
        for op in s.operations(rank) {
            let OpKind::Send { to, .. } = op.kind else { continue };
            if to == rank {
                return Err(fault(s, format!("rank {rank} sends a message to itself")));
            }
            if seen[to as usize] == rank + 1 {
                return Err(fault(s, format!("rank {rank} sends more than one message to rank {to}")));
            }
            seen[to as usize] = rank + 1;
            sent += 1;
        }
        if sent + 1 < s.ranks() {
            let missing = (0..s.ranks()).find(|&to| to != rank && seen[to as usize] != rank + 1);
            let missing = missing.unwrap_or_default();
            return Err(fault(s, format!("rank {rank} sends no message to rank {missing}")));
        }
    }
    Ok(report)
}

/// Checks any schedule: it is well formed, sends and receives match, and every rank can finish, with messages that
/// leave in program order.
///
/// # Errors
/// [`Error::Schedule`] names ranks and operations.
pub fn check_complete(s: &Schedule) -> Result<ExchangeReport, Error> {
    check_complete_under(s, SendQueue::ProgramOrder)
}

/// [`check_complete`] with another order of messages.
///
/// # Errors
/// As [`check_complete`].
pub fn check_complete_under(s: &Schedule, queue: SendQueue) -> Result<ExchangeReport, Error> {
    check_form(s)?;
    if !s.is_made() {
        match_messages(s)?;
    }
    run(s, queue)?;
    let mut report = ExchangeReport {
        ranks: s.ranks(),
        messages: 0,
        flits: 0,
        longest_flits: 0,
        shortest_flits: u64::MAX,
        phases: 0,
    };
    for message in s.messages() {
        report.messages += 1;
        report.flits += message.size;
        report.longest_flits = report.longest_flits.max(message.size);
        report.shortest_flits = report.shortest_flits.min(message.size);
        report.phases = report.phases.max(message.step + 1);
    }
    if report.messages == 0 {
        report.shortest_flits = 0;
    }
    Ok(report)
}

/// Runs a schedule on a network that takes no time; returns the most operations that were in memory at the end of a
/// round.
fn run(s: &Schedule, queue: SendQueue) -> Result<usize, Error> {
    let mut hosts = Hosts::unchecked(s, &Placement::one_each(s.ranks()), queue);
    let mut due: Due = Due::all(s.ranks());
    let (mut now, mut visits, mut most) = (0, 0u64, 0);
    loop {
        // Ranks in turn, one message each: so they stay together, and little waits for receives.
        while let Some(rank) = due.pop() {
            hosts.advance(rank, now);
            if let Some(message) = hosts.take(rank) {
                due.push(rank);
                hosts.sent(message.id);
                if let Some(woken) = hosts.arrived_whole(message.id, now) {
                    due.push(woken);
                }
                hosts.begin_cycle(now, |woken| due.push(woken));
            }
            visits += 1;
            if visits.is_multiple_of(u64::from(s.ranks())) {
                most = most.max(hosts.live_operations());
            }
        }
        let Some(end) = hosts.next_compute_end() else { break };
        now = end;
        hosts.begin_cycle(now, |woken| due.push(woken));
    }
    if hosts.is_complete() { Ok(most) } else { Err(fault(s, hosts.why_stuck())) }
}

/// Ranks to be visited, each once.
struct Due {
    queue: VecDeque<u32>,
    is_in: Vec<bool>,
}

impl Due {
    fn all(ranks: u32) -> Self {
        Due { queue: (0..ranks).collect(), is_in: vec![true; ranks as usize] }
    }

    fn push(&mut self, rank: u32) {
        if !std::mem::replace(&mut self.is_in[rank as usize], true) {
            self.queue.push_back(rank);
        }
    }

    fn pop(&mut self) -> Option<u32> {
        let rank = self.queue.pop_front()?;
        self.is_in[rank as usize] = false;
        Some(rank)
    }
}

#[cfg(test)]
mod tests;
