//! The schedules of timetables: every rank waits for each of its times and sends.

use super::pairs::{PairTimetable, Routes, pairs};
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
    /// The first period begins in cycle `begin_cycles`. The timetable has been checked ([`Timetable::check`]).
    /// Operations are made as they are needed.
    pub fn schedule(self: &Arc<Self>, message_flits: u64, begin_cycles: u64) -> Schedule {
        let messages = Messages { flits: message_flits.max(1), begin_cycles };
        let program = Program { timetable: self.clone(), grid: self.grid(), messages };
        Schedule::made("timetable", self.grid().routers(), program)
    }

    /// To whom a node sends, in the order of its times.
    pub fn destinations(self: &Arc<Self>, node: u32) -> Vec<u32> {
        let grid = self.grid();
        let coords = grid.coords(node);
        destinations(&Node { timetable: self.clone(), grid, coords }, self.entries.len() as u32)
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

impl PairTimetable {
    /// The schedule in which each rank sends a message of so many flits to every other one, block by block, as
    /// [`Timetable::schedule`]; rank and terminal have the same number.
    ///
    /// The timetable has been checked on these routes ([`PairTimetable::check`]).
    pub fn schedule(self: &Arc<Self>, routes: &dyn Routes, message_flits: u64, begin_cycles: u64) -> Schedule {
        let mut way_cycles = vec![0; self.starts.len()];
        for (from, to) in pairs(self.terminals) {
            way_cycles[from as usize * self.terminals as usize + to as usize] = routes.way_cycles(from, to);
        }
        let way_cycles = way_cycles.into();
        let messages = Messages { flits: message_flits.max(1), begin_cycles };
        let program = PairProgram { timetable: self.clone(), way_cycles, messages };
        Schedule::made("timetable", self.terminals, program)
    }

    /// To whom a terminal sends, in the order of its times.
    pub fn destinations(self: &Arc<Self>, terminal: u32) -> Vec<u32> {
        // When blocks arrive does not matter.
        let rank = Terminal { timetable: self.clone(), way_cycles: [].into(), number: terminal };
        destinations(&rank, self.terminals - 1)
    }
}

/// What is sent to each other rank, and when the first period begins.
#[derive(Debug, Clone, Copy)]
struct Messages {
    flits: u64,
    begin_cycles: u64,
}

/// What one rank does in every period. Sends and receives are named by numbers, in the order of their times.
trait Rank: Clone + Send + Sync + 'static {
    fn period_cycles(&self) -> u64;
    fn block_flits(&self) -> u64;
    /// When a send starts \[cycles].
    fn start(&self, send: u32) -> u64;
    /// When the block of a receive arrives \[cycles].
    fn arrival(&self, receive: u32) -> u64;
    fn destination(&self, send: u32) -> u32;
    fn source(&self, receive: u32) -> u32;
}

/// The sends of a rank, in the order of their times.
fn sends(rank: &impl Rank, blocks: u32) -> Vec<u32> {
    let mut sends: Vec<u32> = (0..blocks).collect();
    sends.sort_by_cached_key(|&send| rank.start(send));
    sends
}

fn destinations(rank: &impl Rank, blocks: u32) -> Vec<u32> {
    sends(rank, blocks).into_iter().map(|send| rank.destination(send)).collect()
}

/// The operations of a rank that sends and receives these blocks in each period.
fn operations(rank: impl Rank, blocks: u32, messages: Messages) -> Operations<'static> {
    let Messages { flits: message_flits, begin_cycles } = messages;
    // Numbers alone: large networks have as many lists as nodes.
    let sends = sends(&rank, blocks);
    let mut receives: Vec<u32> = (0..blocks).collect();
    receives.sort_by_cached_key(|&receive| rank.arrival(receive));
    let (sends, receives): (Arc<[u32]>, Arc<[u32]>) = (sends.into(), receives.into());
    let block = rank.block_flits();
    Box::new((0..message_flits.div_ceil(block)).flat_map(move |n| {
        let (tag, step) = (n as u32, n as u32);
        let size = block.min(message_flits - n * block);
        let (rank, sends, receives) = (rank.clone(), sends.clone(), receives.clone());
        let (mut sent, mut posted) = (0, 0);
        let mut waits = true;
        std::iter::from_fn(move || {
            let next = sends.get(sent).copied();
            let start = next.map_or(u64::MAX, |send| rank.start(send));
            let kind = match (receives.get(posted), next) {
                (Some(&receive), _) if waits && rank.arrival(receive) <= start => {
                    posted += 1;
                    OpKind::Receive { from: rank.source(receive), size, tag }
                }
                (_, Some(_)) if std::mem::replace(&mut waits, false) => {
                    OpKind::WaitUntil { time: begin_cycles + n * rank.period_cycles() + start }
                }
                (_, Some(send)) => {
                    (sent, waits) = (sent + 1, true);
                    OpKind::Send { to: rank.destination(send), size, tag }
                }
                (_, None) => return None,
            };
            Some(Operation { kind, via: Via::Network, step, after: After::NOTHING })
        })
    }))
}

const PROMISES: Promises = Promises { never_computes: false, names_all: true, alike: true };

#[derive(Debug)]
struct Program {
    timetable: Arc<Timetable>,
    grid: Grid,
    messages: Messages,
}

impl Maker for Program {
    fn operations(&self, rank: u32) -> Operations<'static> {
        let blocks = self.timetable.entries.len() as u32;
        let coords = self.grid.coords(rank);
        let node = Node { timetable: self.timetable.clone(), grid: self.grid.clone(), coords };
        operations(node, blocks, self.messages)
    }

    fn messages(&self, _rank: u32) -> u64 {
        self.timetable.blocks(self.messages.flits) * self.timetable.entries.len() as u64
    }

    fn promises(&self) -> Promises {
        PROMISES
    }
}

/// A node of a torus; sends and receives have the numbers of their entries.
#[derive(Clone)]
struct Node {
    timetable: Arc<Timetable>,
    grid: Grid,
    coords: Coords,
}

impl Node {
    fn entry(&self, number: u32) -> &Entry {
        &self.timetable.entries[number as usize]
    }
}

impl Rank for Node {
    fn period_cycles(&self) -> u64 {
        self.timetable.period_cycles
    }

    fn block_flits(&self) -> u64 {
        u64::from(self.timetable.block_flits)
    }

    fn start(&self, send: u32) -> u64 {
        self.timetable.start_at(self.entry(send), &self.coords)
    }

    fn arrival(&self, receive: u32) -> u64 {
        let (timetable, entry) = (&self.timetable, self.entry(receive));
        let from = timetable.other_end(entry, &self.coords, true);
        timetable.start_at(entry, &from) + entry.way_cycles(timetable.hop_cycles)
    }

    fn destination(&self, send: u32) -> u32 {
        self.grid.id(&self.timetable.other_end(self.entry(send), &self.coords, false))
    }

    fn source(&self, receive: u32) -> u32 {
        self.grid.id(&self.timetable.other_end(self.entry(receive), &self.coords, true))
    }
}

#[derive(Debug)]
struct PairProgram {
    timetable: Arc<PairTimetable>,
    /// Cycles from the start of a block to its first flit at the ejection port, by pair.
    way_cycles: Arc<[u32]>,
    messages: Messages,
}

impl Maker for PairProgram {
    fn operations(&self, rank: u32) -> Operations<'static> {
        let (timetable, way_cycles) = (self.timetable.clone(), self.way_cycles.clone());
        let blocks = timetable.terminals - 1;
        operations(Terminal { timetable, way_cycles, number: rank }, blocks, self.messages)
    }

    fn messages(&self, _rank: u32) -> u64 {
        self.timetable.blocks(self.messages.flits) * u64::from(self.timetable.terminals - 1)
    }

    fn promises(&self) -> Promises {
        PROMISES
    }
}

/// A terminal; sends and receives have the numbers of the other terminals, without its own.
#[derive(Clone)]
struct Terminal {
    timetable: Arc<PairTimetable>,
    way_cycles: Arc<[u32]>,
    number: u32,
}

impl Terminal {
    fn other(&self, number: u32) -> u32 {
        number + u32::from(number >= self.number)
    }
}

impl Rank for Terminal {
    fn period_cycles(&self) -> u64 {
        self.timetable.period_cycles
    }

    fn block_flits(&self) -> u64 {
        u64::from(self.timetable.block_flits)
    }

    fn start(&self, send: u32) -> u64 {
        self.timetable.start(self.number, self.other(send))
    }

    fn arrival(&self, receive: u32) -> u64 {
        let from = self.other(receive);
        let pair = from as usize * self.timetable.terminals as usize + self.number as usize;
        self.timetable.starts[pair] + u64::from(self.way_cycles[pair])
    }

    fn destination(&self, send: u32) -> u32 {
        self.other(send)
    }

    fn source(&self, receive: u32) -> u32 {
        self.other(receive)
    }
}
