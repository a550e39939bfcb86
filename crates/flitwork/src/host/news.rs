//! News that goes over the barrier tree: each rank has a send queue of its own for it, in program order, and nobody waits for a turn.

use super::queue::Queue;
use super::ranks::{Hosts, Message, Rank};
use crate::schedule::SendQueue;

impl Hosts {
    /// From now on there is a barrier tree.
    pub fn use_barrier_tree(&mut self) {
        for message in self.schedule.messages().filter(|message| message.via.is_tree()) {
            let unsent = &mut self.ranks[message.from as usize].unsent;
            *unsent = unsent.saturating_sub(1);
        }
        for rank in &mut self.ranks {
            rank.on_tree = Some(Box::new(Queue::new(SendQueue::ProgramOrder)));
        }
        // A program must not wait for the next message of one queue before it fills the other one.
        self.reads_late = false;
        self.has_tree = true;
    }

    /// Whether there is one.
    pub fn has_barrier_tree(&self) -> bool {
        self.has_tree
    }

    /// Step 2b: ranks of the terminals of `woken` may have news.
    pub fn look_at_tree(&mut self, woken: &[u64]) {
        for (word, &woken) in woken.iter().enumerate() {
            let mut left = woken;
            while left != 0 {
                let terminal = word as u32 * 64 + left.trailing_zeros();
                for at in 0..self.ranks_at(terminal).len() {
                    let rank = self.ranks_at(terminal)[at];
                    if self.ranks[rank as usize].next_on_tree() {
                        self.with_news.push(rank);
                    }
                }
                left &= left - 1;
            }
        }
    }

    /// Takes all news that may start now, of ranks in ascending order; each with the terminal that it goes from.
    pub fn take_news(&mut self, taken: &mut Vec<(u32, Message)>) {
        let mut ranks = std::mem::take(&mut self.with_news);
        ranks.sort_unstable();
        for r in ranks.drain(..) {
            loop {
                let rank = &mut self.ranks[r as usize];
                let Some(unsent) = rank.on_tree.as_mut().and_then(|queue| queue.take()) else { break };
                let id = self.leaves(r, unsent);
                let message = Message {
                    id,
                    number: unsent.number,
                    to: self.terminal_of(unsent.to),
                    flits: unsent.flits,
                    step: unsent.step,
                    pair: (r, unsent.to),
                    read_from: 0,
                };
                taken.push((self.terminal_of(r), message));
            }
        }
        self.with_news = ranks;
    }
}

impl Rank {
    /// Whether it has news that may start.
    pub(super) fn next_on_tree(&self) -> bool {
        self.on_tree.as_ref().is_some_and(|queue| queue.next().is_some())
    }
}
