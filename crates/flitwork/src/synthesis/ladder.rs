//! Which periods are tried, and for how long.

use super::meter::Meter;

/// Something found, and its length in whatever is counted.
pub(super) struct Best<T> {
    pub(super) length: u64,
    pub(super) found: T,
}

/// Improves on what is there. The least length is tried first, then always the one halfway between the longest that
/// failed and the shortest that was found; each gets half of the steps that are left, and those that are easy to find
/// take few of them. `allowed` gives the next length that can be tried at all.
pub(super) fn climb<T>(
    least: u64,
    mut best: Best<T>,
    meter: &mut Meter,
    allowed: impl Fn(u64) -> u64,
    mut attempt: impl FnMut(u64, u64, &mut Meter) -> Option<T>,
) -> Best<T> {
    let mut failed: Option<u64> = None;
    while meter.left() > 0 {
        let next = match failed {
            None => allowed(least),
            Some(failed) => allowed(failed + ((best.length - failed) / 2).max(1)),
        };
        if next >= best.length {
            break;
        }
        match attempt(next, meter.left().div_ceil(2), meter) {
            Some(found) => best = Best { length: next, found },
            None => failed = Some(next),
        }
        if best.length <= allowed(failed.map_or(least, |failed| failed + 1)) {
            break;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::super::Progress;
    use super::*;

    #[test]
    fn the_shortest_that_can_be_found_is_found() {
        for shortest in [100, 101, 105, 137, 250, 900, 1000] {
            let mut progress = |_: Progress| true;
            let mut meter = Meter::new(100, 1 << 40, &mut progress);
            let start = Best { length: 1000, found: 1000 };
            let best = climb(100, start, &mut meter, |n| n, |n, _, _| (n >= shortest).then_some(n));
            assert_eq!((best.length, best.found), (shortest, shortest));
        }
    }
}
