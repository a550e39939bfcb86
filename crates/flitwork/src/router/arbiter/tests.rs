//! What each arbiter does, and what all must do.

use super::*;

/// The winners of arbiter 0 of four candidates, one after the other.
fn winners(kind: ArbiterKind, rounds: &[&[u16]]) -> Vec<u16> {
    let mut bank = ArbiterBank::new(kind, 1, 4);
    let mut serve = |candidates: &&[u16]| {
        let winner = *candidates.iter().min_by_key(|&&c| bank.rank(0, c)).unwrap();
        bank.serve(0, winner);
        winner
    };
    rounds.iter().map(&mut serve).collect()
}

#[test]
fn round_robin_serves_in_turn() {
    assert_eq!(winners(ArbiterKind::RoundRobin, &[&[0, 2, 3][..]; 5]), [0, 2, 3, 0, 2]);
}

#[test]
fn matrix_serves_the_least_recently_served_and_starts_at_the_top() {
    let rounds = [&[0, 1, 2, 3][..], &[2, 3], &[0, 2, 3], &[0, 1, 2, 3]];
    assert_eq!(winners(ArbiterKind::Matrix, &rounds), [3, 2, 0, 1]);
}

#[test]
fn among_equals_a_priority_goes_round_robin() {
    for kind in [ArbiterKind::OldestFirst, ArbiterKind::Fcfs] {
        assert_eq!(winners(kind, &[&[0, 2, 3][..]; 5]), [0, 2, 3, 0, 2]);
    }
}

#[test]
fn priorities_are_in_order_of_time_then_place() {
    let early = Waiting { created: 5, src: 9, sequence: 8, arrived: 3, slot: 7 };
    let later = [
        Waiting { created: 6, src: 0, sequence: 0, arrived: 4, slot: 0 },
        Waiting { src: 10, sequence: 0, slot: 8, ..early },
        Waiting { sequence: 9, slot: 9, ..early },
    ];
    for kind in [ArbiterKind::OldestFirst, ArbiterKind::Fcfs] {
        let (Priority::OfPacket(priority) | Priority::OfArrival(priority)) = kind.priority() else {
            panic!("{kind:?}")
        };
        assert!(later.iter().all(|packet| priority(&early) < priority(packet)), "{kind:?}");
    }
}

/// Every arbiter tells its candidates apart at any time, and keeps its arbiters apart.
#[test]
fn every_arbiter_has_one_winner() {
    for &kind in ArbiterKind::ALL {
        for members in [1, 2, 5, 64] {
            let mut bank = ArbiterBank::new(kind, 3, members);
            let fresh = bank.clone();
            for round in 0..40 {
                let mut ranks: Vec<u32> = (0..members as u16).map(|c| bank.rank(1, c)).collect();
                ranks.sort_unstable();
                ranks.dedup();
                assert_eq!(ranks.len(), members, "{kind:?} of {members}, round {round}");
                bank.serve(1, (7 * round % members) as u16);
            }
            for c in 0..members as u16 {
                assert_eq!([0, 2].map(|a| bank.rank(a, c)), [0, 2].map(|a| fresh.rank(a, c)), "{kind:?}");
            }
        }
    }
}
