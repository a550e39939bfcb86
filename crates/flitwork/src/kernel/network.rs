//! What the simulation knows of a network, whatever advances it.

use super::knot::Waits;
use super::parallel::Border;
use crate::host::Hosts;
use crate::measure::{
    Arrival, BusReport, ChannelWindows, FlitTally, FlitsUnderWay, PacketLog, StallReport, WaitReport,
};
use crate::terminal::{Nics, Outgoing};
use std::ops::Range;

/// A network in motion. These are a few calls a cycle; none of them is made for a flit.
///
/// Cycles ascend from call to call, and those in which [`Network::next_event`] promises that nothing happens may be
/// left out.
pub(crate) trait Network: Send {
    /// Step 1 of the model: what is due in cycle `now` arrives. Packets whose last flit arrived at their terminal join
    /// `arrived`.
    fn deliver(&mut self, now: u64, arrived: &mut Vec<Arrival>);

    /// Steps 2b to 6: injection ports take packets and send, routers route, allocate and send.
    fn step(&mut self, now: u64, ends: &mut Endpoints);

    /// The next cycle after `now` in which something may happen without a NIC; `None` where nothing is under way.
    fn next_event(&self, now: u64) -> Option<u64>;

    /// The first cycle after `now` that must not be left out although nothing happens in it, because it is observed.
    fn next_observation(&self, now: u64) -> u64;

    /// Flit-hops so far. Where they do not grow though packets are under way, nothing moves.
    fn flit_hops(&self) -> u64;

    /// Adds what the packets in it wait for, at the end of a cycle. Nothing, where they never wait for each other.
    fn waits(&self, _waits: &mut Waits) {}

    /// The name of an input VC of the whole network, of which this may be a part.
    fn name_of_vc(&self, _vc: u32) -> String {
        String::new()
    }

    /// Packets that are under way where nothing of a network, or of a part of it, is on a channel or in a stage of a
    /// router.
    fn packets_that_stand(&self) -> Option<u64> {
        Some(0)
    }

    /// From the beginning of cycle `now` on flits that arrive at terminals in these cycles count.
    fn measure(&mut self, now: u64, window: Range<u64>);

    /// Notes when flits leave terminals and arrive, where flits move one by one; `under_way` is for all parts of the
    /// network.
    fn keep_flit_times(&mut self, _under_way: &FlitsUnderWay) {}

    /// What these times have shown before cycle `before`, where they are kept.
    fn flit_tally(&self, _before: u64) -> Option<FlitTally> {
        None
    }

    /// Appends the flits sent over every channel before cycle `before`; nothing happened since.
    fn channel_flits(&self, before: u64, flits: &mut Vec<u64>);

    /// Where it is a part of a network: what goes to other parts, and what comes from them.
    fn border(&mut self) -> Option<&mut Border> {
        None
    }

    /// What it has observed; the run ended after cycle `now`.
    fn finish(self: Box<Self>, now: u64) -> Observed;
}

/// What a network has observed in a run.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// Switch traversals, ejection included.
    pub flit_hops: u64,
    /// Flits over every channel.
    pub channel_flits: Vec<u64>,
    /// Flits over each channel by window of time, where that is recorded.
    pub channel_windows: Option<ChannelWindows>,
    /// Flits ejected at each terminal in the measurement.
    pub ejected_flits: Vec<u64>,
    /// Why flits stood still, where asked for.
    pub stalls: Option<StallReport>,
    /// Where and why packets waited, where asked for.
    pub waits: Option<WaitReport>,
    /// What a bus has carried.
    pub bus: Option<BusReport>,
}

impl Observed {
    /// Adds what the next part of the network has observed.
    pub fn absorb(&mut self, next: Observed) {
        self.flit_hops += next.flit_hops;
        self.channel_flits.extend(next.channel_flits);
        self.ejected_flits.iter_mut().zip(next.ejected_flits).for_each(|(sum, flits)| *sum += flits);
    }
}

/// What is at the ends of a network: NICs, the ranks behind them, and the log of what they send.
pub(crate) struct Endpoints<'a> {
    pub nics: &'a mut Nics,
    pub hosts: Option<&'a mut Hosts>,
    pub log: &'a mut PacketLog,
}

impl Endpoints<'_> {
    /// The next packet for injection port `port` of a terminal, if there is one now.
    #[inline]
    pub fn next_packet(&mut self, terminal: usize, port: usize, now: u64) -> Option<Outgoing> {
        self.nics.next_packet(terminal, port, now, self.hosts.as_deref_mut())
    }

    /// Injection port `port` of a terminal has sent the last flit of a packet of `message` in cycle `now`.
    #[inline]
    pub fn packet_sent(&mut self, terminal: usize, port: usize, now: u64, message: u32, background: bool) {
        // Before the port may let go of the rest.
        let done = self.nics.message_done(terminal, port);
        self.nics.packet_sent(terminal, port, now);
        if let Some(hosts) = self.hosts.as_deref_mut() {
            if !background && done {
                hosts.sent(message);
            }
        }
    }

    /// Whether a rank of a terminal has messages that its NIC has not taken.
    pub fn has_unsent(&self, terminal: u32) -> bool {
        self.hosts.as_deref().is_some_and(|hosts| hosts.has_unsent(terminal))
    }
}
