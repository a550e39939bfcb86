//! Finds timetables.

mod anneal;
mod frames;
mod geometry;
mod lanes;
mod layout;
mod meter;
mod product;
mod random;
mod streams;

use crate::error::{Error, Result};
use crate::timetable::Timetable;
use crate::topology::MAX_DIMS;
use meter::Meter;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Routers along each dimension of the torus.
    pub sizes: Vec<u32>,
    /// From one channel of a route to the next \[cycles].
    pub hop_cycles: u32,
    /// Length of the blocks, 1 for a frame of single flits \[flits].
    pub block_flits: u32,
    /// Decides, with the budget, what is found.
    pub seed: u64,
    /// Moves that may be tried.
    pub budget_steps: u64,
}

/// How far a search is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Moves tried.
    pub steps: u64,
    /// No period is shorter \[cycles].
    pub bound_cycles: u64,
    /// Period that is tried \[cycles].
    pub trying_cycles: u64,
    /// Best period found \[cycles].
    pub period_cycles: Option<u64>,
}

const MOST_NODES: u64 = 1 << 16;

fn check(order: &Order) -> Result<()> {
    let sizes = &order.sizes;
    let count = sizes.iter().try_fold(1u64, |p, &k| p.checked_mul(u64::from(k)));
    if sizes.is_empty() || sizes.len() > MAX_DIMS || !count.is_some_and(|n| (2..=MOST_NODES).contains(&n)) {
        let expected = format!("1 to {MAX_DIMS} sizes of at least 1, of 2 to {MOST_NODES} nodes");
        return Err(Error::config("sizes", format!("{sizes:?}"), expected, ""));
    }
    for (field, value) in [("hop_cycles", order.hop_cycles), ("block_flits", order.block_flits)] {
        if !(1..=1 << 20).contains(&value) {
            return Err(Error::config(field, value, "1 to 2^20", ""));
        }
    }
    Ok(())
}

/// No period is shorter \[cycles].
pub fn bound_cycles(order: &Order) -> Result<u64> {
    check(order)?;
    Ok(match order.block_flits {
        1 => geometry::frame_bound(&order.sizes),
        flits => geometry::busiest_blocks(&order.sizes) * u64::from(flits),
    })
}

/// Searches.
pub fn synthesise(order: &Order, progress: &mut dyn FnMut(Progress) -> bool) -> Result<Option<Timetable>> {
    let bound = bound_cycles(order)?;
    let mut meter = Meter::new(bound, order.budget_steps, progress);
    Ok(if order.block_flits == 1 { frames::search(order, bound, &mut meter) } else { lanes::search(order, &mut meter) })
}
