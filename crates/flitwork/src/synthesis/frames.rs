//! Frames: timetables of single flits.
//!
//! Time is divided into slots, one hop each, and a frame of them repeats for ever. All nodes start together: the flit
//! for vector v leaves each node in the same slot, moves on in every slot, and waits nowhere. So it takes x+ (or x-) in
//! the slots of its x part, then y+ (or y-), and the ejection port in the slot after its last channel. A frame says in
//! which slot each vector starts.

use super::Order;
use super::anneal::{self, Board};
use super::geometry::{self, Vector};
use super::greedy;
use super::ladder::{self, Best};
use super::meter::Meter;
use super::product::{self, Copies};
use super::streams;
use crate::timetable::{Entry, Timetable, gcd};

/// Vectors and the slots in which they start.
pub(super) type Slots = Vec<(Vector, u32)>;

/// Finds a frame with as few slots as it can.
pub(super) fn search(order: &Order, meter: &mut Meter) -> Timetable {
    let (sizes, hop) = (&order.sizes, u64::from(order.hop_cycles));
    // Slots are times in units of hops, which are all cycles of the period if the two have no common divisor.
    let allowed = |slots: u64| (slots..).find(|&slots| gcd(slots, hop) == 1).unwrap_or(slots);
    let bound = geometry::frame_bound(sizes);
    let mut best = one_by_one(sizes, allowed);
    meter.found(best.length);
    if !streams::suits(sizes) {
        for tenths in [12, 15, 20] {
            let slots = allowed((bound * tenths).div_ceil(10));
            let board = Board::frame(slots as usize, sizes.len());
            let fitted = greedy::first_fit(&board, &anneal::jobs(sizes, false), order.seed, meter);
            if let Some(found) = fitted.filter(|_| slots < best.length) {
                best = Best { length: slots, found };
                meter.found(slots);
                break;
            }
        }
    }
    let best = ladder::climb(bound, best, meter, allowed, |slots, budget, meter| {
        meter.trying(slots);
        let found = frame(sizes, slots, false, budget, order.seed, meter);
        if found.is_some() {
            meter.found(slots);
        }
        found
    });
    timetable(order, best.length, &best.found)
}

/// Each block starts when the one before it ends.
fn one_by_one(sizes: &[u32], allowed: impl Fn(u64) -> u64) -> Best<Slots> {
    let mut at = 0;
    let found = geometry::vectors(sizes).into_iter().map(|vector| {
        at += geometry::hops(&vector);
        (vector, at - geometry::hops(&vector))
    });
    Best { found: found.collect(), length: allowed(geometry::total_hops(sizes)) }
}

/// A frame of so many slots, by the way that suits the torus. `closed`: vector 0 gets a slot, too, in which no other
/// block starts or ends.
fn frame(sizes: &[u32], slots: u64, closed: bool, budget: u64, seed: u64, meter: &mut Meter) -> Option<Slots> {
    let end = meter.left() - budget.min(meter.left());
    if streams::suits(sizes) && !closed {
        return streams::search(sizes[0], slots, budget, seed, meter);
    }
    if let Some((&ring, base)) = sizes.split_last().filter(|(ring, base)| factor(base, **ring, slots).is_some()) {
        let found = multiply(base, ring, slots, budget / 2, seed, meter);
        if found.is_some() {
            return found;
        }
    }
    let board = Board::frame(slots as usize, sizes.len());
    anneal::again(&board, anneal::jobs(sizes, closed), meter.left().saturating_sub(end), seed, meter)
}

/// Slots of a closed frame of a base torus, if a product of it with a ring can have so many slots.
fn factor(base: &[u32], ring: u32, slots: u64) -> Option<u64> {
    let (of_base, nodes) = (slots / u64::from(ring), geometry::nodes(base));
    let fits = slots.is_multiple_of(u64::from(ring)) && of_base >= geometry::frame_bound(base).max(nodes);
    let closes = of_base > nodes || geometry::total_hops(base).is_multiple_of(nodes);
    (ring > 2 && base.len() > 1 && fits && closes).then_some(of_base)
}

/// The product of a frame of a base torus and a ring.
fn multiply(base: &[u32], ring: u32, slots: u64, budget: u64, seed: u64, meter: &mut Meter) -> Option<Slots> {
    let end = meter.left() - budget.min(meter.left());
    let of_base = factor(base, ring, slots)?;
    let found = frame(base, of_base, true, budget / 2, seed, meter)?;
    let copies = |&(vector, slot): &(Vector, u32)| {
        let starts = (0..ring).map(|copy| slot + copy * of_base as u32);
        let cells = starts.map(|start| (start, (start + geometry::hops(&vector)) % slots as u32)).collect();
        Copies { vector, cells }
    };
    let base_copies: Vec<Copies> = found.iter().map(copies).collect();
    let board = Board::frame(slots as usize, 1);
    product::extend(&base_copies, base.len(), &board, meter.left().saturating_sub(end), seed, meter)
}

fn timetable(order: &Order, period: u64, slots: &Slots) -> Timetable {
    let hop = u64::from(order.hop_cycles);
    let entry = |&(vector, slot): &(Vector, u32)| Entry { vector, start: u64::from(slot) * hop % period, shift: 0 };
    Timetable {
        sizes: order.sizes.clone(),
        period_cycles: period,
        hop_cycles: order.hop_cycles,
        block_flits: 1,
        shifts: vec![vec![0; order.sizes.len()]],
        entries: slots.iter().filter(|(v, _)| geometry::hops(v) > 0).map(entry).collect(),
    }
}
