//! What is placed as a whole: a message, or all messages of a network that is alike at all terminals that go equally
//! far.

use super::PairOrder;
use crate::timetable::pairs;
use std::collections::HashMap;

/// Units, and the parts that each uses, so many places after its own.
pub(super) struct Units {
    /// Ends of the uses of each unit; first 0.
    ends: Vec<usize>,
    /// Part, and places after the start.
    uses: Vec<(u32, u32)>,
    parts: u32,
    terminals: u32,
    /// The unit of each pair, by `from * terminals + to`.
    unit_of: Vec<u32>,
}

impl Units {
    /// A unit a message.
    pub fn single(order: &PairOrder) -> Self {
        let terminals = order.routes.terminals();
        let mut unit_of = vec![0; terminals as usize * terminals as usize];
        let (mut ends, mut uses) = (vec![0], Vec::new());
        for (unit, (from, to)) in pairs(terminals).enumerate() {
            unit_of[from as usize * terminals as usize + to as usize] = unit as u32;
            order.routes.visit(from, to, &mut |part, after| uses.push((part, places(order, after))));
            ends.push(uses.len());
        }
        Units { ends, uses, parts: order.routes.parts(), terminals, unit_of }
    }

    /// A unit for each difference of digits, each digit modulo its radix; `None` where the messages of a unit use a
    /// part twice. Parts that the same units use at the same times are one.
    pub fn alike(order: &PairOrder, radices: &[u32]) -> Option<Self> {
        let terminals = order.routes.terminals();
        let numbers = radices.iter().try_fold(1u32, |product, &radix| product.checked_mul(radix));
        if numbers != Some(terminals) {
            return None;
        }
        let mut unit_of = vec![0; terminals as usize * terminals as usize];
        // By part: the units that use it, and when.
        let mut used: Vec<Vec<(u32, u32)>> = vec![Vec::new(); order.routes.parts() as usize];
        for unit in 0..terminals - 1 {
            let mut twice = false;
            for from in 0..terminals {
                let to = sum(from, unit + 1, radices);
                unit_of[from as usize * terminals as usize + to as usize] = unit;
                order.routes.visit(from, to, &mut |part, after| {
                    let users = &mut used[part as usize];
                    twice |= users.last().is_some_and(|&(last, _)| last == unit);
                    users.push((unit, places(order, after)));
                });
            }
            if twice {
                return None;
            }
        }
        let mut number_of = HashMap::new();
        let mut by_unit = vec![Vec::new(); terminals as usize - 1];
        for users in used.into_iter().filter(|users| !users.is_empty()) {
            let next = number_of.len() as u32;
            if number_of.contains_key(&users) {
                continue;
            }
            users.iter().for_each(|&(unit, after)| by_unit[unit as usize].push((next, after)));
            number_of.insert(users, next);
        }
        let (mut ends, mut uses) = (vec![0], Vec::new());
        for of_unit in by_unit {
            uses.extend(of_unit);
            ends.push(uses.len());
        }
        Some(Units { ends, uses, parts: number_of.len() as u32, terminals, unit_of })
    }

    pub fn len(&self) -> usize {
        self.ends.len() - 1
    }

    pub fn parts(&self) -> u32 {
        self.parts
    }

    /// Parts that a unit uses, and how many places after its own.
    #[inline]
    pub fn uses(&self, unit: u32) -> &[(u32, u32)] {
        &self.uses[self.ends[unit as usize]..self.ends[unit as usize + 1]]
    }

    /// Its units in ascending order of how busy their parts are.
    pub fn by_difficulty(&self) -> Vec<u32> {
        let mut load = vec![0u64; self.parts as usize];
        self.uses.iter().for_each(|&(part, _)| load[part as usize] += 1);
        let difficulty = |&unit: &u32| -> u128 {
            self.uses(unit).iter().map(|&(part, _)| u128::from(load[part as usize]).pow(4)).sum()
        };
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.sort_by_cached_key(difficulty);
        order
    }

    /// The place of each pair, by `from * terminals + to`, given that of each unit.
    pub fn by_pair(&self, place: impl Fn(u32) -> u64) -> Vec<u64> {
        let mut by_pair = vec![0; self.unit_of.len()];
        for (from, to) in pairs(self.terminals) {
            let pair = from as usize * self.terminals as usize + to as usize;
            by_pair[pair] = place(self.unit_of[pair]);
        }
        by_pair
    }
}

/// Cycles in places: a round is so long that all uses of a part by its messages fall into it.
fn places(order: &PairOrder, after: u32) -> u32 {
    if order.block_flits == 1 { after } else { 0 }
}

/// Adds digit by digit, each modulo its radix.
fn sum(a: u32, b: u32, radices: &[u32]) -> u32 {
    let (mut a, mut b, mut weight, mut sum) = (a, b, 1, 0);
    for &radix in radices {
        sum += (a % radix + b % radix) % radix * weight;
        (a, b, weight) = (a / radix, b / radix, weight * radix);
    }
    sum
}
