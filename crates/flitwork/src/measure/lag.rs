//! How far each sender lags behind: the age of the oldest packet in its source queue, averaged over time.

use super::verdict::Lag;

/// What is known of an open loop before it runs, as far as source queues depend on it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Expected {
    /// Mean cycles between two packets of each terminal; one for all where they are alike.
    pub gap_cycles: Vec<f64>,
    /// Variance of the number of packets created over that number, and of their lengths over the squared mean length,
    /// together.
    pub dispersion: f64,
    /// Mean length of a packet \[flits].
    pub flits: f64,
    /// What nothing else delays takes the head of a packet at its terminal, and at each router with the channel behind
    /// it \[cycles].
    pub injection_cycles: f64,
    pub router_cycles: f64,
}

impl Expected {
    fn gap_of(&self, terminal: usize) -> f64 {
        self.gap_cycles.get(terminal).or(self.gap_cycles.first()).copied().unwrap_or(f64::INFINITY)
    }

    /// Mean latency in the network of packets that pass so many routers and that nothing else delays \[cycles].
    pub fn latency_alone(&self, routers: f64) -> f64 {
        self.injection_cycles + routers * self.router_cycles + self.flits
    }
}

/// Is told, before some cycle, of each terminal with packets that wait in its source queue: the terminal, and the cycle
/// in which the oldest of them was created.
pub(crate) type Oldest<'a> = dyn Fn(u64, &mut dyn FnMut(usize, u64)) + 'a;

/// A look at the queues is followed by the next one when this share of the time has passed again, but not before so
/// many cycles.
const NEXT: u64 = 32;
const FEWEST: u64 = 8;

/// Ages of the oldest packets that wait, over time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lags {
    begin: u64,
    /// The cycle of the last look, and of the next one.
    last: u64,
    next: u64,
    /// Sum over the cycles from the beginning on, of each terminal.
    ages: Vec<u64>,
}

impl Lags {
    /// Starts anew in cycle `begin`.
    pub fn restart(&mut self, begin: u64) {
        (self.begin, self.last) = (begin, begin);
        self.next = begin + FEWEST;
        self.ages.fill(0);
    }

    /// The cycle of the next look.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Looks at the queues in cycle `at`; `oldest` calls back with a terminal and the cycle in which the oldest packet
    /// that waits there was created, if that is before `at`.
    pub fn look(&mut self, at: u64, oldest: &Oldest) {
        let cycles = at.saturating_sub(self.last);
        if cycles == 0 {
            return;
        }
        let ages = &mut self.ages;
        oldest(at, &mut |terminal, created| {
            if ages.len() <= terminal {
                ages.resize(terminal + 1, 0);
            }
            ages[terminal] = ages[terminal].saturating_add((at - created).saturating_mul(cycles));
        });
        self.last = at;
        self.next = at + ((at - self.begin) / NEXT).max(FEWEST);
    }

    /// The lag of the sender that lags most, as a share of the time that had passed since cycle 0.
    pub fn largest(&self, expected: &Expected, senders: usize) -> Lag {
        let cycles = (self.last - self.begin).max(1) as f64;
        let passed = (self.begin + self.last) as f64 / 2.0;
        let mut found = Lag { senders: senders as f64, ..Lag::default() };
        for (terminal, &sum) in self.ages.iter().enumerate() {
            let age = sum as f64 / cycles;
            if age / passed > found.share {
                found = Lag { share: age / passed, cycles: age, packets: age / expected.gap_of(terminal), ..found };
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks when it wants to, at terminals that lag behind by these shares of the time since cycle 0.
    fn looked(begin: u64, end: u64, shares: &[f64]) -> Lag {
        let mut lags = Lags::default();
        lags.restart(begin);
        let oldest = |at: u64, tell: &mut dyn FnMut(usize, u64)| {
            for (terminal, share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
                tell(terminal, at - (at as f64 * share) as u64);
            }
        };
        while lags.next() < end {
            lags.look(lags.next(), &oldest);
        }
        lags.look(end, &oldest);
        lags.largest(&Expected { gap_cycles: vec![10.0], ..Expected::default() }, shares.len())
    }

    #[test]
    fn a_sender_that_starves_lags_by_its_share_of_the_time() {
        for (begin, end) in [(0, 1_000), (3_000, 6_000), (3_000, 48_000)] {
            let lag = looked(begin, end, &[0.0, 0.1, 0.02]);
            assert!((lag.share - 0.1).abs() < 0.01, "{lag:?}");
            assert!((lag.packets - 0.1 * (begin + end) as f64 / 20.0).abs() < 0.1 * lag.packets, "{lag:?}");
        }
        assert_eq!(looked(0, 1_000, &[0.0, 0.0]).share, 0.0);
    }
}
