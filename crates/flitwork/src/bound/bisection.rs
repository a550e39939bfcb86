//! The bisection bound of all-to-all: every message between the two sides of a cut needs one of its channels.
//!
//! Cut dimension `d` in the middle. With one rank a router, `q(a_d) (P / a_d)^2` messages have to cross in each
//! direction, where `q(a) = floor(a^2 / 4)`, over `P / a_d` channels on a mesh, twice as many on a torus:
//!
//! ```text
//! LB_mesh  = max_d q(a_d) P / a_d          odd squares N(N+1)(N-1)/4, even N^3/4
//! LB_torus = max_d q(a_d) P / (2 a_d)      odd squares N(N+1)(N-1)/8, even N^3/8
//! ```
//!
//! Takaue et al. 2010, section 2.4; the torus form is also the total-hops bound of dimension `d`, so that it is exact
//! for odd rings, too.

use crate::topology::Grid;
use serde::{Deserialize, Serialize};

/// The narrowest cut.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bisection {
    /// Messages that a channel of the cut has to carry, on the average, if every rank sends one to every other.
    pub messages: f64,
    /// The dimension that is cut.
    pub dimension: usize,
}

/// The bisection bound for one rank a router [messages per channel].
pub fn bisection_units(grid: &Grid) -> f64 {
    let p = f64::from(grid.routers());
    (0..grid.dims())
        .filter(|&d| grid.size(d) > 1)
        .map(|d| {
            let a = u64::from(grid.size(d));
            (a * a / 4) as f64 * p / a as f64 / cables(grid, d)
        })
        .fold(0.0, f64::max)
}

/// The bisection bound for any number of ranks at each router: the narrowest of the cuts across one dimension.
///
/// On a wrapped dimension a cut separates an arc of the ring from the rest, wherever the arc begins and ends.
pub fn bisection(grid: &Grid, ranks_at: &[u32]) -> Bisection {
    let total: u64 = ranks_at.iter().map(|&n| u64::from(n)).sum();
    let mut narrowest = Bisection { messages: 0.0, dimension: 0 };
    for d in 0..grid.dims() {
        let a = grid.size(d) as usize;
        // before[i]: ranks whose coordinate is below i.
        let mut before = vec![0u64; a + 1];
        for (id, &n) in ranks_at.iter().enumerate() {
            before[grid.coords(id as u32)[d] as usize + 1] += u64::from(n);
        }
        for i in 0..a {
            before[i + 1] += before[i];
        }
        let starts = if grid.wraps(d) { a } else { 1 };
        for start in 0..starts {
            for end in start + 1..a {
                let inside = before[end] - before[start];
                let crossing = (inside * (total - inside)) as f64;
                let channels = f64::from(grid.routers()) / a as f64 * cables(grid, d);
                if crossing / channels > narrowest.messages {
                    narrowest = Bisection { messages: crossing / channels, dimension: d };
                }
            }
        }
    }
    narrowest
}

/// Channels in one direction between the two sides of a cut, per ring or row.
fn cables(grid: &Grid, d: usize) -> f64 {
    let single = !grid.wraps(d) || (grid.size(d) == 2 && grid.ring2_single());
    if single { 1.0 } else { 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_forms_of_squares_and_cubes() {
        for n in 2..=17u32 {
            let cube = f64::from(n).powi(3);
            let odd = f64::from(n * (n + 1) * (n - 1));
            let want = if n % 2 == 1 { odd / 4.0 } else { cube / 4.0 };
            assert_eq!(bisection_units(&Grid::mesh(&[n, n])), want);
            assert_eq!(bisection_units(&Grid::torus(&[n, n])), want / 2.0);
        }
        assert_eq!(bisection_units(&Grid::torus(&[8, 8, 8])), 512.0);
        assert_eq!(bisection_units(&Grid::torus(&[32, 32])), 4096.0);
        assert_eq!(bisection_units(&Grid::torus(&[6, 5])), 22.5);
        assert_eq!(bisection_units(&Grid::torus(&[1])), 0.0);
    }

    #[test]
    fn every_cut_together_finds_the_formula() {
        for sizes in [&[7, 4][..], &[4, 7], &[3, 3, 4], &[2, 5], &[1, 6], &[2, 2, 2, 3]] {
            for wrap in 0..1 << sizes.len() {
                let wrap: Vec<bool> = (0..sizes.len()).map(|d| wrap >> d & 1 == 1).collect();
                for single in [false, true] {
                    let grid = Grid::new(sizes, &wrap, single);
                    let ones = vec![1; grid.routers() as usize];
                    assert_eq!(bisection(&grid, &ones).messages, bisection_units(&grid), "{grid:?}");
                    let threes = vec![3; grid.routers() as usize];
                    assert_eq!(bisection(&grid, &threes).messages, 9.0 * bisection_units(&grid));
                }
            }
        }
    }

    #[test]
    fn a_single_cable_halves_a_ring_of_two() {
        assert_eq!(bisection_units(&Grid::new(&[2, 2], &[true, true], false)), 1.0);
        assert_eq!(bisection_units(&Grid::new(&[2, 2], &[true, true], true)), 2.0);
    }

    #[test]
    fn the_longest_dimension_limits_unless_it_wraps() {
        let ones = vec![1; 48];
        assert_eq!(bisection(&Grid::torus(&[8, 6]), &ones).dimension, 0);
        assert_eq!(bisection(&Grid::new(&[8, 6], &[true, false], false), &ones).dimension, 1);
    }
}
