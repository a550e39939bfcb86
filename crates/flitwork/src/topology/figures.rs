//! Numbers and names that follow from the shape of a network.

use super::{Fabric, Grid, Shape, Tree};

impl Fabric {
    /// The load of uniform traffic that uses up the channels across the middle [flits/cycle/terminal]: `8 / N` for an N
    /// x N torus. No routing accepts more of it on the average (a terminal may draw itself). Infinite where no channel
    /// limits it, `None` where it is not known.
    pub fn uniform_capacity(&self) -> Option<f64> {
        match self.shape() {
            Shape::Grid(grid) => Some(1.0 / (busiest(grid) * f64::from(self.most_terminals()))),
            Shape::Tree(tree) => Some(capacity(tree)),
            Shape::Graph if self.channels().next().is_none() => Some(f64::INFINITY),
            Shape::Groups(_) | Shape::Graph => None,
        }
    }

    /// Channels between two routers on the average, roughly.
    pub fn mean_hops(&self) -> f64 {
        match self.shape() {
            Shape::Grid(grid) => {
                let along = |d: usize| f64::from(grid.size(d)) / if grid.wraps(d) { 4.0 } else { 3.0 };
                (0..grid.dims()).map(along).sum()
            }
            // All but few pairs of terminals meet at the top.
            Shape::Tree(tree) => 2.0 * (tree.levels() as f64 - 1.0),
            // Most packets walk in two groups.
            Shape::Groups(_) => 3.0,
            // As of a tree with two branches a router.
            Shape::Graph => f64::from(self.routers()).log2(),
        }
    }

    /// The size in words: `8x8` of a grid, else the number of routers, or that of the terminals where there is one
    /// router.
    pub fn size_name(&self) -> String {
        match self.shape() {
            Shape::Grid(grid) => grid.sizes().iter().map(u32::to_string).collect::<Vec<_>>().join("x"),
            Shape::Tree(_) | Shape::Groups(_) => format!("{} terminals", self.terminals()),
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

/// The load of uniform traffic at which the channels up from some level are full [flits/cycle/terminal].
fn capacity(tree: &Tree) -> f64 {
    let all = f64::from(tree.terminals());
    let of_level = |level: usize| {
        let below = f64::from(tree.terminals_below(level));
        let channels = f64::from(tree.copies(level)) * f64::from(tree.parents(level));
        let leaving = below * (1.0 - below / all);
        if leaving == 0.0 { f64::INFINITY } else { channels / leaving }
    };
    (1..tree.levels()).map(of_level).fold(f64::INFINITY, f64::min)
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

    /// 16 terminals: 4 at each router of level 1, of whose packets 3/4 go up on 4 channels, or on 2 of them.
    #[test]
    fn the_thinnest_level_limits_a_tree() {
        let of = |children: &[u32], parents: &[u32]| Tree::checked(children, parents).unwrap().fabric().unwrap();
        assert_eq!(of(&[4, 4], &[1, 4]).uniform_capacity(), Some(4.0 / 3.0));
        assert_eq!(of(&[4, 4], &[1, 2]).uniform_capacity(), Some(2.0 / 3.0));
        assert_eq!(of(&[4], &[1]).uniform_capacity(), Some(f64::INFINITY));
        assert_eq!((of(&[4, 4], &[1, 2]).size_name(), of(&[4, 4], &[1, 2]).mean_hops()), ("16 terminals".into(), 2.0));
    }

    #[test]
    fn sizes_have_a_name() {
        assert_eq!(of(Grid::mesh(&[8, 4, 2])).size_name(), "8x4x2");
    }
}
