//! How to run, resolved and checked: what is measured, and the limits.

use super::Workload;
use crate::error::{Error, Result};
use crate::measure::SteadySpec;
use crate::spec::RunSpec;
use crate::traffic::{Packets, Traffic};

/// Fills in the defaults of `run` and refuses what has no sense. The workload starts in cycle `start_cycle`.
pub(super) fn check(run: &mut RunSpec, workload: &Workload, start_cycle: u64) -> Result<()> {
    let cycles = |path: &str, value: u64, least: u64| match value {
        _ if value < least => Err(Error::config(path, value, "at least 1 cycle", "")),
        _ if value > 1 << 40 => Err(Error::config(path, value, "at most 2^40 cycles", "")),
        _ => Ok(()),
    };
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
        check_steady(steady, workload, run.max_cycles)?;
    } else {
        let window = run.fixed_window();
        (run.warmup_cycles, run.measurement_cycles) = (Some(window.start), Some(window.end - window.start));
    }
    if run.max_cycles == 0 {
        run.max_cycles = match (workload, &run.steady) {
            (Workload::Closed { .. }, _) => 1_000_000_000,
            // Time enough behind the last packet of a trace.
            (Workload::Finite(traffic), _) => 1_000_000_000 + last_creation(traffic),
            (Workload::Open(_), Some(steady)) => 2 * steady.max_cycles,
            (Workload::Open(_), None) => 100 * run.fixed_window().end,
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

fn check_steady(steady: &SteadySpec, workload: &Workload, max_cycles: u64) -> Result<()> {
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
    if max_cycles > 0 && max_cycles < limit {
        let expected = format!("at least run.steady.max_cycles = {limit}, or 0");
        return Err(Error::config("run.max_cycles", max_cycles, expected, "limit the run by run.steady.max_cycles"));
    }
    Ok(())
}
