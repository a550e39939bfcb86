//! The routing of a plan: resolved, and free of deadlock.

use super::recent::Recent;
use super::{memory, needs_dateline};
use crate::error::{Error, Result};
use crate::routing::{
    self, AtSource, Buffers, Division, Finding, HopByHop, Limits, Network, RingClasses, Routing, RoutingSpec,
};
use crate::spec::{NetworkSpec, RunSpec, Switching, VcPolicy};
use crate::topology::Fabric;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Fills in what was left open, and checks every field.
pub(super) fn resolve(network: &mut NetworkSpec, fabric: &Fabric) -> Result<Routing> {
    let (made_for, rules) = (Network { fabric }, &network.router.compat);
    let spec = network.routing.get_or_insert_with(|| RoutingSpec::default_of(fabric));
    spec.resolve(&made_for)?;
    rules.check(spec, &made_for)?;
    rules.routing(spec, &made_for)
}

/// Refuses a routing without the virtual channels that it needs, and one that can deadlock.
/// `as_described`: the fabric is the one that the specification describes.
pub(super) fn check(
    network: &NetworkSpec,
    fabric: &Fabric,
    routing: &Routing,
    (run, as_described): (&RunSpec, bool),
) -> Result<()> {
    if let Routing::HopByHop(scheme) = routing {
        check_vcs(network, scheme.as_ref())?;
    }
    check_shared_middle(network, fabric, routing)?;
    check_opposite_class(network, fabric, routing)?;
    check_change_of_class(network, fabric, routing)?;
    let Some(spec) = &network.routing else { return Ok(()) };
    if !run.deadlock_check {
        return Ok(());
    }
    let described = if as_described { described(network) } else { None };
    if described.as_ref().is_some_and(|text| seen_free().get(text).is_some()) {
        return Ok(());
    }
    let buffers = match network.router.switching {
        Switching::VirtualCutThrough => Buffers::WholePackets,
        Switching::Wormhole if network.router.wait_for_tail_credit => Buffers::OnePacket,
        Switching::Wormhole => Buffers::Shared,
    };
    let verdict = |buffers| match routing {
        Routing::AtSource(routing) => at_source(network, fabric, routing, buffers),
        Routing::HopByHop(routing) => {
            hop_by_hop((network, spec), fabric, routing.as_ref(), buffers, memory::limit(run))
        }
    };
    let found = verdict(buffers);
    let kind = spec.kind();
    match found {
        Finding::Free => {
            if let Some(text) = described {
                seen_free().push(text, ());
            }
            Ok(())
        }
        Finding::Unknown => Err(fabric.too_large(
            format!("a smaller one: not every route of \"{kind}\" can be followed to see that none deadlocks"),
            "raise run.memory_limit_mb if it is set, or set run.deadlock_check = false: \
             the run itself still ends with an error in a deadlock",
        )),
        Finding::Cycle(cycle) => {
            let hint = format!("{}; {}", way_out(network, &verdict, buffers), in_words(&cycle));
            Err(Error::config("network.routing.kind", kind, "no cycle of channel dependencies", hint))
        }
    }
}

/// The verdict on routes that are decided at the source.
fn at_source(network: &NetworkSpec, fabric: &Fabric, routing: &AtSource, buffers: Buffers) -> Finding {
    // A VC of both classes joins them in one graph, unless whoever waits can ask for those of its own class alone:
    // these then are an escape network, and what depends on what through the middle VC is ahead of it in the same class
    // anyway.
    let joined = shares_middle(network) && buffers == Buffers::Shared;
    let classes = if needs_dateline(fabric) && !joined { RingClasses::of(routing) } else { RingClasses::One };
    let free = match (fabric.grid(), routing.order()) {
        (Some(grid), Some(order)) => routing::check_deadlock_free(grid, order, classes),
        _ => Ok(()),
    };
    free.map_or_else(Finding::Cycle, |()| Finding::Free)
}

/// The verdict on routes that are decided hop by hop: that on the network itself, if it is small enough.
fn hop_by_hop(
    (network, spec): (&NetworkSpec, &RoutingSpec),
    fabric: &Fabric,
    routing: &dyn HopByHop,
    buffers: Buffers,
    memory_bytes: u64,
) -> Finding {
    let rules = (buffers, shares_middle(network));
    let within = |places| Limits { memory_bytes, places };
    let mut smaller = (0..).map_while(|level| network.router.compat.representative(spec, &Network { fabric }, level));
    let mut next = smaller.next();
    let places = if next.is_some() { Limits::PLACES } else { Limits::MOST_PLACES };
    let mut found = routing::find_cycle_within(fabric, routing, rules, within(places));
    while let (Finding::Unknown, Some((small, routing))) = (&found, next) {
        found = routing::find_cycle_within(&small, routing.as_ref(), rules, within(Limits::MOST_PLACES));
        next = smaller.next();
    }
    found
}

/// A cycle, or a packet that gets nowhere.
fn in_words(cycle: &[String]) -> String {
    const MOST: usize = 5;
    match cycle {
        [one] if !one.starts_with("router") => one.clone(),
        _ if cycle.len() <= MOST => format!("these can wait for each other: {} -> {}", cycle.join(" -> "), cycle[0]),
        _ => {
            let (shown, left) = (cycle[..MOST - 1].join(" -> "), cycle.len() + 1 - MOST);
            format!("these can wait for each other: {shown} -> {left} more -> {}", cycle[0])
        }
    }
}

/// What keeps this routing free of deadlock on this network.
fn way_out(network: &NetworkSpec, verdict: &dyn Fn(Buffers) -> Finding, buffers: Buffers) -> String {
    let free = |other: Buffers| buffers != other && verdict(other) == Finding::Free;
    let mut remedies = Vec::new();
    if buffers != Buffers::WholePackets && free(Buffers::WholePackets) {
        remedies.push("network.router.switching = \"virtual_cut_through\" with buffers of a whole packet".to_string());
    }
    if buffers == Buffers::Shared && free(Buffers::OnePacket) {
        remedies.push("network.router.wait_for_tail_credit = true".to_string());
    }
    if shares_middle(network) {
        remedies.push("an even number of network.router.vcs".to_string());
    }
    if remedies.is_empty() { "use another routing".to_string() } else { format!("use {}", remedies.join(", or ")) }
}

/// The descriptions of networks on which no cycle was found: the points of a sweep share a few networks, and to follow
/// all routes of one takes longer than all else in a plan.
static FREE: Mutex<Recent<()>> = Mutex::new(Recent::new(32));

fn seen_free() -> MutexGuard<'static, Recent<()>> {
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All that the search for cycles depends on, as text.
fn described(network: &NetworkSpec) -> Option<String> {
    serde_json::to_string(&(&network.topology, &network.without, &network.routing, &network.router)).ok()
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

/// Refuses rules of classes that are fixed at the source where packets change class at the dateline.
fn check_change_of_class(network: &NetworkSpec, fabric: &Fabric, routing: &Routing) -> Result<()> {
    if !routing.at_source().is_some_and(AtSource::changes_at_datelines) || !needs_dateline(fabric) {
        return Ok(());
    }
    let router = &network.router;
    let hint = "use network.routing.classes = \"entered\"";
    if router.vc_policy.assigns_one_vc() {
        let expected = "dateline: with classes = \"at_dateline\" the class of a packet changes on its way";
        return Err(Error::config("network.router.vc_policy", router.vc_policy.name(), expected, hint));
    }
    let rules = [
        ("network.router.compat.shared_middle_vc", router.compat.shared_middle_vc),
        ("network.router.compat.opposite_minus_class", router.compat.opposite_minus_class),
    ];
    match rules.iter().find(|(_, on)| *on) {
        None => Ok(()),
        Some((path, _)) => {
            let expected = "false: with classes = \"at_dateline\" the class of a packet changes on its way";
            Err(Error::config(*path, true, expected, hint))
        }
    }
}

fn check_vcs(network: &NetworkSpec, scheme: &dyn HopByHop) -> Result<()> {
    let router = &network.router;
    let policy = router.vc_policy;
    if policy.assigns_one_vc() && scheme.division() != Division::Equal(1) {
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
