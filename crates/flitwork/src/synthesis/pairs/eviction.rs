//! A place for each unit such that no part is used twice: min-conflicts with evictions.
//!
//! Units are placed one after the other, those of the busiest parts first, each where it costs least: the weights of
//! the units in its way are added up, ties are broken at random. Units in its way are taken out again and wait for
//! their turn; each time this happens to a unit its weight grows by one, so those that are hard to place stay longer.

use super::super::meter::Meter;
use super::super::random::Random;
use super::units::Units;

/// Places looked at in one step of the budget.
const STEP: u64 = 1024;
/// Steps between two looks at the clock of the caller.
const LOOK: u64 = 1024;
/// No unit.
const FREE: u32 = u32::MAX;

struct Board<'a> {
    units: &'a Units,
    /// Places of the period.
    places: usize,
    /// The unit that uses a part in a place, by `part * places + place`.
    user: Vec<u32>,
    /// Its weight, 0 where there is none; two periods a part, so that a unit's uses of all places lie in a row.
    weight: Vec<u16>,
    place_of: Vec<u32>,
    weight_of: Vec<u16>,
}

impl<'a> Board<'a> {
    fn new(units: &'a Units, places: usize) -> Self {
        let cells = units.parts() as usize * places;
        Board {
            units,
            places,
            user: vec![FREE; cells],
            weight: vec![0; 2 * cells],
            place_of: vec![FREE; units.len()],
            weight_of: vec![1; units.len()],
        }
    }

    /// Adds up what each place of a unit costs.
    fn add_costs(&self, unit: u32, costs: &mut [u32]) {
        costs.fill(0);
        for &(part, after) in self.units.uses(unit) {
            let first = 2 * part as usize * self.places + after as usize % self.places;
            let row = &self.weight[first..first + self.places];
            costs.iter_mut().zip(row).for_each(|(cost, &weight)| *cost += u32::from(weight));
        }
    }

    /// Writes a unit, or nothing, to all uses of a unit at a place.
    fn write(&mut self, unit: u32, place: u32, user: u32, weight: u16) {
        for &(part, after) in self.units.uses(unit) {
            let at = (place as usize + after as usize) % self.places;
            let row = part as usize * self.places;
            self.user[row + at] = user;
            self.weight[2 * row + at] = weight;
            self.weight[2 * row + self.places + at] = weight;
        }
    }

    /// Takes out what is in the way of a unit at a place, and puts it there.
    fn put(&mut self, unit: u32, place: u32, evicted: &mut Vec<u32>) {
        for &(part, after) in self.units.uses(unit) {
            let at = (place as usize + after as usize) % self.places;
            let other = self.user[part as usize * self.places + at];
            if other != FREE {
                self.write(other, self.place_of[other as usize], FREE, 0);
                self.place_of[other as usize] = FREE;
                let weight = &mut self.weight_of[other as usize];
                *weight = weight.saturating_add(1);
                evicted.push(other);
            }
        }
        self.place_of[unit as usize] = place;
        self.write(unit, place, unit, self.weight_of[unit as usize]);
    }
}

/// Whether the uses of a unit meet each other in a period of so many places.
fn meets_itself(units: &Units, places: usize) -> bool {
    (0..units.len() as u32).any(|unit| {
        let mut cells: Vec<_> = units.uses(unit).iter().map(|&(part, after)| (part, after as usize % places)).collect();
        cells.sort_unstable();
        cells.windows(2).any(|pair| pair[0] == pair[1])
    })
}

/// A place for each unit, of so many in a period; `None` where none was found with the budget.
pub(super) fn place(
    units: &Units,
    places: usize,
    budget: u64,
    random: &mut Random,
    meter: &mut Meter,
) -> Option<Vec<u32>> {
    if meets_itself(units, places) {
        return None;
    }
    let mut board = Board::new(units, places);
    let mut waiting = units.by_difficulty();
    let mut costs = vec![0; places];
    let (mut looked, mut steps) = (0, 0);
    while let Some(unit) = waiting.pop() {
        board.add_costs(unit, &mut costs);
        let least = costs.iter().copied().min().unwrap_or(0);
        let ties = costs.iter().filter(|&&cost| cost == least).count();
        let chosen = random.below(ties);
        let at = costs.iter().enumerate().filter(|&(_, &cost)| cost == least).nth(chosen);
        let before = waiting.len();
        board.put(unit, at.map_or(0, |(place, _)| place as u32), &mut waiting);
        if waiting.len() > before {
            let (next, last) = (random.below(waiting.len()), waiting.len() - 1);
            waiting.swap(next, last);
        }
        looked += (units.uses(unit).len() as u64 + 2) * places as u64;
        if looked >= STEP * LOOK {
            let taken = looked / STEP;
            (steps, looked) = (steps + taken, looked % STEP);
            if !meter.took(taken) || steps >= budget {
                return None;
            }
        }
    }
    meter.took((looked / STEP).max(1));
    Some(board.place_of)
}
