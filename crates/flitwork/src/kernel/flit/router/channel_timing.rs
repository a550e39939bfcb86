//! Timing of channels that differ from each other: their own latency, and slow channels. Networks without such channels
//! have no such table.

use crate::plan::Plan;

/// Latency and bandwidth of each channel.
#[derive(Debug)]
pub(crate) struct ChannelTiming {
    ports: usize,
    /// Switch granted to arrival at the next buffer, of each output port, `[router][port]` \[cycles].
    pub hop_cycles: Vec<u32>,
    /// Flit left the buffer to credit usable upstream, of each input port, `[router][port]` \[cycles].
    pub credit_cycles: Vec<u32>,
    /// Time that the channel of each output port takes for a flit, and the first cycle in which the port may be granted
    /// again, `[router][port]`; empty without slow channels.
    cycles_per_flit: Vec<u32>,
    ready: Vec<u64>,
}

impl ChannelTiming {
    /// For a plan; `None` where all channels are alike.
    pub fn of(plan: &Plan) -> Option<Self> {
        let (fabric, p) = (&plan.fabric, &plan.params);
        if !fabric.channels_differ() {
            return None;
        }
        let common = plan.spec.network.channel.latency_cycles;
        let (beyond_flit, beyond_credit) = (p.hop_cycles - common, p.credit_cycles - common);
        let latency = |(router, port)| fabric.latency_cycles(router, port).unwrap_or(common);
        let places = || (0..fabric.routers()).flat_map(|router| (0..p.ports).map(move |port| (router, port)));
        let of_network = |&(router, port): &(u32, usize)| port < fabric.network_ports_of(router);
        let hop = |at| if of_network(&at) { beyond_flit + latency(at) } else { p.eject_cycles };
        let feeder = |at: (u32, usize)| of_network(&at).then(|| fabric.feeder(at.0, at.1)).flatten();
        let credit = |at| beyond_credit + feeder(at).map_or(common, latency);
        let width = |at: (u32, usize)| if of_network(&at) { fabric.cycles_per_flit(at.0, at.1) } else { 1 };
        let slow = fabric.slow_channel().is_some();
        let cycles_per_flit: Vec<u32> = if slow { places().map(width).collect() } else { Vec::new() };
        Some(ChannelTiming {
            ports: p.ports,
            hop_cycles: places().map(hop).collect(),
            credit_cycles: places().map(credit).collect(),
            ready: vec![0; cycles_per_flit.len()],
            cycles_per_flit,
        })
    }

    /// The place of a port in the tables.
    pub fn at(&self, router: usize, port: usize) -> usize {
        router * self.ports + port
    }

    /// The ports of a router whose channel still carries the last flit, one bit each.
    pub fn busy_ports(&self, router: usize, now: u64) -> u64 {
        let ready = self.ready.chunks(self.ports).nth(router).unwrap_or(&[]);
        ready.iter().enumerate().filter(|(_, ready)| **ready > now).fold(0, |bits, (port, _)| bits | 1 << port)
    }

    /// Whether the channel of a port still carries the flit before in cycle `now`.
    pub fn is_busy(&self, router: usize, port: usize, now: u64) -> bool {
        self.ready.get(self.at(router, port)).is_some_and(|&ready| ready > now)
    }

    /// A port was granted in cycle `now`.
    pub fn granted(&mut self, router: usize, port: usize, now: u64) {
        let at = self.at(router, port);
        if let (Some(ready), Some(&cycles)) = (self.ready.get_mut(at), self.cycles_per_flit.get(at)) {
            *ready = now + u64::from(cycles);
        }
    }
}
