//! Each way reaches a known period at a small size.

use super::*;

fn order(sizes: &[u32], block_flits: u32, budget_steps: u64) -> Order {
    Order { sizes: sizes.to_vec(), hop_cycles: 1, block_flits, seed: 1, budget_steps }
}

fn found(order: &Order) -> Timetable {
    let found = synthesise(order, &mut |_| true).unwrap();
    assert_eq!(found.check(), Ok(()), "{order:?}");
    assert_eq!(
        (&found.sizes, found.block_flits, found.hop_cycles),
        (&order.sizes, order.block_flits, order.hop_cycles)
    );
    assert!(found.period_cycles >= bound_cycles(order).unwrap());
    found
}

#[test]
fn annealed_frames_meet_the_bound() {
    for sizes in [&[2][..], &[3], &[8], &[4, 4], &[5, 5], &[5, 4], &[6, 6], &[2, 2, 2, 2], &[3, 3, 3], &[1, 5]] {
        let order = order(sizes, 1, 2_000_000);
        assert_eq!(found(&order).period_cycles, bound_cycles(&order).unwrap(), "{sizes:?}");
    }
}

#[test]
fn streams_meet_the_bound() {
    for size in 10..=20 {
        let order = order(&[size, size], 1, 20_000_000);
        assert_eq!(found(&order).period_cycles, bound_cycles(&order).unwrap(), "{size}");
    }
}

#[test]
fn products_meet_the_bound() {
    for sizes in [[4, 4, 4], [4, 4, 8]] {
        let order = order(&sizes, 1, 40_000_000);
        assert_eq!(found(&order).period_cycles, bound_cycles(&order).unwrap(), "{sizes:?}");
    }
}

#[test]
fn lanes_are_as_few_as_can_be_with_a_short_guard() {
    for (sizes, lanes, rows, guard) in
        [(&[5, 5][..], 5, 5, 2), (&[7, 7], 7, 7, 3), (&[8, 4], 4, 8, 4), (&[5, 5, 5], 25, 5, 4), (&[4, 4, 8], 16, 8, 5)]
    {
        let found = found(&order(sizes, 100, 40_000_000));
        assert!(found.period_cycles <= lanes * rows * (100 + guard), "{sizes:?} {}", found.period_cycles);
    }
}

#[test]
fn walks_fill_the_lanes_of_large_squares() {
    for (size, lanes) in [(11, 15), (13, 21)] {
        let found = found(&order(&[size, size], 100, 30_000_000));
        assert!(
            found.period_cycles <= lanes * u64::from(size) * (100 + u64::from(size) / 2),
            "{}",
            found.period_cycles
        );
    }
}

#[test]
fn hops_of_several_cycles_lengthen_a_frame_until_they_reach_all_slots() {
    for (hop_cycles, period) in [(1, 25), (2, 25), (3, 25), (5, 26), (26, 25)] {
        let found = found(&Order { hop_cycles, ..order(&[5, 5], 1, 2_000_000) });
        assert_eq!(found.period_cycles, period, "{hop_cycles}");
    }
    found(&Order { hop_cycles: 3, ..order(&[5, 4], 7, 1_000_000) });
}

#[test]
fn equal_orders_give_equal_timetables() {
    for order in [order(&[5, 5], 1, 100_000), order(&[10, 10], 1, 1_000_000), order(&[5, 5], 20, 100_000)] {
        assert_eq!(found(&order), found(&order));
        assert_ne!(found(&order), found(&Order { seed: 2, ..order.clone() }));
    }
}

#[test]
fn a_search_that_is_stopped_returns_the_best_so_far() {
    for (sizes, block) in [(&[6, 6, 6][..], 1), (&[6, 6], 8), (&[9, 9], 1), (&[12, 12], 3)] {
        let order = order(sizes, block, u64::MAX);
        let mut calls = 0;
        let mut last = None;
        let mut progress = |progress: Progress| {
            calls += 1;
            last = progress.period_cycles;
            calls < 3
        };
        let found = synthesise(&order, &mut progress).unwrap();
        assert_eq!(found.check(), Ok(()));
        assert!(calls <= 3 && last.is_some_and(|last| last >= bound_cycles(&order).unwrap()));
        assert_eq!(synthesise(&Order { budget_steps: 0, ..order }, &mut |_| true).unwrap().check(), Ok(()));
    }
}

#[test]
fn orders_without_sense_are_refused() {
    let good = order(&[4, 4], 1, 0);
    for bad in [
        Order { sizes: vec![], ..good.clone() },
        Order { sizes: vec![4, 0], ..good.clone() },
        Order { sizes: vec![1, 1], ..good.clone() },
        Order { sizes: vec![2; 7], ..good.clone() },
        Order { sizes: vec![1 << 9, 1 << 9], ..good.clone() },
        Order { sizes: vec![u32::MAX; 3], ..good.clone() },
        Order { sizes: vec![1 << 15, 2], ..good.clone() },
        Order { block_flits: 0, ..good.clone() },
        Order { hop_cycles: 0, ..good.clone() },
    ] {
        assert!(synthesise(&bad, &mut |_| true).is_err(), "{bad:?}");
        assert!(bound_cycles(&bad).is_err(), "{bad:?}");
    }
}
