//! Node-aware aggregation: what a rank has for a whole server travels as one message to one rank there, which hands it
//! on.
//!
//! ```text
//! for j = 1 .. servers - 1:
//!     send to place l mod p[t] of server t = s + j all that the own rank has for server t
//! within the server: hand to each rank what came for it, and the own block
//! ```
//!
//! `s` is the rank's server, `l` its place there, `p` the ranks of a server. It is send-side aggregation the other way
//! round: the exchange between servers comes first. Kinkead, Wesley, Schonbein, DeBonis, Dosanjh and Bienz, SC
//! Workshops 2025, "node-aware". Servers of different sizes are our generalisation: a rank sends one message to each
//! other server.

use super::within::{self, counterparts, pairs, turns};
use crate::{Step, Transfer, World};

fn between(world: &World) -> u32 {
    (world.servers.count() - 1) * turns(world)
}

pub fn steps(world: &World) -> u32 {
    between(world) + within::steps(world)
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    if let Some(step) = step.checked_sub(between(world)) {
        return within::step(world, rank, step, |from, to| pairs(world, counterparts(world, from), vec![to]));
    }
    let servers = &world.servers;
    let ((server, place), turns) = (servers.at(rank), turns(world));
    let (distance, turn) = (step / turns + 1, step % turns);
    let (to, from) = (servers.after(server, distance), servers.before(server, distance));
    let whole = |from, server| pairs(world, vec![from], servers.members(server).to_vec());
    let send = (place / servers.size(to) == turn).then(|| servers.rank(to, place % servers.size(to)));
    let receive = servers.members(from).get((place + turn * servers.size(server)) as usize);
    Step {
        send: send.map(|peer| Transfer::new(peer, whole(rank, to))),
        receive: receive.map(|&from| Transfer::new(from, whole(from, server))),
        adds: false,
        waits: send.is_some() || receive.is_some(),
    }
}
