//! The claims about A2AT, by the closed formulas for the load of one vector (the explicit routes are in `bound`).

use super::super::tests::covers;
use super::*;

/// Load [messages] on the channels of each (dimension, sign), by the formulas above, times 4 to stay whole.
fn loads(v: &Offset, grid: &RankGrid) -> Vec<u32> {
    let mut loads = Vec::new();
    for (d, &c) in v.iter().enumerate().take(grid.dims()) {
        let (a, m) = (grid.size(d), c.unsigned_abs());
        let (plus, minus) = match () {
            () if !grid.wraps(d) => (4 * m.min(a - m), 4 * m.min(a - m)),
            () if 2 * m == a => (a, a),
            () if c > 0 => (4 * m, 0),
            () => (0, 4 * m),
        };
        loads.extend([plus, minus]);
    }
    loads
}

fn sum<'a>(vectors: impl IntoIterator<Item = &'a Offset>, grid: &RankGrid) -> Vec<u32> {
    vectors.into_iter().fold(vec![0; 2 * grid.dims()], |mut total, v| {
        total.iter_mut().zip(loads(v, grid)).for_each(|(t, l)| *t += l);
        total
    })
}

/// Sum over sets of vectors of the load of the most loaded channels [messages].
fn time<'a>(sets: impl IntoIterator<Item = &'a [Offset]>, grid: &RankGrid) -> f64 {
    sets.into_iter().map(|set| f64::from(sum(set, grid).into_iter().max().unwrap_or(0)) / 4.0).sum()
}

/// max over d of q(a_d) P / a_d on a mesh, half of it on a torus.
fn bisection(grid: &RankGrid) -> f64 {
    let p = f64::from(grid.ranks());
    (0..grid.dims())
        .map(|d| {
            let a = grid.size(d);
            f64::from(a * a / 4) * p / f64::from(a) / if grid.wraps(d) { 2.0 } else { 1.0 }
        })
        .fold(0.0, f64::max)
}

/// The orbits of [`general`], as it emits them.
fn orbits(sizes: &[u32], wraps: bool) -> Vec<Vec<Offset>> {
    let mut left = &general(sizes, wraps)[..];
    let mut seen = HashSet::new();
    let mut orbits = Vec::new();
    while let Some(first) = left.first() {
        let fresh: HashSet<Offset> = orbit(first, sizes, wraps).into_iter().filter(|v| !seen.contains(v)).collect();
        let (first_orbit, rest) = left.split_at(fresh.len());
        assert!(first_orbit.iter().all(|v| fresh.contains(v)));
        seen.extend(fresh);
        orbits.push(first_orbit.to_vec());
        left = rest;
    }
    orbits
}

/// Vectors by their sorted magnitudes.
fn by_magnitude(vectors: &[Offset]) -> BTreeMap<[i32; MAX_DIMS], Vec<Offset>> {
    let mut map: BTreeMap<_, Vec<Offset>> = BTreeMap::new();
    for v in vectors {
        let mut key = v.map(i32::abs);
        key.sort_unstable();
        map.entry(key).or_default().push(*v);
    }
    map
}

#[test]
fn the_published_order_by_hand() {
    #[rustfmt::skip]
    let want = [
        (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1), (2, 0), (0, 2), (-2, 0), (0, -2), (2, 2),
        (-2, -2), (2, -2), (-2, 2), (2, 1), (-1, -2), (1, 2), (-2, -1), (2, -1), (-1, 2), (1, -2), (-2, 1),
    ];
    let got: Vec<_> = order(&RankGrid::mesh(&[5, 5])).iter().map(|v| (v[0], v[1])).collect();
    assert_eq!(got, want);
    assert_eq!(order(&RankGrid::torus(&[5, 1, 5])).len(), 24);
}

#[test]
fn the_loop_as_printed_would_repeat_the_diagonals() {
    for n in (3..=17).step_by(2) {
        let h = (n - 1) / 2;
        // With j up to i, the second step adds the eight sends of j = i for each i: 8 h = 4 (n - 1).
        assert_eq!(square(n).len() as u32 + 8 * h, n * n - 1 + 4 * (n - 1));
        assert!(covers(&square(n), &[n, n]));
    }
}

#[test]
fn each_pair_of_the_published_order_loads_x_and_y_equally() {
    for n in (3..=17).step_by(2) {
        let torus = RankGrid::torus(&[n, n]);
        for pair in square(n).chunks(2) {
            let l = sum(pair, &torus);
            assert_eq!(l[0] + l[1], l[2] + l[3], "{pair:?}");
        }
        for quad in square(n).chunks(4) {
            let l = sum(quad, &torus);
            assert!(l.iter().all(|&x| x == l[0]), "{quad:?}");
        }
        let mesh = RankGrid::mesh(&[n, n]);
        for pair in square(n).chunks(2) {
            let l = sum(pair, &mesh);
            assert!(l.iter().all(|&x| x == l[0]), "{pair:?}");
        }
    }
}

#[test]
fn the_general_order_equals_the_published_one_in_loads() {
    for n in (3..=17).step_by(2) {
        for grid in [RankGrid::torus(&[n, n]), RankGrid::mesh(&[n, n])] {
            let (published, ours) = (square(n), general(&[n, n], grid.wraps(0)));
            for nic_ports in [1, 2, 4] {
                let sorted_maxima = |order: &[Offset]| {
                    let mut maxima: Vec<u32> =
                        order.chunks(nic_ports).map(|c| sum(c, &grid).into_iter().max().unwrap()).collect();
                    maxima.sort_unstable();
                    maxima
                };
                assert_eq!(sorted_maxima(&published), sorted_maxima(&ours), "{n} {nic_ports}");
            }
        }
    }
}

#[test]
fn groups_reach_the_bisection_bound_on_meshes_and_tori() {
    for sizes in TESTED {
        for grid in [RankGrid::torus(sizes), RankGrid::mesh(sizes)] {
            let groups = by_magnitude(&general(sizes, grid.wraps(0)));
            assert_eq!(time(groups.values().map(Vec::as_slice), &grid), bisection(&grid), "{grid:?}");
        }
    }
}

#[test]
fn orbits_reach_the_bisection_bound_but_for_two_boxes() {
    for sizes in TESTED {
        for grid in [RankGrid::torus(sizes), RankGrid::mesh(sizes)] {
            let orbits = orbits(sizes, grid.wraps(0));
            let excess = time(orbits.iter().map(Vec::as_slice), &grid) / bisection(&grid);
            let want = match *sizes {
                [8, 8, 4] => 1.074,
                [6, 5, 4] => 1.011,
                _ => 1.0,
            };
            assert!((excess - want).abs() < 5e-4, "{grid:?} {excess}");
        }
    }
}

#[test]
fn as_many_controllers_as_links_reach_the_bound_on_squares_and_cubes() {
    for sizes in [&[4, 4][..], &[5, 5], &[6, 6], &[8, 8], &[10, 10], &[3, 3, 3], &[5, 5, 5], &[3, 3, 3, 3]] {
        let n = sizes.len();
        for (grid, nic_ports) in [(RankGrid::torus(sizes), 2 * n), (RankGrid::mesh(sizes), n)] {
            assert_eq!(time(order(&grid).chunks(nic_ports), &grid), bisection(&grid), "{grid:?}");
        }
    }
}

#[test]
fn sets_that_straddle_orbits_cost_little() {
    #[rustfmt::skip]
    let cases = [
        (&[8, 2][..], 1.188), (&[8, 4], 1.094), (&[6, 5], 1.022), (&[7, 4], 1.167), (&[9, 5], 1.0), (&[16, 8], 1.059),
        (&[32, 16], 1.031), (&[4, 4, 4], 1.062), (&[6, 6, 6], 1.015), (&[8, 4, 4], 1.031), (&[8, 8, 4], 1.180),
        (&[16, 8, 8], 1.004), (&[6, 5, 4], 1.067), (&[4, 4, 4, 4], 1.0),
    ];
    for (sizes, want) in cases {
        let grid = RankGrid::torus(sizes);
        let excess = time(order(&grid).chunks(2 * sizes.len()), &grid) / bisection(&grid);
        assert!((excess - want).abs() < 6e-4, "{sizes:?} {excess} {want}");
    }
}

#[test]
fn one_controller_on_even_tori() {
    for (n, want) in [(4, 15.0), (6, 58.5), (8, 146.0), (10, 295.5)] {
        let grid = RankGrid::torus(&[n, n]);
        assert_eq!(time(order(&grid).chunks(1), &grid), want);
    }
}

#[test]
fn a_rectangle_is_its_square_core_and_quads_along_the_longer_side() {
    for (a, b) in [(9, 5), (7, 3), (16, 8), (6, 5)] {
        let order = order(&RankGrid::torus(&[a, b]));
        let in_core = |v: &&Offset| 2 * v[0].unsigned_abs() <= b;
        let core: Vec<Offset> = order.iter().filter(in_core).copied().collect();
        if b % 2 == 1 {
            let square: HashSet<Offset> = square(b).into_iter().collect();
            assert_eq!(core.iter().copied().collect::<HashSet<_>>(), square);
        }
        let rest: Vec<Offset> = order.iter().filter(|v| !in_core(v)).copied().collect();
        for group in by_magnitude(&rest).values() {
            for v in group {
                let mirrored = centred(&[-v[0], v[1], 0, 0, 0, 0], &[a, b]);
                let opposite = centred(&[-v[0], -v[1], 0, 0, 0, 0], &[a, b]);
                assert!(group.contains(&mirrored) && group.contains(&opposite), "{v:?}");
            }
        }
    }
}

/// The sizes for which the sums are claimed.
#[rustfmt::skip]
const TESTED: [&[u32]; 25] = [
    &[4, 4], &[5, 5], &[6, 6], &[8, 8], &[10, 10], &[8, 2], &[8, 4], &[6, 5], &[7, 4], &[9, 5], &[16, 8], &[32, 16],
    &[3, 3, 3], &[4, 4, 4], &[5, 5, 5], &[6, 6, 6], &[8, 4, 4], &[8, 8, 4], &[16, 8, 8], &[6, 5, 4], &[5, 3, 3],
    &[6, 4, 2], &[2, 2, 2], &[3, 3, 3, 3], &[4, 4, 4, 4],
];
