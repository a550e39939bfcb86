//! The MOD tables of Shibamura et al. 2012, recomputed with schedules written out by hand.

use super::*;
use crate::routing::Tie;
use crate::schedule::{OpKind, ScheduleBuilder};
use crate::topology::Grid;
use proptest::prelude::*;
use std::sync::Arc;

/// Every rank sends to `to(rank, step)` in each step from 1 on.
fn exchange(ranks: u32, to: impl Fn(u32, u32) -> u32, step_of: impl Fn(u32) -> u32) -> Schedule {
    let mut b = ScheduleBuilder::new("exchange");
    for rank in 0..ranks {
        for step in 1..ranks {
            b.op(OpKind::Send { to: to(rank, step), size: 1, tag: 0 }, step_of(step), &[]);
        }
        b.end_rank();
    }
    b.build()
}

fn torus(sizes: &[u32], tie: Tie) -> (Arc<Fabric>, Routing) {
    let grid = Grid::torus(sizes);
    let (fabric, routing) = crate::bound::tests::dor(&grid, 1, (0..sizes.len()).collect(), tie);
    (Arc::new(fabric), routing)
}

fn counted(sizes: &[u32], tie: Tie, schedule: &Schedule, over: Over) -> Vec<StepOverlap> {
    let (fabric, routing) = torus(sizes, tie);
    let placement = Placement::one_each(fabric.terminals());
    let on = Paced {
        fabric: &fabric,
        routing: &routing,
        schedule: Some(schedule),
        placement: &placement,
        ports: 1,
        packet_flits: 1,
    };
    steps(&on, over)
}

fn sum(steps: &[StepOverlap]) -> f64 {
    steps.iter().map(|step| step.overlap).sum()
}

fn xor(rank: u32, step: u32) -> u32 {
    rank ^ step
}

/// Sums over the steps of pairwise exchange by XOR and of the ring, in messages on one channel (ties to plus).
#[test]
fn pairwise_and_ring_overlap_as_tabulated() {
    let table: [(&[u32], f64, f64); 6] = [
        (&[8, 4, 4], 269.0, 304.0),
        (&[8, 8, 4], 619.0, 752.0),
        (&[8, 8, 8], 1353.0, 1688.0),
        (&[16, 8], 483.0, 568.0),
        (&[16, 16], 1111.0, 1424.0),
        (&[32, 16], 3707.0, 4496.0),
    ];
    for (sizes, pairwise, ring) in table {
        let ranks = sizes.iter().product();
        let of = |schedule: &Schedule| sum(&counted(sizes, Tie::Plus, schedule, Over::Step));
        assert_eq!(of(&exchange(ranks, xor, |step| step)), pairwise, "{sizes:?}");
        assert_eq!(of(&exchange(ranks, |rank, step| (rank + step) % ranks, |step| step)), ring, "{sizes:?}");
    }
}

/// Our parity counts the other relative coordinates, too. With that of the source alone the ring's sum is 10,914.
#[test]
fn a_torus_of_32x32_overlaps_less_with_ties_by_parity() {
    let ring = |rank, step| (rank + step) % 1024;
    for (tie, pairwise, shifts) in [(Tie::Plus, 8403.0, 11168.0), (Tie::Parity, 7899.0, 10930.0)] {
        let of = |schedule: &Schedule| counted(&[32, 32], tie, schedule, Over::Step);
        let steps = of(&exchange(1024, xor, |step| step));
        assert_eq!(sum(&steps), pairwise);
        assert_eq!(sum(&of(&exchange(1024, ring, |step| step))), shifts);
        let mean = |of: &dyn Fn(&StepOverlap) -> f64| steps.iter().map(of).sum::<f64>() / steps.len() as f64;
        if tie == Tie::Plus {
            assert_eq!((mean(&|s| s.overlap) * 100.0).round(), 821.0);
            assert_eq!((mean(&|s| f64::from(s.hops)) * 100.0).round(), 2039.0);
        }
    }
}

#[test]
fn pairwise_exchange_on_16x8_has_the_stated_mean_and_maximum() {
    let steps = counted(&[16, 8], Tie::Plus, &exchange(128, xor, |step| step), Over::Step);
    let mean = |of: fn(&StepOverlap) -> f64| steps.iter().map(of).sum::<f64>() / steps.len() as f64;
    assert_eq!((mean(|s| s.overlap) * 100.0).round(), 380.0);
    assert_eq!(steps.iter().map(|s| s.overlap).fold(0.0, f64::max), 8.0);
    assert_eq!((mean(|s| f64::from(s.hops)) * 100.0).round(), 718.0);
    // MOD - 1, and hops - 1.
    let gaps: Vec<u32> = steps.iter().map(|s| s.gap_packets(PacingKind::Mod, None)).collect();
    assert!(steps.iter().zip(&gaps).all(|(s, &gap)| s.overlap == f64::from(gap + 1)));
    assert!(steps.iter().all(|s| s.gap_packets(PacingKind::Hops, None) == s.hops - 1));
}

/// All messages at once: MOD is the total load. What a NIC shares among its messages follows from it.
#[test]
fn simple_spread_overlaps_as_a_whole() {
    let table: [(&[u32], f64, f64); 3] =
        [(&[16, 8], 288.0, 256.0), (&[8, 4, 4], 160.0, 128.0), (&[32, 32], 4352.0, 4096.0)];
    for (sizes, plus, parity) in table {
        let ranks: u32 = sizes.iter().product();
        let spread = exchange(ranks, |rank, step| (rank + step) % ranks, |step| step);
        for (tie, degree) in [(Tie::Plus, plus), (Tie::Parity, parity)] {
            let steps = counted(sizes, tie, &spread, Over::Schedule);
            assert_eq!((steps.len(), steps[0].overlap, steps[0].most_of_a_terminal), (1, degree, ranks - 1));
            let each = f64::from(ranks - 1);
            assert_eq!(steps[0].gap_packets(PacingKind::Mod, Some(1)), (degree / each).ceil() as u32 - 1);
            assert_eq!(steps[0].gap_packets(PacingKind::Mod, Some(2)), (2.0 * degree / each).ceil() as u32 - 1);
            assert_eq!(steps[0].gap_packets(PacingKind::Mod, None), degree as u32 - 1);
        }
    }
}

#[test]
fn the_pause_is_counted_in_packets_of_either_length() {
    let gaps = Gaps { by_step: vec![(3, 2), (7, 5)], all: None, aggregate: false, unit_flits: Some(128) };
    assert_eq!([3, 7, 5].map(|step| gaps.cycles(step, 10, false)), [256, 640, 0]);
    assert_eq!(gaps.cycles(3, 10, true), 0);
    let gaps = Gaps { aggregate: true, unit_flits: None, ..gaps };
    assert_eq!((gaps.cycles(7, 10, true), gaps.cycles(7, 128, false)), (50, 640));
}

proptest! {
    /// Counted channel by channel along each route.
    #[test]
    fn the_overlap_is_that_of_the_routes(
        sizes in proptest::collection::vec(1u32..6, 1..=3),
        tie in prop_oneof![Just(Tie::Plus), Just(Tie::Parity)],
        messages in proptest::collection::vec((0u32..1000, 0u32..1000, 0u32..4), 1..60),
    ) {
        let (fabric, routing) = torus(&sizes, tie);
        let n = fabric.routers();
        let mut b = ScheduleBuilder::new("random");
        for rank in 0..n {
            for &(_, to, step) in messages.iter().filter(|m| m.0 % n == rank) {
                b.op(OpKind::Send { to: to % n, size: 1, tag: 0 }, step, &[]);
            }
            b.end_rank();
        }
        for found in counted(&sizes, tie, &b.build(), Over::Step) {
            let mut on = std::collections::HashMap::new();
            let mut hops = 0;
            for &(from, to, step) in messages.iter().filter(|m| m.2 == found.step) {
                let path = routing.path(&fabric, fabric.end(from % n), fabric.end(to % n), 0);
                hops = hops.max(path.len());
                path.iter().for_each(|&(router, port, _)| *on.entry((router, port)).or_insert(0) += 1);
                prop_assert_eq!(step, found.step);
            }
            prop_assert_eq!(found.overlap, f64::from(on.into_values().max().unwrap_or(0)));
            prop_assert_eq!(found.hops as usize, hops);
        }
    }
}
