//! How to run, resolved and checked: what is measured, and the limits.

use super::Workload;
use crate::error::{Error, Result};
use crate::measure::SteadySpec;
use crate::spec::{FIXED_CYCLES, RunSpec};
use crate::traffic::{Packets, Traffic};

/// Default limit of a workload that completes \[cycles].
const LONG: u64 = 1_000_000_000;

/// Cycles that a run surely takes, unless it is saturated or known early.
pub(super) fn least_cycles(run: &RunSpec, workload: &Workload, start_cycle: u64) -> u64 {
    match (workload, &run.steady) {
        (Workload::Schedule { .. }, _) => start_cycle,
        (Workload::Finite(traffic), _) => start_cycle.max(last_creation(traffic)),
        (Workload::OpenLoop(_), Some(steady)) => steady.max_cycles,
        (Workload::OpenLoop(_), None) => run.fixed_window().end,
    }
}

/// Fills in the defaults of `run` and refuses what has no sense. The workload starts in cycle `start_cycle`; no event
/// lies more than `longest_delay_cycles` ahead.
pub(super) fn check(run: &mut RunSpec, workload: &Workload, start_cycle: u64, longest_delay_cycles: u64) -> Result<()> {
    let cycles = |path: &str, value: u64, least: u64| match value {
        _ if value < least => Err(Error::config(path, value, "at least 1 cycle", "")),
        _ if value > 1 << 40 => Err(Error::config(path, value, "at most 2^40 cycles", "")),
        _ => Ok(()),
    };
    let record = &run.record;
    if record.to_file && (!record.packets || record.waits || record.operations) {
        let expected =
            "record.packets, and neither record.waits nor record.operations, which need all packets at the end";
        return Err(Error::config("run.record.to_file", true, expected, "take to_file out, or the others"));
    }
    cycles("run.watchdog_cycles", run.watchdog_cycles, 1)?;
    cycles("run.max_cycles", run.max_cycles, 0)?;
    for (path, value, least) in
        [("run.measurement_cycles", run.measurement_cycles, 1), ("run.warmup_cycles", run.warmup_cycles, 0)]
    {
        value.map_or(Ok(()), |value| cycles(path, value, least))?;
        if let (Some(value), Some(_)) = (value, &run.steady) {
            let expected = "nothing beside run.steady, which finds out how long to warm up and to measure";
            return Err(Error::config(path, value, expected, "take one of the two out"));
        }
    }
    if let Some(steady) = &run.steady {
        check_steady(steady, workload, run.max_cycles, longest_delay_cycles)?;
    } else {
        let window = run.fixed_window();
        let measured = window.end - window.start;
        if workload.completes() && run.measurement_cycles.is_some_and(|_| measured != FIXED_CYCLES) {
            let expected = "nothing for a workload that ends by itself: all of it is measured";
            return Err(Error::config("run.measurement_cycles", measured, expected, "leave it out"));
        }
        (run.warmup_cycles, run.measurement_cycles) = (Some(window.start), Some(window.end - window.start));
    }
    if run.max_cycles == 0 {
        run.max_cycles = match (workload, &run.steady) {
            // Time enough behind a background alone.
            (Workload::Schedule { .. }, _) => LONG.max(2 * start_cycle),
            // Time enough behind the last packet of a trace.
            (Workload::Finite(traffic), _) => LONG.max(2 * start_cycle) + last_creation(traffic),
            (Workload::OpenLoop(_), Some(steady)) => 2 * steady.max_cycles,
            (Workload::OpenLoop(_), None) => 100 * run.fixed_window().end,
        };
    }
    let (needed, what, hint) = match (workload.completes(), &run.steady) {
        (true, _) => match workload {
            Workload::Finite(traffic) if last_creation(traffic) > 0 => {
                (last_creation(traffic) + 1, "more than until the last packet is created", "cut the trace")
            }
            _ => (start_cycle + 1, "more than the background alone", "shorten run.warmup_cycles"),
        },
        (false, None) => {
            let hint = "shorten run.warmup_cycles or run.measurement_cycles";
            (run.fixed_window().end, "warm-up and measurement", hint)
        }
        (false, Some(_)) => return Ok(()),
    };
    if run.max_cycles < needed {
        let hint = format!("{hint}, or leave run.max_cycles out");
        return Err(Error::config("run.max_cycles", run.max_cycles, format!("at least {needed} cycles: {what}"), hint));
    }
    Ok(())
}

/// The cycle in which the last packet of a trace is created; 0 of what is drawn.
fn last_creation(traffic: &Traffic) -> u64 {
    match &traffic.packets {
        Packets::Given(trace) => traffic.start + trace.last_cycle(),
        Packets::Drawn(_) => 0,
    }
}

fn check_steady(steady: &SteadySpec, workload: &Workload, max_cycles: u64, longest_delay_cycles: u64) -> Result<()> {
    if workload.completes() {
        let expected = "no run.steady for a workload that ends by itself";
        return Err(Error::config("run.steady", "a table", expected, "use a traffic pattern at an offered load"));
    }
    let share = |name: &str, value: f64, allowed: bool, expected: &str| {
        if allowed { Ok(()) } else { Err(Error::config(format!("run.steady.{name}"), value, expected, "")) }
    };
    let (ci, confidence) = (steady.relative_ci, steady.confidence);
    share("relative_ci", ci, ci > 0.0 && ci < 1.0, "more than 0 and less than 1, for example 0.02")?;
    let usual = (0.5..=0.9999).contains(&confidence);
    share("confidence", confidence, usual, "0.5 to 0.9999, for example 0.95")?;
    let limit = steady.max_cycles;
    if !(1000..=1 << 40).contains(&limit) {
        return Err(Error::config("run.steady.max_cycles", limit, "1000 to 2^40 cycles", ""));
    }
    for (name, value) in
        [("min_warmup_cycles", steady.min_warmup_cycles), ("min_measurement_cycles", steady.min_measurement_cycles)]
    {
        if value > limit / 2 {
            let expected = format!("at most half of run.steady.max_cycles = {limit}");
            return Err(Error::config(format!("run.steady.{name}"), value, expected, "raise max_cycles"));
        }
    }
    // A window begins, and ends, behind all events that are known when it is decided.
    let behind = 2 * (longest_delay_cycles + 1);
    if behind > limit / 4 {
        let expected = format!("at least {} cycles: eight times the longest delay of a channel or router", 4 * behind);
        return Err(Error::config("run.steady.max_cycles", limit, expected, "raise it, or shorten the delays"));
    }
    if max_cycles > 0 && max_cycles < limit + behind {
        let expected = format!("at least {}, run.steady.max_cycles and twice the longest delay, or 0", limit + behind);
        return Err(Error::config("run.max_cycles", max_cycles, expected, "limit the run by run.steady.max_cycles"));
    }
    Ok(())
}
