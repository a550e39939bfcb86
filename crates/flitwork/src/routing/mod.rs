//! Routing: which channels, and which sets of virtual channels, a packet may take.

mod cross_line;
mod crossings;
mod deadlock;
mod dependencies;
mod dimension_order;
mod duato;
mod min_adapt;
mod o1turn;
mod scheme;
mod selection;
mod two_phase;

pub use cross_line::CrossLine;
pub use crossings::Crossings;
pub use deadlock::check_deadlock_free;
pub use dependencies::find_cycle;
pub use dimension_order::{DimensionOrder, Header, Tie};
pub use duato::Duato;
pub use min_adapt::MinAdapt;
pub use o1turn::O1Turn;
pub use scheme::{Choice, Division, Place, Scheme, Start, Trip, datelines};
pub use selection::{Information, Selection};
pub use two_phase::{Intermediate, TwoPhase};

use crate::topology::{Coords, Grid};
use std::sync::Arc;

/// The routing of a network.
#[derive(Debug, Clone)]
pub enum Routing {
    /// One dimension after the other, classes fixed on entering a ring: all decided at the source.
    DimensionOrder(DimensionOrder),
    /// Anything else.
    Scheme(Arc<dyn Scheme>),
}

impl Routing {
    /// Plain dimension order, if that is what it is.
    pub fn dimension_order(&self) -> Option<&DimensionOrder> {
        match self {
            Routing::DimensionOrder(order) => Some(order),
            Routing::Scheme(_) => None,
        }
    }

    /// The scheme, if it is not plain dimension order.
    pub fn scheme(&self) -> Option<&Arc<dyn Scheme>> {
        match self {
            Routing::DimensionOrder(_) => None,
            Routing::Scheme(scheme) => Some(scheme),
        }
    }
}

/// Dateline classes that dimension order needs: two where a dimension wraps.
fn classes(grid: &Grid) -> u8 {
    1 + u8::from(datelines(grid) > 0)
}

/// The dateline class of a walk in dimension `d`, fixed on entering the ring.
fn class_of(grid: &Grid, header: Header, d: usize) -> u8 {
    if grid.wraps(d) { header.wraps >> d & 1 } else { 0 }
}

/// Every start of a scheme that leaves nothing but ties to chance.
fn tie_starts(scheme: &dyn Scheme, order: &DimensionOrder, grid: &Grid, src: &Coords, dst: &Coords) -> Vec<Start> {
    let coins = if order.tie == Tie::Random { 1 << grid.dims() } else { 1u64 };
    let mut starts: Vec<Start> = Vec::new();
    for coins in 0..coins {
        let start = scheme.start(grid, src, dst, coins);
        if !starts.contains(&start) {
            starts.push(start);
        }
    }
    starts
}

#[cfg(test)]
mod tests;
