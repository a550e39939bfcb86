//! Closed walks: lanes of large squares, whose channels are full by construction.
//!
//! As in `streams`, the lengths of a quadrant's messages are an Eulerian circuit, here cut into closed walks. A walk
//! whose lengths add up to the rows fills a lane: x+ carries message i and, in the same rows, y+ carries message i - 1,
//! all around. A lane has a walk of each of two opposite quadrants, as these use other channels; but not all pairs
//! agree at the ports.
//!
//! First, annealing exchanges parts of walks, which begin at the same length and end at the same length, until all
//! walks have the right length. Lines are moved from walk to walk, and so are rows in which nothing is sent, if there
//! are more rows than work. Then walks of opposite quadrants are matched: two fit if one can be turned such that no
//! port is used twice.

use super::geometry::Vector;
use super::meter::Meter;
use super::random::Random;
use super::share::{Share, circuit};

/// A closed walk.
#[derive(Clone)]
struct Walk {
    /// First lengths of its messages, and the first one once more.
    lengths: Vec<u16>,
    /// Lengths of the lines that it carries.
    lines: Vec<u16>,
    /// Rows without work.
    idle: u16,
}

impl Walk {
    fn rows(&self) -> i32 {
        let sum = |all: &[u16]| all.iter().map(|&a| i32::from(a)).sum::<i32>();
        sum(&self.lengths[1..]) + sum(&self.lines) + i32::from(self.idle)
    }
}

/// A walk in a lane.
#[derive(Clone)]
struct Timed {
    walk: Walk,
    /// Lengths and start rows of its blocks.
    sent: Vec<(u16, u16, u32)>,
}

/// Cuts a circuit into so many closed walks of `rows` rows.
fn cut(
    share: &Share,
    quadrant: usize,
    walks: usize,
    rows: u32,
    budget: u64,
    random: &mut Random,
    meter: &mut Meter,
) -> Option<Vec<Walk>> {
    const AT_ONCE: u64 = 4096;
    let edges = share.edges(quadrant);
    let first = edges.first()?.0;
    let whole = circuit(&edges, first, random);
    // One walk has all messages; the others are empty, each at some vertex.
    let mut all: Vec<Walk> = (0..walks)
        .map(|_| Walk { lengths: vec![edges[random.below(edges.len())].0], lines: Vec::new(), idle: 0 })
        .collect();
    all[0].lengths = whole;
    for z in share.lines(quadrant) {
        all[random.below(walks)].lines.push(z);
    }
    let idle = walks as i32 * rows as i32 - all.iter().map(Walk::rows).sum::<i32>();
    for _ in 0..idle {
        all[random.below(walks)].idle += 1;
    }
    let off = |walk: &Walk| (walk.rows() - rows as i32).abs();
    let mut cost: i32 = all.iter().map(off).sum();
    let rounds = budget.div_ceil(AT_ONCE);
    for round in 0..rounds {
        let heat = 1.2 * f64::powf(0.3, round as f64 / rounds as f64);
        for _ in 0..AT_ONCE {
            if cost == 0 {
                return Some(all);
            }
            let (a, b) = (random.below(walks), random.below(walks));
            if a == b {
                turn(&mut all[a], random);
                continue;
            }
            let before = off(&all[a]) + off(&all[b]);
            let Some([one, other]) = exchanged(&all[a], &all[b], random) else { continue };
            let rise = off(&one) + off(&other) - before;
            if rise <= 0 || random.unit() < (-f64::from(rise) / heat).exp() {
                cost += rise;
                (all[a], all[b]) = (one, other);
            }
        }
        if !meter.took(AT_ONCE) {
            break;
        }
    }
    None
}

/// Begins a walk at another of its vertices.
fn turn(walk: &mut Walk, random: &mut Random) {
    if walk.lengths.len() > 2 {
        walk.lengths.pop();
        let by = random.below(walk.lengths.len());
        walk.lengths.rotate_left(by);
        walk.lengths.push(walk.lengths[0]);
    }
}

/// Two walks that have exchanged parts, a line or an idle row, if such are found.
fn exchanged(a: &Walk, b: &Walk, random: &mut Random) -> Option<[Walk; 2]> {
    let kind = random.below(8);
    if kind == 0 {
        let (mut a, mut b) = (a.clone(), b.clone());
        if a.idle > 0 && random.below(2) == 0 {
            (a.idle, b.idle) = (a.idle - 1, b.idle + 1);
        } else {
            let line = (!a.lines.is_empty()).then(|| random.below(a.lines.len()))?;
            b.lines.push(a.lines.swap_remove(line));
        }
        return Some([a, b]);
    }
    let place = |walk: &Walk, vertex: u16, from: usize, random: &mut Random| {
        let count = walk.lengths[from..].iter().filter(|&&v| v == vertex).count();
        let nth = (count > 0).then(|| random.below(count))?;
        walk.lengths.iter().enumerate().skip(from).filter(|(_, v)| **v == vertex).nth(nth).map(|(i, _)| i)
    };
    let i = random.below(a.lengths.len());
    let k = place(b, a.lengths[i], 0, random)?;
    let j = i + random.below((a.lengths.len() - i).min(8));
    let l = place(b, a.lengths[j], k, random)?;
    let part = |into: &Walk, at: (usize, usize), from: &[u16]| {
        let mut lengths = into.lengths[..at.0].to_vec();
        lengths.extend_from_slice(from);
        lengths.extend_from_slice(&into.lengths[at.1 + 1..]);
        Walk { lengths, lines: into.lines.clone(), idle: into.idle }
    };
    Some([part(a, (i, j), &b.lengths[k..=l]), part(b, (k, l), &a.lengths[i..=j])])
}

/// Puts the lines and idle rows of a walk at random places, and begins it in a random row.
fn timed(walk: Walk, rows: u32, random: &mut Random) -> Timed {
    let messages = walk.lengths.len() - 1;
    let mut before: Vec<Vec<(u16, bool)>> = vec![Vec::new(); messages.max(1)];
    for line in walk.lines.iter().map(|&z| (z, true)).chain((0..walk.idle).map(|_| (1, false))) {
        let at = &mut before[random.below(messages.max(1))];
        at.insert(random.below(at.len() + 1), line);
    }
    let mut sent = Vec::new();
    let mut at = random.below(rows as usize) as u32;
    for (i, lines) in before.iter().enumerate() {
        let length = walk.lengths[i];
        for &(z, busy) in lines {
            if busy {
                sent.extend([(z, 0, at % rows), (0, z, (at + u32::from(length)) % rows)]);
            }
            at += u32::from(z);
        }
        if i < messages {
            sent.push((length, walk.lengths[i + 1], at % rows));
            at += u32::from(length);
        }
    }
    Timed { walk, sent }
}

/// How often a row of a port is used once more in a lane with two walks, of which the second one goes backwards.
fn collisions(pair: [&Timed; 2], rows: u32) -> i32 {
    let mut used = [0u128; 2];
    let mut cost = 0;
    for (backwards, timed) in pair.into_iter().enumerate() {
        for &(x, y, start) in &timed.sent {
            for (port, row) in [start, (start + u32::from(x + y)) % rows].into_iter().enumerate() {
                let bit = 1u128 << if backwards == 1 { rows - 1 - row } else { row };
                cost += i32::from(used[port] & bit != 0);
                used[port] |= bit;
            }
        }
    }
    cost
}

/// Two walks for each lane, and the collisions that are left.
struct Pairs {
    rows: u32,
    walks: [Vec<Timed>; 2],
    costs: Vec<i32>,
}

impl Pairs {
    fn new(cuts: [Vec<Walk>; 2], rows: u32, random: &mut Random) -> Self {
        let walks = cuts.map(|walks| walks.into_iter().map(|walk| timed(walk, rows, random)).collect::<Vec<_>>());
        let costs = walks[0].iter().zip(&walks[1]).map(|(a, b)| collisions([a, b], rows)).collect();
        Pairs { rows, walks, costs }
    }

    /// Begins a walk elsewhere, exchanges two walks between lanes, or parts of the same length between two walks.
    fn step(&mut self, random: &mut Random, heat: f64) {
        let side = random.below(2);
        let walks = &self.walks[side];
        let (one, other) = (random.below(walks.len()), random.below(walks.len()));
        let new = match random.below(4) {
            0 => vec![(one, timed(walks[one].walk.clone(), self.rows, random))],
            1 => {
                let by = random.below(self.rows as usize) as u32;
                let mut turned = walks[one].clone();
                turned.sent.iter_mut().for_each(|sent| sent.2 = (sent.2 + by) % self.rows);
                vec![(one, turned)]
            }
            2 if one != other => vec![(one, walks[other].clone()), (other, walks[one].clone())],
            _ if one != other => {
                // The first exchange may leave them too long and too short; the next ones may mend that.
                let (mut a, mut b) = (walks[one].walk.clone(), walks[other].walk.clone());
                turn(&mut a, random);
                let mended = (0..4).any(|_| {
                    let exchanged = exchanged(&a, &b, random);
                    let changed = exchanged.is_some();
                    if let Some(new) = exchanged {
                        [a, b] = new;
                    }
                    changed && a.rows() == b.rows()
                });
                if !mended {
                    return;
                }
                vec![(one, timed(a, self.rows, random)), (other, timed(b, self.rows, random))]
            }
            _ => return,
        };
        let cost = |lane: usize, walk: &Timed| {
            let mut pair = [&self.walks[0][lane], &self.walks[1][lane]];
            pair[side] = walk;
            collisions(pair, self.rows)
        };
        let costs: Vec<i32> = new.iter().map(|(lane, walk)| cost(*lane, walk)).collect();
        let rise = costs.iter().sum::<i32>() - new.iter().map(|(lane, _)| self.costs[*lane]).sum::<i32>();
        if rise <= 0 || random.unit() < (-f64::from(rise) / heat).exp() {
            for ((lane, walk), cost) in new.into_iter().zip(costs) {
                self.walks[side][lane] = walk;
                self.costs[lane] = cost;
            }
        }
    }

    fn settle(&mut self, steps: u64, random: &mut Random, meter: &mut Meter) -> bool {
        const AT_ONCE: u64 = 512;
        let rounds = steps.div_ceil(AT_ONCE);
        for round in 0..rounds {
            let heat = 1.6 * f64::powf(0.2, round as f64 / rounds as f64);
            for _ in 0..AT_ONCE {
                if self.costs.iter().all(|&cost| cost == 0) {
                    return true;
                }
                self.step(random, heat);
            }
            if !meter.took(AT_ONCE) {
                break;
            }
        }
        false
    }
}

/// Whether closed walks can plan such lanes.
pub(super) fn suits(sizes: &[u32]) -> bool {
    matches!(sizes, &[x, y] if x == y && (11..=127).contains(&x))
}

/// Blocks in lanes, and how many lanes of the first kind there are.
pub(super) struct Found {
    /// Vectors and the cells in which their blocks start; cell = lane x rows + row.
    pub(super) blocks: Vec<(Vector, u32)>,
    /// Lanes in which both dimensions have the same sign of the skew; in those after it they differ.
    pub(super) alike: u32,
}

/// Fills so many lanes of a square.
pub(super) fn search(size: u32, lanes: u32, budget: u64, seed: u64, meter: &mut Meter) -> Option<Found> {
    let end = meter.left() - budget.min(meter.left());
    for attempt in 0.. {
        if meter.left() <= end || !meter.took(256) {
            break;
        }
        let mut random = Random::new(seed, attempt);
        let share = Share::new(size, false, &mut random);
        let work: [u32; 2] = std::array::from_fn(|phase| share.slots(2 * phase));
        let spare = (lanes * size).saturating_sub(work[0] + work[1]);
        let least = work[0].div_ceil(size);
        let most = lanes - work[1].div_ceil(size).min(lanes);
        // Many idle rows are no work for walks.
        if spare > 4 * size {
            break;
        }
        if least > most || !share.can_be_cut(spare) {
            continue;
        }
        let alike = least + random.below((most - least + 1) as usize) as u32;
        let mut blocks = Vec::new();
        let both = (0..2).all(|phase| {
            let (from, walks) = if phase == 0 { (0, alike) } else { (alike, lanes - alike) };
            let found = (0..3).find_map(|_| pair(&share, phase, walks as usize, size, end, &mut random, meter));
            found.is_some_and(|found| {
                blocks.extend(found.into_iter().map(|(vector, cell)| (vector, cell + from * size)));
                true
            })
        });
        if both {
            return Some(Found { blocks, alike });
        }
    }
    None
}

/// Fills lanes with two opposite quadrants.
fn pair(
    share: &Share,
    phase: usize,
    walks: usize,
    rows: u32,
    end: u64,
    random: &mut Random,
    meter: &mut Meter,
) -> Option<Vec<(Vector, u32)>> {
    let steps = |meter: &Meter, most: u64| meter.left().saturating_sub(end).min(most * walks as u64);
    // Short tries and long ones in turn.
    let most = 40_000 << random.below(3);
    let mut cut_of = |quadrant: usize| cut(share, quadrant, walks, rows, steps(meter, most), random, meter);
    let cuts = [cut_of(2 * phase)?, cut_of(2 * phase + 1)?];
    let mut pairs = Pairs::new(cuts, rows, random);
    if !pairs.settle(steps(meter, 100_000), random, meter) {
        return None;
    }
    let mut blocks = Vec::new();
    for (side, walks) in pairs.walks.iter().enumerate() {
        for (lane, walk) in walks.iter().enumerate() {
            blocks.extend(walk.sent.iter().map(|&(x, y, start)| {
                let row = if side == 1 { rows - 1 - start } else { start };
                (share.vector(2 * phase + side, x, y), lane as u32 * rows + row)
            }));
        }
    }
    Some(blocks)
}
