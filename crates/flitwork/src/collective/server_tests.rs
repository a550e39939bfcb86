//! All-to-alls that know servers: every pair once, one partner at a time, and as short as they say.

use super::*;
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

fn rows() -> impl Iterator<Item = &'static Collective> {
    COLLECTIVES.iter().filter(|row| row.knows_servers)
}

fn row(name: &str) -> &'static Collective {
    find(Operation::AllToAll, name).unwrap()
}

/// Servers of these sizes, the ranks one after the other.
fn servers(sizes: &[u32]) -> World {
    let terminal_of: Vec<u32> = (0..).zip(sizes).flat_map(|(t, &n)| vec![t; n as usize]).collect();
    World::on(Servers::of_terminals(&terminal_of))
}

fn equal(count: u32, ranks: u32) -> World {
    servers(&vec![ranks; count as usize])
}

/// The messages of a step: from, to, and how many blocks.
fn messages(row: &Collective, world: &World, step: u32) -> Vec<(u32, u32, u64)> {
    let sent = |rank| (row.step)(world, rank, step).send.map(|send| (rank, send.peer, send.blocks.count()));
    (0..world.ranks).filter_map(sent).collect()
}

/// 300 vectors of ranks a server, always the same.
fn vectors() -> Vec<Vec<u32>> {
    let mut state = 20_100_601u64;
    let mut draw = |from: u64, to: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (from + (state >> 33) % (to - from + 1)) as u32
    };
    (0..300).map(|_| (0..draw(2, 10)).map(|_| draw(1, 8)).collect()).collect()
}

fn server(world: &World, rank: u32) -> u32 {
    world.servers.at(rank).0
}

#[test]
fn data_is_where_it_belongs_on_all_small_servers() {
    for row in rows() {
        for sizes in [&[1, 1][..], &[2], &[7], &[2, 2], &[3, 1], &[1, 4, 2], &[8, 8, 4], &[5, 5, 5, 5], &[1, 1, 9]] {
            prove(row, &World { leaders: 1, ..servers(sizes) }).unwrap_or_else(|e| panic!("{sizes:?}: {e}"));
        }
        for (count, ranks) in [(2, 6), (3, 4), (5, 12)] {
            for leaders in (1..=ranks).filter(|leaders| ranks % leaders == 0) {
                prove(row, &World { leaders, ..equal(count, ranks) }).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn data_is_where_it_belongs_on_any_terminals(
        which in 0..rows().count(), terminal_of in proptest::collection::vec(0u32..12, 2..80)
    ) {
        let world = World::on(Servers::of_terminals(&terminal_of));
        let proven = prove(rows().nth(which).unwrap(), &world);
        prop_assert!(proven.is_ok(), "{:?}", proven);
    }
}

/// A rank sends to each other rank once, itself, and never to two servers in an outer step.
#[test]
fn every_pair_once_and_one_server_at_a_time() {
    for sizes in vectors() {
        let world = servers(&sizes);
        for name in ["two_level_ring", "birkhoff"] {
            let row = row(name);
            let mut pairs = HashSet::new();
            for step in 0..(row.steps)(&world) {
                let sent = messages(row, &world, step);
                let receivers: HashSet<u32> = sent.iter().map(|message| message.1).collect();
                assert_eq!(receivers.len(), sent.len(), "{name} {sizes:?}: two send to one rank in step {step}");
                // To and from one server, and the same one in both directions of view.
                let mut to = HashMap::new();
                let mut from = HashMap::new();
                for &(a, b, blocks) in &sent {
                    let (s, t) = (server(&world, a), server(&world, b));
                    assert_eq!((*to.entry(s).or_insert(t), *from.entry(t).or_insert(s), blocks), (t, s, 1));
                    assert!(pairs.insert((a, b)), "{name} {sizes:?}: {a} to {b} twice");
                }
            }
            assert_eq!(pairs.len() as u32, world.ranks * (world.ranks - 1), "{name} {sizes:?}");
        }
    }
}

/// In an outer step j every server sends to the one j behind it.
#[test]
fn the_two_level_ring_is_a_ring_of_servers() {
    for sizes in vectors() {
        let world = servers(&sizes);
        let row = row("two_level_ring");
        for step in 0..(row.steps)(&world) {
            let outer = (step + 1) / world.servers.most();
            for (a, b, _) in messages(row, &world, step) {
                assert_eq!(server(&world, b), world.servers.after(server(&world, a), outer));
            }
        }
    }
}

/// The pseudo-code of the paper, for servers of one size: to = ((s + j) % Ns) * Nlp + (l + k) % Nlp.
#[test]
fn with_equal_servers_it_is_the_ring_of_the_paper() {
    let (count, each) = (5, 4);
    let (world, row) = (equal(count, each), row("two_level_ring"));
    assert_eq!((row.steps)(&world), count * each - 1);
    for me in 0..count * each {
        for step in 0..count * each - 1 {
            let (s, l, j, k) = (me / each, me % each, (step + 1) / each, (step + 1) % each);
            let done = (row.step)(&world, me, step);
            assert_eq!(done.send.unwrap().peer, (s + j) % count * each + (l + k) % each);
            assert_eq!(done.receive.unwrap().peer, (s + count - j) % count * each + (l + each - k) % each);
            assert!(done.waits);
        }
    }
}

/// With a rank on each server they are plain ones: the ring, whatever else they are.
#[test]
fn without_servers_they_are_the_ring() {
    let (world, ring) = (World::of(7), row("pairwise_shift"));
    for row in rows() {
        let sent = |row: &Collective| {
            let all = (0..(row.steps)(&world)).map(|step| messages(row, &world, step));
            all.filter(|sent| !sent.is_empty()).collect::<Vec<_>>()
        };
        assert_eq!(sent(row), sent(ring), "{}", row.name);
    }
}

/// Slots are free of contention, and as long together as the server with most messages sends: 300 of 300.
#[test]
fn slots_take_no_longer_than_the_largest_server_must_send() {
    for sizes in vectors() {
        let world = servers(&sizes);
        let slots = world.servers.slots();
        let total: u64 = slots.all().iter().map(|slot| slot.messages).sum();
        let all: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
        let bound = sizes.iter().map(|&size| u64::from(size) * (all - u64::from(size))).max().unwrap();
        assert_eq!((total, world.servers.most_sent()), (bound, bound), "{sizes:?}");
        // What a server sends in a slot is no more than the slot allows.
        let mut next = 0;
        for slot in slots.all() {
            let mut sent: HashMap<u32, u64> = HashMap::new();
            let rounds = slot.rounds(&world.servers);
            for round in next..next + rounds {
                for rank in 0..world.ranks {
                    if slots.peer(&world.servers, rank, round, true).is_some() {
                        *sent.entry(server(&world, rank)).or_default() += 1;
                    }
                }
            }
            next += rounds;
            assert!(sent.values().all(|&sent| sent <= slot.messages), "{sizes:?}");
        }
        assert_eq!(next, slots.rounds());
    }
}

/// Where all servers keep in step, the 2-Level Ring takes `sum_j max_s p[s] p[s + j]` messages: how far that is from
/// the bound.
#[test]
fn the_two_level_ring_on_unequal_servers_is_no_further_from_the_bound_than_said() {
    let ratios: Vec<f64> = vectors()
        .iter()
        .map(|sizes| {
            let world = servers(sizes);
            let count = world.servers.count();
            let pair = |s: u32, j: u32| sizes[s as usize] * sizes[world.servers.after(s, j) as usize];
            let steps: u32 = (1..count).map(|j| (0..count).map(|s| pair(s, j)).max().unwrap()).sum();
            f64::from(steps) / world.servers.most_sent() as f64
        })
        .collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let worst = ratios.iter().fold(0.0, |a: f64, &b| a.max(b));
    assert!((1.30..1.33).contains(&mean), "{mean}");
    assert!((1.85..1.89).contains(&worst), "{worst}");
}

/// What crosses the network, of 3 servers of 4: messages and blocks.
#[test]
fn aggregation_sends_fewer_and_longer_messages() {
    let world = World { leaders: 2, ..equal(3, 4) };
    let crossing = |name: &str| {
        let row = row(name);
        let all = (0..(row.steps)(&world)).flat_map(|step| messages(row, &world, step));
        let (away, within): (Vec<_>, Vec<_>) = all.partition(|m| server(&world, m.0) != server(&world, m.1));
        let blocks = |list: &[(u32, u32, u64)]| list.iter().map(|m| m.2).sum::<u64>();
        (away.len(), blocks(&away), blocks(&within))
    };
    // Every block crosses once, 12 * 8; within a server go 12 * 3 at least.
    assert_eq!(crossing("two_level_ring"), (96, 96, 36));
    assert_eq!(crossing("birkhoff"), (96, 96, 36));
    // A rank hands (ranks - 1) * servers blocks on: Naruse et al., 2010.
    assert_eq!(crossing("aggregation"), (24, 96, 12 * 3 * 3));
    assert_eq!(crossing("node_aware"), (24, 96, 12 * 3 * 3));
    // A leader gets 3 * 11 blocks, and hands out as many.
    assert_eq!(crossing("hierarchical"), (6, 96, 3 * 2 * 3 * 11));
    // Two leaders get 11 each, exchange 2 * 4, and hand out.
    assert_eq!(crossing("multi_leader"), (24, 96, 3 * (2 * 2 * 11 + 8)));
}

#[test]
fn what_is_not_defined_on_servers_is_named() {
    let leaders = |leaders, sizes: &[u32]| {
        prove(row("multi_leader"), &World { leaders, ..servers(sizes) }).unwrap_err().to_string()
    };
    let fault = leaders(3, &[8, 8, 4]);
    let expected = "workload.leaders = 3: expected a divisor of the ranks of each server; one has 8";
    assert!(fault.starts_with(expected) && fault.contains("divides 4"), "{fault}");
    assert!(leaders(0, &[8, 8]).contains("workload.leaders = 0"));
    assert!(leaders(8, &[8, 4]).contains("one has 4"));
    let mixed: Vec<u32> = (0..300).map(|server| 1 + server % 2).collect();
    let fault = prove(row("birkhoff"), &servers(&mixed)).unwrap_err().to_string();
    assert!(fault.contains("300 servers") && fault.contains("use two_level_ring"), "{fault}");
    assert!(row("birkhoff").check(&equal(300, 2)).is_ok());
}
