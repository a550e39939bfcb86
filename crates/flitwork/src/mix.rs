//! One mixing function, for seeds and for digests.

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): spreads close seeds far apart.
#[inline]
pub(crate) fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// A number below `n` from 64 random bits; biased by at most `n / 2^64`.
#[inline]
pub(crate) fn draw_below(bits: u64, n: u64) -> u64 {
    ((u128::from(bits) * u128::from(n)) >> 64) as u64
}

/// Random bits of a packet's own, for its routing: they depend on nothing but the seed, its source and its number
/// there.
#[inline]
pub(crate) fn packet_bits(seed: u64, src: u32, sequence: u32) -> u64 {
    mix(mix(seed ^ 0x7061_636b_6574) ^ (u64::from(src) << 32 | u64::from(sequence)))
}
