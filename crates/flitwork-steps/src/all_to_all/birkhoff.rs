//! 2-Level Ring by the decomposition of Birkhoff and von Neumann, for servers of different sizes.
//!
//! First the ranks of each server exchange in a ring among themselves, then servers send by slots ([`crate::slots`]):
//! to one server at a time, from one at a time, and together no longer than the server with most messages needs.
//! Servers of the same size get the 2-Level Ring. That one partner at a time is optimal up to a small term is known of
//! the hierarchical factor algorithm: Sanders and Träff, Euro-Par 2002.

use super::within;
use crate::error::{Error, Result};
use crate::{Blocks, Needs, Step, Transfer, World};

/// Most servers of different sizes: more take too long to decompose.
const MOST_SERVERS: u32 = 128;

/// Few servers, or equal ones.
pub const NEEDS: Needs = Needs { in_words: "up to 128 servers of different sizes, any of one size", check };

fn check(world: &World) -> Result<()> {
    let servers = &world.servers;
    if servers.are_equal() || servers.count() <= MOST_SERVERS {
        return Ok(());
    }
    let expected = format!(
        "another algorithm for {} servers: birkhoff is defined for {MOST_SERVERS} of different sizes, or equal ones",
        servers.count()
    );
    Err(Error::config("workload.algorithm", "birkhoff", expected, "use two_level_ring"))
}

pub fn steps(world: &World) -> u32 {
    within::steps(world) + world.servers.slots().rounds()
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let pair = |from, to| Blocks::one(world.pair(from, to));
    let Some(round) = step.checked_sub(within::steps(world)) else {
        return within::step(world, rank, step, pair);
    };
    let servers = &world.servers;
    let peer = |sends| servers.slots().peer(servers, rank, round, sends);
    let (to, from) = (peer(true), peer(false));
    Step {
        send: to.map(|to| Transfer::new(to, pair(rank, to))),
        receive: from.map(|from| Transfer::new(from, pair(from, rank))),
        adds: false,
        waits: to.is_some() || from.is_some(),
    }
}
