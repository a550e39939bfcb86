//! The barrier tree as an outlet: notifications of barriers, in program order. They wait for no turn and for no other
//! rank.

use super::super::places::Places;
use super::super::queue::Queue;
use super::super::ranks::{Hosts, Message};
use super::{Outlet, terminals_in};
use crate::schedule::{SendQueue, Via};

#[derive(Debug)]
pub(in super::super) struct BarrierTreeOutlet {
    queues: Vec<Queue>,
    /// Ranks that may have a notification to send.
    ready: Vec<u32>,
}

impl BarrierTreeOutlet {
    /// Looks at the ranks of the terminals of `woken`.
    pub(super) fn look(&mut self, woken: &[u64], places: &Places) {
        for terminal in terminals_in(woken) {
            let ranks = places.ranks_at(terminal).iter();
            self.ready.extend(ranks.filter(|&&rank| self.queues[rank as usize].next().is_some()));
        }
    }
}

impl Outlet for BarrierTreeOutlet {
    fn accepts(&self, via: Via, _within_terminal: bool) -> bool {
        via.is_tree()
    }

    fn queue(&self, rank: u32) -> &Queue {
        &self.queues[rank as usize]
    }

    fn queue_mut(&mut self, rank: u32) -> &mut Queue {
        &mut self.queues[rank as usize]
    }
}

impl Hosts {
    /// From now on there is a barrier tree.
    pub fn use_barrier_tree(&mut self) {
        let queues = (0..self.ranks()).map(|_| Queue::new(SendQueue::ProgramOrder)).collect();
        let tree = BarrierTreeOutlet { queues, ready: Vec::new() };
        self.take_from_network(|via, within| tree.accepts(via, within));
        self.outlets.barrier_tree = Some(Box::new(tree));
    }

    /// Whether there is a barrier tree.
    pub fn has_barrier_tree(&self) -> bool {
        self.outlets.barrier_tree.is_some()
    }

    /// Takes all notifications that may start now, of ranks in ascending order; each with the terminal that it goes
    /// from.
    pub fn take_notifications(&mut self, taken: &mut Vec<(u32, Message)>) {
        let Some(tree) = &mut self.outlets.barrier_tree else { return };
        let mut ranks = std::mem::take(&mut tree.ready);
        ranks.sort_unstable();
        for rank in ranks.drain(..) {
            while let Some(unsent) = self.outlets.barrier_tree.as_mut().and_then(|tree| tree.queue_mut(rank).take()) {
                let message = self.start_message(rank, unsent);
                taken.push((self.terminal_of(rank), message));
            }
        }
        if let Some(tree) = &mut self.outlets.barrier_tree {
            tree.ready = ranks;
        }
    }
}
