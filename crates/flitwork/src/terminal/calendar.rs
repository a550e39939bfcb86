//! When idle terminals, or ports, have to be looked at again: a ring of lists, one a cycle, without allocation.

/// Cycles that the ring covers; later wakes are looked at, and put off, once a turn.
const HORIZON: u64 = 4096;
const NONE: u32 = u32::MAX;

/// Wakes for terminals; each terminal has at most one.
#[derive(Debug)]
pub(crate) struct Calendar {
    first: Vec<u32>,
    wakes: Vec<Wake>,
    waiting: usize,
}

/// The wake of a terminal.
#[derive(Debug, Clone, Copy)]
struct Wake {
    /// Its cycle; 0: there is none.
    due: u64,
    /// The next one of the list that it is in, or [`NONE`].
    next: u32,
}

impl Calendar {
    pub fn new(terminals: usize) -> Self {
        Calendar {
            first: vec![NONE; HORIZON as usize],
            wakes: vec![Wake { due: 0, next: NONE }; terminals],
            waiting: 0,
        }
    }

    /// Wakes `terminal` in cycle `at`, which must be later than `now`. Ignored if it has a wake already.
    #[inline]
    pub fn schedule(&mut self, terminal: u32, now: u64, at: u64) {
        let wake = &mut self.wakes[terminal as usize];
        if wake.due != 0 {
            return;
        }
        wake.due = at;
        self.waiting += 1;
        self.link(terminal, now);
    }

    #[inline]
    fn link(&mut self, terminal: u32, now: u64) {
        let wake = &mut self.wakes[terminal as usize];
        let first = &mut self.first[(wake.due.min(now + HORIZON - 1) % HORIZON) as usize];
        wake.next = std::mem::replace(first, terminal);
    }

    /// Calls `wake` for each terminal whose time is `now`.
    pub fn advance(&mut self, now: u64, mut wake: impl FnMut(u32)) {
        let slot = (now % HORIZON) as usize;
        let mut t = std::mem::replace(&mut self.first[slot], NONE);
        while t != NONE {
            let of_terminal = &mut self.wakes[t as usize];
            let after = of_terminal.next;
            if of_terminal.due <= now {
                of_terminal.due = 0;
                self.waiting -= 1;
                wake(t);
            } else {
                self.link(t, now);
            }
            t = after;
        }
    }

    /// Whether a terminal has a wake.
    pub fn is_scheduled(&self, terminal: u32) -> bool {
        self.wakes[terminal as usize].due != 0
    }

    /// Whether nothing is scheduled.
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// The next cycle after `now` at which something is in the ring (perhaps only to be put off).
    pub fn next_after(&self, now: u64) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        (now + 1..=now + HORIZON).find(|c| self.first[(c % HORIZON) as usize] != NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wakes_come_in_their_cycle_however_far() {
        let mut calendar = Calendar::new(4);
        for (t, at) in [(0, 3), (1, 3), (2, 5000), (3, 20_000)] {
            calendar.schedule(t, 0, at);
            calendar.schedule(t, 0, at + 1);
        }
        let mut woken = Vec::new();
        for now in 1..=20_000 {
            calendar.advance(now, |t| woken.push((now, t)));
        }
        woken.sort_unstable();
        assert_eq!(woken, [(3, 0), (3, 1), (5000, 2), (20_000, 3)]);
        assert!(calendar.is_empty());
    }

    #[test]
    fn the_next_turn_is_found_without_stepping() {
        let mut calendar = Calendar::new(1);
        calendar.schedule(0, 7, 1234);
        assert_eq!(calendar.next_after(7), Some(1234));
        assert_eq!(Calendar::new(1).next_after(0), None);
    }
}
