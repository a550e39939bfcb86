//! A rate in flits per cycle as a fraction, and time in the parts of a cycle that it counts in.

use super::exact::Exact;
use num_traits::ToPrimitive;

/// Largest rate, and one over the smallest [flits/cycle].
const MOST: f64 = 1e6;

/// A rate: `flits` flits in `cycles` cycles. What serves flits one after the other at this rate keeps its time in
/// *parts*: `flits` parts are a cycle, and a flit takes `cycles` of them, so all times are whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    flits: u64,
    cycles: u64,
}

impl Rate {
    /// The range of rates, for errors.
    pub const RANGE: &'static str = "1e-6 to 1e6 flits/cycle";

    /// The simplest fraction that a number is in double precision: 3.3333333333333335 is 10 flits in 3 cycles. `None`
    /// out of range.
    pub fn of(flits_per_cycle: f64) -> Option<Rate> {
        if !(1.0 / MOST..=MOST).contains(&flits_per_cycle) {
            return None;
        }
        let fraction = Exact::approximate_float(flits_per_cycle)?;
        Some(Rate { flits: fraction.numer().to_u64()?, cycles: fraction.denom().to_u64()? })
    }

    /// The beginning of a cycle, in parts.
    pub fn at(&self, cycle: u64) -> u128 {
        u128::from(cycle) * u128::from(self.flits)
    }

    /// How long so many flits take, in parts.
    pub fn parts(&self, flits: u64) -> u128 {
        u128::from(flits) * u128::from(self.cycles)
    }

    /// Whole cycles in which so many flits are served.
    pub fn cycles(&self, flits: u64) -> u64 {
        self.cycle_from(self.parts(flits))
    }

    /// The cycle that a time is in.
    pub fn cycle_of(&self, time: u128) -> u64 {
        (time / u128::from(self.flits)) as u64
    }

    /// The first cycle that begins at a time or later.
    pub fn cycle_from(&self, time: u128) -> u64 {
        time.div_ceil(u128::from(self.flits)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_the_simplest_fraction() {
        let of = |rate: f64| Rate::of(rate).map(|rate| (rate.flits, rate.cycles));
        assert_eq!(of(4.0), Some((4, 1)));
        assert_eq!(of(10.0 / 3.0), Some((10, 3)));
        assert_eq!(of(0.1), Some((1, 10)));
        assert_eq!(of(1.0 / 49.0), Some((1, 49)));
        for wrong in [0.0, -1.0, 1e-7, 2e6, f64::NAN, f64::INFINITY] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_are_whole_numbers_of_parts() {
        let rate = Rate::of(10.0 / 3.0).unwrap();
        // 4 flits take 1.2 cycles.
        let end = rate.at(7) + rate.parts(4);
        assert_eq!((rate.cycle_of(end), rate.cycle_from(end)), (8, 9));
        let end = rate.at(7) + rate.parts(10);
        assert_eq!((rate.cycle_of(end), rate.cycle_from(end)), (10, 10));
    }
}
