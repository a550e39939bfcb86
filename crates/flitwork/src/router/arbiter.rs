//! Arbiters: which of several candidates is next. The state of all arbiters of one kind in a network lies in one array.

use crate::spec::ArbiterKind;

/// A bank of arbiters, each over `members` candidates.
#[derive(Debug, Clone)]
pub(crate) enum ArbiterBank {
    /// One pointer an arbiter.
    RoundRobin {
        /// The candidate that is first in turn.
        pointers: Vec<u16>,
        members: u16,
    },
    /// When each candidate was served last; the order of these stamps is the matrix arbiter's matrix.
    Matrix {
        /// Indexed `[arbiter][candidate]`; the higher index is served first at the start.
        stamps: Vec<u32>,
        /// Services so far.
        clock: u32,
        members: usize,
    },
}

impl ArbiterBank {
    /// `arbiters` arbiters over `members` candidates. Priorities (oldest first, FCFS) come with the requests; among equals
    /// these arbiters go round robin.
    pub fn new(kind: ArbiterKind, arbiters: usize, members: usize) -> Self {
        match kind {
            ArbiterKind::Matrix => {
                let order = (0..members as u32).rev();
                let stamps = std::iter::repeat_n(order, arbiters).flatten().collect();
                ArbiterBank::Matrix { stamps, clock: members as u32, members }
            }
            _ => ArbiterBank::RoundRobin { pointers: vec![0; arbiters], members: members as u16 },
        }
    }

    /// How far from being served `candidate` is; the smallest wins.
    #[inline]
    pub fn rank(&self, arbiter: usize, candidate: u16) -> u32 {
        match self {
            ArbiterBank::RoundRobin { pointers, members } => {
                let pointer = pointers[arbiter];
                u32::from(if candidate >= pointer { candidate - pointer } else { candidate + members - pointer })
            }
            ArbiterBank::Matrix { stamps, members, .. } => stamps[arbiter * members + candidate as usize],
        }
    }

    /// Takes note that `candidate` was served.
    #[inline]
    pub fn serve(&mut self, arbiter: usize, candidate: u16) {
        match self {
            ArbiterBank::RoundRobin { pointers, members } => {
                pointers[arbiter] = if candidate + 1 == *members { 0 } else { candidate + 1 };
            }
            ArbiterBank::Matrix { stamps, clock, members } => {
                stamps[arbiter * *members + candidate as usize] = *clock;
                *clock += 1;
                if *clock == u32::MAX {
                    renumber(stamps, *members);
                    *clock = *members as u32;
                }
            }
        }
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

    fn winner(bank: &ArbiterBank, candidates: &[u16]) -> u16 {
        *candidates.iter().min_by_key(|&&c| bank.rank(0, c)).unwrap()
    }

    #[test]
    fn round_robin_serves_in_turn() {
        let mut bank = ArbiterBank::new(ArbiterKind::RoundRobin, 1, 4);
        let mut served = Vec::new();
        for _ in 0..5 {
            let w = winner(&bank, &[0, 2, 3]);
            bank.serve(0, w);
            served.push(w);
        }
        assert_eq!(served, [0, 2, 3, 0, 2]);
    }

    #[test]
    fn matrix_serves_the_least_recently_served_and_starts_at_the_top() {
        let mut bank = ArbiterBank::new(ArbiterKind::Matrix, 1, 4);
        let mut served = Vec::new();
        for candidates in [&[0, 1, 2, 3][..], &[2, 3], &[0, 2, 3], &[0, 1, 2, 3]] {
            let w = winner(&bank, candidates);
            bank.serve(0, w);
            served.push(w);
        }
        assert_eq!(served, [3, 2, 0, 1]);
    }

    #[test]
    fn renumbering_keeps_the_order() {
        let mut stamps = vec![70, 10, 40, 5, 9, 2];
        renumber(&mut stamps, 3);
        assert_eq!(stamps, [2, 0, 1, 1, 2, 0]);
    }
}
