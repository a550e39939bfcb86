//! First fit: some place for each unit, at once.
//!
//! Units that use the busiest parts first, each goes to the first place at which all parts that it uses are free. There
//! is no period yet: places are counted on until all units have one.

use super::super::meter::Meter;
use super::units::Units;

/// Places of a word.
const WORD: usize = u64::BITS as usize;
/// Units between two looks at the clock of the caller.
const AT_ONCE: usize = 4096;

/// The places in which a part is used.
#[derive(Clone, Default)]
struct Used {
    words: Vec<u64>,
    /// Words of it that are full, from the first one on.
    full: usize,
}

impl Used {
    /// 64 places from this one on.
    fn from(&self, place: usize) -> u64 {
        let (word, bit) = (place / WORD, place % WORD);
        let at = |word: usize| self.words.get(word).copied().unwrap_or(0);
        if bit == 0 { at(word) } else { at(word) >> bit | at(word + 1) << (WORD - bit) }
    }

    fn fill(&mut self, place: usize) {
        let word = place / WORD;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (place % WORD);
        while self.words.get(self.full) == Some(&u64::MAX) {
            self.full += 1;
        }
    }
}

/// The place of each unit, and how many places there are. Steps are not counted; if the caller stops, the units that
/// are left go behind all others, each when the one before has arrived.
pub(super) fn first_fit(units: &Units, meter: &mut Meter) -> (Vec<u64>, u64) {
    let mut used = vec![Used::default(); units.parts() as usize];
    let (mut places, mut end, mut stopped) = (vec![0; units.len()], 0, false);
    for (n, unit) in units.by_difficulty().into_iter().rev().enumerate() {
        stopped |= n % AT_ONCE == AT_ONCE - 1 && !meter.took(0);
        let uses = units.uses(unit);
        let place = if stopped { end } else { first_free(uses, &used) };
        for &(part, after) in uses {
            let at = place + after as usize;
            end = end.max(at + 1);
            if !stopped {
                used[part as usize].fill(at);
            }
        }
        places[unit as usize] = place as u64;
    }
    (places, end as u64)
}

/// The first place from which on all uses find their part free.
fn first_free(uses: &[(u32, u32)], used: &[Used]) -> usize {
    let first = |&(part, after): &(u32, u32)| (used[part as usize].full * WORD).saturating_sub(after as usize) / WORD;
    let mut word = uses.iter().map(first).max().unwrap_or(0);
    loop {
        let taken =
            uses.iter().fold(0, |taken, &(part, after)| taken | used[part as usize].from(word * WORD + after as usize));
        if taken != u64::MAX {
            return word * WORD + taken.trailing_ones() as usize;
        }
        word += 1;
    }
}
