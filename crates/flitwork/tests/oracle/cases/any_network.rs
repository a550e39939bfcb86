//! Random small networks that are no grids: crossbars, dragonflies, and switches joined in any way, with terminals at
//! some of them.

use super::super::random::{below, mix};
use super::{channel, fit_level, fit_policy, fit_rules, keep_injection_vcs, nic, router, spec, without_policy};
use flitwork::routing::{
    DragonflyMinimalOptions, DragonflyUgalOptions, DragonflyValiantOptions, EcmpOptions, GraphUgalOptions,
    GraphValiantOptions, HopClassesOptions, LashOptions, RelationOptions, Selection, ShortestPathOptions, SprayOptions,
    TableOptions, UpDownOptions,
};
use flitwork::spec::{NetworkSpec, RouterSpec, RoutingSpec, TopologySpec, VcPolicy};
use flitwork::topology::{Arrangement, Channel, Crossbar, Dragonfly, Fabric, Graph};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A crossbar of 2 to so many terminals.
pub fn network(most_terminals: u32) -> impl Strategy<Value = NetworkSpec> {
    // Where there is no grid, the first two are the default.
    let routing = prop_oneof![
        4 => Just(None),
        4 => Just(Some(RoutingSpec::ShortestPath(ShortestPathOptions::default()))),
        2 => Just(Some(RoutingSpec::Lash(LashOptions {}))),
        2 => Just(Some(RoutingSpec::UpDown(UpDownOptions::default()))),
        2 => Just(Some(RoutingSpec::GraphValiant(GraphValiantOptions {}))),
        3 => bias().prop_map(|bias_flits| Some(RoutingSpec::GraphUgal(GraphUgalOptions { bias_flits }))),
        1 => (0..9u64).prop_map(|seed| Some(RoutingSpec::Ecmp(EcmpOptions { seed }))),
        1 => Just(Some(RoutingSpec::Spray(SprayOptions {}))),
        1 => Just(Some(RoutingSpec::HopClasses(HopClassesOptions {}))),
        1 => selection().prop_map(|selection| {
            Some(RoutingSpec::Relation(RelationOptions { selection, ..RelationOptions::default() }))
        }),
        1 => Just(Some(RoutingSpec::Table(TableOptions { next: vec![vec![0]], ..TableOptions::default() }))),
    ];
    (2..=most_terminals, 1..=6u32, routing, router(), channel(), nic()).prop_map(
        |(terminals, vcs, routing, router, channel, mut nic)| {
            // These may need a set for each channel of a path.
            let long =
                matches!(&routing, Some(RoutingSpec::Relation(_) | RoutingSpec::Ecmp(_) | RoutingSpec::Spray(_)));
            let mut router = RouterSpec { vcs: if long { vcs.max(4) } else { vcs }, ..router };
            let topology = TopologySpec::Crossbar(Crossbar { terminals });
            if routing.as_ref().is_some_and(divides_the_vcs) {
                without_policy(&mut router);
            }
            fit_policy(&mut router, &nic, &topology.fabric().expect("a case is valid"), 1);
            fit_rules(&mut router, false);
            keep_injection_vcs(&mut nic, &router);
            fit_level(&mut nic, &router, terminals);
            spec(topology, routing, router, channel, nic)
        },
    )
}

/// Whether the routing leaves no VCs to a policy.
fn divides_the_vcs(routing: &RoutingSpec) -> bool {
    matches!(
        routing,
        RoutingSpec::GraphValiant(_)
            | RoutingSpec::GraphUgal(_)
            | RoutingSpec::HopClasses(_)
            | RoutingSpec::Relation(_)
    )
}

/// What the longer route of UGAL must be better by.
fn bias() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), 0..30u32]
}

fn selection() -> impl Strategy<Value = Selection> {
    prop_oneof![
        Just(Selection::MostCredits),
        Just(Selection::Random),
        Just(Selection::RoundRobin),
        Just(Selection::All)
    ]
}

fn arrangement() -> impl Strategy<Value = Arrangement> {
    prop_oneof![Just(Arrangement::Absolute), Just(Arrangement::Relative), Just(Arrangement::Circulant)]
}

/// A dragonfly of 2 to so many terminals: minimal routing, named or not, or shortest paths with a set of VCs for each
/// channel walked.
pub fn dragonfly(most_terminals: u32) -> impl Strategy<Value = NetworkSpec> {
    let topology =
        (1..=3u32, 1..=2u32, 2..=7u32, 1..=2u32, prop::option::of(0..9u32), arrangement()).prop_map(|drawn| {
            let (a, h, g, p, latency, arrangement) = drawn;
            Dragonfly {
                arrangement,
                routers_per_group: a,
                global_channels_per_router: h,
                groups: Some(g.min(a * h + 1)),
                terminals_per_router: p,
                global_latency_cycles: latency,
            }
        });
    let terminals = |d: &Dragonfly| d.routers_per_group * d.groups.unwrap_or(0) * d.terminals_per_router;
    let topology = topology.prop_filter("too many terminals", move |topology| terminals(topology) <= most_terminals);
    let ugal = (bias(), any::<bool>(), any::<bool>()).prop_map(|(bias_flits, progressive, global_queues)| {
        Some(RoutingSpec::DragonflyUgal(DragonflyUgalOptions { bias_flits, progressive, global_queues }))
    });
    let routing = prop_oneof![
        1 => Just(None),
        2 => ugal,
        1 => Just(Some(RoutingSpec::DragonflyMinimal(DragonflyMinimalOptions {}))),
        1 => Just(Some(RoutingSpec::DragonflyValiant(DragonflyValiantOptions {}))),
        1 => Just(Some(RoutingSpec::HopClasses(HopClassesOptions {}))),
    ];
    (topology, 3..=7u32, routing, router(), channel(), nic()).prop_map(
        |(topology, vcs, routing, router, channel, mut nic)| {
            let mut router = RouterSpec { vcs, vc_policy: VcPolicy::Dateline, ..router };
            router.sl_to_vl.clear();
            fit_rules(&mut router, false);
            keep_injection_vcs(&mut nic, &router);
            spec(TopologySpec::Dragonfly(topology), routing, router, channel, nic)
        },
    )
}

/// Switches with so many terminals in all: a tree and, if there are rings, cables beside it and channels of one
/// direction. Which input and output ports the channels have is drawn; the two sides of a port may lead to different
/// switches. Half of the networks have channels with latencies of their own and, where `slow` ones may be, some that
/// take several cycles a flit.
pub fn switches(terminals: u32, rings: bool, slow: bool, seed: u64) -> Fabric {
    let mut drawn = 0;
    let mut draw = |n: u32| {
        drawn += 1;
        below(mix(seed ^ mix(drawn)), u64::from(n)) as u32
    };
    let routers = 2 + draw(6);
    let mut at = vec![0; routers as usize];
    (0..terminals).for_each(|_| at[draw(routers) as usize] += 1);
    let mut joined: Vec<(u32, u32)> = (1..routers).map(|r| (r, draw(r))).flat_map(|(a, b)| [(a, b), (b, a)]).collect();
    if rings {
        let more = (0..1 + draw(4)).map(|_| (draw(routers), draw(routers))).collect::<Vec<_>>();
        joined.extend(more.into_iter().filter(|(a, b)| a != b));
    }
    let ports = 12;
    let (mut outputs, mut inputs) = (vec![vec![false; ports]; at.len()], vec![vec![false; ports]; at.len()]);
    let mut free = |taken: &mut Vec<bool>| {
        let first = draw(ports as u32) as usize;
        let port = (0..ports).map(|i| (first + i) % ports).find(|&port| !taken[port]);
        port.inspect(|&port| taken[port] = true)
    };
    let mut channels = Vec::new();
    for (from, to) in joined {
        let (Some(output), Some(input)) = (free(&mut outputs[from as usize]), free(&mut inputs[to as usize])) else {
            continue;
        };
        channels.push(Channel::new((from, output), (to, input), 0));
    }
    if draw(2) == 0 {
        for channel in &mut channels {
            channel.latency_cycles = (draw(2) == 0).then(|| draw(9));
            channel.cycles_per_flit = if slow { 1 + draw(6).saturating_sub(3) } else { 1 };
        }
    }
    let graph = Graph { terminals: at, channels, classes: vec!["cable".to_string()], drawing: None };
    Fabric::of_graph(&graph).expect("a network")
}

/// A table of next routers by paths of the fewest channels: of several next routers one that is drawn.
pub fn next_routers(fabric: &Fabric, seed: u64) -> Vec<Vec<u32>> {
    let routers = fabric.routers();
    let mut next = vec![vec![0; routers as usize]; routers as usize];
    for to in 0..routers {
        let mut hops = vec![None; routers as usize];
        hops[to as usize] = Some(0);
        for away in 1..routers {
            for router in (0..routers).filter(|&router| router != to) {
                let far = (0..fabric.network_ports()).filter_map(|port| fabric.peer(router, port)).map(|(far, _)| far);
                let nearer: Vec<u32> = far.filter(|&far| hops[far as usize] == Some(away - 1)).collect();
                if hops[router as usize].is_none() && !nearer.is_empty() {
                    hops[router as usize] = Some(away);
                    let drawn = below(mix(seed ^ mix(u64::from(router * routers + to))), nearer.len() as u64);
                    next[router as usize][to as usize] = nearer[drawn as usize];
                }
            }
        }
    }
    next
}

/// Channels from each router to `to`, of those that count.
fn hops(fabric: &Fabric, to: u32, counts: &dyn Fn(u32, u32) -> bool) -> Vec<Option<u32>> {
    let mut hops = vec![None; fabric.routers() as usize];
    hops[to as usize] = Some(0);
    for away in 1..fabric.routers() {
        for (router, port) in fabric.channels() {
            let far = fabric.peer(router, port).expect("it exists").0;
            if hops[router as usize].is_none() && hops[far as usize] == Some(away - 1) && counts(router, far) {
                hops[router as usize] = Some(away);
            }
        }
    }
    hops
}

/// Rows by which no packets can wait for each other in a cycle: all shortest paths with a set for each channel walked;
/// or, if that is drawn and the cables have a tree with both directions, all shortest paths in set 1 and the tree as
/// escape channels in set 0, which are not left again.
pub fn relation(fabric: &Fabric, seed: u64, options: &mut RelationOptions) {
    let routers = fabric.routers();
    let pairs = || (0..routers).flat_map(|router| (0..routers).map(move |to| (router, to))).filter(|(r, to)| r != to);
    let joined: Vec<(u32, u32)> = fabric.channels().map(|(r, port)| (r, fabric.peer(r, port).unwrap().0)).collect();
    let both = |a: u32, b: u32| joined.contains(&(a, b)) && joined.contains(&(b, a));
    let depth = hops(fabric, 0, &both);
    let parent = |router: u32| {
        (0..routers).find(|&up| both(router, up) && depth[up as usize].map(|d| d + 1) == depth[router as usize])
    };
    let parents: Vec<Option<u32>> =
        (0..routers).map(|router| if router == 0 { None } else { parent(router) }).collect();
    let in_tree = |a: u32, b: u32| parents[a as usize] == Some(b) || parents[b as usize] == Some(a);
    let escapes = mix(seed).is_multiple_of(2) && depth.iter().all(Option::is_some);
    let nearer = |hops: &[Option<u32>], router: u32| -> Vec<u32> {
        let here = hops[router as usize];
        let mut next: Vec<u32> =
            joined.iter().filter(|c| c.0 == router && hops[c.1 as usize].map(|h| h + 1) == here).map(|c| c.1).collect();
        next.dedup();
        if here.is_none() { vec![] } else { next }
    };
    let all: Vec<Vec<Option<u32>>> = (0..routers).map(|to| hops(fabric, to, &|_, _| true)).collect();
    let longest = all.iter().flatten().flatten().copied().max().unwrap_or(1).max(1);
    options.sets = if escapes { 2 } else { longest };
    options.rows.clear();
    let came =
        |router: u32| -> BTreeSet<i64> { joined.iter().filter(|c| c.1 == router).map(|c| i64::from(c.0)).collect() };
    for (router, to) in pairs() {
        let mut row = |from: i64, set: i64, next: u32, then: i64| {
            options.rows.push([router.into(), from, set, to.into(), next.into(), then]);
        };
        for next in nearer(&all[to as usize], router) {
            row(-1, -1, next, i64::from(escapes));
            for from in came(router) {
                if escapes {
                    row(from, 1, next, 1);
                } else {
                    (0..i64::from(longest) - 1).for_each(|set| row(from, set, next, set + 1));
                }
            }
        }
        let by_tree = hops(fabric, to, &in_tree);
        let next = joined.iter().find(|c| {
            c.0 == router && in_tree(c.0, c.1) && by_tree[c.1 as usize].map(|h| h + 1) == by_tree[router as usize]
        });
        if let Some(&(_, next)) = next.filter(|_| escapes && by_tree[router as usize].is_some()) {
            row(-1, -1, next, 0);
            came(router).into_iter().for_each(|from| (0..2).for_each(|set| row(from, set, next, 0)));
        }
    }
}

/// A table of ports: for each terminal a table of next routers that is drawn anew, and one of the ports that lead
/// there.
pub fn ports(fabric: &Fabric, seed: u64) -> Vec<Vec<i32>> {
    let mut found = vec![vec![-1; fabric.terminals() as usize]; fabric.routers() as usize];
    for terminal in 0..fabric.terminals() {
        let next = next_routers(fabric, mix(seed ^ u64::from(terminal)));
        let to = fabric.router_of(terminal);
        for router in (0..fabric.routers()).filter(|&router| router != to) {
            let leads = |&port: &usize| {
                fabric.peer(router, port).is_some_and(|(far, _)| far == next[router as usize][to as usize])
            };
            let ports: Vec<usize> = (0..fabric.network_ports()).filter(leads).collect();
            let drawn = below(mix(seed ^ u64::from(router)), ports.len().max(1) as u64) as usize;
            found[router as usize][terminal as usize] = ports.get(drawn).map_or(-1, |&port| port as i32);
        }
    }
    found
}
