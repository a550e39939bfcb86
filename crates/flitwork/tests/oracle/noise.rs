//! Detours: in which cycles ranks have no CPU.

use super::random::{Stream, below, mix};
use flitwork::spec::{HostSpec, NoisePhase, NoiseSpec};
use flitwork::traffic::Table;
use std::cell::RefCell;
use std::collections::HashMap;

/// The detours of a rank that are drawn, as far as they are known.
struct Drawn {
    stream: Stream,
    /// (first cycle, first cycle behind it).
    spans: Vec<(u64, u64)>,
}

pub struct Away {
    noise: Option<NoiseSpec>,
    seed: u64,
    /// The cycle in which the ranks start.
    start: u64,
    drawn: RefCell<HashMap<u32, Drawn>>,
}

impl Away {
    pub fn new(host: &HostSpec, seed: u64, start: u64) -> Self {
        Away { noise: host.noise.clone(), seed, start, drawn: RefCell::default() }
    }

    /// Whether a rank is in a detour in cycle `now`.
    pub fn is(&self, rank: u32, now: u64) -> bool {
        let t = now - self.start;
        match &self.noise {
            None => false,
            Some(NoiseSpec::Periodic { period_cycles, duration_cycles, phase, phase_cycles }) => {
                let drawn = || below(mix(mix(self.seed ^ 0x0070_6861_7365) ^ u64::from(rank)), *period_cycles);
                let phase = if *phase == NoisePhase::Same { *phase_cycles } else { drawn() };
                (t + period_cycles - phase) % period_cycles < *duration_cycles
            }
            Some(NoiseSpec::Exponential { mean_interval_cycles, duration_cycles, mean_duration_cycles }) => {
                let mut all = self.drawn.borrow_mut();
                let stream = || Stream::new(mix(self.seed ^ 0x006e_6f69_7365), u64::from(rank));
                let drawn = all.entry(rank).or_insert_with(|| Drawn { stream: stream(), spans: Vec::new() });
                while drawn.spans.last().is_none_or(|span| span.1 <= t) {
                    let begin = drawn.spans.last().map_or(0, |span| span.1)
                        + drawn.stream.trials(1.0 / *mean_interval_cycles as f64);
                    let mean = mean_duration_cycles.map(|mean| 1.0 / mean as f64);
                    let length = mean.map_or_else(|| duration_cycles.expect("a length"), |p| drawn.stream.trials(p));
                    drawn.spans.push((begin, begin + length));
                }
                drawn.spans.iter().any(|&(begin, end)| begin <= t && t < end)
            }
            Some(NoiseSpec::File { detours, .. }) => {
                let Some(Table::Detours(detours)) = detours.table() else { panic!("a valid plan has its detours") };
                detours.of(rank).iter().any(|&(begin, end)| begin <= t && t < end)
            }
        }
    }

    /// The first cycle behind `cycles` cycles without a detour, from cycle `now` on.
    pub fn work(&self, rank: u32, now: u64, mut cycles: u64) -> u64 {
        let mut at = now;
        while cycles > 0 {
            cycles -= u64::from(!self.is(rank, at));
            at += 1;
        }
        at
    }
}
