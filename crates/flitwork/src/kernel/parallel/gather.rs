//! The parts of a network, when the run is over, as one.

use crate::kernel::network::Observed;
use crate::kernel::simulation::Attached;
use crate::measure::PacketLog;
use crate::terminal::Untaken;
use std::ops::Range;

/// What all parts have observed, what was created in cycles `created` and not taken (of the workload, and of the
/// background), and the log. There is at least one part; the run ended after cycle `now`.
pub(in crate::kernel) fn gather(
    parts: impl IntoIterator<Item = Attached>,
    now: u64,
    created: Range<u64>,
) -> Option<(Observed, (Untaken, Untaken), PacketLog)> {
    let each = parts.into_iter().map(|Attached { network, nics, log, .. }| {
        let untaken = nics.untaken(created.clone());
        drop(nics);
        (network.finish(now), untaken, *log)
    });
    each.reduce(|(mut observed, untaken, mut log), (more, more_untaken, more_log)| {
        observed.absorb(more);
        log.absorb(more_log);
        (observed, (untaken.0.and(more_untaken.0), untaken.1.and(more_untaken.1)), log)
    })
}
