//! What takes effect at the start of a later cycle: sends, receives, computations.

use super::requests::Completion;
use crate::schedule::OpId;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

#[derive(Debug)]
pub(super) struct Due {
    /// Sends whose last flit left, synchronous ones that were received, in the previous cycle: (rank, operation).
    pub just_sent: Vec<(u32, OpId)>,
    /// Running computations, polls and tasks: (end, rank, operation).
    pub computing: BinaryHeap<Reverse<(u64, u32, OpId)>>,
    /// Whether receives may leave their sender open: then messages of one cycle are received in the order of the model.
    pub in_order: bool,
    /// Messages that have arrived in this cycle, where that is so.
    pub landed: Vec<u32>,
    /// Whether a receive counts from the cycle after its message arrived.
    pub late: bool,
    /// Receives that completed in this cycle or the one before and count a cycle later, with the cycle; only if `late`.
    pub late_receives: VecDeque<(u64, Completion)>,
    /// What has completed since the last call of [`super::Hosts::take_completions`], where that is noted.
    pub noted: Option<Vec<Completion>>,
}

impl Due {
    pub fn new(ranks: usize, in_order: bool) -> Self {
        Due {
            just_sent: Vec::with_capacity(ranks),
            computing: BinaryHeap::new(),
            in_order,
            landed: Vec::new(),
            late: false,
            late_receives: VecDeque::new(),
            noted: None,
        }
    }

    /// An operation of a rank ends in cycle `end`.
    pub fn ends(&mut self, end: u64, rank: u32, op: OpId) {
        self.computing.push(Reverse((end, rank, op)));
    }

    /// The end of the first computation.
    pub fn next_end(&self) -> Option<u64> {
        self.computing.peek().map(|Reverse((end, ..))| *end)
    }

    /// Takes a computation that ends by cycle `now`, if there is one.
    pub fn take_ended(&mut self, now: u64) -> Option<(u32, OpId)> {
        self.next_end().filter(|&end| end <= now)?;
        self.computing.pop().map(|Reverse((_, rank, op))| (rank, op))
    }

    /// Takes a receive that was put off in an earlier cycle, if there is one.
    pub fn take_late_receive(&mut self, now: u64) -> Option<Completion> {
        self.late_receives.front().filter(|&&(arrived, _)| arrived != now)?;
        self.late_receives.pop_front().map(|(_, receive)| Completion { cycle: now, ..receive })
    }

    /// Whether what happened in this cycle takes effect in the next one.
    pub fn has_pending(&self) -> bool {
        !self.just_sent.is_empty() || !self.landed.is_empty() || !self.late_receives.is_empty()
    }
}
