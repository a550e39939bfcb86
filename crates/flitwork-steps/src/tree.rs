//! The binomial tree below a root: rank `root + v` is below `root + v` without its lowest bit.

use super::blocks::Blocks;
use super::step::Step;
use super::world::World;

/// An edge of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    parent: u32,
    /// The rank below.
    pub child: u32,
    /// Ranks of the subtree below, the child included: from the child on, around the end.
    pub below: u32,
}

impl Edge {
    /// A block for each rank of the subtree below.
    pub fn subtree(&self, world: &World) -> Blocks {
        Blocks::run(self.child, self.below, world.ranks)
    }
}

/// Step `step` of data that goes down, on the edges that are longest first: what each edge carries is `blocks`.
pub fn down(world: &World, rank: u32, step: u32, blocks: impl Fn(Edge) -> Blocks) -> Step {
    match edge(world, rank, 1 << (world.bits() - 1 - step)) {
        None => Step::default(),
        Some(edge) if edge.parent == rank => Step::send(edge.child, blocks(edge)),
        Some(edge) => Step::receive(edge.parent, blocks(edge)),
    }
}

/// Step `step` of data that goes up, on the edges that are shortest first.
pub fn up(world: &World, rank: u32, step: u32, blocks: impl Fn(Edge) -> Blocks) -> Step {
    match edge(world, rank, 1 << step) {
        None => Step::default(),
        Some(edge) if edge.parent == rank => Step::receive(edge.child, blocks(edge)),
        Some(edge) => Step::send(edge.parent, blocks(edge)),
    }
}

/// The edge of length `length`, a power of two, at which a rank is.
fn edge(world: &World, rank: u32, length: u32) -> Option<Edge> {
    let place = world.from_root(rank);
    let below = |child: u32| length.min(world.ranks - child);
    match place % (2 * length) {
        0 if place + length < world.ranks => {
            Some(Edge { parent: rank, child: world.after(rank, length), below: below(place + length) })
        }
        rest if rest == length => Some(Edge { parent: world.before(rank, length), child: rank, below: below(place) }),
        _ => None,
    }
}
