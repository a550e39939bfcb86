//! Sets of the VCs of one router as bit masks: one word for up to 64 VCs, more for more.

use super::mask::VcMask;

/// A set of slots. All operations are on the model's cyclic order of slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlotSet<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> SlotSet<WORDS> {
    /// Nothing.
    pub const EMPTY: Self = SlotSet([0; WORDS]);

    #[inline(always)]
    fn at(slot: usize) -> (usize, u32) {
        (slot / 64 % WORDS, (slot % 64) as u32)
    }

    #[inline(always)]
    pub fn insert(&mut self, slot: usize) {
        let (word, bit) = Self::at(slot);
        self.0[word] |= 1 << bit;
    }

    #[inline(always)]
    pub fn remove(&mut self, slot: usize) {
        let (word, bit) = Self::at(slot);
        self.0[word] &= !(1 << bit);
    }

    /// Takes out all that are in `other`.
    #[inline(always)]
    pub fn remove_all(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= !other;
        }
    }

    /// The smallest.
    #[inline(always)]
    pub fn first(&self) -> Option<usize> {
        let word = self.0.iter().position(|&w| w != 0)?;
        Some(word * 64 + self.0[word].trailing_zeros() as usize)
    }

    #[cfg(any(test, feature = "audit"))]
    pub fn contains(&self, slot: usize) -> bool {
        let (word, bit) = Self::at(slot);
        self.0[word] >> bit & 1 == 1
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&w| w == 0)
    }

    /// The words of the mask, numbered.
    #[inline(always)]
    pub fn words(&self) -> impl Iterator<Item = (usize, u64)> {
        self.0.into_iter().enumerate()
    }

    /// All, ascending.
    #[inline(always)]
    pub fn for_each(&self, mut f: impl FnMut(usize)) {
        for (w, &word) in self.0.iter().enumerate() {
            let mut left = word;
            while left != 0 {
                f(w * 64 + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }

    /// The first that is in both sets, at or after `start`, in the cyclic order.
    #[inline(always)]
    pub fn first_common_from(&self, other: &Self, start: usize) -> Option<usize> {
        if WORDS == 1 {
            let common = self.0[0] & other.0[0];
            return (common != 0).then(|| common.first_from(start % 64));
        }
        let (first, bit) = Self::at(start);
        let later = self.0[first] & other.0[first] & (!0 << bit);
        if later != 0 {
            return Some(first * 64 + later.trailing_zeros() as usize);
        }
        (1..=WORDS).find_map(|i| {
            let w = (first + i) % WORDS;
            let common = self.0[w] & other.0[w];
            (common != 0).then(|| w * 64 + common.trailing_zeros() as usize)
        })
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

    fn agrees<const WORDS: usize>() {
        let size = WORDS * 64;
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
        let mut all = Vec::new();
        a.for_each(|i| all.push(i));
        assert!(all.iter().all(|&i| a.contains(i)) && all.len() == size.div_ceil(3));
    }

    #[test]
    fn common_members_are_found_in_turn() {
        agrees::<1>();
        agrees::<2>();
        agrees::<8>();
    }

    #[test]
    fn a_wide_port_spans_words() {
        let (mut a, mut b) = (SlotSet::<32>::EMPTY, SlotSet::<32>::EMPTY);
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
