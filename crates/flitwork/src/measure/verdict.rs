//! Whether a network carries what it is offered: the one decision, for fixed and for steady measurements.
//!
//! Above saturation the source queues grow as long as the run lasts: at 110 % of what the network carries, one packet in eleven is left
//! behind. Below saturation they only fluctuate. So three numbers are looked at, each as a share that stays the same above saturation
//! and falls to 0 below it as the run becomes longer: how much all source queues together have grown, how far the slowest sender lags
//! behind, and how much the latency has grown. Chance has a scale for each of them: a share counts only if it is also beyond that scale.
//! Where the numbers are between the limits, or chance could explain them, the verdict is open, and more cycles decide.

/// What a run shows of its source queues and latencies, from the beginning of the measurement on.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Evidence {
    /// Packets created.
    pub created: f64,
    /// Packets by which the source queues have grown.
    pub growth: f64,
    /// Variance of the number of packets created, over that number; of their lengths, too.
    pub dispersion: f64,
    /// Of the slowest sender.
    pub lag: Lag,
    /// Of the packet latency.
    pub trend: Trend,
}

/// How far a sender lags behind what it creates: the mean age of the oldest packet that waits in its source queue.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Lag {
    /// Share of the mean time that had passed.
    pub share: f64,
    /// In packets that it creates in that time.
    pub packets: f64,
    /// Senders that could have been the slowest one.
    pub senders: f64,
}

/// By how much the last third of the measurement is above the first one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Trend {
    /// Share of the mean.
    pub share: f64,
    /// In standard errors.
    pub errors: f64,
}

/// What the evidence says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The network carries what is offered, and latencies are stationary.
    Carries,
    /// Source queues grow as long as it runs.
    Saturated,
    /// More cycles are needed to tell.
    Open,
}

/// Growth of all source queues together: at most so much of what is created, or within so many standard deviations of it, is no growth.
const GROWTH: f64 = 0.01;
const GROWTH_SURE: f64 = 4.0;
const GROWTH_POSSIBLE: f64 = 2.0;
/// A sender that lags behind by this share of the time starves. It keeps up if it lags by at most the smaller share, or by a share between
/// the two that is a few packets.
const STARVES: f64 = 0.04;
const KEEPS_UP: f64 = 0.015;
const FEW: f64 = 15.0;
/// A queue at 90 % of its capacity holds more than `n` packets with probability `exp(-n / 5)`, and it holds fewer on average over time: a lag
/// of fewer packets than this many times the logarithm of the senders, and of 1 / 3000, may be chance.
const TAIL: f64 = 4.0;
const RARE: f64 = 8.0;
/// A latency that rises by at most this share, or within so many standard errors, is stationary.
const RISE: f64 = 0.2;
const RISE_SURE: f64 = 4.0;

/// The verdict on a run.
pub(crate) fn judge(e: &Evidence) -> Verdict {
    let chance = (e.dispersion * e.created).sqrt();
    let grows = |deviations: f64| e.growth > GROWTH * e.created && e.growth > deviations * chance;
    let dispersion = e.dispersion.max(1.0);
    let by_chance = TAIL * dispersion * (e.lag.senders.max(1.0).ln() + RARE);
    let keeps_up = e.lag.share <= KEEPS_UP || (e.lag.share <= STARVES && e.lag.packets <= FEW * dispersion);
    if grows(GROWTH_SURE) || (e.lag.share > STARVES && e.lag.packets > by_chance) {
        Verdict::Saturated
    } else if grows(GROWTH_POSSIBLE) || !keeps_up || (e.trend.share > RISE && e.trend.errors > RISE_SURE) {
        Verdict::Open
    } else {
        Verdict::Carries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 64 terminals that create 0.1 packets a cycle for `cycles` cycles, behind as many of warm-up; `left` of 1000 packets are left behind
    /// by all senders.
    fn evidence(cycles: f64, left: f64) -> Evidence {
        let share = left / 1000.0;
        let lag = Lag { share, packets: share * 0.1 * 1.5 * cycles, senders: 64.0 };
        let created = 6.4 * cycles;
        Evidence { created, growth: share * created, dispersion: 1.0, lag, trend: Trend::default() }
    }

    #[test]
    fn what_grows_is_saturated_and_what_stays_is_carried() {
        for cycles in [300.0, 3_000.0, 100_000.0] {
            assert_eq!(judge(&evidence(cycles, 0.0)), Verdict::Carries);
            assert_eq!(judge(&evidence(cycles, 5.0)), Verdict::Carries);
        }
        // 9 % of 1,920 packets are four standard deviations only just not, 2 % of 192,000 are many.
        assert_eq!(judge(&evidence(300.0, 90.0)), Verdict::Open);
        assert_eq!(judge(&evidence(3_000.0, 90.0)), Verdict::Saturated);
        assert_eq!(judge(&evidence(30_000.0, 20.0)), Verdict::Saturated);
    }

    #[test]
    fn one_sender_that_starves_is_enough() {
        let alone = |cycles: f64| Evidence { growth: 0.09 / 64.0 * 6.4 * cycles, ..evidence(cycles, 90.0) };
        assert_eq!(judge(&alone(3_000.0)), Verdict::Open);
        assert_eq!(judge(&alone(30_000.0)), Verdict::Saturated);
    }

    #[test]
    fn bursts_need_more_cycles() {
        let bursts = |cycles: f64| Evidence { dispersion: 50.0, ..evidence(cycles, 90.0) };
        assert_eq!(judge(&bursts(3_000.0)), Verdict::Open);
        assert_eq!(judge(&bursts(30_000.0)), Verdict::Saturated);
    }

    #[test]
    fn a_latency_that_rises_is_not_stationary() {
        let rising = |share, errors| Evidence { trend: Trend { share, errors }, ..evidence(3_000.0, 0.0) };
        assert_eq!(judge(&rising(0.5, 10.0)), Verdict::Open);
        assert_eq!(judge(&rising(0.5, 2.0)), Verdict::Carries);
        assert_eq!(judge(&rising(0.05, 10.0)), Verdict::Carries);
    }

    #[test]
    fn nothing_created_is_carried() {
        assert_eq!(judge(&Evidence::default()), Verdict::Carries);
    }
}
