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
        let (timetable, grid) = (self.timetable.clone(), self.grid.clone());
        let coords = grid.coords(rank);
        let arrives = {
            let timetable = timetable.clone();
            move |entry: &Entry| {
                let from = timetable.other_end(entry, &coords, true);
                timetable.start_at(entry, &from) + entry.way_cycles(timetable.hop_cycles)
            }
        };
        // Numbers of entries: large networks have as many lists as nodes.
        let mut sends: Vec<u32> = (0..timetable.entries.len() as u32).collect();
        let mut receives = sends.clone();
        sends.sort_by_cached_key(|&e| timetable.start_at(&timetable.entries[e as usize], &coords));
        receives.sort_by_cached_key(|&e| arrives(&timetable.entries[e as usize]));
        let (sends, receives): (Arc<[u32]>, Arc<[u32]>) = (sends.into(), receives.into());
        let (blocks, block) = (timetable.blocks(self.message_flits), u64::from(timetable.block_flits));
        let message_flits = self.message_flits;
        Box::new((0..blocks).flat_map(move |n| {
            let (tag, step) = (n as u32, n as u32);
            let size = block.min(message_flits - n * block);
            let (timetable, grid) = (timetable.clone(), grid.clone());
            let (sends, receives, arrives) = (sends.clone(), receives.clone(), arrives.clone());
            let (mut sent, mut posted) = (0, 0);
            let mut waits = true;
            std::iter::from_fn(move || {
                let next = sends.get(sent).map(|&e| &timetable.entries[e as usize]);
                let start = next.map_or(u64::MAX, |entry| timetable.start_at(entry, &coords));
                let kind = match (receives.get(posted).map(|&e| &timetable.entries[e as usize]), next) {
                    (Some(entry), _) if waits && arrives(entry) <= start => {
                        posted += 1;
                        let from = grid.id(&timetable.other_end(entry, &coords, true));
                        OpKind::Receive { from, size, tag }
                    }
                    (_, Some(_)) if std::mem::replace(&mut waits, false) => {
                        OpKind::WaitUntil { time: n * timetable.period_cycles + start }
                    }
                    (_, Some(entry)) => {
                        (sent, waits) = (sent + 1, true);
                        OpKind::Send { to: grid.id(&timetable.other_end(entry, &coords, false)), size, tag }
                    }
                    (_, None) => return None,
                };
                Some(Operation { kind, via: Via::Network, step, after: After::NOTHING })
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
