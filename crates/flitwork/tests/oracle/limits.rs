//! What no run may beat: lower bounds of times, one flit a cycle on every channel, what an open loop can accept.

use flitwork::bound::{Bound, Flow, accepted_load};
use flitwork::measure::{PacketRecord, SimulationResult};
use flitwork::routing::Tie;
use flitwork::traffic::{Destinations, Drawn, Packets};
use flitwork::{Plan, PlanBound, Workload, plan_bound};
use std::collections::BTreeMap;

/// What rounding may make of sums.
const ROUNDING: f64 = 1.0 + 1e-9;

/// Whether a result beats none of the limits of its plan. Of an open loop it must have the records of its packets.
pub fn check_limits(plan: &Plan, result: &SimulationResult) -> Result<(), String> {
    check_channels(plan, result)?;
    match plan_bound(plan).map_err(|error| error.to_string())? {
        PlanBound::Completion(bound) => check_time(&bound, result.completion_cycles),
        PlanBound::Saturation { accepted_load_flits_per_cycle, .. } => {
            check_accepted(plan, result, accepted_load_flits_per_cycle)
        }
    }
}

fn check_time(bound: &Bound, cycles: u64) -> Result<(), String> {
    let operation = bound.operation.map_or(0.0, |operation| operation.cycles);
    if bound.tightest_cycles.max(operation) <= cycles as f64 * ROUNDING {
        return Ok(());
    }
    Err(format!("{cycles} cycles, but {bound:?}"))
}

/// No channel carries more than a flit a cycle in any window, a slow one less.
fn check_channels(plan: &Plan, result: &SimulationResult) -> Result<(), String> {
    let Some(windows) = &result.channel_windows else { return Ok(()) };
    let channels: Vec<(u32, usize)> = plan.fabric.channels().collect();
    for (window, flits) in windows.flits.chunks(channels.len().max(1)).enumerate() {
        for (&flits, &(router, port)) in flits.iter().zip(&channels) {
            let most = windows.window_cycles.div_ceil(plan.fabric.cycles_per_flit(router, port).into());
            if u64::from(flits) > most {
                let name = plan.fabric.channel_name(router, port);
                return Err(format!("{name}: {flits} flits in window {window} of {} cycles", windows.window_cycles));
            }
        }
    }
    Ok(())
}

/// What is accepted in the measurement has crossed its channels in it, but for what was in the network at its
/// beginning.
fn check_accepted(plan: &Plan, result: &SimulationResult, limit: f64) -> Result<(), String> {
    let window = plan.spec.run.fixed_window();
    let cycles = (window.end - window.start) as f64;
    let terminals = f64::from(plan.fabric.terminals());
    let records: Vec<PacketRecord> = result.packet_records.iter().filter(|r| !r.background).copied().collect();
    // Flits of a packet that can have been in the network before a cycle: an injection port sends one a cycle.
    let sent_before = |cycle: u64, r: &PacketRecord| u64::from(r.flits).min(cycle.saturating_sub(r.injected));
    let early = records.iter().filter(|r| r.injected < window.start && r.arrived >= window.start);
    let (limit, beside) = match known_flows(plan) {
        true => (limit, early.map(|r| sent_before(window.start, r)).sum::<u64>()),
        false => {
            let whole = |r: &PacketRecord| window.contains(&r.injected) && r.arrived < window.end;
            let late = records.iter().filter(|r| window.contains(&r.injected) && r.arrived >= window.end);
            let partly = early.map(|r| u64::from(r.flits)).chain(late.map(|r| sent_before(window.end, r))).sum();
            let Some(flows) = flows(plan, records.iter().filter(|r| whole(r))) else { return Ok(()) };
            (accepted_load(&plan.fabric, &plan.routing, &flows, plan.params.nic_ports as u32), partly)
        }
    };
    // A slow channel carries its first flit in one cycle.
    let slowest = plan.fabric.channels().map(|(r, p)| plan.fabric.cycles_per_flit(r, p)).max().unwrap_or(1);
    let most = limit * (1.0 + f64::from(slowest - 1) / cycles) + beside as f64 / (terminals * cycles);
    if result.accepted_load <= most * ROUNDING {
        return Ok(());
    }
    Err(format!("accepted {}, at most {limit} and {beside} flits that were there: {most}", result.accepted_load))
}

/// Whether the flows follow from the plan, rather than from what is drawn.
fn known_flows(plan: &Plan) -> bool {
    let Workload::OpenLoop(traffic) = &plan.workload else { return false };
    let fixed = matches!(&traffic.packets, Packets::Drawn(Drawn { destinations: Destinations::Fixed(_), .. }));
    fixed && !plan.routing.fixed_order().is_some_and(|order| order.tie != Tie::Plus && order.tie != Tie::Parity)
}

/// What packets have sent where, and by which side of a tie: of each source as shares. `None` where a packet went by
/// different sides of two ties.
fn flows<'r>(plan: &Plan, records: impl Iterator<Item = &'r PacketRecord>) -> Option<Vec<Flow>> {
    let mut sent: BTreeMap<(u32, u32), (f64, f64)> = BTreeMap::new();
    let mut by_source: BTreeMap<u32, f64> = BTreeMap::new();
    for r in records {
        let sides = plan.routing.fixed_order().zip(plan.fabric.grid()).map(|(order, grid)| {
            let [from, to] = [r.src, r.dst].map(|terminal| grid.coords(plan.fabric.router_of(terminal)));
            [0, u8::MAX].map(|bits| order.header(grid, &from, &to, bits).minus)
        });
        let zeros = sides.is_none_or(|sides| r.minus == sides[0]);
        if !zeros && sides.is_some_and(|sides| r.minus != sides[1]) {
            return None;
        }
        let flits = f64::from(r.flits);
        let flow = sent.entry((r.src, r.dst)).or_default();
        *flow = (flow.0 + flits, flow.1 + if zeros { flits } else { 0.0 });
        *by_source.entry(r.src).or_default() += flits;
    }
    let flow = |((from, to), (flits, plus)): ((u32, u32), (f64, f64))| {
        let all = by_source[&from];
        Flow { from, to, flits: flits / all, plus_flits: plus / all }
    };
    Some(sent.into_iter().map(flow).collect())
}
