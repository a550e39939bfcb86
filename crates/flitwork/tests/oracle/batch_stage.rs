//! A stage of several cycles that is not pipelined, as a queue.

use std::collections::VecDeque;

/// What is in the stage and what waits in front of it, in the sequence in which it came.
pub(super) struct BatchStage<T> {
    cycles: u64,
    queue: VecDeque<Entry<T>>,
}

struct Entry<T> {
    what: T,
    /// First cycle in which it may enter.
    ready: u64,
    /// The last cycle that it spends in the stage, once it is inside.
    last: Option<u64>,
}

impl<T> BatchStage<T> {
    /// None where the stage is pipelined, or too short to make a difference.
    pub fn new(cycles: u32, pipelined: bool) -> Option<Self> {
        (cycles > 1 && !pipelined).then(|| BatchStage { cycles: cycles.into(), queue: VecDeque::new() })
    }

    pub fn push(&mut self, what: T, ready: u64) {
        self.queue.push_back(Entry { what, ready, last: None });
    }

    /// The start of a cycle: all that waits enters, unless something is inside.
    pub fn begin(&mut self, now: u64) {
        if self.queue.iter().all(|entry| entry.last.is_none()) {
            for entry in &mut self.queue {
                assert!(entry.ready <= now, "nothing is pushed further ahead than the next cycle");
                entry.last = Some(now + self.cycles - 1);
            }
        }
    }

    /// What leaves at the end of this cycle.
    pub fn ending(&self, now: u64) -> impl Iterator<Item = &T> {
        self.queue.iter().filter(move |entry| entry.last == Some(now)).map(|entry| &entry.what)
    }

    /// The end of a cycle: what leaves.
    pub fn finish(&mut self, now: u64) -> Vec<T> {
        let mut left = Vec::new();
        while self.queue.front().is_some_and(|entry| entry.last == Some(now)) {
            left.extend(self.queue.pop_front().map(|entry| entry.what));
        }
        left
    }

    pub fn len(&self) -> usize {
        self.queue.len()
    }
}
