//! The next step of a packet in a fat tree: what the routings of trees answer, and what routers look up for each head
//! without dispatch and without division.

use super::hop_by_hop::GoesBy;
use crate::mix::{draw_below, mix};
use crate::topology::Tree;
use crate::unchecked::at;

/// Which way up packets go: all in which the routings of trees differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rule {
    pub by: UpBy,
    /// What the number that a packet carries is.
    pub label: GoesBy,
}

/// By which up port a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpBy {
    /// By a digit of the number that it carries: at level `l` by port `floor(number / (w_1 ... w_l)) mod w_(l+1)`.
    Digit,
    /// By random bits of its own.
    Draw,
    /// By what is behind the ports at the end of the routing stage. So many are compared, drawn at random; 0: all.
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
    rule: Rule,
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

/// Divides numbers below 2^20, as those of terminals are, by multiplying with `ceil(2^40 / d)`. That is exact: it is
/// too large by less than `d`, at most 2^20, so the product by less than 2^40.
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
    pub(super) fn new(tree: &Tree, rule: Rule) -> Self {
        let row = |router: u32| {
            let place = tree.place(router);
            let leaves = tree.terminals_below(place.level) / tree.children(1);
            let parents = tree.parents(place.level);
            Row {
                // Routers with terminals have the lowest numbers, which are their positions.
                first: place.position * leaves,
                leaves,
                of_child: Divisor::new(leaves / tree.children(place.level)),
                copies: Divisor::new(tree.copies(place.level)),
                parents,
                by_parents: Divisor::new(parents),
            }
        };
        TreeSteps { rule, rows: (0..tree.routers()).map(row).collect() }
    }

    /// What the number that a packet carries is.
    pub(super) fn goes_by(&self) -> GoesBy {
        self.rule.label
    }

    /// The number that a packet between these terminals carries.
    #[inline(always)]
    pub fn label(&self, src: u32, dst: u32) -> u32 {
        match self.rule.label {
            // No rule of trees looks at both.
            GoesBy::Routers | GoesBy::Pair => 0,
            GoesBy::Source => src,
            GoesBy::Destination => dst,
        }
    }

    /// Whether packets decide in each router, and by how many ports.
    pub fn compares(&self) -> Option<u32> {
        match self.rule.by {
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
        if let Some(port) = row.down(to) {
            return TreeStep::Port(port);
        }
        match self.rule.by {
            UpBy::Digit => TreeStep::Port(row.digit(label)),
            UpBy::Draw => TreeStep::Port(draw_below(draw(bits(), router as u32, 0), u64::from(row.parents)) as u8),
            UpBy::Comparing(_) if row.parents == 1 => TreeStep::Port(0),
            UpBy::Comparing(_) => TreeStep::Up,
        }
    }

    /// All ports that a packet may be given there, whatever it draws and finds, as bits.
    pub(super) fn possible(&self, router: usize, to: u32, label: u32) -> u64 {
        let row = at(&self.rows, router);
        match (row.down(to), self.rule.by) {
            (Some(port), _) => 1 << port,
            (None, UpBy::Digit) => 1 << row.digit(label),
            (None, UpBy::Draw | UpBy::Comparing(_)) => row.up(),
        }
    }

    /// The up ports of a router, as bits.
    pub(super) fn up(&self, router: usize) -> u64 {
        at(&self.rows, router).up()
    }
}

impl Row {
    /// The port down towards router `to`, if it is below.
    #[inline(always)]
    fn down(&self, to: u32) -> Option<u8> {
        let below = to.wrapping_sub(self.first);
        (below < self.leaves).then(|| (self.parents + self.of_child.divides(below)) as u8)
    }

    /// The up port that the number of a packet names.
    #[inline(always)]
    fn digit(&self, label: u32) -> u8 {
        let digits = self.copies.divides(label);
        (digits - self.by_parents.divides(digits) * self.parents) as u8
    }

    fn up(&self) -> u64 {
        if self.parents >= 64 { !0 } else { (1 << self.parents) - 1 }
    }
}

/// Number `i` of the numbers that a packet with these bits draws at a router.
#[inline]
pub(crate) fn draw(bits: u64, router: u32, i: u32) -> u64 {
    mix(bits ^ mix(u64::from(router) << 32 | u64::from(i)))
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
