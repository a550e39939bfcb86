//! Numbers that look random and follow from the seed.

/// SplitMix64's next number after state `x` (Steele, Lea and Flood 2014).
pub fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// `floor(bits n / 2^64)`.
pub fn below(bits: u64, n: u64) -> u64 {
    ((u128::from(bits) * u128::from(n)) >> 64) as u64
}

/// A random stream: PCG XSL RR 128/64 with a multiplicative generator (O'Neill 2014).
pub struct Stream(u128);

impl Stream {
    /// The random stream of a terminal.
    pub fn new(seed: u64, terminal: u64) -> Self {
        Stream(u128::from(mix(seed)) | u128::from(mix(mix(seed) ^ terminal)) << 64 | 1)
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645);
        let folded = (self.0 >> 64) as u64 ^ self.0 as u64;
        folded.rotate_right((self.0 >> 122) as u32)
    }

    /// Trials up to and with the first success.
    pub fn trials(&mut self, p: f64) -> u64 {
        if p >= 1.0 {
            return 1;
        }
        let u = ((self.number() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        1 + (libm::log(u) / libm::log1p(-p)).min(1e15) as u64
    }
}

/// The entry that a number picks by share.
pub fn pick(shares: &[f64], number: u64) -> usize {
    let u = (number >> 8) as f64 / (1u64 << 56) as f64;
    let total: f64 = shares.iter().sum();
    let mut sum = 0.0;
    let passes = |share: &f64| {
        sum += share / total;
        sum > u
    };
    shares.iter().position(passes).unwrap_or(shares.len() - 1)
}
