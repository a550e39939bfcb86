//! Whether a network carries what it is offered: the one decision, for fixed and for steady measurements.
//!
//! Above saturation the source queues grow as long as the run lasts: at 110 % of what the network carries, one packet
//! in eleven is left behind. Below saturation they only fluctuate. So three numbers are looked at, each as a share that
//! stays the same above saturation and falls to 0 below it as the run becomes longer: how much all source queues
//! together have grown, how far the slowest sender lags behind, and how much the latency has grown. A network is called
//! saturated only if chance cannot explain the share, and is said to carry its load only if the share is small and the
//! run long enough to have shown it: the load that was drawn is close to the one that was asked for, and the network,
//! which fills before its source queues grow, holds little of what was created. Where no sender waits for long, nor
//! packets on their way, short runs are enough. Otherwise the verdict is open, and more cycles decide.

/// What a run shows of its source queues and latencies, from the beginning of the measurement on.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Evidence {
    /// From the beginning of the run on, warm-up included.
    pub cycles: f64,
    /// Packets created.
    pub created: f64,
    /// Packets by which the source queues have grown.
    pub growth: f64,
    /// Packets in the network at the end.
    pub under_way: f64,
    /// Mean latency in the network, and that without any contention \[cycles].
    pub latency: f64,
    pub latency_alone: f64,
    /// Variance of the number of packets created, over that number; of their lengths, too.
    pub dispersion: f64,
    /// Mean length of a packet \[flits].
    pub flits: f64,
    /// Lag of the slowest sender.
    pub lag: Lag,
    /// Trend of the packet latency.
    pub trend: Trend,
}

/// How far a sender lags behind what it creates: the mean age of the oldest packet that waits in its source queue.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Lag {
    /// Share of the mean time that had passed.
    pub share: f64,
    /// The lag \[cycles].
    pub cycles: f64,
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

/// Growth of all source queues together: at most so much of what is created is none. More is certain beyond so many
/// standard deviations.
const GROWTH: f64 = 0.01;
const GROWTH_SURE: f64 = 4.0;
/// A sender that lags behind by this share of the time starves; it keeps up if it lags by at most the smaller share.
const STARVES: f64 = 0.04;
const KEEPS_UP: f64 = 0.015;
/// A queue at 90 % of its capacity holds more than `n` packets with probability `exp(-n / 5)`, and it holds fewer on
/// average over time: a lag of fewer packets than this many times the logarithm of the senders, and of 1 / 3000, may be
/// chance.
const TAIL: f64 = 4.0;
const RARE: f64 = 8.0;
/// A latency that rises by at most this share, or within so many standard errors, is stationary.
const RISE: f64 = 0.1;
const RISE_POSSIBLE: f64 = 2.0;
/// The network is far from saturation where no sender waits for longer than this many packets take on its own channel,
/// and packets take no longer on their way than this many times what they take alone.
const SHORT: f64 = 0.5;
const NEARLY_ALONE: f64 = 2.0;
/// So many packets on a busy channel are enough for that: with a tenth of a channel too much, chance would have to draw
/// a sixth less.
const FEW: f64 = 300.0;
/// Elsewhere a run is long enough to tell if a busy channel had time for so many packets, the load that was drawn is
/// known to this share, and the network holds at most this share of the packets: it fills before source queues grow.
const ENOUGH_PACKETS: f64 = 600.0;
const MAX_LOAD_ERROR: f64 = 0.03;
const MAX_UNDER_WAY: f64 = 0.02;

/// The verdict on a run.
pub(crate) fn judge(e: &Evidence) -> Verdict {
    let chance = (e.dispersion * e.created).sqrt();
    let grows = e.growth > GROWTH * e.created;
    let dispersion = e.dispersion.max(1.0);
    let by_chance = TAIL * dispersion * (e.lag.senders.max(1.0).ln() + RARE);
    if (grows && e.growth > GROWTH_SURE * chance) || (e.lag.share > STARVES && e.lag.packets > by_chance) {
        return Verdict::Saturated;
    }
    let keeps_up = e.lag.share <= KEEPS_UP;
    let is_stationary = e.trend.share <= RISE || e.trend.errors <= RISE_POSSIBLE;
    // With bursts, a packet counts for as much less.
    let packets = e.cycles / (e.flits * dispersion).max(1.0);
    let waits_little = e.lag.cycles <= SHORT * e.flits * dispersion && e.latency <= NEARLY_ALONE * e.latency_alone;
    let is_at_ease = packets >= FEW && waits_little;
    let is_known =
        packets >= ENOUGH_PACKETS && chance <= MAX_LOAD_ERROR * e.created && e.under_way <= MAX_UNDER_WAY * e.created;
    if !grows && keeps_up && is_stationary && (is_at_ease || is_known) { Verdict::Carries } else { Verdict::Open }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 64 terminals that create 0.1 packets a cycle for `cycles` cycles, behind as many of warm-up; `left` of 1000
    /// packets are left behind by all senders.
    fn evidence(cycles: f64, left: f64) -> Evidence {
        let share = left / 1000.0;
        let lag = Lag { share, cycles: share * 1.5 * cycles, packets: share * 0.1 * 1.5 * cycles, senders: 64.0 };
        let created = 6.4 * cycles;
        let growth = share * created;
        let trend = Trend::default();
        Evidence {
            cycles: 2.0 * cycles,
            created,
            growth,
            under_way: 64.0,
            latency: 10.0,
            latency_alone: 9.0,
            dispersion: 1.0,
            flits: 1.0,
            lag,
            trend,
        }
    }

    #[test]
    fn what_grows_is_saturated_and_what_stays_is_carried() {
        for cycles in [300.0, 3_000.0, 100_000.0] {
            assert_eq!(judge(&evidence(cycles, 0.0)), Verdict::Carries);
        }
        assert_eq!(judge(&evidence(3_000.0, 5.0)), Verdict::Carries);
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
        let bursts = |cycles: f64, left: f64| Evidence { dispersion: 50.0, ..evidence(cycles, left) };
        assert_eq!(judge(&bursts(3_000.0, 90.0)), Verdict::Open);
        assert_eq!(judge(&bursts(30_000.0, 90.0)), Verdict::Saturated);
        // Little is left behind, but the load that was drawn may have been a lower one; much later it is known.
        assert_eq!(judge(&bursts(3_000.0, 9.0)), Verdict::Open);
        assert_eq!(judge(&bursts(15_000.0, 9.0)), Verdict::Carries);
    }

    #[test]
    fn a_network_that_fills_may_be_saturated() {
        let fills = |cycles, lag_cycles| Evidence {
            under_way: 600.0,
            lag: Lag { cycles: lag_cycles, ..evidence(cycles, 1.0).lag },
            ..evidence(cycles, 1.0)
        };
        assert_eq!(judge(&fills(3_000.0, 4.0)), Verdict::Open);
        assert_eq!(judge(&fills(6_000.0, 4.0)), Verdict::Carries);
        // It holds as much because its channels are long; or its buffers are deep, and fill.
        assert_eq!(judge(&fills(3_000.0, 0.4)), Verdict::Carries);
        assert_eq!(judge(&Evidence { latency: 90.0, ..fills(3_000.0, 0.4) }), Verdict::Open);
    }

    #[test]
    fn a_latency_that_rises_is_not_stationary() {
        let rising = |share, errors| Evidence { trend: Trend { share, errors }, ..evidence(3_000.0, 0.0) };
        assert_eq!(judge(&rising(0.5, 10.0)), Verdict::Open);
        assert_eq!(judge(&rising(0.5, 1.5)), Verdict::Carries);
        assert_eq!(judge(&rising(0.05, 10.0)), Verdict::Carries);
    }

    #[test]
    fn a_run_of_a_few_packets_tells_nothing() {
        let run = |cycles, flits| Evidence { flits, ..evidence(cycles, 0.0) };
        assert_eq!(judge(&run(3_000.0, 16.0)), Verdict::Carries);
        assert_eq!(judge(&run(300.0, 16.0)), Verdict::Open);
        assert_eq!(judge(&Evidence::default()), Verdict::Open);
    }
}
