//! Topologies: which routers exist and which channels join them.
//!
//! Every topology so far is a [`Grid`]: an n-dimensional array of routers in which each dimension may or may not wrap.
//! Routers are numbered `id = x0 + a0*(x1 + a1*(x2 + ...))`; network port `2d` leads to the neighbour in the plus
//! direction of dimension `d`, port `2d + 1` to the one in the minus direction.

mod grid;
mod kind;
mod mesh;
mod mixed;
mod torus;

pub(crate) use grid::DIMENSION_NAMES;
pub use grid::{Coords, Grid, MAX_DIMS};
pub(crate) use kind::TOPOLOGIES;
pub use kind::TopologySpec;
pub use mesh::Mesh;
pub use mixed::MixedGrid;
pub use torus::{Ring2, Torus};
