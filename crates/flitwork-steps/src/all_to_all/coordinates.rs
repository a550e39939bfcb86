//! Destinations in an order on a grid, and the all-to-alls that go by the coordinates of ranks as step functions.
//!
//! Message `m` of every rank moves its data by the same vector, so rank `r` receives its message `m` from the rank that
//! lies at the opposite vector. As a collective all messages are posted, then one wait for all of them: `MPI_Alltoall`
//! of a library that knows the network. The workload `all_to_all` of the simulator is the same order with other rules
//! of keeping in step.

use super::{Offset, Order, find};
use crate::error::Result;
use crate::{Blocks, MAX_DIMS, RankGrid, Step, Transfer, World};

/// The order in which ranks, one at each router of a grid, address the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destinations {
    grid: RankGrid,
    order: Order,
}

impl Destinations {
    /// The offsets of the all-to-all `name` of [`super::ALGORITHMS`] on a grid.
    ///
    /// # Errors
    /// [`crate::Error`] where there is no such algorithm, or it is not defined on the grid.
    pub fn of(name: &str, grid: &RankGrid) -> Result<Self> {
        Ok(Destinations { grid: grid.clone(), order: find(name)?.order_on(grid)? })
    }

    /// Ranks.
    pub fn ranks(&self) -> u32 {
        self.grid.ranks()
    }

    /// Messages of a rank.
    pub fn count(&self) -> usize {
        self.order.len()
    }

    /// The rank to which `rank` sends message `index`.
    pub fn to(&self, rank: u32, index: u32) -> u32 {
        self.peer(rank, index, 1)
    }

    /// The rank that sends message `index` to `rank`.
    pub fn from(&self, rank: u32, index: u32) -> u32 {
        self.peer(rank, index, -1)
    }

    /// The rank that lies at the vector of a message, or at its opposite.
    fn peer(&self, rank: u32, index: u32, sign: i64) -> u32 {
        let grid = &self.grid;
        match &self.order {
            Order::Ranks(offsets) => {
                let moved = i64::from(rank) + sign * i64::from(offsets[index as usize]);
                moved.rem_euclid(i64::from(grid.ranks())) as u32
            }
            Order::Coordinates(offsets) => {
                let (v, coords): (&Offset, _) = (&offsets[index as usize], grid.coords(rank));
                let mut at = [0; MAX_DIMS];
                for d in 0..grid.dims() {
                    let moved = i64::from(coords[d]) + sign * i64::from(v[d]);
                    at[d] = moved.rem_euclid(i64::from(grid.size(d))) as u32;
                }
                grid.rank(&at)
            }
        }
    }
}

pub fn steps(world: &World) -> u32 {
    world.ranks - 1
}

/// Message `step`. Without destinations, which [`crate::Collective::check`] refuses, there is nothing to do.
pub fn step(world: &World, rank: u32, step: u32) -> Step {
    let Some(destinations) = &world.destinations else { return Step::default() };
    let (to, from) = (destinations.to(rank, step), destinations.from(rank, step));
    let send = Transfer::new(to, Blocks::one(world.pair(rank, to)));
    let receive = Transfer::new(from, Blocks::one(world.pair(from, rank)));
    Step::exchange(send, receive).waiting(step + 2 == world.ranks)
}
