//! Known values, hand-made networks, and random ones whose certificate and split are checked on their own.

use super::*;
use crate::spec::TopologySpec;
use crate::topology::{Channel, Graph, Grid, Xgft};
use proptest::prelude::*;

/// One flit from each router with terminals to each other one.
fn all_to_all(fabric: &Fabric) -> Demands {
    let mut demands = Demands::new(fabric.routers());
    let terminals = 0..fabric.terminals();
    for (from, to) in terminals.clone().flat_map(|from| terminals.clone().map(move |to| (from, to))) {
        demands.add(fabric.router_of(from), fabric.router_of(to), 1);
    }
    demands
}

fn search(fabric: &Fabric, demands: &Demands, gap: f64, steps: u32) -> AnyRouting {
    any_routing(fabric, demands, gap, steps, &mut |_| true)
}

/// A graph with a terminal at each router.
fn graph(routers: u32, channels: &[(u32, u32, u32)]) -> Fabric {
    let mut ports = vec![(0, 0); routers as usize];
    let mut next = |router: u32, into: bool| {
        let (out, inward) = &mut ports[router as usize];
        let port = if into { inward } else { out };
        *port += 1;
        *port - 1
    };
    let channel = |&(from, to, cycles_per_flit): &(u32, u32, u32)| Channel {
        from: (from, next(from, false)),
        to: (to, next(to, true)),
        latency_cycles: None,
        cycles_per_flit,
        class: 0,
    };
    let channels = channels.iter().map(channel).collect();
    let graph =
        Graph { terminals: vec![1; routers as usize], channels, classes: vec!["all".into()], ..Graph::default() };
    Fabric::of_graph(&graph).unwrap()
}

/// Whether what enters each router and is not for it leaves it, and nothing is lost.
fn is_conserved(fabric: &Fabric, demands: &Demands, flits: &[f64]) -> bool {
    let mut surplus = vec![0.0; fabric.routers() as usize];
    for (from, to) in demands.to.iter().enumerate() {
        for (&to, &amount) in to {
            surplus[from] += amount as f64;
            surplus[to as usize] -= amount as f64;
        }
    }
    for ((router, port), flits) in fabric.channels().zip(flits) {
        surplus[router as usize] -= flits;
        surplus[fabric.peer(router, port).unwrap().0 as usize] += flits;
    }
    let all: f64 = flits.iter().sum();
    surplus.iter().all(|left| left.abs() <= 1e-9 * (1.0 + all))
}

/// The busiest channel of an all-to-all on a torus of an even size k needs k^3 / 8 cycles, on a mesh k^3 / 4; where
/// sizes differ, those of the longer dimension do: half of the nodes send to the other half over 4 (mesh: 2) channels a
/// row.
#[test]
fn grids_need_what_their_bisection_needs() {
    let cases = [
        (Grid::torus(&[8, 8]), 64.0),
        (Grid::mesh(&[8, 8]), 128.0),
        (Grid::torus(&[8, 4]), 32.0 / 2.0 * 32.0 / 2.0 / (2.0 * 4.0)),
        (Grid::mesh(&[6, 3]), 9.0 * 9.0 / 3.0),
        (Grid::torus(&[4, 4, 4]), 32.0),
        (Grid::torus(&[9, 9]), 90.0),
    ];
    for (grid, needs) in cases {
        let fabric = Fabric::of_grid(grid.clone(), 1).unwrap();
        let found = search(&fabric, &all_to_all(&fabric), 0.01, 300);
        assert!(found.proved_cycles <= needs + 1e-9, "{grid:?}: {} {needs}", found.proved_cycles);
        assert!(found.reached_cycles >= needs - 1e-9, "{grid:?}: {} {needs}", found.reached_cycles);
        assert!(found.gap() <= 0.01, "{grid:?}: {} after {} steps", found.gap(), found.steps);
    }
}

/// 16 terminals a quarter, 12 of 16 destinations elsewhere: one channel up a terminal, or a quarter of one.
#[test]
fn trees_need_what_leaves_a_subtree() {
    for (parents, needs) in [(4, 12.0), (1, 48.0)] {
        let tree = Xgft { children: vec![4, 4], parents: vec![1, parents] };
        let fabric = TopologySpec::Xgft(tree).fabric().unwrap();
        let found = search(&fabric, &all_to_all(&fabric), 0.001, 100);
        assert!((found.proved_cycles - needs).abs() < 0.01 * needs, "{found:?}");
        assert!((found.reached_cycles - needs).abs() < 0.01 * needs, "{found:?}");
    }
}

/// Half of the flits go the long way round, which no shortest route does; with a direct channel that takes 3 cycles a
/// flit (but one for the first), three quarters of them.
#[test]
fn routes_may_be_longer_than_the_shortest() {
    for (slow, needs) in [(1, 50.0), (3, 74.5)] {
        let fabric = graph(3, &[(0, 1, slow), (0, 2, 1), (2, 1, 1), (1, 0, 1)]);
        let mut demands = Demands::new(3);
        demands.add(0, 1, 100);
        let found = search(&fabric, &demands, 0.001, 1000);
        assert!(found.gap() <= 0.001, "{found:?}");
        assert!(found.proved_cycles <= needs + 1e-9 && found.reached_cycles >= needs - 1e-9, "{found:?}");
    }
}

#[test]
fn nothing_to_send_needs_no_time() {
    let fabric = Fabric::of_grid(Grid::torus(&[3]), 2).unwrap();
    let mut demands = Demands::new(3);
    demands.add(1, 1, 10);
    let found = search(&fabric, &demands, 0.01, 10);
    assert_eq!((found.proved_cycles, found.reached_cycles, found.gap(), found.steps), (0.0, 0.0, 0.0, 1));
}

/// Slow channels that carry nothing prove nothing with equal weights: their first flits count more than all demands.
#[test]
fn few_flits_on_slow_channels_are_proved() {
    let cables: Vec<_> = (0..8).flat_map(|r| [(r, (r + 1) % 8, 10), ((r + 1) % 8, r, 10)]).collect();
    let fabric = graph(8, &cables);
    let mut demands = Demands::new(8);
    demands.add(0, 1, 3);
    assert_eq!(demands.proved(&fabric, &[1; 16]), 0.0);
    let found = search(&fabric, &demands, 0.01, 1000);
    assert!(found.gap() <= 0.01, "{found:?}");
    // Three flits, two of them over the direct channel at most: the other takes the 7 channels of the long way.
    assert!(found.proved_cycles > 5.0 && found.reached_cycles < 7.0, "{found:?}");
}

#[test]
fn a_search_that_is_stopped_returns_the_best_so_far() {
    let fabric = Fabric::of_grid(Grid::mesh(&[7, 5]), 1).unwrap();
    let demands = all_to_all(&fabric);
    let mut asked = 0;
    // Each step asks once for each of 35 sources.
    let mut stop_in_third = |_: SearchProgress| {
        asked += 1;
        asked < 80
    };
    let found = any_routing(&fabric, &demands, 0.0, 1000, &mut stop_in_third);
    assert_eq!(found.steps, 3);
    assert_eq!(found.proved_cycles, demands.proved(&fabric, &found.weights));
    assert!(found.gap() > 0.0 && found.gap() < 1.0);
}

/// A smooth maximum much sharper than the gap stands still at 1.1 % here: found by the random networks below.
#[test]
fn a_search_does_not_become_too_sharp_too_early() {
    let fast = [(0, 1), (0, 1), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5), (4, 1), (5, 0)].map(|(from, to)| (from, to, 1));
    let slow = [(0, 3, 2), (0, 3, 3), (1, 3, 3), (1, 4, 2), (5, 1, 3), (5, 1, 3), (5, 1, 3), (5, 0, 3)];
    let fabric = graph(6, &[&fast[..], &slow[..]].concat());
    let mut demands = Demands::new(6);
    for (from, to, flits) in [(0, 1, 38), (0, 3, 21), (1, 3, 22), (1, 4, 30), (2, 0, 18), (2, 1, 12), (2, 3, 17)] {
        demands.add(from, to, flits);
    }
    for (from, to, flits) in [(4, 2, 18), (5, 0, 65), (5, 1, 31), (5, 2, 32), (5, 4, 27)] {
        demands.add(from, to, flits);
    }
    let found = search(&fabric, &demands, 0.01, 2000);
    assert!(found.gap() <= 0.01, "{} after {} steps", found.gap(), found.steps);
}

/// A ring in one direction, so that all can be reached, and random channels beside it.
fn random_network() -> impl Strategy<Value = (Fabric, Demands, u64)> {
    let channel = |routers: u32| (0..routers, 1..routers, 1..4u32);
    let demand = |routers: u32| (0..routers, 0..routers, 0..50u64);
    let parts = (3..12u32).prop_flat_map(move |routers| {
        let channels = prop::collection::vec(channel(routers), 0..3 * routers as usize);
        let demands = prop::collection::vec(demand(routers), 1..40);
        (Just(routers), channels, demands, any::<u64>())
    });
    parts.prop_map(|(routers, others, pairs, seed)| {
        let ring = (0..routers).map(|router| (router, (router + 1) % routers, 1));
        let others = others.into_iter().map(|(from, by, cycles)| (from, (from + by) % routers, cycles));
        let fabric = graph(routers, &ring.chain(others).collect::<Vec<_>>());
        let mut demands = Demands::new(routers);
        pairs.into_iter().for_each(|(from, to, amount)| demands.add(from, to, amount));
        (fabric, demands, seed)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Of any weights, none prove more than a split needs that loses nothing; the search closes the gap.
    #[test]
    fn random_weights_prove_less_than_any_split_needs((fabric, demands, seed) in random_network()) {
        let found = search(&fabric, &demands, 0.01, 2000);
        prop_assert!(is_conserved(&fabric, &demands, &found.flits));
        let time = |((router, port), flits): ((u32, usize), &f64)| {
            let cycles = f64::from(fabric.cycles_per_flit(router, port));
            flits * cycles - (cycles - 1.0)
        };
        let times = fabric.channels().zip(&found.flits).map(time);
        prop_assert_eq!(times.fold(0.0, f64::max), found.reached_cycles);
        prop_assert_eq!(demands.proved(&fabric, &found.weights), found.proved_cycles);
        prop_assert!(found.gap() <= 0.01, "{} after {} steps", found.gap(), found.steps);
        for round in 0..5u64 {
            let weight = |channel: u64| (crate::mix::mix(seed ^ round << 32 ^ channel) % 1000) as u32;
            let weights: Vec<u32> = (0..found.weights.len() as u64).map(weight).collect();
            let proved = demands.proved(&fabric, &weights);
            prop_assert!(proved <= found.reached_cycles * (1.0 + 1e-12), "{proved} of {}", found.reached_cycles);
        }
    }
}
