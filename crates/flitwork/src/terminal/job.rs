//! A message that passes through a NIC, and how it is cut into packets.

/// A message, or the rest of it, that an injection port sends.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Job {
    /// Destination terminal.
    pub dst: u32,
    /// What the hosts call the message; of traffic as `number`.
    pub message: u32,
    /// Index of the message in the order of sending of its rank; of traffic the sequence number of the first packet.
    pub number: u32,
    /// The rank that it goes from; of traffic 0.
    pub from: u32,
    /// Step of the schedule that the message belongs to.
    pub step: u32,
    /// Flits not in a packet yet.
    pub flits_left: u64,
    /// Longest packet \[flits].
    pub packet_flits: u32,
    /// Flits of the second half of a packet that a tie cuts in two; 0 if there is none.
    pub second_half: u16,
    /// Cycle of creation; `None`: that of each packet is when its turn comes.
    pub created: Option<u64>,
    /// Random bits for ties.
    pub tie_bits: u8,
    /// Whether the job belongs to the background.
    pub background: bool,
    /// All its flits, and when their reading from memory began, where that takes time, in parts of a cycle.
    pub flits: u64,
    pub read_from: u128,
}

impl Job {
    /// Cuts the next packet off: its length \[flits] and the bits for its ties. `splits`: the tie rule cuts packets
    /// with a tie in two; `tie`: whether this one has a tie.
    pub fn next_packet(&mut self, splits: bool, tie: impl FnOnce() -> bool) -> (u16, u8) {
        if self.second_half > 0 {
            return (std::mem::take(&mut self.second_half), !0);
        }
        let whole = self.flits_left.min(u64::from(self.packet_flits));
        self.flits_left -= whole;
        if !splits {
            return (whole as u16, self.tie_bits);
        }
        if whole > 1 && tie() {
            self.second_half = (whole / 2) as u16;
        }
        (whole as u16 - self.second_half, 0)
    }

    /// Flits that are in packets.
    pub fn flits_cut(&self) -> u64 {
        self.flits - self.flits_left - u64::from(self.second_half)
    }

    /// Whether there are packets to come.
    pub fn has_more(&self) -> bool {
        self.flits_left > 0 || self.second_half > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packets(mut job: Job, splits: bool) -> Vec<(u16, u8)> {
        let mut packets = Vec::new();
        while job.has_more() {
            packets.push(job.next_packet(splits, || true));
        }
        packets
    }

    #[test]
    fn a_message_is_cut_into_packets_and_packets_into_halves() {
        let job = Job { flits_left: 7, packet_flits: 3, tie_bits: 5, ..Job::default() };
        assert_eq!(packets(job, false), [(3, 5), (3, 5), (1, 5)]);
        assert_eq!(packets(job, true), [(2, 0), (1, !0), (2, 0), (1, !0), (1, 0)]);
    }
}
