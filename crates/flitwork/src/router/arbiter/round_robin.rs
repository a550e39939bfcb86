//! Round robin: the first candidate at or after a pointer, which then moves past it.

use super::Memory;

/// One pointer an arbiter.
#[derive(Debug, Clone)]
pub(crate) struct RoundRobin {
    /// The candidate that is first in turn.
    pointers: Vec<u16>,
    members: u16,
}

impl Memory for RoundRobin {
    fn new(arbiters: usize, members: usize) -> Self {
        RoundRobin { pointers: vec![0; arbiters], members: members as u16 }
    }

    #[inline]
    fn rank(&self, arbiter: usize, candidate: u16) -> u32 {
        let pointer = self.pointers[arbiter];
        u32::from(if candidate >= pointer { candidate - pointer } else { candidate + self.members - pointer })
    }

    #[inline]
    fn serve(&mut self, arbiter: usize, candidate: u16) {
        self.pointers[arbiter] = if candidate + 1 == self.members { 0 } else { candidate + 1 };
    }

    fn bytes(arbiters: usize, _members: usize) -> usize {
        2 * arbiters
    }
}
