//! How many trials, one a cycle, until the first success: one draw instead of one a cycle.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use std::sync::Arc;

/// The geometric distribution on 1, 2, 3, ...
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Geometric {
    /// 1 / ln(1 - p): turns the logarithm of a uniform number into a number of trials; 0 where every trial succeeds.
    scale: f64,
    mean: f64,
}

impl Geometric {
    /// Trials that succeed with probability `p`, more than 0.
    pub fn new(p: f64) -> Self {
        Geometric { scale: if p >= 1.0 { 0.0 } else { 1.0 / libm::log1p(-p) }, mean: 1.0 / p }
    }

    /// Mean number of trials.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Trials up to and with the first success, by inversion.
    #[inline]
    pub fn draw(&self, rng: &mut Pcg64Mcg) -> u64 {
        if self.scale == 0.0 { 1 } else { self.trials(rng.next_u64()) }
    }

    /// Those that 64 random bits stand for.
    #[inline]
    fn trials(&self, bits: u64) -> u64 {
        1 + self.failures(bits).min(1e15) as u64
    }

    /// Those that fail, before they are rounded down.
    #[inline]
    fn failures(&self, bits: u64) -> f64 {
        // Uniform in (0, 1].
        let u = ((bits >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64);
        libm::log(u) * self.scale
    }

    /// Makes it draw faster, at the price of a table.
    pub fn with_table(self) -> LookedUp {
        LookedUp {
            table: (self.scale != 0.0).then(|| Arc::new(std::array::from_fn(|i| self.entry(i as u64)))),
            of: self,
        }
    }

    /// The trials of all numbers with these leading bits, 0 if they differ or are many. More of the number never means
    /// more trials, so those of the least and of the greatest number decide; the margin is many times what the
    /// logarithm is wrong by.
    fn entry(&self, leading: u64) -> u8 {
        let first = leading << (64 - TABLE_BITS);
        let (most, fewest) = (self.failures(first), self.failures(first | (u64::MAX >> TABLE_BITS)));
        let (most, fewest) = (1.0 + (most * (1.0 + 1e-9)).floor(), 1.0 + (fewest * (1.0 - 1e-9)).floor());
        if most == fewest && most <= f64::from(u8::MAX) { most as u8 } else { 0 }
    }
}

/// Leading bits of a random number that a table is looked up by.
const TABLE_BITS: u32 = 9;

/// The same numbers from the same random bits, looked up where their leading bits decide: nearly always where trials
/// are few.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LookedUp {
    of: Geometric,
    /// By leading bits; 0 where they do not decide. None where there is nothing to draw.
    table: Option<Arc<[u8; 1 << TABLE_BITS]>>,
}

impl LookedUp {
    /// [`Geometric::mean`].
    pub fn mean(&self) -> f64 {
        self.of.mean
    }

    /// [`Geometric::draw`].
    #[inline(always)]
    pub fn draw(&self, rng: &mut Pcg64Mcg) -> u64 {
        let Some(table) = &self.table else { return self.of.draw(rng) };
        let bits = rng.next_u64();
        match table[(bits >> (64 - TABLE_BITS)) as usize] {
            0 => self.of.trials(bits),
            trials => u64::from(trials),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::terminal_rng;

    #[test]
    fn draws_have_the_distribution_of_trials() {
        let (p, n) = (0.3, 100_000);
        let mut rng = terminal_rng(1, 2);
        let mut counts = [0u32; 12];
        for _ in 0..n {
            let k = Geometric::new(p).draw(&mut rng) as usize;
            counts[k.min(11)] += 1;
        }
        assert_eq!(counts[0], 0);
        for (k, &count) in counts.iter().enumerate().take(11).skip(1) {
            let expected = f64::from(n) * p * (1.0 - p).powi(k as i32 - 1);
            assert!((f64::from(count) - expected).abs() < 5.0 * expected.sqrt(), "{k}: {count} of {expected}");
        }
        assert_eq!(Geometric::new(1.0).draw(&mut rng), 1);
    }

    #[test]
    fn a_table_changes_no_draw() {
        for p in [1.0, 0.999, 0.9, 0.5, 0.365, 0.3, 0.113, 0.0226, 0.001, 1e-9] {
            let (plain, quick) = (Geometric::new(p), Geometric::new(p).with_table());
            let (mut a, mut b) = (terminal_rng(5, 1), terminal_rng(5, 1));
            assert!((0..20_000).all(|_| plain.draw(&mut a) == quick.draw(&mut b)), "{p}");
            assert_eq!(a, b);
            let Some(table) = &quick.table else { continue };
            for (i, &trials) in table.iter().enumerate().filter(|(_, trials)| **trials > 0) {
                // Both ends, and close to them: the least and the greatest numbers with these leading bits.
                let first = (i as u64) << (64 - TABLE_BITS);
                let last = first | (u64::MAX >> TABLE_BITS);
                let near = [first, first + (1 << 11), first + (1 << 20), last - (1 << 20), last - (1 << 11), last];
                assert!(near.iter().all(|&bits| plain.trials(bits) == u64::from(trials)), "{p}: {i}");
            }
        }
        let looked_up = |p: f64| {
            let table = Geometric::new(p).with_table().table.unwrap();
            table.iter().filter(|trials| **trials > 0).count()
        };
        assert!(looked_up(0.365) > 490 && looked_up(0.113) > 440);
    }
}
