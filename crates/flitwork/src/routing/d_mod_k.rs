//! D-mod-k: up by the number of the destination.
//!
//! From level `l` a packet for terminal `d` goes up by port `floor(d / (w_1 ... w_l)) mod w_(l+1)`: the packets for one terminal come
//! together as early as they can and go down by channels that those for others do not use. On a tree without oversubscription no two
//! channels of a shift permutation carry two flows. E. Zahavi, G. Johnson, D. J. Kerbyson and M. Lang, "Optimized InfiniBand fat-tree
//! routing for shift all-to-all communication patterns", Concurrency and Computation: Practice and Experience 22(2), 2010.

use super::hop_by_hop::GoesBy;
use super::on_tree::{UpRule, routes_trees_by};
use super::tree_steps::UpBy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of D-mod-k: none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DModKOptions {}

/// Up by the digits of a terminal's number.
#[derive(Debug, Clone, Copy)]
pub(super) struct ByDigits(pub GoesBy);

impl UpRule for ByDigits {
    fn goes_by(&self) -> GoesBy {
        self.0
    }

    fn by(&self) -> UpBy {
        UpBy::Digit
    }

    #[inline]
    fn up(&self, label: u32, parents: u32, copies: u32) -> u64 {
        // At the top there is no up port, and nothing that is not below.
        1 << (label / copies % parents.max(1))
    }
}

routes_trees_by!("d_mod_k", DModKOptions, |_: &DModKOptions| ByDigits(GoesBy::Destination));
