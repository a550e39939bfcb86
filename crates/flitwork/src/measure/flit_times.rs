//! When flits leave their terminals and arrive, where that is asked for: latencies of flits, and how far the flits of a
//! packet come apart.

use super::Origin;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Count, sum, smallest and largest of numbers of cycles; of none 0, 0, `u64::MAX` and 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spread {
    /// How many there are.
    pub count: u64,
    /// Sum of the times \[cycles].
    pub sum: u64,
    /// The smallest \[cycles].
    pub least: u64,
    /// The largest \[cycles].
    pub most: u64,
}

impl Default for Spread {
    fn default() -> Self {
        Spread { count: 0, sum: 0, least: u64::MAX, most: 0 }
    }
}

impl Spread {
    fn add(&mut self, cycles: u64) {
        self.absorb(&Spread { count: 1, sum: cycles, least: cycles, most: cycles });
    }

    pub(super) fn absorb(&mut self, more: &Spread) {
        self.count += more.count;
        self.sum += more.sum;
        self.least = self.least.min(more.least);
        self.most = self.most.max(more.most);
    }
}

/// What flits have shown so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FlitTally {
    /// From leaving the terminal to arrival, of the flits that arrived from the start of the measurement on.
    pub latency: Spread,
    /// Cycles from the arrival of the head to that of the tail beyond one a flit, of the packets created in the
    /// measurement.
    pub fragmentation: Spread,
}

impl FlitTally {
    pub(super) fn absorb(&mut self, more: &FlitTally) {
        self.latency.absorb(&more.latency);
        self.fragmentation.absorb(&more.fragmentation);
    }

    fn count(&mut self, due: &Due) {
        due.latency.into_iter().for_each(|cycles| self.latency.add(cycles));
        due.fragmentation.into_iter().for_each(|cycles| self.fragmentation.add(cycles));
    }
}

/// A packet of which not all flits have been sent to its destination.
#[derive(Debug)]
struct UnderWay {
    sequence: u32,
    /// Cycles in which those flits left the terminal.
    left: VecDeque<u64>,
    /// Arrival of the head, and flits sent to the destination.
    head: u64,
    flits: u64,
}

/// The packets of all terminals, for all parts of a network: a packet may arrive in another part than it left.
#[derive(Debug, Clone)]
pub(crate) struct FlitsUnderWay(Arc<Vec<Mutex<Vec<UnderWay>>>>);

impl FlitsUnderWay {
    pub fn new(terminals: usize) -> Self {
        FlitsUnderWay(Arc::new((0..terminals).map(|_| Mutex::default()).collect()))
    }
}

/// A flit on its last channel.
#[derive(Debug)]
struct Due {
    arrival: u64,
    latency: Option<u64>,
    fragmentation: Option<u64>,
}

/// Takes note of the flits of a part of a network.
#[derive(Debug)]
pub(crate) struct FlitTimes {
    under_way: FlitsUnderWay,
    due: VecDeque<Due>,
    tally: FlitTally,
}

impl FlitTimes {
    pub fn new(under_way: FlitsUnderWay) -> Self {
        FlitTimes { under_way, due: VecDeque::new(), tally: FlitTally::default() }
    }

    /// A flit of a packet left its terminal in cycle `now`.
    pub fn left(&mut self, packet: &Origin, now: u64) {
        let sequence = packet.sequence;
        self.of_source(packet.src, |packets| match packets.iter_mut().find(|one| one.sequence == sequence) {
            Some(one) => one.left.push_back(now),
            None => packets.push(UnderWay { sequence, left: VecDeque::from([now]), head: u64::MAX, flits: 0 }),
        });
    }

    /// The next flit of a packet arrives in cycle `arrival`, which is not before `now`; packets created in
    /// `measurement` are measured.
    pub fn arrives(&mut self, packet: &Origin, tail: bool, arrival: u64, now: u64, measurement: &Range<u64>) {
        let sent = self.of_source(packet.src, |packets| {
            let at = packets.iter().position(|one| one.sequence == packet.sequence)?;
            let one = &mut packets[at];
            let left = one.left.pop_front()?;
            one.head = one.head.min(arrival);
            one.flits += 1;
            let apart = arrival - one.head - (one.flits - 1);
            if tail {
                packets.swap_remove(at);
            }
            Some((arrival - left, apart))
        });
        debug_assert!(sent.is_some(), "a flit arrives that never left");
        let Some((latency, apart)) = sent else { return };
        while self.due.front().is_some_and(|due| due.arrival <= now) {
            self.due.pop_front().iter().for_each(|due| self.tally.count(due));
        }
        let latency = (arrival >= measurement.start).then_some(latency);
        let fragmentation = (tail && measurement.contains(&packet.created)).then_some(apart);
        self.due.push_back(Due { arrival, latency, fragmentation });
    }

    /// What has arrived before cycle `before`.
    pub fn tally(&self, before: u64) -> FlitTally {
        let mut tally = self.tally;
        self.due.iter().filter(|due| due.arrival < before).for_each(|due| tally.count(due));
        tally
    }

    fn of_source<T>(&self, source: u32, act: impl FnOnce(&mut Vec<UnderWay>) -> T) -> T {
        // Nobody panics with the lock, and what it guards is whole between two calls.
        act(&mut self.under_way.0[source as usize].lock().unwrap_or_else(PoisonError::into_inner))
    }
}
