//! Where a packet may go when its routing decides hop by hop: the list of "Routing hop by hop" in docs/model.md.

use super::machine::{Machine, Packet};
use super::random::{below, mix};
use super::router::{Front, VcId};
use flitwork::routing::{RelationOptions, RingDirections, Tie};
use flitwork::spec::{AdaptiveTie, Productive, RoutingSpec};
use std::collections::BTreeSet;
use std::ops::Range;

/// dragonfly_valiant: the mode of a packet that has come to its intermediate group; before that it is 1 more than the
/// group, and 0 where there is none.
pub(super) const TURNED: usize = usize::MAX;

/// What a packet carries with its head.
#[derive(Debug, Clone)]
pub struct Trip {
    /// The router that it walks to.
    pub(super) target: u32,
    /// The router in which the walk at hand began.
    pub(super) start: u32,
    /// Whether it walks each dimension towards minus.
    pub(super) minus: Vec<bool>,
    /// Datelines crossed.
    pub(super) crossed: usize,
    /// Cross-Line: the virtual network; two walks: which; O1TURN: which order.
    pub(super) mode: usize,
    /// graph_ugal: the router that it may go by, or does.
    pub(super) via: u32,
    /// Detours left.
    pub(super) detours: u32,
    /// Channels walked.
    pub hops: u32,
    /// graph_valiant: the set of the first channel, where there is one for each channel walked.
    pub(super) first_set: usize,
}

/// An output port and the VCs of it that a packet may use.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    pub port: usize,
    pub vcs: Range<usize>,
}

/// What a packet may take at a router that it has not arrived at; ports ascend.
#[derive(Debug, Clone)]
pub struct Choice {
    pub minimal: Vec<Offer>,
    pub escape: Option<Offer>,
    pub away: Vec<Offer>,
    /// Channels to walk by each of the minimal ports before its dimension is done.
    pub hops_left: Vec<u32>,
}

impl Machine {
    /// The trip of a packet at its source; `None` under plain dimension order, which needs none.
    pub fn trip(&self, packet: &Packet) -> Option<Trip> {
        if !self.hop_by_hop() {
            return None;
        }
        let (src, dst) = (self.router_of(packet.src), self.router_of(packet.dst));
        let bits = self.bits(packet);
        let target = match self.routing_spec {
            RoutingSpec::Valiant(_) => below(mix(bits), u64::from(self.fabric.routers())) as u32,
            RoutingSpec::Romm(_) => self.part_of_the_way(src, dst, bits),
            RoutingSpec::GraphValiant(_) => self.router_with_terminals(bits),
            _ => dst,
        };
        let via =
            if matches!(self.routing_spec, RoutingSpec::GraphUgal(_)) { self.router_with_terminals(bits) } else { 0 };
        let minus = match self.routing_spec {
            _ if !self.by_coordinates() => vec![],
            RoutingSpec::Valiant(_) => self.directions(src, target, bits),
            _ => self.directions(src, dst, bits),
        };
        let mode = match self.routing_spec {
            RoutingSpec::CrossLine(_) => self.virtual_network(src, dst, &minus),
            RoutingSpec::O1Turn(_) | RoutingSpec::GraphUgal(_) => (bits >> 16 & 1) as usize,
            RoutingSpec::DragonflyValiant(_) | RoutingSpec::DragonflyUgal(_) => {
                self.intermediate_group(src, dst, bits).map_or(0, |group| 1 + group)
            }
            _ => 0,
        };
        let detours = match &self.routing_spec {
            RoutingSpec::DuatoMisrouting(options) => options.misroutes,
            _ => 0,
        };
        let mut trip = Trip { target, start: src, minus, crossed: 0, mode, via, detours, hops: 0, first_set: 0 };
        self.turn(src, packet, &mut trip);
        if let Some(routes) = self.routes.as_ref().filter(|routes| routes.by_hops) {
            trip.first_set = trip.mode * routes.sets;
        }
        Some(trip)
    }

    /// Two walks: a packet at its intermediate router turns to its destination.
    fn turn(&self, here: u32, packet: &Packet, trip: &mut Trip) {
        let two_walks = match self.routing_spec {
            RoutingSpec::Valiant(_) | RoutingSpec::Romm(_) | RoutingSpec::GraphValiant(_) => true,
            RoutingSpec::GraphUgal(_) => trip.crossed > 0,
            _ => false,
        };
        if two_walks && trip.mode == 0 && trip.target == here {
            trip.mode = 1;
            trip.start = here;
            trip.target = self.router_of(packet.dst);
            if matches!(self.routing_spec, RoutingSpec::Valiant(_)) {
                trip.minus = self.directions(here, trip.target, self.bits(packet) >> 8);
            }
        }
    }

    /// As records have it: the dimensions that the walk at hand goes to minus in, and those whose dateline it crosses.
    pub fn minus_and_wraps(&self, trip: &Trip) -> (u8, u8) {
        if !self.by_coordinates() {
            return (0, 0);
        }
        let port = |d: usize| 2 * d + usize::from(trip.minus[d]);
        let minus = (0..self.grid().dims()).map(|d| u8::from(trip.minus[d]) << d).sum();
        let crosses = |d: usize| u8::from(self.walk_crosses(trip.start, port(d), trip.target));
        (minus, (0..self.grid().dims()).map(|d| crosses(d) << d).sum())
    }

    /// Whether the routing goes by the coordinates of a grid.
    fn by_coordinates(&self) -> bool {
        use RoutingSpec::{DragonflyMinimal, DragonflyUgal, DragonflyValiant, HopClasses, Relation, ShortestPath};
        self.tree_rule().is_none()
            && self.routes.is_none()
            && !matches!(
                self.routing_spec,
                ShortestPath(_)
                    | HopClasses(_)
                    | Relation(_)
                    | DragonflyMinimal(_)
                    | DragonflyValiant(_)
                    | DragonflyUgal(_)
            )
    }

    /// The packet's bits.
    pub(super) fn bits(&self, packet: &Packet) -> u64 {
        mix(mix(self.seed ^ 0x7061_636b_6574) ^ ((u64::from(packet.src) << 32) + u64::from(packet.sequence)))
    }

    /// The directions of a shortest route: for each dimension, whether it goes to minus.
    fn directions(&self, from: u32, to: u32, tie_bits: u64) -> Vec<bool> {
        let (f, t) = (self.grid().coords(from), self.grid().coords(to));
        let relative = |d: usize| (t[d] + self.grid().size(d) - f[d]) % self.grid().size(d);
        let plus_only =
            matches!(&self.routing_spec, RoutingSpec::StructuredPool(options) if options.ways == RingDirections::Plus);
        let direction = |d: usize| {
            if plus_only && self.grid().is_ring(d) {
                return false;
            }
            let others: u32 = (0..self.grid().dims()).filter(|&other| other != d).map(relative).sum();
            match (self.grid().distance(d, f[d], t[d], true), self.grid().distance(d, f[d], t[d], false)) {
                (Some(0), _) => false,
                (Some(plus), Some(minus)) if plus == minus => match self.routing.tie {
                    Tie::Plus => false,
                    Tie::Parity => (f[d] + others) % 2 == 1,
                    Tie::Random | Tie::ByMessage => tie_bits >> d & 1 == 1,
                    Tie::Split => panic!("nothing is split"),
                },
                (Some(plus), Some(minus)) => minus < plus,
                (plus, _) => plus.is_none(),
            }
        };
        (0..self.grid().dims()).map(direction).collect()
    }

    /// Structured buffer pool: the channels of the longest route, from any router to any other, or 1.
    fn longest_route(&self) -> usize {
        let routers = 0..self.routers() as u32;
        let hops = |from: u32, to: u32| -> u32 {
            let minus = self.directions(from, to, 0);
            (0..self.grid().dims()).map(|d| self.hops_in(d, from, to, minus[d])).sum()
        };
        routers.clone().flat_map(|from| routers.clone().map(move |to| hops(from, to))).max().unwrap_or(0).max(1)
            as usize
    }

    /// ROMM: the router some hops along the route in each dimension.
    fn part_of_the_way(&self, src: u32, dst: u32, bits: u64) -> u32 {
        let minus = self.directions(src, dst, bits);
        let mut at = src;
        for (d, &minus) in minus.iter().enumerate() {
            let hops = self.hops_in(d, src, dst, minus);
            for _ in 0..below(mix(bits ^ (d as u64 + 1)), u64::from(hops) + 1) {
                at = self.grid().neighbour(at, 2 * d + usize::from(minus)).expect("it is on the route");
            }
        }
        at
    }

    fn hops_in(&self, d: usize, from: u32, to: u32, minus: bool) -> u32 {
        self.grid()
            .distance(d, self.grid().coords(from)[d], self.grid().coords(to)[d], !minus)
            .expect("it can be walked")
    }

    /// Cross-Line: `m`.
    fn virtual_network(&self, src: u32, dst: u32, minus: &[bool]) -> usize {
        let (s, t) = (self.grid().coords(src), self.grid().coords(dst));
        let odd = s.iter().sum::<u32>() % 2 == 1;
        let bit = |d: usize| usize::from(if s[d] == t[d] { odd } else { minus[d] });
        (1..self.grid().dims()).map(|d| bit(d) << (d - 1)).sum()
    }

    /// Whether the channel of an output port is a wrap channel.
    fn crosses(&self, router: u32, port: usize) -> bool {
        let d = port / 2;
        let last = if port.is_multiple_of(2) { self.grid().size(d) - 1 } else { 0 };
        self.grid().wraps(d) && self.grid().neighbour(router, port).is_some() && self.grid().coords(router)[d] == last
    }

    fn wrapped_dimensions(&self) -> usize {
        (0..self.grid().dims()).filter(|&d| self.grid().wraps(d) && self.grid().size(d) >= 2).count()
    }

    /// Set `i` of `k` equal ones, or one of two with a middle VC that belongs to both.
    pub(super) fn equal_set(&self, i: usize, k: usize) -> Range<usize> {
        if self.router.compat.shared_middle_vc {
            let least = self.vcs / 2;
            return [0..self.vcs - least, least..self.vcs][i].clone();
        }
        i * self.vcs / k..(i + 1) * self.vcs / k
    }

    /// Set `i` of `e` escape sets and the adaptive one.
    fn escape_set(&self, i: usize, e: usize) -> Range<usize> {
        if i < e { i..i + 1 } else { e..self.vcs }
    }

    /// What a packet that came to the front of input VC `came_by` of router `here` may take; `None` where it leaves the
    /// network.
    pub fn choose(&self, here: u32, came_by: VcId, packet: &Packet, trip: &mut Trip) -> Option<Choice> {
        self.turn(here, packet, trip);
        if matches!(self.routing_spec, RoutingSpec::ShortestPath(_)) {
            let offer = |port: usize| Offer { port, vcs: 0..self.vcs };
            let minimal = (trip.target != here).then(|| vec![offer(self.shortest_path_port(here, trip.target))]);
            return minimal.map(|minimal| Choice { minimal, escape: None, away: vec![], hops_left: vec![0] });
        }
        if let (RoutingSpec::HopClasses(_), Some(routes)) = (&self.routing_spec, &self.routes) {
            let set = || self.equal_set(trip.hops as usize, self.longest_shortest_path());
            let offer = || Offer { port: routes.port(here, None, trip.target), vcs: set() };
            let minimal = (trip.target != here).then(|| vec![offer()]);
            return minimal.map(|minimal| Choice { minimal, escape: None, away: vec![], hops_left: vec![0] });
        }
        if let RoutingSpec::Relation(options) = &self.routing_spec {
            return (trip.target != here).then(|| self.by_rows(here, came_by, trip.target, options));
        }
        if let (RoutingSpec::Ecmp(_) | RoutingSpec::Spray(_), Some(routes)) = (&self.routing_spec, &self.routes) {
            let port = || self.one_of_the_shortest(here, trip.target, packet);
            let set = if routes.sets == 1 { 0 } else { trip.hops as usize };
            let offer = || Offer { port: port(), vcs: self.equal_set(set, routes.sets) };
            let minimal = (trip.target != here).then(|| vec![offer()]);
            return minimal.map(|minimal| Choice { minimal, escape: None, away: vec![], hops_left: vec![0] });
        }
        if let RoutingSpec::Table(options) = &self.routing_spec
            && !options.ports.is_empty()
        {
            let port = || options.ports[here as usize][packet.dst as usize] as usize;
            let minimal = (trip.target != here).then(|| vec![Offer { port: port(), vcs: 0..self.vcs }]);
            return minimal.map(|minimal| Choice { minimal, escape: None, away: vec![], hops_left: vec![0] });
        }
        if let Some(routes) = &self.routes {
            let came_from = Some(came_by.0).filter(|&port| port < self.fabric.network_ports_of(here));
            let walks = match self.routing_spec {
                RoutingSpec::GraphValiant(_) | RoutingSpec::GraphUgal(_) => 2,
                _ => 1,
            };
            let walk = if walks == 2 { trip.mode } else { 0 };
            let set = |walk: usize, to: u32| {
                let number = match routes.by_hops {
                    // The other way of UGAL begins in set 0.
                    true if walk < trip.mode => trip.hops as usize,
                    true => trip.first_set + trip.hops as usize,
                    false => walk * routes.sets + routes.set(trip.start, to),
                };
                self.equal_set(number, walks * routes.sets)
            };
            let offer = |walk: usize, to: u32| Offer { port: routes.port(here, came_from, to), vcs: set(walk, to) };
            if trip.target == here {
                return None;
            }
            let mut minimal = vec![offer(walk, trip.target)];
            let mut hops_left = vec![0];
            let ugal = matches!(self.routing_spec, RoutingSpec::GraphUgal(_));
            let ends = [here, trip.target];
            if ugal && trip.crossed == 0 && came_from.is_none() && !ends.contains(&trip.via) {
                let other = offer(0, trip.via);
                if other.port != minimal[0].port {
                    minimal.push(other);
                    let channels = |from: u32, to: u32| routes.channels(&self.fabric, from, to);
                    hops_left =
                        vec![channels(here, trip.target), channels(here, trip.via) + channels(trip.via, trip.target)];
                }
            }
            return Some(Choice { minimal, escape: None, away: vec![], hops_left });
        }
        if matches!(self.routing_spec, RoutingSpec::DragonflyMinimal(_)) {
            let minimal = (trip.target != here).then(|| vec![self.dragonfly_offer(here, came_by, trip.target)]);
            return minimal.map(|minimal| Choice { minimal, escape: None, away: vec![], hops_left: vec![0] });
        }
        if let (RoutingSpec::DragonflyUgal(_), 0) = (&self.routing_spec, trip.crossed) {
            return (trip.target != here).then(|| self.minimal_or_other(here, came_by, trip));
        }
        if matches!(self.routing_spec, RoutingSpec::DragonflyValiant(_) | RoutingSpec::DragonflyUgal(_)) {
            let group = |router: u32| router / self.group;
            if trip.mode == 1 + group(here) as usize {
                trip.mode = TURNED;
            }
            let offer = self.valiant_offer(here, came_by, trip);
            let minimal = (trip.target != here).then(|| vec![offer]);
            return minimal.map(|minimal| Choice { minimal, escape: None, away: vec![], hops_left: vec![0] });
        }
        if let Some(ports) = self.tree_ports(here, packet) {
            let minimal = ports.into_iter().map(|port| Offer { port, vcs: 0..self.vcs }).collect();
            let choice = Choice { minimal, escape: None, away: vec![], hops_left: vec![] };
            return (trip.target != here).then_some(choice);
        }
        let came_from_network = came_by.0 < self.fabric.network_ports();
        // A VC of both halves does not say which order a packet began with.
        if self.router.compat.shared_middle_vc
            && matches!(self.routing_spec, RoutingSpec::O1Turn(_))
            && came_from_network
        {
            trip.mode = usize::from(came_by.1 >= self.vcs / 2);
        }
        self.keep_to_the_shorter_way(here, trip);
        if trip.target == here {
            return None;
        }
        let productive = self.productive(here, trip);
        let first = self.dimension_order_port(here, trip);
        let offer = |port: usize, vcs: Range<usize>| Offer { port, vcs };
        let l = 1 + self.wrapped_dimensions();
        let c = if l > 1 { 2 } else { 1 };
        let crossed = |port: usize| trip.crossed + usize::from(self.crosses(here, port));
        let (minimal, escape, away) = match &self.routing_spec {
            RoutingSpec::DimensionOrder(_) => (vec![offer(first, self.equal_set(crossed(first), l))], None, vec![]),
            RoutingSpec::StructuredPool(_) => {
                let set = self.equal_set(trip.hops as usize, self.longest_route());
                (vec![offer(first, set)], None, vec![])
            }
            RoutingSpec::Duato(_) | RoutingSpec::DuatoMisrouting(_) => {
                let set = l - 1 - self.crossings_behind(here, trip);
                let leads_away = |port: &usize| {
                    let straight_back = came_from_network && came_by.0 == *port;
                    self.grid().neighbour(here, *port).is_some() && !productive.contains(port) && !straight_back
                };
                let away = (0..self.fabric.network_ports()).filter(leads_away);
                let away = if trip.detours > 0 { away.collect() } else { vec![] };
                let adaptive = |ports: &[usize]| ports.iter().map(|&p| offer(p, self.escape_set(l, l))).collect();
                (adaptive(&productive), Some(offer(first, self.escape_set(set, l))), adaptive(&away))
            }
            RoutingSpec::CrossLine(_) => {
                let sets = (1 << (self.grid().dims() - 1)) * l;
                let set = |port: usize| self.equal_set(trip.mode * l + crossed(port), sets);
                (productive.iter().map(|&p| offer(p, set(p))).collect(), None, vec![])
            }
            RoutingSpec::Valiant(_) | RoutingSpec::Romm(_) | RoutingSpec::O1Turn(_) => {
                let class = usize::from(self.walk_crosses(trip.start, first, trip.target));
                (vec![offer(first, self.equal_set(c * trip.mode + class, 2 * c))], None, vec![])
            }
            RoutingSpec::MinAdapt(_) => {
                let rules = &self.router.compat;
                let by_escape = came_from_network && came_by.1 < c;
                let class = if by_escape && came_by.0 / 2 == first / 2 {
                    came_by.1
                } else {
                    usize::from(self.walk_crosses(here, first, trip.target))
                };
                let set = match (rules.adaptive_vcs.first(), rules.adaptive_vcs.last()) {
                    (Some(&low), Some(&high)) => low as usize..high as usize + 1,
                    _ => self.escape_set(c, c),
                };
                let offered = if rules.productive == Productive::First { vec![first] } else { productive.clone() };
                let adaptive = offered.iter().map(|&p| offer(self.adaptive_port(here, p, trip.target), set.clone()));
                let adaptive: Vec<Offer> = adaptive.collect();
                (if by_escape { vec![] } else { adaptive }, Some(offer(first, self.escape_set(class, c))), vec![])
            }
            other => panic!("no rule for {}: write one here, after docs/model.md", other.kind()),
        };
        let left = |w: &Offer| self.hops_in(w.port / 2, here, trip.target, w.port % 2 == 1);
        Some(Choice { hops_left: minimal.iter().map(left).collect(), minimal, escape, away })
    }

    /// graph_valiant, graph_ugal: a router with terminals.
    fn router_with_terminals(&self, bits: u64) -> u32 {
        let routers = 0..self.routers() as u32;
        let ends: Vec<u32> = routers.filter(|&router| !self.fabric.terminals_at(router).is_empty()).collect();
        ends[below(mix(bits), ends.len() as u64) as usize]
    }

    /// How many channels lead from each router to `to`, found by looking one further again and again.
    fn distances(&self, to: u32) -> Vec<Option<usize>> {
        let mut distance = vec![None; self.routers()];
        distance[to as usize] = Some(0);
        for hops in 1..self.routers() {
            let known = distance.clone();
            for (router, port) in self.fabric.channels() {
                let (far, _) = self.fabric.peer(router, port).expect("it exists");
                if distance[router as usize].is_none() && known[far as usize] == Some(hops - 1) {
                    distance[router as usize] = Some(hops);
                }
            }
        }
        distance
    }

    /// The most channels between any two routers with terminals; 1 if there are none.
    fn longest_shortest_path(&self) -> usize {
        let ends = || (0..self.routers() as u32).filter(|&router| !self.fabric.terminals_at(router).is_empty());
        let from = |to: u32| ends().map(move |src| (src, to));
        let hops = |(src, to): (u32, u32)| self.distances(to)[src as usize].expect("there is a path");
        ends().flat_map(from).map(hops).max().unwrap_or(0).max(1)
    }

    /// The lowest port from which fewer channels lead to `to` than from here.
    fn shortest_path_port(&self, here: u32, to: u32) -> usize {
        self.shortest_path_ports(here, to)[0]
    }

    /// The ports from which fewer channels lead to `to` than from here, ascending.
    fn shortest_path_ports(&self, here: u32, to: u32) -> Vec<usize> {
        let next = |router: u32, port: usize| self.fabric.peer(router, port).map(|(far, _)| far);
        let distance = self.distances(to);
        let nearer = |&port: &usize| {
            next(here, port).is_some_and(|far| distance[far as usize].map(|d| d + 1) == distance[here as usize])
        };
        (0..self.fabric.network_ports()).filter(nearer).collect()
    }

    /// relation: what the rows say of a packet that came to router `here` by an input VC.
    fn by_rows(&self, here: u32, came_by: VcId, to: u32, options: &RelationOptions) -> Choice {
        let k = options.sets as usize;
        let entered = came_by.0 < self.fabric.network_ports_of(here);
        let set = (0..k).find(|&set| self.equal_set(set, k).contains(&came_by.1)).expect("a set") as i64;
        let from = || i64::from(self.fabric.feeder(here, came_by.0).expect("a channel").0);
        let place = if entered { [i64::from(here), from(), set] } else { [i64::from(here), -1, -1] };
        let rows = options.rows.iter().filter(|row| row[..3] == place && row[3] == i64::from(to));
        let rows: Vec<(i64, usize)> = rows.map(|row| (row[4], row[5] as usize)).collect();
        let ports = |next: i64| -> Vec<usize> {
            let leads = |&port: &usize| self.fabric.peer(here, port).is_some_and(|(far, _)| i64::from(far) == next);
            (0..self.fabric.network_ports()).filter(leads).collect()
        };
        let first = rows[0].1;
        let adaptive = rows.iter().filter(|row| row.1 == first).flat_map(|row| ports(row.0));
        let adaptive: BTreeSet<usize> = adaptive.collect();
        let minimal = adaptive.into_iter().map(|port| Offer { port, vcs: self.equal_set(first, k) }).collect();
        let escape = rows.iter().find(|row| row.1 != first).map(|&(next, set)| {
            let ports = ports(next);
            Offer { port: ports[to as usize % ports.len()], vcs: self.equal_set(set, k) }
        });
        Choice { minimal, escape, away: vec![], hops_left: vec![] }
    }

    /// ecmp, spray: the port that the number of a packet picks.
    fn one_of_the_shortest(&self, here: u32, to: u32, packet: &Packet) -> usize {
        let number = match &self.routing_spec {
            RoutingSpec::Ecmp(options) => {
                mix(mix(options.seed) ^ ((u64::from(packet.src) << 32) + u64::from(packet.dst)))
            }
            _ => mix(self.bits(packet)),
        };
        let ports = self.shortest_path_ports(here, to);
        let drawn = mix((number >> 33 << 32) + u64::from(here));
        ports[if ports.len() == 1 { 0 } else { below(drawn, ports.len() as u64) as usize }]
    }

    /// Whether both directions round a ring lead from `here` to `to` in as many hops.
    fn is_tie(&self, d: usize, here: u32, to: u32) -> bool {
        let (h, t) = (self.grid().coords(here)[d], self.grid().coords(to)[d]);
        h != t && self.grid().distance(d, h, t, true) == self.grid().distance(d, h, t, false)
    }

    /// min_adapt: the port of an adaptive channel, where the escape channel would be that of `port`.
    fn adaptive_port(&self, here: u32, port: usize, to: u32) -> usize {
        match self.router.compat.adaptive_tie {
            AdaptiveTie::Plus if self.is_tie(port / 2, here, to) => port / 2 * 2,
            AdaptiveTie::Minus if self.is_tie(port / 2, here, to) => port / 2 * 2 + 1,
            _ => port,
        }
    }

    /// min_adapt: a packet that an adaptive channel led in the other direction from a tie goes on in it.
    fn keep_to_the_shorter_way(&self, here: u32, trip: &mut Trip) {
        if !matches!(self.routing_spec, RoutingSpec::MinAdapt(_)) {
            return;
        }
        for d in 0..self.grid().dims() {
            let (h, t) = (self.grid().coords(here)[d], self.grid().coords(trip.target)[d]);
            let (plus, minus) = (self.grid().distance(d, h, t, true), self.grid().distance(d, h, t, false));
            match (plus, minus) {
                (Some(plus), Some(minus)) if plus != minus => trip.minus[d] = minus < plus,
                _ => {}
            }
        }
    }

    /// The productive ports of a trip, in ascending order.
    fn productive(&self, here: u32, trip: &Trip) -> Vec<usize> {
        let (h, t) = (self.grid().coords(here), self.grid().coords(trip.target));
        let port = |d: usize| 2 * d + usize::from(trip.minus[d]);
        (0..self.grid().dims()).filter(|&d| h[d] != t[d]).map(port).collect()
    }

    /// The port of the first dimension in order in which `here` and the target differ.
    fn dimension_order_port(&self, here: u32, trip: &Trip) -> usize {
        let mut order = self.routing.order.clone();
        if matches!(self.routing_spec, RoutingSpec::O1Turn(_)) && trip.mode == 1 {
            order.reverse();
        }
        let (h, t) = (self.grid().coords(here), self.grid().coords(trip.target));
        let d = order.into_iter().find(|&d| h[d] != t[d]).expect("it is on its route");
        2 * d + usize::from(trip.minus[d])
    }

    /// Datelines on the dimension-order route from `here` to the target, without the first channel.
    fn crossings_behind(&self, here: u32, trip: &Trip) -> usize {
        let (mut at, mut crossings) = (here, Vec::new());
        while at != trip.target {
            let port = self.dimension_order_port(at, trip);
            crossings.push(self.crosses(at, port));
            at = self.grid().neighbour(at, port).expect("it can be walked");
        }
        crossings.into_iter().skip(1).filter(|&crosses| crosses).count()
    }

    /// Whether a walk from `from` by `port` and on, until the coordinate is that of `to`, crosses the dateline.
    fn walk_crosses(&self, from: u32, port: usize, to: u32) -> bool {
        let (d, mut at, mut crosses) = (port / 2, from, false);
        while self.grid().coords(at)[d] != self.grid().coords(to)[d] {
            crosses |= self.crosses(at, port);
            at = self.grid().neighbour(at, port).expect("it can be walked");
        }
        crosses
    }

    /// What the packet at the front of a VC carries behind output port `port` of router `here`.
    pub fn walked(&self, here: u32, port: usize, front: &Front) -> Option<Trip> {
        let Front { packet, choice: Some(choice), .. } = front else { return front.trip.clone() };
        let mut trip = front.trip.clone()?;
        trip.hops += 1;
        if front.decided == Some(1) {
            trip.crossed += 1;
            if matches!(self.routing_spec, RoutingSpec::GraphUgal(_)) {
                (trip.target, trip.mode, trip.first_set) = (trip.via, 0, 0);
            }
        }
        if !self.by_coordinates() {
            return Some(trip);
        }
        trip.crossed += usize::from(self.crosses(here, port));
        if choice.away.iter().any(|offer| offer.port == port) {
            let next = self.grid().neighbour(here, port).expect("the channel exists");
            trip.detours -= 1;
            trip.minus = self.directions(next, trip.target, self.bits(packet));
        }
        Some(trip)
    }
}
