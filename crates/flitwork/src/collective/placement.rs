//! Proof that an algorithm does what its operation promises: its data flow is followed block by block.
//!
//! Every rank holds blocks; where data is added up, each with the set of ranks whose contributions are in it. A message
//! carries what its sender held when it was sent; what is received may be used after the next wait. Refused are: to
//! send what one does not hold, to expect other blocks than those that come, to add a contribution twice, to wait for
//! ever, and to end without what the operation promises.

use crate::error::{Error, Result};
use flitwork_steps::{Collective, Operation, Transfer, World};
use serde::Serialize;
use std::collections::{HashMap, VecDeque};

/// What a block takes in the lists of its holders \[bytes].
const BLOCK_BYTES: u64 = 100;
/// Most memory for all of them \[bytes].
const MOST_BYTES: u64 = 4_000_000_000;

/// What was proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PlacementReport {
    /// Number of ranks.
    pub ranks: u32,
    /// Number of steps.
    pub steps: u32,
    /// Number of messages.
    pub messages: u64,
    /// Blocks in all messages.
    pub blocks_moved: u64,
    /// The operation whose promise is kept: that of the algorithm, but an allgather where blocks are `doubling`.
    pub operation: Operation,
    /// Whether whatever is sent is the sum of consecutive ranks: then the order of ranks can be kept where adding does
    /// not commute.
    pub in_order: bool,
}

/// Follows the data of an algorithm and proves that every rank ends with what the operation promises.
///
/// # Errors
/// [`Error::Config`] as [`Collective::check`]; [`Error::Schedule`] names the rank, the step and the block of a fault.
pub fn prove(collective: &Collective, world: &World) -> Result<PlacementReport> {
    collective.check(world)?;
    check_memory(collective, world)?;
    let mut flow = Flow::new(collective, world);
    flow.run().and_then(|()| flow.check_end()).map_err(|fault| Error::Schedule {
        name: format!("{} {} of {} ranks", collective.operation.name(), collective.name, world.ranks),
        fault,
    })?;
    Ok(flow.report)
}

/// The ranks whose contributions are in a block: a bit each. Empty where nothing is added up.
type Parts = Vec<u64>;
/// What a message carries: its blocks, each with what its sender held of it.
type Content = Vec<(u64, Parts)>;

/// Refuses a proof whose blocks would not fit into memory.
fn check_memory(collective: &Collective, world: &World) -> Result<()> {
    let operation = collective.operation;
    let blocks = operation.last(world, collective.pieces(world), world.root).len() as u64;
    let bytes = u64::from(world.ranks) * blocks * (BLOCK_BYTES + 8 * parts_words(operation, world) as u64);
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    let expected = format!("few enough to follow their blocks in {} GB of memory", MOST_BYTES / 1_000_000_000);
    let hint = "check it with fewer ranks: its steps are the same functions";
    Err(Error::config("workload", format!("{} ranks", world.ranks), expected, hint))
}

struct Flow<'a> {
    collective: &'a Collective,
    world: World,
    ranks: Vec<Rank>,
    /// Messages that were sent and not received, by (from, to), each with its step.
    under_way: HashMap<(u32, u32), VecDeque<(u32, Content)>>,
    report: PlacementReport,
}

#[derive(Default)]
struct Rank {
    step: u32,
    /// Blocks at this rank, and the ranks whose parts each contains.
    blocks_held: HashMap<u64, Parts>,
    /// Receives that are posted: step, what is expected, and whether it is added.
    posted: VecDeque<(u32, Transfer, bool)>,
    /// Whether it is in a wait.
    waits: bool,
}

impl<'a> Flow<'a> {
    fn new(collective: &'a Collective, world: &World) -> Self {
        let operation = collective.promises(world);
        let steps = (collective.steps)(world);
        let report =
            PlacementReport { ranks: world.ranks, steps, messages: 0, blocks_moved: 0, operation, in_order: true };
        let pieces = collective.pieces(world);
        let rank = |rank: u32| {
            let blocks = operation.first(world, pieces, rank).list();
            let parts = only(rank, parts_words(operation, world));
            Rank { blocks_held: blocks.into_iter().map(|block| (block, parts.clone())).collect(), ..Rank::default() }
        };
        let ranks = (0..world.ranks).map(rank).collect();
        Flow { collective, world: world.clone(), ranks, under_way: HashMap::new(), report }
    }

    /// Lets ranks in turn go as far as they can, until all are at their end.
    fn run(&mut self) -> Result<(), String> {
        let mut due: VecDeque<u32> = (0..self.world.ranks).collect();
        // Ranks in a row that could not go on.
        let mut idle = 0;
        while let Some(rank) = due.pop_front() {
            let moved = self.advance(rank)?;
            idle = if moved { 0 } else { idle + 1 };
            if !self.is_at_end(rank) {
                due.push_back(rank);
            }
            if idle > 0 && idle >= due.len() && !due.is_empty() {
                let Rank { posted, .. } = &self.ranks[rank as usize];
                let from = posted.front().map_or(rank, |(_, transfer, _)| transfer.peer);
                let step = posted.front().map_or(0, |posted| posted.0);
                return Err(format!("rank {rank} waits for ever for rank {from} in step {step}"));
            }
        }
        match self.under_way.iter().filter(|(_, messages)| !messages.is_empty()).map(|(ends, _)| ends).min() {
            Some((from, to)) => Err(format!("rank {to} does not receive a message of rank {from}")),
            None => Ok(()),
        }
    }

    fn is_at_end(&self, rank: u32) -> bool {
        let Rank { step, posted, .. } = &self.ranks[rank as usize];
        *step == self.report.steps && posted.is_empty()
    }

    /// Lets a rank go on as far as it can. Whether it could.
    fn advance(&mut self, rank: u32) -> Result<bool, String> {
        let mut moved = false;
        loop {
            let at_end = self.ranks[rank as usize].step == self.report.steps;
            let waits = self.ranks[rank as usize].waits || at_end;
            if waits && (!self.receive_all(rank, &mut moved)? || at_end) {
                return Ok(moved);
            }
            self.post(rank)?;
            moved = true;
        }
    }

    /// Posts the messages of a rank's next step.
    fn post(&mut self, rank: u32) -> Result<(), String> {
        let this = &mut self.ranks[rank as usize];
        let at = this.step;
        let step = (self.collective.step)(&self.world, rank, at);
        if let Some(Transfer { peer, blocks }) = &step.send {
            if *peer == rank || *peer >= self.world.ranks {
                return Err(format!("rank {rank} sends to rank {peer} in step {at}"));
            }
            let list = blocks.list();
            if list.len() as u64 != blocks.count() {
                return Err(format!(
                    "rank {rank} counts {} blocks in step {at}, but lists {}",
                    blocks.count(),
                    list.len()
                ));
            }
            let with_parts = |block: u64| match this.blocks_held.get(&block) {
                Some(parts) => Ok((block, parts.clone())),
                None => Err(format!("rank {rank} sends block {block} in step {at}, which it does not hold")),
            };
            let message = list.into_iter().map(with_parts).collect::<Result<Vec<_>, String>>()?;
            self.report.in_order &= message.iter().all(|(_, parts)| is_run(parts));
            self.report.messages += 1;
            self.report.blocks_moved += message.len() as u64;
            self.under_way.entry((rank, *peer)).or_default().push_back((at, message));
        }
        if let Some(receive) = step.receive {
            this.posted.push_back((at, receive, step.adds));
        }
        this.step += 1;
        this.waits = step.waits;
        Ok(())
    }

    /// Completes the receives of a rank in their order; whether all are complete.
    fn receive_all(&mut self, rank: u32, moved: &mut bool) -> Result<bool, String> {
        let this = &mut self.ranks[rank as usize];
        while let Some((at, expected, adds)) = this.posted.front() {
            let from = expected.peer;
            let Some((step, message)) = self.under_way.get_mut(&(from, rank)).and_then(VecDeque::pop_front) else {
                return Ok(false);
            };
            if step != *at || !message.iter().map(|(block, _)| *block).eq(expected.blocks.list()) {
                return Err(format!(
                    "rank {rank} expects other blocks of rank {from} in step {at} than those of step {step}"
                ));
            }
            let counts_twice = self.report.operation != Operation::Barrier;
            for (block, parts) in message {
                let twice = || format!("rank {rank} adds to block {block} in step {at} what it contains already");
                match this.blocks_held.get_mut(&block).filter(|_| *adds) {
                    None => drop(this.blocks_held.insert(block, parts)),
                    Some(present) if counts_twice && present.iter().zip(&parts).any(|(a, b)| a & b != 0) => {
                        return Err(twice());
                    }
                    Some(present) => present.iter_mut().zip(&parts).for_each(|(a, b)| *a |= b),
                }
            }
            this.posted.pop_front();
            *moved = true;
        }
        this.waits = false;
        Ok(true)
    }

    /// Does every rank hold what the operation promises?
    fn check_end(&self) -> Result<(), String> {
        let (operation, world) = (self.report.operation, &self.world);
        let pieces = self.collective.pieces(world);
        let words = parts_words(operation, world);
        for (rank, this) in (0u32..).zip(&self.ranks) {
            for block in operation.last(world, pieces, rank) {
                let Some(parts) = this.blocks_held.get(&block) else {
                    return Err(format!("rank {rank} ends without block {block}"));
                };
                let expected = operation.contributors(world, rank);
                let is_wrong = |from: &u32| words > 0 && has(parts, *from) != expected.contains(from);
                if let Some(from) = (0..world.ranks).find(is_wrong) {
                    let with = if expected.contains(&from) { "without" } else { "with" };
                    return Err(format!("rank {rank} ends with block {block} {with} the contribution of rank {from}"));
                }
            }
        }
        Ok(())
    }
}

/// Length of a set of ranks.
fn parts_words(operation: Operation, world: &World) -> usize {
    if operation.adds() { world.ranks.div_ceil(64) as usize } else { 0 }
}

/// Whether a rank is in a set.
fn has(parts: &Parts, rank: u32) -> bool {
    parts[rank as usize / 64] >> (rank % 64) & 1 == 1
}

/// Whether the ranks of a set are consecutive.
fn is_run(parts: &Parts) -> bool {
    let starts = |(runs, last): (u32, u64), &word: &u64| (runs + (word & !(word << 1 | last)).count_ones(), word >> 63);
    parts.iter().fold((0, 0), starts).0 <= 1
}

/// The set of one rank.
fn only(rank: u32, words: usize) -> Parts {
    let mut parts = vec![0; words];
    if let Some(word) = parts.get_mut(rank as usize / 64) {
        *word = 1 << (rank % 64);
    }
    parts
}
