//! What kind of figure the routers of a network make, for those who can use it.

use super::{Grid, Tree};

/// The shape of a network: what some routings, patterns and bounds know beyond its channels.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Routers in rows and columns.
    Grid(Grid),
    /// Routers in levels, each the root of a subtree.
    Tree(Tree),
    /// A dragonfly: routers in groups of so many, numbered by group.
    Groups(u32),
    /// No more than routers and channels.
    Graph,
}
