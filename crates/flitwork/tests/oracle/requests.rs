//! Which output VCs a packet asks for: step 4 of docs/model.md, and "What is asked for" of routing hop by hop.

use super::congestion::Congestion;
use super::random::{below, mix};
use super::router::{Router, VcId};
use super::trip::{Choice, Offer};
use flitwork::routing::{Information, Selection};
use flitwork::spec::RoutingSpec;

/// An output VC that a packet asks for in a cycle.
#[derive(Debug, Clone, Copy)]
pub struct Want {
    pub output: VcId,
    /// Whether it belongs to the escape port and is asked for beside VCs of other ports.
    pub escape: bool,
}

/// How one of several open ports is picked.
enum Pick {
    MostCredits,
    Random,
    RoundRobin,
    /// This port, if it is open, else the one with most credits.
    Prefer(usize),
}

impl Router<'_> {
    /// What the waiting packet of `vc` asks for in cycle `now`.
    pub(super) fn wants(&mut self, vc: VcId, congestion: &Congestion, now: u64) -> Vec<Want> {
        let front = self.front(vc);
        let Some(choice) = front.choice.clone() else {
            let output_port = self.output_port(&front.packet);
            return self.usable(vc, &Offer { port: output_port, vcs: 0..self.machine.vcs }, false);
        };
        if let Some(bias) = self.machine.bias().filter(|_| choice.minimal.len() == 2) {
            let decided = front.decided.unwrap_or_else(|| self.shorter_queue(vc, &choice, bias, congestion, now));
            self.decide_for(vc, decided);
            return self.usable(vc, &choice.minimal[decided], false);
        }
        let all = self.machine.selection() == Selection::All;
        let escape = choice.escape.as_ref().map_or(vec![], |offer| self.usable(vc, offer, all));
        if all {
            let minimal = choice.minimal.iter().flat_map(|offer| self.usable(vc, offer, false));
            return minimal.chain(escape).collect();
        }
        let open = self.open(vc, &choice.minimal);
        if !open.is_empty() {
            return self.pick(vc, &open, self.how_to_pick(vc, &choice, congestion), now);
        }
        if !escape.is_empty() {
            return escape;
        }
        let open = self.open(vc, &choice.away);
        if !open.is_empty() && now - self.front(vc).requests_from >= self.machine.patience() {
            return self.pick(vc, &open, self.how_to_pick(vc, &choice, congestion), now);
        }
        vec![]
    }

    /// UGAL: 1 if the queue behind the second port, times the channels of its route, is the shorter one.
    fn shorter_queue(&self, vc: VcId, choice: &Choice, bias: u64, congestion: &Congestion, now: u64) -> usize {
        let trip = self.front(vc).trip.as_ref().expect("it is routed hop by hop");
        let queue = |i: usize| match self.machine.watched(self.id, i == 1, trip) {
            Some(channel) => congestion.queue(channel),
            None => self.queue(choice.minimal[i].port, now),
        };
        let weight = |i: usize| u64::from(choice.hops_left[i]) * queue(i);
        usize::from(weight(0) > weight(1) + bias)
    }

    /// The VCs of an offer that the packet of `vc` may request now.
    fn usable(&self, vc: VcId, offer: &Offer, escape: bool) -> Vec<Want> {
        let packet = &self.front(vc).packet;
        let all = offer.vcs.clone().filter(|&v| self.may_request(packet, offer.port, v));
        all.map(|v| Want { output: (offer.port, v), escape }).collect()
    }

    /// For each open port, what the packet of `vc` would ask for there.
    fn open(&self, vc: VcId, offers: &[Offer]) -> Vec<Vec<Want>> {
        offers.iter().map(|offer| self.usable(vc, offer, false)).filter(|wants| !wants.is_empty()).collect()
    }

    fn how_to_pick(&self, vc: VcId, choice: &Choice, congestion: &Congestion) -> Pick {
        match (&self.machine.routing_spec, self.machine.selection()) {
            (RoutingSpec::CrossLine(options), _) if options.information == Information::None => Pick::Random,
            (RoutingSpec::CrossLine(_), _) if choice.minimal.len() > 1 => {
                Pick::Prefer(congestion.preferred(self.machine, self.id, choice, self.front(vc).requests_from))
            }
            (_, Selection::Random) => Pick::Random,
            (_, Selection::RoundRobin) => Pick::RoundRobin,
            _ => Pick::MostCredits,
        }
    }

    /// One of the open ports, which are in ascending order.
    fn pick(&mut self, vc: VcId, open: &[Vec<Want>], how: Pick, now: u64) -> Vec<Want> {
        let m = self.machine;
        let port = |wants: &Vec<Want>| wants[0].output.0;
        let most_credits = || {
            let best = |wants: &Vec<Want>| wants.iter().map(|w| self.credits(w.output)).max();
            let most = open.iter().map(best).max().expect("a port is open");
            open.iter().find(|wants| best(wants) == most).expect("some port has the most").clone()
        };
        match how {
            Pick::MostCredits => most_credits(),
            Pick::Prefer(preferred) => {
                let found = open.iter().find(|wants| port(wants) == preferred);
                found.cloned().unwrap_or_else(most_credits)
            }
            Pick::Random => {
                let number = (self.id as usize * m.ports() + vc.0) * m.vcs + vc.1;
                let bits = mix(mix(m.seed ^ now) ^ number as u64);
                open[below(bits, open.len() as u64) as usize].clone()
            }
            // There is no turn to take where only one is open.
            Pick::RoundRobin if open.len() == 1 => open[0].clone(),
            Pick::RoundRobin => {
                let at_or_after = open.iter().find(|wants| port(wants) >= self.pick_pointer);
                let picked = at_or_after.unwrap_or(&open[0]).clone();
                self.pick_pointer = port(&picked) + 1;
                picked
            }
        }
    }
}
