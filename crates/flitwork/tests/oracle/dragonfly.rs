//! Where a packet may go in a dragonfly: the entries of "Routing hop by hop" in docs/model.md.

use super::machine::Machine;
use super::random::{below, mix};
use super::router::VcId;
use super::trip::{Choice, Offer, TURNED, Trip};
use flitwork::spec::RoutingSpec;

impl Machine {
    /// The port and VCs of a packet in a dragonfly. In a group it walks straight to a router; out of it by this
    /// router's lowest port that leads to the destination's group, else to one of those that have such a port.
    pub(super) fn dragonfly_offer(&self, here: u32, came_by: VcId, to: u32) -> Offer {
        let group = |router: u32| router / self.group;
        let leading = |router: u32, there: &dyn Fn(u32) -> bool| {
            (0..self.fabric.network_ports())
                .find(|&port| self.fabric.peer(router, port).is_some_and(|(far, _)| there(far)))
        };
        let out = |router: u32| leading(router, &|far| group(far) == group(to));
        let sets = if self.group == 1 { 1 } else { 2 };
        if group(here) == group(to) {
            let port = leading(here, &|far| far == to).expect("routers of a group are joined");
            let entered = came_by.0 < self.fabric.network_ports_of(here);
            return Offer { port, vcs: self.equal_set(usize::from(entered), sets) };
        }
        let port = out(here).unwrap_or_else(|| {
            let ours = (0..self.routers() as u32).filter(|&router| group(router) == group(here));
            let gates: Vec<u32> = ours.filter(|&router| out(router).is_some()).collect();
            let gate = gates[to as usize % gates.len()];
            leading(here, &|far| far == gate).expect("routers of a group are joined")
        });
        Offer { port, vcs: self.equal_set(0, sets) }
    }

    /// dragonfly_valiant: the group that a packet goes by, if it does by one.
    pub(super) fn intermediate_group(&self, src: u32, dst: u32, bits: u64) -> Option<usize> {
        let (from, to) = (src / self.group, dst / self.group);
        let others: Vec<u32> = (0..self.routers() as u32 / self.group).filter(|&g| g != from && g != to).collect();
        let drawn = || below(mix(bits), others.len() as u64) as usize;
        (from != to && !others.is_empty()).then(|| others[drawn()] as usize)
    }

    /// dragonfly_ugal: of a packet that has gone minimally so far the minimal port, and at its source another one; if
    /// it is progressive, in all of its source's group.
    pub(super) fn minimal_or_other(&self, here: u32, came_by: VcId, trip: &Trip) -> Choice {
        let straight = Trip { mode: 0, ..trip.clone() };
        let group = |router: u32| router / self.group;
        let at_source = came_by.0 >= self.fabric.network_ports_of(here);
        let out = group(here) != group(trip.target);
        let mut first = self.valiant_offer(here, came_by, &straight);
        let next = self.fabric.peer(here, first.port).expect("it is on the route").0;
        if self.progressive() && at_source && out && group(next) == group(here) {
            first.vcs = self.equal_set(0, self.group_sets());
        }
        let mut minimal = vec![first];
        let mut hops_left = vec![self.route(here, &straight).len() as u32];
        let other = self.valiant_offer(here, came_by, trip);
        let decides = at_source || self.progressive() && out;
        let part_behind = self.global_queues() && other == minimal[0];
        if decides && trip.mode != 0 && (other.port != minimal[0].port || part_behind) {
            minimal.push(other);
            hops_left.push(self.route(here, trip).len() as u32);
        }
        Choice { minimal, escape: None, away: vec![], hops_left }
    }

    /// dragonfly_ugal: the channels of a route from `here`, by an intermediate group or not: router and port.
    fn route(&self, here: u32, trip: &Trip) -> Vec<(u32, usize)> {
        let (mut at, mut trip, mut channels) = (here, trip.clone(), Vec::new());
        while at != trip.target {
            if trip.mode == 1 + (at / self.group) as usize {
                trip.mode = TURNED;
            }
            let port = self.valiant_offer(at, (0, 0), &trip).port;
            channels.push((at, port));
            at = self.fabric.peer(at, port).expect("it is on the route").0;
        }
        channels
    }

    /// dragonfly_ugal with `global_queues`: the global channel by which a route leaves its group, or its first channel;
    /// with the intermediate group or without.
    pub(super) fn watched(&self, here: u32, by_group: bool, trip: &Trip) -> Option<(u32, usize)> {
        if !self.global_queues() {
            return None;
        }
        let route = self.route(here, &Trip { mode: if by_group { trip.mode } else { 0 }, ..trip.clone() });
        let leaves = |&&(router, port): &&(u32, usize)| {
            self.fabric.peer(router, port).is_some_and(|(far, _)| far / self.group != router / self.group)
        };
        route.iter().find(leaves).or(route.first()).copied()
    }

    /// dragonfly_valiant: the port of dragonfly_minimal to the router of the intermediate group with the place of the
    /// destination in its own, or to the destination; and the set.
    pub(super) fn valiant_offer(&self, here: u32, came_by: VcId, trip: &Trip) -> Offer {
        if here == trip.target {
            return Offer { port: 0, vcs: 0..0 };
        }
        let via = (trip.mode != 0 && trip.mode != TURNED).then(|| trip.mode as u32 - 1);
        let to = via.map_or(trip.target, |group| group * self.group + trip.target % self.group);
        let Offer { port, .. } = self.dragonfly_offer(here, came_by, to);
        let by_network = came_by.0 < self.fabric.network_ports_of(here);
        let at_its_group = here / self.group == trip.target / self.group;
        let set = if at_its_group && by_network { 2 } else { usize::from(trip.mode == TURNED) };
        Offer { port, vcs: self.equal_set(set + usize::from(self.progressive()), self.group_sets()) }
    }

    /// dragonfly_ugal: whether a packet may decide twice.
    fn progressive(&self) -> bool {
        matches!(&self.routing_spec, RoutingSpec::DragonflyUgal(options) if options.progressive)
    }

    /// dragonfly_ugal: whether queues of other routers are compared.
    pub(super) fn global_queues(&self) -> bool {
        matches!(&self.routing_spec, RoutingSpec::DragonflyUgal(options) if options.global_queues)
    }

    /// dragonfly_valiant, dragonfly_ugal: sets of VCs.
    fn group_sets(&self) -> usize {
        usize::from(self.progressive()) + if self.group == 1 { 2 } else { 3 }
    }
}
