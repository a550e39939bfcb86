//! Finds timetables: all-to-alls on tori in which no two blocks ever meet, in as few cycles as it can.
//!
//! [`synthesise`] takes an [`Order`] and returns a [`Timetable`]. All nodes send alike, so
//! a vector's start decides about all blocks that go that far. What is searched for is a start for each vector such
//! that no port and no channel is used twice in a cycle. The period cannot be shorter than the busiest port or channel
//! needs ([`bound_cycles`]).
//!
//! Two kinds of timetables are found, by these ways:
//!
//! | blocks | kind | ways |
//! |---|---|---|
//! | 1 flit | frame: nodes start together, a slot a vector | `streams` for squares from 9x9 on, `product`, `anneal` |
//! | longer | lanes: nodes start by place, a cell a vector | `walks` for squares from 11x11 on, `product`, `anneal` |
//!
//! - `anneal` exchanges the cells (slots, or rows of lanes) of vectors until no channel and no ejection port is used
//!   twice.
//! - `streams` fills the channels of large squares by construction: an Eulerian circuit through all pairs of lengths
//!   keeps a channel of both dimensions busy all the time. `walks` cuts such circuits into lanes; `share` is what both
//!   need.
//! - `product` extends a timetable by one dimension.
//! - `greedy` gives some timetable at once; `ladder` decides which periods are tried, and for how long.
//! - `layout` turns lanes into cycles.
//!
//! If a hop takes several cycles, slots of a frame are counted in hops: slot `s` is cycle `s h` modulo the period. That
//! reaches all cycles if the period has no divisor in common with `h`, so frames then take the next such period.
//!
//! Streams, walks and lanes are constructions of this project. Known before: on tori whose nodes use all ports at once,
//! total exchange without buffers meets the bound by construction (Coolsaet, De Meyer and Fack 1992, 1994); schedules
//! alike at all nodes meet the bound for store-and-forward on Cayley graphs (Dimakopoulos and Dimopoulos 2001); T-CREST
//! searches for such schedules of networks on chips by metaheuristics (Schoeberl et al.).
//!
//! [`synthesise_pairs`] does it for any network whose routes are known, with a start for every message (`pairs`).
//!
//! An order decides what is found: no clock and no hash decides anything.

mod anneal;
mod frames;
mod geometry;
mod greedy;
mod ladder;
mod lanes;
mod layout;
mod meter;
mod pairs;
mod product;
mod random;
mod share;
mod streams;
mod walks;

use crate::error::{Error, Result};
use crate::timetable::Timetable;
use crate::topology::MAX_DIMS;
use meter::Meter;

pub use pairs::{PairOrder, pair_bound_cycles, synthesise_pairs};

/// What timetable is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Routers along each dimension of the torus.
    pub sizes: Vec<u32>,
    /// From one channel of a route to the next \[cycles].
    pub hop_cycles: u32,
    /// Length of the blocks: 1 for a frame, more for lanes \[flits].
    pub block_flits: u32,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Moves that the search may try.
    pub budget_steps: u64,
}

/// How far a search is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Moves tried so far.
    pub steps: u64,
    /// Lower bound of the period \[cycles].
    pub bound_cycles: u64,
    /// Period that is being tried; for lanes without their guards \[cycles].
    pub trying_cycles: u64,
    /// Best period found so far; for lanes without their guards \[cycles].
    pub period_cycles: Option<u64>,
}

/// Largest torus.
const MOST_NODES: u64 = 1 << 16;

/// Most blocks of a channel, which bounds the memory of a search.
const MOST_BLOCKS: u64 = 1 << 22;

/// Longest period of a timetable \[cycles].
const MOST_PERIOD: u64 = 1 << 48;

/// Largest number of cycles of a hop and of flits of a block.
const MOST_CYCLES: u32 = 1 << 20;

fn check(order: &Order) -> Result<()> {
    let sizes = &order.sizes;
    let count = sizes.iter().try_fold(1u64, |p, &k| p.checked_mul(u64::from(k)));
    if sizes.is_empty() || sizes.len() > MAX_DIMS || !count.is_some_and(|n| (2..=MOST_NODES).contains(&n)) {
        let expected = format!("1 to {MAX_DIMS} sizes of at least 1, of 2 to {MOST_NODES} nodes");
        return Err(Error::config("sizes", format!("{sizes:?}"), expected, ""));
    }
    if geometry::channel_blocks(sizes) > MOST_BLOCKS {
        let expected = format!("rings so short that no channel carries more than {MOST_BLOCKS} blocks");
        return Err(Error::config("sizes", format!("{sizes:?}"), expected, ""));
    }
    for (field, value) in [("hop_cycles", order.hop_cycles), ("block_flits", order.block_flits)] {
        if !(1..=MOST_CYCLES).contains(&value) {
            return Err(Error::config(field, value, format!("1 to {MOST_CYCLES}"), ""));
        }
    }
    // Even a lane for each vector must fit.
    let longest = sizes.iter().map(|&k| u64::from(k / 2)).sum::<u64>();
    let lane_cycles = u64::from(order.block_flits) + longest * u64::from(order.hop_cycles);
    let cells = geometry::nodes(sizes) * geometry::rows(sizes);
    let fits = cells.checked_mul(lane_cycles).is_some_and(|cycles| cycles <= MOST_PERIOD);
    if order.block_flits > 1 && !fits {
        let expected = "a block so short that a lane for each vector takes at most 2^48 cycles";
        return Err(Error::config("block_flits", order.block_flits, expected, ""));
    }
    Ok(())
}

/// Lower bound of the period: what the busiest port or channel carries. A frame that its ports alone would fill takes
/// one more slot if the lengths of all paths do not add up to a multiple of its slots \[cycles].
///
/// # Errors
/// [`Error::Config`] for an order that makes no sense.
pub fn bound_cycles(order: &Order) -> Result<u64> {
    check(order)?;
    Ok(match order.block_flits {
        1 => geometry::frame_bound(&order.sizes),
        flits => geometry::busiest_blocks(&order.sizes) * u64::from(flits),
    })
}

/// Searches for a timetable with a short period. `progress` is called now and then; the search stops if it returns
/// false. The best timetable found so far is returned, which is a bad one after few steps. Equal orders give equal
/// timetables.
///
/// # Errors
/// [`Error::Config`] for an order that makes no sense.
pub fn synthesise(order: &Order, progress: &mut dyn FnMut(Progress) -> bool) -> Result<Timetable> {
    let mut meter = Meter::new(bound_cycles(order)?, order.budget_steps, progress);
    let found =
        if order.block_flits == 1 { frames::search(order, &mut meter) } else { lanes::search(order, &mut meter) };
    debug_assert_eq!(found.check(), Ok(()));
    Ok(found)
}

#[cfg(test)]
mod tests;
