//! VC allocation by iSLIP with one iteration, on bit masks.
//!
//! The algorithm. VCs of a router are numbered `port * vcs + vc`; "first from its pointer on" means in cyclic order of
//! these numbers.
//!
//! ```text
//! for each free output VC o:
//!     o grants the first waiting input VC from o's pointer on that requests o
//! for each input VC i with a grant:
//!     i accepts the first output VC from i's pointer on that grants i
//!     i owns the VC o that it accepted; o's pointer moves behind i, i's pointer behind o
//! ```
//!
//! Departures from it, none of which changes the matching:
//!
//! 1. *One matching for each output port.* A packet requests VCs of one port only, so requests for two ports have
//!    neither an input VC nor an output VC in common. The matchings of the ports are independent, and their order does
//!    not matter. Where the selection function requests several ports at once (`match_all`), the ports grant one by
//!    one, but a packet accepts among the grants of all of them.
//! 2. *A lone request skips the grant step.* All free VCs that it may use grant it, because there is no other request.
//!    It accepts the first from its pointer on. This is the usual case, and has no loop.
//! 3. *Two contenders are compared only where they meet.* A VC that one of the two may use grants that one; pointers
//!    decide for the VCs that both may use (`grant_to_two`).
//! 4. *A pointer is the last partner.* With one iteration a pointer moves at an accepted grant only, and always behind
//!    the partner. So the partner is stored, and the pointer is one more.
//! 5. *Cyclic order without a division.* `slot - pointer`, modulo 2^16, orders slots from the pointer on before slots
//!    below it. An input VC's pointer matters only if it lies within the requested port: from any other pointer, the
//!    first granted VC of the port is the lowest one.
//! 6. *Injection ports may yield.* With `injection_priority = last`, VCs that a packet from a network port requests are
//!    taken out of the requests from injection ports before the grant step (`yield_to_transit`), as the model says.

use crate::kernel::flit::vc_allocation::VcRequest;
use crate::kernel::flit::{Env, Router, VcMask};

/// Working memory of one router's step, kept to avoid allocation.
#[derive(Debug, Default)]
pub(crate) struct Scratch<M> {
    vc_requests: Vec<VcRequest<M>>,
    /// The requests for one port, with the VCs granted to each.
    contenders: Vec<(VcRequest<M>, M)>,
    /// The first request for each port, and behind each request the next one for its port, or [`LAST`].
    first_of: Vec<u16>,
    next_of: Vec<u16>,
}

const LAST: u16 = u16::MAX;

impl<M: VcMask> Scratch<M> {
    pub fn new(requests: usize) -> Self {
        let contenders = Vec::with_capacity(requests);
        let next_of = Vec::with_capacity(requests);
        Scratch { vc_requests: Vec::with_capacity(requests), contenders, first_of: vec![LAST; 64], next_of }
    }

    /// Links the requests for each port, in their order; returns the ports requested, as bits.
    fn chain_requests(&mut self) -> u64 {
        let mut ports = 0u64;
        self.next_of.clear();
        self.next_of.resize(self.vc_requests.len(), LAST);
        for (i, request) in self.vc_requests.iter().enumerate().rev() {
            let first = &mut self.first_of[request.port as usize & 63];
            self.next_of[i] = if ports >> (request.port & 63) & 1 == 1 { *first } else { LAST };
            *first = i as u16;
            ports |= 1 << (request.port & 63);
        }
        ports
    }

    /// Makes the requests for a port contenders.
    fn take_contenders(&mut self, port: usize) {
        self.contenders.clear();
        let mut i = self.first_of[port & 63];
        while let Some(&request) = self.vc_requests.get(i as usize) {
            self.contenders.push((request, M::EMPTY));
            i = self.next_of[i as usize];
        }
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// VC allocation where each packet selects its port anew in each cycle.
    #[inline(never)]
    pub(crate) fn allocate_selected(&mut self, me: usize, scratch: &mut Scratch<M>, env: &mut Env) {
        self.collect_requests(me, !0, &mut scratch.vc_requests, env);
        // One packet alone (nearly always): all VCs that it requests grant it.
        match (scratch.vc_requests.first(), scratch.vc_requests.last()) {
            (Some(first), Some(last)) if first.slot == last.slot => {
                return self.accept_first(
                    me,
                    scratch.vc_requests.iter().map(|&request| (request, request.usable)),
                    env,
                );
            }
            (None, _) => return,
            _ => {}
        }
        if env.route.hop_by_hop.as_ref().is_some_and(|hop_by_hop| hop_by_hop.requests_all_ports()) {
            return self.match_all(me, scratch, env);
        }
        let (mut requested, mut contended) = (0u64, 0u64);
        for request in &scratch.vc_requests {
            contended |= requested & 1 << request.port;
            requested |= 1 << request.port;
        }
        for i in 0..scratch.vc_requests.len() {
            let VcRequest { slot, port, usable, .. } = scratch.vc_requests[i];
            if contended >> port & 1 == 0 {
                let out_vc = self.accept(slot as usize, port as usize, &usable);
                self.record_hop(me, slot as usize, port as usize, env);
                self.accept_vc(me, slot as usize, port as usize, out_vc, env);
            }
        }
        if contended != 0 {
            self.match_ports(me, contended, scratch, env);
        }
    }

    /// Packets request several ports at once: every usable VC grants one of them, every packet accepts one.
    fn match_all(&mut self, me: usize, scratch: &mut Scratch<M>, env: &mut Env) {
        let Scratch { vc_requests, contenders, .. } = scratch;
        contenders.clear();
        contenders.extend(vc_requests.iter().map(|&request| (request, M::EMPTY)));
        let mut ports = vc_requests.iter().fold(0u64, |ports, request| ports | 1 << request.port);
        while ports != 0 {
            let port = ports.trailing_zeros() as usize;
            ports &= ports - 1;
            if env.rules.ports.injection_last {
                Self::yield_to_transit(port, env.network_ports(me), contenders);
            }
            self.grant_port(port, contenders);
        }
        // The requests of one packet lie side by side.
        for same_slot in contenders.chunk_by(|a, b| a.0.slot == b.0.slot) {
            self.accept_first(me, same_slot.iter().copied().filter(|(_, grants)| !grants.is_empty()), env);
        }
    }

    /// A packet accepts the first from its pointer on of the VCs that were granted to it, by port.
    #[inline(always)]
    fn accept_first(&mut self, me: usize, grants: impl Iterator<Item = (VcRequest<M>, M)>, env: &mut Env) {
        let offers = grants.map(|(request, granted)| {
            let (slot, port) = (request.slot as usize, request.port as usize);
            let out_vc = self.accept(slot, port, &granted);
            // Slots before the pointer come after all others.
            let turn = (Self::slot(port, out_vc) as u16).wrapping_sub(self.accepts_first(slot) as u16);
            (turn, slot, port, out_vc)
        });
        if let Some((_, slot, port, out_vc)) = offers.min() {
            self.record_hop(me, slot, port, env);
            self.accept_vc(me, slot, port, out_vc, env);
        }
    }

    /// Several packets request a port: each usable VC grants the first of them from its pointer on.
    #[inline(never)]
    pub(crate) fn match_contended(&mut self, me: usize, contended: u64, scratch: &mut Scratch<M>, env: &mut Env) {
        scratch.vc_requests.clear();
        let mut from = 0;
        while let Some((word, mut bits)) = self.waiting.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let port = self.input(slot).port;
                if contended >> (port & 63) & 1 == 0 {
                    continue;
                }
                let usable = self.usable::<false>(me, slot, port as usize, env);
                if env.measured.watched {
                    env.measured.observer.requested(self.number(me, slot), !usable.is_empty(), env.now);
                }
                if !usable.is_empty() {
                    scratch.vc_requests.push(VcRequest { slot: slot as u16, port, preference: 0, usable });
                }
            }
            from = word + 1;
        }
        Self::count_requests(scratch.vc_requests.len(), env);
        self.match_ports(me, !0, scratch, env);
    }

    /// Matches those of `ports` that are requested, one by one.
    fn match_ports(&mut self, me: usize, ports: u64, scratch: &mut Scratch<M>, env: &mut Env) {
        let mut ports = ports & scratch.chain_requests();
        while ports != 0 {
            let port = ports.trailing_zeros() as usize;
            ports &= ports - 1;
            self.match_port(me, port, scratch, env);
        }
    }

    fn match_port(&mut self, me: usize, port: usize, scratch: &mut Scratch<M>, env: &mut Env) {
        scratch.take_contenders(port);
        let contenders = &mut scratch.contenders;
        if env.rules.ports.injection_last {
            Self::yield_to_transit(port, env.network_ports(me), contenders);
        }
        match &mut contenders[..] {
            [one, other] => self.grant_to_two(port, one, other),
            contenders => self.grant_port(port, contenders),
        }
        for (request, grants) in contenders.iter() {
            if !grants.is_empty() {
                let out_vc = self.accept(request.slot as usize, port, grants);
                self.record_hop(me, request.slot as usize, port, env);
                self.accept_vc(me, request.slot as usize, port, out_vc, env);
            }
        }
    }

    /// Packets at injection ports yield: they do not request VCs of `port` that a packet at a network port requests.
    #[inline(never)]
    fn yield_to_transit(port: usize, network_ports: usize, contenders: &mut [(VcRequest<M>, M)]) {
        let in_transit = |request: &VcRequest<M>| Self::port_and_vc(request.slot as usize).0 < network_ports;
        let of_port = |request: &VcRequest<M>| request.port as usize == port;
        let mut taken = M::EMPTY;
        let transit = contenders.iter().filter(|(request, _)| of_port(request) && in_transit(request));
        transit.for_each(|(request, _)| taken = taken.or(&request.usable));
        for (request, _) in contenders.iter_mut().filter(|(request, _)| of_port(request) && !in_transit(request)) {
            request.usable = request.usable.without(&taken);
        }
    }

    /// [`Router::grant_port`] for two contenders, the usual number.
    #[inline(always)]
    pub(super) fn grant_to_two(&mut self, port: usize, one: &mut (VcRequest<M>, M), other: &mut (VcRequest<M>, M)) {
        let (a, b) = (one.0, other.0);
        (one.1, other.1) = (a.usable.without(&b.usable), b.usable.without(&a.usable));
        let mut contested = a.usable.without(&one.1);
        while !contested.is_empty() {
            let v = contested.first();
            contested.remove(v);
            let pointer = self.output_of((port, v)).grants_first();
            let first = a.slot.wrapping_sub(pointer) < b.slot.wrapping_sub(pointer);
            (if first { &mut one.1 } else { &mut other.1 }).insert(v);
        }
    }

    /// Each VC of `port` that is requested grants the first of its requests from its pointer on.
    #[inline(always)]
    fn grant_port(&mut self, port: usize, contenders: &mut [(VcRequest<M>, M)]) {
        let of_port = |request: &VcRequest<M>| request.port as usize == port;
        let mut offered = M::EMPTY;
        contenders
            .iter()
            .filter(|(request, _)| of_port(request))
            .for_each(|(request, _)| offered = offered.or(&request.usable));
        while !offered.is_empty() {
            let v = offered.first();
            offered.remove(v);
            let pointer = self.output_of((port, v)).grants_first();
            // Slots before the pointer come after all others.
            let turn = |request: &VcRequest<M>| request.slot.wrapping_sub(pointer);
            let (mut winner, mut best) = (0, u32::MAX);
            for (i, (request, _)) in contenders.iter().enumerate() {
                let turn = u32::from(turn(request));
                if of_port(request) && request.usable.contains(v) && turn < best {
                    (winner, best) = (i, turn);
                }
            }
            contenders[winner].1.insert(v);
        }
    }

    /// The VC that input VC `slot` accepts: the first of `granted`, VCs of `port`, at or after its pointer in the
    /// cyclic order of all output VCs.
    #[inline(always)]
    pub(crate) fn accept(&mut self, slot: usize, port: usize, granted: &M) -> usize {
        let pointer = self.accepts_first(slot);
        let within = pointer.wrapping_sub(Self::slot(port, 0));
        // Unpredictable, so computed without a branch.
        granted.first_from(if within < VCS { within } else { 0 })
    }

    /// An input VC is given an output VC: the next match starts behind each of them.
    #[inline(always)]
    pub(super) fn move_vc_pointers(&mut self, slot: usize, output: (usize, usize)) {
        self.output_of(output).grant(slot);
        self.input(slot).output = Self::slot(output.0, output.1) as u16;
    }

    /// A match: hands the VC over, which moves the pointers.
    #[inline(always)]
    pub(crate) fn accept_vc(&mut self, me: usize, slot: usize, port: usize, out_vc: usize, env: &mut Env) {
        let output = (port, out_vc);
        self.grant_vc(slot, port, out_vc);
        Self::count_grant(env);
        self.activate_after_delay(me, slot, output, env);
    }
}
