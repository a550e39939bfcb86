//! Topologies: which routers exist and which channels join them.
//!
//! A topology is what users write; what everybody else sees of it is its [`Fabric`]: routers, channels between their
//! ports, and terminals. Some topologies have a [`Shape`] that routings, patterns and bounds can use. A [`Grid`] is an
//! n-dimensional array of routers in which each dimension may or may not wrap: routers are numbered
//! `id = x0 + a0*(x1 + a1*(x2 + ...))`; network port `2d` leads to the neighbour in the plus direction of dimension
//! `d`, port `2d + 1` to the one in the minus direction. All other topologies are a [`Graph`], a list of channels;
//! those of a fat tree have the shape of a [`Tree`], which knows levels and ancestors, and a dragonfly has groups.

mod cables;
mod circulant;
mod crossbar;
mod dragonfly;
mod dragonfly_plus;
mod drawing;
mod fabric;
mod figures;
mod flattened_butterfly;
mod graph;
mod grid;
mod hypercube;
mod hyperx;
mod k_ary_n_tree;
mod kind;
mod listed;
mod mesh;
mod mixed;
mod rail_optimized;
mod random_regular;
mod shape;
mod slim_fly;
mod torus;
mod tree;
mod twisted_torus;
mod without;
mod xgft;

pub use circulant::Circulant;
pub use crossbar::Crossbar;
pub(crate) use dragonfly::other;
pub use dragonfly::{Arrangement, Dragonfly};
pub use dragonfly_plus::DragonflyPlus;
pub use drawing::{Drawing, Segment};
pub use fabric::{End, Fabric};
pub use flattened_butterfly::FlattenedButterfly;
pub use graph::{Channel, Graph};
pub(crate) use grid::DIMENSION_NAMES;
pub use grid::{Coords, Grid, MAX_DIMS};
pub use hypercube::Hypercube;
pub use hyperx::HyperX;
pub use k_ary_n_tree::KAryNTree;
pub(crate) use kind::TOPOLOGIES;
pub use kind::TopologySpec;
pub use listed::ListedGraph;
#[cfg(test)]
pub(crate) use listed::{graph, random, ring};
pub use mesh::Mesh;
pub use mixed::MixedGrid;
pub use rail_optimized::RailOptimized;
pub use random_regular::RandomRegular;
pub use shape::Shape;
pub use slim_fly::SlimFly;
pub use torus::{Ring2, Torus};
pub use tree::{Tree, TreePlace};
pub use twisted_torus::TwistedTorus;
pub use without::Without;
pub use xgft::Xgft;
