//! What every order must do.

use super::*;
use proptest::prelude::*;

/// Whether each relative destination but 0 occurs exactly once.
pub fn covers(offsets: &[Offset], sizes: &[u32]) -> bool {
    let grid = RankGrid::torus(sizes);
    let mut seen = vec![false; grid.ranks() as usize];
    seen[0] = true;
    offsets.len() + 1 == seen.len()
        && offsets.iter().all(|v| {
            let mut at = [0; MAX_DIMS];
            for d in 0..sizes.len() {
                at[d] = v[d].rem_euclid(sizes[d] as i32) as u32;
            }
            !std::mem::replace(&mut seen[grid.rank(&at) as usize], true)
        })
}

/// The algorithms that address by relative coordinates.
fn named_by_vectors() -> impl Iterator<Item = &'static str> {
    let square = RankGrid::torus(&[3, 3]);
    ALGORITHMS.iter().map(|a| a.name).filter(move |name| relative_order(name, &square).is_ok())
}

fn grids(sizes: &[u32]) -> Vec<RankGrid> {
    let mixed: Vec<bool> = (0..sizes.len()).map(|d| d % 2 == 0).collect();
    vec![RankGrid::torus(sizes), RankGrid::mesh(sizes), RankGrid::new(sizes, &mixed)]
}

#[test]
fn every_destination_once_on_all_rectangles_up_to_17() {
    for a in 1..=17 {
        for b in 1..=17 {
            for grid in grids(&[a, b]).iter().filter(|g| g.ranks() > 1) {
                for name in named_by_vectors() {
                    assert!(covers(&relative_order(name, grid).unwrap(), grid.sizes()), "{name} {grid:?}");
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn every_destination_once_anywhere(
        (sizes, wrap) in proptest::collection::vec((1u32..7, any::<bool>()), 1..=5).prop_map(|v| v.into_iter().unzip())
    ) {
        let (sizes, wrap): (Vec<u32>, Vec<bool>) = (sizes, wrap);
        let grid = RankGrid::new(&sizes, &wrap);
        if grid.ranks() > 1 {
            for name in named_by_vectors() {
                prop_assert!(covers(&relative_order(name, &grid).unwrap(), &sizes));
            }
        }
    }
}

#[test]
fn rank_offsets_are_vectors_in_one_dimension_only() {
    assert_eq!(relative_order("a2a", &RankGrid::torus(&[1, 3])).unwrap(), [[0, 1, 0, 0, 0, 0], [0, 2, 0, 0, 0, 0]]);
    assert!(relative_order("a2a", &RankGrid::torus(&[3, 3])).is_err());
}
