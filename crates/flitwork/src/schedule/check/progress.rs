//! Can every rank finish? The schedule is run on a network that takes no time.

use super::{OpKind, Schedule, fault, name};
use crate::error::Error;
use crate::schedule::OpId;

/// Runs the schedule with messages that arrive at once; an error names the ranks that never finish and what they wait for.
///
/// What a rank may do next depends only on which operations are complete, and nothing that is complete is ever undone, so
/// the outcome does not depend on the order in which ranks are visited, and a network that takes time (with buffers that do
/// not fill up for ever) ends in the same state. The same holds for the number of controllers: the head of the send queue
/// either may leave or holds up the rest.
///
/// `partner` is what [`super::match_messages`] returned. Time is proportional to operations plus dependencies.
pub fn check_progress(s: &Schedule, partner: &[OpId]) -> Result<(), Error> {
    let mut run = Run::new(s);
    // Ranks to visit; in the beginning all of them.
    let mut due: Vec<u32> = (0..s.ranks()).rev().collect();
    while let Some(rank) = due.pop() {
        run.visit(rank, partner, &mut due);
    }
    let stuck: Vec<u32> = (0..s.ranks()).filter(|&r| !run.finished(r)).collect();
    let Some(&first) = stuck.first() else { return Ok(()) };
    let list: Vec<String> = stuck.iter().take(8).map(u32::to_string).collect();
    let more = if stuck.len() > 8 { ", ..." } else { "" };
    let counts = format!("{} of {} ranks cannot finish ({}{more})", stuck.len(), s.ranks(), list.join(", "));
    Err(fault(s, format!("{counts}: {}", run.reason(first))))
}

/// Where one rank stands.
#[derive(Clone, Copy)]
struct RankState {
    /// Next operation of the program.
    program: OpId,
    /// First operation that is not known to be behind the send queue's head; sends before `program` are in the queue.
    queue: OpId,
    /// Dependencies of the operation at `program` that are known to be complete.
    program_met: u32,
    /// Dependencies of the operation at `queue` that are known to be complete.
    queue_met: u32,
}

struct Run<'a> {
    s: &'a Schedule,
    ranks: Vec<RankState>,
    complete: Vec<bool>,
}

impl<'a> Run<'a> {
    fn new(s: &'a Schedule) -> Self {
        let start = |&at: &u32| RankState { program: at, queue: at, program_met: 0, queue_met: 0 };
        let ranks = s.rank_start[..s.ranks() as usize].iter().map(start).collect();
        Run { s, ranks, complete: vec![false; s.ops.len()] }
    }

    /// Takes `rank` as far as it can go; puts ranks that were waiting for what it did on the list.
    fn visit(&mut self, rank: u32, partner: &[OpId], due: &mut Vec<u32>) {
        loop {
            let before = (self.ranks[rank as usize].program, self.ranks[rank as usize].queue);
            self.run_program(rank);
            self.run_queue(rank, partner, due);
            if before == (self.ranks[rank as usize].program, self.ranks[rank as usize].queue) {
                return;
            }
        }
    }

    /// Walks the program up to the first operation that blocks it.
    fn run_program(&mut self, rank: u32) {
        let end = self.s.rank_start[rank as usize + 1];
        let mut at = self.ranks[rank as usize];
        while at.program < end {
            if matches!(self.s.ops[at.program as usize].kind, OpKind::Compute { .. } | OpKind::Wait) {
                if !met(self.s, &self.complete, at.program, &mut at.program_met) {
                    break;
                }
                self.complete[at.program as usize] = true;
            }
            at.program += 1;
            at.program_met = 0;
        }
        self.ranks[rank as usize] = at;
    }

    /// Delivers the messages of the send queue up to the first that has to wait.
    fn run_queue(&mut self, rank: u32, partner: &[OpId], due: &mut Vec<u32>) {
        let mut at = self.ranks[rank as usize];
        while at.queue < at.program {
            if let OpKind::Send { to, .. } = self.s.ops[at.queue as usize].kind {
                if !met(self.s, &self.complete, at.queue, &mut at.queue_met) {
                    break;
                }
                self.complete[at.queue as usize] = true;
                let taken = partner[at.queue as usize];
                self.complete[taken as usize] = true;
                if to != rank && self.is_waiting_for(to, taken) {
                    due.push(to);
                }
            }
            at.queue += 1;
            at.queue_met = 0;
        }
        self.ranks[rank as usize] = at;
    }

    /// Whether the first unmet dependency of something that blocks `rank` is `op`.
    fn is_waiting_for(&self, rank: u32, op: OpId) -> bool {
        let at = &self.ranks[rank as usize];
        let end = self.s.rank_start[rank as usize + 1];
        let next = |i: OpId, done: u32| i < end && self.s.deps_of(i).get(done as usize) == Some(&op);
        next(at.program, at.program_met) || next(at.queue, at.queue_met)
    }

    fn finished(&self, rank: u32) -> bool {
        let end = self.s.rank_start[rank as usize + 1];
        self.ranks[rank as usize].queue == end && self.s.ops_of(rank).all(|i| self.complete[i as usize])
    }

    /// What the rank waits for, in words.
    fn reason(&self, rank: u32) -> String {
        let at = &self.ranks[rank as usize];
        let end = self.s.rank_start[rank as usize + 1];
        let blocked = if at.queue < at.program { at.queue } else { at.program };
        let unmet = (blocked < end)
            .then(|| self.s.deps_of(blocked).iter().find(|&&d| !self.complete[d as usize]))
            .flatten()
            .copied();
        match unmet {
            Some(dep) => format!("{} waits for {}", name(self.s, rank, blocked), name(self.s, rank, dep)),
            None => {
                let open = self.s.ops_of(rank).find(|&i| !self.complete[i as usize]);
                open.map_or_else(String::new, |i| format!("{} never completes", name(self.s, rank, i)))
            }
        }
    }
}

/// Whether all dependencies of `op` are complete; `done` counts those found complete so far, so that none is read twice.
fn met(s: &Schedule, complete: &[bool], op: OpId, done: &mut u32) -> bool {
    let deps = s.deps_of(op);
    while (*done as usize) < deps.len() && complete[deps[*done as usize] as usize] {
        *done += 1;
    }
    *done as usize == deps.len()
}
