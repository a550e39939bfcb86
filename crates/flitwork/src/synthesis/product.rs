//! Products: one dimension more.
//!
//! A timetable of a base torus is run as often as the new ring has nodes, one copy after the other. A block for base
//! vector v is sent in each copy, and the part of its path along the new ring starts where its base part ended. What is
//! chosen is only which of its copies goes which way along the ring, so that these parts collide neither on the ring
//! nor at the ejection port. The base torus is free of collisions already.

use super::anneal::{Annealing, Board, Job};
use super::geometry::Vector;
use super::meter::Meter;
use super::random::Random;
use crate::topology::MAX_DIMS;

/// A base vector with the cells in which its copies start and end.
pub(super) struct Copies {
    pub(super) vector: Vector,
    pub(super) cells: Vec<(u32, u32)>,
}

/// Extends base vectors, 0 among them, along a new dimension: vectors and the cells in which they start. `board` has
/// one dimension, the new one.
pub(super) fn extend(
    base: &[Copies],
    dim: usize,
    board: &Board,
    budget: u64,
    seed: u64,
    meter: &mut Meter,
) -> Option<Vec<(Vector, u32)>> {
    let size = base.first()?.cells.len() as u32;
    let end = meter.left() - budget.min(meter.left());
    let mut steps = 16384 * u64::from(size) * base.len() as u64;
    for attempt in 0.. {
        let left = meter.left().saturating_sub(end);
        if left == 0 {
            break;
        }
        let mut random = Random::new(seed, attempt);
        let (jobs, cells) = jobs(base, size, board, &mut random);
        let mut annealing = Annealing::new(board, jobs, cells);
        if annealing.cool(steps.min(left), (0.5, 0.12), &mut random, meter) {
            let start_of = |group: usize, cell: u32| base[group].cells.iter().find(|c| c.1 == cell).map(|c| c.0);
            let placed = annealing.jobs.iter().zip(&annealing.cell_of).filter(|(job, _)| job.ejects);
            let block = |(job, &cell): (&Job, &u32)| {
                let mut vector = base[job.group as usize].vector;
                vector[dim] = job.vector[0];
                Some((vector, start_of(job.group as usize, cell)?))
            };
            return placed.map(block).collect();
        }
        steps = steps * 3 / 2;
    }
    None
}

/// A block for each copy of each base vector, and fillers for the cells that are left.
fn jobs(base: &[Copies], size: u32, board: &Board, random: &mut Random) -> (Vec<Job>, Vec<u32>) {
    let (mut jobs, mut cells) = (Vec::new(), Vec::new());
    let mut free = vec![true; board.cells];
    for (group, copies) in base.iter().enumerate() {
        let mut along: Vec<u32> = (0..size).collect();
        random.shuffle(&mut along);
        for (&z, &(_, cell)) in along.iter().zip(&copies.cells) {
            let mut vector = [0; MAX_DIMS];
            vector[0] = if 2 * z <= size { z as i32 } else { z as i32 - size as i32 };
            jobs.push(Job { group: group as u32, ..Job::new(vector, &[size]) });
            cells.push(cell);
            free[cell as usize] = false;
        }
    }
    for (cell, _) in free.iter().enumerate().filter(|f| *f.1) {
        jobs.push(Job { group: base.len() as u32, ..Job::filler() });
        cells.push(cell as u32);
    }
    (jobs, cells)
}
