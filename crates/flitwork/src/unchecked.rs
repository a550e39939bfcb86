//! Indexing without bounds checks, for the handful of look-ups that run several times a flit-hop.
//!
//! The indices are the kernel's own numbers (slots, ports, routers, packets), never user input. Every build with debug
//! assertions checks them, and all tests run in such a build; `docs/performance.md` says what the checks cost.
#![allow(unsafe_code)]

/// `items[i]`. The caller knows that `i` is in range.
#[inline(always)]
pub(crate) fn at<T>(items: &[T], i: usize) -> &T {
    debug_assert!(i < items.len(), "{i} of {}", items.len());
    // SAFETY: `i` is in range: a number that the kernel made itself, checked by the assertion above in every test build.
    unsafe { items.get_unchecked(i) }
}

/// `items[i]`, to change it. The caller knows that `i` is in range.
#[inline(always)]
pub(crate) fn at_mut<T>(items: &mut [T], i: usize) -> &mut T {
    debug_assert!(i < items.len(), "{i} of {}", items.len());
    // SAFETY: as above.
    unsafe { items.get_unchecked_mut(i) }
}
