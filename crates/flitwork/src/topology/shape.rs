//! What kind of figure the routers of a network make, for those who can use it.

use super::Grid;

/// The shape of a network: what some routings, patterns and bounds know beyond its channels.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Routers in rows and columns.
    Grid(Grid),
    /// No more than routers and channels.
    Graph,
}
