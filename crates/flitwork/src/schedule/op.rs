//! One operation of a rank.

use std::borrow::Cow;
use std::ops::Range;

/// Number of an operation within its rank, from 0 on in program order.
pub type OpId = u32;

/// In the place of a rank or a tag of a receive: any.
pub const ANY: u32 = u32::MAX;

/// What an operation does. Sizes and times are in the units of its schedule (see [`super::Schedule::sizes`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpKind {
    /// Send a message to rank `to`.
    Send {
        /// Receiving rank.
        to: u32,
        /// Message length [flits or bytes].
        size: u64,
        /// Tells messages of one pair of ranks apart.
        tag: u32,
    },
    /// Receive the next message of rank `from` with the same tag.
    Receive {
        /// Sending rank, or [`ANY`].
        from: u32,
        /// Longest message that it takes [flits or bytes].
        size: u64,
        /// Tag of the message, or [`ANY`].
        tag: u32,
    },
    /// Occupy the rank for this long.
    Compute {
        /// Duration [cycles or ns].
        time: u64,
    },
    /// Block the program until the dependencies are complete.
    Wait,
    /// Block the program until the dependencies are complete and the clock of the rank shows this time; at once if that
    /// is over.
    WaitUntil {
        /// Time since the start of the schedule [cycles or ns].
        time: u64,
    },
    /// Occupy a CPU of the rank for this long; the program goes on.
    Task {
        /// Duration [cycles or ns].
        time: u64,
        /// Number of the CPU.
        cpu: u8,
    },
    /// Complete when the operation in front of it starts: a send, a receive or a task.
    Started,
}

/// By which network of the machine a message goes, and whether it goes with the message that its rank sends before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Via {
    /// The network of routers and channels.
    #[default]
    Network,
    /// The bus, in a transfer of its own, or the first of several.
    Bus,
    /// The bus, behind the message before it in the same transfer, as of a scatter function.
    BusNext,
    /// The bus, together with the message before it: the same data for another rank, as of a broadcast function.
    BusSame,
    /// The barrier tree: a notification of one flit.
    Tree,
}

impl Via {
    /// Names in specifications and tables, by [`Via::code`].
    pub const NAMES: [&'static str; 5] = ["network", "bus", "bus_next", "bus_same", "tree"];

    /// The number of the network in stored schedules.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The network of a number in stored schedules.
    pub fn of_code(code: u8) -> Option<Via> {
        [Via::Network, Via::Bus, Via::BusNext, Via::BusSame, Via::Tree].get(usize::from(code)).copied()
    }

    /// Whether the network is the bus.
    pub fn is_bus(self) -> bool {
        matches!(self, Via::Bus | Via::BusNext | Via::BusSame)
    }

    /// Whether the network is the barrier tree.
    pub fn is_tree(self) -> bool {
        self == Via::Tree
    }

    /// Whether the message goes with the one before it.
    pub fn is_joined(self) -> bool {
        matches!(self, Via::BusNext | Via::BusSame)
    }

    /// Whether its rank does not call the software for it: for one that goes with another, or for what hardware does
    /// alone.
    pub fn is_free(self) -> bool {
        self.is_joined() || self.is_tree()
    }
}

/// One operation of one rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation<'s> {
    /// What the operation does.
    pub kind: OpKind,
    /// The network of a send. Of a receive only whether its rank calls the software once for it and the receive before
    /// it.
    pub via: Via,
    /// The step of the algorithm that it belongs to, as the algorithm counts them (of a receive: that of its message).
    /// Loads of channels by step are sums over the messages of a step. It has nothing to do with the position in the
    /// program.
    pub step: u32,
    /// What the operation waits for.
    pub after: After<'s>,
}

/// Operations of the same rank that must be complete before an operation may start.
#[derive(Debug, Clone)]
pub enum After<'s> {
    /// Operations one behind the other.
    Range(Range<OpId>),
    /// Any operations.
    List(Cow<'s, [OpId]>),
}

impl After<'_> {
    /// What waits for nothing.
    pub const NOTHING: After<'static> = After::Range(0..0);

    /// The operations.
    pub fn iter(&self) -> impl Iterator<Item = OpId> + '_ {
        let (range, list): (_, &[OpId]) = match self {
            After::Range(range) => (range.clone(), &[]),
            After::List(list) => (0..0, list),
        };
        range.chain(list.iter().copied())
    }

    /// These dependencies as owned data.
    pub fn into_owned(self) -> After<'static> {
        match self {
            After::Range(range) => After::Range(range),
            After::List(list) => After::List(Cow::Owned(list.into_owned())),
        }
    }
}

impl PartialEq for After<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for After<'_> {}

/// A number of at most 8 bytes, the lowest first.
pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}

/// An operation as it is stored; its dependencies are next in the rank's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packed {
    /// Size or time.
    amount: u64,
    peer: u32,
    tag: u32,
    step: u32,
    /// Two bits of what it is, then the number of its dependencies, and three bits of its network.
    kind_and_deps: u32,
}

impl Packed {
    /// Most dependencies of an operation.
    pub const MOST_DEPS: usize = (1 << Self::DEPS_BITS) - 1;
    const DEPS_BITS: u32 = 27;
    const STARTED: u32 = 1;
    const UNTIL: u32 = 2;

    pub fn new(kind: OpKind, via: Via, step: u32, deps: usize) -> Self {
        let (code, amount, peer, tag) = match kind {
            OpKind::Send { to, size, tag } => (0, size, to, tag),
            OpKind::Receive { from, size, tag } => (1, size, from, tag),
            OpKind::Compute { time } => (2, time, 0, 0),
            OpKind::Wait => (3, 0, 0, 0),
            // The place of the other rank tells them apart.
            OpKind::Task { time, cpu } => (2, time, u32::from(cpu) + 1, 0),
            OpKind::Started => (3, 0, Self::STARTED, 0),
            OpKind::WaitUntil { time } => (3, time, Self::UNTIL, 0),
        };
        let via = u32::from(via.code()) << (2 + Self::DEPS_BITS);
        Packed { amount, peer, tag, step, kind_and_deps: code | (deps.min(Self::MOST_DEPS) as u32) << 2 | via }
    }

    pub fn deps(&self) -> usize {
        (self.kind_and_deps >> 2) as usize & Self::MOST_DEPS
    }

    pub fn via(&self) -> Via {
        Via::of_code((self.kind_and_deps >> (2 + Self::DEPS_BITS)) as u8).unwrap_or_default()
    }

    pub fn kind(&self) -> OpKind {
        let &Packed { amount, peer, tag, .. } = self;
        match self.kind_and_deps & 3 {
            0 => OpKind::Send { to: peer, size: amount, tag },
            1 => OpKind::Receive { from: peer, size: amount, tag },
            2 if peer > 0 => OpKind::Task { time: amount, cpu: (peer - 1) as u8 },
            2 => OpKind::Compute { time: amount },
            _ => match peer {
                Self::STARTED => OpKind::Started,
                Self::UNTIL => OpKind::WaitUntil { time: amount },
                _ => OpKind::Wait,
            },
        }
    }

    pub fn step(&self) -> u32 {
        self.step
    }

    /// Length of [`Packed::to_bytes`].
    pub const BYTES: usize = 24;

    /// All of it in a fixed form.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.amount.to_le_bytes());
        for (part, value) in bytes[8..].chunks_exact_mut(4).zip([self.peer, self.tag, self.step, self.kind_and_deps]) {
            part.copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    /// What [`Packed::to_bytes`] wrote; `bytes` has that length.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let word = |i: usize| number(&bytes[8 + 4 * i..12 + 4 * i]) as u32;
        Packed { amount: number(&bytes[..8]), peer: word(0), tag: word(1), step: word(2), kind_and_deps: word(3) }
    }

    /// This kind of operation with another size or time.
    pub fn with_amount(self, amount: impl Fn(OpKind) -> u64) -> Self {
        Packed { amount: amount(self.kind()), ..self }
    }
}

impl OpKind {
    /// As numbers: the kind, the other rank (of a task its CPU), size or time, and tag. What an operation does not have
    /// is 0. Kinds have the numbers that records of runs give them.
    pub fn numbers(self) -> (u8, u32, u64, u32) {
        match self {
            OpKind::Send { to, size, tag } => (0, to, size, tag),
            OpKind::Receive { from, size, tag } => (1, from, size, tag),
            OpKind::Compute { time } => (2, 0, time, 0),
            OpKind::Wait => (3, 0, 0, 0),
            OpKind::Task { time, cpu } => (4, u32::from(cpu), time, 0),
            OpKind::Started => (5, 0, 0, 0),
            OpKind::WaitUntil { time } => (10, 0, time, 0),
        }
    }

    /// The operation with these [`OpKind::numbers`]; `None` if no operation has them.
    pub fn of_numbers(kind: u8, peer: u32, amount: u64, tag: u32) -> Option<OpKind> {
        Some(match kind {
            0 => OpKind::Send { to: peer, size: amount, tag },
            1 => OpKind::Receive { from: peer, size: amount, tag },
            2 => OpKind::Compute { time: amount },
            3 => OpKind::Wait,
            4 => OpKind::Task { time: amount, cpu: u8::try_from(peer).ok()? },
            5 => OpKind::Started,
            10 => OpKind::WaitUntil { time: amount },
            _ => return None,
        })
    }

    /// A name for it in messages.
    pub(crate) fn describe(&self) -> String {
        let name =
            |what: &str, value: u32| if value == ANY { format!("any {what}") } else { format!("{what} {value}") };
        match *self {
            OpKind::Send { to, tag, .. } => format!("send to rank {to}, tag {tag}"),
            OpKind::Receive { from, tag, .. } => format!("receive from {}, {}", name("rank", from), name("tag", tag)),
            OpKind::Compute { time } => format!("compute {time}"),
            OpKind::Wait => "wait".into(),
            OpKind::WaitUntil { time } => format!("wait until {time}"),
            OpKind::Task { time, cpu } => format!("task of {time} on CPU {cpu}"),
            OpKind::Started => "started".into(),
        }
    }
}
