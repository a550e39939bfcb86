//! The routing of a plan: resolved, and free of deadlock.

use super::needs_dateline;
use crate::error::{Error, Result};
use crate::routing::{self, Buffers, Division, Finding, HopByHop, Network, Routing, RoutingSpec};
use crate::spec::{NetworkSpec, Switching, VcPolicy};
use crate::topology::Fabric;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Fills in what was left open, and checks every field.
pub(super) fn resolve(network: &mut NetworkSpec, fabric: &Fabric) -> Result<Routing> {
    let (made_for, rules) = (Network { fabric }, &network.router.compat);
    let spec = network.routing.get_or_insert_with(|| RoutingSpec::default_of(fabric));
    spec.resolve(&made_for)?;
    rules.check(spec, &made_for)?;
    Ok(rules.routing(spec, &made_for))
}

/// Refuses a routing without the virtual channels that it needs, and one that can deadlock.
/// `as_described`: the fabric is the one that the specification describes.
pub(super) fn check(
    network: &NetworkSpec,
    fabric: &Fabric,
    routing: &Routing,
    (deadlock_check, as_described): (bool, bool),
) -> Result<()> {
    if let Routing::HopByHop(scheme) = routing {
        check_vcs(network, scheme.as_ref())?;
    }
    check_shared_middle(network, fabric, routing)?;
    check_opposite_class(network, fabric, routing)?;
    let Some(spec) = &network.routing else { return Ok(()) };
    if !deadlock_check {
        return Ok(());
    }
    let described = if as_described { described(network, fabric) } else { None };
    if described.as_ref().is_some_and(|text| seen_free().contains(text)) {
        return Ok(());
    }
    let buffers = match network.router.switching {
        Switching::VirtualCutThrough => Buffers::WholePackets,
        Switching::Wormhole if network.router.wait_for_tail_credit => Buffers::OnePacket,
        Switching::Wormhole => Buffers::Shared,
    };
    let found = match routing {
        Routing::AtSource(at_source) => {
            // A VC of both classes joins them in one graph, unless whoever waits can ask for those of its own class alone: these then are
            // an escape network, and what depends on what through the middle VC is ahead of it in the same class anyway.
            let joined = shares_middle(network) && buffers == Buffers::Shared;
            let classes = if needs_dateline(fabric) && !joined { 2 } else { 1 };
            let free = match (fabric.grid(), at_source.order()) {
                (Some(grid), Some(order)) => routing::check_deadlock_free(grid, order, classes),
                _ => Ok(()),
            };
            free.map_or_else(Finding::Cycle, |()| Finding::Free)
        }
        Routing::HopByHop(routing) => {
            let shares = shares_middle(network);
            match network.router.compat.representative(spec, &Network { fabric }) {
                Some((small, routing)) => routing::find_cycle(&small, routing.as_ref(), buffers, shares),
                None => routing::find_cycle(fabric, routing.as_ref(), buffers, shares),
            }
        }
    };
    let kind = spec.kind();
    match found {
        Finding::Free => {
            if let Some(text) = described {
                seen_free().push(text);
            }
            Ok(())
        }
        Finding::Unknown => Err(fabric.too_large(
            format!(
                "fewer dimensions: with so many, not every route of \"{kind}\" can be followed to see that none deadlocks"
            ),
            "set run.deadlock_check = false: the run itself still ends with an error in a deadlock",
        )),
        Finding::Cycle(mut cycle) => {
            // A ring that is shown as one; a packet that gets nowhere is a text of its own.
            if cycle[0].starts_with("router") {
                cycle.push(cycle[0].clone());
            }
            Err(Error::config(
                "network.routing.kind",
                kind,
                "no cycle of channel dependencies",
                format!(
                    "these can wait for each other: {}; under wormhole switching try virtual_cut_through, or wait_for_tail_credit",
                    cycle.join(" -> ")
                ),
            ))
        }
    }
}

/// The descriptions of grids on which no cycle was found: the points of a sweep share a few networks, and to follow all routes
/// of one takes longer than all else in a plan.
static FREE: Mutex<SeenFree> = Mutex::new(SeenFree(VecDeque::new()));

/// The last descriptions, the newest at the end.
struct SeenFree(VecDeque<String>);

impl SeenFree {
    const MOST: usize = 32;

    fn contains(&self, text: &String) -> bool {
        self.0.contains(text)
    }

    fn push(&mut self, text: String) {
        if self.0.len() == Self::MOST {
            self.0.pop_front();
        }
        self.0.push_back(text);
    }
}

fn seen_free() -> MutexGuard<'static, SeenFree> {
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All that the search for cycles depends on, as text. Grids alone: their specification is the whole of them.
fn described(network: &NetworkSpec, fabric: &Fabric) -> Option<String> {
    fabric.grid()?;
    serde_json::to_string(&(&network.topology, &network.routing, &network.router)).ok()
}

/// Whether there is a VC of both halves.
fn shares_middle(network: &NetworkSpec) -> bool {
    network.router.compat.shared_middle_vc && network.router.vcs % 2 == 1
}

fn check_shared_middle(network: &NetworkSpec, fabric: &Fabric, routing: &Routing) -> Result<()> {
    let halves = match routing {
        Routing::AtSource(_) => needs_dateline(fabric) && network.router.vc_policy == VcPolicy::Dateline,
        Routing::HopByHop(scheme) => scheme.division() == Division::Overlapping,
    };
    if halves || !network.router.compat.shared_middle_vc {
        return Ok(());
    }
    Err(Error::config(
        "network.router.compat.shared_middle_vc",
        true,
        "false: here the virtual channels are not divided into two halves that could share one",
        "dimension_order has two halves where a dimension wraps; valiant, romm and o1turn where none does",
    ))
}

fn check_opposite_class(network: &NetworkSpec, fabric: &Fabric, routing: &Routing) -> Result<()> {
    let plain = routing.at_source().is_some() && needs_dateline(fabric);
    if plain || !network.router.compat.opposite_minus_class {
        return Ok(());
    }
    let expected = "false: here packets have no dateline class that is fixed at the source";
    let hint = "plain dimension_order has it where a dimension wraps";
    Err(Error::config("network.router.compat.opposite_minus_class", true, expected, hint))
}

fn check_vcs(network: &NetworkSpec, scheme: &dyn HopByHop) -> Result<()> {
    let router = &network.router;
    let policy = router.vc_policy;
    if policy.gives_one_vc() && scheme.division() != Division::Equal(1) {
        let expected = "dateline: this routing divides the virtual channels itself";
        return Err(Error::config("network.router.vc_policy", policy.name(), expected, "use plain dimension order"));
    }
    if policy == VcPolicy::VirtualOutputQueues && !scheme.is_fixed() {
        let expected = "another policy: this routing does not know the next output port before a packet is there";
        let hint = "use a routing with one path between two routers";
        return Err(Error::config("network.router.vc_policy", policy.name(), expected, hint));
    }
    let least = scheme.division().least_vcs();
    if router.vcs < least {
        return Err(Error::config(
            "network.router.vcs",
            router.vcs,
            format!("at least {least}: the sets of virtual channels of this routing on this network"),
            format!("set vcs = {least}"),
        ));
    }
    Ok(())
}
