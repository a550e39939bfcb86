//! From lanes to cycles.
//!
//! A hop takes a block to another row, and some cycles on within its lane. A lane therefore has a *guard* behind its
//! block; and blocks start within their lane such that at each port and channel they all come within the guard.
//! Earliest and latest cycles at each of them are a system of difference constraints: it is solved by relaxation, and
//! the least guard for which it can be is taken. Single timetables can do with less, as the blocks of their lanes do
//! not meet in all combinations: guards are tried from below, with lanes in a few other orders.

use super::Order;
use super::geometry::{self, Vector};
use super::lanes::Lanes;
use super::random::Random;
use crate::timetable::{Entry, Timetable};

/// Orders of the lanes that are tried for each guard.
const ORDERS: u64 = 16;
/// Most blocks for which shorter guards are tried.
const MOST_TRIED: usize = 5000;

/// The timetable with the shortest guard that is found.
pub(super) fn timetable(order: &Order, lanes: &Lanes) -> Timetable {
    let vectors: Vec<Vector> = lanes.blocks.iter().map(|b| b.0).collect();
    let hops = vectors.iter().map(geometry::hops).max().unwrap_or(0);
    let least = |ports: bool| {
        // What can be with a guard can be with a longer one; with one of all hops no block needs an offset.
        let (mut none, mut best) = (0, (hops, vec![0; vectors.len()]));
        while none < best.0 {
            let guard = none.midpoint(best.0);
            match offsets(&vectors, guard, hops, ports) {
                Some(found) => best = (guard, found),
                None => none = guard + 1,
            }
        }
        best
    };
    let (sure, safe) = least(true);
    let (channels, bold) = least(false);
    if vectors.len() <= MOST_TRIED {
        let unit: Vec<u32> = (0..lanes.skews.len() as u32).collect();
        for guard in channels..sure {
            for attempt in 0..ORDERS {
                let mut places = unit.clone();
                if attempt > 0 {
                    Random::new(order.seed, attempt).shuffle(&mut places);
                }
                for offsets in [&bold, &safe] {
                    let tried = place(order, lanes, guard, offsets, &places);
                    if tried.check().is_ok() {
                        return tried;
                    }
                }
            }
        }
    }
    place(order, lanes, sure, &safe, &(0..lanes.skews.len() as u32).collect::<Vec<u32>>())
}

/// Where each block starts in its lane, in hops, such that at each channel, and at the ports if asked for, all blocks
/// come within the guard; none if there is no such way.
fn offsets(vectors: &[Vector], guard: u32, hops: u32, ports: bool) -> Option<Vec<u32>> {
    let dims = vectors.first()?.len();
    let (injection, ejection) = (2 * dims, 2 * dims + 1);
    let mut offsets = vec![0u32; vectors.len()];
    let mut earliest = vec![0u32; 2 * dims + 2];
    loop {
        let mut changed = false;
        for (vector, offset) in vectors.iter().zip(&mut offsets) {
            let mut uses = [(0, 0, 0); 8];
            let mut count = 0;
            let mut at = 0;
            let mut push = |part, first, last| {
                uses[count] = (part, first, last);
                count += 1;
            };
            for (dim, &length) in vector.iter().enumerate().filter(|(_, d)| **d != 0) {
                push(2 * dim + usize::from(length < 0), at, at + length.unsigned_abs() - 1);
                at += length.unsigned_abs();
            }
            if ports {
                push(injection, 0, 0);
                push(ejection, at, at);
            }
            for &(part, first, last) in &uses[..count] {
                let least = earliest[part].saturating_sub(first);
                changed |= least > *offset;
                *offset = least.max(*offset);
                let least = (*offset + last).saturating_sub(guard);
                changed |= least > earliest[part];
                earliest[part] = least.max(earliest[part]);
            }
            if *offset > 2 * hops {
                return None;
            }
        }
        if !changed {
            return Some(offsets);
        }
    }
}

/// Lanes with their guards, in the order of `places`.
fn place(order: &Order, lanes: &Lanes, guard: u32, offsets: &[u32], places: &[u32]) -> Timetable {
    let hop = u64::from(order.hop_cycles);
    let lane_cycles = u64::from(order.block_flits) + u64::from(guard) * hop;
    let row_cycles = lane_cycles * lanes.skews.len() as u64;
    let period = row_cycles * u64::from(lanes.rows);
    let mut shifts: Vec<Vec<i64>> = Vec::new();
    let mut shift_of = Vec::new();
    for skew in &lanes.skews {
        let shift: Vec<i64> = skew.iter().map(|s| s * row_cycles as i64).collect();
        shift_of.push(shifts.iter().position(|s| *s == shift).unwrap_or_else(|| {
            shifts.push(shift);
            shifts.len() - 1
        }) as u32);
    }
    let entry = |(&(vector, cell), &offset): (&(Vector, u32), &u32)| {
        let (lane, row) = ((cell / lanes.rows) as usize, u64::from(cell % lanes.rows));
        let start = row * row_cycles + u64::from(places[lane]) * lane_cycles + u64::from(offset) * hop;
        Entry { vector, start: start % period, shift: shift_of[lane] }
    };
    let entries = lanes.blocks.iter().zip(offsets).filter(|((v, _), _)| geometry::hops(v) > 0).map(entry);
    Timetable {
        sizes: order.sizes.clone(),
        period_cycles: period,
        hop_cycles: order.hop_cycles,
        block_flits: order.block_flits,
        shifts,
        entries: entries.collect(),
    }
}
