//! One communication controller: which packet it sends, and on which virtual channel.

use super::queue::Job;
use crate::spec::InjectionVc;
use crate::transit::NONE;

/// One communication controller.
#[derive(Debug, Clone, Copy)]
pub(super) struct Controller {
    /// The packet that it sends, or [`NONE`].
    pub packet: u32,
    /// Flits of the packet not sent yet.
    pub left: u16,
    pub vc: u16,
    pub last_vc: u16,
    pub head_sent: bool,
    /// The rest of the message.
    pub job: Option<Job>,
}

impl Controller {
    /// A controller of a port with `vcs` virtual channels that has nothing to do.
    pub fn idle(vcs: usize) -> Self {
        Controller { packet: NONE, left: 0, vc: 0, last_vc: vcs as u16 - 1, head_sent: false, job: None }
    }

    /// Whether it sends a packet, or will send the next one of its message.
    pub fn is_busy(&self) -> bool {
        self.packet != NONE || self.job.is_some()
    }
}

impl Job {
    /// Cuts the next packet off: its length [flits] and the coins for its ties. `splits`: the tie rule cuts packets with a tie in
    /// two; `tie`: whether this one has a tie.
    pub fn next_packet(&mut self, splits: bool, tie: impl FnOnce() -> bool) -> (u16, u8) {
        if self.second_half > 0 {
            return (std::mem::take(&mut self.second_half), !0);
        }
        let whole = self.flits_left.min(u64::from(self.packet_flits));
        self.flits_left -= whole;
        if !splits {
            return (whole as u16, self.coins);
        }
        if whole > 1 && tie() {
            self.second_half = (whole / 2) as u16;
        }
        (whole as u16 - self.second_half, 0)
    }

    /// Whether there are packets to come.
    pub fn has_more(&self) -> bool {
        self.flits_left > 0 || self.second_half > 0
    }
}

/// The VC for a new packet among those with at least `needed` credits, of at most `most`.
pub(super) fn choose_vc(rule: InjectionVc, credits: &[u16], last: usize, needed: u16, most: u16) -> Option<usize> {
    let vcs = credits.len();
    match rule {
        InjectionVc::RoundRobin => (last + 1..vcs).chain(0..=last).find(|&v| credits[v] >= needed),
        InjectionVc::Emptiest => {
            let mut best = (0, 0);
            for (v, &free) in credits.iter().enumerate() {
                if free > best.1 {
                    best = (v, free);
                    if free == most {
                        break;
                    }
                }
            }
            (best.1 >= needed).then_some(best.0)
        }
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
        let job = Job { flits_left: 7, packet_flits: 3, coins: 5, ..Job::default() };
        assert_eq!(packets(job, false), [(3, 5), (3, 5), (1, 5)]);
        assert_eq!(packets(job, true), [(2, 0), (1, !0), (2, 0), (1, !0), (1, 0)]);
    }

    #[test]
    fn the_emptiest_vc_is_the_lowest_of_equals() {
        assert_eq!(choose_vc(InjectionVc::Emptiest, &[1, 3, 3], 0, 1, 9), Some(1));
        assert_eq!(choose_vc(InjectionVc::Emptiest, &[1, 3, 3], 0, 1, 3), Some(1));
        assert_eq!(choose_vc(InjectionVc::Emptiest, &[1, 3, 3], 0, 4, 9), None);
    }

    #[test]
    fn round_robin_starts_behind_the_last_and_ends_with_it() {
        assert_eq!(choose_vc(InjectionVc::RoundRobin, &[1, 1, 0], 0, 1, 9), Some(1));
        assert_eq!(choose_vc(InjectionVc::RoundRobin, &[1, 0, 0], 0, 1, 9), Some(0));
        assert_eq!(choose_vc(InjectionVc::RoundRobin, &[0, 0, 0], 0, 1, 9), None);
    }
}
