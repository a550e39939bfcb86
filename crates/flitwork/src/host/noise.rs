//! Detours: cycles in which the operating system has the CPUs of a rank for itself.
//!
//! In a detour the program of a rank does not go on, nothing of it starts, and its computations stand still. What would
//! be complete in a detour is complete with its end, so what depends on it waits for that, too. NIC and network know
//! nothing of all this. Detours are drawn one after the other as time goes on; of each rank there is the one at hand,
//! or else the next.

use super::ranks::Hosts;
use super::requests::Completion;
use crate::mix::mix;
use crate::schedule::{DetourLength, Detours, Noise};
use crate::traffic::{Geometric, terminal_rng};
use rand_pcg::Pcg64Mcg;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Where the detours of a rank come from.
#[derive(Debug, Clone)]
enum Source {
    Periodic {
        period: u64,
        duration: u64,
        /// Start of the next.
        next: u64,
    },
    Drawn {
        rng: Pcg64Mcg,
        interval: Geometric,
        mean: Option<Geometric>,
        fixed: u64,
    },
    Listed {
        detours: Arc<Detours>,
        rank: u32,
        next: usize,
    },
}

/// The detours of a rank: the first that has not ended, and those that follow. Cycles count from the start of the
/// ranks.
#[derive(Debug, Clone)]
struct Cursor {
    begin: u64,
    end: u64,
    source: Source,
}

impl Cursor {
    fn new(noise: &Noise, rank: u32) -> Self {
        let mut cursor = Cursor { begin: 0, end: 0, source: Source::of(noise, rank) };
        match cursor.source {
            // The detour in which the ranks start, if its rest reaches so far.
            Source::Periodic { period, duration, next } if next + duration > period => {
                cursor.end = next + duration - period;
            }
            _ => cursor.next(),
        }
        cursor
    }

    fn next(&mut self) {
        (self.begin, self.end) = match &mut self.source {
            Source::Periodic { period, duration, next } => {
                let begin = *next;
                *next = begin.saturating_add(*period);
                (begin, begin.saturating_add(*duration))
            }
            Source::Drawn { rng, interval, mean, fixed } => {
                let begin = self.end.saturating_add(interval.draw(rng));
                let length = mean.as_ref().map_or(*fixed, |mean| mean.draw(rng));
                (begin, begin.saturating_add(length))
            }
            Source::Listed { detours, rank, next } => {
                *next += 1;
                detours.of(*rank).get(*next - 1).copied().unwrap_or((u64::MAX, u64::MAX))
            }
        };
    }

    /// The end of the detour that cycle `now` is in; cycles do not fall from call to call.
    fn away(&mut self, now: u64) -> Option<u64> {
        while self.end <= now && self.end < u64::MAX {
            self.next();
        }
        (self.begin <= now).then_some(self.end)
    }

    /// The cycle in which a computation of `cycles` that starts in cycle `now`, in no detour, is over; behind `horizon`
    /// it may be any.
    fn work(&mut self, now: u64, mut cycles: u64, horizon: u64) -> u64 {
        debug_assert!(self.away(now).is_none(), "nothing starts in a detour");
        let (mut at, mut detour) = (now, self.clone());
        while at < horizon && cycles > detour.begin - at {
            cycles -= detour.begin - at;
            at = detour.end;
            if let Source::Periodic { period, duration, .. } = detour.source {
                // Whole periods at once.
                let free = period - duration;
                let whole = (cycles - 1) / free;
                return at.saturating_add(whole.saturating_mul(period)).saturating_add(cycles - whole * free);
            }
            detour.next();
        }
        at.saturating_add(cycles)
    }
}

impl Source {
    fn of(noise: &Noise, rank: u32) -> Self {
        match noise {
            Noise::Periodic { period, duration, phases } => {
                let next = phases.get(rank as usize).copied().unwrap_or(0);
                Source::Periodic { period: *period, duration: *duration, next }
            }
            Noise::Exponential { seed, interval, duration } => {
                let mean_of = |cycles: u64| Geometric::new(1.0 / cycles as f64);
                let (mean, fixed) = match *duration {
                    DetourLength::Fixed(cycles) => (None, cycles),
                    DetourLength::Mean(cycles) => (Some(mean_of(cycles)), 0),
                };
                let rng = terminal_rng(mix(seed ^ 0x006e_6f69_7365), u64::from(rank));
                Source::Drawn { rng, interval: mean_of(*interval), mean, fixed }
            }
            Noise::Listed(detours) => Source::Listed { detours: Arc::clone(detours), rank, next: 0 },
        }
    }
}

/// What ends of detours bring: (cycle, order, rank, what is complete then).
type Later = (u64, u64, u32, Option<Completion>);

/// The detours of all ranks, and what waits for their ends.
#[derive(Debug)]
pub(super) struct OsNoise {
    cursors: Vec<Cursor>,
    /// The cycle in which the ranks start.
    start: u64,
    horizon: u64,
    later: BinaryHeap<Reverse<Later>>,
    /// Entries of `later` so far.
    count: u64,
    /// Of each rank the end for which it is to be woken.
    wakes: Vec<u64>,
}

impl OsNoise {
    /// The end of the detour that a rank is in.
    fn away(&mut self, rank: u32, now: u64) -> Option<u64> {
        let since = now.checked_sub(self.start)?;
        self.cursors[rank as usize].away(since).map(|end| end + self.start)
    }

    fn put(&mut self, end: u64, rank: u32, what: Option<Completion>) {
        self.later.push(Reverse((end, self.count, rank, what)));
        self.count += 1;
    }

    /// Whether nothing waits for the end of a detour.
    pub fn is_idle(&self) -> bool {
        self.later.is_empty()
    }

    /// The first end of a detour that something waits for.
    pub fn next(&self) -> Option<u64> {
        self.later.peek().map(|Reverse((end, ..))| *end)
    }
}

impl Hosts {
    /// From now on ranks have detours; they start in cycle `start`, and nothing behind `horizon` matters.
    pub fn disturb(&mut self, noise: &Noise, start: u64, horizon: u64) {
        let ranks = self.ranks();
        self.reads_late = false;
        self.noise = Some(Box::new(OsNoise {
            cursors: (0..ranks).map(|rank| Cursor::new(noise, rank)).collect(),
            start,
            horizon,
            later: BinaryHeap::new(),
            count: 0,
            wakes: vec![0; ranks as usize],
        }));
    }

    /// The end of the detour that a rank is in.
    pub(super) fn away(&mut self, rank: u32, now: u64) -> Option<u64> {
        self.noise.as_mut()?.away(rank, now)
    }

    /// Whether a rank is in a detour and cannot go on; it is looked at again at the end.
    pub(super) fn is_held_up(&mut self, rank: u32, now: u64) -> bool {
        let Some(noise) = &mut self.noise else { return false };
        let Some(end) = noise.away(rank, now) else { return false };
        if noise.wakes[rank as usize] < end {
            noise.wakes[rank as usize] = end;
            noise.put(end, rank, None);
        }
        true
    }

    /// Puts off what would be complete in a detour; whether it had to.
    pub(super) fn put_off(&mut self, completion: Completion) -> bool {
        let Some(noise) = &mut self.noise else { return false };
        let Some(end) = noise.away(completion.rank, completion.cycle) else { return false };
        noise.put(end, completion.rank, Some(Completion { cycle: end, ..completion }));
        true
    }

    /// The cycle in which a computation that a rank begins now is over.
    pub(super) fn work_end(&mut self, rank: u32, now: u64, cycles: u64) -> u64 {
        let Some(noise) = &mut self.noise else { return now.saturating_add(cycles) };
        let since = now.saturating_sub(noise.start);
        noise.cursors[rank as usize].work(since, cycles, noise.horizon).saturating_add(noise.start)
    }

    /// What detours that end in this cycle have held up.
    pub(super) fn end_detours(&mut self, now: u64, wake: &mut impl FnMut(u32)) {
        while let Some(&Reverse((end, _, rank, what))) = self.noise.as_ref().and_then(|noise| noise.later.peek()) {
            if end > now {
                return;
            }
            self.noise.as_mut().and_then(|noise| noise.later.pop());
            if let Some(completion) = what {
                self.complete(completion);
            }
            wake(self.terminal_of(rank));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::DetourColumns;

    /// The same, cycle by cycle.
    fn counted(noise: &Noise, now: u64, mut cycles: u64) -> u64 {
        let (mut cursor, mut at) = (Cursor::new(noise, 1), now);
        while cycles > 0 {
            cycles -= u64::from(cursor.away(at).is_none());
            at += 1;
        }
        at
    }

    fn some() -> Vec<Noise> {
        let listed = DetourColumns { rank: &[1, 1, 0], start: &[3, 40, 0], duration: &[5, 60, 1000] };
        let drawn = |duration| Noise::Exponential { seed: 4, interval: 9, duration };
        let periodic = |period, duration, phase| Noise::Periodic { period, duration, phases: vec![0, phase] };
        vec![
            periodic(10, 3, 0),
            periodic(10, 9, 4),
            periodic(10, 3, 9),
            periodic(2, 1, 1),
            drawn(DetourLength::Fixed(4)),
            drawn(DetourLength::Mean(3)),
            Noise::Listed(Arc::new(Detours::new(&listed).unwrap())),
        ]
    }

    #[test]
    fn work_takes_as_many_cycles_as_are_in_no_detour() {
        for noise in some() {
            for now in 0..120 {
                let mut cursor = Cursor::new(&noise, 1);
                if cursor.away(now).is_some() {
                    continue;
                }
                for cycles in [0, 1, 2, 5, 6, 7, 8, 30, 200] {
                    let found = cursor.work(now, cycles, u64::MAX);
                    assert_eq!(found, counted(&noise, now, cycles), "{noise:?} {now} {cycles}");
                }
            }
        }
    }

    #[test]
    fn a_phase_says_in_which_cycles_a_rank_is_away() {
        for (period, duration, phase) in [(10, 3, 0), (10, 3, 5), (10, 3, 8), (10, 9, 9), (7, 1, 6)] {
            let noise = Noise::Periodic { period, duration, phases: vec![phase] };
            let mut cursor = Cursor::new(&noise, 0);
            for t in 0..50 {
                let away = (t + period - phase) % period < duration;
                assert_eq!(cursor.away(t).is_some(), away, "{period} {duration} {phase}: cycle {t}");
            }
        }
    }

    #[test]
    fn detours_that_are_drawn_have_their_means() {
        let noise = Noise::Exponential { seed: 1, interval: 90, duration: DetourLength::Mean(10) };
        let mut cursor = Cursor::new(&noise, 0);
        let away = (0..1_000_000).filter(|&t| cursor.away(t).is_some()).count();
        // Ten thousand detours: three standard deviations are about 4 %.
        assert!((96_000..104_000).contains(&away), "{away}");
        // A long time of work without looking at every detour of a short period.
        let noise = Noise::Periodic { period: 2, duration: 1, phases: vec![0] };
        assert_eq!(Cursor::new(&noise, 0).work(1, 1 << 40, u64::MAX), 1 << 41);
    }
}
