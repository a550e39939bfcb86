//! A tree on a page: a row for each level, terminals at the bottom.
//!
//! Every router is drawn in the middle of the terminals that its subtree has, its copies side by side, so the rows are
//! as wide as the bottom one and cables of a subtree stay under its roots. Where there are many terminals they are left
//! out: boxes with numbers in them would be a bar.

use super::super::{Drawing, Segment};
use super::Tree;

/// Most routers that are drawn.
const MOST_ROUTERS: u32 = 4096;
/// Most terminals that are drawn.
const MOST_TERMINALS: u32 = 64;
/// Height of a large tree, in widths of its bottom row.
const HEIGHT: f64 = 0.45;
/// Distance of terminals from their routers \[routers].
const BELOW: f64 = 0.6;

/// `None` where it is too large.
pub(super) fn of(tree: &Tree) -> Option<Drawing> {
    if tree.routers() > MOST_ROUTERS {
        return None;
    }
    let widest = (1..=tree.levels()).map(|level| tree.routers_of(level)).max()?;
    // Rows stand apart as the width asks for, so that cables do not lie flat.
    let rise = (HEIGHT * f64::from(widest) / tree.levels() as f64).max(1.0);
    let place = |router: u32| {
        let at = tree.place(router);
        let step = f64::from(widest) / f64::from(tree.routers_of(at.level));
        let number = at.position * tree.copies(at.level) + at.copy;
        [(f64::from(number) + 0.5) * step - 0.5, rise * (at.level - 1) as f64]
    };
    let routers: Vec<[f64; 2]> = (0..tree.routers()).map(place).collect();
    let mut segments = Vec::new();
    for router in 0..tree.routers() {
        let at = tree.place(router);
        for q in 0..tree.parents(at.level) {
            let parent = tree.router(tree.parent(at, q));
            let (low, high) = (routers[router as usize], routers[parent as usize]);
            segments.push(Segment::of_cable((router, q), low, high));
            segments.push(Segment::of_cable((parent, tree.down_port_to(at)), high, low));
        }
    }
    let (each, step) = (tree.children(1), f64::from(widest) / f64::from(tree.routers_of(1)));
    let spread = step * 0.8 / f64::from(each);
    let terminal = |t: u32| {
        let [x, y] = routers[(t / each) as usize];
        [x + spread * (f64::from(t % each) - f64::from(each - 1) / 2.0), y - BELOW]
    };
    let drawn = if tree.terminals() > MOST_TERMINALS { 0 } else { tree.terminals() };
    let note = match (tree.levels(), drawn) {
        (1, 1..) => "terminals below the router",
        (1, _) => "terminals are not drawn",
        (_, 1..) => "terminals at the bottom, a row for each level",
        _ => "a row for each level; terminals, below the lowest, are not drawn",
    };
    Some(Drawing {
        terminals: (0..drawn).map(terminal).collect(),
        routers,
        segments,
        note: note.to_string(),
        ..Drawing::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_rows_and_every_channel_is_drawn() {
        let tree = Tree::checked(&[2, 2, 2], &[1, 2, 2]).unwrap();
        let drawing = of(&tree).unwrap();
        assert_eq!((drawing.routers.len(), drawing.terminals.len(), drawing.segments.len()), (12, 8, 32));
        for router in 0..12 {
            let at = tree.place(router);
            assert_eq!(drawing.routers[router as usize][1], (at.level - 1) as f64);
        }
        assert!(of(&Tree::checked(&[8, 9], &[1, 8]).unwrap()).unwrap().terminals.is_empty());
        assert!(drawing.terminals.windows(2).all(|pair| pair[0][0] < pair[1][0]));
        assert!(of(&Tree::checked(&[2; 12], &[1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]).unwrap()).is_none());
    }
}
