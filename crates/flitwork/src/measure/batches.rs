//! Totals of equal stretches of time, in memory that does not grow: when all places are taken, neighbours are added up
//! in pairs and a stretch is twice as long from then on (Heidelberger and Welch 1981, section 5).

/// What has arrived so far. The difference of two totals is what arrived in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Totals {
    /// Packets whose tail has arrived.
    pub packets: u64,
    /// Flits of the packets.
    pub flits: u64,
    /// Sum of their packet latencies \[cycles].
    pub packet_latency: u64,
    /// Sum of their network latencies \[cycles].
    pub network_latency: u64,
}

impl Totals {
    fn since(&self, before: &Totals) -> Totals {
        Totals {
            packets: self.packets - before.packets,
            flits: self.flits - before.flits,
            packet_latency: self.packet_latency.wrapping_sub(before.packet_latency),
            network_latency: self.network_latency.wrapping_sub(before.network_latency),
        }
    }

    /// The sum of two.
    pub fn and(&self, more: &Totals) -> Totals {
        Totals {
            packets: self.packets + more.packets,
            flits: self.flits + more.flits,
            packet_latency: self.packet_latency.wrapping_add(more.packet_latency),
            network_latency: self.network_latency.wrapping_add(more.network_latency),
        }
    }
}

/// Most batches that are kept.
const PLACES: usize = 512;

/// Batches of equal length from some cycle on.
#[derive(Debug, Clone)]
pub(crate) struct Batches {
    /// First cycle of the batch that is filling.
    open: u64,
    /// Length of a batch \[cycles].
    width: u64,
    closed: Vec<Totals>,
    /// Totals at the beginning of the batch that is filling.
    before: Totals,
}

impl Batches {
    /// Batches from cycle `start` on, of one cycle each at first. Allocates here and never again.
    pub fn new(start: u64) -> Self {
        Batches { open: start, width: 1, closed: Vec::with_capacity(PLACES), before: Totals::default() }
    }

    /// Starts anew: the first batch begins in cycle `start`, before which `totals` had arrived.
    pub fn restart(&mut self, start: u64, totals: Totals) {
        self.closed.clear();
        self.open = start;
        self.width = 1;
        self.before = totals;
    }

    /// The first cycle that does not belong to the batch that is filling any more.
    pub fn end(&self) -> u64 {
        self.open + self.width
    }

    /// Length of a batch \[cycles].
    pub fn width(&self) -> u64 {
        self.width
    }

    /// The batches that are full.
    pub fn closed(&self) -> &[Totals] {
        &self.closed
    }

    /// Closes every batch that ends at or before `now`, with `totals` at the beginning of cycle `now`. What arrived
    /// since the last call counts for the first of them: the caller looks at the end of each batch, unless nothing
    /// arrives for longer.
    pub fn close(&mut self, now: u64, totals: Totals) {
        while self.end() <= now {
            self.closed.push(totals.since(&self.before));
            self.before = totals;
            self.open += self.width;
            if self.closed.len() == PLACES {
                self.halve();
            }
        }
    }

    fn halve(&mut self) {
        for i in 0..PLACES / 2 {
            self.closed[i] = self.closed[2 * i].and(&self.closed[2 * i + 1]);
        }
        self.closed.truncate(PLACES / 2);
        self.width *= 2;
    }

    /// The batches added up in groups of `size`; the last ones are left out if they do not fill a group.
    pub fn grouped(&self, size: usize) -> impl Iterator<Item = Totals> + '_ {
        self.closed.chunks_exact(size).map(|group| group.iter().fold(Totals::default(), |sum, batch| sum.and(batch)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One packet of one flit arrives in each cycle.
    fn at(cycle: u64) -> Totals {
        Totals { packets: cycle, flits: cycle, packet_latency: 5 * cycle, network_latency: 3 * cycle }
    }

    #[test]
    fn batches_double_and_lose_nothing() {
        let mut batches = Batches::new(0);
        batches.restart(100, at(100));
        let room = batches.closed.capacity();
        for now in 100..20_000 {
            if now >= batches.end() {
                batches.close(now, at(now));
            }
        }
        assert_eq!((batches.width(), batches.closed.capacity()), (64, room));
        assert!((PLACES / 2..PLACES).contains(&batches.closed().len()));
        assert!(batches.closed().iter().all(|b| *b == at(64)));
        let groups: Vec<Totals> = batches.grouped(8).collect();
        assert_eq!(groups.len(), batches.closed().len() / 8);
        assert!(groups.iter().all(|g| *g == at(512)));
    }

    #[test]
    fn a_long_silence_is_many_empty_batches() {
        let mut batches = Batches::new(0);
        batches.close(1_000_000_000, at(7));
        let packets: u64 = batches.closed().iter().map(|b| b.packets).sum();
        assert_eq!((packets, batches.closed()[0].packets), (7, 7));
        assert!(batches.end() > 1_000_000_000 && batches.end() - batches.width() <= 1_000_000_000);
    }
}
