//! Sets of the VCs of one router as bit masks: one word for up to 64 VCs, more for more.

use crate::kernel::flit::VcMask;
use crate::unchecked::{at, at_mut};

/// A set of slots. All operations are on the model's cyclic order of slots.
///
/// A set of many words would have to be looked through word by word to find the few slots that are in it. Sets of more
/// than [`FLAT`] words therefore have one word more than the slots need: it has a bit for each group of words, set
/// where a slot of the group is in the set.
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

    /// Takes out all that are in `other`.
    #[inline(always)]
    pub fn remove_all(&mut self, other: &Self) {
        for word in 0..Self::MEMBERS {
            self.0[word] &= !other.0[word];
        }
        if Self::GROUPED {
            let words = |group: usize| group * Self::GROUP..((group + 1) * Self::GROUP).min(Self::MEMBERS);
            let groups = (0..Self::MEMBERS.div_ceil(Self::GROUP))
                .filter(|&group| self.0[words(group)].iter().any(|&word| word != 0));
            self.0[Self::MEMBERS] = groups.fold(0, |groups, group| groups | 1 << group);
        }
    }

    /// Whether the set has at most one VC of each port. Ports have `VCS` VCs; a word holds a whole number of ports.
    /// Only for sets without groups.
    #[inline(always)]
    pub fn has_one_per_port<const VCS: usize>(&self) -> bool {
        if Self::GROUPED {
            return false;
        }
        let mut more = 0;
        for word in 0..WORDS {
            more |= Self::all_but_lowest::<VCS>(self.0[word]);
        }
        more == 0
    }

    /// Of each port of `VCS` VCs in a word all members but the lowest.
    #[inline(always)]
    fn all_but_lowest<const VCS: usize>(word: u64) -> u64 {
        // The lowest bit is taken from each port at once: a borrow goes no further than the bit that is added on top.
        let lowest = Self::lowest::<VCS>();
        word & (word | lowest << (VCS - 1)).wrapping_sub(lowest)
    }

    /// The first VC of each port of a word.
    #[inline(always)]
    const fn lowest<const VCS: usize>() -> u64 {
        !0u64 / (!0 >> (64usize.wrapping_sub(VCS) & 63))
    }

    /// All VCs of the ports of the first word that have more than one member.
    #[inline(always)]
    pub fn crowded_ports<const VCS: usize>(&self) -> u64 {
        let (more, lowest) = (Self::all_but_lowest::<VCS>(self.0[0]), Self::lowest::<VCS>());
        // What is left of a port carries into its highest bit.
        let highest = lowest << (VCS - 1);
        let crowded = ((more & !highest).wrapping_add(highest.wrapping_sub(lowest)) | more) & highest;
        (crowded >> (VCS - 1)).wrapping_mul(!0 >> (64usize.wrapping_sub(VCS) & 63))
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

    /// The set with this first word and no other.
    #[inline(always)]
    pub fn from_first_word(word: u64) -> Self {
        let mut set = Self::EMPTY;
        set.0[0] = word;
        set
    }

    /// The first word.
    #[inline(always)]
    pub fn first_word(&self) -> u64 {
        self.0[0]
    }

    /// The next word from `from` on, with its number, that may have something in it: for going through a set that
    /// changes.
    #[inline(always)]
    pub fn word_from(&self, from: usize) -> Option<(usize, u64)> {
        // Whether a single word is empty the caller will see.
        let flat = || (from < WORDS).then(|| (from, self.0[from]));
        if Self::GROUPED { Self::next(self.0[Self::MEMBERS], from, |word| self.0[word]) } else { flat() }
    }

    /// The first `word` from `from` on that is not 0; only words of `groups` are visited.
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
    fn ports_with_more_than_one_member_are_found_without_a_loop() {
        fn check<const VCS: usize>(word: u64) {
            let of_port = |port: usize| word >> (port * VCS) & (!0 >> (64 - VCS));
            let crowded = |port: &usize| of_port(*port).count_ones() > 1;
            let ports = 0..64 / VCS;
            let expected = ports.clone().filter(crowded).fold(0, |all, port| all | !0u64 >> (64 - VCS) << (port * VCS));
            let set = SlotSet::<1>::from_first_word(word);
            assert_eq!(set.crowded_ports::<VCS>(), expected, "{word:#x} in ports of {VCS}");
            assert_eq!(set.has_one_per_port::<VCS>(), expected == 0, "{word:#x} in ports of {VCS}");
        }
        for i in 0..4000 {
            // Few members, many, and all.
            let word = crate::mix::mix(i) & if i % 3 > 0 { crate::mix::mix(!i) } else { !0 } & crate::mix::mix(i << 32)
                | ((i % 7) << 61);
            check::<2>(word);
            check::<4>(word);
            check::<8>(word);
            check::<16>(word);
            check::<32>(word);
        }
        check::<8>(!0);
        check::<8>(0);
    }

    #[test]
    fn sets_are_added_and_taken_out() {
        fn check<const WORDS: usize>() {
            let size = SlotSet::<WORDS>::MEMBERS * 64;
            let every = |step: usize| {
                let mut set = SlotSet::<WORDS>::EMPTY;
                (0..size).step_by(step).for_each(|slot| set.insert(slot));
                set
            };
            let mut set = every(3);
            set.remove_all(&every(6));
            assert_eq!(members(&set), (0..size).filter(|slot| slot % 6 == 3).collect::<Vec<_>>());
            set.insert_all(&every(6));
            assert_eq!(set, every(3));
            set.remove_all(&every(1));
            assert!(set.is_empty() && set == SlotSet::EMPTY);
        }
        check::<1>();
        check::<2>();
        check::<9>();
        check::<129>();
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
