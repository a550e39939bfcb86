//! Send-side aggregation: what goes from a server to one rank is collected at one of its ranks, and travels as one
//! message.
//!
//! ```text
//! within the server: hand to place c every block for a rank at place c, c + p[s], c + 2 p[s], ... of any server
//! for j = 1 .. servers - 1:
//!     send to place l of server s + j, and to place l + p[s], ... if it has them, what the whole server s has for it
//! ```
//!
//! `s` is the rank's server, `l` its place there, `p` the ranks of a server. Where all have as many, a rank sends one
//! message to each other server. Kumar, Mamidala and Panda, CAC workshop at IPDPS 2008; the volumes are those of Naruse
//! et al., 2010. Servers of different sizes are our generalisation: a rank receives one message from each other server.

use super::within::{self, counterparts, pairs, turns};
use crate::{Step, Transfer, World};

pub fn steps(world: &World) -> u32 {
    within::steps(world) + (world.servers.count() - 1) * turns(world)
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let Some(round) = step.checked_sub(within::steps(world)) else {
        return within::step(world, rank, step, |from, to| pairs(world, vec![from], counterparts(world, to)));
    };
    let servers = &world.servers;
    let ((server, place), turns) = (servers.at(rank), turns(world));
    let (distance, turn) = (round / turns + 1, round % turns);
    let (to, from) = (servers.after(server, distance), servers.before(server, distance));
    let whole = |server, to| pairs(world, servers.members(server).to_vec(), vec![to]);
    let send = servers.members(to).get((place + turn * servers.size(server)) as usize);
    let receive = (place / servers.size(from) == turn).then(|| servers.rank(from, place % servers.size(from)));
    Step {
        send: send.map(|&to| Transfer::new(to, whole(server, to))),
        receive: receive.map(|peer| Transfer::new(peer, whole(from, rank))),
        adds: false,
        waits: send.is_some() || receive.is_some(),
    }
}
