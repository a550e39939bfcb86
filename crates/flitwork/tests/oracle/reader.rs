//! The reader of a terminal, which reads its messages from memory before they are sent: step 2b of docs/model.md.

use super::terminal::Planned;
use std::collections::VecDeque;

/// A message in the queue of the NIC.
struct Read {
    /// The first cycle in which its first packet is there.
    joins: u64,
    packets: VecDeque<Planned>,
    ends: (u32, u32),
}

pub struct Reader {
    /// Flits in cycles.
    rate: (u64, u64),
    packet_flits: u32,
    /// When it is free: so many cycles and so many parts of one, of which `rate.0` are a cycle.
    free: (u64, u64),
    queue: VecDeque<Read>,
}

impl Reader {
    pub fn new(rate: (u64, u64), packet_flits: u32) -> Self {
        Reader { rate, packet_flits, free: (0, 0), queue: VecDeque::new() }
    }

    /// Whether it can begin to read before the cycle ends.
    pub fn is_free(&self, now: u64) -> bool {
        self.free.0 <= now
    }

    /// `flits` flits after `from`.
    fn later(&self, from: (u64, u64), flits: u32) -> (u64, u64) {
        let parts = from.1 + u64::from(flits) * self.rate.1;
        (from.0 + parts / self.rate.0, parts % self.rate.0)
    }

    /// Reads the packets of a message.
    pub fn read(&mut self, mut packets: VecDeque<Planned>, ends: (u32, u32), now: u64) {
        let whole = |(cycle, part): (u64, u64)| cycle + u64::from(part > 0);
        if self.free.0 < now {
            self.free = (now, 0);
        }
        let all: u32 = packets.iter().map(|packet| packet.flits).sum();
        let joins = whole(self.later(self.free, all.min(self.packet_flits)));
        for packet in &mut packets {
            self.free = self.later(self.free, packet.flits);
            packet.read = whole(self.free);
        }
        self.queue.push_back(Read { joins, packets, ends });
    }

    /// When the next message joined the queue, and the ranks that it goes from and to.
    pub fn next(&self, now: u64) -> Option<(u64, (u32, u32))> {
        let read = self.queue.front()?;
        (read.joins <= now).then_some((read.joins, read.ends))
    }

    /// Takes it.
    pub fn pop(&mut self) -> (VecDeque<Planned>, (u32, u32)) {
        let Read { packets, ends, .. } = self.queue.pop_front().expect("there is one");
        (packets, ends)
    }

    pub fn idle(&self) -> bool {
        self.queue.is_empty()
    }
}
