//! One router: steps 3 to 6 of docs/model.md.

use super::allocators::{Allocator, Matching, Request, Requests};
use super::batch_stage::BatchStage;
use super::congestion::Congestion;
use super::machine::{Flit, Machine, Packet};
use super::places::Places;
use super::requests::Want;
use super::trip::{Choice, Trip};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// A virtual channel of a port: (port, v).
pub type VcId = (usize, usize);

/// An input VC.
#[derive(Default)]
pub(super) struct InputVc {
    /// Each flit with the cycle in which it arrived.
    buffer: VecDeque<(Flit, u64)>,
    /// The packet at the front, if any; all its flits may be yet to come, or gone but for the tail.
    front: Option<Front>,
}

/// The packet at the front of an input VC.
pub(super) struct Front {
    pub(super) packet: Rc<Packet>,
    /// Cycle in which its head arrived in this router.
    pub(super) head_arrived: u64,
    /// First cycle in which it may ask for an output VC.
    pub(super) requests_from: u64,
    /// What it may take here, and what it carries, if its routing decides hop by hop.
    pub(super) choice: Option<Choice>,
    /// UGAL: which of the two ports it decided for at its first request.
    pub(super) decided: Option<usize>,
    pub(super) trip: Option<Trip>,
    /// Flits that have left the buffer.
    sent: u32,
    /// The output VC that it owns, and the first cycle in which it may request the switch without speculation.
    grant: Option<(VcId, u64)>,
}

/// An output VC.
pub(super) struct OutputVc {
    pub(super) owner: Option<VcId>,
}

/// A path through the switch that is kept for the packet at the front of `vc`.
struct Hold {
    row: usize,
    column: usize,
    vc: VcId,
}

/// A flit that traverses the switch in this cycle.
struct Traversal {
    row: usize,
    column: usize,
    vc: VcId,
}

/// What a router did in one cycle.
#[derive(Default)]
pub struct Outcome {
    /// Flits put on channels: (output VC, flit).
    pub flits: Vec<(VcId, Flit)>,
    /// Input VCs that one flit left.
    pub freed: Vec<VcId>,
    /// Output ports that these flits were granted.
    pub granted: Vec<usize>,
}

pub struct Router<'m> {
    pub(super) id: u32,
    pub(super) machine: &'m Machine,
    inputs: Vec<Vec<InputVc>>,
    pub(super) outputs: Vec<Vec<OutputVc>>,
    /// Behind each output port.
    pub(super) places: Vec<Places>,
    /// Behind each output port, flits that wait for their turn on the channel.
    queues: Vec<VecDeque<(VcId, Flit)>>,
    /// Heads in route computation and flits in the switch, where these stages are not pipelined.
    routing_stage: Option<BatchStage<VcId>>,
    switch_stage: Option<BatchStage<(VcId, Flit)>>,
    vc_allocator: Allocator,
    sw_allocator: Allocator,
    /// The pointer `off` of each row of the switch.
    off: Vec<usize>,
    holds: Vec<Hold>,
    /// First cycle in which each output port may be granted again.
    ready: Vec<u64>,
    /// Where picking in turns goes on.
    pub(super) pick_pointer: usize,
}

impl<'m> Router<'m> {
    pub fn new(id: usize, machine: &'m Machine) -> Self {
        let (ports, vcs) = (machine.ports(), machine.vcs);
        let spec = &machine.router;
        let (is, os) = (spec.input_speedup as usize, spec.output_speedup as usize);
        let input_port = |_| (0..vcs).map(|_| InputVc::default()).collect();
        let output_port = |_| (0..vcs).map(|_| OutputVc { owner: None }).collect();
        Router {
            id: id as u32,
            machine,
            inputs: (0..ports).map(input_port).collect(),
            outputs: (0..ports).map(output_port).collect(),
            places: (0..ports).map(|_| Places::new(machine)).collect(),
            queues: vec![VecDeque::new(); ports],
            routing_stage: BatchStage::new(spec.routing_delay_cycles, spec.compat.pipelined_stages),
            switch_stage: BatchStage::new(spec.st_delay_cycles, spec.compat.pipelined_stages),
            vc_allocator: Allocator::new(spec.vc_allocator, ports * vcs, ports * vcs),
            sw_allocator: Allocator::new(spec.sw_allocator, ports * is, ports * os),
            off: (0..ports * is).map(|row| row % is).collect(),
            holds: Vec::new(),
            ready: vec![0; ports],
            pick_pointer: 0,
        }
    }

    /// Step 3: the packet of `flit`, its head, whose head arrived in cycle `head_arrived`, comes to the front of `vc`
    /// in `since`.
    fn come_to_the_front(&mut self, vc: VcId, flit: &Flit, head_arrived: u64, since: u64) {
        assert!(flit.head, "a packet starts with its head");
        let mut trip = flit.trip.clone();
        let choice = trip.as_mut().and_then(|trip| self.machine.choose(self.id, vc, &flit.packet, trip));
        let requests_from = match &mut self.routing_stage {
            Some(stage) => {
                stage.push(vc, since);
                u64::MAX // until it leaves the stage
            }
            None if self.machine.pipelined() => since.max(head_arrived + self.machine.routing_cycles()),
            None => since + self.machine.routing_cycles(),
        };
        let front = Front {
            packet: flit.packet.clone(),
            head_arrived,
            requests_from,
            choice,
            decided: None,
            trip,
            sent: 0,
            grant: None,
        };
        self.inputs[vc.0][vc.1].front = Some(front);
    }

    /// Step 1: a flit arrives.
    pub fn receive(&mut self, (port, v): VcId, flit: Flit, now: u64) {
        if self.inputs[port][v].front.is_none() {
            assert!(self.inputs[port][v].buffer.is_empty(), "the first flit is at the front");
            self.come_to_the_front((port, v), &flit, now, now);
        }
        let input = &mut self.inputs[port][v];
        input.buffer.push_back((flit, now));
        let beyond_private = |input: &InputVc| (input.buffer.len() as u64).saturating_sub(self.machine.buffer);
        let shared: u64 = self.inputs[port].iter().map(beyond_private).sum();
        assert!(shared <= self.machine.shared_buffer, "a buffer overflows");
    }

    /// Step 1: a credit arrives.
    pub fn receive_credit(&mut self, (port, v): VcId) {
        self.places[port].release(v);
    }

    /// Steps 3 to 6.
    pub fn cycle(&mut self, congestion: &Congestion, now: u64) -> Outcome {
        if self.inputs.iter().flatten().all(|input| input.front.is_none()) && self.flits() == 0 {
            return Outcome::default(); // Without a packet nothing changes.
        }
        if let Some(stage) = &mut self.routing_stage {
            stage.begin(now);
        }
        if let Some(stage) = &mut self.switch_stage {
            stage.begin(now);
        }
        for vc in self.ending_routing(now) {
            self.decide(vc);
        }
        let requests: Vec<(VcId, Vec<Want>)> =
            self.waiting(now).into_iter().map(|vc| (vc, self.wants(vc, congestion, now))).collect();
        let speculating: Vec<(VcId, usize)> = requests
            .iter()
            .flat_map(|(vc, wants)| self.speculates_on(wants).into_iter().map(|out| (*vc, out)))
            .collect();
        let in_vain: Vec<VcId> = requests.iter().map(|(vc, _)| *vc).filter(|vc| self.speculates_in_vain(*vc)).collect();
        self.allocate_vcs(&requests, now);
        let held = self.serve_holds(now);
        let granted = self.allocate_switch(&speculating, &in_vain, now);
        let (freed, granted) = self.traverse(held, granted, now);
        for vc in self.routing_stage.as_mut().map(|stage| stage.finish(now)).unwrap_or_default() {
            self.inputs[vc.0][vc.1].front.as_mut().expect("it is being routed").requests_from = now + 1;
        }
        for (output, flit) in self.switch_stage.as_mut().map(|stage| stage.finish(now)).unwrap_or_default() {
            self.queues[output.0].push_back((output, flit));
        }
        Outcome { flits: self.queues.iter_mut().filter_map(VecDeque::pop_front).collect(), freed, granted }
    }

    /// The input VCs whose packet is in the last cycle of the routing stage or, without one, asks for the first time.
    fn ending_routing(&self, now: u64) -> Vec<VcId> {
        if let Some(stage) = &self.routing_stage {
            return stage.ending(now).copied().collect();
        }
        let requests_from = now + u64::from(self.machine.routing_cycles() > 0 && !self.machine.pipelined());
        let ports = self.inputs.iter().enumerate();
        let vcs = ports.flat_map(|(port, vcs)| vcs.iter().enumerate().map(move |(v, input)| ((port, v), input)));
        let ends = |input: &InputVc| input.front.as_ref().is_some_and(|front| front.requests_from == requests_from);
        vcs.filter(|(_, input)| ends(input)).map(|(vc, _)| vc).collect()
    }

    /// The input VCs whose packet waits for an output VC, in ascending order.
    fn waiting(&self, now: u64) -> Vec<VcId> {
        let mut waiting = Vec::new();
        for (port, vcs) in self.inputs.iter().enumerate() {
            for (v, input) in vcs.iter().enumerate() {
                if input.front.as_ref().is_some_and(|front| front.grant.is_none() && now >= front.requests_from) {
                    waiting.push((port, v));
                }
            }
        }
        waiting
    }

    pub(super) fn front(&self, (port, v): VcId) -> &Front {
        self.inputs[port][v].front.as_ref().expect("a packet is at the front")
    }

    pub(super) fn front_mut(&mut self, (port, v): VcId) -> &mut Front {
        self.inputs[port][v].front.as_mut().expect("a packet is at the front")
    }

    /// Step 4.
    fn allocate_vcs(&mut self, waiting: &[(VcId, Vec<Want>)], now: u64) {
        let m = self.machine;
        let mut requests = Requests::new();
        for (vc, wants) in waiting {
            let priority = self.priority(m.router.vc_allocator, *vc, false);
            for Want { output, escape } in wants {
                let (row, column) = (vc.0 * m.vcs + vc.1, output.0 * m.vcs + output.1);
                requests.insert((row, column), Request { priority, last: *escape });
            }
        }
        let mut granted: Vec<(usize, usize)> = self.vc_allocator.allocate(&requests).into_iter().collect();
        granted.sort_unstable();
        for (row, column) in granted {
            let (vc, output) = ((row / m.vcs, row % m.vcs), (column / m.vcs, column % m.vcs));
            if Places::reserves(m) {
                let flits = u64::from(self.front(vc).packet.flits);
                if self.credits(output) < flits {
                    continue; // Another has taken places of the pool.
                }
                self.places[output.0].reserve(output.1, flits);
            }
            self.outputs[output.0][output.1].owner = Some(vc);
            let from = self.requests_from(self.front(vc), now);
            self.front_mut(vc).grant = Some((output, from));
        }
    }

    /// The first cycle in which a packet that is given an output VC in cycle `now` may request the switch without
    /// speculation.
    fn requests_from(&self, front: &Front, now: u64) -> u64 {
        let (m, allocation) = (self.machine, u64::from(self.machine.router.vc_alloc_delay_cycles));
        if m.router.speculative {
            now + 1 // The delay of VC allocation has no effect: the speculative request was this cycle's.
        } else if m.pipelined() {
            now.max(front.head_arrived + m.routing_cycles() + allocation)
        } else {
            now + allocation
        }
    }

    /// The packet at the front of an input VC has decided for one of two ports.
    pub(super) fn decide_for(&mut self, vc: VcId, decided: usize) {
        self.inputs[vc.0][vc.1].front.as_mut().expect("it asks").decided = Some(decided);
    }

    /// UGAL: the queue of a network port.
    pub(super) fn queue(&self, port: usize, now: u64) -> u64 {
        self.places[port].sent() + self.yet_to_send(port, now)
    }

    /// UGAL: the flits that packets which asked for a network port before cycle `now` have yet to send.
    fn yet_to_send(&self, port: usize, now: u64) -> u64 {
        let leaves_by = |front: &Front| {
            let minimal = &front.choice.as_ref()?.minimal;
            let number = if minimal.len() == 1 { Some(0) } else { front.decided };
            number.map(|number| minimal[number].port)
        };
        let fronts = self.inputs.iter().flatten().filter_map(|input| input.front.as_ref());
        let asked = fronts.filter(|front| front.requests_from < now && leaves_by(front) == Some(port));
        asked.map(|front| u64::from(front.packet.flits - front.sent)).sum()
    }

    pub(super) fn credits(&self, output: VcId) -> u64 {
        self.places[output.0].credits(output.1)
    }

    /// The held VCs that send in this cycle. `holds` still has all that were held at its start.
    fn serve_holds(&self, now: u64) -> Vec<Traversal> {
        let output = |hold: &Hold| self.front(hold.vc).grant.expect("it is active").0;
        let has_flit = |hold: &Hold| !self.inputs[hold.vc.0][hold.vc.1].buffer.is_empty();
        let sends =
            |hold: &&Hold| has_flit(hold) && self.credits(output(hold)) > 0 && now >= self.ready[output(hold).0];
        let traversal = |hold: &Hold| Traversal { row: hold.row, column: hold.column, vc: hold.vc };
        self.holds.iter().filter(sends).map(traversal).collect()
    }

    /// Step 5: the grants of the switch, failed speculations among them.
    fn allocate_switch(&mut self, speculating: &[(VcId, usize)], in_vain: &[VcId], now: u64) -> Vec<Traversal> {
        let m = self.machine;
        let (is, os) = (m.router.input_speedup as usize, m.router.output_speedup as usize);
        // By row and column: who wants it.
        let mut wanting: BTreeMap<(usize, usize), Vec<(VcId, bool)>> = BTreeMap::new();
        for port in 0..m.ports() {
            for v in 0..m.vcs {
                let vc = (port, v);
                let speculations = speculating.iter().filter(|s| s.0 == vc).map(|s| (s.1, true));
                let certain = self.requests_switch(vc, now).map(|out| (out, false));
                for (out, speculative) in speculations.chain(certain) {
                    let (row, column) = (port * is + v % is, out * os + port % os);
                    wanting.entry((row, column)).or_default().push((vc, speculative));
                }
            }
        }
        wanting.retain(|&(_, column), _| now >= self.ready[column / os]);
        wanting.retain(|&(row, column), _| self.holds.iter().all(|hold| hold.row != row && hold.column != column));
        let mut requests = Requests::new();
        let mut requester = BTreeMap::new();
        for (&(row, column), all) in &wanting {
            let rank = |&(vc, speculative): &(VcId, bool)| {
                let order = (vc.1 + m.vcs - self.off[row]) % m.vcs;
                (self.priority(m.router.sw_allocator, vc, speculative), order)
            };
            let (vc, speculative) = *all.iter().min_by_key(|w| rank(w)).expect("somebody wants it");
            let priority = self.priority(m.router.sw_allocator, vc, speculative);
            requests.insert((row, column), Request { priority, last: false });
            requester.insert((row, column), vc);
        }
        let matching: Matching = self.sw_allocator.allocate(&requests);
        let mut granted = Vec::new();
        for (row, column) in matching {
            let vc: VcId = requester[&(row, column)];
            if in_vain.contains(&vc) {
                continue;
            }
            self.off[row] = (vc.1 + is) % m.vcs;
            granted.push(Traversal { row, column, vc });
        }
        granted
    }

    /// The output port at which the packet at the front of `vc` requests the switch without speculation.
    fn requests_switch(&self, vc: VcId, now: u64) -> Option<usize> {
        let input = &self.inputs[vc.0][vc.1];
        let (output, from) = input.front.as_ref()?.grant?;
        (now >= from && !input.buffer.is_empty() && self.credits(output) > 0).then_some(output.0)
    }

    /// Step 6: the flits leave their buffers. Returns the input VCs that they left, and the output ports that they go
    /// to.
    fn traverse(&mut self, held: Vec<Traversal>, granted: Vec<Traversal>, now: u64) -> (Vec<VcId>, Vec<usize>) {
        // A speculation succeeds if the packet was given a VC of that port in this cycle and that VC has a credit.
        let os = self.machine.router.output_speedup as usize;
        let leads = |t: &Traversal, output: VcId| output.0 == t.column / os && self.credits(output) > 0;
        let succeeds = |t: &Traversal| self.front(t.vc).grant.is_some_and(|(output, _)| leads(t, output));
        let mut all: Vec<Traversal> = held;
        all.extend(granted.into_iter().filter(succeeds));
        all.sort_by_key(|t| t.row);
        let until_tail = self.machine.router.hold_switch_until_tail;
        let stays =
            |hold: &Hold| now < self.ready[hold.column / os] || until_tail && all.iter().all(|t| t.vc != hold.vc);
        self.holds.retain(stays);
        let mut freed = Vec::new();
        let mut ports = Vec::new();
        for Traversal { row, column, vc } in all {
            let (output, _) = self.front(vc).grant.expect("it is active");
            if self.credits(output) == 0 {
                continue; // A row before it has taken the last place of the pool.
            }
            ports.push(output.0);
            let input = &mut self.inputs[vc.0][vc.1];
            let (mut flit, _) = input.buffer.pop_front().expect("a flit traverses");
            flit.trip = if flit.head { self.machine.walked(self.id, output.0, self.front(vc)) } else { None };
            let input = &mut self.inputs[vc.0][vc.1];
            input.front.as_mut().expect("it is at the front").sent += 1;
            self.places[output.0].send(output.1);
            self.ready[output.0] = now + self.machine.cycles_per_flit(self.id, output.0);
            if flit.tail {
                self.outputs[output.0][output.1].owner = None;
                input.front = None;
                if let Some((next, arrived)) = input.buffer.front().cloned() {
                    self.come_to_the_front(vc, &next, arrived, now + 1);
                }
            } else if until_tail || self.machine.router.hold_switch_for_packet && !input.buffer.is_empty() {
                self.holds.push(Hold { row, column, vc });
            }
            match &mut self.switch_stage {
                Some(stage) => stage.push((output, flit), now + 1),
                None => self.queues[output.0].push_back((output, flit)),
            }
            freed.push(vc);
        }
        (freed, ports)
    }

    /// The packets with their heads in the buffers of an input port but for the one at the front of each.
    pub(super) fn behind_fronts(&self, port: usize) -> impl Iterator<Item = &Packet> {
        self.inputs[port].iter().flat_map(|input| {
            let heads = input.buffer.iter().map(|(flit, _)| flit).filter(|flit| flit.head);
            let at_front = |packet: &Rc<Packet>| input.front.as_ref().is_some_and(|f| Rc::ptr_eq(&f.packet, packet));
            heads.map(|flit| &flit.packet).filter(move |packet| !at_front(packet)).map(Rc::as_ref)
        })
    }

    /// The input VCs with a packet.
    pub fn with_packets(&self) -> impl Iterator<Item = VcId> {
        let ports = self.inputs.iter().enumerate();
        let vcs = ports.flat_map(|(port, vcs)| vcs.iter().enumerate().map(move |(v, input)| ((port, v), input)));
        vcs.filter(|(_, input)| input.front.is_some()).map(|(vc, _)| vc)
    }

    /// Flits in this router.
    pub fn flits(&self) -> usize {
        let buffered: usize = self.inputs.iter().flatten().map(|input| input.buffer.len()).sum();
        let in_the_switch = self.switch_stage.as_ref().map_or(0, BatchStage::len);
        buffered + in_the_switch + self.queues.iter().map(VecDeque::len).sum::<usize>()
    }
}
