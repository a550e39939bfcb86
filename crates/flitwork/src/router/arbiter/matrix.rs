//! The matrix arbiter: the least recently served candidate.
//!
//! W. J. Dally and B. Towles, *Principles and Practices of Interconnection Networks*, 2004, chapter 18. The matrix says
//! of each pair who comes first. Here each candidate has a stamp of when it was served last; the order of the stamps is
//! that matrix.

use super::Memory;

/// When each candidate was served last.
#[derive(Debug, Clone)]
pub(crate) struct Matrix {
    /// Indexed `[arbiter][candidate]`; the higher index is served first at the start.
    stamps: Vec<u32>,
    /// Services so far.
    clock: u32,
    members: usize,
}

impl Memory for Matrix {
    fn new(arbiters: usize, members: usize) -> Self {
        let order = (0..members as u32).rev();
        Matrix { stamps: std::iter::repeat_n(order, arbiters).flatten().collect(), clock: members as u32, members }
    }

    #[inline]
    fn rank(&self, arbiter: usize, candidate: u16) -> u32 {
        self.stamps[arbiter * self.members + candidate as usize]
    }

    #[inline]
    fn serve(&mut self, arbiter: usize, candidate: u16) {
        self.stamps[arbiter * self.members + candidate as usize] = self.clock;
        self.clock += 1;
        if self.clock == u32::MAX {
            renumber(&mut self.stamps, self.members);
            self.clock = self.members as u32;
        }
    }

    fn bytes(arbiters: usize, members: usize) -> usize {
        4 * arbiters * members
    }
}

/// Makes room for new stamps: keeps each arbiter's order, with the smallest numbers.
fn renumber(stamps: &mut [u32], members: usize) {
    for arbiter in stamps.chunks_mut(members) {
        let mut order: Vec<usize> = (0..members).collect();
        order.sort_unstable_by_key(|&i| arbiter[i]);
        for (stamp, i) in order.into_iter().enumerate() {
            arbiter[i] = stamp as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renumbering_keeps_the_order() {
        let mut stamps = vec![70, 10, 40, 5, 9, 2];
        renumber(&mut stamps, 3);
        assert_eq!(stamps, [2, 0, 1, 1, 2, 0]);
    }
}
