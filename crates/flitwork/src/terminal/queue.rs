//! The source queues: what each terminal sends next, of its workload and of a background that runs with it.

use super::job::Job;
use crate::host::Hosts;
use crate::timetable::Directions;
use crate::traffic::{Created, Source, Traffic, terminal_rng};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use std::ops::Range;

/// Traffic, drawn packet by packet.
#[derive(Debug)]
struct Feed {
    traffic: Traffic,
    sources: Vec<Source>,
    /// Sources that have packets to come.
    open: usize,
    /// Packets in all; `None`: without end.
    packets: Option<u64>,
}

impl Feed {
    fn new(traffic: &Traffic, terminals: u32) -> Self {
        let sources: Vec<Source> = (0..terminals).map(|t| Source::new(traffic, t)).collect();
        let open = sources.iter().filter(|s| s.next_creation() < u64::MAX).count();
        Feed { traffic: traffic.clone(), sources, open, packets: traffic.count(terminals) }
    }

    #[inline(always)]
    fn draw(&mut self, terminal: usize) -> Created {
        let terminals = self.sources.len() as u32;
        let source = &mut self.sources[terminal];
        let drawn = source.draw(&self.traffic, terminal as u32, terminals);
        self.open -= usize::from(source.next_creation() == u64::MAX);
        drawn
    }

    fn draw_job(&mut self, terminal: usize, message: u32) -> Job {
        let drawn = self.draw(terminal);
        Job {
            dst: drawn.dst,
            message,
            number: message,
            from: 0,
            step: 0,
            flits_left: u64::from(drawn.flits),
            packet_flits: drawn.flits,
            second_half: 0,
            created: Some(drawn.cycle),
            tie_bits: drawn.tie_bits,
            background: false,
            flits: u64::from(drawn.flits),
            read_from: 0,
        }
    }

    /// Sources of other terminals create nothing.
    fn keep(&mut self, keep: &impl Fn(u32) -> bool) {
        let others = self.sources.iter_mut().enumerate().filter(|&(terminal, _)| !keep(terminal as u32));
        others.for_each(|(_, source)| source.close());
        self.open = self.sources.iter().filter(|s| s.next_creation() < u64::MAX).count();
    }

    /// Packets, and their flits, that were created in `window` and that no injection port has taken.
    fn untaken(&self, window: Range<u64>) -> Untaken {
        let terminals = self.sources.len() as u32;
        let mut untaken = Untaken::default();
        for (terminal, source) in self.sources.iter().enumerate() {
            let mut source = source.clone();
            while source.next_creation() < window.end {
                let inside = source.next_creation() >= window.start;
                let drawn = source.draw(&self.traffic, terminal as u32, terminals);
                untaken.packets += u64::from(inside);
                untaken.flits += if inside { u64::from(drawn.flits) } else { 0 };
            }
        }
        untaken
    }

    fn all_taken_before(&self, end: u64) -> bool {
        self.sources.iter().all(|s| s.next_creation() >= end)
    }
}

/// What waits in source queues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Untaken {
    pub packets: u64,
    pub flits: u64,
}

impl Untaken {
    /// The sum of two.
    pub fn and(self, more: Untaken) -> Untaken {
        Untaken { packets: self.packets + more.packets, flits: self.flits + more.flits }
    }
}

/// The workload.
#[derive(Debug)]
enum Work {
    Traffic(Feed),
    /// Messages of ranks, in packets of at most so many flits; random bits of each terminal.
    Messages {
        packet_flits: u32,
        bits: Vec<Pcg64Mcg>,
        /// In the place of these bits, where messages name the direction of a tie.
        directions: Option<Directions>,
    },
}

/// The source queues of all terminals.
#[derive(Debug)]
pub(super) struct SourceQueues {
    work: Work,
    background: Option<Feed>,
    /// Workload and background in turn: whether it is the background's, by terminal. Empty: first come, first served.
    background_next: Vec<bool>,
}

impl SourceQueues {
    /// Queues fed by traffic.
    pub fn of_traffic(traffic: &Traffic, terminals: u32) -> Self {
        SourceQueues {
            work: Work::Traffic(Feed::new(traffic, terminals)),
            background: None,
            background_next: Vec::new(),
        }
    }

    /// Queues fed by the ranks of each terminal.
    pub fn of_messages(packet_flits: u32, terminals: u32, seed: u64, directions: Option<Directions>) -> Self {
        let bits = (0..u64::from(terminals)).map(|t| terminal_rng(seed, t)).collect();
        let work = Work::Messages { packet_flits, bits, directions };
        SourceQueues { work, background: None, background_next: Vec::new() }
    }

    /// These queues with a background; `alternate`: the two take turns. Hosts must note when sends come.
    pub fn with_background(mut self, traffic: &Traffic, terminals: u32, alternate: bool) -> Self {
        self.background = Some(Feed::new(traffic, terminals));
        self.background_next = vec![false; if alternate { terminals as usize } else { 0 }];
        self
    }

    /// Traffic of other terminals is left out.
    pub fn keep(&mut self, keep: impl Fn(u32) -> bool) {
        if let Work::Traffic(feed) = &mut self.work {
            feed.keep(&keep);
        }
    }

    /// Whether ranks feed the queues.
    pub fn fed_by_ranks(&self) -> bool {
        matches!(self.work, Work::Messages { .. })
    }

    /// Whether there is traffic, and nothing else.
    pub fn fed_by_traffic_alone(&self) -> bool {
        !self.fed_by_ranks() && self.background.is_none()
    }

    /// Takes the next packet of a terminal as traffic created it, if that was by `now`. Of traffic alone.
    #[inline(always)]
    pub fn take_created(&mut self, terminal: usize, now: u64) -> Option<Created> {
        match &mut self.work {
            Work::Traffic(feed) if feed.sources[terminal].next_creation() <= now => Some(feed.draw(terminal)),
            _ => None,
        }
    }

    /// Packets of traffic that has an end; `None` of all else.
    pub fn finite_packets(&self) -> Option<u64> {
        match &self.work {
            Work::Traffic(feed) => feed.packets,
            Work::Messages { .. } => None,
        }
    }

    /// Whether injection ports have taken all that traffic with an end has.
    pub fn all_taken(&self) -> bool {
        matches!(&self.work, Work::Traffic(feed) if feed.open == 0)
    }

    /// The cycle from which on a terminal has something to send, as far as it is known; [`u64::MAX`]: nothing, or it
    /// depends on what arrives.
    #[inline]
    pub fn next_creation(&self, terminal: usize) -> u64 {
        let work = match &self.work {
            Work::Traffic(feed) => feed.sources[terminal].next_creation(),
            Work::Messages { .. } => u64::MAX,
        };
        self.background.as_ref().map_or(work, |feed| work.min(feed.sources[terminal].next_creation()))
    }

    /// Takes the next message of a terminal, if one may start now. `sequence`: the number of its first packet.
    #[inline]
    pub fn take(&mut self, terminal: usize, now: u64, sequence: u32, hosts: Option<&mut Hosts>) -> Option<Job> {
        if self.background.is_some() {
            return self.take_in_turn(terminal, now, sequence, hosts);
        }
        match &mut self.work {
            Work::Traffic(feed) => {
                (feed.sources[terminal].next_creation() <= now).then(|| feed.draw_job(terminal, sequence))
            }
            Work::Messages { packet_flits, bits, directions } => {
                take_message(hosts?, *packet_flits, (&mut bits[terminal], directions), terminal)
            }
        }
    }

    /// [`SourceQueues::take`] where a background runs with the workload.
    fn take_in_turn(&mut self, terminal: usize, now: u64, sequence: u32, hosts: Option<&mut Hosts>) -> Option<Job> {
        let background = self.background.as_mut()?;
        let ready = match (&self.work, &hosts) {
            (Work::Traffic(feed), _) => feed.sources[terminal].next_creation(),
            (Work::Messages { .. }, hosts) => {
                hosts.as_ref().and_then(|hosts| hosts.next_ready(terminal as u32)).unwrap_or(u64::MAX)
            }
        };
        let of_background = background.sources[terminal].next_creation();
        let turn = match (ready <= now, of_background <= now) {
            (false, false) => return None,
            (true, true) => self.background_next.get(terminal).copied().unwrap_or(of_background < ready),
            (_, only) => only,
        };
        if let Some(next) = self.background_next.get_mut(terminal) {
            *next = !turn;
        }
        if turn {
            return Some(Job { background: true, ..background.draw_job(terminal, sequence) });
        }
        match &mut self.work {
            Work::Traffic(feed) => Some(feed.draw_job(terminal, sequence)),
            Work::Messages { packet_flits, bits, directions } => {
                take_message(hosts?, *packet_flits, (&mut bits[terminal], directions), terminal)
            }
        }
    }

    /// What was created in `window` and no injection port has taken: of an open-loop workload, and of the background.
    pub fn untaken(&self, window: Range<u64>) -> (Untaken, Untaken) {
        let work = match &self.work {
            Work::Traffic(feed) if feed.packets.is_none() => feed.untaken(window.clone()),
            _ => Untaken::default(),
        };
        (work, self.background.as_ref().map_or(Untaken::default(), |feed| feed.untaken(window)))
    }

    /// Creation cycle of the next packet of a terminal that no injection port has taken, of an open-loop workload: it
    /// waits if that has passed.
    pub fn waiting_since(&self, terminal: usize) -> u64 {
        match &self.work {
            Work::Traffic(feed) if feed.packets.is_none() => feed.sources[terminal].next_creation(),
            _ => u64::MAX,
        }
    }

    /// Calls back with each terminal that has packets of an open loop, or of the background, created before `before`,
    /// and the cycle in which the oldest of these was created.
    pub fn oldest_untaken(&self, before: u64, note: &mut dyn FnMut(usize, u64)) {
        let work = match &self.work {
            Work::Traffic(feed) if feed.packets.is_none() => Some(feed),
            _ => None,
        };
        let feeds = [work, self.background.as_ref()];
        let terminals = feeds.iter().flatten().map(|feed| feed.sources.len()).max().unwrap_or(0);
        for terminal in 0..terminals {
            let next = feeds.iter().flatten().map(|feed| feed.sources[terminal].next_creation()).min();
            if let Some(created) = next.filter(|&created| created < before) {
                note(terminal, created);
            }
        }
    }

    /// Whether all traffic has moved on to packets created at or after `end`.
    pub fn all_taken_before(&self, end: u64) -> bool {
        let work = match &self.work {
            Work::Traffic(feed) => feed.all_taken_before(end),
            Work::Messages { .. } => true,
        };
        work && self.background.as_ref().is_none_or(|feed| feed.all_taken_before(end))
    }
}

fn take_message(
    hosts: &mut Hosts,
    packet_flits: u32,
    (bits, directions): (&mut Pcg64Mcg, &Option<Directions>),
    terminal: usize,
) -> Option<Job> {
    let message = hosts.take(terminal as u32)?;
    let drawn = bits.next_u32() as u8;
    Some(Job {
        dst: message.to,
        message: message.id,
        number: message.number,
        from: message.pair.0,
        step: message.step,
        flits_left: message.flits,
        packet_flits,
        second_half: 0,
        created: None,
        tie_bits: directions.as_ref().map_or(drawn, |directions| directions.between(terminal as u32, message.to)),
        background: false,
        flits: message.flits,
        read_from: message.read_from,
    })
}
