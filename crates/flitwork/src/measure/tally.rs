//! What is counted of traffic, terminal by terminal, without a record for each packet.

use super::{Arrival, FlitTally};
use std::ops::Range;

/// Sums over the packets of a run so far, where they were asked for. Its size depends on the terminals alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// Packets whose tail has arrived, whenever they were created.
    pub packets: u64,
    /// Flits of these packets.
    pub flits: u64,
    /// Sum of their packet latencies \[cycles].
    pub packet_latency_cycles: u64,
    /// Packets created in the measurement that have arrived.
    pub measured_packets: u64,
    /// Sum of their packet latencies \[cycles].
    pub measured_packet_latency_cycles: u64,
    /// Packets that arrived from the start of the measurement on, whenever they were created.
    pub late_packets: u64,
    /// Sum, smallest and largest of their network latencies \[cycles]; of no packets 0, `u64::MAX` and 0.
    pub late_network_latency_cycles: (u64, u64, u64),
    /// Flits of the packets that injection ports have taken and that have not arrived.
    pub under_way_flits: u64,
    /// The sum of the creation cycles of these flits, modulo 2^64.
    pub under_way_created: u64,
    /// Packets whose head left the terminal in the measurement, by source.
    pub injected_packets: Vec<u64>,
    /// Flits of these packets, by source.
    pub injected_flits: Vec<u64>,
    /// Packets whose tail arrived in the measurement, by destination.
    pub accepted_packets: Vec<u64>,
    /// Counts of flits, where they are recorded.
    pub of_flits: Option<FlitTally>,
}

impl Tally {
    pub(crate) fn new(terminals: usize) -> Self {
        Tally {
            late_network_latency_cycles: (0, u64::MAX, 0),
            injected_packets: vec![0; terminals],
            injected_flits: vec![0; terminals],
            accepted_packets: vec![0; terminals],
            ..Tally::default()
        }
    }

    /// An injection port took a packet that was created in cycle `created`.
    pub(crate) fn taken(&mut self, flits: u32, created: u64) {
        self.under_way_flits = self.under_way_flits.wrapping_add(u64::from(flits));
        self.under_way_created = self.under_way_created.wrapping_add(created.wrapping_mul(u64::from(flits)));
    }

    /// The head of a packet left its terminal in cycle `now`; cycles of `window` are measured.
    pub(crate) fn injected(&mut self, terminal: u32, flits: u32, now: u64, window: &Range<u64>) {
        if window.contains(&now) {
            self.injected_packets[terminal as usize] += 1;
            self.injected_flits[terminal as usize] += u64::from(flits);
        }
    }

    /// Its tail arrived.
    pub(crate) fn arrived(&mut self, packet: &Arrival, now: u64, window: &Range<u64>) {
        let latency = now - packet.origin.created;
        self.packets += 1;
        let (flits, created) = (u64::from(packet.flits), packet.origin.created);
        self.flits += flits;
        // In a part of a network more may arrive than it has sent.
        self.under_way_flits = self.under_way_flits.wrapping_sub(flits);
        self.under_way_created = self.under_way_created.wrapping_sub(created.wrapping_mul(flits));
        self.packet_latency_cycles += latency;
        if window.contains(&packet.origin.created) {
            self.measured_packets += 1;
            self.measured_packet_latency_cycles += latency;
        }
        if now >= window.start {
            let (sum, least, most) = &mut self.late_network_latency_cycles;
            let cycles = now - packet.origin.injected;
            (*sum, *least, *most) = (*sum + cycles, cycles.min(*least), cycles.max(*most));
            self.late_packets += 1;
        }
        if window.contains(&now) {
            self.accepted_packets[packet.dst as usize] += 1;
        }
    }

    /// Adds what another part of the network has counted.
    pub(crate) fn absorb(&mut self, more: &Tally) {
        self.packets += more.packets;
        self.flits += more.flits;
        self.packet_latency_cycles += more.packet_latency_cycles;
        self.under_way_flits = self.under_way_flits.wrapping_add(more.under_way_flits);
        self.under_way_created = self.under_way_created.wrapping_add(more.under_way_created);
        self.measured_packets += more.measured_packets;
        self.measured_packet_latency_cycles += more.measured_packet_latency_cycles;
        self.late_packets += more.late_packets;
        let ((sum, least, most), (more_sum, more_least, more_most)) =
            (self.late_network_latency_cycles, more.late_network_latency_cycles);
        self.late_network_latency_cycles = (sum + more_sum, least.min(more_least), most.max(more_most));
        let add = |sums: &mut [u64], more: &[u64]| sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        add(&mut self.injected_packets, &more.injected_packets);
        if let (Some(sum), Some(more)) = (&mut self.of_flits, &more.of_flits) {
            sum.absorb(more);
        }
        add(&mut self.injected_flits, &more.injected_flits);
        add(&mut self.accepted_packets, &more.accepted_packets);
    }
}
