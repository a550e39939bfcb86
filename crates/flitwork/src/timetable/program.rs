//! The schedule of a timetable: every rank waits for each of its times and sends.

use super::{Entry, Timetable};
use crate::schedule::{After, Maker, OpKind, Operation, Operations, Promises, Schedule, Via};
use crate::topology::{Coords, Grid};
use std::sync::Arc;

impl Timetable {
    /// The schedule in which each rank sends a message of so many flits to every other one, block by block; rank and
    /// node have the same number. A block is a message with the number of its period as tag, which is its step, too. A
    /// receive is posted in front of the first send that starts when its block has arrived, or later. Times count from
    /// the start of the schedule.
    ///
    /// The timetable has been checked ([`Timetable::check`]). Operations are made as they are needed.
    pub fn schedule(self: &Arc<Self>, message_flits: u64) -> Schedule {
        let program = Program { timetable: self.clone(), grid: self.grid(), message_flits: message_flits.max(1) };
        Schedule::made("timetable", self.grid().routers(), program)
    }

    /// The node to which `entry` goes from `coords`, or from which it comes if `back`.
    fn other_end(&self, entry: &Entry, coords: &Coords, back: bool) -> Coords {
        let mut other = *coords;
        for (d, &k) in self.sizes.iter().enumerate() {
            let step = if back { -entry.vector[d] } else { entry.vector[d] };
            other[d] = (coords[d] as i32 + step).rem_euclid(k as i32) as u32;
        }
        other
    }
}

#[derive(Debug)]
struct Program {
    timetable: Arc<Timetable>,
    grid: Grid,
    message_flits: u64,
}

impl Maker for Program {
    fn operations(&self, rank: u32) -> Operations<'static> {
        let (timetable, grid) = (self.timetable.clone(), &self.grid);
        let coords = grid.coords(rank);
        let end = |entry: &Entry, back| grid.id(&timetable.other_end(entry, &coords, back));
        let mut sends: Vec<(u64, u32)> =
            timetable.entries.iter().map(|e| (timetable.start_at(e, &coords), end(e, false))).collect();
        sends.sort_unstable();
        let mut receives: Vec<(u64, u32)> = timetable
            .entries
            .iter()
            .map(|e| {
                let from = timetable.other_end(e, &coords, true);
                (timetable.start_at(e, &from) + u64::from(e.hops() * timetable.hop_cycles), grid.id(&from))
            })
            .collect();
        receives.sort_unstable();
        // How many receives are posted before each send is waited for.
        let due: Arc<[usize]> =
            sends.iter().map(|&(start, _)| receives.partition_point(|&(arrives, _)| arrives <= start)).collect();
        let (blocks, block) = (timetable.blocks(self.message_flits), u64::from(timetable.block_flits));
        let (message_flits, period) = (self.message_flits, timetable.period_cycles);
        let (sends, receives): (Arc<[_]>, Arc<[_]>) = (sends.into(), receives.into());
        Box::new((0..blocks).flat_map(move |n| {
            let (tag, step) = (n as u32, n as u32);
            let size = block.min(message_flits - n * block);
            let own = move |kind| Operation { kind, via: Via::Network, step, after: After::NOTHING };
            let (sends, receives, due) = (sends.clone(), receives.clone(), due.clone());
            let post = move |i: usize| own(OpKind::Receive { from: receives[i].1, size, tag });
            let all = sends.len();
            (0..=all).flat_map(move |i| {
                let posted = if i == 0 { 0 } else { due[i - 1] };
                let until = if i == all { all } else { due[i] };
                let send = sends.get(i).map(|&(start, to)| {
                    let time = n * period + start;
                    [own(OpKind::WaitUntil { time }), own(OpKind::Send { to, size, tag })]
                });
                (posted..until).map(post.clone()).chain(send.into_iter().flatten())
            })
        }))
    }

    fn messages(&self, _rank: u32) -> u64 {
        self.timetable.blocks(self.message_flits) * self.timetable.entries.len() as u64
    }

    fn promises(&self) -> Promises {
        Promises { never_computes: false, names_all: true, alike: true }
    }
}
