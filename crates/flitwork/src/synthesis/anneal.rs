//! Simulated annealing over the places at which blocks start.
//!
//! Blocks and *cells* (slots of a frame, or rows of lanes) correspond one to one; blocks that go nowhere fill up the
//! cells that are left. So the injection port is never used twice. Cost: how often a cell of a channel or of the
//! ejection port is used once more. A move exchanges the cells of two blocks, and draws anew which way around they go
//! half a ring.

use super::geometry::{self, Vector};
use super::meter::Meter;
use super::random::Random;
use crate::topology::MAX_DIMS;

/// Where a block is after a hop.
pub(super) struct Board {
    /// Cells.
    pub(super) cells: usize,
    /// For each direction (plus and minus of each dimension in turn), the cell that follows each cell.
    pub(super) next: Vec<Vec<u32>>,
}

impl Board {
    /// A frame: a hop leads to the next slot.
    pub(super) fn frame(slots: usize, dims: usize) -> Self {
        let next = (0..slots as u32).map(|t| (t + 1) % slots as u32).collect();
        Board { cells: slots, next: vec![next; 2 * dims] }
    }
}

/// A block.
#[derive(Clone, Copy)]
pub(super) struct Job {
    /// Where it goes, relative to its source.
    pub(super) vector: Vector,
    /// Dimensions along which it goes half around a ring, a bit for each.
    pub(super) halves: u8,
    /// Whether it leaves the network at all; blocks that only fill up do not.
    pub(super) ejects: bool,
    /// It exchanges its cell only with blocks of the same group.
    pub(super) group: u32,
}

impl Job {
    pub(super) fn new(vector: Vector, sizes: &[u32]) -> Self {
        let half = |dim: usize| u8::from(2 * vector[dim].unsigned_abs() == sizes[dim]) << dim;
        Job { vector, halves: (0..sizes.len()).map(half).sum(), ejects: true, group: 0 }
    }

    /// Fills up a cell.
    pub(super) fn filler() -> Self {
        Job { vector: [0; MAX_DIMS], halves: 0, ejects: false, group: 0 }
    }
}

/// A block for each vector. `closed`: for vector 0, too.
pub(super) fn jobs(sizes: &[u32], closed: bool) -> Vec<Job> {
    let zero = closed.then_some([0; MAX_DIMS]);
    geometry::vectors(sizes).into_iter().chain(zero).map(|vector| Job::new(vector, sizes)).collect()
}

/// Blocks on a board.
pub(super) struct Annealing<'a> {
    board: &'a Board,
    pub(super) jobs: Vec<Job>,
    /// The cell of each block.
    pub(super) cell_of: Vec<u32>,
    job_at: Vec<u32>,
    counts: Vec<Vec<u8>>,
    pub(super) cost: i32,
    /// Members of each group, and of each class of blocks with an equal first or last component.
    groups: Vec<Vec<u32>>,
    classes: Vec<Vec<u32>>,
    class_of: Vec<[u32; 2]>,
}

impl<'a> Annealing<'a> {
    /// Places as many blocks as the board has cells, block `i` in cell `cells[i]`.
    pub(super) fn new(board: &'a Board, jobs: Vec<Job>, cells: Vec<u32>) -> Self {
        let mut job_at = vec![0; board.cells];
        for (job, &cell) in cells.iter().enumerate() {
            job_at[cell as usize] = job as u32;
        }
        let mut groups = vec![Vec::new(); jobs.iter().map(|j| j.group as usize + 1).max().unwrap_or(0)];
        let mut keys: Vec<(bool, u32, i32)> = Vec::new();
        let mut classes: Vec<Vec<u32>> = Vec::new();
        let mut class_of = Vec::new();
        for (n, job) in jobs.iter().enumerate() {
            groups[job.group as usize].push(n as u32);
            let first = job.vector.iter().copied().find(|&d| d != 0).unwrap_or(0);
            let last = job.vector.iter().copied().rfind(|&d| d != 0).unwrap_or(0);
            class_of.push([(false, first), (true, last)].map(|(which, d)| {
                let key = (which, job.group, d);
                let class = keys.iter().position(|&k| k == key).unwrap_or_else(|| {
                    keys.push(key);
                    classes.push(Vec::new());
                    keys.len() - 1
                });
                classes[class].push(n as u32);
                class as u32
            }));
        }
        let counts = vec![vec![0; board.cells]; board.next.len() + 1];
        let mut new = Annealing { board, jobs, cell_of: cells, job_at, counts, cost: 0, groups, classes, class_of };
        for job in 0..new.jobs.len() {
            new.cost += new.put(job, new.cell_of[job]);
        }
        new
    }

    /// Adds the uses of a block that starts in `cell`: by how much the cost rises.
    #[inline]
    fn put(&mut self, job: usize, cell: u32) -> i32 {
        self.walk(job, cell, |count| {
            *count += 1;
            i32::from(*count > 1)
        })
    }

    /// Takes them away: by how much the cost rises.
    #[inline]
    fn take(&mut self, job: usize, cell: u32) -> i32 {
        self.walk(job, cell, |count| {
            *count -= 1;
            -i32::from(*count > 0)
        })
    }

    #[inline]
    fn walk(&mut self, job: usize, mut cell: u32, mut at: impl FnMut(&mut u8) -> i32) -> i32 {
        let mut change = 0;
        let job = &self.jobs[job];
        let dims = self.board.next.len() / 2;
        for (dim, &length) in job.vector[..dims].iter().enumerate() {
            let direction = 2 * dim + usize::from(length < 0);
            let (counts, next) = (&mut self.counts[direction], &self.board.next[direction]);
            for _ in 0..length.unsigned_abs() {
                change += at(&mut counts[cell as usize]);
                cell = next[cell as usize];
            }
        }
        if job.ejects {
            change += at(&mut self.counts[2 * dims][cell as usize]);
        }
        change
    }

    /// A block that could exchange its cell with `job`.
    #[inline]
    fn partner(&self, job: usize, random: &mut Random) -> usize {
        let group = &self.groups[self.jobs[job].group as usize];
        let kind = random.below(4);
        let any = match kind {
            0 | 1 => {
                let class = &self.classes[self.class_of[job][kind] as usize];
                class[random.below(class.len())]
            }
            2 if group.len() == self.jobs.len() => {
                let cells = self.board.cells;
                // Five cells back; there may be fewer.
                let back = 5 * (cells - 1);
                let near =
                    self.cell_of[job] as usize + 1 + random.below(4) + if random.below(2) > 0 { back } else { 0 };
                self.job_at[near % cells]
            }
            _ => group[random.below(group.len())],
        };
        any as usize
    }

    /// Goes half around rings in random directions.
    #[inline]
    fn turn(&mut self, job: usize, random: &mut Random) {
        if self.jobs[job].halves == 0 {
            return;
        }
        let turned = self.jobs[job].halves & random.bits() as u8;
        for dim in 0..MAX_DIMS {
            if turned >> dim & 1 == 1 {
                self.jobs[job].vector[dim] *= -1;
            }
        }
    }

    /// A move: kept if it does not raise the cost, and sometimes else.
    #[inline]
    fn step(&mut self, random: &mut Random, odds: &[f64]) {
        let one = random.below(self.jobs.len());
        let other = self.partner(one, random);
        let (a, b) = (self.cell_of[one], self.cell_of[other]);
        let before = (self.jobs[one].vector, self.jobs[other].vector);
        if one == other && self.jobs[one].halves == 0 {
            return;
        }
        let mut change = self.take(one, a);
        if one == other {
            self.turn(one, random);
            change += self.put(one, a);
        } else {
            change += self.take(other, b);
            self.turn(one, random);
            self.turn(other, random);
            change += self.put(one, b) + self.put(other, a);
        }
        let keep = change <= 0 || odds.get(change as usize).is_some_and(|&odds| random.unit() < odds);
        if keep {
            self.cost += change;
            self.cell_of[one] = b;
            self.cell_of[other] = a;
            self.job_at[a as usize] = other as u32;
            self.job_at[b as usize] = one as u32;
        } else if one == other {
            self.take(one, a);
            self.jobs[one].vector = before.0;
            self.put(one, a);
        } else {
            self.take(one, b);
            self.take(other, a);
            (self.jobs[one].vector, self.jobs[other].vector) = before;
            self.put(one, a);
            self.put(other, b);
        }
    }

    /// Cools down over so many steps: whether no collision is left.
    pub(super) fn cool(&mut self, steps: u64, heat: (f64, f64), random: &mut Random, meter: &mut Meter) -> bool {
        const AT_ONCE: u64 = 4096;
        let rounds = steps.div_ceil(AT_ONCE);
        for round in 0..rounds {
            let share = round as f64 / rounds as f64;
            let heat = heat.0 * (heat.1 / heat.0).powf(share);
            let odds: [f64; 9] = std::array::from_fn(|rise| (-(rise as f64) / heat).exp());
            for _ in 0..AT_ONCE {
                if self.cost == 0 {
                    return true;
                }
                self.step(random, &odds);
            }
            if !meter.took(AT_ONCE) {
                break;
            }
        }
        self.cost == 0
    }
}

/// Anneals again and again, longer each time: blocks with the cells in which they start, if no collision is left.
pub(super) fn again(
    board: &Board,
    mut jobs: Vec<Job>,
    budget: u64,
    seed: u64,
    meter: &mut Meter,
) -> Option<Vec<(Vector, u32)>> {
    jobs.resize(board.cells, Job::filler());
    let end = meter.left() - budget.min(meter.left());
    let mut steps = 4096 * board.cells as u64;
    for attempt in 0.. {
        let left = meter.left().saturating_sub(end);
        if left == 0 {
            break;
        }
        let mut random = Random::new(seed, attempt);
        let mut cells: Vec<u32> = (0..board.cells as u32).collect();
        random.shuffle(&mut cells);
        let mut annealing = Annealing::new(board, jobs.clone(), cells);
        if annealing.cool(steps.min(left), (0.4, 0.1), &mut random, meter) {
            let placed = annealing.jobs.iter().zip(&annealing.cell_of).filter(|(job, _)| job.ejects);
            return Some(placed.map(|(job, &cell)| (job.vector, cell)).collect());
        }
        steps = steps * 3 / 2;
    }
    None
}
