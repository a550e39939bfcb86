//! Random small networks whose routing decides hop by hop, with every option of it.

use super::{channel, fit_rules, keep_injection_vcs, nic, rings, router, sizes, spec, topology, trees, without_policy};
use flitwork::routing::{
    CrossLineOptions, DatelineClasses, DimensionOrderOptions, DuatoMisroutingOptions, DuatoOptions, Information,
    MinAdaptOptions, O1TurnOptions, RingDirections, RommOptions, Selection, StructuredPoolOptions, Tie, ValiantOptions,
};
use flitwork::spec::{
    AdaptiveTie, CompatSpec, NetworkSpec, Productive, RouterSpec, RoutingSpec, Switching, TopologySpec,
};
use proptest::prelude::*;
use proptest::strategy::Union;

/// A routing with random options, and what a router needs for it.
#[derive(Debug, Clone)]
struct Routed {
    routing: RoutingSpec,
    /// VCs that its sets need.
    least_vcs: u32,
    /// What makes it free of deadlock where a cycle of wormhole buffers can hold up its packets.
    needs: Needs,
    /// Whether its sets are two halves, which may share a VC.
    halves: bool,
    /// Another simulator's rules for its adaptive channels.
    rules: CompatSpec,
}

/// What a router must do for a routing to be free of deadlock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// Under wormhole switching each buffer must hold one packet.
    WaitForTailCredit,
    VirtualCutThrough,
}

/// The options of a routing on a topology, drawn at random: a row for each.
fn routed(kind: &str, topology: &TopologySpec) -> BoxedStrategy<Routed> {
    let (dims, rings) = (sizes(topology).len(), rings(topology));
    let classes = if rings > 0 { 2 } else { 1 };
    let order = || Just((0..dims).collect::<Vec<_>>()).prop_shuffle();
    let plain = |routing, least_vcs| Routed {
        routing,
        least_vcs,
        needs: Needs::Nothing,
        halves: false,
        rules: CompatSpec::default(),
    };
    let two_sets = move |routing| Routed { halves: rings == 0, ..plain(routing, 2 * classes) };
    let escaping = move |routing, least_vcs, needs| Routed { needs, ..plain(routing, least_vcs) };
    match kind {
        "dimension_order" => (order(), tie())
            .prop_map(|(order, tie)| DimensionOrderOptions { order, tie, classes: DatelineClasses::Crossed })
            .prop_map(move |options| plain(RoutingSpec::DimensionOrder(options), rings + 1))
            .boxed(),
        "duato" => (order(), tie(), selection())
            .prop_map(|(order, tie, selection)| RoutingSpec::Duato(DuatoOptions { order, tie, selection }))
            .prop_map(move |routing| escaping(routing, rings + 2, Needs::WaitForTailCredit))
            .boxed(),
        "duato_misrouting" => {
            (order(), tie(), selection_of_one(), prop_oneof![3 => 1..=5u32, 1 => Just(255)], 0..=8u32)
                .prop_map(|(order, tie, selection, misroutes, patience_cycles)| {
                    let options = DuatoMisroutingOptions { order, tie, selection, misroutes, patience_cycles };
                    RoutingSpec::DuatoMisrouting(options)
                })
                .prop_map(move |routing| escaping(routing, rings + 2, Needs::VirtualCutThrough))
                .boxed()
        }
        "cross_line" => (tie(), information(), prop_oneof![3 => 0..=3u32, 1 => 4..=16u32])
            .prop_map(|(tie, information, news_delay_cycles)| CrossLineOptions { tie, information, news_delay_cycles })
            .prop_map(move |options| plain(RoutingSpec::CrossLine(options), (rings + 1) << (dims - 1)))
            .boxed(),
        "valiant" => (order(), tie())
            .prop_map(move |(order, tie)| two_sets(RoutingSpec::Valiant(ValiantOptions { order, tie })))
            .boxed(),
        "romm" => (order(), tie())
            .prop_map(move |(order, tie)| two_sets(RoutingSpec::Romm(RommOptions { order, tie })))
            .boxed(),
        "min_adapt" => (order(), tie(), selection(), narrowed(classes))
            .prop_map(move |(order, tie, selection, rules)| {
                let routing = RoutingSpec::MinAdapt(MinAdaptOptions { order, tie, selection });
                let least_vcs = rules.adaptive_vcs.last().map_or(classes + 1, |last| last + 1);
                Routed { rules, ..escaping(routing, least_vcs, Needs::WaitForTailCredit) }
            })
            .boxed(),
        "o1turn" => (order(), tie())
            .prop_map(move |(order, tie)| two_sets(RoutingSpec::O1Turn(O1TurnOptions { order, tie })))
            .boxed(),
        "structured_pool" => {
            let topology = topology.clone();
            (order(), tie(), prop_oneof![Just(RingDirections::Shortest), Just(RingDirections::Plus)])
                .prop_map(move |(order, tie, ways)| {
                    let routing = RoutingSpec::StructuredPool(StructuredPoolOptions { order, tie, ways });
                    plain(routing, longest_route(&topology, ways))
                })
                .boxed()
        }
        other => panic!("no random options of {other}: say here how they are drawn, and in trip.rs what it does"),
    }
}

/// Channels of the longest route in one or in both directions, at least 1.
fn longest_route(topology: &TopologySpec, ways: RingDirections) -> u32 {
    let fabric = topology.fabric().expect("a case is valid");
    let grid = fabric.grid().expect("a case is a grid");
    let both = |d: usize| grid.is_ring(d) && ways == RingDirections::Shortest;
    (0..grid.dims()).map(|d| if both(d) { grid.size(d) / 2 } else { grid.size(d) - 1 }).sum::<u32>().max(1)
}

/// Routings that do not work where a dimension wraps.
const FOR_MESHES: &[&str] = &[];

fn tie() -> impl Strategy<Value = Tie> {
    prop_oneof![1 => Just(Tie::Plus), 2 => Just(Tie::Parity), 2 => Just(Tie::Random)]
}

/// A selection of one port.
fn selection_of_one() -> impl Strategy<Value = Selection> {
    prop_oneof![Just(Selection::MostCredits), Just(Selection::Random), Just(Selection::RoundRobin)]
}

fn selection() -> impl Strategy<Value = Selection> {
    prop_oneof![3 => selection_of_one(), 2 => Just(Selection::All)]
}

fn information() -> impl Strategy<Value = Information> {
    prop_oneof![3 => Just(Information::Cross), 1 => Just(Information::Local), 1 => Just(Information::None)]
}

/// Rules for the adaptive channels of min_adapt, whose numbers are above those of escape.
fn narrowed(escapes: u32) -> impl Strategy<Value = CompatSpec> {
    let productive = prop_oneof![2 => Just(Productive::All), 1 => Just(Productive::First)];
    let some_vcs =
        (0..=2u32, 1..=2u32).prop_map(move |(first, vcs)| (escapes + first..escapes + first + vcs).collect());
    let adaptive_vcs = prop_oneof![1 => Just(vec![]), 1 => some_vcs];
    let adaptive_tie = prop_oneof![Just(AdaptiveTie::Same), Just(AdaptiveTie::Plus), Just(AdaptiveTie::Minus)];
    (productive, adaptive_vcs, adaptive_tie, any::<bool>()).prop_map(
        |(productive, adaptive_vcs, adaptive_tie, speculation_needs_all_sets)| CompatSpec {
            productive,
            adaptive_vcs,
            adaptive_tie,
            speculation_needs_all_sets,
            ..CompatSpec::default()
        },
    )
}

/// The routings of grids.
pub fn kinds() -> Vec<&'static str> {
    let other = |kind: &&str| {
        let anywhere = ["shortest_path", "hop_classes", "lash", "up_down", "table", "relation", "ecmp", "spray"];
        if kind.starts_with("dragonfly") || kind.starts_with("graph") {
            return true;
        }
        anywhere.contains(kind) || trees::KINDS.contains(kind)
    };
    RoutingSpec::KINDS.iter().copied().filter(|kind| !other(kind)).collect()
}

/// A network; most are valid. The oracle's allocators are slow on many VCs.
pub fn network(most_terminals: u32, most_concentration: u32) -> impl Strategy<Value = NetworkSpec> {
    let of = |&kind: &&'static str| network_of(kind, most_terminals, most_concentration).boxed();
    Union::new(kinds().iter().map(of))
}

/// A network of one routing.
fn network_of(kind: &'static str, most_terminals: u32, most_concentration: u32) -> impl Strategy<Value = NetworkSpec> {
    let size = prop_oneof![4 => prop::collection::vec(1..=5u32, 1..=3), 1 => prop::collection::vec(1..=3u32, 4)];
    let topology = topology(size, most_terminals, most_concentration).prop_map(|(topology, ..)| topology);
    let topology = topology
        .prop_filter("not for this routing", move |topology| rings(topology) == 0 || !FOR_MESHES.contains(&kind));
    let routed = topology.prop_flat_map(move |topology| (Just(topology.clone()), routed(kind, &topology)));
    (routed, 0..=4u32, router(), channel(), nic())
        .prop_map(|((topology, routed), more_vcs, router, channel, mut nic)| {
            let CompatSpec { shared_middle_vc, pipelined_stages, late_receives, .. } = router.compat;
            let compat = CompatSpec { shared_middle_vc, pipelined_stages, late_receives, ..routed.rules };
            let mut router = RouterSpec { compat, vcs: routed.least_vcs + more_vcs, ..router };
            without_policy(&mut router);
            // Under wormhole switching few networks allow detours, and an escape network needs buffers of one packet.
            match routed.needs {
                Needs::VirtualCutThrough if more_vcs > 0 => router.switching = Switching::VirtualCutThrough,
                Needs::WaitForTailCredit if more_vcs > 0 => {
                    router.wait_for_tail_credit |= router.switching == Switching::Wormhole;
                }
                _ => {}
            }
            fit_rules(&mut router, routed.halves);
            keep_injection_vcs(&mut nic, &router);
            spec(topology, Some(routed.routing), router, channel, nic)
        })
        .prop_filter("too many virtual channels", |network| network.router.vcs <= 12)
}
