//! The part of an all-to-all that stays within servers: a ring of the ranks of each; and messages that carry the blocks
//! of many pairs.

use crate::{BlockSet, Blocks, Step, Transfer, World};

/// Steps of a ring of the ranks of a server; the largest needs them all.
pub fn steps(world: &World) -> u32 {
    world.servers.most().saturating_sub(1)
}

/// Step `step` of the ring of a rank's server: place l sends to place l + step + 1. `blocks` says what goes from one
/// rank to another.
pub fn step(world: &World, rank: u32, step: u32, blocks: impl Fn(u32, u32) -> Blocks) -> Step {
    let servers = &world.servers;
    let (server, place) = servers.at(rank);
    let (ranks, distance) = (servers.size(server), step + 1);
    if distance >= ranks {
        return Step::default();
    }
    let to = servers.rank(server, (place + distance) % ranks);
    let from = servers.rank(server, (place + ranks - distance) % ranks);
    Step::exchange(Transfer::new(to, blocks(rank, to)), Transfer::new(from, blocks(from, rank)))
}

/// The blocks from each of some ranks to each of others, but for those from a rank to itself.
pub fn pairs(world: &World, from: Vec<u32>, to: Vec<u32>) -> Blocks {
    Blocks::set(Product { ranks: world.ranks, from, to })
}

/// The ranks of any server whose place, counted around the ranks of the server of `rank`, is that of `rank`: itself
/// and, where all servers have as many, one of each. In ascending order.
pub fn counterparts(world: &World, rank: u32) -> Vec<u32> {
    let servers = &world.servers;
    let (server, place) = servers.at(rank);
    let of = |other| servers.members(other).iter().skip(place as usize).step_by(servers.size(server) as usize);
    let mut all: Vec<u32> = (0..servers.count()).flat_map(of).copied().collect();
    all.sort_unstable();
    all
}

/// Messages between a rank and one other server at most, where one end of each is found by counting places around.
pub fn turns(world: &World) -> u32 {
    world.servers.most().div_ceil(world.servers.fewest())
}

#[derive(Debug)]
struct Product {
    ranks: u32,
    /// In ascending order, as are those to which it goes.
    from: Vec<u32>,
    to: Vec<u32>,
}

impl BlockSet for Product {
    fn count(&self) -> u64 {
        let both = self.from.iter().filter(|rank| self.to.binary_search(rank).is_ok()).count();
        (self.from.len() * self.to.len() - both) as u64
    }

    fn list(&self) -> Vec<u64> {
        let pair = |from: u32, to: u32| u64::from(from) * u64::from(self.ranks) + u64::from(to);
        let all = self.from.iter().flat_map(|&from| self.to.iter().map(move |&to| (from, to)));
        all.filter(|(from, to)| from != to).map(|(from, to)| pair(from, to)).collect()
    }
}
