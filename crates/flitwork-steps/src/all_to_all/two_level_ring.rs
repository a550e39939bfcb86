//! 2-Level Ring: a ring of servers, and in each of its steps a ring of the ranks of two servers.
//!
//! ```text
//! for j = 0 .. servers - 1:              # one destination server for each j: no message waits behind one to another
//!     t = (s + j) mod servers
//!     R = max(p[s], p[t])
//!     for k = 0 .. R - 1:
//!         m = (l + k) mod R
//!         if m < p[t]: send to place m of t
//!         and receive from place (l - k) mod max(p[s], p[f]) of f = (s - j) mod servers, if f has it
//! ```
//!
//! `s` is the rank's server, `l` its place there, `p` the ranks of a server. With as many ranks everywhere that is the
//! 2-Level Ring of Naruse et al., 2010; servers of different sizes are its generalisation, in which a rank has nothing
//! to do in some rounds.

use crate::{Blocks, Step, Transfer, World};

pub fn steps(world: &World) -> u32 {
    world.servers.count() * world.servers.most() - 1
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let servers = &world.servers;
    // Of the first round of the own server there is nothing to do.
    let (j, k) = ((step + 1) / servers.most(), (step + 1) % servers.most());
    let (server, place) = servers.at(rank);
    // The place in the other server that is k places on, or back, around the larger of the two.
    let met = |other: u32, ahead: bool| {
        let around = servers.size(server).max(servers.size(other));
        let at = (place + if ahead { k } else { around - k.min(around) }) % around;
        (k < around && at < servers.size(other)).then(|| servers.rank(other, at))
    };
    let (to, from) = (met(servers.after(server, j), true), met(servers.before(server, j), false));
    Step {
        send: to.map(|to| Transfer::new(to, Blocks::one(world.pair(rank, to)))),
        receive: from.map(|from| Transfer::new(from, Blocks::one(world.pair(from, rank)))),
        adds: false,
        waits: to.is_some() || from.is_some(),
    }
}
