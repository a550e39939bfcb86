//! What every routing must pass: it arrives, it is free of deadlock, and its routes have the length that they should.

use super::walks::{Routes, dependencies};
use super::*;
use crate::compat::{AdaptiveTie, CompatSpec, Productive, tests as compat};
use crate::topology::{Without, graph, random, ring};
use serde_json::json;
use std::collections::HashMap;

fn order(grid: &Grid, tie: Tie) -> DimensionOrder {
    DimensionOrder { order: (0..grid.dims()).collect(), tie }
}

/// A routing with no options but a rule for ties, resolved for a network; `None` if it is not for this network.
fn by_default(kind: &str, grid: &Grid, tie: Tie) -> Option<Arc<dyn Scheme>> {
    let component = ROUTINGS.iter().find(|component| component.name == kind).unwrap();
    let has_tie = component.parameters.split(", ").any(|field| field == "tie");
    let options = if has_tie { json!({ "kind": kind, "tie": tie }) } else { json!({ "kind": kind }) };
    let mut spec: RoutingSpec = serde_json::from_value(options).unwrap();
    let fabric = Fabric::of_grid(grid.clone(), 1).unwrap();
    spec.resolve(&Network { fabric: &fabric }).ok()?;
    spec.scheme(&Context { grid })
}

/// Every scheme of a network by name: those of the table, and some with other options.
fn schemes(grid: &Grid, tie: Tie) -> Vec<(&'static str, Arc<dyn Scheme>)> {
    let listed = RoutingSpec::KINDS.iter().filter_map(|kind| by_default(kind, grid, tie).map(|scheme| (*kind, scheme)));
    listed.chain(min_adapt_of_others(grid, tie)).collect()
}

/// What other simulators make of minimal adaptive routing.
fn min_adapt_of_others(grid: &Grid, tie: Tie) -> Vec<(&'static str, Arc<dyn Scheme>)> {
    let with = |rules| compat::scheme(&json!({ "kind": "min_adapt", "tie": tie }), &rules, grid);
    let first = || CompatSpec { productive: Productive::First, ..CompatSpec::default() };
    let minus = || CompatSpec { adaptive_vcs: vec![3], adaptive_tie: AdaptiveTie::Minus, ..CompatSpec::default() };
    let both = CompatSpec { productive: Productive::First, ..minus() };
    vec![("min_adapt_first", with(first())), ("min_adapt_minus", with(minus())), ("min_adapt_both", with(both))]
}

fn grids() -> Vec<Grid> {
    vec![
        Grid::torus(&[4, 4]),
        Grid::torus(&[5, 4]),
        Grid::torus(&[6]),
        Grid::torus(&[2, 3]),
        Grid::mesh(&[4, 3]),
        Grid::new(&[4, 3], &[true, false], false),
        Grid::torus(&[3, 3, 3]),
        Grid::mesh(&[3, 2, 2]),
    ]
}

/// Walks a packet, always by the lowest or the highest port that it may take; the number of hops.
fn walk(grid: &Grid, scheme: &dyn Scheme, src: u32, dst: u32, bits: u64, highest: bool) -> u32 {
    let (mut at, to) = (grid.coords(src), grid.coords(dst));
    let mut start = scheme.start(grid, &at, &to, bits);
    let (mut entered, mut hops) = (None::<(u8, u8)>, 0);
    loop {
        scheme.enter(grid, &at, &to, &mut start, &|| bits);
        if at == start.to {
            assert_eq!(at, to);
            return hops;
        }
        let place = Place { at, port: entered.map(|c| c.0), set: entered.map(|c| c.1) };
        let choice = scheme.choice(grid, &place, &start);
        let ports = choice.ports | u64::from(if highest { choice.sideways } else { 0 });
        let (port, set) = if ports == 0 {
            choice.escape.unwrap()
        } else {
            let port = if highest { 63 - ports.leading_zeros() } else { ports.trailing_zeros() } as usize;
            start.trip.crossed += (choice.crossing >> port & 1) as u8;
            start.trip.misroutes -= u8::from(choice.ports >> port & 1 == 0);
            (port as u8, choice.set_of(port))
        };
        at = grid.coords(grid.neighbour(grid.id(&at), port as usize).unwrap());
        entered = Some((port ^ 1, set));
        hops += 1;
        assert!(hops < 100, "{scheme:?} does not arrive");
    }
}

#[test]
fn every_packet_arrives_by_a_way_of_the_right_length() {
    for grid in grids() {
        for tie in [Tie::Plus, Tie::Parity, Tie::Random] {
            let shortest = order(&grid, tie);
            for (name, scheme) in schemes(&grid, tie) {
                for (s, t) in (0..grid.routers()).flat_map(|s| (0..grid.routers()).map(move |t| (s, t))) {
                    let (_, least) = shortest.header_and_hops(&grid, &grid.coords(s), &grid.coords(t), 0);
                    for (bits, highest) in [(0, false), (0xabc_0193, true), (!0, true)] {
                        let hops = walk(&grid, scheme.as_ref(), s, t, bits, highest);
                        let most = match name {
                            "valiant" => 2 * grid.sizes().iter().sum::<u32>(),
                            // A detour costs itself and the hop back.
                            "duato_misrouting" if highest => least + 2 * 4,
                            _ => least,
                        };
                        assert!((least..=most).contains(&hops), "{name} {grid:?} {s} -> {t}: {hops} of {least}");
                    }
                }
            }
        }
    }
}

fn found(grid: &Grid, scheme: Arc<dyn Scheme>, buffers: Buffers) -> Finding {
    find_cycle(&Fabric::of_grid(grid.clone(), 1).unwrap(), &OnGrid::new(grid, scheme), buffers, false)
}

fn named(grid: &Grid, name: &str, tie: Tie) -> Arc<dyn Scheme> {
    schemes(grid, tie).into_iter().find(|(n, _)| *n == name).unwrap().1
}

fn cycle_of(grid: &Grid, name: &str, tie: Tie, buffers: Buffers) -> Option<Vec<String>> {
    match found(grid, named(grid, name, tie), buffers) {
        Finding::Free => None,
        Finding::Cycle(cycle) => Some(cycle),
        Finding::Unknown => panic!("{name} {grid:?}: too many routes"),
    }
}

#[test]
fn every_scheme_is_free_of_deadlock_under_cut_through() {
    for grid in grids().into_iter().chain([Grid::torus(&[6, 6]), Grid::torus(&[6, 4])]) {
        for tie in [Tie::Plus, Tie::Parity, Tie::Random] {
            for (name, _) in schemes(&grid, tie) {
                assert_eq!(cycle_of(&grid, name, tie, Buffers::WholePackets), None, "{name} {grid:?} {tie:?}");
            }
        }
    }
}

/// Where a head may wait behind another packet's tail, or for a credit, it cannot ask for an escape channel: what saves
/// adaptive routing under wormhole switching is that each buffer holds one packet. Without adaptive rings nothing needs
/// saving.
#[test]
fn an_escape_network_needs_buffers_of_one_packet_under_wormhole() {
    for (name, grid) in
        [("duato", Grid::torus(&[5])), ("min_adapt", Grid::torus(&[5])), ("min_adapt", Grid::mesh(&[4, 4]))]
    {
        assert!(cycle_of(&grid, name, Tie::Parity, Buffers::Shared).is_some(), "{name} {grid:?}");
        assert_eq!(cycle_of(&grid, name, Tie::Parity, Buffers::OnePacket), None, "{name} {grid:?}");
    }
    for name in ["duato", "min_adapt"] {
        assert_eq!(cycle_of(&Grid::mesh(&[6]), name, Tie::Parity, Buffers::Shared), None, "{name}");
    }
    assert!(cycle_of(&Grid::torus(&[5]), "min_adapt_first", Tie::Parity, Buffers::Shared).is_some());
    assert_eq!(cycle_of(&Grid::mesh(&[4, 4]), "min_adapt_first", Tie::Parity, Buffers::Shared), None);
    for name in ["dimension_order", "cross_line", "valiant", "romm", "o1turn"] {
        assert_eq!(cycle_of(&Grid::torus(&[5, 4]), name, Tie::Parity, Buffers::Shared), None, "{name}");
    }
}

/// A scheme with all its sets made one.
#[derive(Debug)]
struct OneSet(Arc<dyn Scheme>);

impl Scheme for OneSet {
    fn division(&self) -> Division {
        Division::Equal(1)
    }
    fn start(&self, grid: &Grid, src: &Coords, dst: &Coords, bits: u64) -> Start {
        self.0.start(grid, src, dst, bits)
    }
    fn starts(&self, grid: &Grid, src: &Coords, dst: &Coords) -> Vec<Start> {
        self.0.starts(grid, src, dst)
    }
    fn turns_anywhere(&self) -> bool {
        self.0.turns_anywhere()
    }
    fn first_walks(&self, grid: &Grid, src: &Coords, via: &Coords) -> Vec<Start> {
        self.0.first_walks(grid, src, via)
    }
    fn bits_on_entering(&self, grid: &Grid) -> u32 {
        self.0.bits_on_entering(grid)
    }
    fn enter(&self, grid: &Grid, at: &Coords, dst: &Coords, start: &mut Start, bits: &dyn Fn() -> u64) {
        self.0.enter(grid, at, dst, start, bits);
    }
    fn choice(&self, grid: &Grid, place: &Place, start: &Start) -> Choice {
        let choice = self.0.choice(grid, place, start);
        Choice { set: 0, crossing: 0, escape: choice.escape.map(|(port, _)| (port, 0)), ..choice }
    }
}

/// The check can fail: without its sets of virtual channels every scheme can deadlock, and the cycle is shown.
#[test]
fn without_sets_there_is_a_cycle() {
    let grid = Grid::torus(&[4, 4]);
    for (name, _) in schemes(&grid, Tie::Parity) {
        let one_set = Arc::new(OneSet(named(&grid, name, Tie::Parity)));
        let Finding::Cycle(cycle) = found(&grid, one_set, Buffers::WholePackets) else { panic!("{name}: no cycle") };
        assert!(cycle.len() >= 2 && cycle[0].starts_with("router"), "{name}: {cycle:?}");
    }
}

/// A ring of switches whose packets all take the shortest route round it can deadlock; a tree cannot.
#[test]
fn the_graph_of_any_network_is_checked() {
    let star = graph(&(1..30).map(|r| [0, r]).collect::<Vec<_>>(), &[]);
    let found = |fabric| find_cycle(&fabric, &PortTable::shortest(&fabric), Buffers::WholePackets, false);
    let Finding::Cycle(cycle) = found(ring(5)) else { panic!("no cycle") };
    assert_eq!(cycle.len(), 5);
    assert!(cycle.contains(&"router 1 port 1 to router 2 set 0".to_string()), "{cycle:?}");
    assert_eq!(found(ring(3)), Finding::Free);
    assert_eq!(found(star), Finding::Free);
}

/// Of random networks all routes are followed: ranks grow along each, so that they may speak for networks with too
/// many.
#[test]
fn ranks_grow_along_every_route() {
    let rules = (Buffers::Shared, false);
    let within = |places| Limits { memory_bytes: 1 << 30, places };
    let all = within(1 << 24);
    let mut ranked = HashMap::new();
    let faulty = Without { cables: vec![[0, 1]], ..Without::default() }.of(&ring(7)).unwrap();
    assert!(faulty.peer(0, 0).is_none());
    for fabric in (0..60).map(random).chain([ring(4), ring(9), faulty]) {
        for kind in ["up_down", "hop_classes", "ecmp", "spray", "shortest_path", "lash"] {
            let mut spec: RoutingSpec = serde_json::from_value(json!({ "kind": kind })).unwrap();
            let network = kind::Network { fabric: &fabric };
            spec.resolve(&network).unwrap();
            let Routing::HopByHop(routing) = spec.routing(&network).unwrap() else { panic!("{kind}") };
            let found = find_cycle_within(&fabric, routing.as_ref(), rules, within(1));
            let Some(rank) = routing.rank(&fabric) else {
                assert_eq!(found, Finding::Unknown, "{kind}");
                continue;
            };
            let routes = dependencies(&fabric, routing.as_ref(), rules, all, Routes::All);
            assert!(routes.unwrap_or_else(|_| panic!("{kind}")).ascend(&rank), "{kind}");
            assert_eq!(found, Finding::Free, "{kind}");
            *ranked.entry(kind).or_insert(0) += 1;
        }
    }
    assert!(ranked["up_down"] == 63 && ranked["hop_classes"] == 63 && ranked.len() == 4, "{ranked:?}");
    assert!(ranked["ecmp"] > 30 && ranked["ecmp"] == ranked["spray"], "{ranked:?}");
    let torus = Fabric::of_grid(Grid::torus(&[4]), 1).unwrap();
    let falls = dependencies(&torus, &PortTable::shortest(&torus), rules, all, Routes::Some);
    assert!(!falls.unwrap_or_else(|_| panic!()).ascend(&|(router, ..)| router.into()));
}

mod verdicts;

/// What docs/routing.md says of how even each division is, in per cent: of all hops of an all-to-all on an 8 x 8 torus
/// those in each set; of the hops over a channel those in the set that has most of them, the mean over channels; and
/// the channels on which some set has none.
#[test]
fn divisions_of_vcs_are_as_even_as_the_page_says() {
    let grid = Grid::torus(&[8, 8]);
    let fabric = Fabric::of_grid(grid, 1).unwrap();
    let of = |classes, sets: usize| {
        let options = DimensionOrderOptions { classes, ..DimensionOrderOptions::default() };
        let routing = RoutingSpec::DimensionOrder(options).routing(&Network { fabric: &fabric }).unwrap();
        let mut hops = std::collections::BTreeMap::<(u32, usize), [u32; 3]>::new();
        for (src, dst) in (0..64).flat_map(|src| (0..64).map(move |dst| (src, dst))) {
            let end = |router| End { router, terminal: router };
            for (router, port, set) in routing.path(&fabric, end(src), end(dst), 0) {
                hops.entry((router, port)).or_default()[set as usize] += 1;
            }
        }
        let share = |part: u32, all: u32| f64::from(part) / f64::from(all);
        let per_cent = |share: f64| (100.0 * share).round() as u32;
        let total: u32 = hops.values().flatten().sum();
        let of_all = (0..sets).map(|set| per_cent(share(hops.values().map(|one| one[set]).sum(), total))).collect();
        let most = |one: &[u32; 3]| share(*one.iter().max().unwrap(), one.iter().sum());
        let unused = hops.values().filter(|one| one[..sets].contains(&0)).count();
        let mean = hops.values().map(most).sum::<f64>() / hops.len() as f64;
        (of_all, per_cent(mean), per_cent(unused as f64 / hops.len() as f64))
    };
    assert_eq!(of(DatelineClasses::Entered, 2), (vec![66, 34], 81, 25));
    assert_eq!(of(DatelineClasses::AtDateline, 2), (vec![77, 23], 91, 63));
    assert_eq!(of(DatelineClasses::Crossed, 3), (vec![67, 30, 3], 80, 83));
}
