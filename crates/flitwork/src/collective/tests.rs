//! Every algorithm does what its operation promises, for any ranks, roots and parameters; broken ones are refused.

use super::*;
use crate::host::check_complete;
use crate::schedule::{OpKind, Repeats, Schedule, Units};
use crate::topology::Grid;
use proptest::prelude::*;

fn row(operation: Operation, name: &str) -> &'static Collective {
    find(operation, name).unwrap()
}

fn defined(row: &Collective, ranks: u32) -> bool {
    !matches!(row.ranks, Ranks::PowerOfTwo { .. }) || ranks.is_power_of_two()
}

/// A torus of so many ranks, with two dimensions where it can have them.
fn torus(ranks: u32) -> RankGrid {
    let rows = (2..ranks).rfind(|rows| rows * rows <= ranks && ranks.is_multiple_of(*rows)).unwrap_or(1);
    RankGrid::torus(&[rows, ranks / rows])
}

/// The parameters that an algorithm takes, each with some values.
fn worlds(row: &Collective, ranks: u32) -> Vec<World> {
    let values =
        |name: &str, all: &[u32]| if row.parameters.contains(&name) { all.to_vec() } else { all[..1].to_vec() };
    let mut worlds = Vec::new();
    for radix in values("radix", &[2, 3, 4, 7, 1000]) {
        for root in values("root", &[0, ranks / 2, ranks - 1]) {
            for reading in values("blocks", &[0, 1]) {
                for order in values("order", &[0, 1]) {
                    let blocks = [BlockReading::A2a, BlockReading::Doubling][reading as usize];
                    let order = [BitOrder::Ascending, BitOrder::Descending][order as usize];
                    let destinations = row.destinations(Some(&torus(ranks))).unwrap();
                    worlds.push(World { root, radix, blocks, order, destinations, ..World::of(ranks) });
                }
            }
        }
    }
    worlds
}

#[test]
fn data_is_where_it_belongs_for_all_ranks_up_to_33() {
    for row in COLLECTIVES {
        for ranks in (2..34).filter(|&ranks| defined(row, ranks)) {
            for world in worlds(row, ranks) {
                let proven = prove(row, &world).unwrap_or_else(|e| panic!("{world:?}: {e}"));
                assert_eq!(proven.steps, (row.steps)(&world));
                // What is said to keep the order of ranks does.
                assert!(proven.in_order || !(row.in_order)(&world), "{} {world:?}", row.name);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn data_is_where_it_belongs_anywhere(
        which in 0..COLLECTIVES.len(), ranks in 2u32..150, bits in 1u32..8, root: u32, radix in 2u32..40, doubling: bool, down: bool
    ) {
        let row = &COLLECTIVES[which];
        let ranks = if defined(row, ranks) { ranks } else { 1 << bits };
        let blocks = if doubling { BlockReading::Doubling } else { BlockReading::A2a };
        let order = if down { BitOrder::Descending } else { BitOrder::Ascending };
        let destinations = row.destinations(Some(&torus(ranks))).unwrap();
        let world = World { root: root % ranks, radix, blocks, order, destinations, ..World::of(ranks) };
        let proven = prove(row, &world);
        prop_assert!(proven.is_ok(), "{:?}", proven);
    }
}

/// The schedule has the messages of the steps, can finish, and every receive is as long as its message.
#[test]
fn schedules_match_and_finish() {
    for row in COLLECTIVES {
        for ranks in [2, 3, 5, 8, 13, 16].into_iter().filter(|&ranks| defined(row, ranks)) {
            for world in worlds(row, ranks) {
                for length in
                    [Length::Flits(7), Length::Bytes { bytes: 100, units: Units::new(Some(16), None).unwrap() }]
                {
                    let made = schedule(row, &world, length, Between::default()).unwrap();
                    let report = check_complete(&made).unwrap();
                    assert_eq!(report.messages, prove(row, &world).unwrap().messages);
                    let matches = crate::schedule::match_messages(&made).unwrap().unwrap();
                    assert_eq!(matches.len() as u64, report.messages);
                    for m in matches.iter().step_by(7) {
                        let size = |rank, op: u32| match made.operations(rank).nth(op as usize).unwrap().kind {
                            OpKind::Send { size, .. } | OpKind::Receive { size, .. } => size,
                            _ => 0,
                        };
                        assert_eq!(size(m.from, m.send), size(m.to, m.receive));
                    }
                }
            }
        }
    }
}

/// What moves in all, in blocks: of textbooks.
#[test]
fn volumes_are_those_of_the_textbooks() {
    let moved = |operation, name, world: World| prove(row(operation, name), &world).unwrap().blocks_moved;
    let of = World::of;
    assert_eq!(moved(Operation::AllToAll, "pairwise_shift", of(12)), 12 * 11);
    assert_eq!(moved(Operation::AllToAll, "bruck", of(16)), 16 * 4 * 8);
    assert_eq!(moved(Operation::AllToAll, "butterfly", of(16)), 16 * 4 * 8);
    let doubling = World { blocks: BlockReading::Doubling, ..of(16) };
    assert_eq!(moved(Operation::AllToAll, "bruck", doubling.clone()), 16 * 15);
    assert_eq!(moved(Operation::AllToAll, "butterfly", doubling), 16 * 15);
    assert_eq!(moved(Operation::Broadcast, "binomial", of(13)), 12);
    assert_eq!(moved(Operation::Gather, "binomial", of(16)), 4 * 8);
    assert_eq!(moved(Operation::Allgather, "bruck", of(13)), 13 * 12);
    assert_eq!(moved(Operation::ReduceScatter, "recursive_halving", of(16)), 16 * 15);
    // 2 (P - 1) / P vectors a rank.
    assert_eq!(moved(Operation::Allreduce, "ring", of(12)), 12 * 2 * 11);
    assert_eq!(moved(Operation::Allreduce, "rabenseifner", of(16)), 16 * 2 * 15);
}

/// Bruck of 5 ranks: distances 1 3 | 2 3 | 4 have the bits 0, 1, 2.
#[test]
fn sizes_of_bruck_are_exact_for_any_number_of_ranks() {
    let made =
        schedule(row(Operation::AllToAll, "bruck"), &World::of(5), Length::Flits(10), Between::default()).unwrap();
    let sizes: Vec<(u32, u64)> = made.messages().filter(|m| m.from == 4).map(|m| (m.to, m.size)).collect();
    assert_eq!(sizes, [(0, 20), (1, 20), (3, 10)]);
    let ternary = World { radix: 3, ..World::of(5) };
    let made = schedule(row(Operation::AllToAll, "bruck"), &ternary, Length::Flits(10), Between::default()).unwrap();
    let sizes: Vec<(u32, u64)> = made.messages().filter(|m| m.from == 0).map(|m| (m.to, m.size)).collect();
    assert_eq!(sizes, [(1, 20), (2, 10), (3, 20)]);
}

/// Rank `a` has `10 a + b` bytes for rank `b`.
#[test]
fn blocks_of_given_sizes_arrive_whole_however_they_go() {
    let bytes: std::sync::Arc<[u64]> = (0..64).map(|pair| pair / 8 * 10 + pair % 8).collect();
    let away: u64 = (0..64).filter(|pair| pair / 8 != pair % 8).map(|pair| bytes[pair as usize]).sum();
    let sizes = |name, flit_bytes| {
        let length = Length::Pairs { bytes: bytes.clone(), units: Units::new(Some(flit_bytes), None).unwrap() };
        let made = schedule(row(Operation::AllToAll, name), &World::of(8), length, Between::default()).unwrap();
        check_complete(&made).unwrap();
        made.messages().map(|m| m.size).collect::<Vec<_>>()
    };
    for name in ["pairwise_xor", "pairwise_shift", "simple_spread"] {
        // The block from rank 0 to rank 0 does not move; no other is empty.
        assert_eq!(sizes(name, 1).iter().sum::<u64>(), away, "{name}");
    }
    // A block moves once for each bit of its distance: of the difference, or of the XOR.
    let moves = |distance: fn(u64, u64) -> u64| -> u64 {
        (0..64u64).map(|pair| u64::from(distance(pair / 8, pair % 8).count_ones()) * bytes[pair as usize]).sum()
    };
    assert_eq!(sizes("bruck", 1).iter().sum::<u64>(), moves(|from, to| (to + 8 - from) % 8));
    assert_eq!(sizes("butterfly", 1).iter().sum::<u64>(), moves(|from, to| from ^ to));
    assert!(sizes("pairwise_shift", 1000).iter().all(|&flits| flits == 1));
}

/// As a collective A2AT has the messages of the all-to-all of that name, in its order.
#[test]
fn all_to_alls_by_coordinates_are_those_of_their_names() {
    for name in ["a2at", "a2and"] {
        let (grid, row) = (Grid::torus(&[4, 5]), row(Operation::AllToAll, name));
        let world = World { destinations: row.destinations(Some(&RankGrid::from(&grid))).unwrap(), ..World::of(20) };
        let made = schedule(row, &world, Length::Flits(3), Between::default()).unwrap();
        let options = AllToAllOptions { message_flits: 3, sync: Sync::Async, nic_ports: 1 };
        let named = all_to_all(name, &grid, &options).unwrap();
        let ends =
            |schedule: &crate::schedule::Schedule| schedule.messages().map(|m| (m.from, m.to)).collect::<Vec<_>>();
        assert_eq!(ends(&made), ends(&named));
    }
}

#[test]
fn a_rank_waits_where_its_algorithm_says_so() {
    let waits = |name| {
        let made =
            schedule(row(Operation::AllToAll, name), &World::of(8), Length::Flits(1), Between::default()).unwrap();
        made.operations(3).filter(|op| op.kind == OpKind::Wait).map(|op| op.after.iter().count()).collect::<Vec<_>>()
    };
    assert_eq!(waits("pairwise_xor"), [2; 7]);
    assert_eq!(waits("simple_spread"), [14]);
    let radix_4 = World { radix: 4, ..World::of(8) };
    let made = schedule(row(Operation::AllToAll, "bruck"), &radix_4, Length::Flits(1), Between::default()).unwrap();
    assert_eq!(made.operations(0).filter(|op| op.kind == OpKind::Wait).count(), 2);
}

/// Barrier messages follow each step: as many rounds as ranks have bits, each waited for; nothing else changes.
#[test]
fn ranks_meet_behind_each_step() {
    for (name, ranks) in [("pairwise_shift", 5), ("simple_spread", 6), ("bruck", 8)] {
        let row = row(Operation::AllToAll, name);
        let world = World::of(ranks);
        let meet =
            |barriers| schedule(row, &world, Length::Flits(5), Between { barriers, ..Between::default() }).unwrap();
        let (plain, met) = (meet(false), meet(true));
        check_complete(&met).unwrap();
        let (steps, rounds) = ((row.steps)(&world), ranks.next_power_of_two().trailing_zeros());
        let sends = |schedule: &Schedule| {
            schedule.operations(1).filter(|op| matches!(op.kind, OpKind::Send { .. })).count() as u32
        };
        assert_eq!(sends(&met), sends(&plain) + steps * rounds, "{name}");
        let last = met.operations(1).last().unwrap();
        assert!(matches!(last.kind, OpKind::Wait) && last.step == steps - 1);
    }
}

/// Done three times it sends three times as much, in steps that are counted on, and is still complete.
#[test]
fn a_collective_is_repeated() {
    for (name, ranks) in [("pairwise_shift", 5), ("simple_spread", 6), ("bruck", 8)] {
        let (row, world) = (row(Operation::AllToAll, name), World::of(ranks));
        let steps = (row.steps)(&world);
        let once = || schedule(row, &world, Length::Flits(5), Between::default()).unwrap();
        let thrice = once().repeated(Repeats { times: 3, compute: 40, steps });
        let (one, three) = (check_complete(&once()).unwrap(), check_complete(&thrice).unwrap());
        assert_eq!((three.messages, three.flits), (3 * one.messages, 3 * one.flits), "{name}");
        assert_eq!(three.phases, 2 * steps + one.phases, "{name}");
    }
}

/// A rank computes behind each wait for what came to be added, all of it together; a barrier adds nothing.
#[test]
fn adding_up_takes_time_where_it_is_said() {
    let computes = |operation, name, rate| -> Vec<u64> {
        let made = schedule(
            row(operation, name),
            &World::of(8),
            Length::Flits(5),
            Between { reduce_cycles_per_flit: rate, ..Between::default() },
        )
        .unwrap();
        check_complete(&made).unwrap();
        let times = made.operations(0).filter_map(|op| match op.kind {
            OpKind::Compute { time } => Some(time),
            _ => None,
        });
        times.collect()
    };
    assert_eq!(computes(Operation::Allreduce, "recursive_doubling", 0.3), [2; 3]);
    assert_eq!(computes(Operation::Reduce, "linear", 0.3), [11]);
    assert!(computes(Operation::Reduce, "linear", 0.0).is_empty());
    assert!(computes(Operation::Allgather, "ring", 0.3).is_empty());
    assert!(computes(Operation::Barrier, "tree", 0.3).is_empty());
}

#[test]
fn broken_algorithms_are_refused() {
    fn shifted(world: &World, rank: u32, step: u32) -> Step {
        (row(Operation::AllToAll, "pairwise_shift").step)(world, rank, step)
    }
    fn summed(world: &World, rank: u32, step: u32) -> Step {
        (row(Operation::Allreduce, "recursive_doubling").step)(world, rank, step)
    }
    let broken = |base: &Collective, step: fn(&World, u32, u32) -> Step| {
        prove(&Collective { step, ..*base }, &World::of(8)).unwrap_err().to_string()
    };
    let shift = row(Operation::AllToAll, "pairwise_shift");
    let fault = broken(shift, |world, rank, step| shifted(world, rank, step / 2 * 2));
    assert!(fault.contains("ends without block"), "{fault}");
    let fault = broken(shift, |world, rank, _| Step::send(world.after(rank, 1), Blocks::one(0)));
    assert!(fault.contains("rank 1 sends block 0 in step 0, which it does not hold"), "{fault}");
    let fault = broken(shift, |world, rank, _| Step::receive(world.after(rank, 1), Blocks::one(0)));
    assert!(fault.contains("waits for ever"), "{fault}");
    let fault = broken(shift, |_, rank, _| Step::send(rank, Blocks::one(u64::from(rank) * 8)));
    assert!(fault.contains("rank 0 sends to rank 0"), "{fault}");
    let fault = broken(shift, |world, rank, step| {
        let sent = shifted(world, rank, step);
        Step { receive: sent.receive.map(|r| Transfer::new(r.peer, Blocks::one(0))), ..sent }
    });
    assert!(fault.contains("expects other blocks"), "{fault}");
    let fault = broken(shift, |world, rank, step| Step { receive: None, ..shifted(world, rank, step) });
    assert!(fault.contains("does not receive a message of rank"), "{fault}");
    // What is received may be used after a wait only.
    let bruck = row(Operation::Allgather, "bruck");
    let fault =
        broken(bruck, |world, rank, step| (row(Operation::Allgather, "bruck").step)(world, rank, step).waiting(false));
    assert!(fault.contains("which it does not hold"), "{fault}");
    let sum = row(Operation::Allreduce, "recursive_doubling");
    let fault = broken(sum, |world, rank, step| summed(world, rank, step % 2));
    assert!(fault.contains("what it contains already"), "{fault}");
    let fault = broken(sum, |world, rank, step| Step { adds: false, ..summed(world, rank, step) });
    assert!(fault.contains("without the contribution of rank"), "{fault}");
    let halving = row(Operation::ReduceScatter, "ring");
    let fault = broken(halving, |world, rank, step| {
        (row(Operation::ReduceScatter, "ring").step)(world, rank, step).waiting(false)
    });
    assert!(fault.contains("without the contribution") || fault.contains("already"), "{fault}");
}

#[test]
fn what_is_not_defined_is_named() {
    let fault = |operation, name, world: World| match find(operation, name).and_then(|row| prove(row, &world)) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    let xor = fault(Operation::AllToAll, "pairwise_xor", World::of(24));
    assert!(xor.contains("workload.algorithm = pairwise_xor") && xor.contains("24 ranks"), "{xor}");
    assert!(xor.contains("use pairwise_shift"), "{xor}");
    let unknown = fault(Operation::Allreduce, "rings", World::of(8));
    let expected = "workload.algorithm = rings: expected an algorithm for allreduce: recursive_doubling, ring, rabenseifner, \
                    reduce_broadcast";
    assert!(unknown.starts_with(expected) && unknown.contains("did you mean ring?"), "{unknown}");
    let root = fault(Operation::Broadcast, "binomial", World { root: 8, ..World::of(8) });
    assert!(root.contains("workload.root = 8: expected a rank, 0 to 7"), "{root}");
    let a2at = fault(Operation::AllToAll, "a2at", World::of(8));
    assert!(a2at.contains("one rank at each router of a grid") && a2at.contains("use simple_spread"), "{a2at}");
    let radix = fault(Operation::AllToAll, "bruck", World { radix: 1, ..World::of(8) });
    assert!(radix.contains("workload.radix = 1: expected at least 2"), "{radix}");
    assert!(fault(Operation::Barrier, "dissemination", World::of(1)).contains("at least 2 ranks"));
}

#[test]
fn names_are_unique_within_an_operation_and_instead_there_is_what_is_named() {
    for (i, row) in COLLECTIVES.iter().enumerate() {
        assert!(COLLECTIVES[..i].iter().all(|other| (other.operation, other.name) != (row.operation, row.name)));
        if let Some(otherwise) = row.ranks.otherwise() {
            assert_eq!(find(row.operation, otherwise).unwrap().ranks, Ranks::Any);
        }
        assert_eq!(row.pieces.is_some(), row.operation.has_vector() || !row.operation.has_data(), "{}", row.name);
    }
    for operation in Operation::ALL {
        assert!(COLLECTIVES.iter().any(|row| row.operation == operation));
        assert_eq!(serde_json::to_value(operation).unwrap(), operation.name());
    }
}

/// Large schedules are made as they are needed.
#[test]
fn a_bruck_of_65536_ranks_is_counted_in_little_time() {
    let made =
        schedule(row(Operation::AllToAll, "bruck"), &World::of(65_536), Length::Flits(1), Between::default()).unwrap();
    assert_eq!(made.messages().map(|m| m.size).sum::<u64>(), 65_536 * 16 * 32_768);
}

/// What is promised of schedules is what they do: with it, an all-to-all of 100,000 ranks is planned without reading
/// it.
#[test]
fn all_to_alls_in_single_blocks_are_alike_for_all_ranks() {
    for ranks in [2u32, 5, 8, 16] {
        for row in COLLECTIVES.iter().filter(|row| row.operation == Operation::AllToAll) {
            for world in
                [World::of(ranks), World::on(Servers::of_terminals(&(0..ranks).map(|r| r / 2).collect::<Vec<_>>()))]
            {
                let Ok(made) = schedule(row, &world, Length::Flits(3), Between::default()) else { continue };
                let sent = |rank| made.messages_from(rank).map(|m| m.size).collect::<Vec<_>>();
                for rank in 0..ranks {
                    assert_eq!(made.messages_of(rank), sent(rank).len() as u64, "{} of {ranks}", row.name);
                    assert!(!made.is_alike() || sent(rank) == sent(0), "{} of {ranks}", row.name);
                }
                assert_eq!(made.is_alike(), row.direct, "{}", row.name);
            }
        }
    }
}
