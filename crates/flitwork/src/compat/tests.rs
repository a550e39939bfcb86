//! Schemes under another simulator's rules.

use super::*;
use crate::routing::{Buffers, Context, Finding, Network, OnGrid, Place, RoutingSpec, Scheme, find_cycle};
use crate::topology::{Fabric, Grid};
use serde_json::{Value, json};
use std::sync::Arc;

/// The scheme of a routing under some rules.
pub(crate) fn scheme(routing: &Value, rules: &CompatSpec, grid: &Grid) -> Arc<dyn Scheme> {
    let spec: RoutingSpec = serde_json::from_value(routing.clone()).unwrap();
    rules.scheme(&spec, grid).or_else(|| spec.scheme(&Context { grid })).unwrap()
}

fn sharing() -> CompatSpec {
    CompatSpec { shared_middle_vc: true, ..CompatSpec::default() }
}

#[test]
fn without_rules_schemes_are_the_routings_own() {
    let grid = Grid::mesh(&[4, 4]);
    for kind in RoutingSpec::KINDS {
        let spec: RoutingSpec = serde_json::from_value(json!({ "kind": kind })).unwrap();
        assert!(CompatSpec::default().scheme(&spec, &grid).is_none(), "{kind}");
    }
}

/// Towards plus the class is 1 where the route crosses the dateline, towards minus with the rule where it does not; a
/// dimension that does not wrap has no classes.
#[test]
fn towards_minus_the_class_can_be_the_opposite_one() {
    let grid = Grid::new(&[5, 5], &[true, false], false);
    let fabric = Fabric::of_grid(grid.clone(), 1).unwrap();
    let classes = |opposite: bool, from: [u32; 2], to: [u32; 2]| {
        let rules = CompatSpec { opposite_minus_class: opposite, ..CompatSpec::default() };
        let routing = rules.routing(&RoutingSpec::default_of(&fabric), &Network { fabric: &fabric }).unwrap();
        let id = |[x, y]: [u32; 2]| grid.id(&[x, y, 0, 0, 0, 0]);
        routing
            .path(&fabric, fabric.end(id(from)), fabric.end(id(to)), 0)
            .iter()
            .map(|(_, port, class)| (*port, *class))
            .collect::<Vec<_>>()
    };
    for opposite in [false, true] {
        let other = u8::from(opposite);
        assert_eq!(classes(opposite, [1, 0], [2, 0]), [(0, 0)]);
        assert_eq!(classes(opposite, [4, 0], [0, 0]), [(0, 1)]);
        assert_eq!(classes(opposite, [2, 0], [1, 0]), [(1, other)]);
        assert_eq!(classes(opposite, [0, 0], [4, 0]), [(1, 1 - other)]);
        assert_eq!(classes(opposite, [0, 1], [0, 0]), [(3, 0)]);
    }
}

/// On a ring of 8, from 1 half way round to 5: the adaptive channel leads to minus whatever the tie bits say, the
/// escape channel where the tie bits say; behind the tie both lead on in the direction that was taken.
#[test]
fn at_a_tie_adaptive_channels_have_a_direction_of_their_own() {
    let grid = Grid::torus(&[8]);
    let rules = CompatSpec {
        productive: Productive::First,
        adaptive_vcs: vec![3],
        adaptive_tie: AdaptiveTie::Minus,
        ..CompatSpec::default()
    };
    let scheme = scheme(&json!({ "kind": "min_adapt", "tie": "random" }), &rules, &grid);
    assert_eq!(scheme.division().sets(6), [0..1, 1..2, 3..4]);
    assert_eq!(scheme.division().least_vcs(), 4);
    let (at, to) = (grid.coords(1), grid.coords(5));
    let hop_of = |tie_bits: u64, router: u32, came: Option<(u8, u8)>| {
        let mut start = scheme.start(&grid, &at, &to, tie_bits);
        let at = grid.coords(router);
        scheme.enter(&grid, &at, &to, &mut start, &|| tie_bits);
        let place = Place { at, port: came.map(|c| c.0), set: came.map(|c| c.1) };
        let choice = scheme.choice(&grid, &place, &start);
        (choice.ports, choice.set, choice.escape)
    };
    let (plus, minus) = (0, 1);
    // The route to plus does not cross the dateline, the one to minus does.
    assert_eq!(hop_of(0, 1, None), (1 << minus, 2, Some((plus, 0))));
    assert_eq!(hop_of(1, 1, None), (1 << minus, 2, Some((minus, 1))));
    // In the next router: by the adaptive channel to minus, and by the escape channel to plus.
    for tie_bits in [0, 1] {
        assert_eq!(hop_of(tie_bits, 0, Some((plus, 2))), (1 << minus, 2, Some((minus, 1))));
    }
    assert_eq!(hop_of(0, 2, Some((minus, 0))), (0, 2, Some((plus, 0))));
}

/// Two halves of an odd number of VCs, the middle one in both: a cycle where it can be waited for, and none where
/// whoever waits can ask for the VCs of its half alone.
#[test]
fn a_vc_of_both_halves_closes_cycles_where_buffers_are_shared() {
    let grid = Grid::mesh(&[4, 4]);
    for name in ["o1turn", "valiant", "romm"] {
        let make = |g: &Grid| scheme(&json!({ "kind": name, "tie": "plus" }), &sharing(), g);
        assert_eq!(make(&grid).division().sets(5), [0..3, 2..5], "{name}");
        assert_eq!(make(&grid).division().sets(6), [0..3, 3..6], "{name}");
        for (buffers, shares, cycle) in [
            (Buffers::Shared, true, true),
            (Buffers::Shared, false, false),
            (Buffers::OnePacket, true, false),
            (Buffers::WholePackets, true, false),
        ] {
            let routing = OnGrid::new(&grid, make(&grid));
            let found = find_cycle(&Fabric::of_grid(grid.clone(), 1).unwrap(), &routing, buffers, shares);
            assert_eq!(matches!(found, Finding::Cycle(_)), cycle, "{name} {buffers:?} {shares}: {found:?}");
        }
    }
}

/// O1TURN with a middle VC of both halves: by that VC, which is one of the second half too, a packet goes on backwards.
#[test]
fn a_packet_on_the_middle_vc_turns_to_the_other_order() {
    let grid = Grid::mesh(&[4, 4]);
    let (at, to) = (grid.coords(5), grid.coords(15));
    for (shared, port_behind) in [(false, 0), (true, 2)] {
        let rules = CompatSpec { shared_middle_vc: shared, ..CompatSpec::default() };
        let scheme = scheme(&json!({ "kind": "o1turn", "tie": "plus" }), &rules, &grid);
        let start = scheme.start(&grid, &grid.coords(4), &to, 0);
        let place = Place { at, port: Some(1), set: Some(1) };
        assert_eq!(scheme.choice(&grid, &place, &start).ports, 1 << port_behind, "{shared}");
        let from_a_terminal = Place { port: None, set: None, ..place };
        assert_eq!(scheme.choice(&grid, &from_a_terminal, &start).ports, 1, "{shared}");
    }
}
