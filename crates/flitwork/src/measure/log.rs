//! What is noted of each packet: counts and latencies always, whole records where asked for.

use super::batches::Totals;
use super::deliveries::DeliveryRecorder;
use super::packet_records::PacketRecords;
use super::{DeliveryWindows, LatencyRecorder, PacketRecord, PacketTable, Tally};
use crate::mix::mix;
use std::ops::Range;

/// Where a packet comes from; half a cache line.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(32))]
pub(crate) struct Origin {
    /// Cycle of creation.
    pub created: u64,
    /// Cycle in which the head left the terminal.
    pub injected: u64,
    /// Source terminal.
    pub src: u32,
    /// Number at its source.
    pub sequence: u32,
    /// Message it belongs to: the operation in the schedule, or the sequence number.
    pub message: u32,
    /// Index of the packet in the packet records, where those are kept.
    pub record: u32,
}

/// What the log needs to know of a packet that has arrived.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    pub origin: Origin,
    pub dst: u32,
    pub hops: u32,
    pub flits: u32,
    pub background: bool,
}

/// What is noted of the packets of the workload, or of those of the background.
#[derive(Debug)]
pub(crate) struct TrafficLog {
    /// Creation cycles of the packets that are measured.
    window: Range<u64>,
    /// Packets that injection ports took.
    pub taken: u64,
    /// Measured packets that injection ports took, and those that arrived.
    pub measured_taken: u64,
    measured_arrived: u64,
    /// Flits of measured packets that injection ports took.
    pub measured_taken_flits: u64,
    /// Everything that has arrived, measured or not.
    pub totals: Totals,
    pub packet_latency: LatencyRecorder,
    pub network_latency: LatencyRecorder,
    /// Flits that arrived in the measurement, whenever they were created, by source.
    pub delivered_flits: Vec<u64>,
    /// Which terminals have sent anything.
    pub has_sent: Vec<bool>,
    measured_hops: u64,
    deliveries: Option<DeliveryRecorder>,
}

impl TrafficLog {
    /// A log for a network of so many terminals that measures packets created in `window`.
    pub fn new(window: Range<u64>, terminals: usize, deliveries: Option<DeliveryRecorder>) -> Self {
        TrafficLog {
            window,
            taken: 0,
            measured_taken: 0,
            measured_arrived: 0,
            measured_taken_flits: 0,
            totals: Totals::default(),
            packet_latency: LatencyRecorder::new(),
            network_latency: LatencyRecorder::new(),
            delivered_flits: vec![0; terminals],
            has_sent: vec![false; terminals],
            measured_hops: 0,
            deliveries,
        }
    }

    #[inline(always)]
    fn taken(&mut self, terminal: usize, created: u64, flits: u32) {
        self.taken += 1;
        self.has_sent[terminal] = true;
        if self.window.contains(&created) {
            self.measured_taken += 1;
            self.measured_taken_flits += u64::from(flits);
        }
    }

    #[inline(always)]
    fn arrived(&mut self, packet: &Arrival, now: u64) {
        self.totals.packets += 1;
        self.totals.flits += u64::from(packet.flits);
        self.totals.packet_latency = self.totals.packet_latency.wrapping_add(now - packet.origin.created);
        self.totals.network_latency = self.totals.network_latency.wrapping_add(now - packet.origin.injected);
        if self.window.contains(&packet.origin.created) {
            self.measured_arrived += 1;
            self.measured_hops += u64::from(packet.hops);
            self.packet_latency.record(now - packet.origin.created);
            self.network_latency.record(now - packet.origin.injected);
        }
        if self.window.contains(&now) {
            self.delivered_flits[packet.origin.src as usize] += u64::from(packet.flits);
        }
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.arrived(packet.flits, now);
        }
    }

    fn measured_under_way(&self) -> u64 {
        // In a part of a network more may arrive than it has sent.
        self.measured_taken.wrapping_sub(self.measured_arrived)
    }

    /// Adds what another part of the network has noted.
    fn absorb(&mut self, more: &TrafficLog) {
        self.taken += more.taken;
        self.measured_taken += more.measured_taken;
        self.measured_arrived += more.measured_arrived;
        self.measured_taken_flits += more.measured_taken_flits;
        self.totals = self.totals.and(&more.totals);
        self.packet_latency.absorb(&more.packet_latency);
        self.network_latency.absorb(&more.network_latency);
        self.delivered_flits.iter_mut().zip(&more.delivered_flits).for_each(|(sum, flits)| *sum += flits);
        self.has_sent.iter_mut().zip(&more.has_sent).for_each(|(any, has)| *any |= has);
        self.measured_hops += more.measured_hops;
    }

    /// Channels on the routes of the measured packets that have arrived, and how many these are.
    pub fn hops(&self) -> (u64, u64) {
        (self.measured_hops, self.measured_arrived)
    }

    /// Mean channels on the route of a measured packet, if there was one.
    pub fn mean_hops(&self) -> Option<f64> {
        let (hops, packets) = self.hops();
        (packets > 0).then(|| hops as f64 / packets as f64)
    }

    /// What arrived by window, up to cycle `end`, where that was asked for.
    pub fn deliveries(&mut self, end: u64) -> Option<DeliveryWindows> {
        self.deliveries.take().map(|deliveries| deliveries.finish(end))
    }
}

/// Takes note of packets as they are taken, injected and delivered.
#[derive(Debug)]
pub(crate) struct PacketLog {
    pub workload: TrafficLog,
    pub background: Option<TrafficLog>,
    digest: u64,
    records: Option<PacketRecords>,
    /// Of workload and background, where asked for.
    tally: Option<Box<Tally>>,
}

impl PacketLog {
    /// A log that keeps whole records if `keep`.
    pub fn new(workload: TrafficLog, background: Option<TrafficLog>, keep: bool) -> Self {
        PacketLog { workload, background, digest: 0, records: keep.then(PacketRecords::default), tally: None }
    }

    /// Counts traffic terminal by terminal from now on.
    pub fn keep_tally(&mut self, terminals: usize) {
        self.tally = Some(Box::new(Tally::new(terminals)));
    }

    /// What has been counted so far, if it was asked for.
    pub fn tally(&self) -> Option<&Tally> {
        self.tally.as_deref()
    }

    #[inline]
    fn class(&mut self, background: bool) -> &mut TrafficLog {
        match &mut self.background {
            Some(log) if background => log,
            _ => &mut self.workload,
        }
    }

    /// Measures the packets created in `window` from now on; no cycle up to now is in it.
    pub fn measure(&mut self, window: &Range<u64>) {
        self.workload.window = window.clone();
        if let Some(log) = &mut self.background {
            log.window = window.clone();
        }
    }

    /// An injection port of `terminal` took a packet of `flits` that was created in cycle `created`. Returns the index
    /// of its record.
    #[inline(always)]
    pub fn taken(
        &mut self,
        background: bool,
        terminal: usize,
        created: u64,
        flits: impl Into<u32>,
        record: impl FnOnce() -> PacketRecord,
    ) -> u32 {
        let flits = flits.into();
        self.class(background).taken(terminal, created, flits);
        if let Some(tally) = &mut self.tally {
            tally.taken(flits, created);
        }
        match &mut self.records {
            Some(records) => records.taken(record()),
            None => 0,
        }
    }

    /// Notes that the head of a packet left the terminal.
    #[inline]
    pub fn injected(&mut self, record: u32, terminal: u32, flits: u16, now: u64) {
        if let Some(records) = &mut self.records {
            records.injected(record, now);
        }
        if let Some(tally) = &mut self.tally {
            tally.injected(terminal, u32::from(flits), now, &self.workload.window);
        }
    }

    /// Notes that the tail of a packet arrived.
    #[inline(always)]
    pub fn arrived(&mut self, packet: &Arrival, now: u64) {
        // A sum: the order in which packets of one cycle are handled does not matter.
        let who = u64::from(packet.origin.src) << 32 | u64::from(packet.origin.sequence);
        self.digest = self.digest.wrapping_add(mix(mix(who) ^ now));
        self.class(packet.background).arrived(packet, now);
        if let Some(records) = &mut self.records {
            records.arrived(packet.origin.record, packet.hops, now);
        }
        if let Some(tally) = &mut self.tally {
            tally.arrived(packet, now, &self.workload.window);
        }
    }

    /// Measured packets under way, of both.
    pub fn measured_under_way(&self) -> u64 {
        self.workload.measured_under_way() + self.background.as_ref().map_or(0, TrafficLog::measured_under_way)
    }

    /// Adds the log of another part of the network; without a background, records and windows.
    pub fn absorb(&mut self, more: PacketLog) {
        debug_assert!(self.background.is_none() && self.records.is_none());
        if let (Some(tally), Some(more)) = (&mut self.tally, &more.tally) {
            tally.absorb(more);
        }
        self.digest = self.digest.wrapping_add(more.digest);
        self.workload.absorb(&more.workload);
    }

    /// Fingerprint of all arrivals, of both.
    pub fn digest(&self) -> String {
        let packets = self.workload.totals.packets + self.background.as_ref().map_or(0, |log| log.totals.packets);
        format!("{:016x}", mix(self.digest ^ packets))
    }

    /// From now on the records of packets that have arrived are handed over during the run: see
    /// [`PacketRecords::hand_over`].
    pub fn hand_over_records(&mut self) {
        self.records = self.records.take().map(PacketRecords::hand_over);
    }

    /// The records of the packets that have arrived since the last call, where they are handed over.
    pub fn take_records(&mut self) -> Vec<PacketRecord> {
        self.records.as_mut().map(PacketRecords::take).unwrap_or_default()
    }

    /// The records, in order of (source, sequence).
    pub fn into_records(self) -> PacketTable {
        self.records.map(PacketRecords::in_order).unwrap_or_default()
    }
}
