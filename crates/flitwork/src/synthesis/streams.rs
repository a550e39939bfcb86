//! Streams: frames of large squares, whose channels are full by construction.
//!
//! Take all ordered pairs of lengths (a, b), a and b from 1 to m: the complete directed graph with loops. One of its Eulerian
//! circuits a0 a1 a2 ... is a plan for one quadrant: channel x+ carries message i for a_i slots, and in the same slots y+
//! carries message i - 1, whose second length is a_i, too. Both are full and stay in step. Two opposite quadrants run at the
//! same time (`++` and `--`, the second `e` slots later), then the other two. Neither phase leaves a gap at its ends if the first
//! lengths fit: that of `++` is `e` more than that of `-+`, and that of `+-` is `e` more than that of `--`.
//!
//! Messages along one dimension enter in pairs: x+ stands still for z slots for (z, 0), then y+ for (0, z). If the ring is even,
//! vectors with a component of half a ring, m, are shared out: one pair of quadrants has (m, b) and (b, m) for some b, the
//! other pair for the rest; `++` has (m, m), and `--` has the lines (-m, 0) and (0, -m).
//!
//! What is left are collisions at the ports. Annealing removes them: it exchanges two parts of a circuit that begin at the same
//! length and end at the same length, and moves pairs of lines.

use super::frames::Slots;
use super::meter::Meter;
use super::random::Random;
use super::share::{Share, circuit};

/// One quadrant.
struct Stream {
    /// Slot in which it begins.
    base: usize,
    /// First lengths of all messages, and the first one once more.
    lengths: Vec<u16>,
    /// Lines that enter before each message.
    lines: Vec<Vec<u16>>,
    /// Slot of each message or, if lines enter before it, of these; counted from the base.
    starts: Vec<u32>,
}

/// Something that a stream sends.
struct Sent {
    x: u16,
    y: u16,
    start: usize,
}

impl Stream {
    /// What is sent from message `from` to message `to`, with the lines before each.
    fn each(&self, from: usize, to: usize, mut found: impl FnMut(Sent)) {
        let mut at = self.base + self.starts[from] as usize;
        for i in from..=to {
            let length = self.lengths[i];
            for &z in &self.lines[i] {
                found(Sent { x: z, y: 0, start: at });
                found(Sent { x: 0, y: z, start: at + usize::from(length) });
                at += usize::from(z);
            }
            found(Sent { x: length, y: self.lengths[i + 1], start: at });
            at += usize::from(length);
        }
    }

    fn count_starts(&mut self, from: usize, to: usize) {
        for i in from..=to {
            let lines: u32 = self.lines[i].iter().map(|&z| u32::from(z)).sum();
            if i + 1 < self.starts.len() {
                self.starts[i + 1] = self.starts[i] + lines + u32::from(self.lengths[i]);
            }
        }
    }

    fn slots(&self) -> usize {
        let lengths: usize = self.lengths[1..].iter().map(|&a| usize::from(a)).sum();
        lengths + self.lines.iter().flatten().map(|&z| usize::from(z)).sum::<usize>()
    }
}

/// All four quadrants and the use of the ports.
struct Plan {
    period: usize,
    share: Share,
    streams: Vec<Stream>,
    ports: [Vec<u8>; 2],
    cost: i32,
    scratch: Vec<u16>,
}

/// A change of one stream.
enum Move {
    /// Parts `i..j` and `k..l` are exchanged.
    Parts([usize; 4]),
    /// A line moves: from message and its place there to another message.
    Line(usize, usize, usize),
}

impl Plan {
    fn new(size: u32, period: usize, random: &mut Random) -> Self {
        let share = Share::new(size, true, random);
        let whole = share.whole();
        let delay = 1 + random.below(usize::from(whole) - 1) as u16;
        let mut shorter = || 1 + random.below(usize::from(whole - delay)) as u16;
        let (d, c) = (shorter(), shorter());
        let firsts = [d + delay, c, c + delay, d];
        let mut streams: Vec<Stream> = Vec::new();
        for (quadrant, &first) in firsts.iter().enumerate() {
            let phase = quadrant / 2;
            let edges = share.edges(quadrant);
            let lengths = circuit(&edges, first, random);
            let messages = edges.len();
            let mut at = vec![Vec::new(); messages];
            for z in share.lines(quadrant) {
                at[random.below(messages)].push(z);
            }
            let late = if quadrant % 2 == 1 { usize::from(delay) } else { 0 };
            let base = late + if phase == 1 { streams[0].slots() } else { 0 };
            let mut stream = Stream { base, lengths, lines: at, starts: vec![0; messages] };
            stream.count_starts(0, messages - 1);
            streams.push(stream);
        }
        let ports = [vec![0; period], vec![0; period]];
        let mut plan = Plan { period, share, streams, ports, cost: 0, scratch: Vec::new() };
        for n in 0..4 {
            plan.cost += plan.put(n, 0, plan.streams[n].lines.len() - 1);
        }
        plan
    }

    /// Adds a part of a stream to the use of the ports: by how much the cost rises.
    fn put(&mut self, stream: usize, from: usize, to: usize) -> i32 {
        self.walk(stream, from, to, |count| {
            *count += 1;
            i32::from(*count > 1)
        })
    }

    /// Takes a part away: by how much the cost rises.
    fn take(&mut self, stream: usize, from: usize, to: usize) -> i32 {
        self.walk(stream, from, to, |count| {
            *count -= 1;
            -i32::from(*count > 0)
        })
    }

    #[inline]
    fn walk(&mut self, stream: usize, from: usize, to: usize, mut at: impl FnMut(&mut u8) -> i32) -> i32 {
        let (period, [starts, ends]) = (self.period, &mut self.ports);
        let wrap = |slot: usize| if slot < period { slot } else { slot % period };
        let mut change = 0;
        self.streams[stream].each(from, to, |sent| {
            change += at(&mut starts[wrap(sent.start)]);
            change += at(&mut ends[wrap(sent.start + usize::from(sent.x + sent.y))]);
        });
        change
    }

    /// A change of a stream, if one is found at a random place.
    fn propose(&self, stream: usize, random: &mut Random) -> Option<Move> {
        let stream = &self.streams[stream];
        let messages = stream.lines.len();
        if random.below(8) == 0 {
            let from = (0..4).map(|_| random.below(messages)).find(|&i| !stream.lines[i].is_empty())?;
            let to = if random.below(2) == 0 {
                random.below(messages)
            } else {
                (from + random.below(9)).checked_sub(4).filter(|&to| to < messages)?
            };
            return (from != to).then(|| Move::Line(from, random.below(stream.lines[from].len()), to));
        }
        let reach = 4 * usize::from(*stream.lengths.iter().max()?);
        let i = random.below(messages - 1);
        let k = (i + 1 + random.below(reach)).min(messages - 1);
        let k = (i + 1..=k).rev().find(|&k| stream.lengths[k] == stream.lengths[i])?;
        let l = (k + 1 + random.below(reach)).min(messages);
        let offset = random.below(k - i);
        let j = (0..k - i).map(|n| i + 1 + (n + offset) % (k - i)).find(|&j| stream.lengths[j] == stream.lengths[l])?;
        Some(Move::Parts([i, j, k, l]))
    }

    fn apply(&mut self, stream: usize, change: &Move) -> (usize, usize) {
        let stream = &mut self.streams[stream];
        let (from, to) = match *change {
            Move::Parts([i, j, k, l]) => {
                self.scratch.clear();
                for part in [k..l, j..k, i..j] {
                    self.scratch.extend_from_slice(&stream.lengths[part]);
                }
                stream.lengths[i..l].copy_from_slice(&self.scratch);
                (i, l - 1)
            }
            Move::Line(from, place, to) => {
                let z = stream.lines[from].remove(place);
                stream.lines[to].push(z);
                (from.min(to), from.max(to))
            }
        };
        stream.count_starts(from, to);
        (from, to)
    }

    fn undo(&mut self, stream: usize, change: Move) {
        match change {
            Move::Parts([i, j, k, l]) => {
                // The parts have changed places, and so have their lengths.
                self.apply(stream, &Move::Parts([i, i + (l - k), l - (j - i), l]));
            }
            Move::Line(from, place, to) => {
                let lines = &mut self.streams[stream].lines;
                let z = lines[to].pop();
                lines[from].splice(place..place, z);
                self.streams[stream].count_starts(from.min(to), from.max(to));
            }
        }
    }

    fn step(&mut self, random: &mut Random, odds: &[f64]) {
        let stream = random.below(4);
        let Some(change) = self.propose(stream, random) else { return };
        let (from, to) = match change {
            Move::Parts([i, _, _, l]) => (i, l - 1),
            Move::Line(from, _, to) => (from.min(to), from.max(to)),
        };
        let mut rise = self.take(stream, from, to);
        self.apply(stream, &change);
        rise += self.put(stream, from, to);
        if rise <= 0 || odds.get(rise as usize).is_some_and(|&odds| random.unit() < odds) {
            self.cost += rise;
        } else {
            self.take(stream, from, to);
            self.undo(stream, change);
            self.put(stream, from, to);
        }
    }

    fn slots(&self) -> Slots {
        let mut slots = Vec::new();
        for (quadrant, stream) in self.streams.iter().enumerate() {
            stream.each(0, stream.lines.len() - 1, |sent| {
                let vector = self.share.vector(quadrant, sent.x, sent.y);
                slots.push((vector, (sent.start % self.period) as u32));
            });
        }
        slots
    }
}

/// Least ring for which streams are tried: the ports of smaller squares are full, or nearly so.
const LEAST_SIZE: u32 = 9;

/// Whether streams can plan such a torus.
pub(super) fn suits(sizes: &[u32]) -> bool {
    matches!(sizes, &[x, y] if x == y && x >= LEAST_SIZE)
}

/// A frame for a square, with so many slots, which are at least as many as its channels need.
pub(super) fn search(size: u32, slots: u64, budget: u64, seed: u64, meter: &mut Meter) -> Option<Slots> {
    const AT_ONCE: u64 = 1024;
    let end = meter.left() - budget.min(meter.left());
    let mut rounds = 64 + u64::from(size) * u64::from(size) / 4;
    for attempt in 0.. {
        let mut random = Random::new(seed, attempt);
        let mut plan = Plan::new(size, slots as usize, &mut random);
        for round in 0..rounds {
            let heat = 0.5 * f64::powf(0.2, round as f64 / rounds as f64);
            let odds: [f64; 9] = std::array::from_fn(|rise| (-(rise as f64) / heat).exp());
            for _ in 0..AT_ONCE {
                if plan.cost == 0 {
                    return Some(plan.slots());
                }
                plan.step(&mut random, &odds);
            }
            if !meter.took(AT_ONCE) || meter.left() <= end {
                return None;
            }
        }
        rounds = rounds * 3 / 2;
    }
    None
}
