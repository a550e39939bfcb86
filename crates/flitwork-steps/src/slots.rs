//! Which server sends to which, and how many messages, so that no two send to one and the server with most messages
//! never waits.
//!
//! An all-to-all between servers of `p[s]` ranks is a matrix of `p[s] p[t]` messages for each pair of servers. In a
//! *slot* each server sends so many messages to one other server, and receives from one, or is idle: a permutation.
//! Filled up on its diagonal, the matrix has the same sum in all rows and columns, `max_s p[s] (P - p[s])`, so by the
//! theorem of Birkhoff and von Neumann it is a sum of permutations whose weights add up to just that: no server has to
//! send for longer than the one with most messages must anyway.
//!
//! ```text
//! for j = 1 .. servers - 1:                           # rings first: all of it where servers are equal
//!     slot: s -> s + j, with as many messages as the smallest p[s] p[s + j]
//! while anything is left:
//!     slot: a perfect matching of what is left, with as many messages as its smallest entry
//! ```
//!
//! Within a slot the messages from server to server go by *rounds*: in round `d` place `a` of the smaller server and
//! place `(a + d) mod R` of the larger one, R its ranks, exchange, so no rank sends or receives twice in a round. A
//! pair that has several slots goes on where it stopped.

use super::servers::Servers;

/// The slots of an all-to-all.
#[derive(Debug, Clone)]
pub struct Slots {
    slots: Vec<Slot>,
    /// The round behind the last.
    rounds: u32,
}

/// Some rounds in which a server sends to one other.
#[derive(Debug, Clone)]
pub struct Slot {
    /// Messages that each server may send.
    pub messages: u64,
    /// Its first round.
    first: u32,
    pairs: Pairs,
}

/// The server to which each sends.
#[derive(Debug, Clone)]
enum Pairs {
    /// So many servers on, from the first message on.
    Ring(u32),
    /// Of each server that to which it sends, itself where it is idle; that from which it receives; and how many
    /// messages went to the one to which it sends before.
    Matched { to: Vec<u32>, from: Vec<u32>, before: Vec<u64> },
}

impl Slots {
    /// The slots of these servers.
    pub fn of(servers: &Servers) -> Self {
        let mut made = Slots { slots: Vec::new(), rounds: 0 };
        let count = servers.count();
        let pair = |from: u32, to: u32| u64::from(servers.size(from)) * u64::from(servers.size(to));
        let mut sent = Table::new(count);
        for distance in 1..count {
            let messages = (0..count).map(|s| pair(s, servers.after(s, distance))).min().unwrap_or(0);
            (0..count).for_each(|s| *sent.at(s, servers.after(s, distance)) = messages);
            made.add(servers, messages, Pairs::Ring(distance));
        }
        if !servers.are_equal() {
            made.add_rest(servers, sent, pair);
        }
        made
    }

    /// What is left behind the rings, by matchings.
    fn add_rest(&mut self, servers: &Servers, mut sent: Table, pair: impl Fn(u32, u32) -> u64) {
        let count = servers.count();
        let mut left = Table::new(count);
        for s in 0..count {
            let size = u64::from(servers.size(s));
            *left.at(s, s) = servers.most_sent() - size * (u64::from(servers.ranks()) - size);
            (0..count).filter(|&t| t != s).for_each(|t| *left.at(s, t) = pair(s, t) - *sent.at(s, t));
        }
        let mut matching = Matching::new(count);
        while matching.complete(&mut left) {
            let to: Vec<u32> = (0..count).map(|s| matching.to(s)).collect();
            let messages = (0..count).map(|s| *left.at(s, to[s as usize])).min().unwrap_or(0);
            let before = (0..count).map(|s| *sent.at(s, to[s as usize])).collect();
            for s in 0..count {
                *left.at(s, to[s as usize]) -= messages;
                *sent.at(s, to[s as usize]) += messages;
            }
            let from = (0..count).map(|t| matching.from(t)).collect();
            self.add(servers, messages, Pairs::Matched { to, from, before });
        }
    }

    fn add(&mut self, servers: &Servers, messages: u64, pairs: Pairs) {
        let slot = Slot { messages, first: self.rounds, pairs };
        self.rounds += slot.rounds(servers);
        self.slots.push(slot);
    }

    /// All slots in their order.
    pub fn all(&self) -> &[Slot] {
        &self.slots
    }

    /// How many rounds all slots have.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// The slot of a round, and how many of its rounds were before.
    fn slot(&self, round: u32) -> Option<(&Slot, u32)> {
        let index = self.slots.partition_point(|slot| slot.first <= round).checked_sub(1)?;
        Some((&self.slots[index], round - self.slots[index].first))
    }

    /// To whom a rank sends in a round (`sends`), or from whom it receives.
    pub fn peer(&self, servers: &Servers, rank: u32, round: u32, sends: bool) -> Option<u32> {
        let (server, place) = servers.at(rank);
        let (slot, round) = self.slot(round)?;
        let pair = slot.pair(servers, server, sends)?;
        pair.met(place, round, slot.messages).map(|place| servers.rank(pair.other, place))
    }
}

impl Slot {
    /// How many rounds it has.
    pub fn rounds(&self, servers: &Servers) -> u32 {
        let of = |server| self.pair(servers, server, true).map_or(0, |pair| pair.rounds(self.messages));
        (0..servers.count()).map(of).max().unwrap_or(0)
    }

    /// The pair of servers in which `server` sends, or receives; `None` where it is idle.
    fn pair(&self, servers: &Servers, server: u32, sends: bool) -> Option<Pair> {
        let (other, before) = match &self.pairs {
            Pairs::Ring(distance) if sends => (servers.after(server, *distance), 0),
            Pairs::Ring(distance) => (servers.before(server, *distance), 0),
            Pairs::Matched { to, before, .. } if sends => (to[server as usize], before[server as usize]),
            Pairs::Matched { from, before, .. } => (from[server as usize], before[from[server as usize] as usize]),
        };
        let (size, other_size) = (servers.size(server), servers.size(other));
        // Of two of one size both sides must agree on who counts as the smaller: the one that sends.
        let is_smaller = size < other_size || size == other_size && sends;
        (other != server).then_some(Pair { other, size, other_size, is_smaller, before })
    }
}

/// Two servers that exchange in a slot, as one of them sees it.
#[derive(Debug, Clone, Copy)]
struct Pair {
    other: u32,
    size: u32,
    other_size: u32,
    is_smaller: bool,
    /// Messages between them that went in earlier slots.
    before: u64,
}

impl Pair {
    /// Messages of a whole round.
    fn in_round(&self) -> u64 {
        u64::from(self.size.min(self.other_size))
    }

    /// In how many rounds so many messages go.
    fn rounds(&self, messages: u64) -> u32 {
        ((self.before + messages).div_ceil(self.in_round()) - self.before / self.in_round()) as u32
    }

    /// The place in the other server with which `place` exchanges in a round of the slot.
    fn met(&self, place: u32, round: u32, messages: u64) -> Option<u32> {
        let (larger, smaller) = (self.size.max(self.other_size), self.size.min(self.other_size));
        let turn = (self.before / self.in_round()) as u32 + round;
        if turn >= larger {
            return None;
        }
        // The place in the smaller server, which numbers the messages of a round.
        let number = if self.is_smaller { place } else { (place + larger - turn) % larger };
        let message = u64::from(turn) * self.in_round() + u64::from(number);
        let is_now = number < smaller && (self.before..self.before + messages).contains(&message);
        is_now.then(|| if self.is_smaller { (place + turn) % larger } else { number })
    }
}

/// A number for each pair of servers.
struct Table {
    count: usize,
    values: Vec<u64>,
}

impl Table {
    fn new(count: u32) -> Self {
        Table { count: count as usize, values: vec![0; (count as usize).pow(2)] }
    }

    fn at(&mut self, from: u32, to: u32) -> &mut u64 {
        &mut self.values[from as usize * self.count + to as usize]
    }
}

const NOBODY: u32 = u32::MAX;

/// A matching of rows and columns, mended where entries have become 0.
struct Matching {
    to: Vec<u32>,
    from: Vec<u32>,
}

impl Matching {
    fn new(count: u32) -> Self {
        Matching { to: vec![NOBODY; count as usize], from: vec![NOBODY; count as usize] }
    }

    fn to(&self, row: u32) -> u32 {
        self.to[row as usize]
    }

    fn from(&self, column: u32) -> u32 {
        self.from[column as usize]
    }

    /// Makes it a perfect matching of the entries above 0; whether there is one.
    fn complete(&mut self, left: &mut Table) -> bool {
        let count = self.to.len() as u32;
        for row in 0..count {
            let to = self.to(row);
            if to != NOBODY && *left.at(row, to) == 0 {
                self.to[row as usize] = NOBODY;
                self.from[to as usize] = NOBODY;
            }
        }
        (0..count).all(|row| self.to(row) != NOBODY || self.augment(row, left))
    }

    /// Finds a column for a row, by the shortest path of rows that give up theirs.
    fn augment(&mut self, row: u32, left: &mut Table) -> bool {
        let count = self.to.len() as u32;
        let mut reached_by = vec![NOBODY; count as usize];
        let mut rows = vec![row];
        let mut next = 0;
        while let Some(&row) = rows.get(next) {
            next += 1;
            for column in 0..count {
                if reached_by[column as usize] != NOBODY || *left.at(row, column) == 0 {
                    continue;
                }
                reached_by[column as usize] = row;
                if self.from(column) == NOBODY {
                    self.turn(column, &reached_by);
                    return true;
                }
                rows.push(self.from(column));
            }
        }
        false
    }

    /// Gives each row on the path to a free column the column by which the next was reached.
    fn turn(&mut self, mut column: u32, reached_by: &[u32]) {
        while column != NOBODY {
            let row = reached_by[column as usize];
            let given_up = std::mem::replace(&mut self.to[row as usize], column);
            self.from[column as usize] = row;
            column = given_up;
        }
    }
}
