//! What the routings of fat trees have in common: up to a nearest common ancestor, then down.
//!
//! A packet at a router that has its destination below it goes down: there is one port that leads there. At any other
//! router every up port leads to a nearest common ancestor, and by which of them it goes is all that these routings
//! differ in ([`Rule`]). No packet goes up again after it went down, so channels wait for each other in one order: up
//! ones for those above them, then down ones for those below them. One virtual channel is enough.

use super::hop_by_hop::{At, GoesBy, Head, HopByHop};
use super::kind::Network;
use super::scheme::{Choice, Division, Trip};
use super::tree_steps::{Rule, TreeStep, TreeSteps};
use super::{AtSource, Routing};
use crate::error::Result;
use crate::topology::{End, Fabric, Tree};
use std::sync::Arc;

/// Most children and parents of a router of the tree that stands for a larger one where dependencies of channels are
/// followed.
const REPRESENTATIVE: u32 = 3;

/// Options of a routing of trees.
pub(super) trait TreeOptions {
    /// Name of the routing.
    const KIND: &'static str;

    /// The rule that they stand for.
    fn rule(&self) -> Rule;

    /// Refuses fields that make no sense.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// Makes such options those of a routing. (Both traits are implemented for a type at a time: `AnyOptions` has an
/// implementation for all types of another trait.)
macro_rules! routes_trees {
    ($options:ident) => {
        impl super::kind::AnyOptions for $options {
            fn resolve(&mut self, network: &super::kind::Network) -> crate::error::Result<()> {
                network.fabric.needs_tree("network.routing.kind", Self::KIND)?;
                self.check()
            }

            fn routing(&self, network: &super::kind::Network) -> crate::error::Result<super::Routing> {
                Ok(super::on_tree::routing(network, self.rule()))
            }

            fn representative(
                &self,
                network: &super::kind::Network,
                level: usize,
            ) -> Option<super::on_tree::Representative> {
                super::on_tree::representative(network, self.rule()).filter(|_| level == 0)
            }
        }
    };
}
pub(super) use routes_trees;

/// The routing by a rule.
pub(super) fn routing(network: &Network, rule: Rule) -> Routing {
    match network.fabric.tree() {
        Some(tree) => Routing::HopByHop(Arc::new(OnTree::new(tree, rule))),
        // It has been refused.
        None => Routing::AtSource(AtSource::one_router()),
    }
}

/// A network, and a routing on it.
pub(super) type Representative = (Fabric, Arc<dyn HopByHop>);

/// The same on a smaller tree of as many levels: what waits for what depends on levels alone.
pub(super) fn representative(network: &Network, rule: Rule) -> Option<Representative> {
    let small = network.fabric.tree()?.cut_down(REPRESENTATIVE);
    let routing: Arc<dyn HopByHop> = Arc::new(OnTree::new(&small, rule));
    Some((Fabric::of_tree(small).ok()?, routing))
}

/// A rule at work.
#[derive(Debug)]
struct OnTree {
    steps: TreeSteps,
    /// Terminals of a router with terminals.
    terminals_each: u32,
}

impl OnTree {
    fn new(tree: &Tree, rule: Rule) -> Self {
        OnTree { steps: TreeSteps::new(tree, rule), terminals_each: tree.children(1) }
    }

    fn head(&self, to: u32, src: u32, dst: u32) -> Head {
        Head { to, label: self.steps.label(src, dst), trip: Trip::default() }
    }
}

fn all_of(ports: u64) -> Choice {
    Choice { ports, ..Choice::default() }
}

impl HopByHop for OnTree {
    fn division(&self) -> Division {
        Division::Equal(1)
    }

    fn start(&self, src: End, dst: End, _bits: u64) -> Head {
        self.head(dst.router, src.terminal, dst.terminal)
    }

    fn starts(&self, src: u32, dst: u32) -> Vec<Head> {
        let each = self.terminals_each;
        let terminals = if self.goes_by() == GoesBy::Routers { 1 } else { each };
        (0..terminals).map(|i| self.head(dst, src * each + i, dst * each + i)).collect()
    }

    fn forget(&self, at: &mut At, _head: &mut Head) {
        (at.port, at.set) = (None, None);
    }

    fn choice(&self, at: &At, head: &Head) -> Choice {
        all_of(self.steps.possible(at.router as usize, head.to, head.label))
    }

    fn next(&self, at: &At, _dst: u32, head: &mut Head, bits: &dyn Fn() -> u64) -> Option<Choice> {
        let router = at.router as usize;
        match self.steps.next(router, head.to, head.label, bits) {
            TreeStep::Here => None,
            TreeStep::Port(port) => Some(all_of(1 << port)),
            TreeStep::Up => Some(all_of(self.steps.up(router))),
        }
    }

    fn is_fixed(&self) -> bool {
        self.goes_by() != GoesBy::Routers
    }

    fn goes_by(&self) -> GoesBy {
        self.steps.goes_by()
    }

    fn requests_one_port(&self) -> bool {
        true
    }

    fn tree_steps(&self) -> Option<&TreeSteps> {
        Some(&self.steps)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Buffers, Finding, RoutingSpec, find_cycle};
    use super::*;
    use crate::topology::TopologySpec;
    use serde_json::json;

    const KINDS: [&str; 4] = ["d_mod_k", "s_mod_k", "random_up", "adaptive_up"];

    fn xgft(children: &[u32], parents: &[u32]) -> Fabric {
        let spec = json!({ "kind": "xgft", "children": children, "parents": parents });
        serde_json::from_value::<TopologySpec>(spec).unwrap().fabric().unwrap()
    }

    fn fabrics() -> Vec<Fabric> {
        vec![
            xgft(&[4, 4], &[1, 4]),
            xgft(&[2, 2, 2, 2], &[1, 2, 2, 2]),
            xgft(&[4, 3, 2], &[1, 2, 3]),
            xgft(&[3, 4], &[1, 1]),
            xgft(&[2, 3], &[1, 5]),
            xgft(&[6], &[1]),
        ]
    }

    fn of(fabric: &Fabric, kind: &str) -> (RoutingSpec, Routing) {
        let mut spec: RoutingSpec = serde_json::from_value(json!({ "kind": kind })).unwrap();
        spec.resolve(&Network { fabric }).unwrap();
        let routing = spec.routing(&Network { fabric }).unwrap();
        (spec, routing)
    }

    #[test]
    fn every_packet_goes_up_and_then_down_by_as_few_channels_as_there_are() {
        for (fabric, kind) in fabrics().iter().flat_map(|fabric| KINDS.map(|kind| (fabric, kind))) {
            let (tree, (_, routing)) = (fabric.tree().unwrap(), of(fabric, kind));
            let n = fabric.terminals();
            for (src, dst) in (0..n).flat_map(|src| (0..n).map(move |dst| (src, dst))) {
                let path = routing.path(fabric, fabric.end(src), fabric.end(dst), 0x1234_5678 * u64::from(src + 1));
                let up = tree.meeting_level(src, dst) - 1;
                assert_eq!(path.len(), 2 * up, "{kind} {src} -> {dst}");
                for (i, &(router, port, set)) in path.iter().enumerate() {
                    let class = &fabric.classes()[fabric.class_of(router, port)];
                    assert_eq!((class.starts_with("up"), set), (i < up, 0), "{kind} {src} -> {dst}");
                }
                let last = path.last().map_or(fabric.router_of(src), |&(r, p, _)| fabric.peer(r, p).unwrap().0);
                assert_eq!(last, fabric.router_of(dst));
            }
        }
    }

    /// As the modules of topology and routings state it, with divisions.
    fn ports(tree: &Tree, kind: &str, router: u32, src: u32, dst: u32) -> u64 {
        let place = tree.place(router);
        let (parents, copies) = (tree.parents(place.level), tree.copies(place.level));
        if dst / tree.terminals_below(place.level) == place.position {
            let below = if place.level == 1 { 1 } else { tree.terminals_below(place.level - 1) };
            return 1 << (parents + dst / below % tree.children(place.level));
        }
        match kind {
            "d_mod_k" => 1 << (dst / copies % parents),
            "s_mod_k" => 1 << (src / copies % parents),
            _ => (1 << parents) - 1,
        }
    }

    #[test]
    fn steps_are_those_of_the_definition() {
        for (fabric, kind) in fabrics().iter().flat_map(|fabric| KINDS.map(|kind| (fabric, kind))) {
            let (_, routing) = of(fabric, kind);
            let routing = routing.hop_by_hop().unwrap();
            let n = fabric.terminals();
            for (at, src, dst) in (0..fabric.routers()).flat_map(|at| (0..n).map(move |d| (at, (at + 5 * d) % n, d))) {
                let bits = || u64::from(at) << 40 | u64::from(dst) << 8;
                let mut head = routing.start(fabric.end(src), fabric.end(dst), bits());
                let place = At { router: at, port: None, set: None };
                let next = routing.next(&place, fabric.router_of(dst), &mut head, &bits).map(|choice| choice.ports);
                if fabric.router_of(dst) == at {
                    assert_eq!(next, None, "{kind} {at}: {src} -> {dst}");
                    continue;
                }
                let expected = ports(fabric.tree().unwrap(), kind, at, src, dst);
                assert_eq!(routing.choice(&place, &head).ports, expected, "{kind} {at}: {src} -> {dst}");
                let next = next.unwrap();
                let ports = if kind == "random_up" { 1 } else { expected.count_ones() };
                assert_eq!((next & !expected, next.count_ones()), (0, ports), "{kind} {at}: {src} -> {dst}");
            }
        }
    }

    /// From terminal 1 to 14 of 4-ary 2-tree: routers 0 and 3 at the bottom, 4 to 7 at the top, which has no up ports.
    #[test]
    fn digits_choose_the_ancestor() {
        let fabric = xgft(&[4, 4], &[1, 4]);
        let path = |kind| of(&fabric, kind).1.path(&fabric, fabric.end(1), fabric.end(14), 0);
        assert_eq!(path("d_mod_k"), [(0, 2, 0), (6, 3, 0)]);
        assert_eq!(path("s_mod_k"), [(0, 1, 0), (5, 3, 0)]);
        // Three levels: 11 = 1 * 8 + 1 * 2 + 1, so digits 1 and floor(11 / 2) mod 3 = 2.
        let fabric = xgft(&[2, 4, 2], &[1, 2, 3]);
        let path = of(&fabric, "d_mod_k").1.path(&fabric, fabric.end(0), fabric.end(11), 0);
        let ports: Vec<usize> = path.iter().map(|hop| hop.1).collect();
        assert_eq!(ports, [1, 2, 1, 3 + 1]);
    }

    #[test]
    fn one_virtual_channel_is_enough_and_a_small_tree_tells() {
        for (fabric, kind) in fabrics().iter().flat_map(|fabric| KINDS.map(|kind| (fabric, kind))) {
            let (spec, routing) = of(fabric, kind);
            let (small, small_routing) = spec.representative(&Network { fabric }, 0).unwrap();
            assert_eq!(small.tree().unwrap().levels(), fabric.tree().unwrap().levels());
            for buffers in [Buffers::Shared, Buffers::OnePacket, Buffers::WholePackets] {
                let whole = find_cycle(fabric, routing.hop_by_hop().unwrap().as_ref(), buffers, false);
                let part = find_cycle(&small, small_routing.as_ref(), buffers, false);
                assert_eq!((whole, part), (Finding::Free, Finding::Free), "{kind}");
            }
        }
    }

    #[test]
    fn random_up_uses_all_ancestors_alike() {
        let fabric = xgft(&[4, 4], &[1, 4]);
        let (_, routing) = of(&fabric, "random_up");
        let mut taken = [0; 4];
        for bits in 0..4000u64 {
            let path = routing.path(&fabric, fabric.end(0), fabric.end(15), crate::mix::mix(bits));
            taken[path[0].1] += 1;
        }
        assert!(taken.iter().all(|&n| (900..1100).contains(&n)), "{taken:?}");
    }

    #[test]
    fn what_is_for_trees_is_refused_elsewhere_and_the_other_way_round() {
        let refused = |fabric: &Fabric, spec: serde_json::Value| {
            let mut spec: RoutingSpec = serde_json::from_value(spec).unwrap();
            spec.resolve(&Network { fabric }).unwrap_err().to_string()
        };
        let torus = serde_json::from_value::<TopologySpec>(json!({ "kind": "torus", "size": [4, 4] })).unwrap();
        for kind in KINDS {
            let error = refused(&torus.fabric().unwrap(), json!({ "kind": kind }));
            let expected = format!("network.routing.kind = {kind}: expected a network that is a fat tree");
            assert!(error.starts_with(&expected), "{error}");
        }
        let tree = xgft(&[4, 4], &[1, 4]);
        let error = refused(&tree, json!({ "kind": "duato" }));
        assert!(error.starts_with("network.routing.kind = duato: expected a network that is a grid"), "{error}");
        let error = refused(&tree, json!({ "kind": "adaptive_up", "candidates": 65 }));
        assert!(error.starts_with("network.routing.candidates = 65: expected 0 to 64 ports"), "{error}");
        assert_eq!(RoutingSpec::default_of(&tree).kind(), "d_mod_k");
    }
}
