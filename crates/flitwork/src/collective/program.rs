//! From steps to a schedule, made rank by rank when it is needed.

use super::sizes::{Length, Sizes};
use crate::error::Result;
use crate::schedule::{After, Maker, OpId, OpKind, Operation as Op, Operations, Promises, Schedule, Via};
use flitwork_steps::{Blocks, Collective, Step, World};
use std::collections::VecDeque;

/// What ranks do between the steps of an algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Between {
    /// Time in which a rank adds up a flit that came \[cycles].
    pub reduce_cycles_per_flit: f64,
    /// Whether all ranks meet behind each step.
    pub barriers: bool,
    /// By which network of the machine its messages go; [`Via::Bus`]: over the bus, in transfers.
    pub over: Via,
}

/// The schedule of an algorithm, in flits. `length` is that of a block, or of the vector
/// ([`flitwork_steps::Operation::has_vector`]).
///
/// In each step a rank posts its receive, then its send, then waits for both and all before them, if the step says so.
/// The step of an operation is that of the algorithm; it is the tag too, so no message can be taken for that of another
/// step. Operations are made when they are needed, so the size of the schedule does not matter. Where adding up a flit
/// takes time, a rank computes behind each wait for what it has waited for, whole cycles for all of it together;
/// messages of a barrier are not added up. On a bus, messages that a rank sends without a wait between are one
/// transfer: those with the same blocks as the one before go together with it, as of a broadcast function, others
/// behind it, as of a scatter function. Receives without a wait between are one call, too. With barriers a rank waits
/// for all that it has posted behind each step, and then for all ranks, by dissemination.
///
/// # Errors
/// As [`Collective::check`].
pub fn schedule(collective: &'static Collective, world: &World, length: Length, between: Between) -> Result<Schedule> {
    collective.check(world)?;
    let sizes = Sizes::of(collective, world, length);
    let adds = if collective.operation.has_data() { between.reduce_cycles_per_flit } else { 0.0 };
    let between = Between { reduce_cycles_per_flit: adds, ..between };
    let program = Program { collective, world: world.clone(), sizes, between };
    Ok(Schedule::made(format!("{} {}", collective.operation.name(), collective.name), world.ranks, program))
}

#[derive(Debug, Clone)]
struct Program {
    collective: &'static Collective,
    world: World,
    sizes: Sizes,
    between: Between,
}

impl Maker for Program {
    fn operations(&self, rank: u32) -> Operations<'static> {
        let ready = VecDeque::with_capacity(4);
        let program = self.clone();
        let (sent, received) = (None, false);
        let mut reader = Reader { program, rank, step: 0, next: 0, waited: 0, comes: 0, sent, received, ready };
        Box::new(std::iter::from_fn(move || reader.next()))
    }

    fn messages(&self, rank: u32) -> u64 {
        let barrier_messages = if self.between.barriers { self.steps_in_all() * self.world.bits() } else { 0 };
        if self.collective.direct && !self.sizes.differ() {
            // A block is a message, and none is for the rank itself.
            return u64::from(self.world.ranks - 1) + u64::from(barrier_messages);
        }
        self.steps(rank).filter(|step| step.send.is_some()).count() as u64 + u64::from(barrier_messages)
    }

    fn promises(&self) -> Promises {
        let never_computes = self.between.reduce_cycles_per_flit == 0.0;
        Promises { never_computes, names_all: true, alike: self.collective.direct && !self.sizes.differ() }
    }
}

impl Program {
    fn steps_in_all(&self) -> u32 {
        (self.collective.steps)(&self.world)
    }

    fn steps(&self, rank: u32) -> impl Iterator<Item = Step> + '_ {
        (0..self.steps_in_all()).map(move |step| (self.collective.step)(&self.world, rank, step))
    }
}

/// Where the reading of a rank's program stands.
struct Reader {
    program: Program,
    rank: u32,
    step: u32,
    /// The number of the next operation, and that of the first that no wait has waited for.
    next: OpId,
    waited: OpId,
    /// What comes and is added up when it has been waited for \[flits].
    comes: u64,
    /// On a bus, what was sent since the last wait, and whether something was received.
    sent: Option<Blocks>,
    received: bool,
    ready: VecDeque<Op<'static>>,
}

impl Reader {
    fn next(&mut self) -> Option<Op<'static>> {
        while self.ready.is_empty() {
            let Program { collective, world, .. } = &self.program;
            if self.step == (collective.steps)(world) {
                return None;
            }
            let step = (collective.step)(world, self.rank, self.step);
            self.take(&step);
            if self.program.between.barriers {
                self.wait_for_all_ranks();
            }
            self.step += 1;
        }
        self.ready.pop_front()
    }

    fn take(&mut self, step: &Step) {
        let tag = self.step;
        if let Some(receive) = &step.receive {
            let size = self.program.sizes.flits(&receive.blocks);
            let via = self.via_of_receive();
            self.push_via(OpKind::Receive { from: receive.peer, size, tag }, via, After::NOTHING);
            self.comes += if step.adds { size } else { 0 };
        }
        if let Some(send) = &step.send {
            let size = self.program.sizes.flits(&send.blocks);
            let via = self.via_of_send(&send.blocks);
            self.push_via(OpKind::Send { to: send.peer, size, tag }, via, After::NOTHING);
        }
        if step.waits || self.program.between.barriers {
            self.wait();
        }
    }

    /// Waits for all that was posted.
    fn wait(&mut self) {
        if self.waited < self.next {
            self.push(OpKind::Wait, After::Range(self.waited..self.next));
            self.waited = self.next;
            (self.sent, self.received) = (None, false);
            self.add_up();
        }
    }

    /// A barrier: in round k a signal goes to the rank 2^k behind and one comes from the rank 2^k before. The tags
    /// follow those of all steps.
    fn wait_for_all_ranks(&mut self) {
        let (steps, rounds) = (self.program.steps_in_all(), self.program.world.bits());
        for round in 0..rounds {
            let (world, rank) = (&self.program.world, self.rank);
            let (to, from) = (world.after(rank, 1 << round), world.before(rank, 1 << round));
            let tag = steps + self.step * rounds + round;
            self.push(OpKind::Receive { from, size: 1, tag }, After::NOTHING);
            self.push(OpKind::Send { to, size: 1, tag }, After::NOTHING);
            self.wait();
        }
    }

    /// Computes as long as it takes to add up what has come.
    fn add_up(&mut self) {
        let time = (std::mem::take(&mut self.comes) as f64 * self.program.between.reduce_cycles_per_flit).ceil() as u64;
        if time > 0 {
            self.push(OpKind::Compute { time }, After::NOTHING);
            // Nobody waits for it: what comes next in the program comes behind it.
            self.waited = self.next;
        }
    }

    /// By which network a message with these blocks goes.
    fn via_of_send(&mut self, blocks: &Blocks) -> Via {
        if !self.program.between.over.is_bus() {
            return self.program.between.over;
        }
        match self.sent.replace(blocks.clone()) {
            None => Via::Bus,
            Some(before) if before.is_same(blocks) => Via::BusSame,
            Some(_) => Via::BusNext,
        }
    }

    fn via_of_receive(&mut self) -> Via {
        match (self.program.between.over, std::mem::replace(&mut self.received, true)) {
            (Via::Bus, true) => Via::BusNext,
            (over, _) => over,
        }
    }

    fn push(&mut self, kind: OpKind, after: After<'static>) {
        self.push_via(kind, Via::Network, after);
    }

    fn push_via(&mut self, kind: OpKind, via: Via, after: After<'static>) {
        self.ready.push_back(Op { kind, via, step: self.step, after });
        self.next += 1;
    }
}
