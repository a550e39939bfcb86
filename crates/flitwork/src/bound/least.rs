//! What the channels need at least, whatever is left to chance.

use super::loads::LoadAccumulator;
use crate::routing::Routing;
use crate::topology::{End, Fabric};

/// The loads of messages that no random choice avoids.
///
/// Where a tie is drawn and the draw is not known, a message counts on the channels that it takes either way; beside
/// that all messages together need the channels of each dimension, whichever they take.
pub(crate) struct LeastLoads<'a> {
    loads: LoadAccumulator<'a>,
    /// Where ties are drawn and not known.
    any_way: Option<LoadAccumulator<'a>>,
}

/// What is known of a message.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ties {
    /// What goes with all random bits 0, and with all of them 1 \[flits].
    Halves([f64; 2]),
    /// Its random bits, and how long it is \[flits].
    Drawn(u8, f64),
    /// How long it is \[flits].
    Unknown(f64),
}

impl<'a> LeastLoads<'a> {
    /// The bound of no messages yet.
    pub fn new(fabric: &'a Fabric, routing: &'a Routing) -> Self {
        LeastLoads { loads: LoadAccumulator::new(fabric, routing), any_way: None }
    }

    /// Whether packets say which way they go at a tie, so that a schedule does not.
    pub fn draws(routing: &Routing) -> bool {
        routing.fixed_order().is_some_and(|order| order.tie.is_carried())
    }

    /// Adds a message from `from` to `to`.
    pub(super) fn add(&mut self, fabric: &'a Fabric, from: End, to: End, ties: Ties) {
        match ties {
            Ties::Halves(halves) => self.loads.add(from, to, halves),
            Ties::Drawn(bits, flits) => self.loads.add_with(from, to, bits.into(), flits),
            Ties::Unknown(flits) => {
                self.loads.add_common(from, to, flits);
                self.any_way.get_or_insert_with(|| LoadAccumulator::even(fabric)).add_with(from, to, 0, flits);
            }
        }
    }

    /// The cycles that the most loaded channels need.
    pub fn cycles(mut self) -> f64 {
        self.loads.end_phase();
        let any_way = self.any_way.map_or(0.0, |mut loads| {
            loads.end_phase();
            loads.least_cycles()
        });
        self.loads.least_cycles().max(any_way)
    }
}
