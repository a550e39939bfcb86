//! Whether the parts of a network advance side by side or one after the other: whichever is faster on this machine,
//! now.
//!
//! A thread that waits for another one loses what that one loses to other work on the machine. How much that is can be
//! measured only by trying: from time to time the other way is tried for a part of an epoch, the less often the clearer
//! it was worse.

use std::time::{Duration, Instant};

/// Epochs before the first trial, and between two of them at most.
const FIRST: u32 = 2;
const LONGEST: u32 = 128;
/// A trial takes this part of an epoch: where one way is the better one by far, as nearly always, less would show it.
const TRIAL: u32 = 5;
/// The other way is taken where it is better by this factor.
const BETTER: f64 = 1.05;

/// Which way to go.
#[derive(Debug)]
pub(super) struct Pace {
    epoch: Duration,
    /// Side by side.
    together: bool,
    /// The other way is on trial; the rate of the usual one [flit-hops/s].
    trial: bool,
    usual: f64,
    /// Epochs until the next trial, and from one to the next.
    left: u32,
    interval: u32,
    /// When this epoch began, and the flit-hops then.
    began: Option<(Instant, u64)>,
}

impl Pace {
    /// Side by side at first, compared with the other way in epochs of this length.
    pub fn new(epoch: Duration) -> Self {
        Pace { epoch, together: true, trial: false, usual: 0.0, left: FIRST, interval: FIRST, began: None }
    }

    /// Whether the next window is to be advanced side by side; `flit_hops` so far.
    pub fn together(&mut self, flit_hops: u64) -> bool {
        let now = Instant::now();
        let Some((began, before)) = self.began else {
            self.began = Some((now, flit_hops));
            return self.together;
        };
        let (elapsed, epoch) = (now - began, if self.trial { self.epoch / TRIAL } else { self.epoch });
        if elapsed >= epoch {
            self.end_epoch((flit_hops - before) as f64 / elapsed.as_secs_f64().max(1e-9));
            self.began = Some((now, flit_hops));
        }
        self.together
    }

    fn end_epoch(&mut self, rate: f64) {
        if !self.trial {
            self.usual = rate;
            self.left -= 1;
            if self.left == 0 {
                (self.trial, self.together) = (true, !self.together);
            }
            return;
        }
        self.trial = false;
        if rate > BETTER * self.usual {
            self.interval = FIRST;
        } else {
            self.together = !self.together;
            self.interval = (2 * self.interval).min(LONGEST);
        }
        self.left = self.interval;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of epochs side by side, where that is so many times as fast as the other way.
    fn share_together(speedup: f64) -> f64 {
        let mut pace = Pace::new(Duration::ZERO);
        let together = (0..2000).filter(|_| {
            let together = pace.together;
            pace.end_epoch(if together { speedup } else { 1.0 });
            together
        });
        together.count() as f64 / 2000.0
    }

    #[test]
    fn the_faster_way_is_taken_nearly_always() {
        assert!(share_together(1.8) > 0.98);
        assert!(share_together(0.5) < 0.02);
    }

    #[test]
    fn a_core_that_comes_back_is_noticed() {
        let mut pace = Pace::new(Duration::ZERO);
        for epoch in 0..2000 {
            let speedup = if epoch < 1000 { 0.5 } else { 1.8 };
            let rate = if pace.together { speedup } else { 1.0 };
            pace.end_epoch(rate);
        }
        assert!(pace.together || pace.trial);
    }
}
