//! The patterns that users can name: one row each.

use super::rule::{Context, Rule};
use super::{
    BitComplement, BitReverse, BitRotation, Destinations, Hotspot, Neighbour, Permutation, RandomPairs,
    RandomPermutation, RandomSelection, Shift, Shuffle, Tornado, Transpose, Uniform, Weights,
};
use crate::component::Component;
use crate::error::{Error, Result};
use crate::topology::Fabric;
use crate::traffic::Attached;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rows: the line for the reference page, variant, name, struct, then for lists the line, the fields and the paper.
macro_rules! patterns {
    ($($(#[doc = $about:literal])* $Kind:ident = $name:literal: $Struct:ty, $summary:literal, $fields:literal, $paper:expr;)*) => {
        /// Where each terminal sends to.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        pub enum Pattern {
            $($(#[doc = $about])* #[serde(rename = $name)] $Kind($Struct),)*
        }

        impl Pattern {
            fn rule(&self) -> (&'static str, &dyn Rule) {
                match self {
                    $(Pattern::$Kind(pattern) => ($name, pattern),)*
                }
            }

            fn rule_mut(&mut self) -> &mut dyn Rule {
                match self {
                    $(Pattern::$Kind(pattern) => pattern,)*
                }
            }

            /// One of every pattern for a network of so many terminals.
            #[cfg(test)]
            pub(super) fn examples(terminals: u32) -> Vec<Pattern> {
                vec![$(Pattern::$Kind(<$Struct>::example(terminals))),*]
            }
        }

        /// All patterns, for lists.
        pub(crate) const PATTERNS: &[Component] =
            &[$(Component { name: $name, summary: $summary, parameters: $fields, paper: $paper }),*];
    };
}

const DALLY: &str = "Dally and Towles 2004, section 3.2";
const YOKOTA: &str = "Yokota, Ootsu and Baba";

patterns! {
    /// A terminal drawn uniformly for each packet.
    Uniform = "uniform": Uniform, "a destination drawn uniformly for each packet", "include_self", "";
    /// (x, y) sends to (y, x) on a square; elsewhere the halves of the address change places (2^even terminals).
    Transpose = "transpose": Transpose, "(x, y) sends to (y, x)", "", DALLY;
    /// The address rotated left by one bit (2^n terminals).
    Shuffle = "shuffle": Shuffle, "the address rotated left by one bit", "", DALLY;
    /// The address with every bit inverted (2^n terminals).
    BitComplement = "bit_complement": BitComplement, "the address with every bit inverted", "", DALLY;
    /// The address read backwards (2^n terminals).
    BitReverse = "bit_reverse": BitReverse, "the address read backwards", "", DALLY;
    /// The address rotated right by one bit (2^n terminals).
    BitRotation = "bit_rotation": BitRotation, "the address rotated right by one bit", "", DALLY;
    /// In each dimension almost half-way round: x + ceil(size / 2) - 1 (one terminal a router).
    Tornado = "tornado": Tornado, "almost half-way round in each dimension", "", DALLY;
    /// In each dimension one further: x + 1 (one terminal a router).
    Neighbour = "neighbour": Neighbour, "one further in each dimension", "", DALLY;
    /// Terminal `i` sends to terminal `i + by`, round the end.
    Shift = "shift": Shift, "terminal i sends to terminal i + by", "by", "";
    /// A permutation drawn once for the run.
    RandomPermutation = "random_permutation": RandomPermutation, "a permutation drawn once for the run", "", "";
    /// Pairs of terminals drawn once for the run send to each other (an even number of terminals).
    RandomPairs = "random_pairs": RandomPairs, "pairs drawn once for the run", "", YOKOTA;
    /// A destination drawn once for each terminal; several may draw the same.
    RandomSelection = "random_selection": RandomSelection, "a destination drawn once for each terminal", "", YOKOTA;
    /// Some terminals receive everything.
    Hotspot = "hotspot": Hotspot, "some terminals receive everything", "terminals, shares", "";
    /// Terminal `i` sends to `destinations[i]`, a permutation.
    Permutation = "permutation": Permutation, "a permutation given in full or as a file", "destinations, file", "";
    /// A destination drawn for each packet by the weights of its source's row. An open loop has `offered_load` as the
    /// mean over all terminals, each in proportion to the sum of its row; in a burst all terminals with weights send
    /// the same number of packets.
    Matrix = "matrix": Weights, "a destination drawn for each packet by the weights of its source", "weights, file", "";
}

impl Pattern {
    /// The destinations on a network.
    ///
    /// # Errors
    /// [`Error::Config`] where the pattern is not defined for this network.
    pub fn resolve(&self, fabric: &Fabric, seed: u64) -> Result<Destinations> {
        let ((name, rule), on) = (self.rule(), Context { fabric, seed });
        if let Some(lacking) = rule.lacks(&on) {
            let expected = format!("a pattern that is defined here: this one needs {lacking}");
            return Err(Error::config("workload.pattern.kind", format!("{name:?}"), expected, ""));
        }
        rule.destinations(&on)
    }

    /// The table of numbers that comes with the specification, if it has one.
    pub fn attached(&self) -> Option<&Attached> {
        self.rule().1.attached()
    }

    /// The same, to be filled.
    pub(crate) fn attached_mut(&mut self) -> Option<&mut Attached> {
        self.rule_mut().attached_mut()
    }

    /// Whether every terminal is the destination of exactly one.
    pub fn is_permutation(&self) -> bool {
        self.rule().1.is_permutation()
    }
}
