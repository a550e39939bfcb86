//! The grid whose routers the ranks are, for algorithms that go by coordinates.

/// Largest number of dimensions.
pub const MAX_DIMS: usize = 6;

/// Coordinates of a rank; dimensions past the last one are 0.
pub type Coords = [u32; MAX_DIMS];

/// One rank at each router of a grid, the first dimension fastest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankGrid {
    sizes: Vec<u32>,
    wraps: Vec<bool>,
}

impl RankGrid {
    /// A grid of `sizes[d]` routers in dimension `d`, which is a ring where `wraps[d]`. The caller has validated 1..=6
    /// dimensions, all at least 1, and not more than 2^32 - 1 routers.
    pub fn new(sizes: &[u32], wraps: &[bool]) -> Self {
        debug_assert_eq!(sizes.len(), wraps.len());
        RankGrid { sizes: sizes.to_vec(), wraps: wraps.to_vec() }
    }

    /// A torus: every dimension is a ring.
    pub fn torus(sizes: &[u32]) -> Self {
        RankGrid::new(sizes, &vec![true; sizes.len()])
    }

    /// A mesh: no dimension is a ring.
    pub fn mesh(sizes: &[u32]) -> Self {
        RankGrid::new(sizes, &vec![false; sizes.len()])
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

    /// Whether dimension `d` is a ring.
    pub fn wraps(&self, d: usize) -> bool {
        self.wraps[d]
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.sizes.iter().product()
    }

    /// Coordinates of a rank.
    pub fn coords(&self, mut rank: u32) -> Coords {
        let mut coords = [0; MAX_DIMS];
        for (c, &size) in coords.iter_mut().zip(&self.sizes) {
            *c = rank % size;
            rank /= size;
        }
        coords
    }

    /// The rank at `coords`.
    pub fn rank(&self, coords: &Coords) -> u32 {
        self.sizes.iter().zip(coords).rev().fold(0, |rank, (&size, &c)| rank * size + c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_coordinates_are_inverse() {
        let grid = RankGrid::torus(&[5, 3, 2]);
        assert_eq!(grid.coords(5), [0, 1, 0, 0, 0, 0]);
        for rank in 0..grid.ranks() {
            assert_eq!(grid.rank(&grid.coords(rank)), rank);
        }
    }
}
