//! Random programs of ranks, and the hosts that run them.

use super::hosts::{host, service};
use super::{Case, background, fitting, terminals};
use flitwork::collective::Sync;
use flitwork::schedule::{ANY, OpKind, PlacementRule, Schedule, ScheduleBuilder};
use flitwork::spec::{HostSpec, NetworkSpec, WorkloadSpec};
use proptest::prelude::*;

/// One entry of a random program.
#[derive(Debug, Clone)]
enum Step {
    /// A message between two ranks (taken modulo their number) and which earlier operations the send waits for.
    Message { from: u32, to: u32, size: u64, tag: u32, after: u8 },
    /// Computing of a rank.
    Compute { rank: u32, time: u64, after: u8 },
    /// A wait of a rank.
    Wait { rank: u32, after: u8 },
    /// Waiting of a rank for a time.
    Until { rank: u32, time: u64, after: u8 },
    /// A message whose receive, with a tag of its own, waits for operations too.
    Late { from: u32, to: u32, size: u64, after: (u8, u8) },
    /// A task of a rank.
    Task { rank: u32, time: u64, cpu: u8, after: u8 },
    /// Waiting for the start of the last operation of a rank, if that starts.
    Started { rank: u32 },
}

/// The longest message [flits].
pub const LONGEST: u64 = 20;

fn step() -> impl Strategy<Value = Step> {
    // Bit i: waits for the i-th last operation of the rank.
    let after = || prop_oneof![1 => Just(0u8), 2 => any::<u8>()];
    let rank = || 0..1000u32;
    prop_oneof![
        6 => (rank(), rank(), 1..=LONGEST, 0..3u32, after())
            .prop_map(|(from, to, size, tag, after)| Step::Message { from, to, size, tag, after }),
        1 => (rank(), 0..30u64, after()).prop_map(|(rank, time, after)| Step::Compute { rank, time, after }),
        1 => (rank(), after()).prop_map(|(rank, after)| Step::Wait { rank, after }),
        1 => (rank(), 0..300u64, after()).prop_map(|(rank, time, after)| Step::Until { rank, time, after }),
    ]
}

/// The same, and what does not go by program order.
fn free_step() -> impl Strategy<Value = Step> {
    let after = || prop_oneof![1 => Just(0u8), 2 => any::<u8>()];
    let rank = || 0..1000u32;
    prop_oneof![
        4 => step(),
        3 => (rank(), rank(), 1..=LONGEST, (after(), after()))
            .prop_map(|(from, to, size, after)| Step::Late { from, to, size, after }),
        3 => (rank(), 0..30u64, 0..3u8, after())
            .prop_map(|(rank, time, cpu, after)| Step::Task { rank, time, cpu, after }),
        2 => rank().prop_map(|rank| Step::Started { rank }),
    ]
}

/// The schedule of some steps: each rank's operations in their order. Nothing waits for what comes later, and the
/// receives of a rank leave open the same (bit 0 of its entry in `open`: the sender, bit 1: the tag), so it ends.
fn schedule_of(steps: &[Step], ranks: u32, open: &[u8]) -> Schedule {
    let mut programs: Vec<Vec<(OpKind, Vec<u32>)>> = vec![Vec::new(); ranks as usize];
    let mut add = |rank: u32, kind: OpKind, after: u8| {
        let program = &mut programs[rank as usize];
        let last = program.len() as u32;
        let starts = |kind: OpKind| matches!(kind, OpKind::Send { .. } | OpKind::Receive { .. } | OpKind::Task { .. });
        if kind == OpKind::Started && !program.last().is_some_and(|&(kind, _)| starts(kind)) {
            return;
        }
        let deps = (0..8).filter(|&i| after >> i & 1 == 1 && i < last).map(|i| last - 1 - i).collect();
        program.push((kind, deps));
    };
    for (number, step) in steps.iter().enumerate() {
        match *step {
            Step::Message { from, to, size, tag, after } => {
                let from = from % ranks;
                let to = (from + 1 + to % (ranks - 1)) % ranks;
                let open = open[to as usize % open.len()];
                let named = |bit: u8, value: u32| if open >> bit & 1 == 1 { ANY } else { value };
                add(from, OpKind::Send { to, size, tag }, after);
                add(to, OpKind::Receive { from: named(0, from), size: LONGEST, tag: named(1, tag) }, 0);
            }
            Step::Compute { rank, time, after } => add(rank % ranks, OpKind::Compute { time }, after),
            Step::Wait { rank, after } => add(rank % ranks, OpKind::Wait, after),
            Step::Until { rank, time, after } => add(rank % ranks, OpKind::WaitUntil { time }, after),
            Step::Late { from, to, size, after } => {
                let from = from % ranks;
                let to = (from + 1 + to % (ranks - 1)) % ranks;
                // Where senders or tags are left open it is posted at once: another receive could take its message.
                let (open, tag) = (open[to as usize % open.len()], 1000 + number as u32);
                let named = |bit: u8, value: u32| if open >> bit & 1 == 1 { ANY } else { value };
                add(from, OpKind::Send { to, size, tag }, after.0);
                let late = if open == 0 { after.1 } else { 0 };
                add(to, OpKind::Receive { from: named(0, from), size: LONGEST, tag: named(1, tag) }, late);
            }
            Step::Task { rank, time, cpu, after } => add(rank % ranks, OpKind::Task { time, cpu }, after),
            Step::Started { rank } => add(rank % ranks, OpKind::Started, 0),
        }
    }
    let mut builder = ScheduleBuilder::new("random");
    for program in &programs {
        for (step, (kind, deps)) in program.iter().enumerate() {
            builder.op(*kind, step as u32, deps);
        }
        builder.end_rank();
    }
    builder.build()
}

/// What runs a program: its hosts.
#[derive(Debug, Clone)]
pub struct Program {
    pub schedule: Schedule,
    pub host: HostSpec,
}

/// A network and programs for it, in the place of an all-to-all; some with a background.
pub fn program(network: impl Strategy<Value = NetworkSpec>) -> impl Strategy<Value = (Case, Program)> {
    let steps = prop_oneof![prop::collection::vec(step(), 1..80), prop::collection::vec(free_step(), 1..80)];
    let open = prop::collection::vec(prop_oneof![3 => Just(0u8), 2 => 0..4u8], 1..6);
    let places = prop::collection::vec(0..1000u32, 1..40);
    (network, (host(), steps, open, places), 1..=9u32, (background(0.1), service())).prop_map(
        |(mut network, (mut host, steps, mut open, places), packet, (background, service))| {
            if host.eager_limit_flits.is_some() && places[0] % 4 != 0 {
                // A later message may take the receive of an earlier one, whose rank waits for ever: always that would
                // be of little use.
                open = vec![0];
            }
            // Where there is a background, messages go one after the other.
            if background.is_none() {
                network.nic.service = service;
            }
            let n = terminals(&network) as u32;
            let ranks = n * host.ranks_per_terminal;
            if let PlacementRule::List { terminals } = &mut host.placement {
                *terminals = (0..ranks as usize).map(|r| places[r % places.len()] % n).collect();
            }
            let packet_flits = fitting(&network, packet);
            host.control_flits = host.control_flits.min(packet_flits);
            let (algorithm, sync) = ("a2a".to_string(), Sync::Async);
            let message_flits = Some(packet_flits);
            let workload = WorkloadSpec::AllToAll { algorithm, message_flits, message_bytes: None, packet_flits, sync };
            let background = background.map(|sent| sent.open_loop(&network));
            (Case { network, workload, background }, Program { schedule: schedule_of(&steps, ranks, &open), host })
        },
    )
}
