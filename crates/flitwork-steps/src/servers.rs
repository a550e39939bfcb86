//! Which ranks share a terminal: the servers that algorithms may know.
//!
//! All ranks of a terminal are a server. Servers are numbered in the order of their terminals, without those that have
//! no rank, and the ranks of a server have *places* in it, 0, 1, ..., in their order. Where each rank has a terminal of
//! its own, each is a server, and an algorithm that knows servers is a plain one.

use super::slots::Slots;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The servers of a world.
#[derive(Debug, Clone)]
pub struct Servers {
    /// Of each rank its server and its place there.
    at: Vec<(u32, u32)>,
    /// Of each server its ranks, in ascending order.
    members: Vec<Vec<u32>>,
    fewest: u32,
    most: u32,
    /// Made when it is asked for first, as few algorithms need it.
    slots: OnceLock<Slots>,
}

impl PartialEq for Servers {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Servers {}

impl Servers {
    /// Each rank on a server of its own.
    pub fn one_each(ranks: u32) -> Self {
        Servers::from_members((0..ranks).map(|rank| vec![rank]).collect())
    }

    /// The servers of ranks on these terminals: ranks of one terminal share a server.
    pub fn of_terminals(terminal_of: &[u32]) -> Self {
        let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (rank, &terminal) in (0..).zip(terminal_of) {
            members.entry(terminal).or_default().push(rank);
        }
        Servers::from_members(members.into_values().collect())
    }

    fn from_members(members: Vec<Vec<u32>>) -> Self {
        let mut at = vec![(0, 0); members.iter().map(Vec::len).sum()];
        for (server, ranks) in (0..).zip(&members) {
            for (place, &rank) in (0..).zip(ranks) {
                at[rank as usize] = (server, place);
            }
        }
        let sizes = || members.iter().map(|ranks| ranks.len() as u32);
        let (fewest, most) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
        Servers { at, members, fewest, most, slots: OnceLock::new() }
    }

    /// How many ranks.
    pub fn ranks(&self) -> u32 {
        self.at.len() as u32
    }

    /// How many servers.
    pub fn count(&self) -> u32 {
        self.members.len() as u32
    }

    /// The ranks of a server, in ascending order.
    pub fn members(&self, server: u32) -> &[u32] {
        &self.members[server as usize]
    }

    /// How many ranks a server has.
    pub fn size(&self, server: u32) -> u32 {
        self.members(server).len() as u32
    }

    /// The rank at a place of a server.
    pub fn rank(&self, server: u32, place: u32) -> u32 {
        self.members(server)[place as usize]
    }

    /// The server of a rank, and its place there.
    pub fn at(&self, rank: u32) -> (u32, u32) {
        self.at[rank as usize]
    }

    /// The server that is `distance` behind `server`, around the end.
    pub fn after(&self, server: u32, distance: u32) -> u32 {
        ((u64::from(server) + u64::from(distance)) % u64::from(self.count())) as u32
    }

    /// The server that is `distance` before `server`, around the start.
    pub fn before(&self, server: u32, distance: u32) -> u32 {
        self.after(server, self.count() - distance % self.count())
    }

    /// Ranks of the smallest server.
    pub fn fewest(&self) -> u32 {
        self.fewest
    }

    /// Ranks of the largest server.
    pub fn most(&self) -> u32 {
        self.most
    }

    /// Whether all servers have as many ranks.
    pub fn are_equal(&self) -> bool {
        self.fewest == self.most
    }

    /// The largest number, up to `most`, that divides the ranks of every server.
    pub fn common_divisor(&self, most: u32) -> u32 {
        (1..=most)
            .rfind(|divisor| self.members.iter().all(|ranks| (ranks.len() as u32).is_multiple_of(*divisor)))
            .unwrap_or(1)
    }

    /// Messages of an all-to-all that leave the server that sends most: `max_s p_s (P - p_s)`.
    pub fn most_sent(&self) -> u64 {
        let sent = |ranks: &Vec<u32>| ranks.len() as u64 * (self.at.len() - ranks.len()) as u64;
        self.members.iter().map(sent).max().unwrap_or(0)
    }

    /// Which server sends to which when, without contention and in the shortest time.
    pub fn slots(&self) -> &Slots {
        self.slots.get_or_init(|| Slots::of(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_a_terminal_are_a_server_and_empty_terminals_are_none() {
        let servers = Servers::of_terminals(&[7, 2, 7, 2, 7, 3]);
        assert_eq!((servers.ranks(), servers.count(), servers.fewest(), servers.most()), (6, 3, 1, 3));
        assert_eq!([0, 1, 2].map(|server| servers.members(server).to_vec()), [vec![1, 3], vec![5], vec![0, 2, 4]]);
        assert_eq!((servers.at(4), servers.rank(2, 2)), ((2, 2), 4));
        assert_eq!((servers.after(2, 1), servers.before(0, 4)), (0, 2));
        assert_eq!(servers.most_sent(), 9);
    }

    #[test]
    fn ranks_in_turn_and_one_each() {
        assert_eq!(Servers::of_terminals(&[0, 1, 2, 0, 1, 2]).members(1), [1, 4]);
        assert_eq!(Servers::one_each(4), Servers::of_terminals(&[0, 1, 2, 3]));
        assert_ne!(Servers::one_each(4), Servers::of_terminals(&[0, 0, 1, 1]));
    }

    #[test]
    fn the_common_divisor_divides_all() {
        let servers = Servers::of_terminals(&[0, 0, 0, 0, 1, 1]);
        assert_eq!([1, 2, 8].map(|most| servers.common_divisor(most)), [1, 2, 2]);
        assert_eq!(Servers::one_each(3).common_divisor(2), 1);
    }
}
