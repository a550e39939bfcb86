//! Injection ports that send packets of several messages in turn.
//!
//! Messages join *queue pairs*; those with something to send stand in a ring, in the order in which they joined it. A
//! free injection port takes one of them, sends packets of its first message, and puts it at the end of the ring. A
//! queue pair is at one port at a time. Where the adapter spends time on a message, its queue pair is *prepared* before
//! it joins the ring.

use super::job::Job;
use crate::host::Hosts;
use crate::mix::mix;
use crate::plan::Plan;
use crate::spec::{QueuePairs, ServiceOrder, ServiceSpec};
use crate::timers::Timers;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// Ranks that a message goes from and to.
type Key = (u32, u32);

/// Messages that go one after the other.
#[derive(Debug, Default)]
struct Pair {
    /// Where it is shared.
    key: Option<Key>,
    jobs: VecDeque<Job>,
}

#[derive(Debug, Default)]
struct Terminal {
    pairs: Vec<Pair>,
    free: Vec<u32>,
    /// By what is shared.
    by_key: HashMap<Key, u32>,
    /// Those that no port has, in the order in which they joined.
    ring: VecDeque<u32>,
    /// Those that will join it: (cycle from which on, number in the order in which this began, queue pair).
    prepared: BinaryHeap<Reverse<(u64, u64, u32)>>,
    begun: u64,
    /// Those with something to send, at ports too.
    active: u32,
}

/// What an injection port is at: a queue pair, and the packets of it that it has sent.
type At = Option<(u32, u32)>;

/// The order of service of all NICs.
#[derive(Debug)]
pub(super) struct Service {
    spec: ServiceSpec,
    seed: u64,
    /// Of the times that messages take to begin.
    jitter_seed: u64,
    terminals: Vec<Terminal>,
    /// Terminals at which a queue pair joins its ring.
    due: Timers,
    /// `[terminal][port]`.
    at: Vec<At>,
    ports: usize,
}

impl Service {
    /// The service of a plan; `None` where ports send one message after the other.
    pub fn of(plan: &Plan) -> Option<Self> {
        let spec = plan.spec.network.nic.service.clone();
        spec.takes_turns().then(|| Service {
            spec,
            seed: mix(plan.spec.run.seed ^ 0x0073_6572_7665),
            jitter_seed: mix(plan.spec.run.seed ^ 0x6a69_7474_6572),
            due: Timers::default(),
            terminals: (0..plan.params.terminals).map(|_| Terminal::default()).collect(),
            at: vec![None; plan.params.terminals * plan.params.nic_ports],
            ports: plan.params.nic_ports,
        })
    }

    /// Whether there is something to send.
    pub fn is_busy(&self) -> bool {
        self.terminals.iter().any(|terminal| terminal.active > 0)
    }

    /// The message that a free injection port goes on with. `take` takes the next message that may start; `sequence` is
    /// the number of the packet.
    pub fn next(
        &mut self,
        (terminal, port): (usize, usize),
        now: u64,
        sequence: u32,
        hosts: &mut Hosts,
        mut take: impl FnMut(&mut Hosts) -> Option<Job>,
    ) -> Option<Job> {
        let at = terminal * self.ports + port;
        if let Some((pair, _)) = self.at[at] {
            return self.terminals[terminal].pairs[pair as usize].jobs.pop_front();
        }
        while self.may_join(terminal, hosts) {
            let Some(key) = hosts.next_pair(terminal as u32) else { break };
            let Some(job) = take(hosts) else { break };
            let shared = (self.spec.queue_pairs == QueuePairs::Peer).then_some(key);
            self.join(terminal, shared, job, now);
        }
        self.terminals[terminal].end_preparations(now);
        let ring = &mut self.terminals[terminal].ring;
        let place = match self.spec.order {
            ServiceOrder::Random if ring.len() > 1 => {
                let bits = mix(self.seed ^ ((terminal as u64) << 32 | u64::from(sequence)));
                ((u128::from(bits) * ring.len() as u128) >> 64) as usize
            }
            _ => 0,
        };
        let pair = ring.remove(place)?;
        self.at[at] = Some((pair, 0));
        self.terminals[terminal].pairs[pair as usize].jobs.pop_front()
    }

    /// Whether the next message of a terminal, if there is one, may join a queue pair.
    fn may_join(&self, terminal: usize, hosts: &Hosts) -> bool {
        let here = &self.terminals[terminal];
        let most = self.spec.active_queue_pairs;
        let shares = || hosts.next_pair(terminal as u32).is_some_and(|key| here.by_key.contains_key(&key));
        most == 0 || here.active < most || shares()
    }

    /// A port has sent a packet; `rest` is what is left of the message. Whether the port has let go of its queue pair.
    pub fn packet_sent(&mut self, terminal: usize, port: usize, now: u64, rest: &mut Option<Job>) -> bool {
        let at = terminal * self.ports + port;
        let Some((pair, sent)) = self.at[at] else { return false };
        let here = &mut self.terminals[terminal];
        let next = here.pairs[pair as usize].jobs.front();
        let ends = rest.is_none() && next.is_none();
        let preparation = next.filter(|_| rest.is_none()).map_or(0, |job| self.spec.preparation(self.jitter_seed, job));
        if !ends && preparation == 0 && sent + 1 < self.spec.burst_packets {
            self.at[at] = Some((pair, sent + 1));
            return false;
        }
        self.at[at] = None;
        if ends {
            here.leave(pair);
        } else {
            if let Some(rest) = rest.take() {
                here.pairs[pair as usize].jobs.push_front(rest);
            }
            self.stand(terminal, pair, now, preparation);
        }
        true
    }

    /// A message joins its queue pair.
    fn join(&mut self, terminal: usize, key: Option<Key>, job: Job, now: u64) {
        let preparation = self.spec.preparation(self.jitter_seed, &job);
        if let Some(pair) = self.terminals[terminal].join(key, job) {
            self.stand(terminal, pair, now, preparation);
        }
    }

    /// A queue pair whose first message takes so long to begin joins the ring, at once or then.
    fn stand(&mut self, terminal: usize, pair: u32, now: u64, preparation: u64) {
        let here = &mut self.terminals[terminal];
        if preparation == 0 {
            here.ring.push_back(pair);
            return;
        }
        here.prepared.push(Reverse((now + preparation, here.begun, pair)));
        here.begun += 1;
        self.due.push(now + preparation, terminal as u32);
    }

    /// The start of cycle `now`: calls `wake` for the terminals at which a queue pair joins the ring.
    pub fn advance(&mut self, now: u64, mut wake: impl FnMut(u32)) {
        while let Some(terminal) = self.due.pop(now) {
            wake(terminal);
        }
    }

    /// The next cycle in which a queue pair joins a ring.
    pub fn next_prepared(&self) -> Option<u64> {
        self.due.next()
    }
}

impl ServiceSpec {
    /// The time from when a message is the first of its queue pair to when its first packet may be sent \[cycles].
    fn preparation(&self, seed: u64, job: &Job) -> u64 {
        let jitter = u64::from(self.start_jitter_cycles);
        let bits = mix(seed ^ (u64::from(job.from) << 32 | u64::from(job.number)));
        u64::from(self.message_overhead_cycles) + ((u128::from(bits) * u128::from(jitter)) >> 64) as u64
    }
}

impl Terminal {
    /// Queue pairs of which the first message may begin join the ring.
    fn end_preparations(&mut self, now: u64) {
        while let Some(&Reverse((cycle, _, pair))) = self.prepared.peek() {
            if cycle > now {
                break;
            }
            self.prepared.pop();
            self.ring.push_back(pair);
        }
    }

    /// A message joins its queue pair, which is made if there is none: then its number.
    fn join(&mut self, key: Option<Key>, job: Job) -> Option<u32> {
        if let Some(&pair) = key.and_then(|key| self.by_key.get(&key)) {
            self.pairs[pair as usize].jobs.push_back(job);
            return None;
        }
        let pair = self.free.pop().unwrap_or_else(|| {
            self.pairs.push(Pair::default());
            self.pairs.len() as u32 - 1
        });
        let place = &mut self.pairs[pair as usize];
        place.key = key;
        place.jobs.push_back(job);
        key.map(|key| self.by_key.insert(key, pair));
        self.active += 1;
        Some(pair)
    }

    /// A queue pair has nothing more to send.
    fn leave(&mut self, pair: u32) {
        if let Some(key) = self.pairs[pair as usize].key.take() {
            self.by_key.remove(&key);
        }
        self.free.push(pair);
        self.active -= 1;
    }
}
