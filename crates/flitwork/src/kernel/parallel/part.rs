//! Which routers are a part of the network.

use std::ops::Range;

/// One of several parts of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// Number of the part, from 0 on.
    pub number: usize,
    /// How many there are.
    pub of: usize,
}

impl Part {
    /// The routers of the part, of `all` routers: as many as any other part has, or one more.
    pub fn routers(&self, all: usize) -> Range<usize> {
        let first = |number: usize| all * number / self.of;
        first(self.number)..first(self.number + 1)
    }

    /// The first router of each part.
    pub fn firsts(&self, all: usize) -> impl Iterator<Item = usize> {
        let of = self.of;
        (0..of).map(move |number| Part { number, of }.routers(all).start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_all_routers_and_differ_by_one_at_most() {
        for (all, of) in [(9, 2), (64, 3), (5, 5), (1000, 7)] {
            let ranges: Vec<_> = (0..of).map(|number| Part { number, of }.routers(all)).collect();
            assert!(ranges[0].start == 0 && ranges[of - 1].end == all);
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert!(ranges.iter().all(|range| range.len() == all / of || range.len() == all.div_ceil(of)));
            let firsts: Vec<usize> = Part { number: 0, of }.firsts(all).collect();
            assert_eq!(firsts, ranges.iter().map(|range| range.start).collect::<Vec<_>>());
        }
    }
}
