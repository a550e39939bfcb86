//! Leaders: each server has some, who collect what their ranks have for all, exchange it, and hand out what came.
//!
//! ```text
//! the ranks of a server are `leaders` groups of consecutive places; the first of a group is its leader
//! gather:   each rank sends all that it has to its leader
//! exchange: for j = 0 .. servers - 1, q = 0 .. leaders - 1:
//!               the leader of group g sends to that of group g + q of server s + j what its group has for that one
//! scatter:  the leader sends to each rank what came for it
//! ```
//!
//! Kinkead, Wesley, Schonbein, DeBonis, Dosanjh and Bienz, SC Workshops 2025, "multi-leader". With one leader that is
//! the hierarchical algorithm, and where every rank is one, the 2-Level Ring.

use super::within::pairs;
use crate::error::{Error, Result};
use crate::{Needs, Step, Transfer, World};

/// Leaders whose groups have one size.
pub const NEEDS: Needs = Needs { in_words: "leaders that divide the ranks of each server", check };

fn check(world: &World) -> Result<()> {
    let (servers, leaders) = (&world.servers, world.leaders);
    let divides = |&server: &u32| leaders > 0 && servers.size(server).is_multiple_of(leaders);
    let Some(server) = (0..servers.count()).find(|server| !divides(server)) else { return Ok(()) };
    let ranks = servers.size(server);
    let expected = format!("a divisor of the ranks of each server; one has {ranks}");
    let most = servers.common_divisor(servers.fewest());
    let hint = format!("1 to {most} leaders whose number divides {most}");
    Err(Error::config("workload.leaders", leaders, expected, hint))
}

pub fn steps(world: &World) -> u32 {
    steps_of(world, world.leaders)
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    step_of(world, world.leaders, rank, step)
}

/// The steps with so many leaders on each server.
pub fn steps_of(world: &World, leaders: u32) -> u32 {
    2 * within_groups(world, leaders) + world.servers.count() * leaders - 1
}

/// Steps of a gather, and of a scatter, in the largest groups.
fn within_groups(world: &World, leaders: u32) -> u32 {
    (world.servers.most() / leaders).saturating_sub(1)
}

/// A step with so many leaders on each server.
pub fn step_of(world: &World, leaders: u32, rank: u32, step: u32) -> Step {
    let (gathers, exchanges) = (within_groups(world, leaders), world.servers.count() * leaders - 1);
    let (server, place) = world.servers.at(rank);
    let each = world.servers.size(server) / leaders;
    let group = Group { world, server, number: place / each, leaders };
    let everybody = || (0..world.ranks).collect();
    if step < gathers {
        return group.step(rank, step, |member| pairs(world, vec![member], everybody()), false);
    }
    if step >= gathers + exchanges {
        let after = step - gathers - exchanges;
        return group.step(rank, after, |member| pairs(world, everybody(), vec![member]), true);
    }
    if rank != group.leader() {
        return Step::default();
    }
    let turn = step - gathers + 1;
    let (to, from) = (group.moved(turn, true), group.moved(turn, false));
    let blocks = |from: &Group, to: &Group| pairs(world, from.members().to_vec(), to.members().to_vec());
    let send = Transfer::new(to.leader(), blocks(&group, &to));
    Step::exchange(send, Transfer::new(from.leader(), blocks(&from, &group)))
}

/// The ranks of a leader.
struct Group<'a> {
    world: &'a World,
    server: u32,
    number: u32,
    leaders: u32,
}

impl Group<'_> {
    fn members(&self) -> &[u32] {
        let all = self.world.servers.members(self.server);
        let each = all.len() / self.leaders as usize;
        &all[self.number as usize * each..][..each]
    }

    fn leader(&self) -> u32 {
        self.members()[0]
    }

    /// The group with which its leader exchanges in a turn: to which it sends (`ahead`), or from which it receives.
    fn moved(&self, turn: u32, ahead: bool) -> Self {
        let Group { world, leaders, .. } = *self;
        let (servers, groups) = (turn / leaders, turn % leaders);
        let (server, number) = match ahead {
            true => (world.servers.after(self.server, servers), self.number + groups),
            false => (world.servers.before(self.server, servers), self.number + leaders - groups),
        };
        Group { world, server, number: number % leaders, leaders }
    }

    /// A step of a gather at the leader, or of a scatter from it (`out`), who posts all of its messages and waits once.
    fn step(&self, rank: u32, step: u32, blocks: impl Fn(u32) -> crate::Blocks, out: bool) -> Step {
        let members = self.members();
        let Some(&member) = members.get(step as usize + 1) else { return Step::default() };
        let peer = match rank {
            rank if rank == self.leader() => member,
            rank if rank == member => self.leader(),
            _ => return Step::default(),
        };
        let sends = (rank == member) != out;
        let one = if sends { Step::send(peer, blocks(member)) } else { Step::receive(peer, blocks(member)) };
        one.waiting(rank == member || step as usize + 2 == members.len())
    }
}
