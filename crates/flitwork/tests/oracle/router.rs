//! One router: steps 3 to 6 of docs/model.md.

use super::allocators::{Allocator, Matching};
use super::machine::{Flit, Machine, Packet};
use std::collections::VecDeque;
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
    /// Cycle in which it came to the front.
    since: u64,
    /// The output VC that it owns, and the first cycle in which it may request the switch without speculation.
    grant: Option<(VcId, u64)>,
}

/// An output VC.
pub(super) struct OutputVc {
    pub(super) owner: Option<VcId>,
    pub(super) credits: u64,
}

/// A way through the switch that is kept for the packet at the front of `vc`.
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
pub struct Sent {
    /// Flits put on channels: (output VC, flit).
    pub flits: Vec<(VcId, Flit)>,
    /// Input VCs that one flit left.
    pub freed: Vec<VcId>,
}

pub struct Router<'m> {
    pub(super) id: u32,
    pub(super) machine: &'m Machine,
    inputs: Vec<Vec<InputVc>>,
    pub(super) outputs: Vec<Vec<OutputVc>>,
    /// Behind each output port, flits that wait for their turn on the channel.
    queues: Vec<VecDeque<(VcId, Flit)>>,
    vc_allocator: Allocator,
    sw_allocator: Allocator,
    /// The pointer `off` of each row of the switch.
    off: Vec<usize>,
    holds: Vec<Hold>,
}

impl<'m> Router<'m> {
    pub fn new(id: usize, machine: &'m Machine) -> Self {
        let (ports, vcs) = (machine.ports(), machine.vcs);
        let spec = &machine.router;
        let (is, os) = (spec.input_speedup as usize, spec.output_speedup as usize);
        let input_port = |_| (0..vcs).map(|_| InputVc::default()).collect();
        let output_port = |_| (0..vcs).map(|_| OutputVc { owner: None, credits: machine.buffer }).collect();
        Router {
            id: id as u32,
            machine,
            inputs: (0..ports).map(input_port).collect(),
            outputs: (0..ports).map(output_port).collect(),
            queues: vec![VecDeque::new(); ports],
            vc_allocator: Allocator::new(spec.vc_allocator, ports * vcs, ports * vcs),
            sw_allocator: Allocator::new(spec.sw_allocator, ports * is, ports * os),
            off: (0..ports * is).map(|row| row % is).collect(),
            holds: Vec::new(),
        }
    }

    /// Step 1: a flit arrives.
    pub fn receive(&mut self, (port, v): VcId, flit: Flit, now: u64) {
        let input = &mut self.inputs[port][v];
        if input.front.is_none() {
            assert!(flit.head && input.buffer.is_empty(), "a packet starts with its head");
            input.front = Some(Front { packet: flit.packet.clone(), head_arrived: now, since: now, grant: None });
        }
        input.buffer.push_back((flit, now));
        assert!(input.buffer.len() as u64 <= self.machine.buffer, "a buffer overflows");
    }

    /// Step 1: a credit arrives.
    pub fn receive_credit(&mut self, (port, v): VcId) {
        self.outputs[port][v].credits += 1;
        assert!(self.outputs[port][v].credits <= self.machine.buffer, "a credit too many");
    }

    /// Steps 3 to 6.
    pub fn cycle(&mut self, now: u64) -> Sent {
        let waiting = self.waiting(now);
        let speculating: Vec<(VcId, usize)> =
            waiting.iter().copied().filter(|&(vc, out)| self.may_speculate(vc, out)).collect();
        self.allocate_vcs(&waiting, now);
        let held = self.serve_holds();
        let granted = self.allocate_switch(&speculating, now);
        self.traverse(held, granted, now)
    }

    /// Step 3: the input VCs whose packet waits for an output VC, each with the output port it asks at.
    fn waiting(&self, now: u64) -> Vec<(VcId, usize)> {
        let routing_delay = u64::from(self.machine.router.routing_delay_cycles);
        let mut waiting = Vec::new();
        for (port, vcs) in self.inputs.iter().enumerate() {
            for (v, input) in vcs.iter().enumerate() {
                if let Some(front) = &input.front {
                    if front.grant.is_none() && now >= front.since + routing_delay {
                        waiting.push(((port, v), self.output_port(&front.packet)));
                    }
                }
            }
        }
        waiting
    }

    pub(super) fn front(&self, (port, v): VcId) -> &Front {
        self.inputs[port][v].front.as_ref().expect("a packet is at the front")
    }

    /// Step 4.
    fn allocate_vcs(&mut self, waiting: &[(VcId, usize)], now: u64) {
        let m = self.machine;
        if waiting.is_empty() {
            return; // An allocator without requests does nothing.
        }
        let mut requests = self.vc_allocator.no_requests();
        for &(vc, out) in waiting {
            let packet = &self.front(vc).packet;
            for v in 0..m.vcs {
                if self.may_request(packet, out, v) {
                    let priority = self.priority(m.router.vc_allocator, vc, false);
                    requests[vc.0 * m.vcs + vc.1][out * m.vcs + v] = Some(priority);
                }
            }
        }
        // Under speculation the delay of VC allocation has no effect: the speculative request was this cycle's.
        let delay = if m.router.speculative { 1 } else { u64::from(m.router.vc_alloc_delay_cycles) };
        for (row, column) in self.vc_allocator.allocate(&requests) {
            let (vc, output) = ((row / m.vcs, row % m.vcs), (column / m.vcs, column % m.vcs));
            self.outputs[output.0][output.1].owner = Some(vc);
            self.inputs[vc.0][vc.1].front.as_mut().expect("it requested").grant = Some((output, now + delay));
        }
    }

    fn credits(&self, output: VcId) -> u64 {
        self.outputs[output.0][output.1].credits
    }

    /// The held VCs that send in this cycle. `holds` still has all that were held at its start.
    fn serve_holds(&self) -> Vec<Traversal> {
        let sends = |hold: &&Hold| self.credits(self.front(hold.vc).grant.expect("it is active").0) > 0;
        let traversal = |hold: &Hold| Traversal { row: hold.row, column: hold.column, vc: hold.vc };
        self.holds.iter().filter(sends).map(traversal).collect()
    }

    /// Step 5: the grants of the switch, failed speculations among them.
    fn allocate_switch(&mut self, speculating: &[(VcId, usize)], now: u64) -> Vec<Traversal> {
        let m = self.machine;
        let (is, os) = (m.router.input_speedup as usize, m.router.output_speedup as usize);
        let (rows, columns) = (self.off.len(), m.ports() * os);
        // Who wants which column of each row.
        let mut wanting: Vec<Vec<Vec<(VcId, bool)>>> = vec![vec![Vec::new(); columns]; rows];
        for port in 0..m.ports() {
            for v in 0..m.vcs {
                let vc = (port, v);
                let speculation = speculating.iter().find(|s| s.0 == vc);
                let wanted = match (speculation, self.requests_switch(vc, now)) {
                    (Some(&(_, out)), _) => Some((out, true)),
                    (None, Some(out)) => Some((out, false)),
                    (None, None) => None,
                };
                if let Some((out, speculative)) = wanted {
                    wanting[port * is + v % is][out * os + port % os].push((vc, speculative));
                }
            }
        }
        let mut requests = self.sw_allocator.no_requests();
        let mut requester = vec![vec![None; columns]; rows];
        for row in 0..rows {
            for column in 0..columns {
                if self.holds.iter().any(|hold| hold.row == row || hold.column == column) {
                    continue;
                }
                let order = |vc: VcId| (vc.1 + m.vcs - self.off[row]) % m.vcs;
                let rank = |&(vc, speculative): &(VcId, bool)| {
                    (self.priority(m.router.sw_allocator, vc, speculative), order(vc))
                };
                if let Some(&(vc, speculative)) = wanting[row][column].iter().min_by_key(|w| rank(w)) {
                    requests[row][column] = Some(self.priority(m.router.sw_allocator, vc, speculative));
                    requester[row][column] = Some(vc);
                }
            }
        }
        let matching: Matching = self.sw_allocator.allocate(&requests);
        let mut granted = Vec::new();
        for (row, column) in matching {
            let vc: VcId = requester[row][column].expect("only requests are granted");
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

    /// Step 6: the flits leave their buffers; each output port sends one on.
    fn traverse(&mut self, held: Vec<Traversal>, granted: Vec<Traversal>, now: u64) -> Sent {
        // A speculation succeeds if the packet was given a VC in this cycle and that VC has a credit.
        let succeeds = |t: &Traversal| self.front(t.vc).grant.is_some_and(|(output, _)| self.credits(output) > 0);
        let mut all: Vec<Traversal> = held;
        all.extend(granted.into_iter().filter(succeeds));
        all.sort_by_key(|t| t.row);
        self.holds.clear();
        let mut sent = Sent::default();
        for Traversal { row, column, vc } in all {
            let input = &mut self.inputs[vc.0][vc.1];
            let (output, _) = input.front.as_ref().expect("a packet traverses").grant.expect("it is active");
            let (flit, _) = input.buffer.pop_front().expect("a flit traverses");
            self.outputs[output.0][output.1].credits -= 1;
            if flit.tail {
                self.outputs[output.0][output.1].owner = None;
                input.front = input.buffer.front().map(|(next, arrived)| {
                    assert!(next.head, "a packet starts with its head");
                    Front { packet: next.packet.clone(), head_arrived: *arrived, since: now + 1, grant: None }
                });
            } else if self.machine.router.hold_switch_for_packet && !input.buffer.is_empty() {
                self.holds.push(Hold { row, column, vc });
            }
            self.queues[output.0].push_back((output, flit));
            sent.freed.push(vc);
        }
        sent.flits = self.queues.iter_mut().filter_map(VecDeque::pop_front).collect();
        sent
    }

    /// Flits in this router.
    pub fn flits(&self) -> usize {
        let buffered: usize = self.inputs.iter().flatten().map(|input| input.buffer.len()).sum();
        buffered + self.queues.iter().map(VecDeque::len).sum::<usize>()
    }
}
