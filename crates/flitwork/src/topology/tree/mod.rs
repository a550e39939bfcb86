//! The shape of a fat tree: levels of routers, and which of them is above which.
//!
//! S. R. Öhring, M. Ibel, S. K. Das and M. J. Kumar, "On generalized fat trees", IPPS 1995: the extended generalized
//! fat tree XGFT(h; m_1, ..., m_h; w_1, ..., w_h) has terminals at level 0 and routers at levels 1 to h. A router of
//! level `l` has `m_l` children below it; everything of level `l - 1` has `w_l` parents above it. Here `w_1` is 1: a
//! terminal has one router.
//!
//! A router of level `l` is named by two numbers: its *position*, the digits `a_h ... a_(l+1)` with `a_i < m_i`, which
//! say what is below it (the terminals whose number divided by `m_1 ... m_l` is the position); and its *copy*, the
//! digits `b_l ... b_1` with `b_i < w_i`, which tell apart the routers with the same terminals below them. Routers are
//! numbered by level from below, then position, then copy. Up ports come first: up port `q` leads to the parent whose
//! digit `b_(l+1)` is `q`, down port `w_(l+1) + c` to the child whose digit `a_l` is `c`. A parent and a child are
//! joined by one cable.

mod drawing;

use super::{Channel, Drawing, Fabric, Graph};
use crate::error::{Error, Result};

/// Most levels of routers.
pub(super) const MOST_LEVELS: usize = 16;
/// Most ports of a router.
pub(super) const MOST_PORTS: u64 = super::fabric::MOST_PORTS as u64;
/// Most terminals, and most ports of all routers together.
const MOST_TERMINALS: u64 = 1 << 20;
const MOST_PORTS_IN_ALL: u64 = 1 << 23;

/// A fat tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// From below; level `l` at index `l - 1`.
    levels: Vec<Level>,
}

/// One level of routers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Level {
    /// Number of its first router.
    first: u32,
    /// Number of its routers.
    routers: u32,
    /// Children of a router, and parents: 0 at the top.
    children: u32,
    parents: u32,
    /// Terminals below a router.
    terminals: u32,
    /// Routers with the same terminals below them.
    copies: u32,
}

/// A router in its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreePlace {
    /// Level of the router, 1 at the bottom.
    pub level: usize,
    /// Which terminals are below it: those whose number divided by the terminals of a router of this level is this.
    pub position: u32,
    /// Which it is of the routers with the same terminals below them.
    pub copy: u32,
}

impl Tree {
    /// The tree of `m_1, ..., m_h` and `w_1, ..., w_h`.
    ///
    /// # Errors
    /// [`Error::Config`] for lists that make no tree; the fields are called `children` and `parents`.
    pub(super) fn checked(children: &[u32], parents: &[u32]) -> Result<Tree> {
        let levels = children.len();
        let (m_path, w_path) = ("network.topology.children", "network.topology.parents");
        if !(1..=MOST_LEVELS).contains(&levels) {
            let expected = format!("1 to {MOST_LEVELS} numbers, one for each level from below");
            return Err(Error::config(m_path, format!("{children:?}"), expected, ""));
        }
        if parents.len() != levels {
            let expected = format!("{levels} numbers, as many as children has");
            return Err(Error::config(w_path, format!("{parents:?}"), expected, ""));
        }
        for (path, list) in [(m_path, children), (w_path, parents)] {
            if let Some(at) = list.iter().position(|&n| n == 0) {
                return Err(Error::config(format!("{path}[{at}]"), 0, "at least 1", ""));
            }
        }
        if parents[0] != 1 {
            let hint = "several ports of a NIC are network.nic.ports";
            return Err(Error::config(format!("{w_path}[0]"), parents[0], "1: a terminal has one router", hint));
        }
        let above = |l: usize| parents.get(l + 1).copied().unwrap_or(0);
        for (l, &m) in children.iter().enumerate() {
            let ports = u64::from(m) + u64::from(above(l));
            if ports > MOST_PORTS {
                let (ports, level) = (format!("{m}, with {} parents {ports} ports", above(l)), l + 1);
                let expected = format!("at most {MOST_PORTS} ports of a router of level {level}");
                return Err(Error::config(format!("{m_path}[{l}]"), ports, expected, ""));
            }
        }
        Tree::new(children, parents).ok_or_else(|| {
            let expected = format!("at most {MOST_TERMINALS} terminals, and {MOST_PORTS_IN_ALL} ports in all");
            Error::config(m_path, format!("{children:?}"), expected, "use fewer levels or children")
        })
    }

    /// `None` where it is too large.
    fn new(children: &[u32], parents: &[u32]) -> Option<Tree> {
        let mut terminals: u64 = children.iter().map(|&m| u64::from(m)).try_fold(1u64, u64::checked_mul)?;
        if terminals > MOST_TERMINALS {
            return None;
        }
        let (all, mut below, mut copies, mut first, mut ports) = (terminals, 1u64, 1u64, 0u64, 0u64);
        let mut levels = Vec::new();
        for (l, &m) in children.iter().enumerate() {
            below *= u64::from(m);
            copies = copies.checked_mul(u64::from(parents[l]))?;
            terminals /= u64::from(m);
            let above = parents.get(l + 1).copied().unwrap_or(0);
            let routers = terminals.checked_mul(copies)?;
            ports = ports.checked_add(routers.checked_mul(u64::from(m + above))?)?;
            if ports > MOST_PORTS_IN_ALL {
                return None;
            }
            levels.push(Level {
                first: first as u32,
                routers: routers as u32,
                children: m,
                parents: above,
                terminals: below as u32,
                copies: copies as u32,
            });
            first += routers;
        }
        debug_assert_eq!(below, all);
        Some(Tree { levels })
    }

    /// A tree with at most so many children and parents everywhere.
    pub fn cut_down(&self, most: u32) -> Tree {
        let least = |n: u32| n.min(most);
        let children: Vec<u32> = self.levels.iter().map(|level| least(level.children)).collect();
        let parents = std::iter::once(1).chain(self.levels.iter().map(|level| least(level.parents)));
        let parents: Vec<u32> = parents.take(children.len()).collect();
        Tree::new(&children, &parents).unwrap_or_else(|| self.clone())
    }

    /// Levels of routers.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// Number of terminals.
    pub fn terminals(&self) -> u32 {
        self.levels.last().map_or(0, |top| top.terminals)
    }

    /// Number of routers.
    pub fn routers(&self) -> u32 {
        self.levels.iter().map(|level| level.routers).sum()
    }

    /// Routers of level `level`, 1 at the bottom.
    pub fn routers_of(&self, level: usize) -> u32 {
        self.levels[level - 1].routers
    }

    /// Children of a router of level `level`: terminals at level 1.
    pub fn children(&self, level: usize) -> u32 {
        self.levels[level - 1].children
    }

    /// Parents of a router of level `level`: its up ports, `0..parents`; 0 at the top.
    pub fn parents(&self, level: usize) -> u32 {
        self.levels[level - 1].parents
    }

    /// Terminals below a router of level `level`.
    pub fn terminals_below(&self, level: usize) -> u32 {
        self.levels[level - 1].terminals
    }

    /// Routers of level `level` with the same terminals below them.
    pub fn copies(&self, level: usize) -> u32 {
        self.levels[level - 1].copies
    }

    /// Where a router is.
    pub fn place(&self, router: u32) -> TreePlace {
        let above = self.levels.iter().position(|level| router < level.first + level.routers);
        let l = above.unwrap_or(self.levels.len() - 1);
        let Level { first, copies, .. } = self.levels[l];
        let number = router - first;
        TreePlace { level: l + 1, position: number / copies, copy: number % copies }
    }

    /// The router at a place.
    pub fn router(&self, place: TreePlace) -> u32 {
        let level = &self.levels[place.level - 1];
        level.first + place.position * level.copies + place.copy
    }

    /// The parent behind up port `q` of a router that is not at the top.
    pub fn parent(&self, of: TreePlace, q: u32) -> TreePlace {
        let above = &self.levels[of.level];
        let copies = self.levels[of.level - 1].copies;
        TreePlace { level: of.level + 1, position: of.position / above.children, copy: of.copy + q * copies }
    }

    /// The output port by which a child is reached from any of its parents, in ports of the parent.
    fn down_port_to(&self, child: TreePlace) -> u32 {
        let above = &self.levels[child.level];
        above.parents + child.position % above.children
    }

    /// The level of the nearest common ancestors of two terminals.
    pub fn meeting_level(&self, a: u32, b: u32) -> usize {
        let level = self.levels.iter().position(|level| a / level.terminals == b / level.terminals);
        level.map_or(self.levels.len(), |l| l + 1)
    }

    /// Routers, channels and terminals. The classes of channels are `up1`, `down1`, `up2`, ..., by the lower of their
    /// two levels.
    pub(super) fn fabric(self) -> Result<Fabric> {
        let mut graph = Graph::default();
        for (l, level) in self.levels.iter().enumerate() {
            let terminals = if l == 0 { level.children } else { 0 };
            graph.terminals.extend(std::iter::repeat_n(terminals, level.routers as usize));
            if level.parents > 0 {
                graph.classes.extend([format!("up{}", l + 1), format!("down{}", l + 1)]);
            }
            for router in level.first..level.first + level.routers {
                let place = self.place(router);
                for q in 0..level.parents {
                    let (up, down) = ((router, q as usize), self.parent(place, q));
                    let down = (self.router(down), self.down_port_to(place) as usize);
                    graph.channels.extend([Channel::new(up, down, 2 * l), Channel::new(down, up, 2 * l + 1)]);
                }
            }
        }
        Fabric::of_tree_of(self, &graph)
    }

    /// Where it is on a page; `None` where it is too large to be drawn.
    pub(super) fn drawing(&self) -> Option<Drawing> {
        drawing::of(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(children: &[u32], parents: &[u32]) -> Tree {
        Tree::checked(children, parents).unwrap()
    }

    #[test]
    fn places_and_numbers_are_inverse() {
        for tree in
            [tree(&[4, 4], &[1, 4]), tree(&[2, 3, 4], &[1, 2, 3]), tree(&[5], &[1]), tree(&[2; 4], &[1, 2, 2, 2])]
        {
            for router in 0..tree.routers() {
                assert_eq!(tree.router(tree.place(router)), router);
            }
            let fabric = tree.clone().fabric().unwrap();
            assert_eq!((fabric.routers(), fabric.terminals()), (tree.routers(), tree.terminals()));
        }
    }

    /// Everything of level l has its parents at level l + 1, and they have it below them.
    #[test]
    fn a_parent_covers_its_children() {
        let tree = tree(&[3, 2, 4], &[1, 2, 3]);
        let fabric = tree.clone().fabric().unwrap();
        for (router, port) in fabric.channels() {
            let (here, there) = (tree.place(router), tree.place(fabric.peer(router, port).unwrap().0));
            let up = (port as u32) < tree.parents(here.level);
            let (low, high) = if up { (here, there) } else { (there, here) };
            assert_eq!(low.level + 1, high.level);
            assert_eq!(low.position / tree.children(high.level), high.position);
            let class = format!("{}{}", if up { "up" } else { "down" }, low.level);
            assert_eq!(fabric.classes()[fabric.class_of(router, port)], class);
        }
    }

    /// A 16-port 3-level fat tree: 1,024 terminals, 320 routers, all with 16 ports.
    #[test]
    fn a_tree_of_routers_that_are_all_alike() {
        let tree = tree(&[8, 8, 16], &[1, 8, 8]);
        assert_eq!((tree.terminals(), tree.routers()), (1024, 320));
        assert_eq!([1, 2, 3].map(|level| tree.routers_of(level)), [128, 128, 64]);
        assert_eq!([1, 2, 3].map(|level| tree.children(level) + tree.parents(level)), [16, 16, 16]);
        assert_eq!((tree.meeting_level(0, 7), tree.meeting_level(0, 8), tree.meeting_level(63, 64)), (1, 2, 3));
    }

    #[test]
    fn lists_that_make_no_tree_are_named() {
        let refused = |children: &[u32], parents: &[u32]| Tree::checked(children, parents).unwrap_err().to_string();
        let starts =
            |text: String, with: &str| assert!(text.starts_with(&format!("network.topology.{with}")), "{text}");
        starts(refused(&[], &[]), "children = []: expected 1 to 16 numbers");
        starts(refused(&[4, 4], &[1]), "parents = [1]: expected 2 numbers, as many as children has");
        starts(refused(&[4, 0], &[1, 1]), "children[1] = 0: expected at least 1");
        starts(refused(&[4, 4], &[1, 0]), "parents[1] = 0: expected at least 1");
        starts(refused(&[4, 4], &[2, 2]), "parents[0] = 2: expected 1: a terminal has one router");
        starts(refused(&[33, 2], &[1, 32]), "children[0] = 33, with 32 parents 65 ports: expected at most 64 ports");
        starts(
            refused(&[32, 32, 32, 33], &[1, 1, 1, 1]),
            "children = [32, 32, 32, 33]: expected at most 1048576 terminals",
        );
    }
}
