//! Random buses, and programs some of whose messages go over them.

use flitwork::schedule::{OpKind, Schedule, ScheduleBuilder, Via};
use flitwork::spec::{BarrierTreeSpec, BusSpec};
use proptest::prelude::*;

/// A bus that is faster or slower than a channel.
pub fn bus() -> impl Strategy<Value = BusSpec> {
    let rate = prop_oneof![
        (1..=4u32).prop_map(f64::from),
        (1..=7u32, 2..=9u32).prop_map(|(a, b)| f64::from(a) / f64::from(b))
    ];
    let delay = || prop_oneof![2 => Just(0), 1 => 1..=9u32];
    (rate, delay(), delay()).prop_map(|(flits_per_cycle, arbitration_cycles, latency_cycles)| BusSpec {
        flits_per_cycle,
        arbitration_cycles,
        latency_cycles,
        operations: Vec::new(),
    })
}

/// Wires for barriers, perhaps.
pub fn tree() -> impl Strategy<Value = Option<BarrierTreeSpec>> {
    prop_oneof![1 => Just(None), 2 => (1..=9u32).prop_map(|hop_cycles| Some(BarrierTreeSpec { hop_cycles }))]
}

/// The same schedule with some of its messages on the bus, by the bits of `chosen` in turn; where it can be, in the
/// transfer of the message before. With `tree` some go over the barrier tree, as one flit.
pub fn on_bus(schedule: &Schedule, chosen: &[u8], tree: bool) -> Schedule {
    let mut builder = ScheduleBuilder::new("random, some by bus");
    let mut number = 0;
    for rank in 0..schedule.ranks() {
        let mut may_join = false;
        for op in schedule.operations(rank) {
            let after: Vec<u32> = op.after.iter().collect();
            let via = match op.kind {
                OpKind::Send { .. } => {
                    number += 1;
                    let bits = chosen[number % chosen.len()];
                    match bits & 3 {
                        0 if tree && bits & 4 != 0 => Via::Tree,
                        0 => Via::Network,
                        1 => Via::Bus,
                        _ if !may_join || !after.is_empty() => Via::Bus,
                        2 => Via::BusNext,
                        _ => Via::BusSame,
                    }
                }
                _ => Via::Network,
            };
            may_join |= via.is_bus();
            may_join &= !matches!(op.kind, OpKind::Wait | OpKind::WaitUntil { .. } | OpKind::Compute { .. });
            let kind = match op.kind {
                OpKind::Send { to, tag, .. } if via.is_tree() => OpKind::Send { to, size: 1, tag },
                kind => kind,
            };
            builder.op_via(kind, via, op.step, &after);
        }
        builder.end_rank();
    }
    builder.build()
}
