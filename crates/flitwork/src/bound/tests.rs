//! Published values, claims about the algorithms under explicit routes, and consistency.

use super::*;
use crate::collective::{AllToAllOptions, Sync, all_to_all};
use crate::routing::{DimensionOrder, Duato, Routing, Selection, Tie};
use crate::topology::Grid;
use proptest::prelude::*;

/// A grid under dimension order.
pub(crate) fn dor(grid: &Grid, terminals_per_router: u32, order: Vec<usize>, tie: Tie) -> (Fabric, Routing) {
    let fabric = Fabric::of_grid(grid.clone(), terminals_per_router).unwrap();
    (fabric, Routing::dimension_order(grid, DimensionOrder { order, tie }))
}

/// A grid under an adaptive routing.
pub(super) fn adaptive(grid: Grid, terminals_per_router: u32) -> (Fabric, Routing) {
    let order = DimensionOrder { order: (0..grid.dims()).collect(), tie: Tie::Plus };
    let scheme = Duato::new(&grid, order, Selection::MostCredits, 0, 0);
    let routing = Routing::on_grid(&grid, std::sync::Arc::new(scheme));
    (Fabric::of_grid(grid, terminals_per_router).unwrap(), routing)
}

/// One message of 1 flit a pair.
fn schedule(name: &str, grid: &Grid) -> Schedule {
    schedule_of(name, grid, 1)
}

fn schedule_of(name: &str, grid: &Grid, message_flits: u64) -> Schedule {
    let options = AllToAllOptions { message_flits, sync: Sync::Async, nic_ports: 1 };
    all_to_all(name, grid, &options).unwrap()
}

/// Loads if a message is 1 flit, ties split included: messages of 2 flits that count half.
fn loads_of(name: &str, grid: &Grid, tie: Tie, group: Option<u32>) -> ChannelLoads {
    let (fabric, routing) = dor(grid, 1, (0..grid.dims()).collect(), tie);
    let placement = Placement::one_each(fabric.terminals());
    let mut loads = channel_loads(&fabric, &routing, &schedule_of(name, grid, 2), &placement, 0, group);
    loads.max_flits /= 2.0;
    loads.phase_sum_flits /= 2.0;
    loads
}

#[test]
fn the_odd_flit_of_a_split_packet_goes_to_plus() {
    let ring = Grid::torus(&[2]);
    let (fabric, routing) = dor(&ring, 1, vec![0], Tie::Split);
    let classes = |message, packet| {
        channel_loads(&fabric, &routing, &schedule_of("a2a", &ring, message), &Placement::one_each(2), packet, None)
            .classes
    };
    for (message, packet, want) in [(1, 0, [1.0, 0.0]), (7, 0, [4.0, 3.0]), (7, 3, [5.0, 2.0]), (7, 1, [7.0, 0.0])] {
        assert_eq!([classes(message, packet)[0].max_flits, classes(message, packet)[1].max_flits], want);
    }
}

fn phase_sum(name: &str, grid: &Grid, tie: Tie, nic_ports: u32) -> f64 {
    loads_of(name, grid, tie, Some(nic_ports)).phase_sum_flits
}

/// Table 1 of Takaue et al. 2010.
#[test]
fn the_published_times_of_odd_squares() {
    for n in (3..=17u32).step_by(2) {
        let cubic = f64::from(n * (n + 1) * (n - 1));
        let (torus, mesh) = (Grid::torus(&[n, n]), Grid::mesh(&[n, n]));
        let time = |grid: &Grid, nic_ports| phase_sum("a2at", grid, Tie::Plus, nic_ports);
        assert_eq!(time(&mesh, 1), cubic / 3.0);
        assert_eq!(time(&torus, 1), cubic / 3.0);
        assert_eq!(time(&mesh, 2), cubic / 4.0);
        assert_eq!(time(&mesh, 4), cubic / 4.0, "no further gain");
        assert_eq!(time(&torus, 2), cubic / 6.0);
        assert_eq!(time(&torus, 4), cubic / 8.0);
        assert_eq!(bisection_units(&mesh), cubic / 4.0);
        assert_eq!(bisection_units(&torus), cubic / 8.0);
    }
}

#[test]
fn a2and_cannot_use_more_controllers() {
    let torus = Grid::torus(&[11, 11]);
    let times = [1, 2, 4].map(|c| phase_sum("a2and", &torus, Tie::Plus, c));
    assert_eq!(times, [440.0, 414.0, 400.0]);
}

#[test]
fn the_total_load_of_all_to_all_is_the_bisection_bound() {
    let sizes: [&[u32]; 11] = [
        &[4, 4],
        &[5, 5],
        &[10, 10],
        &[8, 4],
        &[6, 5],
        &[7, 4],
        &[9, 5],
        &[16, 8],
        &[4, 4, 4],
        &[6, 5, 4],
        &[3, 3, 3, 3],
    ];
    for sizes in sizes {
        for grid in [Grid::torus(sizes), Grid::mesh(sizes)] {
            for name in ["a2a", "a2and", "a2at"] {
                assert_eq!(
                    loads_of(name, &grid, Tie::Split, None).max_flits,
                    bisection_units(&grid),
                    "{name} {grid:?}"
                );
            }
            let parity = loads_of("a2at", &grid, Tie::Parity, None).max_flits;
            assert_eq!(parity, bisection_units(&grid).ceil(), "{grid:?}");
        }
    }
}

#[test]
fn ties_that_always_go_to_plus_cost_a_share_of_two_in_n() {
    for (n, plus, parity) in [(4, 12.0, 8.0), (6, 36.0, 27.0), (8, 80.0, 64.0), (10, 150.0, 125.0)] {
        let grid = Grid::torus(&[n, n]);
        assert_eq!(loads_of("a2at", &grid, Tie::Plus, None).max_flits, plus);
        assert_eq!(loads_of("a2at", &grid, Tie::Parity, None).max_flits, parity);
    }
    assert_eq!(loads_of("a2at", &Grid::torus(&[6, 5]), Tie::Parity, None).max_flits, 23.0);
}

#[test]
fn even_squares_reach_the_bound_phase_by_phase_with_split_ties() {
    for (n, one) in [(4, 15.0), (6, 58.5), (8, 146.0), (10, 295.5)] {
        let grid = Grid::torus(&[n, n]);
        assert_eq!(phase_sum("a2at", &grid, Tie::Split, 1), one);
        assert_eq!(phase_sum("a2at", &grid, Tie::Split, 4), bisection_units(&grid));
        let mesh = Grid::mesh(&[n, n]);
        assert_eq!(phase_sum("a2at", &mesh, Tie::Split, 2), bisection_units(&mesh));
    }
}

/// Only where N / 2 is even do the two directions of a single phase get equal shares.
#[test]
fn parity_halves_the_ties_of_a_phase_on_every_other_even_square() {
    for (n, want) in [(4, 1.0), (6, 1.074), (8, 1.0), (10, 1.032), (16, 1.0)] {
        let grid = Grid::torus(&[n, n]);
        let excess = phase_sum("a2at", &grid, Tie::Parity, 4) / bisection_units(&grid);
        assert!((excess - want).abs() < 5e-4, "{n} {excess}");
    }
}

#[test]
fn phases_add_up_to_the_total() {
    let grid = Grid::new(&[6, 5], &[true, false], false);
    let loads = loads_of("a2at", &grid, Tie::Parity, Some(3));
    assert_eq!(loads.phases.len(), 10);
    assert!(loads.phase_sum_flits >= loads.max_flits);
    let hops: f64 = loads.channel_flits.iter().sum();
    // Mean distance 1.5 on the ring of 6, 1.6 on the row of 5, over 30 * 30 ordered pairs (self included).
    assert_eq!(hops, 2.0 * 900.0 * (1.5 + 1.6));
    assert_eq!(loads_of("a2at", &grid, Tie::Parity, None).channel_flits, loads.channel_flits);
}

#[test]
fn the_tightest_bound_is_named() {
    let bound_of = |grid: &Grid, nic_ports| {
        let (fabric, routing) = dor(grid, 1, vec![0, 1], Tie::Plus);
        let limits = TerminalLimits::of_ports(nic_ports);
        bound(&fabric, &routing, &schedule("a2at", grid), &Placement::one_each(fabric.terminals()), &limits).unwrap()
    };
    let b = bound_of(&Grid::torus(&[5, 5]), 1);
    assert_eq!((b.tightest, b.tightest_cycles, b.bisection_cycles), (Some(Limit::Injection), 24.0, Some(15.0)));
    assert_eq!(b.phase_model_cycles, 40.0);
    let b = bound_of(&Grid::torus(&[9, 9]), 1);
    assert_eq!((b.tightest, b.tightest_cycles, b.injection_cycles), (Some(Limit::Bisection), 90.0, 80.0));
    let b = bound_of(&Grid::torus(&[4, 4]), 4);
    assert_eq!((b.tightest, b.tightest_cycles), (Some(Limit::ChannelLoad), 12.0));
    let json = serde_json::to_value(&b).unwrap();
    assert_eq!(json["tightest"], "channel_load");
    assert_eq!(serde_json::from_value::<Bound>(json).unwrap(), b);
}

#[test]
fn several_ranks_may_share_a_router() {
    let grid = Grid::torus(&[3, 3]);
    let eighteen = schedule("a2a", &Grid::torus(&[18]));
    let limits = TerminalLimits::of_ports(1);
    let (two, routing) = dor(&grid, 2, vec![0, 1], Tie::Plus);
    let b = bound(&two, &routing, &eighteen, &Placement::one_each(two.terminals()), &limits).unwrap();
    assert_eq!(b.bisection_cycles, Some(4.0 * 3.0));
    assert_eq!((b.channel_load_cycles, b.injection_cycles), (12.0, 17.0));
    let (one, routing) = dor(&grid, 1, vec![0, 1], Tie::Plus);
    let fault = bound(&one, &routing, &eighteen, &Placement::one_each(one.terminals()), &limits).unwrap_err();
    assert!(fault.to_string().contains("has 18 ranks, but 9 are placed"));
}

#[test]
fn a_partial_exchange_has_no_bisection_bound() {
    let grid = Grid::torus(&[3, 3]);
    let mut b = crate::schedule::ScheduleBuilder::new("all but one");
    for rank in 0..9 {
        for message in schedule("a2a", &grid).messages().filter(|m| m.from == rank && (m.from, m.to) != (8, 7)) {
            b.op(crate::schedule::OpKind::Send { to: message.to, size: message.size, tag: 0 }, message.step, &[]);
        }
        b.end_rank();
    }
    let s = b.build();
    let limits = TerminalLimits::of_ports(1);
    let (fabric, routing) = dor(&grid, 1, vec![0, 1], Tie::Plus);
    let b = bound(&fabric, &routing, &s, &Placement::one_each(fabric.terminals()), &limits).unwrap();
    assert_eq!(b.bisection_cycles, None);
}

#[test]
fn a_square_of_33_is_bounded_in_little_time() {
    let grid = Grid::torus(&[33, 33]);
    assert_eq!(phase_sum("a2at", &grid, Tie::Plus, 4), bisection_units(&grid));
}

proptest! {
    /// No routing and no order beats the cut; walking the whole path as the packets do gives the same loads.
    #[test]
    fn loads_agree_with_paths(
        sizes in proptest::collection::vec(1u32..6, 1..=3),
        wraps in 0u32..8,
        tie in prop_oneof![Just(Tie::Plus), Just(Tie::Parity)],
        turn in 0usize..3,
    ) {
        let wrap: Vec<bool> = (0..sizes.len()).map(|d| wraps >> d & 1 == 1).collect();
        let grid = Grid::new(&sizes, &wrap, false);
        prop_assume!(grid.routers() > 1);
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.rotate_left(turn % sizes.len());
        let routing = DimensionOrder { order, tie };
        let s = schedule("a2at", &grid);
        let (fabric, plain) = dor(&grid, 1, routing.order.clone(), tie);
        let loads = channel_loads(&fabric, &plain, &s, &Placement::one_each(fabric.terminals()), 0, Some(2));
        let mut want = vec![0.0; loads.channel_flits.len()];
        for crate::schedule::Message { from, to, size, .. } in s.messages() {
            let (src, dst) = (grid.coords(from), grid.coords(to));
            for (router, port, _) in routing.path(&grid, &src, &dst, routing.header(&grid, &src, &dst, 0)) {
                want[router as usize * grid.network_ports() + port] += size as f64;
            }
        }
        prop_assert_eq!(&loads.channel_flits, &want);
        prop_assert!(loads.max_flits >= bisection_units(&grid));
        prop_assert!(loads.phase_sum_flits >= loads.max_flits);
    }
}
