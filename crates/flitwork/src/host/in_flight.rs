//! Messages in flight: they have been taken and not been received. They have numbers that are used again.

use super::requests::Envelope;
use crate::schedule::OpId;
use std::ops::{Index, IndexMut};

/// A message in flight: a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct InFlight {
    /// Sending and receiving rank.
    pub from: u32,
    pub to: u32,
    pub tag: u32,
    pub envelope: Envelope,
    /// The send operation.
    pub op: OpId,
    /// Number of the message in the order in which those of its rank were taken.
    pub order: u32,
    pub flits: u64,
    /// Flits that have not arrived.
    pub missing: u64,
    /// The cycle in which it arrived at its rank.
    pub arrived: u64,
}

/// Messages of a rank in flight, in the order in which they left: their numbers, and to whom they go, in a list each.
/// Where there are many of them, most are looked at and passed by.
#[derive(Debug)]
pub(super) struct SentInOrder {
    ids: Vec<u32>,
    to: Vec<u32>,
    /// Those of them that have arrived.
    arrived: u32,
}

impl Default for SentInOrder {
    fn default() -> Self {
        SentInOrder { ids: Vec::with_capacity(16), to: Vec::with_capacity(16), arrived: 0 }
    }
}

impl SentInOrder {
    /// A message leaves for a rank.
    pub fn push(&mut self, id: u32, to: u32) {
        self.ids.push(id);
        self.to.push(to);
    }

    /// Counts a packet of the message that has arrived.
    pub fn note_arrival(&mut self) {
        self.arrived += 1;
    }

    /// Whether some of them have arrived.
    pub fn has_arrived(&self) -> bool {
        self.arrived > 0
    }

    /// The first message to a rank from place `from` on: its place and its number.
    pub fn next_to(&self, to: u32, from: usize) -> Option<(usize, u32)> {
        let at = from + first_of(&self.to[from..], to)?;
        Some((at, self.ids[at]))
    }

    /// The message at a place has arrived, and is not in flight any more.
    pub fn remove(&mut self, at: usize) {
        self.ids.remove(at);
        self.to.remove(at);
        self.arrived -= 1;
    }
}

/// The place of the first of a list that is `wanted`.
fn first_of(list: &[u32], wanted: u32) -> Option<usize> {
    /// Compared all at once: the compiler makes a few wide instructions of it.
    const BLOCK: usize = 16;
    let among = |block: &[u32]| block.iter().fold(false, |found, &number| found | (number == wanted));
    let start = list.chunks_exact(BLOCK).position(among).unwrap_or(list.len() / BLOCK) * BLOCK;
    list[start..].iter().position(|&number| number == wanted).map(|at| start + at)
}

#[derive(Debug)]
pub(super) struct InFlightTable {
    messages: Vec<InFlight>,
    free: Vec<u32>,
}

impl InFlightTable {
    /// Room for so many messages before anything is allocated.
    pub fn with_room(messages: usize) -> Self {
        InFlightTable { messages: Vec::with_capacity(messages), free: Vec::with_capacity(messages) }
    }

    pub fn insert(&mut self, message: InFlight) -> u32 {
        match self.free.pop() {
            Some(id) => {
                self.messages[id as usize] = message;
                id
            }
            None => {
                self.messages.push(message);
                self.messages.len() as u32 - 1
            }
        }
    }

    pub fn remove(&mut self, id: u32) {
        self.free.push(id);
    }
}

impl Index<u32> for InFlightTable {
    type Output = InFlight;

    fn index(&self, id: u32) -> &InFlight {
        &self.messages[id as usize]
    }
}

impl IndexMut<u32> for InFlightTable {
    fn index_mut(&mut self, id: u32) -> &mut InFlight {
        &mut self.messages[id as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::{SentInOrder, first_of};

    #[test]
    fn the_first_is_found_wherever_it_stands() {
        for len in [0, 1, 15, 16, 17, 33, 50] {
            let list: Vec<u32> = (0..len).flat_map(|number| [number; 2]).collect();
            for wanted in 0..len {
                assert_eq!(first_of(&list, wanted), Some(2 * wanted as usize));
            }
            assert_eq!(first_of(&list, len), None);
        }
    }

    #[test]
    fn messages_to_a_rank_are_found_in_the_order_in_which_they_left() {
        let mut sent = SentInOrder::default();
        [(7, 1), (3, 2), (9, 1)].into_iter().for_each(|(id, to)| sent.push(id, to));
        assert_eq!([sent.next_to(1, 0), sent.next_to(1, 1), sent.next_to(1, 3)], [Some((0, 7)), Some((2, 9)), None]);
        assert!(!sent.has_arrived());
        sent.note_arrival();
        assert!(sent.has_arrived());
        sent.remove(0);
        assert_eq!((sent.next_to(1, 0), sent.has_arrived()), (Some((1, 9)), false));
    }
}
