//! The barrier tree: separate wires for notifications of barriers, which arrive after a fixed time and wait for
//! nothing.

use super::network::{Endpoints, Network, Observed};
use crate::host::Message;
use crate::measure::{Arrival, Origin, PacketRecord};
use crate::timers::Timers;
use std::ops::Range;

/// A barrier tree in motion.
#[derive(Debug)]
pub(super) struct BarrierTree {
    hop_cycles: u64,
    /// The number in records of what its messages are sent by: that behind the bus.
    port: u32,
    /// Notifications in flight, by places in `in_flight`, with the cycle in which they arrive.
    arriving: Timers,
    in_flight: Vec<Arrival>,
    unused: Vec<u32>,
    taken: Vec<(u32, Message)>,
    flits: u64,
}

impl BarrierTree {
    pub fn new(hop_cycles: u32, nic_ports: usize) -> Self {
        BarrierTree {
            hop_cycles: u64::from(hop_cycles),
            port: nic_ports as u32 + 1,
            arriving: Timers::default(),
            in_flight: Vec::new(),
            unused: Vec::new(),
            taken: Vec::new(),
            flits: 0,
        }
    }

    /// A notification of terminal `from` leaves.
    fn send(&mut self, from: u32, message: &Message, now: u64, ends: &mut Endpoints) {
        let (sequence, flits) = (ends.nics.number_packet(from as usize), message.flits as u32);
        let record = ends.log.taken(false, from as usize, now, flits, || PacketRecord {
            src: from,
            sequence,
            dst: message.to,
            flits,
            message: message.number,
            injection_port: self.port,
            minus: 0,
            wraps: 0,
            hops: 0,
            created: now,
            injected: now,
            arrived: u64::MAX,
            background: false,
        });
        let origin = Origin { created: now, injected: now, src: from, sequence, message: message.id, record };
        let arrival = Arrival { origin, dst: message.to, hops: 0, flits, background: false };
        let place = self.unused.pop().unwrap_or(self.in_flight.len() as u32);
        if place as usize == self.in_flight.len() {
            self.in_flight.push(arrival);
        } else {
            self.in_flight[place as usize] = arrival;
        }
        self.arriving.push(now + self.hop_cycles, place);
        self.flits += u64::from(flits);
    }
}

impl Network for BarrierTree {
    fn deliver(&mut self, now: u64, arrived: &mut Vec<Arrival>) {
        while let Some(place) = self.arriving.pop(now) {
            arrived.push(self.in_flight[place as usize]);
            self.unused.push(place);
        }
    }

    fn step(&mut self, now: u64, ends: &mut Endpoints) {
        let mut taken = std::mem::take(&mut self.taken);
        if let Some(hosts) = ends.hosts.as_deref_mut() {
            hosts.take_notifications(&mut taken);
        }
        for (from, message) in taken.drain(..) {
            self.send(from, &message, now, ends);
            if let Some(hosts) = ends.hosts.as_deref_mut() {
                hosts.sent(message.id);
            }
        }
        self.taken = taken;
    }

    fn next_event(&self, _now: u64) -> Option<u64> {
        self.arriving.next()
    }

    fn next_observation(&self, _now: u64) -> u64 {
        u64::MAX
    }

    fn flit_hops(&self) -> u64 {
        self.flits
    }

    fn measure(&mut self, _now: u64, _window: Range<u64>) {}

    fn channel_flits(&self, _before: u64, _flits: &mut Vec<u64>) {}

    fn finish(self: Box<Self>, _now: u64) -> Observed {
        Observed::default()
    }
}
