//! Random buses, and programs some of whose messages go over them.

use flitwork::schedule::{OpKind, Schedule, ScheduleBuilder, Via};
use flitwork::spec::BusSpec;
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

/// The same schedule with some of its messages on the bus, by the bits of `chosen` in turn; where it can be, in the transfer of the
/// message before.
pub fn on_bus(schedule: &Schedule, chosen: &[u8]) -> Schedule {
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
            may_join &= !matches!(op.kind, OpKind::Wait | OpKind::Compute { .. });
            builder.op_via(op.kind, via, op.step, &after);
        }
        builder.end_rank();
    }
    builder.build()
}
