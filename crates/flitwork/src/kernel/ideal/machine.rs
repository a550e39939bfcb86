//! The state of the ideal machine and what each event does to it.

use super::events::{Event, Events};
use super::mailbox::{Entry, Mailbox};
use super::order;
use super::params::{LAST, Params, later};
use super::stuck;
use super::{IdealResult, Rules};
use crate::error::{Error, Result};
use crate::schedule::{Goal, GoalKind, GoalOp, Until};
use crate::spec::LogGopsSpec;

/// Events between two looks at whether to go on.
const LOOK: u64 = 1 << 16;

/// A machine that executes a program.
pub(super) struct Machine<'g> {
    pub goal: &'g Goal,
    params: Params,
    streams: Streams,
    /// From when on each CPU of each rank is free, and each NIC to send and to receive \[ns].
    cpu_free: Vec<u64>,
    send_free: Vec<u64>,
    receive_free: Vec<u64>,
    /// Dependencies that each operation still waits for.
    left: Vec<u32>,
    events: Events,
    /// How many have come: the age of the next one.
    came: u64,
    /// Receives without a message, and messages without a receive, of each rank.
    pub posted: Vec<Mailbox>,
    pub unexpected: Vec<Mailbox>,
    /// What has become ready in this event: rank and operation.
    ready: Vec<(u32, u32)>,
    /// Operations that have been executed.
    executed: usize,
    messages: u64,
    rules: Rules,
}

/// CPUs and NICs that occur, numbered without gaps.
struct Streams {
    cpu: [u8; 256],
    nic: [u8; 256],
    cpus: usize,
    nics: usize,
}

impl Streams {
    fn of(goal: &Goal) -> Self {
        let mut used = [[false; 256]; 2];
        for op in goal.ops() {
            used[0][usize::from(op.cpu)] = true;
            used[1][usize::from(op.nic)] = true;
        }
        let number = |used: [bool; 256]| {
            let mut count = 0;
            let numbers = used.map(|used| {
                count += usize::from(used);
                count.saturating_sub(1) as u8
            });
            (numbers, count.max(1))
        };
        let ((cpu, cpus), (nic, nics)) = (number(used[0]), number(used[1]));
        Streams { cpu, nic, cpus, nics }
    }

    fn cpu(&self, rank: u32, op: &GoalOp) -> usize {
        rank as usize * self.cpus + usize::from(self.cpu[usize::from(op.cpu)])
    }

    fn nic(&self, rank: u32, op: &GoalOp) -> usize {
        rank as usize * self.nics + usize::from(self.nic[usize::from(op.nic)])
    }

    /// Places at a rank where operations wait for the same CPU and NIC: calcs, sends, arrivals.
    fn places(&self) -> usize {
        self.cpus * (1 + 2 * self.nics)
    }

    fn place(&self, rank: u32, op: &GoalOp, arrival: bool) -> usize {
        let (cpu, nic) = (usize::from(self.cpu[usize::from(op.cpu)]), usize::from(self.nic[usize::from(op.nic)]));
        let kind = match (op.kind, arrival) {
            (GoalKind::Calc | GoalKind::Receive, _) => 0,
            (GoalKind::Send, false) => 1 + nic,
            (GoalKind::Send, true) => 1 + self.nics + nic,
        };
        rank as usize * self.places() + cpu * (1 + 2 * self.nics) + kind
    }
}

impl<'g> Machine<'g> {
    pub fn new(goal: &'g Goal, spec: &LogGopsSpec, rules: Rules) -> Self {
        let (params, streams, ranks) = (Params::new(spec), Streams::of(goal), goal.ranks() as usize);
        let go_back = params.empty_messages_go_back() && goal.ops().iter().any(|op| op.size == 0);
        Machine {
            goal,
            params,
            cpu_free: vec![0; ranks * streams.cpus],
            send_free: vec![0; ranks * streams.nics],
            receive_free: vec![0; ranks * streams.nics],
            left: goal.needs().to_vec(),
            events: Events::new(ranks * streams.places(), go_back),
            streams,
            came: 0,
            posted: (0..ranks).map(|_| Mailbox::default()).collect(),
            unexpected: (0..ranks).map(|_| Mailbox::default()).collect(),
            ready: Vec::new(),
            executed: 0,
            messages: 0,
            rules,
        }
    }

    pub fn run(mut self, name: &str, go_on: &mut dyn FnMut(u64) -> bool) -> Result<IdealResult> {
        for rank in 0..self.goal.ranks() {
            let first = self.goal.first(rank);
            let of_rank = first..first + self.goal.of_rank(rank).len();
            self.ready.extend(of_rank.filter(|&op| self.left[op] == 0).map(|op| (rank, op as u32)));
            self.begin_ready();
        }
        let mut events = 0_u64;
        while let Some(event) = {
            let (goal, streams) = (self.goal, &self.streams);
            self.events.pop(|event| place(goal, streams, event))
        } {
            self.take(event);
            self.begin_ready();
            events += 1;
            if events.is_multiple_of(LOOK) && !go_on(events) {
                return Err(Error::Interrupted { cycle: event.time });
            }
        }
        if self.is_stuck() {
            return Err(Error::Schedule { name: name.into(), fault: stuck::describe(&self) });
        }
        let finish_ns: Vec<u64> =
            self.cpu_free.chunks(self.streams.cpus).map(|cpus| cpus.iter().copied().max().unwrap_or(0)).collect();
        if finish_ns.iter().any(|&finish| finish >= LAST) {
            let fault = format!("it takes longer than {LAST} ns");
            return Err(Error::Schedule { name: name.into(), fault });
        }
        Ok(IdealResult { finish_ns, messages: self.messages, events: self.came, rules: self.rules })
    }

    /// Whether something was never executed, or a receive or a message is left.
    fn is_stuck(&self) -> bool {
        let empty = |mail: &[Mailbox]| mail.iter().all(Mailbox::is_empty);
        self.executed < self.goal.operations() || !empty(&self.posted) || !empty(&self.unexpected)
    }

    /// An event whose turn it is: it is executed, or waits until its CPU and NIC are free.
    fn take(&mut self, event: Event) {
        let op = self.goal.ops()[event.op as usize];
        if op.kind == GoalKind::Receive {
            self.executed += 1;
            return self.receive(&event, &op);
        }
        let (goal, arrival) = (self.goal, event.is_arrival());
        let rank = if arrival { op.peer } else { event.rank };
        let place = place(goal, &self.streams, &event);
        let free = self.free(rank, &op, arrival);
        if free > event.time {
            return self.events.wait(event, place, free);
        }
        self.executed += usize::from(!arrival);
        match (op.kind, arrival) {
            (GoalKind::Calc, _) => self.calc(&event, &op),
            (_, false) => self.send(&event, &op),
            (_, true) => self.arrive(&event, &op),
        }
        let free = self.free(rank, &op, arrival);
        self.events.leave(&event, place, free);
    }

    /// From when on the CPU, and the NIC, of an operation are free.
    fn free(&self, rank: u32, op: &GoalOp, arrival: bool) -> u64 {
        let cpu = self.cpu_free[self.streams.cpu(rank, op)];
        match (op.kind, arrival) {
            (GoalKind::Calc | GoalKind::Receive, _) => cpu,
            (GoalKind::Send, false) => cpu.max(self.send_free[self.streams.nic(rank, op)]),
            (GoalKind::Send, true) => cpu.max(self.receive_free[self.streams.nic(rank, op)]),
        }
    }

    fn calc(&mut self, event: &Event, op: &GoalOp) {
        self.cpu_free[self.streams.cpu(event.rank, op)] = later(event.time, i128::from(op.size));
        self.satisfy(event.rank, event.op, Until::Started);
        self.finish(event.rank, event.op);
    }

    fn send(&mut self, event: &Event, op: &GoalOp) {
        self.satisfy(event.rank, event.op, Until::Started);
        let (cpu, nic) = self.params.send(op.size);
        self.cpu_free[self.streams.cpu(event.rank, op)] = later(event.time, cpu);
        self.send_free[self.streams.nic(event.rank, op)] = later(event.time, nic);
        let arrival = Event::new(later(event.time, self.params.flight()), self.came, true, event.op, event.rank);
        self.came += 1;
        self.messages += 1;
        self.events.push(arrival);
        if op.size <= self.params.eager {
            self.finish(event.rank, event.op);
        }
    }

    fn receive(&mut self, event: &Event, op: &GoalOp) {
        self.satisfy(event.rank, event.op, Until::Started);
        let Some(message) = self.unexpected[event.rank as usize].take(op.peer, op.tag) else {
            let entry = Entry { from: op.peer, tag: op.tag, op: event.op };
            return self.posted[event.rank as usize].push(entry);
        };
        // The send that waits is told without delay. It is the receive's numbers of CPU and NIC that count.
        let size = match self.rules {
            Rules::LogGopSim => op.size,
            Rules::Plain => self.goal.ops()[message.op as usize].size,
        };
        self.end_rendezvous(message.from, message.op, size, op, event.time);
        self.finish(event.rank, event.op);
    }

    fn arrive(&mut self, event: &Event, op: &GoalOp) {
        let rank = op.peer;
        let (cpu, nic) = self.params.arrival(op.size);
        self.cpu_free[self.streams.cpu(rank, op)] = later(event.time, cpu);
        self.receive_free[self.streams.nic(rank, op)] = later(event.time, nic);
        match self.posted[rank as usize].take(event.rank, op.tag) {
            Some(receive) => {
                self.end_rendezvous(event.rank, event.op, op.size, op, event.time);
                self.finish(rank, receive.op);
            }
            None => {
                let entry = Entry { from: event.rank, tag: op.tag, op: event.op };
                self.unexpected[rank as usize].push(entry);
            }
        }
    }

    /// A message of `size` bytes has found its receive: its send, if it was waiting for that, ends now. `streams` has
    /// the CPU and the NIC of the sender that are not free before.
    fn end_rendezvous(&mut self, rank: u32, send: u32, size: u64, streams: &GoalOp, now: u64) {
        if size > self.params.eager {
            self.finish(rank, send);
            let cpu = &mut self.cpu_free[self.streams.cpu(rank, streams)];
            *cpu = now.max(*cpu);
            let nic = &mut self.send_free[self.streams.nic(rank, streams)];
            *nic = now.max(*nic);
        }
    }

    fn finish(&mut self, rank: u32, op: u32) {
        self.satisfy(rank, op, Until::Finished);
    }

    /// What waited for this of an operation waits no longer.
    fn satisfy(&mut self, rank: u32, op: u32, until: Until) {
        let first = self.goal.first(rank);
        for &next in self.goal.waiting_for(op as usize, until) {
            let next = first + next as usize;
            // By the rules of LogGOPSim a send can end twice.
            self.left[next] = self.left[next].wrapping_sub(1);
            if self.left[next] == 0 {
                self.ready.push((rank, next as u32));
            }
        }
    }

    /// Gives what has become ready its events: rank by rank, each by kind.
    fn begin_ready(&mut self) {
        if self.ready.is_empty() {
            return;
        }
        let mut ready = std::mem::take(&mut self.ready);
        ready.sort_by_key(|&(rank, _)| rank);
        let ops = self.goal.ops();
        for of_rank in ready.chunk_by_mut(|a, b| a.0 == b.0) {
            let kind = |&(_, op): &(u32, u32)| ops[op as usize].kind;
            match self.rules {
                Rules::LogGopSim => order::sort(of_rank, kind),
                Rules::Plain => of_rank.sort_by_key(kind),
            }
            for &(rank, op) in &*of_rank {
                let free = self.free(rank, &ops[op as usize], false);
                self.events.push(Event::new(free, self.came, false, op, rank));
                self.came += 1;
            }
        }
        ready.clear();
        self.ready = ready;
    }
}

/// Where an event would wait.
fn place(goal: &Goal, streams: &Streams, event: &Event) -> usize {
    let op = &goal.ops()[event.op as usize];
    let arrival = event.is_arrival();
    streams.place(if arrival { op.peer } else { event.rank }, op, arrival)
}
