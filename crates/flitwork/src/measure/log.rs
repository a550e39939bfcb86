//! What is noted of each packet: counts and latencies always, whole records where asked for.

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
    pub arrived: u64,
    pub last_arrival: u64,
    pub packet_latency: LatencyRecorder,
    pub network_latency: LatencyRecorder,
    measured_hops: u64,
    digest: u64,
    records: Option<Vec<PacketRecord>>,
}

impl PacketLog {
    /// A log that measures packets created in `window`, and keeps whole records if `keep`.
    pub fn new(window: Range<u64>, keep: bool) -> Self {
        PacketLog {
            window,
            measured_taken: 0,
            measured_arrived: 0,
            arrived: 0,
            last_arrival: 0,
            packet_latency: LatencyRecorder::new(),
            network_latency: LatencyRecorder::new(),
            measured_hops: 0,
            digest: 0,
            records: keep.then(Vec::new),
        }
    }

    /// A controller took a packet that was created in cycle `created`. Returns the index of its record.
    #[inline]
    pub fn taken(&mut self, created: u64, record: impl FnOnce() -> PacketRecord) -> u32 {
        self.measured_taken += u64::from(self.window.contains(&created));
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
        self.arrived += 1;
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
        if let Some(records) = &mut self.records {
            records[packet.record as usize].arrived = now;
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
        format!("{:016x}", mix(self.digest ^ self.arrived))
    }

    /// The records, in order of (source, sequence).
    pub fn into_records(self) -> Vec<PacketRecord> {
        let mut records = self.records.unwrap_or_default();
        records.sort_unstable_by_key(|r| (r.src, r.sequence));
        records
    }
}
