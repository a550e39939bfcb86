//! Timetables by pairs: a start for every message of an all-to-all, on any network whose routes are known.
//!
//! Blocks of one flit get a cycle of the period each; longer ones a *round*: a time in which a part carries one block,
//! long enough that blocks of two rounds never meet, however far each has come. What is searched for is a place (cycle
//! or round) for each block such that no port and no channel is used twice. `eviction` does that for *units*, which are
//! placed as a whole: single messages, or all messages that go equally far in a network that is alike at all terminals
//! (`units`). It improves on what `first_fit` finds at once.

mod eviction;
mod first_fit;
mod units;

use super::ladder::{self, Best};
use super::meter::Meter;
use super::random::Random;
use super::{MOST_CYCLES, MOST_PERIOD, Progress};
use crate::error::{Error, Result};
use crate::timetable::{PairTimetable, Routes, pairs};
use units::Units;

/// Most uses of parts by all messages together, which bounds the memory of a search.
const MOST_USES: u64 = 1 << 26;
/// Most places of all parts together, likewise.
const MOST_CELLS: u64 = 1 << 27;
/// Most terminals: there is a start for each pair.
const MOST_TERMINALS: u32 = 1 << 11;

/// What timetable by pairs is asked for.
#[derive(Clone)]
pub struct PairOrder<'a> {
    /// The routes of the network.
    pub routes: &'a dyn Routes,
    /// Length of the blocks, at least 1 \[flits].
    pub block_flits: u32,
    /// Ways to write the number of a terminal as digits, by their radices, the lowest digit first. Where all messages
    /// whose digits differ by the same amounts never use a part twice, they are placed together.
    pub radices: Vec<Vec<u32>>,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Moves that the search may try; one is 1,024 places looked at.
    pub budget_steps: u64,
}

/// What messages need of the parts.
struct Demand {
    /// Messages by the part that most of them use.
    busiest: u64,
    /// Longest difference between the times of two messages from their starts to the same part \[cycles].
    spread_cycles: u32,
    longest_way_cycles: u64,
    way_cycles: u64,
}

impl Demand {
    fn of(routes: &dyn Routes) -> Result<Self> {
        let mut counts = vec![0u64; routes.parts() as usize];
        let mut after_of = vec![(u32::MAX, 0u32); counts.len()];
        let (mut uses, mut longest, mut sum) = (0, 0, 0);
        for (from, to) in pairs(routes.terminals()) {
            let mut way = 0;
            routes.visit(from, to, &mut |part, after| {
                counts[part as usize] += 1;
                let (least, most) = &mut after_of[part as usize];
                (*least, *most) = ((*least).min(after), (*most).max(after));
                (way, uses) = (u64::from(after), uses + 1);
            });
            (longest, sum) = (way.max(longest), sum + way);
        }
        if uses > MOST_USES {
            let expected = format!("at most {MOST_USES} hops of all messages together");
            return Err(Error::config("network.topology", format!("{uses} hops"), expected, "take a smaller network"));
        }
        let spread = after_of.iter().filter(|range| range.0 <= range.1).map(|range| range.1 - range.0);
        Ok(Demand {
            busiest: counts.into_iter().max().unwrap_or(0),
            spread_cycles: spread.max().unwrap_or(0),
            longest_way_cycles: longest,
            way_cycles: sum,
        })
    }

    /// The fewest places of a period. Where ports alone would fill it, starts and arrivals are both all places once at
    /// each terminal, so the cycles of all ways must add up to a multiple of it.
    fn least(&self, terminals: u32, block_flits: u32) -> u64 {
        let full = self.busiest == u64::from(terminals) - 1;
        let adds_up = block_flits > 1 || self.way_cycles.is_multiple_of(self.busiest);
        if full && !adds_up { self.busiest + 1 } else { self.busiest }
    }

    /// Length of a place \[cycles].
    fn place_cycles(&self, block_flits: u32) -> u64 {
        if block_flits == 1 { 1 } else { u64::from(block_flits) + u64::from(self.spread_cycles) }
    }
}

fn check(order: &PairOrder) -> Result<Demand> {
    let terminals = order.routes.terminals();
    if !(2..=MOST_TERMINALS).contains(&terminals) {
        let expected = format!("2 to {MOST_TERMINALS} terminals");
        return Err(Error::config("network.topology", format!("{terminals} terminals"), expected, ""));
    }
    if !(1..=MOST_CYCLES).contains(&order.block_flits) {
        return Err(Error::config("block_flits", order.block_flits, format!("1 to {MOST_CYCLES}"), ""));
    }
    let demand = Demand::of(order.routes)?;
    let messages = u64::from(terminals) * u64::from(terminals);
    let length = demand.place_cycles(order.block_flits) + demand.longest_way_cycles;
    if length.checked_mul(messages).is_none_or(|cycles| cycles > MOST_PERIOD) {
        let expected = "so few messages that they can be sent one after the other within 2^48 cycles";
        return Err(Error::config("block_flits", order.block_flits, expected, "use shorter messages"));
    }
    Ok(demand)
}

/// Lower bound of the period: what the busiest port or channel carries, and a cycle more where ports are that busiest
/// part and the cycles of all ways do not add up to a multiple of the period \[cycles].
///
/// # Errors
/// [`Error::Config`] for an order that makes no sense, or a network that is too large.
pub fn pair_bound_cycles(order: &PairOrder) -> Result<u64> {
    let demand = check(order)?;
    Ok(demand.least(order.routes.terminals(), order.block_flits) * u64::from(order.block_flits))
}

/// Searches for a timetable by pairs with a short period, as [`super::synthesise`] does for tori. Beside it the bound
/// of the period, as [`pair_bound_cycles`] \[cycles].
///
/// # Errors
/// As for [`pair_bound_cycles`].
pub fn synthesise_pairs(order: &PairOrder, progress: &mut dyn FnMut(Progress) -> bool) -> Result<(PairTimetable, u64)> {
    let demand = check(order)?;
    let terminals = order.routes.terminals();
    let least = demand.least(terminals, order.block_flits);
    let place = demand.place_cycles(order.block_flits);
    let bound_cycles = least * u64::from(order.block_flits);
    let mut meter = Meter::new(bound_cycles, order.budget_steps, progress);
    let alike = order.radices.iter().find_map(|radices| Units::alike(order, radices));
    let single = || Units::single(order);
    let mut best = match &alike {
        Some(units) => improve(order, units, least, at_once(units, &mut meter), meter.left() / 2, &mut meter),
        None => {
            let units = single();
            improve(order, &units, least, at_once(&units, &mut meter), meter.left(), &mut meter)
        }
    };
    if alike.is_some() && best.length > least && meter.left() > 0 {
        best = improve(order, &single(), least, best, meter.left(), &mut meter);
    }
    let starts = best.found.into_iter().map(|at| at * place).collect();
    let period_cycles = best.length * place;
    let found = PairTimetable { terminals, period_cycles, block_flits: order.block_flits, starts };
    debug_assert_eq!(found.check(order.routes), Ok(()));
    Ok((found, bound_cycles))
}

/// Places by pair, of a period of so many.
type Placed = Best<Vec<u64>>;

/// What is found without a search.
fn at_once(units: &Units, meter: &mut Meter) -> Placed {
    let (places, length) = first_fit::first_fit(units, meter);
    Best { length, found: units.by_pair(|unit| places[unit as usize]) }
}

/// Shortens a period: first to one that is easily found, then step by step.
fn improve(order: &PairOrder, units: &Units, least: u64, best: Placed, budget: u64, meter: &mut Meter) -> Placed {
    let end = meter.left() - budget.min(meter.left());
    let attempt = |places: u64, budget: u64, meter: &mut Meter| {
        if places.saturating_mul(u64::from(units.parts())) > MOST_CELLS {
            return None;
        }
        meter.trying(places * u64::from(order.block_flits));
        let mut random = Random::new(order.seed, places);
        let slots = eviction::place(units, places as usize, budget, &mut random, meter)?;
        meter.found(places * u64::from(order.block_flits));
        Some(units.by_pair(|unit| u64::from(slots[unit as usize])))
    };
    let mut best = best;
    for quarters in [5, 6, 8, 12] {
        let places = (least * quarters).div_ceil(4);
        let budget = meter.left().saturating_sub(end) / 8;
        if places >= best.length || budget == 0 {
            break;
        }
        if let Some(found) = attempt(places, budget, meter) {
            best = Best { length: places, found };
            break;
        }
    }
    ladder::climb(
        least,
        best,
        meter,
        |places| places,
        |places, budget, meter| {
            let left = meter.left().saturating_sub(end);
            if left == 0 { None } else { attempt(places, budget.min(left.div_ceil(2)), meter) }
        },
    )
}

#[cfg(test)]
mod tests;
