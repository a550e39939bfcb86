//! Random small networks whose routing decides hop by hop, with every option of it.

use super::{channel, rings, router, share_middle, sizes, terminal, topology};
use flitwork::routing::{AdaptiveTie, Information, Productive, Selection, Tie};
use flitwork::spec::{DatelineClasses, NetworkSpec, RouterSpec, RoutingSpec, Switching, TopologySpec, VcPolicy};
use proptest::prelude::*;

/// The routings, as a specification calls them.
pub const KINDS: [&str; 8] =
    ["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn"];

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

/// A routing for up to four dimensions; the order has all four.
fn routing() -> impl Strategy<Value = RoutingSpec> {
    let order = || Just(vec![0, 1, 2, 3]).prop_shuffle();
    let misroutes = prop_oneof![3 => 1..=5u32, 1 => Just(255)];
    let information =
        prop_oneof![3 => Just(Information::Cross), 1 => Just(Information::Local), 1 => Just(Information::None)];
    let news_delay = prop_oneof![3 => 0..=3u32, 1 => 4..=16u32];
    prop_oneof![
        (order(), tie())
            .prop_map(|(order, tie)| { RoutingSpec::DimensionOrder { order, tie, classes: DatelineClasses::Crossed } }),
        (order(), tie(), selection()).prop_map(|(order, tie, selection)| RoutingSpec::Duato { order, tie, selection }),
        (order(), tie(), selection_of_one(), misroutes, 0..=8u32).prop_map(
            |(order, tie, selection, misroutes, patience_cycles)| {
                RoutingSpec::DuatoMisrouting { order, tie, selection, misroutes, patience_cycles }
            }
        ),
        (tie(), information, news_delay).prop_map(|(tie, information, news_delay_cycles)| {
            RoutingSpec::CrossLine { tie, information, news_delay_cycles }
        }),
        (order(), tie()).prop_map(|(order, tie)| RoutingSpec::Valiant { order, tie }),
        (order(), tie()).prop_map(|(order, tie)| RoutingSpec::Romm { order, tie }),
        min_adapt(),
        (order(), tie()).prop_map(|(order, tie)| RoutingSpec::O1Turn { order, tie }),
    ]
}

/// With adaptive VCs counted from the first that may be one: [`network`] adds those of escape.
fn min_adapt() -> impl Strategy<Value = RoutingSpec> {
    let order = Just(vec![0, 1, 2, 3]).prop_shuffle();
    let productive = prop_oneof![2 => Just(Productive::All), 1 => Just(Productive::First)];
    let some_vcs = (0..=2u32, 1..=2u32).prop_map(|(first, vcs)| (first..first + vcs).collect());
    let adaptive_vcs = prop_oneof![1 => Just(vec![]), 1 => some_vcs];
    let adaptive_tie = prop_oneof![Just(AdaptiveTie::Same), Just(AdaptiveTie::Plus), Just(AdaptiveTie::Minus)];
    (order, tie(), selection(), productive, adaptive_vcs, adaptive_tie).prop_map(
        |(order, tie, selection, productive, adaptive_vcs, adaptive_tie)| RoutingSpec::MinAdapt {
            order,
            tie,
            selection,
            productive,
            adaptive_vcs,
            adaptive_tie,
        },
    )
}

/// VCs that the sets of a routing need at least.
fn least_vcs(routing: &RoutingSpec, topology: &TopologySpec) -> u32 {
    let rings = rings(topology);
    let classes = if rings > 0 { 2 } else { 1 };
    match routing {
        RoutingSpec::DimensionOrder { .. } => rings + 1,
        RoutingSpec::Duato { .. } | RoutingSpec::DuatoMisrouting { .. } => rings + 2,
        RoutingSpec::CrossLine { .. } => (rings + 1) << (sizes(topology).len() - 1),
        RoutingSpec::Valiant { .. } | RoutingSpec::Romm { .. } | RoutingSpec::O1Turn { .. } => 2 * classes,
        RoutingSpec::MinAdapt { adaptive_vcs, .. } => adaptive_vcs.last().map_or(classes + 1, |last| last + 1),
    }
}

/// A network; most are valid. The oracle's allocators are slow on many VCs.
pub fn network(most_terminals: u32, most_concentration: u32) -> impl Strategy<Value = NetworkSpec> {
    let size = prop_oneof![4 => prop::collection::vec(1..=5u32, 1..=3), 1 => prop::collection::vec(1..=3u32, 4)];
    let topology = topology(size, most_terminals, most_concentration);
    (topology, routing(), 0..=4u32, router(), channel(), terminal())
        .prop_map(|((topology, ..), mut routing, more_vcs, router, channel, terminal)| {
            let dims = sizes(&topology).len();
            if let (Some(order), _) = routing.order_and_tie() {
                order.retain(|&d| d < dims);
            }
            if let RoutingSpec::MinAdapt { adaptive_vcs, .. } = &mut routing {
                let escapes = if rings(&topology) > 0 { 2 } else { 1 };
                adaptive_vcs.iter_mut().for_each(|v| *v += escapes);
            }
            let mut router =
                RouterSpec { vcs: least_vcs(&routing, &topology) + more_vcs, vc_policy: VcPolicy::Dateline, ..router };
            // Under wormhole switching few networks allow detours, and an escape network needs buffers of one packet.
            match routing {
                RoutingSpec::DuatoMisrouting { .. } if more_vcs > 0 => router.switching = Switching::VirtualCutThrough,
                RoutingSpec::Duato { .. } | RoutingSpec::MinAdapt { .. } if more_vcs > 0 => {
                    router.wait_for_tail_credit |= router.switching == Switching::Wormhole;
                }
                _ => {}
            }
            while !router.vcs.is_multiple_of(router.input_speedup) {
                router.input_speedup -= 1;
            }
            let two =
                matches!(routing, RoutingSpec::Valiant { .. } | RoutingSpec::Romm { .. } | RoutingSpec::O1Turn { .. });
            share_middle(&mut router, two && rings(&topology) == 0);
            NetworkSpec { topology, routing, router, channel, terminal }
        })
        .prop_filter("too many virtual channels", |network| network.router.vcs <= 12)
}

/// What the routing of a network is called in a specification.
pub fn kind(network: &NetworkSpec) -> &'static str {
    match network.routing {
        RoutingSpec::DimensionOrder { .. } => "dimension_order",
        RoutingSpec::Duato { .. } => "duato",
        RoutingSpec::DuatoMisrouting { .. } => "duato_misrouting",
        RoutingSpec::CrossLine { .. } => "cross_line",
        RoutingSpec::Valiant { .. } => "valiant",
        RoutingSpec::Romm { .. } => "romm",
        RoutingSpec::MinAdapt { .. } => "min_adapt",
        RoutingSpec::O1Turn { .. } => "o1turn",
    }
}
