//! Ranks that ask what to do next and are answered by the clock: the kernel and the oracle put the same questions, each
//! at its own time.
//!
//! What a rank is told depends on the cycle in which it asks, so a rank that goes on a cycle too early or too late in
//! one of them does something else there.

use super::beside_kernel::{compare, of_schedule};
use super::random::{below, mix};
use super::{Beside, run_beside};
use flitwork::host::{Envelope, Task, TaskKind};
use flitwork::schedule::{ANY, OpId, OpKind};
use flitwork::spec::NetworkSpec;
use flitwork::{Pause, Plan, Simulation, Workload};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::rc::Rc;

/// What the rank `rank` does when it asks for the `turn`-th time, in cycle `now`, its next operation being number
/// `first`; with nothing it is at its end.
pub type Decide = Rc<dyn Fn(u32, u32, OpId, u64) -> Vec<(TaskKind, Vec<OpId>)>>;

const WATCHDOG: u64 = 500;

/// Ranks that exchange messages for so many turns. With whom, the turn says; how long messages are and how long a rank
/// computes, in which order it does so, for which of them, or any of which, it waits, whether it looks for its message
/// before it receives it, and whether and where it polls, the clock.
pub fn by_the_clock(ranks: u32, turns: u32, seed: u64) -> Decide {
    Rc::new(move |rank, turn, first, now| {
        if turn == turns || ranks < 2 {
            return vec![];
        }
        let distance = 1 + below(mix(seed ^ u64::from(turn)), u64::from(ranks) - 1) as u32;
        let bits = mix(mix(seed ^ now) ^ (u64::from(turn) << 32 | u64::from(rank)));
        let draw = |which: u64, most: u64| below(mix(bits ^ which), most);
        let from = if draw(0, 3) == 0 { ANY } else { (rank + ranks - distance) % ranks };
        // One message of each turn comes to a rank, so any sender will do.
        let mut kinds = [
            OpKind::Receive { from, size: 100, tag: turn },
            OpKind::Send { to: (rank + distance) % ranks, size: 1 + draw(1, 12), tag: turn },
            OpKind::Compute { time: draw(2, 15) },
        ];
        kinds.rotate_left(draw(3, 3) as usize);
        if draw(4, 4) == 0 {
            kinds.swap(0, 1);
        }
        let mut tasks: Vec<(TaskKind, Vec<OpId>)> =
            kinds.iter().map(|&kind| (TaskKind::Operation(kind), vec![])).collect();
        let place = |is: fn(&OpKind) -> bool| kinds.iter().position(is).expect("there is one");
        let receive = place(|kind| matches!(kind, OpKind::Receive { .. }));
        // Ranks that all look before they send would wait for each other.
        if place(|kind| matches!(kind, OpKind::Send { .. })) < receive && draw(7, 2) == 0 {
            let tag = if draw(8, 2) == 0 { ANY } else { turn };
            // Of any tag a message of a later turn could be found; that of this turn comes all the same.
            tasks.insert(receive, (TaskKind::Probe { from, tag }, vec![]));
        }
        if draw(20, 2) == 0 {
            let at = draw(21, tasks.len() as u64 + 1) as usize;
            tasks.insert(at, (TaskKind::Poll { cycles: draw(22, 40) }, vec![]));
        }
        let count = tasks.len() as OpId;
        // Waits for none, or some, of the operations of this turn, or for one of an earlier one.
        let mut after: Vec<OpId> =
            (first..first + count).filter(|op| draw(10 + u64::from(*op - first), 2) == 0).collect();
        if first > 0 && draw(5, 3) == 0 {
            after.push(draw(6, u64::from(first)) as OpId);
        }
        let any = !after.is_empty() && draw(9, 3) == 0;
        tasks.push((if any { TaskKind::WaitAny } else { TaskKind::Operation(OpKind::Wait) }, after));
        tasks
    })
}

/// Runs the ranks of a plan in the kernel and in the oracle and compares every packet.
pub fn check_driven(network: &NetworkSpec, plan: &Plan, decide: &Decide) -> Result<(), TestCaseError> {
    let failed = |error| TestCaseError::fail(format!("kernel: {error}"));
    let mut simulation = Simulation::new(plan).map_err(failed)?;
    let mut ranks = vec![(0, 0); plan.placement.terminal_of().len()];
    while simulation.advance(u64::MAX, &mut |_| true).map_err(failed)? == Pause::Request {
        let now = simulation.now();
        for rank in simulation.requests().collect::<Vec<_>>() {
            let (turn, first) = &mut ranks[rank as usize];
            let tasks = decide(rank, *turn, *first, now);
            *turn += 1;
            *first += tasks.len() as OpId;
            let task = |(kind, after)| Task { kind, envelope: Envelope::default(), after };
            simulation.supply(rank, tasks.into_iter().map(task).collect()).map_err(failed)?;
        }
    }
    let result = simulation.into_result();
    let Workload::Schedule { schedule, packet_flits } = &plan.workload else { panic!("ranks that ask") };
    let load = of_schedule(plan, schedule, *packet_flits, Some(Rc::clone(decide)));
    let end = result.completion_cycles + 100;
    let outcome = run_beside(network, &plan.fabric, plan.spec.run.seed, load, &Beside::default(), end, WATCHDOG);
    prop_assert_eq!(outcome.packets.len(), result.packet_records.len());
    compare(&result.packet_records, &outcome, u64::MAX)
}
