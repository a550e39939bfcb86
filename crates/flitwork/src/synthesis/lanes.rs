//! Lanes: timetables of long blocks.
//!
//! If all nodes started together, a block would meet those of its neighbours, one hop ahead. So nodes start by place.
//! Time is divided into rows, as many as all rings have a common multiple, and each row into lanes, a block each. In
//! each lane, a node starts some rows earlier than its neighbour towards minus; how many depends on the dimension and,
//! in sign, on the lane. Then a hop leads a block some rows on, or back, in its lane, and all rows of a lane are taken
//! by other blocks. Where a block is within its lane is a matter of cycles, see `layout`.

use super::Order;
use super::anneal::{self, Board};
use super::geometry::{self, Vector};
use super::greedy;
use super::ladder::{self, Best};
use super::layout;
use super::meter::Meter;
use super::product::{self, Copies};
use super::walks;
use crate::timetable::Timetable;

/// Rows of all lanes of a torus.
pub(super) struct Lanes {
    /// Rows in which each ring closes.
    pub(super) rows: u32,
    /// By how many rows a node starts earlier than its neighbour towards minus, for each lane and dimension.
    pub(super) skews: Vec<Vec<i64>>,
    /// Vectors and the cells in which their blocks start; cell = lane x rows + row.
    pub(super) blocks: Vec<(Vector, u32)>,
}

/// Lanes of a torus: their skews, and where hops lead.
struct Field {
    rows: u32,
    skews: Vec<Vec<i64>>,
}

impl Field {
    /// Every combination of signs but for that of the first dimension, in turn.
    fn new(sizes: &[u32], rows: u32, lanes: u32) -> Self {
        let skew = |lane: u32| {
            let sign = |dim: usize| if dim > 0 && lane >> (dim - 1) & 1 == 1 { -1 } else { 1 };
            sizes.iter().enumerate().map(|(dim, &size)| sign(dim) * i64::from(rows / size)).collect()
        };
        Field { rows, skews: (0..lanes).map(skew).collect() }
    }

    /// The cell to which channels of some dimension lead.
    fn after(&self, cell: u32, dim: usize, channels: i32) -> u32 {
        let (lane, row) = (cell / self.rows, cell % self.rows);
        let moved = i64::from(row) + self.skews[lane as usize][dim] * i64::from(channels);
        lane * self.rows + moved.rem_euclid(i64::from(self.rows)) as u32
    }

    fn end(&self, cell: u32, vector: &Vector) -> u32 {
        (0..self.skews[0].len()).fold(cell, |cell, dim| self.after(cell, dim, vector[dim]))
    }

    fn board(&self, dims: std::ops::Range<usize>) -> Board {
        let cells = self.rows * self.skews.len() as u32;
        let next = dims.flat_map(|dim| [(dim, 1), (dim, -1)]);
        let next = next.map(|(dim, step)| (0..cells).map(|cell| self.after(cell, dim, step)).collect());
        Board { cells: cells as usize, next: next.collect() }
    }
}

/// Finds as few lanes as it can.
pub(super) fn search(order: &Order, meter: &mut Meter) -> Timetable {
    let sizes = &order.sizes;
    let rows = geometry::rows(sizes);
    let least = geometry::busiest_blocks(sizes).div_ceil(rows);
    let cycles = |lanes: u64| lanes * rows * u64::from(order.block_flits);
    let mut best = one_each(sizes, rows as u32);
    meter.found(cycles(best.length));
    for tenths in [12, 15, 20] {
        let lanes = (least * tenths).div_ceil(10);
        let field = Field::new(sizes, rows as u32, lanes as u32);
        let fitted = greedy::first_fit(&field.board(0..sizes.len()), &anneal::jobs(sizes, false), order.seed, meter);
        if let Some(blocks) = fitted.filter(|_| lanes < best.length) {
            best = Best { length: lanes, found: (field, blocks) };
            meter.found(cycles(lanes));
            break;
        }
    }
    let best = ladder::climb(
        least,
        best,
        meter,
        |lanes| lanes,
        |lanes, budget, meter| {
            meter.trying(cycles(lanes));
            let found = field(sizes, rows as u32, lanes as u32, false, budget, order.seed, meter);
            if found.is_some() {
                meter.found(cycles(lanes));
            }
            found
        },
    );
    let (field, blocks) = best.found;
    layout::timetable(order, &Lanes { rows: field.rows, skews: field.skews, blocks })
}

/// Each block has a lane.
fn one_each(sizes: &[u32], rows: u32) -> Best<Found> {
    let blocks: Vec<(Vector, u32)> = geometry::vectors(sizes).into_iter().zip((0..).map(|lane| lane * rows)).collect();
    let length = blocks.len() as u64;
    Best { length, found: (Field::new(sizes, rows, length as u32), blocks) }
}

type Found = (Field, Vec<(Vector, u32)>);

/// Blocks in so many lanes. `closed`: vector 0 gets a cell, too, in which no other block starts or ends.
fn field(
    sizes: &[u32],
    rows: u32,
    lanes: u32,
    closed: bool,
    budget: u64,
    seed: u64,
    meter: &mut Meter,
) -> Option<Found> {
    let end = meter.left() - budget.min(meter.left());
    if let Some((&ring, base)) = sizes.split_last() {
        let of_base = lanes / ring;
        let fits = u64::from(of_base * rows) >= geometry::busiest_blocks(base).max(geometry::nodes(base));
        if ring > 2 && base.len() > 1 && lanes.is_multiple_of(ring) && fits {
            let found = multiply(base, ring, rows, of_base, budget / 2, seed, meter);
            if found.is_some() {
                return found;
            }
        }
    }
    if walks::suits(sizes) && !closed {
        let found = walks::search(rows, lanes, budget / 4 * 3, seed, meter);
        if let Some(found) = found {
            let skew = |lane: u32| vec![1, if lane < found.alike { 1 } else { -1 }];
            return Some((Field { rows, skews: (0..lanes).map(skew).collect() }, found.blocks));
        }
    }
    let field = Field::new(sizes, rows, lanes);
    let board = field.board(0..sizes.len());
    let blocks = anneal::again(&board, anneal::jobs(sizes, closed), meter.left().saturating_sub(end), seed, meter)?;
    Some((field, blocks))
}

/// The product of lanes of a base torus and a ring.
fn multiply(
    base: &[u32],
    ring: u32,
    rows: u32,
    of_base: u32,
    budget: u64,
    seed: u64,
    meter: &mut Meter,
) -> Option<Found> {
    let end = meter.left() - budget.min(meter.left());
    let (of, blocks) = field(base, rows, of_base, true, budget / 2, seed, meter)?;
    // Lanes of each copy in turn.
    let skews = (0..of_base * ring).map(|lane| {
        let mut skew = of.skews[(lane % of_base) as usize].clone();
        skew.push(i64::from(rows / ring));
        skew
    });
    let product = Field { rows, skews: skews.collect() };
    let copies = |&(vector, cell): &(Vector, u32)| {
        let cells = (0..ring).map(|copy| cell + copy * of_base * rows);
        Copies { vector, cells: cells.map(|cell| (cell, product.end(cell, &vector))).collect() }
    };
    let copies: Vec<Copies> = blocks.iter().map(copies).collect();
    let board = product.board(base.len()..base.len() + 1);
    let blocks = product::extend(&copies, base.len(), &board, meter.left().saturating_sub(end), seed, meter)?;
    Some((product, blocks))
}
