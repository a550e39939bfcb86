//! The bus: one channel that all ranks share, a transfer at a time.
//!
//! A rank that has a transfer waits for its turn. The bus is busy for its arbitration and for the flits of the
//! transfer; each message has arrived when its last flit has been sent and the latency has passed. Time is exact, in
//! fractions of a cycle.

use super::network::{Endpoints, Network, Observed};
use crate::host::{BusMessage, Hosts};
use crate::measure::{Arrival, BusReport, Origin, PacketLog, PacketRecord};
use crate::plan::BusParams;
use crate::terminal::Nics;
use crate::timers::Timers;
use std::ops::Range;

/// A bus in motion.
#[derive(Debug)]
pub(super) struct Bus {
    params: BusParams,
    /// The number in records of what its messages are sent by: that behind the injection ports of a NIC.
    port: u32,
    /// When it is free, in parts of a cycle.
    free: u128,
    /// The cycle in which it will be free for a transfer that waits.
    due: Option<u64>,
    /// Sends, by messages, with the cycle in which their last flit is sent.
    sent: Timers,
    /// Messages in flight, by their places in `in_flight`, with the cycle in which they arrive.
    arriving: Timers,
    in_flight: Vec<Arrival>,
    unused: Vec<u32>,
    /// The transfer at hand.
    transfer: Vec<BusMessage>,
    report: BusReport,
    /// Time in which it was busy, in parts of a cycle.
    busy: u128,
}

impl Bus {
    pub fn new(params: BusParams, nic_ports: usize) -> Self {
        Bus {
            params,
            port: nic_ports as u32,
            free: 0,
            due: None,
            sent: Timers::default(),
            arriving: Timers::default(),
            in_flight: Vec::new(),
            unused: Vec::new(),
            transfer: Vec::new(),
            report: BusReport::default(),
            busy: 0,
        }
    }

    /// Takes the transfers that can begin before the next cycle does.
    fn take_all(&mut self, now: u64, hosts: &mut Hosts, nics: &mut Nics, log: &mut PacketLog) {
        let rate = self.params.rate;
        self.due = None;
        while hosts.wants_bus() {
            if self.free >= rate.at(now + 1) {
                self.due = Some(rate.cycle_of(self.free));
                return;
            }
            let mut transfer = std::mem::take(&mut self.transfer);
            if let Some(from) = hosts.take_transfer(&mut transfer) {
                self.send(from, &transfer, now, nics, log);
            }
            transfer.clear();
            self.transfer = transfer;
        }
    }

    /// Sends a transfer of terminal `from`, which begins when the bus is free.
    fn send(&mut self, from: u32, transfer: &[BusMessage], now: u64, nics: &mut Nics, log: &mut PacketLog) {
        let rate = self.params.rate;
        let begin = self.free.max(rate.at(now));
        let (mut first, mut end) = (begin, begin + rate.at(u64::from(self.params.arbitration_cycles)));
        for &BusMessage { message, same } in transfer {
            if !same {
                first = end;
                end += rate.parts(message.flits);
                self.report.flits += message.flits;
            }
            let (injected, over) = (rate.cycle_of(first), rate.cycle_from(end));
            let (sequence, flits) = (nics.number_packet(from as usize), message.flits as u32);
            let record = log.taken(false, from as usize, now, flits, || PacketRecord {
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
                injected,
                arrived: u64::MAX,
                background: false,
            });
            let origin = Origin { created: now, injected, src: from, sequence, message: message.id, record };
            let arrival = Arrival { origin, dst: message.to, hops: 0, flits, background: false };
            self.sent.push(over - 1, message.id);
            let place = self.keep(arrival);
            self.arriving.push(over + u64::from(self.params.latency_cycles), place);
        }
        self.busy += end - begin;
        self.free = end;
        self.report.transfers += 1;
        self.report.messages += transfer.len() as u64;
    }

    fn keep(&mut self, arrival: Arrival) -> u32 {
        match self.unused.pop() {
            Some(place) => {
                self.in_flight[place as usize] = arrival;
                place
            }
            None => {
                self.in_flight.push(arrival);
                self.in_flight.len() as u32 - 1
            }
        }
    }
}

impl Network for Bus {
    fn deliver(&mut self, now: u64, arrived: &mut Vec<Arrival>) {
        while let Some(place) = self.arriving.pop(now) {
            arrived.push(self.in_flight[place as usize]);
            self.unused.push(place);
        }
    }

    fn step(&mut self, now: u64, ends: &mut Endpoints) {
        let Some(hosts) = ends.hosts.as_deref_mut() else { return };
        self.take_all(now, hosts, ends.nics, ends.log);
        while let Some(message) = self.sent.pop(now) {
            hosts.sent(message);
        }
    }

    fn next_event(&self, _now: u64) -> Option<u64> {
        [self.due, self.sent.next(), self.arriving.next()].into_iter().flatten().min()
    }

    fn next_observation(&self, _now: u64) -> u64 {
        u64::MAX
    }

    fn flit_hops(&self) -> u64 {
        self.report.flits
    }

    fn measure(&mut self, _now: u64, _window: Range<u64>) {}

    fn channel_flits(&self, _before: u64, _flits: &mut Vec<u64>) {}

    fn finish(self: Box<Self>, _now: u64) -> Observed {
        let busy_cycles = self.params.rate.cycle_from(self.busy);
        Observed { bus: Some(BusReport { busy_cycles, ..self.report }), ..Observed::default() }
    }
}
