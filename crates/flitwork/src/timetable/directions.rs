//! Which way blocks go at half a ring.

use super::Timetable;
use crate::topology::{Coords, Grid, MAX_DIMS};

/// The direction at half a ring of even length, by relative vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directions {
    grid: Grid,
    coords: Vec<Coords>,
    /// By the number of the node at a vector from node 0: bit `d` is set where the block goes towards minus in
    /// dimension `d`.
    minus: Vec<u8>,
}

impl Timetable {
    /// Whether a block goes half around a ring, so that both directions are as long.
    pub fn has_ties(&self) -> bool {
        self.entries.iter().any(|e| e.vector.iter().zip(&self.sizes).any(|(d, &k)| 2 * d.unsigned_abs() == k))
    }

    /// The direction of each block in each dimension.
    pub fn directions(&self) -> Directions {
        let grid = self.grid();
        let mut minus = vec![0; grid.routers() as usize];
        for entry in &self.entries {
            let mut to: Coords = [0; MAX_DIMS];
            for (d, &k) in self.sizes.iter().enumerate() {
                to[d] = entry.vector[d].rem_euclid(k as i32) as u32;
            }
            let bits = (0..self.sizes.len()).filter(|&d| entry.vector[d] < 0).fold(0, |bits, d| bits | 1 << d);
            minus[grid.id(&to) as usize] = bits;
        }
        let coords = (0..grid.routers()).map(|node| grid.coords(node)).collect();
        Directions { grid, coords, minus }
    }
}

impl Directions {
    /// Those of a block from node `from` to node `to`: bit `d` is set where it goes towards minus in dimension `d`.
    pub fn between(&self, from: u32, to: u32) -> u8 {
        let (from, to) = (&self.coords[from as usize], &self.coords[to as usize]);
        let mut relative: Coords = [0; MAX_DIMS];
        for d in 0..self.grid.dims() {
            relative[d] = (to[d] + self.grid.size(d) - from[d]) % self.grid.size(d);
        }
        self.minus[self.grid.id(&relative) as usize]
    }
}
