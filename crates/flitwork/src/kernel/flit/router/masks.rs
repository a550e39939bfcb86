//! Sets of virtual channels of one port as bit masks: one or two bytes for the usual few, a word, or ten for one VC per
//! destination.

use crate::kernel::flit::router::{Counted, Memory, Within};
use crate::unchecked::lowest;

/// The number of a VC in its router, as it is kept in memory: 255 or 65,535 of them at most, as [`SlotNumber::NONE`] is
/// none of them.
pub(crate) trait SlotNumber: Copy + PartialEq + std::fmt::Debug + 'static + Send {
    const NONE: Self;
    fn of(slot: usize) -> Self;
    fn get(self) -> usize;
    /// The number behind it, which may be one past the last; behind [`SlotNumber::NONE`] comes the first.
    fn next(self) -> usize;
}

impl SlotNumber for u8 {
    const NONE: Self = u8::MAX;
    #[inline(always)]
    fn of(slot: usize) -> Self {
        slot as u8
    }
    #[inline(always)]
    fn get(self) -> usize {
        usize::from(self)
    }
    #[inline(always)]
    fn next(self) -> usize {
        usize::from(self.wrapping_add(1))
    }
}

impl SlotNumber for u16 {
    const NONE: Self = u16::MAX;
    #[inline(always)]
    fn of(slot: usize) -> Self {
        slot as u16
    }
    #[inline(always)]
    fn get(self) -> usize {
        usize::from(self)
    }
    #[inline(always)]
    fn next(self) -> usize {
        usize::from(self.wrapping_add(1))
    }
}

/// A set of small numbers.
pub(crate) trait VcMask: Copy + PartialEq + std::fmt::Debug + 'static + Send {
    /// Numbers of the VCs of routers whose ports have sets of this kind.
    type Slot: SlotNumber;
    /// Where these routers keep their ports.
    type Memory<const PORTS: usize, const VCS: usize>: Memory<Self>;
    /// Nothing.
    const EMPTY: Self;
    /// `low..high`.
    fn range(low: usize, high: usize) -> Self;
    /// The set with these bits.
    fn from_word(word: u64) -> Self;
    /// The set with these words of bits, as many as there is room for.
    fn from_words(word: impl Fn(usize) -> u64) -> Self;
    /// Whether nothing is in it.
    fn is_empty(&self) -> bool;
    /// Adds `i`.
    fn insert(&mut self, i: usize);
    /// Takes `i` out.
    fn remove(&mut self, i: usize);
    /// Whether `i` is in it.
    fn contains(&self, i: usize) -> bool;
    /// What is in either.
    fn or(&self, other: &Self) -> Self;
    /// What is in it and not in `other`.
    fn without(&self, other: &Self) -> Self;
    /// Members below `n`, and members from `n` on.
    fn below(&self, n: usize) -> Self;
    fn at_least(&self, n: usize) -> Self;
    /// Members of dateline class `class` (0 or 1) of a port.
    fn of_class(&self, classes: &ClassMasks, port: usize, class: usize) -> Self;
    /// How many are in it.
    fn count(&self) -> u32;
    /// The smallest. The set must not be empty.
    fn first(&self) -> usize;
    /// The smallest that is at least `start`, or else the smallest. The set must not be empty.
    fn first_from(&self, start: usize) -> usize;
    /// All, ascending.
    fn for_each(&self, mut f: impl FnMut(usize)) {
        let mut left = *self;
        while !left.is_empty() {
            let i = left.first();
            left.remove(i);
            f(i);
        }
    }
}

/// Which VCs belong to which dateline class, by port: a look-up for ports of up to 64 VCs, which nearly all networks
/// have.
#[derive(Debug, Clone)]
pub(crate) struct ClassMasks {
    narrow: [[u64; 2]; 64],
    /// Ports with two classes, one bit each.
    ports: u64,
    /// The VC behind the last of class 0.
    low: usize,
    /// First VC of class 1.
    high: usize,
}

impl ClassMasks {
    /// Two classes on `ports` (one bit each): the lower half of `vcs`, a middle one included, and the rest; the middle
    /// one belongs to both if it is `shared`.
    pub fn new(ports: u64, vcs: usize, shared: bool) -> Self {
        let low = vcs - vcs / 2;
        let high = if shared { vcs / 2 } else { low };
        let narrow = std::array::from_fn(|port| {
            if ports >> port & 1 == 0 { [!0; 2] } else { [VcMask::below(&!0u64, low), VcMask::at_least(&!0u64, high)] }
        });
        ClassMasks { narrow, ports, low, high }
    }
}

/// Ports of few VCs, of routers with fewer than 255 VCs in all. What is done with them is done in a word.
macro_rules! narrow {
    ($bits:ty) => {
        impl VcMask for $bits {
            type Slot = u8;
            type Memory<const PORTS: usize, const VCS: usize> = Within<Self, PORTS, VCS>;
            const EMPTY: Self = 0;
            fn range(low: usize, high: usize) -> Self {
                <u64 as VcMask>::range(low, high) as $bits
            }
            #[inline(always)]
            fn from_word(word: u64) -> Self {
                word as $bits
            }
            #[inline(always)]
            fn from_words(word: impl Fn(usize) -> u64) -> Self {
                word(0) as $bits
            }
            #[inline(always)]
            fn is_empty(&self) -> bool {
                *self == 0
            }
            #[inline(always)]
            fn insert(&mut self, i: usize) {
                *self |= (1u64 << i) as $bits;
            }
            #[inline(always)]
            fn remove(&mut self, i: usize) {
                *self &= !((1u64 << i) as $bits);
            }
            #[inline(always)]
            fn contains(&self, i: usize) -> bool {
                u64::from(*self) >> i & 1 == 1
            }
            #[inline(always)]
            fn or(&self, other: &Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn without(&self, other: &Self) -> Self {
                self & !other
            }
            #[inline(always)]
            fn below(&self, n: usize) -> Self {
                VcMask::below(&u64::from(*self), n) as $bits
            }
            #[inline(always)]
            fn at_least(&self, n: usize) -> Self {
                VcMask::at_least(&u64::from(*self), n) as $bits
            }
            #[inline(always)]
            fn of_class(&self, classes: &ClassMasks, port: usize, class: usize) -> Self {
                self & classes.narrow[port & 63][class & 1] as $bits
            }
            #[inline(always)]
            fn count(&self) -> u32 {
                self.count_ones()
            }
            #[inline(always)]
            fn first(&self) -> usize {
                lowest(u64::from(*self))
            }
            #[inline(always)]
            fn first_from(&self, start: usize) -> usize {
                u64::from(*self).first_from(start)
            }
        }
    };
}

narrow!(u8);
narrow!(u16);

impl VcMask for u64 {
    type Slot = u16;
    type Memory<const PORTS: usize, const VCS: usize> = Counted<Self, VCS>;
    const EMPTY: Self = 0;
    fn range(low: usize, high: usize) -> Self {
        let below = |n: usize| if n >= 64 { !0 } else { (1u64 << n) - 1 };
        below(high) & !below(low)
    }
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        word
    }
    #[inline(always)]
    fn from_words(word: impl Fn(usize) -> u64) -> Self {
        word(0)
    }
    #[inline(always)]
    fn is_empty(&self) -> bool {
        *self == 0
    }
    #[inline(always)]
    fn insert(&mut self, i: usize) {
        *self |= 1 << i;
    }
    #[inline(always)]
    fn remove(&mut self, i: usize) {
        *self &= !(1 << i);
    }
    #[inline(always)]
    fn contains(&self, i: usize) -> bool {
        *self >> i & 1 == 1
    }
    #[inline(always)]
    fn or(&self, other: &Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn without(&self, other: &Self) -> Self {
        self & !other
    }
    #[inline(always)]
    fn below(&self, n: usize) -> Self {
        if n >= 64 { *self } else { self & !(!0 << n) }
    }
    #[inline(always)]
    fn at_least(&self, n: usize) -> Self {
        if n >= 64 { 0 } else { self & (!0 << n) }
    }
    #[inline(always)]
    fn of_class(&self, classes: &ClassMasks, port: usize, class: usize) -> Self {
        self & classes.narrow[port & 63][class & 1]
    }
    #[inline(always)]
    fn count(&self) -> u32 {
        self.count_ones()
    }
    #[inline(always)]
    fn first(&self) -> usize {
        lowest(*self)
    }
    #[inline(always)]
    fn first_from(&self, start: usize) -> usize {
        let later = self & (!0u64 << start);
        lowest(if later != 0 { later } else { *self })
    }
}

impl<const WORDS: usize> VcMask for [u64; WORDS] {
    type Slot = u16;
    type Memory<const PORTS: usize, const VCS: usize> = Counted<Self, VCS>;
    const EMPTY: Self = [0; WORDS];
    fn range(low: usize, high: usize) -> Self {
        let mut mask = Self::EMPTY;
        (low..high).for_each(|i| mask.insert(i));
        mask
    }
    fn from_word(word: u64) -> Self {
        Self::from_words(|w| if w == 0 { word } else { 0 })
    }
    fn from_words(word: impl Fn(usize) -> u64) -> Self {
        std::array::from_fn(word)
    }
    fn is_empty(&self) -> bool {
        self.iter().all(|&w| w == 0)
    }
    #[inline(always)]
    fn insert(&mut self, i: usize) {
        self[i / 64] |= 1 << (i % 64);
    }
    #[inline(always)]
    fn remove(&mut self, i: usize) {
        self[i / 64] &= !(1 << (i % 64));
    }
    #[inline(always)]
    fn contains(&self, i: usize) -> bool {
        self[i / 64] >> (i % 64) & 1 == 1
    }
    fn or(&self, other: &Self) -> Self {
        std::array::from_fn(|w| self[w] | other[w])
    }
    fn without(&self, other: &Self) -> Self {
        std::array::from_fn(|w| self[w] & !other[w])
    }
    fn below(&self, n: usize) -> Self {
        std::array::from_fn(|w| VcMask::below(&self[w], n.saturating_sub(64 * w)))
    }
    fn at_least(&self, n: usize) -> Self {
        std::array::from_fn(|w| VcMask::at_least(&self[w], n.saturating_sub(64 * w)))
    }
    fn of_class(&self, classes: &ClassMasks, port: usize, class: usize) -> Self {
        match (classes.ports >> port & 1, class) {
            (0, _) => *self,
            (_, 0) => self.below(classes.low),
            _ => self.at_least(classes.high),
        }
    }
    fn count(&self) -> u32 {
        self.iter().map(|w| w.count_ones()).sum()
    }
    fn first(&self) -> usize {
        let w = self.iter().position(|&w| w != 0).unwrap_or(0);
        w * 64 + self[w].trailing_zeros() as usize
    }
    fn first_from(&self, start: usize) -> usize {
        let s = start / 64;
        // A pointer may be one past the last VC of a port that fills all words.
        if s >= WORDS {
            return self.first();
        }
        let later = self[s] & (!0u64 << (start % 64));
        if later != 0 {
            return s * 64 + later.trailing_zeros() as usize;
        }
        match (s + 1..WORDS).find(|&w| self[w] != 0) {
            Some(w) => w * 64 + self[w].trailing_zeros() as usize,
            None => self.first(),
        }
    }
    fn for_each(&self, mut f: impl FnMut(usize)) {
        for (w, &word) in self.iter().enumerate() {
            word.for_each(|i| f(w * 64 + i));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agrees<M: VcMask>(members: &[usize], size: usize) {
        let mut mask = M::EMPTY;
        members.iter().for_each(|&i| mask.insert(i));
        let mut all = Vec::new();
        mask.for_each(|i| all.push(i));
        assert_eq!(all, members);
        assert_eq!(mask.count() as usize, members.len());
        for start in 0..size {
            let expected = *members.iter().find(|&&i| i >= start).unwrap_or(&members[0]);
            assert_eq!(mask.first_from(start), expected);
        }
    }

    #[test]
    fn all_widths_find_the_next_member() {
        agrees::<u8>(&[0, 5, 7], 8);
        agrees::<u8>(&[3], 8);
        agrees::<u16>(&[2, 15], 16);
        agrees::<u64>(&[0, 5, 63], 64);
        agrees::<u64>(&[7], 64);
        agrees::<[u64; 10]>(&[1, 64, 200, 577, 639], 640);
        agrees::<[u64; 10]>(&[300], 640);
        assert_eq!(<[u64; 10] as VcMask>::range(5, 640).first_from(640), 5);
    }

    #[test]
    fn halves_add_up() {
        for n in [0, 3, 63, 64] {
            let all = !0u64;
            assert_eq!(VcMask::below(&all, n) | VcMask::at_least(&all, n), all);
            assert_eq!(VcMask::below(&all, n).count_ones() as usize, n);
        }
        let all = <[u64; 10] as VcMask>::range(0, 640);
        for n in [0, 64, 289, 640] {
            assert_eq!(VcMask::below(&all, n).count() as usize, n);
            assert_eq!(VcMask::at_least(&all, n).count() as usize, 640 - n);
        }
    }

    #[test]
    fn ranges_hold_their_members() {
        assert_eq!(<u64 as VcMask>::range(2, 5), 0b11100);
        assert_eq!((<u8 as VcMask>::range(2, 5), <u8 as VcMask>::range(0, 8)), (0b11100, !0));
        assert_eq!(<u64 as VcMask>::range(0, 64), !0);
        assert_eq!(<[u64; 10] as VcMask>::range(60, 70).count(), 10);
    }
}
