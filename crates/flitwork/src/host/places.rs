//! Which ranks run at which terminal.

use crate::schedule::Placement;

#[derive(Debug)]
pub(super) struct Places {
    terminal_of: Vec<u32>,
    /// Ranks by terminal; those of terminal `t` are `ranks_from[t]..ranks_from[t + 1]`.
    ranks_by_terminal: Vec<u32>,
    ranks_from: Vec<u32>,
}

impl Places {
    pub fn new(placement: &Placement) -> Self {
        let ranks_of = placement.ranks_of();
        let mut ranks_from = vec![0];
        ranks_from.extend(ranks_of.iter().scan(0, |sum, list| {
            *sum += list.len() as u32;
            Some(*sum)
        }));
        Places { terminal_of: placement.terminal_of().to_vec(), ranks_by_terminal: ranks_of.concat(), ranks_from }
    }

    /// Terminals, with or without ranks.
    pub fn terminals(&self) -> usize {
        self.ranks_from.len() - 1
    }

    /// The terminal of a rank.
    #[inline]
    pub fn terminal_of(&self, rank: u32) -> u32 {
        self.terminal_of[rank as usize]
    }

    /// The ranks of a terminal.
    #[inline]
    pub fn ranks_at(&self, terminal: u32) -> &[u32] {
        let t = terminal as usize;
        &self.ranks_by_terminal[self.ranks_from[t] as usize..self.ranks_from[t + 1] as usize]
    }

    /// The rank at a place of the list of a terminal, if the list is so long.
    #[inline]
    pub fn rank_at(&self, terminal: u32, place: usize) -> Option<u32> {
        self.ranks_at(terminal).get(place).copied()
    }

    /// The first rank of a terminal that is `ready`, beginning with the one whose turn it is, and whose turn it is
    /// then.
    #[inline]
    pub fn next_in_turn(&self, terminal: u32, turn: u32, ready: impl Fn(u32) -> bool) -> Option<(u32, u32)> {
        let ranks = self.ranks_at(terminal);
        let (earlier, later) = ranks.split_at(turn as usize);
        let found = later.iter().chain(earlier).position(|&rank| ready(rank))? as u32;
        let place = (turn + found) % ranks.len() as u32;
        Some((ranks[place as usize], (place + 1) % ranks.len() as u32))
    }
}
