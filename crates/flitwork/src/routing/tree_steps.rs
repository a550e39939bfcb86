//! The next step of a packet in a fat tree, as routers compute it for each head: the same as [`HopByHop::next`](super::HopByHop::next)
//! of the routings of trees, without dispatch and without division.

use super::hop_by_hop::GoesBy;
use super::on_tree::draw;
use crate::mix::draw_below;
use crate::unchecked::at;

/// By which up port a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpBy {
    /// By a digit of the number that it carries.
    Digit,
    /// By random bits of its own.
    Draw,
    /// By what is behind the ports when it first asks. So many are compared, drawn at random; 0: all.
    Comparing(u32),
}

/// The step that a packet takes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeStep {
    /// None: it is at its destination.
    Here,
    /// By this port.
    Port(u8),
    /// By one of its up ports, by comparison.
    Up,
}

/// All steps of a routing.
#[derive(Debug, Clone)]
pub struct TreeSteps {
    by: UpBy,
    /// What the number that a packet carries is.
    label: GoesBy,
    /// Of each router.
    rows: Vec<Row>,
}

/// What is looked up at a router.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// The first router with terminals that is below, and how many are.
    first: u32,
    leaves: u32,
    /// Those below each child.
    of_child: Divisor,
    copies: Divisor,
    /// Number of up ports, also to divide by.
    parents: u32,
    by_parents: Divisor,
}

/// A router, for [`TreeSteps::new`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Below {
    pub first: u32,
    pub leaves: u32,
    pub leaves_of_child: u32,
    pub parents: u32,
    pub copies: u32,
}

/// Divides numbers below 2^20, as those of terminals are, by multiplying with `ceil(2^40 / d)`. That is exact: it is too large by less than `d`,
/// at most 2^20, so the product by less than 2^40.
#[derive(Debug, Clone, Copy)]
struct Divisor(u64);

impl Divisor {
    fn new(d: u32) -> Self {
        Divisor((1u64 << 40).div_ceil(u64::from(d.max(1))))
    }

    #[inline(always)]
    fn divides(self, n: u32) -> u32 {
        (u64::from(n).wrapping_mul(self.0) >> 40) as u32
    }
}

impl TreeSteps {
    pub(super) fn new(by: UpBy, label: GoesBy, routers: impl Iterator<Item = Below>) -> Self {
        let row = |r: Below| Row {
            first: r.first,
            leaves: r.leaves,
            of_child: Divisor::new(r.leaves_of_child),
            copies: Divisor::new(r.copies),
            parents: r.parents,
            by_parents: Divisor::new(r.parents),
        };
        TreeSteps { by, label, rows: routers.map(row).collect() }
    }

    /// The number that a packet between these terminals carries.
    #[inline(always)]
    pub fn label(&self, src: u32, dst: u32) -> u32 {
        match self.label {
            GoesBy::Routers => 0,
            GoesBy::Source => src,
            GoesBy::Destination => dst,
        }
    }

    /// Whether packets decide when they first ask, and by how many ports.
    pub fn compares(&self) -> Option<u32> {
        match self.by {
            UpBy::Comparing(candidates) => Some(candidates),
            UpBy::Digit | UpBy::Draw => None,
        }
    }

    /// How many up ports a router has: the lowest ones.
    #[inline(always)]
    pub fn parents(&self, router: usize) -> u32 {
        at(&self.rows, router).parents
    }

    /// The step at `router` of a packet to router `to` with number `label`. `bits` gives its random bits.
    #[inline(always)]
    pub fn next(&self, router: usize, to: u32, label: u32, bits: impl Fn() -> u64) -> TreeStep {
        if to as usize == router {
            return TreeStep::Here;
        }
        let row = at(&self.rows, router);
        let below = to.wrapping_sub(row.first);
        if below < row.leaves {
            return TreeStep::Port((row.parents + row.of_child.divides(below)) as u8);
        }
        match self.by {
            UpBy::Digit => {
                let digits = row.copies.divides(label);
                TreeStep::Port((digits - row.by_parents.divides(digits) * row.parents) as u8)
            }
            UpBy::Draw => TreeStep::Port(draw_below(draw(bits(), router as u32, 0), u64::from(row.parents)) as u8),
            UpBy::Comparing(_) if row.parents == 1 => TreeStep::Port(0),
            UpBy::Comparing(_) => TreeStep::Up,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_divide() {
        let most = (1 << 20) - 1;
        for d in [1, 2, 3, 7, 48, 64, 1000, 4097, 1 << 19, most, 1 << 20] {
            let near = (1..40).flat_map(|i| [i * d, i * d - 1, i * d + 1]).filter(|&n| n <= most);
            for n in near.chain([0, most - 1, most]) {
                assert_eq!(Divisor::new(d).divides(n), n / d, "{n} / {d}");
            }
        }
    }
}
