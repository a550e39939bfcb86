//! First fit: some answer, at once.

use super::anneal::{Board, Job};
use super::geometry::{self, Vector};
use super::meter::Meter;
use super::random::Random;

/// Longest paths first, each block goes to the first cell, from a random one on, in which it collides with none before
/// it. None if a block finds no cell, or steps ran out.
pub(super) fn first_fit(board: &Board, jobs: &[Job], seed: u64, meter: &mut Meter) -> Option<Vec<(Vector, u32)>> {
    const AT_ONCE: u64 = 4096;
    let mut random = Random::new(seed, u64::MAX);
    let mut jobs = jobs.to_vec();
    random.shuffle(&mut jobs);
    jobs.sort_by_key(|job| std::cmp::Reverse(geometry::hops(&job.vector)));
    let mut used = vec![vec![false; board.cells]; board.next.len() + 2];
    let mut placed = Vec::new();
    let mut steps = 0;
    for job in &jobs {
        let from = random.below(board.cells);
        let ways = (0..=job.halves).filter(|way| way & !job.halves == 0).count();
        let first = random.below(ways);
        let mut tries = (0..board.cells).flat_map(|n| (0..ways).map(move |way| (n, way)));
        let found = tries.find_map(|(n, way)| {
            steps += 1;
            let cell = ((from + n) % board.cells) as u32;
            let vector = turned(job, (first + way) % ways);
            fits(board, &used, &vector, cell).then_some((vector, cell))
        });
        let (vector, cell) = found?;
        walk(board, &vector, cell, |part, cell| {
            used[part][cell] = true;
            true
        });
        placed.push((vector, cell));
        if steps >= AT_ONCE {
            if !meter.took(steps) {
                return None;
            }
            steps = 0;
        }
    }
    Some(placed)
}

/// The block's vector with its half rings in one of the ways around.
fn turned(job: &Job, way: usize) -> Vector {
    let (mut vector, mut way) = (job.vector, way);
    for (dim, length) in vector.iter_mut().enumerate() {
        if job.halves >> dim & 1 == 1 {
            *length *= if way & 1 == 1 { -1 } else { 1 };
            way >>= 1;
        }
    }
    vector
}

fn fits(board: &Board, used: &[Vec<bool>], vector: &Vector, cell: u32) -> bool {
    walk(board, vector, cell, |part, cell| !used[part][cell])
}

/// Calls `at` with each part and cell that a block uses, until it says no.
fn walk(board: &Board, vector: &Vector, mut cell: u32, mut at: impl FnMut(usize, usize) -> bool) -> bool {
    let channels = board.next.len();
    if !at(channels, cell as usize) {
        return false;
    }
    for (dim, &length) in vector[..channels / 2].iter().enumerate() {
        let direction = 2 * dim + usize::from(length < 0);
        for _ in 0..length.unsigned_abs() {
            if !at(direction, cell as usize) {
                return false;
            }
            cell = board.next[direction][cell as usize];
        }
    }
    at(channels + 1, cell as usize)
}
