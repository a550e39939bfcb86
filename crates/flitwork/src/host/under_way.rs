//! Messages that have been taken and not been received, by numbers that are used again.

use super::asked::Envelope;
use crate::schedule::OpId;
use std::ops::{Index, IndexMut};

/// A message under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Letter {
    /// Sending and receiving rank.
    pub from: u32,
    pub to: u32,
    pub tag: u32,
    pub envelope: Envelope,
    /// The send operation.
    pub op: OpId,
    /// Its number in the order in which the messages of its rank were taken.
    pub order: u32,
    pub flits: u64,
    /// Flits that have not arrived.
    pub missing: u64,
    /// The cycle in which it arrived at its rank.
    pub arrived: u64,
}

#[derive(Debug)]
pub(super) struct UnderWay {
    letters: Vec<Letter>,
    free: Vec<u32>,
}

impl UnderWay {
    /// Room for so many messages before anything is allocated.
    pub fn with_room(messages: usize) -> Self {
        UnderWay { letters: Vec::with_capacity(messages), free: Vec::with_capacity(messages) }
    }

    pub fn insert(&mut self, letter: Letter) -> u32 {
        match self.free.pop() {
            Some(id) => {
                self.letters[id as usize] = letter;
                id
            }
            None => {
                self.letters.push(letter);
                self.letters.len() as u32 - 1
            }
        }
    }

    pub fn remove(&mut self, id: u32) {
        self.free.push(id);
    }
}

impl Index<u32> for UnderWay {
    type Output = Letter;

    fn index(&self, id: u32) -> &Letter {
        &self.letters[id as usize]
    }
}

impl IndexMut<u32> for UnderWay {
    fn index_mut(&mut self, id: u32) -> &mut Letter {
        &mut self.letters[id as usize]
    }
}
