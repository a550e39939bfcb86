//! What happens next: events by (time, age), and the queues in which operations wait for a CPU or a NIC.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An operation that is to be taken, or a message that is to arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    /// When \[ns].
    pub time: u64,
    /// Age, and below it two bits: whether it waits in a queue, and whether it is an arrival. No two are alike.
    key: u64,
    /// The operation, of all ranks; of an arrival the send.
    pub op: u32,
    /// The rank of this operation.
    pub rank: u32,
}

const IN_QUEUE: u64 = 2;
const ARRIVAL: u64 = 1;

impl Event {
    pub fn new(time: u64, age: u64, arrival: bool, op: u32, rank: u32) -> Self {
        Event { time, key: age << 2 | u64::from(arrival), op, rank }
    }

    pub fn is_arrival(&self) -> bool {
        self.key & ARRIVAL > 0
    }
}

/// Those that wait for the same CPU and NIC, and the time of the event that the first of them has.
#[derive(Debug, Default)]
struct WaitQueue {
    by_age: BinaryHeap<Reverse<Event>>,
    called: u64,
}

const NO_QUEUE: u32 = u32::MAX;

/// All events of a machine.
#[derive(Debug)]
pub(super) struct Events {
    heap: BinaryHeap<Reverse<Event>>,
    /// The queue of each place, made when one has to wait there first.
    queue_of: Vec<u32>,
    queues: Vec<WaitQueue>,
    /// Times of CPUs and NICs may be set back: then no event waits in a queue, each is taken again on its own.
    alone: bool,
}

impl Events {
    pub fn new(places: usize, alone: bool) -> Self {
        Events { heap: BinaryHeap::new(), queue_of: vec![NO_QUEUE; places], queues: Vec::new(), alone }
    }

    pub fn push(&mut self, event: Event) {
        self.heap.push(Reverse(event));
    }

    /// The next event whose turn it is, with `place` as the queue in which it would wait.
    pub fn pop(&mut self, place: impl Fn(&Event) -> usize) -> Option<Event> {
        loop {
            let Reverse(event) = self.heap.pop()?;
            // An event of one that stood first in its queue, before another came that is older, or before it was called
            // again.
            if event.key & IN_QUEUE > 0 {
                let queue = &self.queues[self.queue_of[place(&event)] as usize];
                let first = queue.by_age.peek().is_some_and(|Reverse(first)| first.key == event.key);
                if !first || queue.called != event.time {
                    continue;
                }
            }
            return Some(event);
        }
    }

    /// The CPU or NIC of an event is busy until `free`.
    pub fn wait(&mut self, mut event: Event, place: usize, free: u64) {
        if self.alone {
            event.time = free;
            self.push(event);
        } else if event.key & IN_QUEUE > 0 {
            self.call(place, free);
        } else {
            event.key |= IN_QUEUE;
            // By age alone.
            event.time = 0;
            if self.queue_of[place] == NO_QUEUE {
                self.queue_of[place] = self.queues.len() as u32;
                self.queues.push(WaitQueue::default());
            }
            let queue = &mut self.queues[self.queue_of[place] as usize];
            queue.by_age.push(Reverse(event));
            if queue.by_age.peek().is_some_and(|Reverse(first)| first.key == event.key) {
                self.call(place, free);
            }
        }
    }

    /// An event has been executed, and its CPU and NIC are busy until `free`: it leaves its queue, and the next one is
    /// called.
    pub fn leave(&mut self, event: &Event, place: usize, free: u64) {
        if event.key & IN_QUEUE > 0 {
            self.queues[self.queue_of[place] as usize].by_age.pop();
            self.call(place, free);
        }
    }

    /// Gives the first of a queue an event at `time`.
    fn call(&mut self, place: usize, time: u64) {
        let queue = &mut self.queues[self.queue_of[place] as usize];
        queue.called = time;
        if let Some(&Reverse(first)) = queue.by_age.peek() {
            self.heap.push(Reverse(Event { time, ..first }));
        }
    }
}
