//! The n-dimensional array of routers behind meshes, tori and everything in between.

use super::Ring2;
use crate::error::{Error, Result};
use flitwork_steps::RankGrid;

/// Largest number of dimensions.
pub const MAX_DIMS: usize = flitwork_steps::MAX_DIMS;
/// What the dimensions are called.
pub(crate) const DIMENSION_NAMES: [char; MAX_DIMS] = ['x', 'y', 'z', 'u', 'v', 'w'];

/// Coordinates of a router; dimensions past the last one are 0.
pub type Coords = [u32; MAX_DIMS];

/// Most routers along a dimension: planning looks at every pair of coordinates of a ring.
pub(crate) const MAX_SIZE: u32 = 8192;

/// An n-dimensional array of routers; each dimension either wraps (torus) or ends (mesh).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    sizes: Vec<u32>,
    wrap: Vec<bool>,
    /// A wrapped ring of length 2 has two parallel cables (one per direction) unless this is set.
    ring2_single: bool,
    /// The length of the ring that each dimension is; [`u32::MAX`] where it is none.
    rings: Vec<u32>,
}

impl Grid {
    /// A grid of `sizes[d]` routers in dimension `d`. The caller has validated 1..=6 dimensions, all at least 1.
    pub fn new(sizes: &[u32], wrap: &[bool], ring2_single: bool) -> Self {
        debug_assert_eq!(sizes.len(), wrap.len());
        let ring = |(&size, &wraps): (&u32, &bool)| if wraps && !(size == 2 && ring2_single) { size } else { u32::MAX };
        let rings = sizes.iter().zip(wrap).map(ring).collect();
        Grid { sizes: sizes.to_vec(), wrap: wrap.to_vec(), ring2_single, rings }
    }

    /// A grid of sizes that a user wrote as `network.topology.size`; `wrap` is as long.
    ///
    /// # Errors
    /// Sizes that make no network, or one beyond all bounds.
    pub(super) fn checked(sizes: &[u32], wrap: &[bool], ring2: Ring2) -> Result<Self> {
        let path = "network.topology.size";
        if sizes.is_empty() || sizes.len() > MAX_DIMS {
            return Err(Error::config(path, format!("{sizes:?}"), format!("1 to {MAX_DIMS} sizes"), ""));
        }
        if let Some(d) = sizes.iter().position(|&a| !(1..=MAX_SIZE).contains(&a)) {
            return Err(Error::config(format!("{path}[{d}]"), sizes[d], format!("1 to {MAX_SIZE} routers"), ""));
        }
        let routers = sizes.iter().try_fold(1u32, |p, &a| p.checked_mul(a)).filter(|&p| p <= 1 << 30);
        if routers.is_none() {
            return Err(Error::config(path, format!("{sizes:?}"), "at most 2^30 routers", "use a smaller network"));
        }
        Ok(Grid::new(sizes, wrap, ring2 == Ring2::Single))
    }

    /// A torus: every dimension wraps.
    pub fn torus(sizes: &[u32]) -> Self {
        Grid::new(sizes, &vec![true; sizes.len()], false)
    }

    /// A mesh: no dimension wraps.
    pub fn mesh(sizes: &[u32]) -> Self {
        Grid::new(sizes, &vec![false; sizes.len()], false)
    }

    /// Number of dimensions.
    pub fn dims(&self) -> usize {
        self.sizes.len()
    }

    /// Routers along dimension `d`.
    pub fn size(&self, d: usize) -> u32 {
        self.sizes[d]
    }

    /// Routers along each dimension.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Whether dimension `d` wraps. A wrapped dimension of size 1 has no channels.
    pub fn wraps(&self, d: usize) -> bool {
        self.wrap[d]
    }

    /// Whether dimension `d` has a dateline: it wraps, and has channels.
    pub fn has_dateline(&self, d: usize) -> bool {
        self.wrap[d] && self.sizes[d] > 1
    }

    /// Whether dimension `d` can be walked round: it wraps, and not by a single cable.
    pub fn is_ring(&self, d: usize) -> bool {
        self.rings[d] != u32::MAX
    }

    /// The length of the ring that each dimension is; [`u32::MAX`] where it is none.
    pub fn rings(&self) -> &[u32] {
        &self.rings
    }

    /// Whether a wrapped ring of length 2 has one cable instead of two.
    pub fn ring2_single(&self) -> bool {
        self.ring2_single
    }

    /// Number of routers.
    pub fn routers(&self) -> u32 {
        self.sizes.iter().product()
    }

    /// Network ports of a router (two a dimension, whether or not a channel is attached).
    pub fn network_ports(&self) -> usize {
        2 * self.dims()
    }

    /// Coordinates of router `id`.
    pub fn coords(&self, mut id: u32) -> Coords {
        let mut c = [0; MAX_DIMS];
        for (d, &a) in self.sizes.iter().enumerate() {
            c[d] = id % a;
            id /= a;
        }
        c
    }

    /// Router at `coords`.
    pub fn id(&self, coords: &Coords) -> u32 {
        let mut id = 0;
        for d in (0..self.dims()).rev() {
            id = id * self.sizes[d] + coords[d];
        }
        id
    }

    /// The router that the channel of output port `port` leads to; `None` where there is no channel.
    ///
    /// The channel enters the neighbour by its input port `port ^ 1`: what leaves by plus arrives from minus.
    pub fn neighbour(&self, id: u32, port: usize) -> Option<u32> {
        let d = port / 2;
        let a = self.sizes[d];
        if a == 1 {
            return None;
        }
        let stride: u32 = self.sizes[..d].iter().product();
        let (at, plus) = (id / stride % a, port.is_multiple_of(2));
        if at != if plus { a - 1 } else { 0 } {
            return Some(if plus { id + stride } else { id - stride });
        }
        // With a single cable between two routers, each uses its own plus port at coordinate 0 and minus port at 1.
        let single = a == 2 && self.ring2_single;
        let around = (a - 1) * stride;
        (self.wrap[d] && !single).then_some(if plus { id - around } else { id + around })
    }

    /// Hops between coordinates `from` and `to` of dimension `d` in the given direction; `None` where it cannot be
    /// walked (off the end of a mesh, or along a cable that does not exist).
    pub fn distance(&self, d: usize, from: u32, to: u32, plus: bool) -> Option<u32> {
        let a = self.sizes[d];
        if from == to {
            return Some(0);
        }
        if self.is_ring(d) {
            Some(if plus { (to + a - from) % a } else { (from + a - to) % a })
        } else if plus {
            (to > from).then(|| to - from)
        } else {
            (to < from).then(|| from - to)
        }
    }
}

/// One rank at each router: what the algorithms that go by coordinates need to know.
impl From<&Grid> for RankGrid {
    fn from(grid: &Grid) -> Self {
        RankGrid::new(&grid.sizes, &grid.wrap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_coordinates_are_inverse() {
        let g = Grid::torus(&[5, 3, 2]);
        for id in 0..g.routers() {
            assert_eq!(g.id(&g.coords(id)), id);
        }
    }

    #[test]
    fn a_neighbour_is_one_step_away_in_its_dimension() {
        let mixed = Grid::new(&[4, 1, 3, 2], &[true, true, false, true], false);
        for g in [mixed, Grid::torus(&[2, 5]), Grid::new(&[2, 3], &[true, true], true)] {
            for (id, port) in (0..g.routers()).flat_map(|id| (0..2 * g.dims()).map(move |port| (id, port))) {
                let (d, from, plus) = (port / 2, g.coords(id), port % 2 == 0);
                let a = g.sizes[d];
                let at_edge = from[d] == if plus { a - 1 } else { 0 };
                let there = a > 1 && (!at_edge || g.wrap[d] && !(a == 2 && g.ring2_single));
                let mut to = from;
                to[d] = (from[d] + if plus { 1 } else { a - 1 }) % a;
                assert_eq!(g.neighbour(id, port), there.then(|| g.id(&to)), "{id} {port}");
            }
        }
    }

    #[test]
    fn every_channel_has_its_reverse() {
        for g in [Grid::torus(&[4, 3]), Grid::mesh(&[4, 3]), Grid::new(&[2, 3], &[true, false], true)] {
            for id in 0..g.routers() {
                for port in 0..g.network_ports() {
                    if let Some(n) = g.neighbour(id, port) {
                        assert_eq!(g.neighbour(n, port ^ 1), Some(id));
                    }
                }
            }
        }
    }

    #[test]
    fn a_mesh_ends_and_a_torus_wraps() {
        assert_eq!(Grid::mesh(&[4]).neighbour(3, 0), None);
        assert_eq!(Grid::torus(&[4]).neighbour(3, 0), Some(0));
        assert_eq!(Grid::torus(&[1]).neighbour(0, 0), None);
    }
}
