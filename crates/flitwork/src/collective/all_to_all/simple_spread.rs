//! A2A, SimpleSpread: `for i = 1..P-1: send((me + i) mod P)`.
//!
//! Takaue et al. 2010, section 2.1. It knows nothing of the topology.

/// Rank offsets in order, for `ranks` ranks.
pub fn order(ranks: u32) -> Vec<u32> {
    (1..ranks).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_offset_once() {
        assert_eq!(super::order(4), [1, 2, 3]);
    }
}
