//! Patterns: their formulas, where they are defined, what is refused.

use super::*;
use crate::error::Error;
use crate::topology::{Fabric, Grid};
use crate::traffic::{Attached, Matrix, Table};
use std::sync::Arc;

fn torus(sizes: &[u32], terminals_per_router: u32) -> Fabric {
    Fabric::of_grid(Grid::torus(sizes), terminals_per_router).unwrap()
}

fn mesh(sizes: &[u32], terminals_per_router: u32) -> Fabric {
    Fabric::of_grid(Grid::mesh(sizes), terminals_per_router).unwrap()
}

fn fixed(pattern: &Pattern, sizes: &[u32]) -> Vec<u32> {
    match pattern.resolve(&torus(sizes, 1), 3) {
        Ok(Destinations::Fixed(to)) => to,
        other => panic!("{other:?}"),
    }
}

#[test]
fn bit_patterns_follow_their_formulas() {
    let of = |pattern| fixed(&pattern, &[4, 4]);
    assert_eq!(of(Pattern::Transpose(Transpose {}))[0b0110], 0b1001);
    assert_eq!(of(Pattern::Shuffle(Shuffle {}))[0b1001], 0b0011);
    assert_eq!(of(Pattern::BitRotation(BitRotation {}))[0b0011], 0b1001);
    assert_eq!(of(Pattern::BitComplement(BitComplement {}))[0b0110], 0b1001);
    assert_eq!(of(Pattern::BitReverse(BitReverse {}))[0b0010], 0b0100);
}

#[test]
fn tornado_and_neighbour_shift_every_dimension() {
    assert_eq!(fixed(&Pattern::Tornado(Tornado {}), &[8, 8])[0], 3 + 8 * 3);
    assert_eq!(fixed(&Pattern::Tornado(Tornado {}), &[5])[4], 1);
    assert_eq!(fixed(&Pattern::Neighbour(Neighbour {}), &[8, 8])[7], 8);
    assert_eq!(fixed(&Pattern::Transpose(Transpose {}), &[5, 5])[7], 11, "any square");
}

#[test]
fn pairs_send_to_each_other() {
    let to = fixed(&Pattern::RandomPairs(RandomPairs {}), &[8, 8]);
    assert!(to.iter().enumerate().all(|(i, &t)| to[t as usize] == i as u32 && t != i as u32));
}

/// Networks of many shapes: routers along the dimensions, terminals a router.
const NETWORKS: &[(&[u32], u32)] = &[
    (&[1], 1),
    (&[2], 1),
    (&[7], 1),
    (&[8], 4),
    (&[3, 3], 1),
    (&[4, 4], 1),
    (&[8, 2], 1),
    (&[4, 4], 3),
    (&[3, 5], 2),
    (&[3, 5, 2], 1),
    (&[4, 4, 4], 1),
    (&[2, 2, 2, 2, 2], 2),
];

/// What every pattern must do on every network: it has its row's name; it is defined or says what it lacks; its
/// destinations exist; its shares are 1 together; it is a permutation where it says so; the same seed draws the same.
#[test]
fn every_pattern_keeps_to_the_rules() {
    for pattern in Pattern::examples(1) {
        let json = serde_json::to_value(&pattern).unwrap();
        assert!(PATTERNS.iter().any(|row| json["kind"] == row.name), "{json}");
        assert!(
            NETWORKS.iter().any(|&(sizes, terminals)| {
                let n = sizes.iter().product::<u32>() * terminals;
                let of_this_size =
                    Pattern::examples(n).into_iter().find(|p| serde_json::to_value(p).unwrap()["kind"] == json["kind"]);
                of_this_size.unwrap().resolve(&torus(sizes, terminals), 1).is_ok()
            }),
            "{json} is defined nowhere"
        );
    }
    for &(sizes, terminals) in NETWORKS {
        let n = sizes.iter().product::<u32>() * terminals;
        for (pattern, fabric) in
            Pattern::examples(n).iter().flat_map(|p| [(p, torus(sizes, terminals)), (p, mesh(sizes, terminals))])
        {
            keeps_to_the_rules(pattern, &fabric);
        }
    }
}

fn keeps_to_the_rules(pattern: &Pattern, fabric: &Fabric) {
    let (n, what) =
        (fabric.terminals(), format!("{pattern:?} on {:?} with {} terminals", fabric.grid(), fabric.terminals()));
    let resolved = match pattern.resolve(fabric, 1) {
        Err(Error::Config { path, expected, .. }) => {
            assert_eq!(path, "workload.pattern.kind", "{what}");
            assert!(expected.contains("this one needs "), "{what}: {expected}");
            return;
        }
        Err(other) => panic!("{what}: {other}"),
        Ok(resolved) => resolved,
    };
    assert_eq!(pattern.resolve(fabric, 1).unwrap(), resolved, "{what}");
    let bits = |i: u64| crate::mix::mix(i) >> 8;
    for terminal in 0..n {
        assert!((0..20).all(|i| resolved.draw(terminal, n, bits(i)) < n), "{what}");
    }
    if let Some(flows) = resolved.flows(n) {
        assert!(flows.iter().all(|&(from, to, share)| from < n && to < n && share >= 0.0), "{what}");
        let mut sums = vec![0.0; n as usize];
        flows.iter().for_each(|&(from, _, share)| sums[from as usize] += share);
        assert!(sums.iter().all(|sum| (sum - 1.0f64).abs() < 1e-9), "{what}: {sums:?}");
    }
    if pattern.is_permutation() {
        let Destinations::Fixed(mut to) = resolved else { panic!("{what}: one destination for each terminal") };
        to.sort_unstable();
        assert_eq!(to, (0..n).collect::<Vec<_>>(), "{what}");
    }
}

#[test]
fn the_fields_of_a_pattern_are_known() {
    let error = |json: &str| serde_json::from_str::<Pattern>(json).unwrap_err().to_string();
    assert!(error(r#"{"kind": "transpose", "terminals": [1]}"#).contains("unknown field `terminals`"));
    assert!(error(r#"{"kind": "hotspot"}"#).contains("missing field `terminals`"));
}

#[test]
fn hotspots_get_their_shares() {
    let pattern = Pattern::Hotspot(Hotspot { terminals: vec![3, 5], shares: vec![3.0, 1.0] });
    let to = pattern.resolve(&mesh(&[4, 4], 1), 1).unwrap();
    let n = 1 << 12;
    let threes = (0..n).filter(|i| to.draw(0, 16, i << 44) == 3).count();
    assert_eq!(threes, 3 * n as usize / 4);
    let total: f64 = to.flows(16).unwrap().iter().map(|f| f.2).sum();
    assert!((total - 16.0).abs() < 1e-9);
}

/// Where each pattern is defined (routers along the dimensions, terminals a router), where it is not, and what it then
/// says.
#[test]
fn every_pattern_is_defined_where_it_says_and_refused_elsewhere() {
    type Sizes = &'static [(&'static [u32], u32)];
    let powers: (Sizes, Sizes, &str) = (
        &[(&[2], 1), (&[4, 2], 1), (&[4, 4, 4], 1), (&[8], 4)],
        &[(&[1], 1), (&[3], 1), (&[6, 6], 1), (&[4, 4], 3)],
        "this one needs a power of two of terminals, not ",
    );
    let one: (Sizes, Sizes, &str) =
        (&[(&[1], 1), (&[7], 1), (&[3, 5, 2], 1)], &[(&[4, 4], 2)], "this one needs one terminal a router");
    let any: (Sizes, Sizes, &str) = (&[(&[1], 1), (&[7], 1), (&[3, 5], 2)], &[], "");
    let squares: (Sizes, Sizes, &str) = (
        &[(&[3, 3], 1), (&[4, 4], 1), (&[8, 2], 1), (&[4], 1), (&[4, 2], 2)],
        &[(&[4, 2], 1), (&[3, 3], 4), (&[3, 5], 1), (&[8], 1)],
        "this one needs a square or 2^even terminals, not ",
    );
    let even: (Sizes, Sizes, &str) = (
        &[(&[2], 1), (&[3, 2], 1), (&[5], 2)],
        &[(&[3, 3], 1), (&[1], 1)],
        "this one needs an even number of terminals",
    );
    let cases = [
        (Pattern::Uniform(Uniform { include_self: true }), any),
        (Pattern::RandomPermutation(RandomPermutation {}), any),
        (Pattern::RandomSelection(RandomSelection {}), any),
        (Pattern::Transpose(Transpose {}), squares),
        (Pattern::Shuffle(Shuffle {}), powers),
        (Pattern::BitComplement(BitComplement {}), powers),
        (Pattern::BitReverse(BitReverse {}), powers),
        (Pattern::BitRotation(BitRotation {}), powers),
        (Pattern::Tornado(Tornado {}), one),
        (Pattern::Neighbour(Neighbour {}), one),
        (Pattern::RandomPairs(RandomPairs {}), even),
    ];
    for (pattern, (defined, undefined, says)) in cases {
        for &(sizes, terminals) in defined {
            let n = sizes.iter().product::<u32>() * terminals;
            match pattern.resolve(&torus(sizes, terminals), 1).unwrap() {
                Destinations::Fixed(to) => {
                    assert!(to.len() == n as usize && to.iter().all(|&t| t < n), "{pattern:?}")
                }
                other => assert_eq!(other, Destinations::Uniform { include_self: true }),
            }
        }
        for &(sizes, terminals) in undefined {
            let error = pattern.resolve(&torus(sizes, terminals), 1).unwrap_err();
            let Error::Config { path, value, expected, .. } = error else { panic!("{error}") };
            let kind = serde_json::to_value(&pattern).unwrap()["kind"].to_string();
            assert_eq!((path.as_str(), value), ("workload.pattern.kind", kind), "{pattern:?} {sizes:?}");
            assert!(expected.contains(says), "{pattern:?} {sizes:?}: {expected}");
        }
    }
}

#[test]
fn undefined_patterns_are_refused() {
    let refused = |pattern: Pattern, sizes: &[u32]| match pattern.resolve(&torus(sizes, 1), 1) {
        Err(Error::Config { path, .. }) => path,
        other => panic!("{other:?}"),
    };
    let hot = |terminals: &[u32], shares: &[f64]| {
        Pattern::Hotspot(Hotspot { terminals: terminals.into(), shares: shares.into() })
    };
    let shift = |by: u32| Pattern::Shift(Shift { by });
    assert_eq!([0, 4].map(|by| refused(shift(by), &[4])), ["workload.pattern.by"; 2]);
    assert_eq!(shift(3).resolve(&torus(&[4], 1), 1).unwrap(), Destinations::Fixed(vec![3, 0, 1, 2]));
    assert_eq!(refused(hot(&[], &[]), &[4]), "workload.pattern.terminals");
    assert_eq!(refused(hot(&[4], &[]), &[4]), "workload.pattern.terminals[0]");
    assert_eq!(refused(hot(&[1], &[-1.0]), &[4]), "workload.pattern.shares[0]");
    assert_eq!(refused(hot(&[1], &[1.0, 2.0]), &[4]), "workload.pattern.shares");
    let permutation =
        |to: &[u32], file: &str| Pattern::Permutation(Permutation { destinations: to.into(), file: file.into() });
    assert_eq!(refused(permutation(&[0, 1, 1, 2], ""), &[4]), "workload.pattern.destinations[2]");
    assert_eq!(refused(permutation(&[0], ""), &[4]), "workload.pattern.destinations");
    assert_eq!(refused(permutation(&[0], "p.csv"), &[4]), "workload.pattern.file");
    let matrix =
        |weights: &Attached, file: &str| Pattern::Matrix(Weights { weights: weights.clone(), file: file.into() });
    let three = Attached::new(Table::Matrix(Arc::new(Matrix::dense(&[1.0; 9], 3).unwrap())));
    assert_eq!(refused(matrix(&three, ""), &[4]), "workload.pattern.weights");
    assert_eq!(refused(matrix(&three, "m.npy"), &[3]), "workload.pattern.file");
    assert_eq!(refused(matrix(&Attached::default(), ""), &[3]), "workload.pattern.weights");
}
