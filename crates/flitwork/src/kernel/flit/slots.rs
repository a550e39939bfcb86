//! Sets of the VCs of one router as bit masks: one word for up to 64 VCs, more for more.

use super::mask::VcMask;
use crate::unchecked::{at, at_mut};

/// A set of slots. All operations are on the model's cyclic order of slots.
///
/// A set of many words would have to be looked through word by word to find the few slots that are in it. Sets of more than
/// [`FLAT`] words therefore have one word more than the slots need: it has a bit for each group of words, set where a slot of the
/// group is in the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlotSet<const WORDS: usize>([u64; WORDS]);

/// Most words of a set without groups.
const FLAT: usize = 4;

impl<const WORDS: usize> SlotSet<WORDS> {
    /// Nothing.
    pub const EMPTY: Self = SlotSet([0; WORDS]);
    /// Whether words have groups; the number of words for slots; and of those of a group.
    pub const GROUPED: bool = WORDS > FLAT;
    const MEMBERS: usize = if Self::GROUPED { WORDS - 1 } else { WORDS };
    const GROUP: usize = Self::MEMBERS.div_ceil(64);

    #[inline(always)]
    fn at(slot: usize) -> (usize, u32) {
        // With one word there is nothing to compute.
        (if Self::MEMBERS == 1 { 0 } else { slot / 64 }, (slot % 64) as u32)
    }

    #[inline(always)]
    pub fn insert(&mut self, slot: usize) {
        let (word, bit) = Self::at(slot);
        *at_mut(&mut self.0, word) |= 1 << bit;
        if Self::GROUPED {
            self.0[Self::MEMBERS] |= 1 << (word / Self::GROUP);
        }
    }

    #[inline(always)]
    pub fn remove(&mut self, slot: usize) {
        let (word, bit) = Self::at(slot);
        *at_mut(&mut self.0, word) &= !(1 << bit);
        if Self::GROUPED {
            let group = word / Self::GROUP;
            if self.0[group * Self::GROUP..][..Self::GROUP].iter().all(|&w| w == 0) {
                self.0[Self::MEMBERS] &= !(1 << group);
            }
        }
    }

    /// Adds all that are in `other`.
    #[inline(always)]
    pub fn insert_all(&mut self, other: &Self) {
        // An index loop: with one word no loop is left of it.
        for word in 0..WORDS {
            self.0[word] |= other.0[word];
        }
    }

    #[cfg(feature = "audit")]
    pub fn contains(&self, slot: usize) -> bool {
        let (word, bit) = Self::at(slot);
        self.0[word] >> bit & 1 == 1
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        if Self::GROUPED {
            return self.0[Self::MEMBERS] == 0;
        }
        let mut any = 0;
        for word in 0..WORDS {
            any |= self.0[word];
        }
        any == 0
    }

    /// Whether there may be few in it: always so if it has one word, else those with one member a word at most.
    #[inline(always)]
    pub fn has_few(&self) -> bool {
        let mut more = 0;
        for word in 0..WORDS {
            more |= self.0[word] & self.0[word].wrapping_sub(1);
        }
        WORDS == 1 || !Self::GROUPED && more == 0
    }

    /// The first word.
    #[inline(always)]
    pub fn first_word(&self) -> u64 {
        self.0[0]
    }

    /// The next word from `from` on, with its number, that may have something in it: for going through a set that changes.
    #[inline(always)]
    pub fn word_from(&self, from: usize) -> Option<(usize, u64)> {
        // Whether a single word is empty the caller will see.
        let flat = || (from < WORDS).then(|| (from, self.0[from]));
        if Self::GROUPED { Self::next(self.0[Self::MEMBERS], from, |word| self.0[word]) } else { flat() }
    }

    /// The first `word` from `from` on that is not 0; only words of `groups` are looked at.
    #[inline(always)]
    fn next(groups: u64, from: usize, word: impl Fn(usize) -> u64) -> Option<(usize, u64)> {
        if from >= Self::MEMBERS {
            return None;
        }
        let found = |w: usize| Some((w, word(w))).filter(|&(_, bits)| bits != 0);
        let mut left = groups & (!0 << (from / Self::GROUP));
        while left != 0 {
            let first = left.trailing_zeros() as usize * Self::GROUP;
            left &= left - 1;
            if let Some(found) = (first.max(from)..first + Self::GROUP).find_map(found) {
                return Some(found);
            }
        }
        None
    }

    /// Which of the `vcs` slots of `port` are in the set.
    #[inline(always)]
    pub fn of_port<M: VcMask>(&self, port: usize, vcs: usize) -> M {
        let first = port * vcs;
        if vcs <= 64 {
            let (word, bit) = Self::at(first);
            let bits = *at(&self.0, word) >> bit;
            M::from_word(if vcs == 64 { bits } else { bits & ((1 << vcs) - 1) })
        } else {
            M::from_words(|w| if w < vcs / 64 { self.0[first / 64 + w] } else { 0 })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members<const WORDS: usize>(set: &SlotSet<WORDS>) -> Vec<usize> {
        let (mut members, mut from) = (Vec::new(), 0);
        while let Some((word, bits)) = set.word_from(from) {
            bits.for_each(|bit| members.push(word * 64 + bit));
            from = word + 1;
        }
        members
    }

    fn agrees<const WORDS: usize>() {
        let size = SlotSet::<WORDS>::MEMBERS * 64;
        let mut a = SlotSet::<WORDS>::EMPTY;
        (0..size).filter(|i| i % 3 == 0).for_each(|i| a.insert(i));
        for port in 0..size / 8 {
            let mask: u64 = a.of_port(port, 8);
            assert_eq!(mask, (0..8).filter(|v| (port * 8 + v) % 3 == 0).fold(0, |m, v| m | 1 << v));
        }
        assert_eq!(members(&a), (0..size).filter(|i| i % 3 == 0).collect::<Vec<_>>());
        (0..size).filter(|i| i % 6 == 0).for_each(|i| a.remove(i));
        assert_eq!(members(&a), (0..size).filter(|i| i % 6 == 3).collect::<Vec<_>>());
        (0..size).for_each(|i| a.remove(i));
        assert!(a.is_empty() && a == SlotSet::EMPTY && members(&a).is_empty());
        a.insert(size - 1);
        assert_eq!((a.is_empty(), members(&a)), (false, vec![size - 1]));
    }

    #[test]
    fn members_are_those_that_were_added_and_not_taken_out() {
        agrees::<1>();
        agrees::<2>();
        agrees::<9>();
        agrees::<129>();
    }

    #[test]
    fn a_wide_port_spans_words() {
        let mut a = SlotSet::<33>::EMPTY;
        [1024, 1024 + 577, 1024 + 639].into_iter().for_each(|slot| a.insert(slot));
        let mask: [u64; 10] = a.of_port(1, 1024);
        let mut vcs = Vec::new();
        mask.for_each(|v| vcs.push(v));
        assert_eq!(vcs, [0, 577, 639]);
    }
}
