//! From an order of relative destinations to a schedule, made rank by rank when it is needed.

use super::{AllToAllOptions, Sync};
use crate::schedule::{After, Maker, OpKind, Operation, Operations, Promises, Schedule, Via};
use flitwork_steps::Destinations;
use std::sync::Arc;

/// The schedule in which every rank addresses the others in the given order.
///
/// A rank goes by groups of `injection ports` messages: it posts the receives of a group, then, under [`Sync::Local`],
/// waits for those of the group before, then sends. Why that is the rule as stated (message `m` needs all messages to
/// this rank with an index below `c * floor(m / c)`): the program runs past a wait only when it has run past all
/// earlier ones, so the receives that a send has behind it are those of all earlier groups, that is all of index below
/// the first of its own group, `c * floor(m / c)`. And the sends of a group do not hold each other up, as all are
/// queued at once when the wait is over. Message `m` of this rank goes by the vector of index `m`, and exactly one
/// message of each index arrives.
///
/// Under [`Sync::LocalSliding`] a wait for the receive of index `m - injection ports` stands before each send `m` that
/// has one; a group is one message.
///
/// It makes no difference to time that receives are not posted all at once in the beginning: nothing waits for them but
/// the waits behind them, and a message that came before its receive completes it when it is posted.
pub fn schedule(name: &str, destinations: Destinations, options: &AllToAllOptions) -> Schedule {
    let ranks = destinations.ranks();
    Schedule::made(name, ranks, Exchange { destinations: Arc::new(destinations), options: *options })
}

#[derive(Debug)]
struct Exchange {
    destinations: Arc<Destinations>,
    options: AllToAllOptions,
}

impl Maker for Exchange {
    fn operations(&self, rank: u32) -> Operations<'static> {
        let peers = Arc::clone(&self.destinations);
        let messages = peers.count() as u32;
        let AllToAllOptions { message_flits: size, sync, nic_ports } = self.options;
        let group = if sync == Sync::Local { nic_ports } else { 1 };
        let beats = (0..messages.div_ceil(group)).map(move |g| Beat::new(g, group, messages, sync, nic_ports));
        Box::new(beats.flat_map(move |beat| {
            let (sources, destinations) = (Arc::clone(&peers), Arc::clone(&peers));
            let receives = beat.clone().steps().map(move |step| {
                let kind = OpKind::Receive { from: sources.from(rank, step), size, tag: 0 };
                Operation { kind, via: Via::Network, step, after: After::NOTHING }
            });
            let wait = beat.awaited.clone().map(|awaited| {
                let after = After::Range(awaited);
                Operation { kind: OpKind::Wait, via: Via::Network, step: beat.first, after }
            });
            let sends = beat.steps().map(move |step| {
                let kind = OpKind::Send { to: destinations.to(rank, step), size, tag: 0 };
                Operation { kind, via: Via::Network, step, after: After::NOTHING }
            });
            receives.chain(wait).chain(sends)
        }))
    }

    fn messages(&self, _rank: u32) -> u64 {
        self.destinations.count() as u64
    }

    fn promises(&self) -> Promises {
        Promises { never_computes: true, names_all: true, alike: true }
    }
}

/// The operations of one group of messages.
#[derive(Debug, Clone)]
struct Beat {
    /// Index of its first message, and of the one behind its last.
    first: u32,
    end: u32,
    /// The receives, by their numbers in the program, that its sends wait for.
    awaited: Option<std::ops::Range<u32>>,
}

impl Beat {
    /// Group number `g` of groups of `group` messages.
    fn new(g: u32, group: u32, messages: u32, sync: Sync, nic_ports: u32) -> Self {
        let (first, end) = (g * group, ((g + 1) * group).min(messages));
        // Where the receives of a group stand: behind as many receives and sends as there are messages before, and the
        // waits.
        let receives = |g: u32, waits: u32| {
            let start = 2 * g * group + waits;
            start..start + group
        };
        let awaited = match sync {
            // All groups but the first have a wait.
            Sync::Local if g > 0 => Some(receives(g - 1, (g - 1).saturating_sub(1))),
            // The message is its group; those from `injection ports` on have a wait.
            Sync::LocalSliding if g >= nic_ports => {
                let awaited = g - nic_ports;
                Some(receives(awaited, awaited.saturating_sub(nic_ports)))
            }
            _ => None,
        };
        Beat { first, end, awaited }
    }

    fn steps(&self) -> std::ops::Range<u32> {
        self.first..self.end
    }
}
