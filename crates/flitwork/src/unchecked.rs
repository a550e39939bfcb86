//! Indexing without bounds checks, and adding to lists that have room, for the handful of places that run several times
//! a flit-hop.
//!
//! The indices are the kernel's own numbers (slots, ports, routers, packets), never user input. Every build with debug
//! assertions checks them, and all tests run in such a build; `docs/performance.md` says what the checks cost.
#![allow(unsafe_code)]

/// `items[i]`. The caller knows that `i` is in range.
#[inline(always)]
pub(crate) fn at<T>(items: &[T], i: usize) -> &T {
    debug_assert!(i < items.len(), "{i} of {}", items.len());
    // SAFETY: `i` is in range: a number that the kernel made itself, checked by the assertion above in every test
    // build.
    unsafe { items.get_unchecked(i) }
}

/// `items[i]`, to change it. The caller knows that `i` is in range.
#[inline(always)]
pub(crate) fn at_mut<T>(items: &mut [T], i: usize) -> &mut T {
    debug_assert!(i < items.len(), "{i} of {}", items.len());
    // SAFETY: as above.
    unsafe { items.get_unchecked_mut(i) }
}

/// Adds `item` at the end of a list. The caller knows that it has room.
#[inline(always)]
pub(crate) fn push_within<T: Copy>(list: &mut Vec<T>, item: T) {
    let len = list.len();
    debug_assert!(len < list.capacity(), "{len} of {}", list.capacity());
    // SAFETY: the place behind the last item is memory of the list, as the caller knows and the assertion above checks
    // in every test build.
    unsafe {
        list.as_mut_ptr().add(len).write(item);
        list.set_len(len + 1);
    }
}

/// The number of the lowest bit that is set. The caller knows that one is.
#[inline(always)]
pub(crate) fn lowest(bits: u64) -> usize {
    debug_assert!(bits != 0);
    // SAFETY: a set that the kernel has found not to be empty, checked by the assertion above in every test build.
    unsafe { std::num::NonZeroU64::new_unchecked(bits) }.trailing_zeros() as usize
}

/// Asks the processor to fetch the cache line in which `item` begins. Has no effect but on speed; none where the
/// processor is not known.
#[inline(always)]
pub(crate) fn prefetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the address is that of a value that is there; a prefetch reads nothing that the program can see.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(std::ptr::from_ref(item).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}

/// Asks the processor to fetch `items[i]` into the first-level cache, if it is small. Has no effect but on speed; none
/// where the processor is not known. The caller knows that `i` is in range.
#[inline(always)]
pub(crate) fn prefetch_small<T>(items: &[T], i: usize) {
    #[cfg(target_arch = "x86_64")]
    if size_of::<T>() <= SMALL {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first = std::ptr::from_ref(at(items, i)).cast::<i8>();
        for offset in (0..size_of::<T>()).step_by(64) {
            // SAFETY: the address is within `items[i]`; a prefetch reads nothing that the program can see.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(first.add(offset)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, i);
}

/// Larger items \[bytes] are not prefetched: of a router with many VCs a visit reads little, and fetching the rest
/// costs more.
#[cfg(target_arch = "x86_64")]
const SMALL: usize = 1024;
