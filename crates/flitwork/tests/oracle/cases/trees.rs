//! Random small fat trees with every routing of them.

use super::{channel, fit_rules, keep_injection_vcs, nic, router, spec};
use flitwork::routing::{AdaptiveUpOptions, DModKOptions, RandomUpOptions, SModKOptions};
use flitwork::spec::{NetworkSpec, RouterSpec, RoutingSpec, TopologySpec, VcPolicy};
use flitwork::topology::{KAryNTree, Xgft};
use proptest::prelude::*;

/// The routings of trees.
pub const KINDS: [&str; 4] = ["d_mod_k", "s_mod_k", "random_up", "adaptive_up"];

fn topology(most_terminals: u32) -> impl Strategy<Value = TopologySpec> {
    let regular = (1..=4u32, 1..=4u32).prop_map(|(k, levels)| TopologySpec::KAryNTree(KAryNTree { k, levels }));
    let any = prop::collection::vec((1..=4u32, 1..=4u32), 1..=4).prop_map(|levels| {
        let (children, mut parents): (Vec<u32>, Vec<u32>) = levels.into_iter().unzip();
        parents[0] = 1;
        TopologySpec::Xgft(Xgft { children, parents })
    });
    prop_oneof![regular, any].prop_filter("too many terminals", move |topology| {
        let fabric = topology.fabric().expect("a tree");
        (2..=most_terminals).contains(&fabric.terminals()) && fabric.routers() <= 40
    })
}

fn routing() -> impl Strategy<Value = Option<RoutingSpec>> {
    let candidates = prop_oneof![1 => Just(0), 2 => 1..=4u32];
    prop_oneof![
        1 => Just(None),
        1 => Just(Some(RoutingSpec::DModK(DModKOptions {}))),
        1 => Just(Some(RoutingSpec::SModK(SModKOptions {}))),
        1 => Just(Some(RoutingSpec::RandomUp(RandomUpOptions {}))),
        3 => candidates.prop_map(|candidates| Some(RoutingSpec::AdaptiveUp(AdaptiveUpOptions { candidates }))),
    ]
}

/// A tree with so many terminals at most.
pub fn network(most_terminals: u32) -> impl Strategy<Value = NetworkSpec> {
    (topology(most_terminals), routing(), 1..=5u32, router(), channel(), nic()).prop_map(
        |(topology, routing, vcs, router, channel, mut nic)| {
            let mut router = RouterSpec { vcs, vc_policy: VcPolicy::Dateline, ..router };
            fit_rules(&mut router, false);
            keep_injection_vcs(&mut nic, &router);
            spec(topology, routing, router, channel, nic)
        },
    )
}
