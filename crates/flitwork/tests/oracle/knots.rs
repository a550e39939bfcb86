//! Deadlocks of a part of a network, and of all of it: what the kernel says of them, against what happens in the
//! oracle.

use super::beside_kernel::{WATCHDOG, trace};
use super::cases::Case;
use super::random::mix;
use super::{Beside, Load, Outcome, run_beside};
use flitwork::measure::KernelName;
use flitwork::routing::ShortestPathOptions;
use flitwork::spec::{NetworkSpec, RoutingSpec, Switching, Threads, VcPolicy};
use flitwork::{Error, Plan, simulate};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

/// Cycles in which a case of these tests arrives or stands still.
const MOST: u64 = 30_000;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Arrived,
    /// Some packets could never move again while others did.
    PartlyStuck,
    AllStuck,
}

/// Takes out of a network some of what keeps it free of deadlock.
pub fn endanger(case: &mut Case, bits: u64) {
    let NetworkSpec { routing, router, .. } = &mut case.network;
    router.compat.shared_middle_vc |= bits & 1 == 1;
    if bits & 6 != 0 {
        (router.switching, router.wait_for_tail_credit, router.hold_switch_until_tail) =
            (Switching::Wormhole, false, false);
    }
    if router.switching == Switching::Wormhole {
        router.buffer_flits = router.buffer_flits.min(1 + (bits >> 4 & 3) as u32);
    }
    if bits & 24 != 0 && router.vc_policy == VcPolicy::Dateline {
        *routing = Some(RoutingSpec::ShortestPath(ShortestPathOptions::default()));
        router.vcs = router.vcs.min(1 + (bits >> 8 & 1) as u32);
        router.compat.shared_middle_vc = false;
    }
}

/// Whether a network has a ring of 4 routers or more: packets can wait for each other all round.
pub fn has_ring(network: &NetworkSpec) -> bool {
    let fabric = network.topology.fabric().expect("a case is valid");
    fabric.grid().is_some_and(|grid| (0..grid.dims()).any(|d| grid.wraps(d) && grid.size(d) >= 4))
}

/// The cycle and the text of a deadlock, if the run ends with one.
fn deadlock(plan: &Plan) -> Result<Option<(u64, String)>, TestCaseError> {
    match simulate(plan, &mut |_| true) {
        Ok(_) => Ok(None),
        Err(Error::Deadlock { cycle, waiting }) => Ok(Some((cycle, waiting))),
        Err(error) => Err(TestCaseError::fail(format!("kernel: {error}"))),
    }
}

/// The VCs that such a text names, and how many it says are stuck.
fn named(waiting: &str) -> (Vec<&str>, usize) {
    let (cycle, rest) = waiting.split_once("; ").unwrap_or((waiting, ""));
    let names: Vec<&str> = cycle.split(" -> ").filter(|name| !name.ends_with(" more")).collect();
    let stuck = rest.split(' ').next().and_then(|number| number.parse().ok());
    let count = names.len() - 1;
    (names, stuck.unwrap_or(count))
}

/// A plan that ends in the kernel as in the oracle, and where packets wait for each other for ever:
/// * those that the kernel names never move again, whether terminals go on or the network drains;
/// * where nothing moves at all, it knows what all of them wait for;
/// * any number of threads says the same.
pub fn check_knots(plan: &Plan) -> Result<End, TestCaseError> {
    let seed = plan.spec.run.seed;
    let run = |drain_from| {
        let load = Load::Trace(trace(plan, false, u64::MAX - 1));
        run_beside(
            &plan.spec.network,
            &plan.fabric,
            seed,
            load,
            &Beside { drain_from, ..Beside::default() },
            MOST,
            WATCHDOG,
        )
    };
    let found = deadlock(plan)?;
    let real = run(None);
    let Some((cycle, waiting)) = &found else {
        prop_assert!(real.finished.is_some(), "the oracle does not finish: {:?}", real.left);
        return Ok(End::Arrived);
    };
    prop_assert!(real.deadlocked, "{waiting}: the oracle finishes in {:?}", real.finished);
    let stand_still = |outcome: &Outcome| {
        let (names, stuck) = named(waiting);
        let stands = |name: &&str| outcome.left.iter().any(|(vc, since)| vc == name && since <= &(cycle + 1));
        prop_assert!(names.iter().all(stands), "cycle {cycle}: {waiting}; in the oracle {:?}", outcome.left);
        let standing = outcome.left.iter().filter(|(_, since)| since <= &(cycle + 1)).count();
        prop_assert!(stuck <= standing, "cycle {cycle}: {waiting}; in the oracle {:?}", outcome.left);
        Ok(())
    };
    stand_still(&real)?;
    stand_still(&run(Some(cycle + 1)))?;
    for threads in [2, 3] {
        let mut plan = plan.clone();
        plan.spec.run.threads = Threads::Count(threads);
        if plan.threads() > 1 && plan.kernel() == KernelName::Flit {
            prop_assert_eq!(&deadlock(&plan)?, &found);
        }
    }
    // Looked at for the first time when nothing has moved for long.
    let mut late = plan.clone();
    late.spec.run.watchdog_cycles = real.last;
    let last = deadlock(&late)?.map(|(_, waiting)| waiting).unwrap_or_default();
    prop_assert!(last.contains(" -> ") && !last.contains(';'), "of what stands still not all is known: {last}");
    prop_assert!(
        named(&last).0.iter().all(|name| real.left.iter().any(|(vc, _)| vc == name)),
        "{last}: {:?}",
        real.left
    );
    Ok(if waiting.contains(';') { End::PartlyStuck } else { End::AllStuck })
}

/// Random bits of a case.
pub fn bits_of(seed: u64) -> u64 {
    mix(seed ^ 0x6b6e_6f74)
}
