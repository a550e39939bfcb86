//! The routing of a plan: resolved, and free of deadlock.

use super::{MAX_VCS, needs_dateline};
use crate::error::{Error, Result};
use crate::routing::{
    self, Buffers, CrossLine, Crossings, DimensionOrder, Division, Duato, Finding, Intermediate, MinAdapt, O1Turn,
    Routing, Scheme, Selection, Tie, TwoPhase,
};
use crate::spec::{DatelineClasses, NetworkSpec, RoutingSpec, Switching, VcPolicy};
use crate::topology::Grid;
use std::sync::Arc;

/// Most cycles that news may take for a hop.
const MAX_NEWS_DELAY: u32 = 16;

/// Whether a routing is plain dimension order, with classes fixed on entering a ring.
pub(super) fn is_plain(spec: &RoutingSpec) -> bool {
    matches!(spec, RoutingSpec::DimensionOrder { classes: DatelineClasses::Entered, .. })
}

/// Fills in the order of dimensions and checks every field.
pub(super) fn resolve(network: &mut NetworkSpec, grid: &Grid) -> Result<Routing> {
    let spec = &mut network.routing;
    let plain = is_plain(spec);
    let (order, tie) = spec.order_and_tie();
    let tie = *tie;
    if let Some(order) = order {
        resolve_order(order, grid)?;
    }
    if tie == Tie::Split && !plain {
        return Err(Error::config(
            "network.routing.tie",
            "split",
            "plus, parity or random",
            "only plain dimension order cuts packets in two",
        ));
    }
    check_numbers(spec)?;
    if let RoutingSpec::MinAdapt { adaptive_vcs, .. } = spec {
        check_adaptive_vcs(adaptive_vcs, grid)?;
    }
    if plain {
        return Ok(Routing::DimensionOrder(dimension_order(spec, grid)));
    }
    Ok(Routing::Scheme(scheme(network, grid)))
}

fn resolve_order(order: &mut Vec<usize>, grid: &Grid) -> Result<()> {
    if order.is_empty() {
        *order = (0..grid.dims()).collect();
    }
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if sorted != (0..grid.dims()).collect::<Vec<_>>() {
        let expected = format!("each of 0 to {} once", grid.dims() - 1);
        return Err(Error::config("network.routing.order", format!("{order:?}"), expected, ""));
    }
    Ok(())
}

fn check_numbers(spec: &RoutingSpec) -> Result<()> {
    match spec {
        RoutingSpec::DuatoMisrouting { misroutes, selection, .. } => {
            if !(1..=255).contains(misroutes) {
                let hint = "use kind = \"duato\" for minimal routing";
                return Err(Error::config("network.routing.misroutes", misroutes, "1 to 255 hops", hint));
            }
            if *selection == Selection::All {
                let expected = "most_credits, random or round_robin";
                return Err(Error::config("network.routing.selection", "all", expected, "a detour is a last resort"));
            }
            Ok(())
        }
        RoutingSpec::CrossLine { news_delay_cycles, .. } if *news_delay_cycles > MAX_NEWS_DELAY => {
            let expected = format!("0 to {MAX_NEWS_DELAY} cycles");
            Err(Error::config("network.routing.news_delay_cycles", news_delay_cycles, expected, ""))
        }
        _ => Ok(()),
    }
}

/// They are a range above the escape channels. Whether a port has so many is a question of the number of VCs.
fn check_adaptive_vcs(vcs: &[u32], grid: &Grid) -> Result<()> {
    let escapes = if needs_dateline(grid) { 2 } else { 1 };
    let follow = vcs.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
    if follow && vcs.iter().all(|v| (escapes..MAX_VCS).contains(v)) {
        return Ok(());
    }
    let expected = format!("numbers from {escapes} to {} that follow each other", MAX_VCS - 1);
    let hint = "the escape channels have the lowest numbers";
    Err(Error::config("network.routing.adaptive_vcs", format!("{vcs:?}"), expected, hint))
}

fn dimension_order(spec: &RoutingSpec, grid: &Grid) -> DimensionOrder {
    let mut spec = spec.clone();
    let (order, tie) = spec.order_and_tie();
    let tie = *tie;
    let order = order.filter(|o| !o.is_empty()).map_or_else(|| (0..grid.dims()).collect(), |o| o.clone());
    DimensionOrder { order, tie }
}

/// The scheme of a resolved specification for a grid.
fn scheme(network: &NetworkSpec, grid: &Grid) -> Arc<dyn Scheme> {
    let (spec, shared) = (&network.routing, network.router.shared_middle_vc);
    let order = dimension_order(spec, grid);
    let two_phase = |order: DimensionOrder, intermediate: Intermediate| {
        let scheme = TwoPhase::new(grid, order, intermediate);
        if shared { scheme.with_shared_middle() } else { scheme }
    };
    match spec {
        RoutingSpec::DimensionOrder { .. } => Arc::new(Crossings::new(grid, order)),
        RoutingSpec::Duato { selection, .. } => Arc::new(Duato::new(grid, order, *selection, 0, 0)),
        RoutingSpec::DuatoMisrouting { selection, misroutes, patience_cycles, .. } => {
            Arc::new(Duato::new(grid, order, *selection, *misroutes as u8, *patience_cycles))
        }
        RoutingSpec::CrossLine { information, news_delay_cycles, .. } => {
            Arc::new(CrossLine::new(grid, order, *information, *news_delay_cycles))
        }
        RoutingSpec::Valiant { .. } => Arc::new(two_phase(order, Intermediate::Anywhere)),
        RoutingSpec::Romm { .. } => Arc::new(two_phase(order, Intermediate::OnTheWay)),
        RoutingSpec::MinAdapt { selection, productive, adaptive_vcs, adaptive_tie, .. } => {
            Arc::new(MinAdapt::new(grid, order, *selection, *productive).with_adaptive(adaptive_vcs, *adaptive_tie))
        }
        RoutingSpec::O1Turn { .. } if shared => Arc::new(O1Turn::new(grid, order).with_shared_middle()),
        RoutingSpec::O1Turn { .. } => Arc::new(O1Turn::new(grid, order)),
    }
}

/// Refuses a routing without the virtual channels that it needs, and one that can deadlock.
pub(super) fn check(network: &NetworkSpec, grid: &Grid, routing: &Routing, deadlock_check: bool) -> Result<()> {
    if let Routing::Scheme(scheme) = routing {
        check_vcs(network, scheme.as_ref())?;
    }
    check_shared_middle(network, grid, routing)?;
    if !deadlock_check {
        return Ok(());
    }
    let buffers = match network.router.switching {
        Switching::VirtualCutThrough => Buffers::WholePackets,
        Switching::Wormhole if network.router.wait_for_tail_credit => Buffers::OnePacket,
        Switching::Wormhole => Buffers::Shared,
    };
    let found = match routing {
        Routing::DimensionOrder(order) => {
            // A VC of both classes joins them in one graph, unless whoever waits can ask for those of its own class alone: these then are
            // an escape network, and what depends on what by way of the middle VC is ahead of it in the same class anyway.
            let joined = shares_middle(network) && buffers == Buffers::Shared;
            let classes = if needs_dateline(grid) && !joined { 2 } else { 1 };
            let free = routing::check_deadlock_free(grid, order, classes);
            free.map_or_else(Finding::Cycle, |()| Finding::Free)
        }
        Routing::Scheme(_) => {
            let shares = shares_middle(network);
            routing::find_cycle(grid, |small| self::scheme(network, small), buffers, shares)
        }
    };
    let kind = serde_json::to_value(&network.routing).map(|v| v["kind"].to_string()).unwrap_or_default();
    match found {
        Finding::Free => Ok(()),
        Finding::Unknown => Err(Error::config(
            "network.topology.size",
            format!("{:?}", grid.sizes()),
            format!(
                "fewer dimensions: with so many, not every way of {kind} can be followed to see that none deadlocks"
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
                kind.trim_matches('"'),
                "no cycle of channel dependencies",
                format!(
                    "these can wait for each other: {}; under wormhole switching try virtual_cut_through, or wait_for_tail_credit",
                    cycle.join(" -> ")
                ),
            ))
        }
    }
}

/// Whether there is a VC of both halves.
fn shares_middle(network: &NetworkSpec) -> bool {
    network.router.shared_middle_vc && network.router.vcs % 2 == 1
}

fn check_shared_middle(network: &NetworkSpec, grid: &Grid, routing: &Routing) -> Result<()> {
    let halves = match routing {
        Routing::DimensionOrder(_) => needs_dateline(grid) && network.router.vc_policy == VcPolicy::Dateline,
        Routing::Scheme(scheme) => scheme.division() == Division::Overlapping,
    };
    if halves || !network.router.shared_middle_vc {
        return Ok(());
    }
    Err(Error::config(
        "network.router.shared_middle_vc",
        true,
        "false: here the virtual channels are not divided into two halves that could share one",
        "dimension_order has two halves where a dimension wraps; valiant, romm and o1turn where none does",
    ))
}

fn check_vcs(network: &NetworkSpec, scheme: &dyn Scheme) -> Result<()> {
    let router = &network.router;
    if router.vc_policy != VcPolicy::Dateline {
        return Err(Error::config(
            "network.router.vc_policy",
            "destination",
            "dateline: this routing divides the virtual channels itself",
            "use plain dimension order",
        ));
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
