//! Sets of the VCs of one router as bit masks: one word for up to 64 VCs, more for more.

use super::mask::VcMask;

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
        (slot / 64 % Self::MEMBERS, (slot % 64) as u32)
    }

    #[inline(always)]
    pub fn insert(&mut self, slot: usize) {
        let (word, bit) = Self::at(slot);
        self.0[word] |= 1 << bit;
        if Self::GROUPED {
            self.0[Self::MEMBERS] |= 1 << (word / Self::GROUP);
        }
    }

    #[inline(always)]
    pub fn remove(&mut self, slot: usize) {
        let (word, bit) = Self::at(slot);
        self.0[word] &= !(1 << bit);
        if Self::GROUPED {
            let group = word / Self::GROUP;
            if self.0[group * Self::GROUP..][..Self::GROUP].iter().all(|&w| w == 0) {
                self.0[Self::MEMBERS] &= !(1 << group);
            }
        }
    }

    /// Takes out all that are in `other`. Only of sets without groups.
    #[inline(always)]
    pub fn remove_all(&mut self, other: &Self) {
        debug_assert!(!Self::GROUPED);
        // An index loop, as below.
        for word in 0..WORDS {
            self.0[word] &= !other.0[word];
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

    /// Those before `end`; of a set with groups, groups may be marked in which nothing is left.
    pub fn below(&self, end: usize) -> Self {
        let mut below = *self;
        for (word, bits) in below.0.iter_mut().take(Self::MEMBERS).enumerate() {
            match end.saturating_sub(word * 64) {
                0 => *bits = 0,
                left if left < 64 => *bits &= (1 << left) - 1,
                _ => {}
            }
        }
        below
    }

    /// The smallest.
    #[inline(always)]
    pub fn first(&self) -> Option<usize> {
        if !Self::GROUPED {
            for word in 0..WORDS {
                if self.0[word] != 0 {
                    return Some(word * 64 + self.0[word].trailing_zeros() as usize);
                }
            }
            return None;
        }
        let (word, bits) = Self::next(self.groups(), 0, |word| self.0[word])?;
        Some(word * 64 + bits.trailing_zeros() as usize)
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

    /// The next word from `from` on, with its number, that may have something in it: for going through a set that changes.
    #[inline(always)]
    pub fn word_from(&self, from: usize) -> Option<(usize, u64)> {
        // Whether a single word is empty the caller will see.
        let flat = || (from < WORDS).then(|| (from, self.0[from]));
        if Self::GROUPED { Self::next(self.groups(), from, |word| self.0[word]) } else { flat() }
    }

    #[inline(always)]
    fn groups(&self) -> u64 {
        if Self::GROUPED { self.0[Self::MEMBERS] } else { !0 }
    }

    /// The first `word` from `from` on that is not 0; only words of `groups` are looked at.
    #[inline(always)]
    fn next(groups: u64, from: usize, word: impl Fn(usize) -> u64) -> Option<(usize, u64)> {
        let found = |w: usize| Some((w, word(w))).filter(|&(_, bits)| bits != 0);
        if !Self::GROUPED {
            return (from..WORDS).find_map(found);
        }
        if from >= Self::MEMBERS {
            return None;
        }
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

    /// The first that is in both sets, at or after `start`, in the cyclic order.
    #[inline(always)]
    pub fn first_common_from(&self, other: &Self, start: usize) -> Option<usize> {
        let common = |word: usize| self.0[word] & other.0[word];
        if WORDS == 1 {
            return (common(0) != 0).then(|| common(0).first_from(start % 64));
        }
        if WORDS == 2 {
            let common = u128::from(common(0)) | u128::from(common(1)) << 64;
            if common == 0 {
                return None;
            }
            let later = common & (!0 << (start % 128));
            return Some((if later != 0 { later } else { common }).trailing_zeros() as usize);
        }
        let (first, bit) = Self::at(start);
        let later = common(first) & (!0 << bit);
        if later != 0 {
            return Some(first * 64 + later.trailing_zeros() as usize);
        }
        let groups = self.groups() & other.groups();
        let (word, bits) = Self::next(groups, first + 1, common).or_else(|| Self::next(groups, 0, common))?;
        Some(word * 64 + bits.trailing_zeros() as usize)
    }

    /// Which of the `VCS` slots of `port` are in both sets.
    #[inline(always)]
    pub fn common_of_port<M: VcMask>(&self, other: &Self, port: usize, vcs: usize) -> M {
        let first = port * vcs;
        if vcs <= 64 {
            let (word, bit) = Self::at(first);
            let common = (self.0[word] & other.0[word]) >> bit;
            M::from_word(if vcs == 64 { common } else { common & ((1 << vcs) - 1) })
        } else {
            M::from_words(|w| {
                let word = first / 64 + w;
                if w < vcs / 64 { self.0[word] & other.0[word] } else { 0 }
            })
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
        let (mut a, mut b) = (SlotSet::<WORDS>::EMPTY, SlotSet::<WORDS>::EMPTY);
        (0..size).filter(|i| i % 3 == 0).for_each(|i| a.insert(i));
        (0..size).filter(|i| i % 7 == 2).for_each(|i| b.insert(i));
        let common: Vec<usize> = (0..size).filter(|i| i % 3 == 0 && i % 7 == 2).collect();
        for start in 0..size {
            let expected = common.iter().find(|&&i| i >= start).or(common.first()).copied();
            assert_eq!(a.first_common_from(&b, start), expected);
        }
        assert_eq!(a.first_common_from(&SlotSet::EMPTY, 5), None);
        for port in 0..size / 8 {
            let mask: u64 = a.common_of_port(&b, port, 8);
            let expected = (0..8).filter(|v| common.contains(&(port * 8 + v))).fold(0, |m, v| m | 1 << v);
            assert_eq!(mask, expected);
        }
        assert_eq!(members(&a), (0..size).filter(|i| i % 3 == 0).collect::<Vec<_>>());
        (0..size).filter(|i| i % 6 == 0).for_each(|i| a.remove(i));
        assert_eq!(members(&a), (0..size).filter(|i| i % 6 == 3).collect::<Vec<_>>());
        assert_eq!(a.first(), Some(3));
        (0..size).for_each(|i| a.remove(i));
        assert!(a.is_empty() && a == SlotSet::EMPTY && a.first().is_none());
        a.insert(size - 1);
        assert_eq!((a.is_empty(), a.first(), a.first_common_from(&a, 0)), (false, Some(size - 1), Some(size - 1)));
    }

    #[test]
    fn common_members_are_found_in_turn() {
        agrees::<1>();
        agrees::<2>();
        agrees::<9>();
        agrees::<129>();
    }

    #[test]
    fn a_wide_port_spans_words() {
        let (mut a, mut b) = (SlotSet::<33>::EMPTY, SlotSet::<33>::EMPTY);
        for slot in [1024, 1024 + 577, 1024 + 639] {
            a.insert(slot);
            b.insert(slot);
        }
        let mask: [u64; 10] = a.common_of_port(&b, 1, 1024);
        let mut vcs = Vec::new();
        mask.for_each(|v| vcs.push(v));
        assert_eq!(vcs, [0, 577, 639]);
    }
}
