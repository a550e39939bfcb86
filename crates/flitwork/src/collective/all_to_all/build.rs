//! From an order of relative destinations to a schedule.

use super::{AllToAllOptions, Order, Sync};
use crate::schedule::{OpId, OpKind, Schedule, ScheduleBuilder};
use crate::topology::{Grid, MAX_DIMS};

/// The schedule in which every rank addresses the others in the given order.
///
/// Under [`Sync::Local`] a [`OpKind::Wait`] stands before each group of `controllers` sends but the first; it depends on the
/// receives of the messages that belong to the group before. Why that is the rule as stated (message `m` needs all messages
/// to this rank with an index below `c * floor(m / c)`): the program runs past a wait only when it has run past all earlier
/// ones, so the receives that a send has behind it are those of all earlier groups, that is all of index below the first
/// of its own group, `c * floor(m / c)`. And the sends of a group do not hold each other up, as all are queued at once when
/// the wait is over. Message `m` of this rank goes by the vector of index `m`, and exactly one message of each index arrives.
///
/// Under [`Sync::LocalSliding`] a wait for the receive of index `m - controllers` stands before each send `m` that has one.
pub fn schedule(name: &str, grid: &Grid, order: &Order, options: &AllToAllOptions) -> Schedule {
    let flits = options.message_flits;
    let mut builder = ScheduleBuilder::new(name);
    let mut receives: Vec<OpId> = Vec::new();
    for rank in 0..grid.routers() {
        receives.clear();
        for (phase, from) in peers(grid, order, rank, Side::Source).enumerate() {
            let receive = OpKind::Receive { from, flits, tag: 0 };
            receives.push(builder.op(receive, phase as u32, &[]));
        }
        let group = options.controllers as usize;
        for (phase, to) in peers(grid, order, rank, Side::Destination).enumerate() {
            let awaited = match options.sync {
                Sync::Local if phase > 0 && phase % group == 0 => phase - group..phase,
                Sync::LocalSliding if phase >= group => phase - group..phase - group + 1,
                _ => 0..0,
            };
            if !awaited.is_empty() {
                builder.op(OpKind::Wait, phase as u32, &receives[awaited]);
            }
            builder.op(OpKind::Send { to, flits, tag: 0 }, phase as u32, &[]);
        }
        builder.end_rank();
    }
    builder.build()
}

/// Which end of a message is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Source,
    Destination,
}

/// The ranks to which `rank` sends, or from which it receives, the messages of index 0, 1, ...
fn peers<'a>(grid: &'a Grid, order: &'a Order, rank: u32, side: Side) -> Box<dyn Iterator<Item = u32> + 'a> {
    let sign = if side == Side::Destination { 1 } else { -1 };
    match order {
        Order::Ranks(offsets) => {
            let ranks = i64::from(grid.routers());
            Box::new(offsets.iter().map(move |&o| (i64::from(rank) + sign * i64::from(o)).rem_euclid(ranks) as u32))
        }
        Order::Coordinates(offsets) => {
            let own = grid.coords(rank);
            Box::new(offsets.iter().map(move |v| {
                let mut at = [0; MAX_DIMS];
                for d in 0..grid.dims() {
                    let moved = i64::from(own[d]) + sign * i64::from(v[d]);
                    at[d] = moved.rem_euclid(i64::from(grid.size(d))) as u32;
                }
                grid.id(&at)
            }))
        }
    }
}
