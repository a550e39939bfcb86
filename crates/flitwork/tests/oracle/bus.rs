//! The bus of a machine, which carries messages of all ranks one transfer after the other: docs/model.md, "Bus".

use super::copies::fraction;
use super::program::{Message, Programs, Send};
use super::queue::{Job, Queue};
use flitwork::schedule::{SendQueue, Via};
use flitwork::spec::BusSpec;

/// A message that the bus has taken.
pub struct Carried {
    pub message: Message,
    /// The cycle in which its first flit is sent.
    pub injected: u64,
    /// The cycle in which it arrives.
    pub arrived: u64,
}

/// A time: a cycle, and so many parts of one, of which the rate's flits are a cycle.
type Time = (u64, u64);

/// What a rank sends over the bus.
struct Station {
    /// First messages of transfers.
    queue: Queue,
    /// Those that go with them, by the operation of the first.
    joined: Vec<(u32, Message)>,
    /// The first of the transfer that the rank began last.
    last: u32,
}

pub struct Bus {
    rate: (u64, u64),
    arbitration: u64,
    latency: u64,
    stations: Vec<Station>,
    turn: usize,
    free: Time,
    ends: Vec<(u64, Send)>,
}

impl Bus {
    pub fn new(spec: &BusSpec, ranks: u32, kind: SendQueue) -> Self {
        let station = |_| Station { queue: Queue::new(kind), joined: Vec::new(), last: 0 };
        Bus {
            rate: fraction(spec.flits_per_cycle),
            arbitration: u64::from(spec.arbitration_cycles),
            latency: u64::from(spec.latency_cycles),
            stations: (0..ranks).map(station).collect(),
            turn: 0,
            free: (0, 0),
            ends: Vec::new(),
        }
    }

    /// A message joins the queue of its rank, or the transfer that its rank began last.
    pub fn push(&mut self, message: Message) {
        let station = &mut self.stations[message.send.0 as usize];
        if message.via == Via::Bus {
            station.last = message.send.1;
            station.queue.push(Job::Message(message));
        } else {
            station.joined.push((station.last, message));
        }
    }

    /// Step 1: messages that have arrived.
    pub fn arrive(&mut self, programs: &mut Programs, now: u64) {
        let (due, later): (Vec<_>, Vec<_>) = self.ends.drain(..).partition(|(cycle, _)| *cycle == now);
        self.ends = later;
        due.into_iter().for_each(|(_, send)| programs.carried(send));
    }

    /// Step 2b, behind the injection ports: transfers that begin before the next cycle.
    pub fn carry(&mut self, programs: &mut Option<Programs>, now: u64) -> Vec<Carried> {
        let mut carried = Vec::new();
        self.stations.iter_mut().for_each(|station| station.queue.look(programs, now));
        while self.free.0 <= now {
            let n = self.stations.len();
            let has_some = |&i: &usize| self.stations[i].queue.next_ready().is_some();
            let Some(rank) = (0..n).map(|i| (self.turn + i) % n).find(has_some) else { break };
            self.turn = (rank + 1) % n;
            let Job::Message(first) = self.stations[rank].queue.pop() else { panic!("a message") };
            let goes_with = |(op, _): &(u32, Message)| *op == first.send.1;
            let (with, rest): (Vec<_>, Vec<_>) = self.stations[rank].joined.drain(..).partition(goes_with);
            self.stations[rank].joined = rest;
            if self.free.0 < now {
                self.free = (now, 0);
            }
            self.free.0 += self.arbitration;
            let mut begin = self.free;
            for message in [first].into_iter().chain(with.into_iter().map(|(_, message)| message)) {
                if message.via != Via::BusSame {
                    begin = self.free;
                    self.send(message.flits);
                }
                let over = self.free.0 + u64::from(self.free.1 > 0);
                let programs = programs.as_mut().expect("a schedule");
                programs.taken(&message, now);
                programs.complete(message.send, over);
                self.ends.push((over + self.latency, message.send));
                carried.push(Carried { message, injected: begin.0, arrived: over + self.latency });
            }
        }
        carried
    }

    /// So many flits are sent one after the other.
    fn send(&mut self, flits: u32) {
        let parts = self.free.1 + u64::from(flits) * self.rate.1;
        self.free = (self.free.0 + parts / self.rate.0, parts % self.rate.0);
    }

    pub fn idle(&self) -> bool {
        self.ends.is_empty() && self.stations.iter().all(|station| station.queue.is_empty())
    }
}
