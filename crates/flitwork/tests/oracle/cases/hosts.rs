//! Random hosts and NICs: detours, messages that take turns, rendezvous, placements.

use super::programs::LONGEST;
use flitwork::schedule::{DetourColumns, Detours, LateSends, PlacementRule, SendQueue};
use flitwork::spec::{HostSpec, NoisePhase, NoiseSpec, QueuePairs, ServiceOrder, ServiceSpec};
use flitwork::traffic::{Attached, Table};
use proptest::prelude::*;
use std::sync::Arc;

/// Detours of every kind; in a file those of the first ranks.
fn noise() -> impl Strategy<Value = NoiseSpec> {
    let periodic = (2..60u64, any::<u64>(), any::<bool>(), any::<u64>()).prop_map(|(period, duration, same, phase)| {
        let phase_cycles = if same { phase % period } else { 0 };
        let phase = if same { NoisePhase::Same } else { NoisePhase::Random };
        // Half of the time at most, so that programs end.
        let duration_cycles = 1 + duration % (period / 2);
        NoiseSpec::Periodic { period_cycles: period, duration_cycles, phase, phase_cycles }
    });
    let drawn = (1..60u64, 1..30u64, any::<bool>()).prop_map(|(mean_interval_cycles, length, fixed)| {
        let (fixed, mean) = if fixed { (Some(length), None) } else { (None, Some(length)) };
        NoiseSpec::Exponential { mean_interval_cycles, duration_cycles: fixed, mean_duration_cycles: mean }
    });
    let rows = prop::collection::vec((0..2i64, 0..200i64, 1..50i64), 1..20).prop_map(|rows| {
        let column = |of: fn(&(i64, i64, i64)) -> i64| rows.iter().map(of).collect::<Vec<_>>();
        let (rank, start, duration) = (column(|r| r.0), column(|r| r.1), column(|r| r.2));
        let columns = DetourColumns { rank: &rank, start: &start, duration: &duration };
        let detours = Attached::new(Table::Detours(Arc::new(Detours::new(&columns).expect("detours"))));
        NoiseSpec::File { detours, file: String::new() }
    });
    prop_oneof![2 => periodic, 2 => drawn, 1 => rows]
}

/// Messages that take turns, more often than not.
pub(super) fn service() -> impl Strategy<Value = ServiceSpec> {
    let order = prop_oneof![Just(ServiceOrder::RoundRobin), Just(ServiceOrder::Random)];
    let pairs = prop_oneof![Just(QueuePairs::Message), Just(QueuePairs::Peer)];
    let most = prop_oneof![1 => Just(0), 2 => 1..4u32];
    let burst = prop_oneof![2 => Just(1), 1 => 2..5u32];
    let cycles = || prop_oneof![1 => Just(0), 1 => 1..40u32];
    let turns = (order, pairs, most, burst, (cycles(), cycles())).prop_map(
        |(order, queue_pairs, active_queue_pairs, burst_packets, (overhead, jitter))| ServiceSpec {
            order,
            queue_pairs,
            active_queue_pairs,
            burst_packets,
            message_overhead_cycles: overhead,
            start_jitter_cycles: jitter,
        },
    );
    prop_oneof![2 => Just(ServiceSpec::default()), 3 => turns]
}

/// What ranks share and how they send.
pub(super) fn host() -> impl Strategy<Value = HostSpec> {
    let queue = prop_oneof![Just(SendQueue::ProgramOrder), Just(SendQueue::AsReady)];
    let rule = prop_oneof![
        2 => Just(PlacementRule::Block),
        1 => Just(PlacementRule::RoundRobin),
        1 => Just(PlacementRule::List { terminals: Vec::new() }),
    ];
    let each = prop_oneof![2 => Just(1u32), 1 => 2..=3u32];
    let noise = prop::option::weighted(0.3, noise());
    let rendezvous = prop::option::weighted(0.3, (0..LONGEST, 1..=3u32));
    let rate = |weight: f64| {
        let fraction = (1..9u32, 1..9u32).prop_map(|(flits, cycles)| f64::from(flits) / f64::from(cycles));
        prop::option::weighted(weight, fraction)
    };
    let rates = (rate(0.4), rate(0.3));
    let late = prop_oneof![
        1 => Just((LateSends::Send, 0)),
        1 => (0..4u32).prop_map(|tolerance| (LateSends::Keep, tolerance)),
    ];
    (queue, rule, each, noise, rendezvous, rates, late).prop_map(
        |(send_queue, placement, ranks_per_terminal, noise, rendezvous, (copies, reads), late)| HostSpec {
            send_queue,
            late_sends: late.0,
            late_tolerance_cycles: late.1,
            placement,
            ranks_per_terminal,
            noise,
            copy_flits_per_cycle: copies,
            read_flits_per_cycle: reads,
            eager_limit_flits: rendezvous.map(|(limit, _)| limit),
            control_flits: rendezvous.map_or(1, |(_, control)| control),
            ..HostSpec::default()
        },
    )
}
