//! What arrived, over time.

use serde::{Deserialize, Serialize};

/// What the terminals received in each window of time. A packet counts, with all its flits, when its tail arrives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryWindows {
    /// Length of a window \[cycles]; the first one begins at t = 0, the last one may be shorter.
    pub window_cycles: u64,
    /// Packets received, one entry a window.
    pub packets: Vec<u64>,
    /// Flits of these packets.
    pub flits: Vec<u64>,
}

/// Counts arrivals by window.
#[derive(Debug, Clone)]
pub(crate) struct DeliveryRecorder {
    /// Cycle of t = 0; what arrives before is not counted.
    start: u64,
    windows: DeliveryWindows,
}

impl DeliveryRecorder {
    pub fn new(start: u64, window_cycles: u64) -> Self {
        DeliveryRecorder { start, windows: DeliveryWindows { window_cycles, packets: Vec::new(), flits: Vec::new() } }
    }

    /// A packet arrived in cycle `now`.
    pub fn arrived(&mut self, flits: u32, now: u64) {
        let Some(since) = now.checked_sub(self.start) else { return };
        let window = (since / self.windows.window_cycles) as usize;
        self.reach(window);
        self.windows.packets[window] += 1;
        self.windows.flits[window] += u64::from(flits);
    }

    fn reach(&mut self, window: usize) {
        if self.windows.packets.len() <= window {
            self.windows.packets.resize(window + 1, 0);
            self.windows.flits.resize(window + 1, 0);
        }
    }

    /// All windows up to that of cycle `end`, the last one of the run.
    pub fn finish(mut self, end: u64) -> DeliveryWindows {
        if let Some(since) = end.checked_sub(self.start) {
            self.reach((since / self.windows.window_cycles) as usize);
        }
        self.windows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_count_from_the_start_to_the_end() {
        let mut recorder = DeliveryRecorder::new(100, 10);
        for (flits, now) in [(4, 99), (4, 100), (1, 109), (4, 110), (4, 131)] {
            recorder.arrived(flits, now);
        }
        let windows = recorder.finish(145);
        assert_eq!(windows.packets, [2, 1, 0, 1, 0]);
        assert_eq!(windows.flits, [5, 4, 0, 4, 0]);
    }
}
