//! Outlets: the four ways by which messages leave their ranks.
//!
//! A machine has the [`network`], which the NICs of the terminals send by. As far as its specification says so it also
//! has a memory in each terminal that copies messages between the ranks there ([`copy`]), a [`bus`] and a
//! [`barrier_tree`]. All four are used in one way. An outlet has a send queue for each rank. A message that a program
//! passes joins the queue of the outlet that *accepts* it: the last of [`Outlets::all`] that does, as the network
//! accepts every message. It *may start* when it is the next of its queue and all that it depends on is complete; it
//! starts when the outlet takes it ([`Hosts::start_message`]), and is in flight from then on. Who carries an outlet
//! says when the last flit has left and when it has arrived: the network, the bus and the tree of `kernel/` call
//! [`Hosts::sent`] and [`Hosts::arrived`]; copies end by their own timers. The trait [`Outlet`] has the questions that
//! the rest of the hosts asks of each kind: what it accepts, what is pending, when something is due, whether it is
//! idle. What waits in its queues is what a report of ranks that are stuck names.

mod barrier_tree;
mod bus;
mod copy;
mod network;

pub(crate) use bus::BusMessage;
pub(super) use network::NetworkOutlet;

use super::queue::{Queue, Unsent};
use super::ranks::{Hosts, Message};
use crate::schedule::{OpId, Via};
use barrier_tree::BarrierTreeOutlet;
use bus::BusOutlet;
use copy::CopyOutlet;

/// A way out of the ranks.
pub(super) trait Outlet {
    /// Whether messages that go `via` leave by it; `within_terminal`: between ranks of one terminal.
    fn accepts(&self, via: Via, within_terminal: bool) -> bool;

    /// The send queue of a rank.
    fn queue(&self, rank: u32) -> &Queue;

    /// The send queue of a rank, to be changed.
    fn queue_mut(&mut self, rank: u32) -> &mut Queue;

    /// A message joins the queue of its rank.
    fn join(&mut self, rank: u32, message: Unsent) {
        self.queue_mut(rank).join(message);
    }

    /// Whether a rank has something that may start, or go on.
    fn may_start(&self, rank: u32) -> bool {
        self.queue(rank).next().is_some()
    }

    /// The next cycle in which something is due, as far as the outlet has timers.
    fn next_cycle(&self) -> Option<u64> {
        None
    }

    /// Whether nothing goes on but what its queues hold.
    fn is_idle(&self) -> bool {
        true
    }
}

/// The outlets of a machine.
#[derive(Debug)]
pub(super) struct Outlets {
    pub network: NetworkOutlet,
    pub copies: Option<Box<CopyOutlet>>,
    pub bus: Option<Box<BusOutlet>>,
    pub barrier_tree: Option<Box<BarrierTreeOutlet>>,
}

impl Outlets {
    /// A machine with a network alone.
    pub fn new(network: NetworkOutlet) -> Self {
        Outlets { network, copies: None, bus: None, barrier_tree: None }
    }

    /// All outlets, the network first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &dyn Outlet> {
        let copies = self.copies.as_deref().map(|outlet| outlet as &dyn Outlet);
        let bus = self.bus.as_deref().map(|outlet| outlet as &dyn Outlet);
        let tree = self.barrier_tree.as_deref().map(|outlet| outlet as &dyn Outlet);
        [Some(&self.network as &dyn Outlet), copies, bus, tree].into_iter().flatten()
    }

    fn beside_network(&mut self) -> impl Iterator<Item = &mut dyn Outlet> {
        let copies = self.copies.as_deref_mut().map(|outlet| outlet as &mut dyn Outlet);
        let bus = self.bus.as_deref_mut().map(|outlet| outlet as &mut dyn Outlet);
        let tree = self.barrier_tree.as_deref_mut().map(|outlet| outlet as &mut dyn Outlet);
        [copies, bus, tree].into_iter().flatten()
    }

    /// A message joins the queue of the outlet that accepts it.
    #[inline]
    pub fn join(&mut self, rank: u32, message: Unsent, within_terminal: bool) {
        let via = message.envelope.via;
        if let Some(outlet) = self.beside_network().find(|outlet| outlet.accepts(via, within_terminal)) {
            outlet.join(rank, message);
        } else {
            self.network.join(rank, message);
        }
    }

    /// A message of a rank need not wait any more, if the operation is one.
    #[inline]
    pub fn release(&mut self, rank: u32, op: OpId, now: u64) {
        self.network.queue_mut(rank).release(op, now);
        self.beside_network().for_each(|outlet| outlet.queue_mut(rank).release(op, now));
    }

    /// Whether a rank has messages that have not started.
    pub fn has_unsent(&self, rank: u32) -> bool {
        self.all().any(|outlet| !outlet.queue(rank).is_empty())
    }

    /// The first message of a rank that waits in a queue.
    pub fn first_waiting(&self, rank: u32) -> Option<OpId> {
        self.all().find_map(|outlet| outlet.queue(rank).first_waiting())
    }
}

impl Hosts {
    /// An outlet was added: what it accepts does not leave by the network, whose injection ports wait for the other
    /// messages alone.
    fn take_from_network(&mut self, accepts: impl Fn(Via, bool) -> bool) {
        for message in self.schedule.messages() {
            let within_terminal = self.terminal_of(message.from) == self.terminal_of(message.to);
            if accepts(message.via, within_terminal) {
                self.outlets.network.drop_expected(message.from);
            }
        }
        // A program must not wait for the next message of one queue before it fills the other one.
        self.reads_late = false;
    }

    /// Step 2b: outlets look at the ranks of the terminals of `woken`, and begin what they can begin by themselves.
    #[inline]
    pub fn visit_outlets(&mut self, woken: &[u64], now: u64) {
        if self.outlets.copies.is_some() || self.outlets.network.memory.is_some() {
            self.use_memory(woken, now);
        }
        let Hosts { outlets, places, .. } = self;
        if let Some(bus) = &mut outlets.bus {
            bus.look(woken, places);
        }
        if let Some(tree) = &mut outlets.barrier_tree {
            tree.look(woken, places);
        }
    }

    /// A message of a rank starts; as the carrier of its outlet takes it.
    fn start_message(&mut self, rank: u32, unsent: Unsent) -> Message {
        let Unsent { to, number, step, flits, .. } = unsent;
        let id = self.leaves(rank, unsent);
        Message { id, number, to: self.terminal_of(to), flits, step, pair: (rank, to), read_from: 0 }
    }
}

/// The terminals of a set with a bit for each.
fn terminals_in(set: &[u64]) -> impl Iterator<Item = u32> + '_ {
    set.iter().enumerate().flat_map(|(word, &bits)| {
        let mut left = bits;
        std::iter::from_fn(move || {
            let terminal = (left != 0).then(|| word as u32 * 64 + left.trailing_zeros());
            left &= left.wrapping_sub(1);
            terminal
        })
    })
}
