//! Numbers and names that follow from the shape of a network.

use super::{Fabric, Grid, Shape};

impl Fabric {
    /// The load of uniform traffic that uses up the channels across the middle [flits/cycle/terminal]: `8 / N` for an N x N torus.
    /// No routing accepts more of it on the average (a terminal may draw itself). Infinite where no channel limits it, `None`
    /// where it is not known.
    pub fn uniform_capacity(&self) -> Option<f64> {
        match self.shape() {
            Shape::Grid(grid) => Some(1.0 / (busiest(grid) * f64::from(self.most_terminals()))),
            Shape::Graph if self.channels().next().is_none() => Some(f64::INFINITY),
            Shape::Graph => None,
        }
    }

    /// Channels between two routers on the average, roughly.
    pub fn mean_hops(&self) -> f64 {
        match self.shape() {
            Shape::Grid(grid) => {
                let along = |d: usize| f64::from(grid.size(d)) / if grid.wraps(d) { 4.0 } else { 3.0 };
                (0..grid.dims()).map(along).sum()
            }
            // As of a tree with two branches a router.
            Shape::Graph => f64::from(self.routers()).log2(),
        }
    }

    /// The size in words: `8x8` of a grid, else the number of routers, or that of the terminals where there is one router.
    pub fn size_name(&self) -> String {
        match self.shape() {
            Shape::Grid(grid) => grid.sizes().iter().map(u32::to_string).collect::<Vec<_>>().join("x"),
            Shape::Graph if self.routers() == 1 => format!("{} terminals", self.terminals()),
            Shape::Graph => self.routers().to_string(),
        }
    }
}

/// Flits over the most loaded channel if each router sends one flit, shared by both directions.
fn busiest(grid: &Grid) -> f64 {
    let along = |d: usize| {
        let n = u64::from(grid.size(d));
        let crossing = (n * n / 4) as f64;
        crossing / (n as f64 * if grid.wraps(d) { 2.0 } else { 1.0 })
    };
    (0..grid.dims()).map(along).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(grid: Grid) -> Fabric {
        Fabric::of_grid(grid, 2).unwrap()
    }

    #[test]
    fn the_middle_limits_uniform_traffic() {
        assert_eq!(of(Grid::torus(&[8, 8])).uniform_capacity(), Some(0.5));
        assert_eq!(of(Grid::mesh(&[8, 4])).uniform_capacity(), Some(0.25));
        assert_eq!(of(Grid::torus(&[5, 4])).uniform_capacity(), Some(10.0 / 6.0 / 2.0));
        assert_eq!(of(Grid::mesh(&[1])).uniform_capacity(), Some(f64::INFINITY));
    }

    #[test]
    fn sizes_have_a_name() {
        assert_eq!(of(Grid::mesh(&[8, 4, 2])).size_name(), "8x4x2");
    }
}
