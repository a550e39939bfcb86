//! What is noted of each packet: counts and latencies always, whole records where asked for.

use super::batches::Totals;
use super::{LatencyRecorder, PacketRecord};
use crate::mix::mix;
use std::ops::Range;

/// What the log needs to know of a packet that has arrived.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    pub src: u32,
    pub sequence: u32,
    pub record: u32,
    pub hops: u32,
    pub flits: u32,
    pub created: u64,
    pub injected: u64,
}

/// Takes note of packets as they are taken, injected and delivered.
#[derive(Debug)]
pub(crate) struct PacketLog {
    /// Creation cycles of the packets that are measured.
    window: Range<u64>,
    /// Measured packets that controllers took, and those that arrived.
    pub measured_taken: u64,
    pub measured_arrived: u64,
    /// Flits of measured packets that controllers took.
    pub measured_taken_flits: u64,
    /// Everything that has arrived, measured or not.
    pub totals: Totals,
    pub last_arrival: u64,
    pub packet_latency: LatencyRecorder,
    pub network_latency: LatencyRecorder,
    /// Flits that arrived in the measurement, whenever they were created, by source.
    pub delivered_flits: Vec<u64>,
    measured_hops: u64,
    digest: u64,
    records: Option<Vec<PacketRecord>>,
}

impl PacketLog {
    /// A log of a network of so many terminals that measures packets created in `window`, and keeps whole records if `keep`.
    pub fn new(window: Range<u64>, terminals: usize, keep: bool) -> Self {
        PacketLog {
            window,
            measured_taken: 0,
            measured_arrived: 0,
            measured_taken_flits: 0,
            totals: Totals::default(),
            last_arrival: 0,
            packet_latency: LatencyRecorder::new(),
            network_latency: LatencyRecorder::new(),
            delivered_flits: vec![0; terminals],
            measured_hops: 0,
            digest: 0,
            records: keep.then(Vec::new),
        }
    }

    /// Measures the packets created in `window` from now on; no cycle up to now is in it.
    pub fn measure(&mut self, window: Range<u64>) {
        self.window = window;
    }

    /// A controller took a packet of `flits` that was created in cycle `created`. Returns the index of its record.
    #[inline]
    pub fn taken(&mut self, created: u64, flits: u16, record: impl FnOnce() -> PacketRecord) -> u32 {
        if self.window.contains(&created) {
            self.measured_taken += 1;
            self.measured_taken_flits += u64::from(flits);
        }
        self.records.as_mut().map_or(0, |records| {
            records.push(record());
            records.len() as u32 - 1
        })
    }

    /// Its head left the terminal.
    #[inline]
    pub fn injected(&mut self, record: u32, now: u64) {
        if let Some(records) = &mut self.records {
            records[record as usize].injected = now;
        }
    }

    /// Its tail arrived.
    pub fn arrived(&mut self, packet: &Arrival, now: u64) {
        self.totals.packets += 1;
        self.totals.flits += u64::from(packet.flits);
        self.totals.packet_latency = self.totals.packet_latency.wrapping_add(now - packet.created);
        self.totals.network_latency = self.totals.network_latency.wrapping_add(now - packet.injected);
        self.last_arrival = now;
        // A sum: the order in which packets of one cycle are handled does not matter.
        let who = u64::from(packet.src) << 32 | u64::from(packet.sequence);
        self.digest = self.digest.wrapping_add(mix(mix(who) ^ now));
        if self.window.contains(&packet.created) {
            self.measured_arrived += 1;
            self.measured_hops += u64::from(packet.hops);
            self.packet_latency.record(now - packet.created);
            self.network_latency.record(now - packet.injected);
        }
        if self.window.contains(&now) {
            self.delivered_flits[packet.src as usize] += u64::from(packet.flits);
        }
        if let Some(records) = &mut self.records {
            let record = &mut records[packet.record as usize];
            record.arrived = now;
            record.hops = packet.hops;
        }
    }

    /// Measured packets under way.
    pub fn measured_under_way(&self) -> u64 {
        self.measured_taken - self.measured_arrived
    }

    /// Mean channels on the way of a measured packet, if there was one.
    pub fn mean_hops(&self) -> Option<f64> {
        (self.measured_arrived > 0).then(|| self.measured_hops as f64 / self.measured_arrived as f64)
    }

    /// Fingerprint of all arrivals.
    pub fn digest(&self) -> String {
        format!("{:016x}", mix(self.digest ^ self.totals.packets))
    }

    /// The records, in order of (source, sequence).
    pub fn into_records(self) -> Vec<PacketRecord> {
        let mut records = self.records.unwrap_or_default();
        records.sort_unstable_by_key(|r| (r.src, r.sequence));
        records
    }
}
