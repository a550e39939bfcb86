//! What routes put on channels, noted a stretch at a time.
//!
//! Under dimension-order routing a route is one straight stretch of channels a dimension. A stretch is noted where it
//! begins and where it ends, as a change of the load from one channel of its row to the next; the changes of all
//! stretches are added up along the rows at the end. So a route takes time for its dimensions, not for its hops.

use crate::topology::Grid;
use std::ops::{AddAssign, SubAssign};

/// Stretches, not added up yet.
pub(super) struct Stretches {
    sizes: Vec<u32>,
    /// Difference of the numbers of neighbouring routers in each dimension.
    strides: Vec<u32>,
    ports: usize,
}

impl Stretches {
    pub fn new(grid: &Grid) -> Self {
        let strides = (0..grid.dims()).map(|d| grid.sizes()[..d].iter().product()).collect();
        Stretches { sizes: grid.sizes().to_vec(), strides, ports: grid.network_ports() }
    }

    /// Notes in `changes` (`[router][network port]`, flattened) a stretch that starts at router `at`, whose coordinate
    /// `d` is `from`, and ends at coordinate `to`. Returns the router at its end.
    pub fn add<T: AddAssign + SubAssign + Copy>(
        &self,
        changes: &mut [T],
        at: u32,
        (d, minus): (usize, bool),
        (from, to): (u32, u32),
        amount: T,
    ) -> u32 {
        let stride = self.strides[d];
        let row = at - from * stride;
        let channel = |c: u32| (row + c * stride) as usize * self.ports + 2 * d + usize::from(minus);
        if from != to {
            // Channels leave the coordinates `first` up to before `end`, in either direction; past the last one they go
            // on at 0.
            let (first, end) = if minus { (to + 1, from + 1) } else { (from, to) };
            if first < self.sizes[d] {
                changes[channel(first)] += amount;
            }
            if end < self.sizes[d] {
                changes[channel(end)] -= amount;
            }
            if (to < from) != minus {
                changes[channel(0)] += amount;
            }
        }
        row + to * stride
    }

    /// Turns changes into loads.
    pub fn add_up<T: AddAssign + Copy>(&self, changes: &mut [T]) {
        for (d, (&size, &stride)) in self.sizes.iter().zip(&self.strides).enumerate() {
            let (line, block) = (stride as usize * self.ports, (stride * size) as usize * self.ports);
            for plane in changes.chunks_mut(block) {
                for i in (line..plane.len()).step_by(self.ports) {
                    for port in 2 * d..2 * d + 2 {
                        let before = plane[i - line + port];
                        plane[i + port] += before;
                    }
                }
            }
        }
    }
}
