//! The bisection bound of all-to-all in a fat tree: every message between a subtree and the rest needs one of the
//! channels up from it.

use crate::topology::{Fabric, Tree};

/// Messages that a channel of the narrowest cut has to carry, on the average, if every rank sends one to every other:
/// on a grid across a dimension, in a tree round a subtree; `None` where the shape of the network has no such cut.
pub(super) fn messages_of_the_cut(fabric: &Fabric, terminal_of: &[u32]) -> Option<f64> {
    let mut ranks_at = vec![0; fabric.routers() as usize];
    terminal_of.iter().for_each(|&t| ranks_at[fabric.router_of(t) as usize] += 1);
    match (fabric.grid(), fabric.tree()) {
        (Some(grid), _) => Some(super::bisection(grid, &ranks_at).messages),
        (_, Some(tree)) => Some(around_subtrees(tree, &ranks_at)),
        _ => None,
    }
}

/// The same in a tree, for any number of ranks at each router.
fn around_subtrees(tree: &Tree, ranks_at: &[u32]) -> f64 {
    // Routers with terminals have the lowest numbers.
    let leaves = &ranks_at[..tree.routers_of(1) as usize];
    let total: u64 = leaves.iter().map(|&n| u64::from(n)).sum();
    let mut narrowest = 0.0f64;
    for level in 1..tree.levels() {
        let channels = f64::from(tree.copies(level) * tree.parents(level));
        let leaves_each = (tree.terminals_below(level) / tree.children(1)) as usize;
        for subtree in leaves.chunks(leaves_each) {
            let inside: u64 = subtree.iter().map(|&n| u64::from(n)).sum();
            narrowest = narrowest.max((inside * (total - inside)) as f64 / channels);
        }
    }
    narrowest
}

#[cfg(test)]
mod tests {
    use super::super::{Flow, TerminalLimits, bound, flow_loads, uniform_saturation};
    use super::*;
    use crate::collective::{AllToAllOptions, Sync, all_to_all};
    use crate::routing::{Network, Routing, RoutingSpec};
    use crate::schedule::Placement;
    use crate::topology::{Grid, TopologySpec};
    use serde_json::json;

    fn tree(children: &[u32], parents: &[u32], routing: &str) -> (Fabric, Routing) {
        let spec = json!({ "kind": "xgft", "children": children, "parents": parents });
        let fabric = serde_json::from_value::<TopologySpec>(spec).unwrap().fabric().unwrap();
        let spec: RoutingSpec = serde_json::from_value(json!({ "kind": routing })).unwrap();
        let routing = spec.routing(&Network { fabric: &fabric }).unwrap();
        (fabric, routing)
    }

    /// 16 terminals, 4 a router: 3/4 of the packets of 4 terminals leave by 4 channels, or by 2 with oversubscription.
    #[test]
    fn uniform_traffic_by_hand() {
        for routing in ["d_mod_k", "s_mod_k", "random_up", "adaptive_up"] {
            for (parents, load) in [(4, 0.75), (2, 1.5), (1, 3.0)] {
                let (fabric, routing) = tree(&[4, 4], &[1, parents], routing);
                let found = uniform_saturation(&fabric, &routing, true);
                assert!((found.load_flits_per_cycle - 1.0 / load).abs() < 1e-12, "{routing:?} {parents}");
                let classes: Vec<&str> = found.classes.iter().map(|class| class.class.as_str()).collect();
                assert_eq!(classes, ["up1", "down1"]);
            }
        }
        // Three levels: 7/8 of 2 terminals leave by 2 channels, 3/4 of 4 terminals by 2 (copies) * 1.
        let (fabric, routing) = tree(&[2, 2, 4], &[1, 2, 1], "adaptive_up");
        let classes = uniform_saturation(&fabric, &routing, true).classes;
        let loads: Vec<f64> = classes.iter().map(|class| class.max_flits).collect();
        assert!(loads.iter().zip([0.875, 0.875, 1.5, 1.5]).all(|(a, b)| (a - b).abs() < 1e-12), "{loads:?}");
    }

    /// Four terminals of a router send to destinations with the same last digit: D-mod-k has one channel for them, any
    /// ancestor four.
    #[test]
    fn what_any_routing_needs_and_what_one_of_them_makes_of_it() {
        let busiest = |routing: &str| {
            let (fabric, routing) = tree(&[4, 4], &[1, 4], routing);
            let flows = [(0, 4), (1, 8), (2, 12), (3, 8)].map(|(from, to)| Flow::even((from, to, 1.0)));
            let loads = flow_loads(&fabric, &routing, flows).channels.classes;
            (loads[0].max_flits, loads[1].max_flits)
        };
        assert_eq!(busiest("d_mod_k"), (4.0, 2.0));
        assert_eq!(busiest("s_mod_k"), (1.0, 1.0));
        // All four leave one subtree by its four channels; two enter one by four.
        assert_eq!(busiest("adaptive_up"), (1.0, 0.5));
    }

    /// 4 ranks inside, 12 outside: 48 messages over 2 channels.
    #[test]
    fn an_all_to_all_needs_the_channels_around_a_subtree() {
        let (fabric, routing) = tree(&[4, 4], &[1, 2], "adaptive_up");
        let options = AllToAllOptions { message_flits: 5, sync: Sync::Async, nic_ports: 1 };
        let schedule = all_to_all("a2a", &Grid::mesh(&[16]), &options).unwrap();
        let placement = Placement::one_each(16);
        let limits = TerminalLimits::of_ports(1);
        let found = bound(&fabric, &routing, &schedule, &placement, &limits).unwrap();
        assert_eq!((found.bisection_cycles, found.channel_load_cycles), (Some(120.0), 120.0));
        assert_eq!(messages_of_the_cut(&fabric, &[0, 1, 2, 3]), Some(0.0));
    }
}
