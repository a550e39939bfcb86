//! Arbiters: which of several candidates is next.
//!
//! An arbiter prefers the candidate with the smallest priority, a number that follows from the packet, if it has such a
//! rule; among equals it decides by its memory of whom it served. A kind of arbiter is a file with one of the two, and
//! a row below.

mod fcfs;
mod matrix;
mod oldest_first;
mod round_robin;

use crate::component::Component;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What all arbiters of one kind remember, in flat arrays: `arbiters` arbiters, each over `members` candidates.
trait Memory {
    fn new(arbiters: usize, members: usize) -> Self;

    /// How far from being served `candidate` is; the smallest wins. No two candidates of an arbiter have the same.
    fn rank(&self, arbiter: usize, candidate: u16) -> u32;

    /// Takes note that `candidate` was served.
    fn serve(&mut self, arbiter: usize, candidate: u16);

    /// Memory that it takes \[bytes].
    fn bytes(arbiters: usize, members: usize) -> usize;
}

/// What an arbiter may know of the packet at the front of an input VC.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiting {
    /// Cycle of its creation.
    pub created: u64,
    /// Source terminal, and its number there.
    pub src: u32,
    pub sequence: u32,
    /// Cycle in which its head arrived at this router; 0 unless the arbiter is one of [`Priority::OfArrival`].
    pub arrived: u64,
    /// The input VC.
    pub slot: u32,
}

/// A rule of preference: smaller numbers first. They are below 2^127.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Priority {
    /// None: all packets are equal.
    None,
    /// By the packet itself.
    OfPacket(fn(&Waiting) -> u128),
    /// By when it came here, which is noted only where an arbiter asks for it.
    OfArrival(fn(&Waiting) -> u128),
}

/// The rows: variant and its line for the reference page, name, memory, priority, and where it was published.
macro_rules! arbiters {
    ($(#[doc = $summary:literal] $(#[$other:meta])* $Kind:ident = $name:literal: $Memory:ty, $priority:expr, $paper:literal;)*) => {
        /// Arbiters: N requesters, one winner.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
        pub enum ArbiterKind {
            $(#[doc = $summary] $(#[$other])* #[serde(rename = $name)] $Kind,)*
        }

        impl ArbiterKind {
            /// All of them.
            pub const ALL: &[ArbiterKind] = &[$(ArbiterKind::$Kind),*];

            /// Its rule of preference.
            pub(crate) fn priority(self) -> Priority {
                match self {
                    $(ArbiterKind::$Kind => $priority,)*
                }
            }

            /// Memory that so many arbiters over so many candidates take \[bytes].
            pub(crate) fn bytes(self, arbiters: usize, members: usize) -> usize {
                match self {
                    $(ArbiterKind::$Kind => <$Memory as Memory>::bytes(arbiters, members),)*
                }
            }
        }

        /// All arbiters, for lists.
        pub(crate) const ARBITERS: &[Component] =
            &[$(Component { name: $name, summary: $summary.trim_ascii(), parameters: "", paper: $paper }),*];

        /// The arbiters of one kind in a network.
        #[derive(Debug, Clone)]
        pub(crate) enum ArbiterBank {
            $($Kind($Memory),)*
        }

        impl ArbiterBank {
            /// `arbiters` arbiters over `members` candidates.
            pub fn new(kind: ArbiterKind, arbiters: usize, members: usize) -> Self {
                match kind {
                    $(ArbiterKind::$Kind => ArbiterBank::$Kind(Memory::new(arbiters, members)),)*
                }
            }

            /// How far from being served `candidate` is; the smallest wins.
            #[inline]
            pub fn rank(&self, arbiter: usize, candidate: u16) -> u32 {
                match self {
                    $(ArbiterBank::$Kind(memory) => memory.rank(arbiter, candidate),)*
                }
            }

            /// Takes note that `candidate` was served.
            #[inline]
            pub fn serve(&mut self, arbiter: usize, candidate: u16) {
                match self {
                    $(ArbiterBank::$Kind(memory) => memory.serve(arbiter, candidate),)*
                }
            }
        }
    };
}

arbiters! {
    /// The first at or after a pointer that moves past the winner.
    #[default]
    RoundRobin = "round_robin": round_robin::RoundRobin, Priority::None, "";
    /// The least recently served.
    Matrix = "matrix": matrix::Matrix, Priority::None, "Dally and Towles 2004, chapter 18";
    /// The oldest packet by creation: globally fair; ties by source, then by its number there.
    OldestFirst = "oldest_first": round_robin::RoundRobin, Priority::OfPacket(oldest_first::priority), "Abts and Weisser, SC'07, 2007";
    /// The packet whose head arrived at this router first; ties by port, then virtual channel.
    Fcfs = "fcfs": round_robin::RoundRobin, Priority::OfArrival(fcfs::priority), "";
}

impl ArbiterKind {
    /// Whether it decides by a number for each packet.
    pub(crate) fn has_priority(self) -> bool {
        !matches!(self.priority(), Priority::None)
    }

    /// Whether it asks when packets came.
    pub(crate) fn needs_arrival_order(self) -> bool {
        matches!(self.priority(), Priority::OfArrival(_))
    }
}

#[cfg(test)]
mod tests;
