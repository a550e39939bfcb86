//! Van de Geijn's: scatter the vector down a binomial tree, then gather its pieces everywhere around a ring.
//!
//! For long vectors. Barnett et al., Interprocessor collective communication library (InterCom), SHPCC 1994.

use crate::{Step, World, allgather, scatter};

pub fn steps(world: &World) -> u32 {
    scatter::binomial::steps(world) + allgather::ring::steps(world)
}

pub fn step(world: &World, rank: u32, step: u32) -> Step {
    match step.checked_sub(scatter::binomial::steps(world)) {
        None => scatter::binomial::step(world, rank, step),
        Some(step) => allgather::ring::step(world, rank, step),
    }
}
