//! What routers know of each other under Cross-Line routing, "Congestion information" of docs/model.md, and under UGAL
//! with `global_queues`.

use super::machine::Machine;
use super::router::Router;
use super::trip::Choice;
use flitwork::routing::Information;
use flitwork::spec::RoutingSpec;
use std::cmp::Reverse;

/// Every note of every router, from the start.
#[derive(Default)]
pub struct Congestion {
    /// `notes[cycle][router][port]`.
    notes: Vec<Vec<Vec<u64>>>,
    /// UGAL-G: `queues[router][port]` before any router had its steps 3 to 6 of this cycle.
    queues: Vec<Vec<u64>>,
}

impl Congestion {
    /// The end of a cycle.
    pub fn note(&mut self, m: &Machine, routers: &[Router]) {
        if !matches!(m.routing_spec, RoutingSpec::CrossLine(_)) {
            return; // Nobody listens.
        }
        self.notes.push(routers.iter().map(Router::notes).collect());
    }

    /// Before steps 3 to 6 of a cycle.
    pub fn look(&mut self, m: &Machine, routers: &[Router], now: u64) {
        if m.global_queues() {
            let queues = |router: &Router| (0..m.fabric.network_ports()).map(|port| router.queue(port, now)).collect();
            self.queues = routers.iter().map(queues).collect();
        }
    }

    /// UGAL-G: the queue of an output port of a router.
    pub fn queue(&self, (router, port): (u32, usize)) -> u64 {
        self.queues[router as usize][port]
    }

    /// What `router` noted of `port` at the end of `cycle`.
    fn at(&self, cycle: i64, router: u32, port: usize) -> u64 {
        if cycle < 0 { 0 } else { self.notes[cycle as usize][router as usize][port] }
    }

    /// The port that a packet at router `here` prefers which asks for the first time in cycle `first`.
    pub fn preferred(&self, m: &Machine, here: u32, choice: &Choice, first: u64) -> usize {
        let RoutingSpec::CrossLine(options) = &m.routing_spec else {
            panic!("only Cross-Line spreads congestion information")
        };
        let mut best: Option<(f64, Reverse<u32>, usize)> = None;
        for (offer, &hops) in choice.minimal.iter().zip(&choice.hops_left) {
            let heard_of = if options.information == Information::Local { 1 } else { hops };
            let (mut at, mut sum) = (here, 0);
            for k in 0..heard_of {
                let cycle = first as i64 - 1 - i64::from(k) * i64::from(options.news_delay_cycles);
                sum += self.at(cycle, at, offer.port);
                at = m.grid().neighbour(at, offer.port).expect("it is on the route");
            }
            // Small whole numbers: equal means are equal as numbers, too.
            let mean = sum as f64 / f64::from(heard_of);
            let candidate = (mean, Reverse(hops), offer.port);
            if best.is_none_or(|best| candidate < best) {
                best = Some(candidate);
            }
        }
        best.expect("there is more than one port").2
    }
}

impl Router<'_> {
    /// What this router notes of its network output ports.
    fn notes(&self) -> Vec<u64> {
        let m = self.machine;
        let capacity = m.vcs as u64 * m.buffer + m.shared_buffer;
        let note = |port: usize| (15 * self.places[port].sent() + capacity / 2) / capacity;
        (0..m.fabric.network_ports()).map(note).collect()
    }
}
