//! The schedule: what each rank does, in which order, after what. The narrow waist of flitwork: collective algorithms
//! make one, hosts run it, bounds and checks read it. It knows nothing of a network: [`Schedule::compile`] turns bytes
//! and ns into flits and cycles, a [`Placement`] puts ranks on terminals.
//!
//! A rank executes its operations in program order:
//! * **Receive** is posted, once the operations it depends on are complete, and does not block. It is complete when the
//!   message that it matches has arrived; when it is posted, if the message came before.
//! * **Send** joins the rank's send queue and does not block. A port of the NIC that becomes free takes the next
//!   message whose dependencies are complete; [`SendQueue`] says what those behind a message that has to wait do. A
//!   send is complete when its last flit has left the terminal.
//! * **Compute** starts when the operations it depends on are complete, blocks the program for its time, then
//!   completes.
//! * **Wait** blocks the program until the operations it depends on are complete.
//! * **WaitUntil** does so, and at least until its time, counted from the start of the schedule. What is late catches
//!   up: a time that is over blocks nothing.
//! * **Task** starts when the operations it depends on are complete and its CPU is free, and does not block the
//!   program.
//! * **Started** is complete when the operation in front of it has started.
//!
//! Dependencies are between operations of one rank: on earlier ones, or of a send on a receive that is posted later.
//! The k-th message of one (sender, receiver, tag) matches the k-th receive of them; a receive may leave sender or tag
//! open ([`ANY`]).

mod build;
mod check;
mod compile;
mod delayed;
mod goal;
mod noise;
mod op;
mod placement;
mod repeated;
mod start;
mod stored;

pub use crate::units::{Rate, Units};
pub use build::ScheduleBuilder;
pub use check::{Match, check_form, match_messages};
pub(crate) use check::{fault, name};
pub use delayed::Delays;
pub use goal::{Goal, GoalBuilder, GoalKind, GoalOp, Until};
pub(crate) use noise::LONGEST_NOISE;
pub use noise::{DetourColumns, DetourLength, Detours, Noise};
pub use op::{ANY, After, OpId, OpKind, Operation, Via};
pub use placement::{LateSends, Placement, PlacementRule, SendQueue};
pub use repeated::Repeats;
pub use start::{StartKind, StartOrder, StartSpec};
pub use stored::ScheduleColumns;

use op::Packed;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// What sizes of messages are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeUnit {
    /// Flits of the network.
    Flits,
    /// Bytes.
    Bytes,
}

/// What durations are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Cycles of the network.
    Cycles,
    /// Nanoseconds.
    Ns,
}

/// What every rank does. Built by [`ScheduleBuilder`], or made as it is needed by a [`Maker`].
#[derive(Debug, Clone)]
pub struct Schedule {
    name: String,
    ranks: u32,
    sizes: SizeUnit,
    times: TimeUnit,
    body: Body,
}

#[derive(Debug, Clone)]
enum Body {
    Stored(Arc<Stored>),
    Made(Arc<dyn Maker>),
    Driven,
}

/// All operations, rank after rank.
#[derive(Debug)]
pub(crate) struct Stored {
    ops: Vec<Packed>,
    /// Dependencies of all operations, in their order.
    deps: Vec<OpId>,
    /// Ends of the operations and of the dependencies of each rank; first the starts of rank 0.
    ends: Vec<(usize, usize)>,
}

/// Makes the operations of a rank whenever they are needed: for schedules too large to be stored. It must say the same
/// each time.
pub trait Maker: fmt::Debug + Send + Sync {
    /// The operations of `rank` in program order.
    fn operations(&self, rank: u32) -> Operations<'static>;

    /// How many of them are sends.
    fn messages(&self, rank: u32) -> u64;

    /// What is known of all operations.
    fn promises(&self) -> Promises {
        Promises::default()
    }
}

/// What a [`Maker`] promises of its operations; each of it saves time or memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Promises {
    /// There are no computations: then nothing is made before it is its turn.
    pub never_computes: bool,
    /// All receives name their senders and tags.
    pub names_all: bool,
    /// Every rank sends as many messages of the same lengths.
    pub alike: bool,
}

/// Operations of a rank in program order.
pub type Operations<'s> = Box<dyn Iterator<Item = Operation<'s>> + Send + Sync + 's>;

/// One message of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Sending rank.
    pub from: u32,
    /// Receiving rank.
    pub to: u32,
    /// Length, in the unit of the schedule.
    pub size: u64,
    /// Step of the algorithm.
    pub step: u32,
    /// By which network it goes.
    pub via: Via,
}

impl Schedule {
    /// A schedule in flits and cycles whose operations are made when they are needed.
    pub fn made(name: impl Into<String>, ranks: u32, maker: impl Maker + 'static) -> Self {
        let body = Body::Made(Arc::new(maker));
        Schedule { name: name.into(), ranks, sizes: SizeUnit::Flits, times: TimeUnit::Cycles, body }
    }

    /// A schedule in flits and cycles whose ranks are driven by a program: they request their operations while they
    /// run.
    pub fn driven(name: impl Into<String>, ranks: u32) -> Self {
        Schedule { name: name.into(), ranks, sizes: SizeUnit::Flits, times: TimeUnit::Cycles, body: Body::Driven }
    }

    /// Name for tables and messages, such as `a2at`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// What sizes are counted in.
    pub fn sizes(&self) -> SizeUnit {
        self.sizes
    }

    /// What durations are counted in.
    pub fn times(&self) -> TimeUnit {
        self.times
    }

    /// Whether a program drives the ranks.
    pub fn is_driven(&self) -> bool {
        matches!(self.body, Body::Driven)
    }

    /// Whether its operations are made when they are needed, and not kept.
    pub fn is_made(&self) -> bool {
        matches!(self.body, Body::Made(_))
    }

    /// Whether all receives are known to name their senders and tags without looking at them.
    pub(crate) fn names_all(&self) -> bool {
        matches!(&self.body, Body::Made(maker) if maker.promises().names_all)
    }

    /// Whether nothing depends on when a rank's operations are read, as long as it is in time.
    pub(crate) fn can_be_read_late(&self) -> bool {
        matches!(&self.body, Body::Made(maker) if maker.promises().never_computes)
    }

    /// Whether every rank is known to send as many messages of the same lengths without looking at them.
    pub(crate) fn is_alike(&self) -> bool {
        matches!(&self.body, Body::Made(maker) if maker.promises().alike)
    }

    /// The operations of `rank` in program order; none where ranks ask.
    pub fn operations(&self, rank: u32) -> Operations<'_> {
        match &self.body {
            Body::Stored(stored) => {
                let mut at = stored.cursor(rank);
                Box::new(std::iter::from_fn(move || stored.next(&mut at)))
            }
            // The map shortens the lifetime of what the box gives.
            #[allow(clippy::map_identity)]
            Body::Made(maker) => Box::new(maker.operations(rank).map(|op| -> Operation<'_> { op })),
            Body::Driven => Box::new(std::iter::empty()),
        }
    }

    /// The same, standing on its own.
    pub(crate) fn feed(&self, rank: u32) -> Feed {
        match &self.body {
            Body::Stored(stored) => Feed::Stored(Arc::clone(stored), stored.cursor(rank)),
            Body::Made(maker) => Feed::Made(maker.operations(rank)),
            Body::Driven => Feed::Made(Box::new(std::iter::empty())),
        }
    }

    /// Number of messages that `rank` sends.
    pub fn messages_of(&self, rank: u32) -> u64 {
        match &self.body {
            Body::Made(maker) => maker.messages(rank),
            Body::Stored(stored) => {
                let (first, end) = (stored.ends[rank as usize].0, stored.ends[rank as usize + 1].0);
                stored.ops[first..end].iter().filter(|op| matches!(op.kind(), OpKind::Send { .. })).count() as u64
            }
            Body::Driven => 0,
        }
    }

    /// The messages of the schedule that go over the network of routers and channels.
    pub fn messages_over_network(&self) -> impl Iterator<Item = Message> + '_ {
        self.messages().filter(|message| message.via == Via::Network)
    }

    /// All messages in order of (sender, send order).
    pub fn messages(&self) -> impl Iterator<Item = Message> + '_ {
        (0..self.ranks).flat_map(move |rank| self.messages_from(rank))
    }

    /// The messages of one rank in send order.
    pub(crate) fn messages_from(&self, rank: u32) -> impl Iterator<Item = Message> + '_ {
        self.operations(rank).filter_map(move |op| match op.kind {
            OpKind::Send { to, size, .. } => Some(Message { from: rank, to, size, step: op.step, via: op.via }),
            _ => None,
        })
    }
}

/// Where the reading of a stored rank stands: next operation, end of the operations, next dependency.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor(usize, usize, usize);

impl Stored {
    fn cursor(&self, rank: u32) -> Cursor {
        let (op, dep) = self.ends[rank as usize];
        Cursor(op, self.ends[rank as usize + 1].0, dep)
    }

    fn next(&self, at: &mut Cursor) -> Option<Operation<'_>> {
        if at.0 == at.1 {
            return None;
        }
        let op = &self.ops[at.0];
        let after = &self.deps[at.2..at.2 + op.deps()];
        *at = Cursor(at.0 + 1, at.1, at.2 + op.deps());
        Some(Operation { kind: op.kind(), via: op.via(), step: op.step(), after: After::List(Cow::Borrowed(after)) })
    }
}

/// The operations of a rank, read one after the other by a host.
pub(crate) enum Feed {
    Stored(Arc<Stored>, Cursor),
    Made(Operations<'static>),
}

impl Feed {
    /// The next operation; none at the end.
    pub fn next(&mut self) -> Option<Operation<'_>> {
        match self {
            Feed::Stored(stored, at) => stored.next(at),
            Feed::Made(operations) => operations.next(),
        }
    }
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Feed::Stored(_, at) => write!(f, "{at:?}"),
            Feed::Made(_) => write!(f, "made"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_read_as_they_were_given() {
        let mut b = ScheduleBuilder::new("two");
        let first = b.op(OpKind::Receive { from: ANY, size: 7, tag: ANY }, 4, &[]);
        let second = b.op(OpKind::Compute { time: 9 }, 0, &[first]);
        b.op(OpKind::Send { to: 1, size: 1 << 40, tag: 3 }, 5, &[first, second]);
        b.end_rank();
        b.op(OpKind::Wait, 2, &[]);
        b.end_rank();
        let s = b.build();
        let kinds: Vec<OpKind> = s.operations(0).map(|op| op.kind).collect();
        assert_eq!(kinds[0], OpKind::Receive { from: ANY, size: 7, tag: ANY });
        assert_eq!(kinds[1..], [OpKind::Compute { time: 9 }, OpKind::Send { to: 1, size: 1 << 40, tag: 3 }]);
        let after: Vec<Vec<u32>> = s.operations(0).map(|op| op.after.iter().collect()).collect();
        assert_eq!(after, [vec![], vec![0], vec![0, 1]]);
        assert_eq!(s.operations(1).map(|op| (op.kind, op.step)).collect::<Vec<_>>(), [(OpKind::Wait, 2)]);
        assert_eq!(
            s.messages().collect::<Vec<_>>(),
            [Message { from: 0, to: 1, size: 1 << 40, step: 5, via: Via::Network }]
        );
        assert_eq!((s.messages_of(0), s.messages_of(1)), (1, 0));
    }
}
